"""On a local cluster of Ray with two workers: the bits of one process, ONNX Runtime's results, failures by row, a processor that cannot run the unit."""
import logging
import os
import unittest

import numpy as np
import pyarrow as pa
import ray
import ray.data

import models
import onnxc
import onnxc.ray

ROWS = int(os.environ.get("ONNXC_CLUSTER_ROWS", 3000))


class Ray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        workers = {"PYTHONPATH": os.environ["PYTHONPATH"], "ONNXC_CXX": "/no/compiler", "PYTHONWARNINGS": "ignore"}
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=1 << 30,
                 _temp_dir=os.environ.get("TMPDIR"), runtime_env={"env_vars": workers})  # two processors for what repartitions
        logging.getLogger("ray.data").setLevel("CRITICAL")
        ray.data.DataContext.get_current().enable_progress_bars = False

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()

    def test_a_pipeline_on_two_actors(self):
        people = models.people(ROWS)
        library = onnxc.Library(models.pipeline())
        dataset = ray.data.from_arrow(pa.table(people)).repartition(5)
        result = onnxc.ray.predict(dataset, library, keep=["id"], actors=2).to_pandas().sort_values("id")
        alone = onnxc.ray.Predictor(library)(pa.table(people))
        self.assertEqual(result["label"].tolist(), alone["label"].to_pylist())
        np.testing.assert_array_equal(np.stack(result["probabilities"]), np.array(alone["probabilities"].to_pylist(), np.float32))
        labels, probabilities = models.pipeline_in_onnxruntime(people)
        self.assertEqual(result["label"].tolist(), labels)
        np.testing.assert_allclose(np.stack(result["probabilities"]), probabilities, rtol=1e-5)

    def test_tensors_of_ray_in_both_formats(self):
        x = np.random.default_rng(1).standard_normal((100, 4)).astype(np.float32)
        library = onnxc.Library(models.relu(), options=["-O0"])
        for batch_format in ("numpy", "pyarrow"):
            dataset = ray.data.from_numpy(x).rename_columns({"data": "X"}).repartition(3)
            result = dataset.map_batches(onnxc.ray.Predictor, fn_constructor_args=(library,), fn_constructor_kwargs={"keep": True}, batch_format=batch_format,
                                         compute=ray.data.ActorPoolStrategy(size=2)).take_all()
            self.assertEqual(len(result), 100)
            for row in result:
                np.testing.assert_array_equal(row["Y"], np.maximum(row["X"], 0))

    def test_an_instance_runs_in_tasks(self):
        library = onnxc.Library(models.taken(), options=["-O0"])
        result = ray.data.from_items([{"k": k % 3} for k in range(10)]).map_batches(onnxc.ray.Predictor(library), batch_format="pyarrow").take_all()
        self.assertEqual(sorted(row["y"] for row in result), sorted([10.0, 20.0, 30.0] * 3 + [10.0]))

    def test_a_failure_names_its_row(self):
        dataset = ray.data.from_items([{"k": 8 if k == 77 else 1} for k in range(100)], override_num_blocks=1)
        library = onnxc.Library(models.taken(), options=["-O0"])
        with self.assertRaisesRegex(Exception, r"row 77: .* \(in its batch\); k=8"):
            onnxc.ray.predict(dataset, library, actors=1).materialize()
        rows = onnxc.ray.predict(dataset, library, errors="null", keep=True, actors=1).take_all()
        self.assertEqual([row["k"] for row in rows if row["y"] is None], [8])
        self.assertEqual([row["k"] for row in rows if row["error"] is not None], [8])

    def test_an_empty_dataset(self):
        dataset = ray.data.from_arrow(pa.table({"k": pa.array([], pa.int64())}))
        self.assertEqual(onnxc.ray.predict(dataset, onnxc.Library(models.taken(), options=["-O0"]), actors=1).count(), 0)

    def test_a_worker_that_lacks_an_instruction(self):
        library = onnxc.Library(models.relu(shape=("n", 7)), options=["-O0"])
        library.needs |= {"avx2048"}
        dataset = ray.data.from_items([{"X": [1.0] * 7}])
        with self.assertRaisesRegex(Exception, "was compiled for the processor that it was compiled on, and the processor of .* lacks avx2048"):
            dataset.map_batches(onnxc.ray.Predictor(library), batch_format="pyarrow").materialize()


if __name__ == "__main__":
    unittest.main()
