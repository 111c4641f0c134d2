"""On a local Spark with two workers: the bits of one process, ONNX Runtime's results, schemas, failures by row, a processor that cannot run the unit."""
import os
import sys
import unittest

import numpy as np
import pyarrow as pa
from onnx import TensorProto, helper
from pyspark.sql import SparkSession

import models
import onnxc
import onnxc.spark
from onnxc.ray import Predictor

ROWS = int(os.environ.get("ONNXC_CLUSTER_ROWS", 3000))


class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        cls.spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
                     .config("spark.log.level", "OFF").config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "2g").config("spark.executorEnv.ONNXC_CXX", "/no/compiler")
                     .config("spark.executorEnv.PYTHONWARNINGS", "ignore").getOrCreate())

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def frame(self, columns, partitions=3):
        return self.spark.createDataFrame(pa.table(columns)).repartition(partitions)

    def test_a_pipeline_in_partitions(self):
        people = models.people(ROWS)
        library = onnxc.Library(models.pipeline())
        frame = onnxc.spark.predict(self.frame(people, 5), library, keep=["id"])
        self.assertEqual(frame.schema.simpleString(), "struct<id:bigint,label:string,probabilities:array<float>>")
        result = frame.toArrow().sort_by("id")
        alone = Predictor(library)(pa.table(people))
        self.assertEqual(result["label"].to_pylist(), alone["label"].to_pylist())
        scores = np.array(result["probabilities"].to_pylist(), np.float32)
        np.testing.assert_array_equal(scores, np.array(alone["probabilities"].to_pylist(), np.float32))
        labels, probabilities = models.pipeline_in_onnxruntime(people)
        self.assertEqual(result["label"].to_pylist(), labels)
        np.testing.assert_allclose(scores, probabilities, rtol=1e-5)

    def test_arrays_and_columns_of_other_types_are_kept(self):
        x = np.random.default_rng(1).integers(-9, 9, (100, 4)).astype(np.float32)
        table = {"X": x.tolist(), "a.b": list(range(100)), "when": pa.array(range(100), pa.timestamp("us", "UTC"))}
        result = onnxc.spark.predict(self.frame(table), onnxc.Library(models.relu(), options=["-O0"]), keep=True).toArrow().sort_by("a.b")
        self.assertEqual(result.column_names, ["X", "a.b", "when", "Y"])
        self.assertEqual(result["Y"].to_pylist(), np.maximum(x, 0).tolist())
        self.assertEqual(result["when"].cast(pa.int64()).to_pylist(), list(range(100)))

    def test_types_that_spark_has_not(self):
        columns = {"byte": (TensorProto.UINT8, [0, 255]), "long": (TensorProto.UINT64, [0, 2**62]), "half": (TensorProto.FLOAT16, [0.5, 2.0]),
                   "flag": (TensorProto.BOOL, [True, False]), "word": (TensorProto.STRING, ["a", "ü"])}
        same = models.model([helper.make_node("Identity", [name], [f"{name}_y"]) for name in columns], {name: (kind, ["n"]) for name, (kind, _) in columns.items()},
                            {f"{name}_y": (kind, ["n"]) for name, (kind, _) in columns.items()})
        result = onnxc.spark.predict(self.frame({name: values for name, (_, values) in columns.items()}, 1), onnxc.Library(same, options=["-O0"]))
        self.assertEqual(result.schema.simpleString(), "struct<byte_y:smallint,long_y:decimal(20,0),half_y:float,flag_y:boolean,word_y:string>")
        self.assertEqual([tuple(row) for row in result.collect()], list(zip(*(values for _, values in columns.values()))))

    def test_a_failure_names_its_row(self):
        frame = self.spark.createDataFrame(pa.table({"k": [8 if k == 77 else 1 for k in range(100)]})).coalesce(1)
        library = onnxc.Library(models.taken(), options=["-O0"])
        with self.assertRaisesRegex(Exception, r"row 77: .* \(in partition 0\); k=8"):
            onnxc.spark.predict(frame, library).collect()
        rows = onnxc.spark.predict(frame, library, errors="null", keep=True).collect()
        self.assertEqual([row.k for row in rows if row.y is None], [8])
        self.assertEqual([row.k for row in rows if row.error is not None], [8])

    def test_empty_frames_and_partitions(self):
        library = onnxc.Library(models.taken(), options=["-O0"])
        frame = self.frame({"k": [1, 2]}, 4)
        self.assertEqual(sorted(row.y for row in onnxc.spark.predict(frame, library).collect()), [20.0, 30.0])
        self.assertEqual(onnxc.spark.predict(frame.where("k > 5"), library).collect(), [])

    def test_what_does_not_fit_is_said_before_anything_runs(self):
        with self.assertRaisesRegex(ValueError, "there is no column 'k'; there are 'z'"):
            onnxc.spark.predict(self.frame({"z": [1]}), onnxc.Library(models.taken(), options=["-O0"]))
        with self.assertRaises(onnxc.CompileError):
            onnxc.spark.predict(self.frame({"z": [1]}), b"no model")

    def test_a_worker_that_lacks_an_instruction(self):
        library = onnxc.Library(models.relu(shape=("n", 7)), options=["-O0"])
        library.needs |= {"avx2048"}
        with self.assertRaisesRegex(Exception, "was compiled for the processor that it was compiled on, and the processor of .* lacks avx2048"):
            onnxc.spark.predict(self.frame({"X": [[1.0] * 7]}), library).collect()


if __name__ == "__main__":
    unittest.main()
