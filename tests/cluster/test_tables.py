"""Columns to inputs and outputs to columns, without a cluster: types, what misses, lists, failures by row."""
import decimal
import pickle
import unittest

import numpy as np
import pyarrow as pa
from onnx import TensorProto, helper

import models
import onnxc
from onnxc.ray import Predictor, RowError

def predictor(model, **arguments):
    library = onnxc.Library(model, options=["-O0"])
    return Predictor(pickle.loads(pickle.dumps(library)), **arguments)


class Numbers(unittest.TestCase):
    def test_each_type_that_converts_without_loss(self):
        floats = predictor(models.same(TensorProto.FLOAT))
        integers = predictor(models.same(TensorProto.INT32))
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(),
                     pa.decimal128(5, 2), pa.decimal128(9, 0)):
            column = pa.array([1, 0, 120], pa.int8()).cast(kind)
            self.assertEqual(floats(pa.table({"x": column}))["y"].to_pylist(), [1, 0, 120], kind)
            self.assertEqual(integers(pa.table({"x": column}))["y"].to_pylist(), [1, 0, 120], kind)
        self.assertEqual(floats(pa.table({"x": pa.array([True, False])}))["y"].to_pylist(), [1, 0])
        self.assertEqual(floats(pa.table({"x": pa.array([5, 3, 5]).dictionary_encode()}))["y"].to_pylist(), [5, 3, 5])
        self.assertEqual(floats(pa.table({"x": pa.chunked_array([[1.5], [], [2.5, 3.5]])}))["y"].to_pylist(), [1.5, 2.5, 3.5])
        self.assertEqual(floats(pa.table({"x": pa.array([9., 1.5, 2.5])[1:]}))["y"].to_pylist(), [1.5, 2.5])

    def test_loss_is_an_error_that_names_row_and_column(self):
        cases = [
            (TensorProto.FLOAT, [1.0, 0.1], "column 'x' is 0.1, which is no float32; rounding=True takes the nearest"),
            (TensorProto.FLOAT, [1.0, 1e300], "column 'x' is 1e+300, which is no float32"),
            (TensorProto.FLOAT, [1, 2**24 + 1], "column 'x' is 16777217, which is no float32; rounding=True takes the nearest"),
            (TensorProto.INT32, [1, 2**31], "column 'x' is 2147483648, which is no int32"),
            (TensorProto.INT32, [1.0, 2.5], "column 'x' is 2.5, which is no int32"),
            (TensorProto.INT64, [1.0, 2.0**63], "column 'x' is 9.223372036854775808e18, which is no int64"),
            (TensorProto.UINT64, [1, -1], "column 'x' is -1, which is no uint64"),
            (TensorProto.INT8, pa.array([1, 200], pa.uint8()), "column 'x' is 200, which is no int8"),
        ]
        for kind, values, text in cases:
            with self.assertRaises(RowError) as caught:
                predictor(models.same(kind))(pa.table({"x": values}))
            self.assertEqual(caught.exception.row, 1)
            self.assertIn(text.replace("9.223372036854775808e18", "9.223372036854776e+18"), str(caught.exception))
            self.assertIn("x=", str(caught.exception))
        largest = predictor(models.same(TensorProto.INT64))(pa.table({"x": [2.0**62, -(2.0**63)]}))["y"].to_pylist()
        self.assertEqual(largest, [2**62, -(2**63)])
        self.assertEqual(predictor(models.same(TensorProto.UINT64))(pa.table({"x": pa.array([2**64 - 1], pa.uint64())}))["y"].to_pylist(), [2**64 - 1])

    def test_rounding_takes_the_nearest_and_never_overflows(self):
        rounded = predictor(models.same(TensorProto.FLOAT), rounding=True)
        self.assertEqual(rounded(pa.table({"x": [0.1, float("inf"), 2.0**24 + 1]}))["y"].to_pylist(), [float(np.float32(0.1)), float("inf"), 2.0**24])
        self.assertEqual(rounded(pa.table({"x": pa.array([decimal.Decimal("0.1")], pa.decimal128(38, 18))}))["y"].to_pylist(), [float(np.float32(0.1))])
        with self.assertRaisesRegex(RowError, "row 1: column 'x' is 1e.300, which is no float32"):
            rounded(pa.table({"x": [0.1, 1e300]}))
        with self.assertRaisesRegex(TypeError, "more digits than a double"):
            predictor(models.same(TensorProto.FLOAT))(pa.table({"x": pa.array([1], pa.decimal128(38, 18))}))

    def test_columns_of_other_types_are_refused(self):
        for kind, values in ((TensorProto.FLOAT, ["a"]), (TensorProto.FLOAT, pa.array([0], pa.timestamp("s"))), (TensorProto.STRING, [1]), (TensorProto.BOOL, [1]),
                             (TensorProto.STRING, [b"a"])):
            with self.assertRaisesRegex(TypeError, "column 'x' is .* the model wants"):
                predictor(models.same(kind))(pa.table({"x": values}))

    def test_missing_values(self):
        floats = predictor(models.same(TensorProto.FLOAT))
        self.assertEqual(str(floats(pa.table({"x": [1.0, None, 3.0]}))["y"].to_pylist()), "[1.0, nan, 3.0]")
        self.assertEqual(str(floats(pa.table({"x": pa.array([1, None])}))["y"].to_pylist()), "[1.0, nan]")
        self.assertEqual(str(floats(pa.table({"x": pa.nulls(2)}))["y"].to_pylist()), "[nan, nan]")
        integers = models.same(TensorProto.INT64)
        for values in ([4, None], [4.0, float("nan")]):
            with self.assertRaisesRegex(RowError, "row 1: column 'x' has no value.*missing=.'x': ..."):
                predictor(integers)(pa.table({"x": values}))
            self.assertEqual(predictor(integers, missing={"x": -1})(pa.table({"x": values}))["y"].to_pylist(), [4, -1])
        self.assertEqual(predictor(models.same(TensorProto.FLOAT), missing={"x": 7})(pa.table({"x": [None, float("nan"), 1.0]}))["y"].to_pylist(), [7, 7, 1])
        with self.assertRaisesRegex(ValueError, "'x', 0.5, is no int64"):
            predictor(integers, missing={"x": 0.5})(pa.table({"x": [1]}))
        self.assertEqual(predictor(models.same(TensorProto.FLOAT), missing={"x": 0.1})(pa.table({"x": [None, 2.0]}))["y"].to_pylist(), [float(np.float32(0.1)), 2])
        with self.assertRaisesRegex(ValueError, "missing names 'z'"):
            predictor(integers, missing={"z": 0})
        with self.assertRaisesRegex(ValueError, "'x', 3, is no string"):
            predictor(models.same(TensorProto.STRING), missing={"x": 3})(pa.table({"x": ["a"]}))
        words = models.same(TensorProto.STRING)
        with self.assertRaisesRegex(RowError, "row 2: column 'x' has no value"):
            predictor(words)(pa.table({"x": ["a", "b", None]}))
        self.assertEqual(predictor(words, missing={"x": "ü"})(pa.table({"x": ["a", None]}))["y"].to_pylist(), ["a", "ü"])


class Words(unittest.TestCase):
    def test_strings_of_each_layout(self):
        same = predictor(models.same(TensorProto.STRING))
        words = ["Köln", "", "a" * 100, "Ulm", "Köln"]
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
            column = pa.array(words).cast(kind) if not pa.types.is_dictionary(kind) else pa.array(words).dictionary_encode()
            self.assertEqual(same(pa.table({"x": column}))["y"].to_pylist(), words, kind)
            self.assertEqual(same(pa.table({"x": column[2:]}))["y"].to_pylist(), words[2:], kind)
        self.assertEqual(same({"x": np.array(words, object)})["y"].tolist(), words)
        self.assertEqual(same({"x": np.array(words)})["y"].tolist(), words)
        self.assertEqual(same(pa.table({"x": pa.array([""])}))["y"].to_pylist(), [""])

    def test_lists_of_strings_and_columns_of_strings(self):
        shape = ("n", 2)
        by_list = predictor(models.same(TensorProto.STRING, shape))
        self.assertEqual(by_list(pa.table({"x": [["a", "b"], ["c", "dd"]]}))["y"].to_pylist(), [["a", "b"], ["c", "dd"]])
        by_column = predictor(models.same(TensorProto.STRING, shape), inputs={"x": ["p", "q"]})
        self.assertEqual(by_column(pa.table({"p": ["a", "c"], "q": ["b", "dd"]}))["y"].to_pylist(), [["a", "b"], ["c", "dd"]])


class Tensors(unittest.TestCase):
    x = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)

    def columns(self):
        yield pa.array(self.x.tolist())
        yield pa.array(self.x.tolist(), pa.large_list(pa.float64()))
        yield pa.array(self.x.tolist(), pa.list_(pa.float32(), 4))
        yield pa.FixedShapeTensorArray.from_numpy_ndarray(self.x)
        yield pa.array([[99.0] * 4, *self.x.tolist()])[1:]
        yield self.x
        yield np.asfortranarray(self.x)

    def test_one_column_of_lists(self):
        relu = predictor(models.relu())
        for column in self.columns():
            given = {"X": column} if isinstance(column, np.ndarray) else pa.table({"X": column})
            y = relu(given)["Y"]
            self.assertEqual(y.tolist() if isinstance(y, np.ndarray) else y.to_pylist(), np.maximum(self.x, 0).tolist(), type(column))

    def test_a_column_for_each_number(self):
        relu = predictor(models.relu(), inputs={"X": ["a", "b", "c", "d"]}, outputs={"Y": "positive"}, keep=["b"])
        table = pa.table({name: self.x[:, k] for k, name in enumerate("abcd")} | {"other": [1, 2, 3]})
        result = relu(table)
        self.assertEqual(result.column_names, ["b", "positive"])
        self.assertEqual(result["positive"].to_pylist(), np.maximum(self.x, 0).tolist())
        with self.assertRaisesRegex(ValueError, r"input 'X' has the shape \['\?', 4\], and inputs names 3 columns"):
            predictor(models.relu(), inputs={"X": ["a", "b", "c"]})

    def test_tensors_of_more_axes(self):
        x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
        same = predictor(models.same(TensorProto.FLOAT, ("n", 3, 2)))
        for column in (pa.array(x.tolist()), pa.array(x.reshape(2, 6).tolist()), pa.FixedShapeTensorArray.from_numpy_ndarray(x)):
            self.assertEqual(same(pa.table({"x": column}))["y"].to_pylist(), x.tolist())

    def test_lists_of_several_lengths(self):
        rows = [[1.0], [2.0], [3.0, 4.0], [], [5.0]]
        same = predictor(models.same(TensorProto.FLOAT, ("n", "length")))
        self.assertEqual(same(pa.table({"x": rows}))["y"].to_pylist(), rows)
        deep = [[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]
        self.assertEqual(predictor(models.same(TensorProto.FLOAT, ("n", "length", 2)))(pa.table({"x": deep}))["y"].to_pylist(), deep)
        with self.assertRaisesRegex(RowError, r"row 2: column 'X' has the shape \[3\] in this row, the model wants \[4\]"):
            predictor(models.relu())(pa.table({"X": [[1.0] * 4, [1.0] * 4, [1.0] * 3]}))
        with self.assertRaisesRegex(RowError, "row 1: column 'X' has no list"):
            predictor(models.relu())(pa.table({"X": [[1.0] * 4, None]}))
        missing = predictor(models.relu())(pa.table({"X": [[1.0, None, 2.0, -3.0]]}))["Y"].to_pylist()
        self.assertEqual(str(missing), "[[1.0, nan, 2.0, 0.0]]")

    def test_models_without_a_batch_run_row_by_row(self):
        for shape in ((4,), (2, 2), (1, 4)):
            relu = predictor(models.relu(shape=shape))
            y = relu(pa.table({"X": self.x.tolist()}))["Y"].to_pylist()
            self.assertEqual(np.reshape(y, (3, 4)).tolist(), np.maximum(self.x, 0).tolist(), shape)
            self.assertEqual(np.shape(y), (3, 4) if shape != (2, 2) else (3, 2, 2))
        scalar = predictor(models.same(TensorProto.INT64, ()))
        self.assertEqual(scalar(pa.table({"x": [3, 4]}))["y"].to_pylist(), [3, 4])
        sequences = predictor(models.same(TensorProto.FLOAT, ("length",)), batch=False)
        self.assertEqual(sequences(pa.table({"x": [[1.0], [2.0, 3.0]]}))["y"].to_pylist(), [[1.0], [2.0, 3.0]])
        with self.assertRaisesRegex(ValueError, "no open batch dimension"):
            predictor(models.relu(shape=(4,)), batch=True)

    def test_outputs_that_have_no_rows_are_refused(self):
        total = models.model([helper.make_node("ReduceSum", ["X"], ["total"], keepdims=0)], {"X": (TensorProto.FLOAT, ["n", 2])},
                             {"total": (TensorProto.FLOAT, [])})
        with self.assertRaisesRegex(TypeError, "output 'total' has the shape .*, nothing for each row"):
            predictor(total)
        self.assertEqual(predictor(total, batch=False)(pa.table({"X": [[[1.0, 2.0], [3.0, 4.0]]]}))["total"].to_pylist(), [10.0])


class Failures(unittest.TestCase):
    def test_a_run_that_fails_names_the_row(self):
        k = [1] * 5000
        k[4321] = 7
        with self.assertRaises(RowError) as caught:
            predictor(models.taken(), keep=["note"])(pa.table({"k": k, "note": ["n"] * 5000}))
        self.assertEqual(caught.exception.row, 4321)
        self.assertIn("k=7", str(caught.exception))
        self.assertEqual(pickle.loads(pickle.dumps(caught.exception)).row, 4321)

    def test_rows_that_fail_become_nulls(self):
        k = [0, 1, 9, 2, None, 1]
        for given in (pa.table({"k": k}), {"k": np.array(k, np.float64)}):
            result = predictor(models.taken(), errors="null", error_column="why")(given)
            y, why = (list(result[name] if isinstance(result, dict) else result[name].to_pylist()) for name in ("y", "why"))
            self.assertEqual([None if v is None or v != v else v for v in y], [10, 20, None, 30, None, 20])
            self.assertEqual([w is None for w in why], [True, True, False, True, False, True])
            self.assertIn("has no value", why[4])
        many = predictor(models.taken(), errors="null")(pa.table({"k": [3] * 9000}))
        self.assertEqual((many["y"].null_count, many["error"].null_count), (9000, 0))
        none = predictor(models.taken(), errors="null")(pa.table({"k": [0]}))
        self.assertEqual((none["y"].to_pylist(), none["error"].to_pylist(), str(none["error"].type)), ([10.0], [None], "string"))

    def test_empty_tables(self):
        result = predictor(models.relu())(pa.table({"X": pa.array([], pa.list_(pa.float32()))}))
        self.assertEqual((result.num_rows, str(result["Y"].type)), (0, "list<item: float>"))
        self.assertEqual(predictor(models.relu())({"X": np.zeros((0, 4), np.float32)})["Y"].shape, (0, 4))

    def test_names_are_checked(self):
        relu = models.relu()
        for arguments, table, text in (({}, {"Z": [1]}, "there is no column 'X'; there are 'Z'"), ({"keep": ["q"]}, {"X": [[1.0] * 4]}, "no column 'q'"),
                                       ({"keep": True, "outputs": {"Y": "X"}}, {"X": [[1.0] * 4]}, "two columns of the result would be called 'X'")):
            with self.assertRaisesRegex(ValueError, text):
                predictor(relu, **arguments)(pa.table(table))
        for arguments, text in (({"inputs": {"W": "x"}}, "no input is called 'W'"), ({"outputs": ["W"]}, "no output is called 'W'"), ({"errors": "ignore"}, "errors is")):
            with self.assertRaisesRegex(ValueError, text):
                predictor(relu, **arguments)
        with self.assertRaisesRegex(TypeError, "onnxc.Library"):
            Predictor("model.onnx")


class Pipelines(unittest.TestCase):
    def test_columns_by_name_give_what_onnxruntime_gives(self):
        people = models.people(1000)
        labels, probabilities = models.pipeline_in_onnxruntime(people, age=40)
        for given in (pa.table(people), {name: np.array(values, object if name == "town" else float) for name, values in people.items()}):
            result = predictor(models.pipeline(), missing={"age": 40}, keep=["id"])(given)
            label, scores = (list(result[name] if isinstance(result, dict) else result[name].to_pylist()) for name in ("label", "probabilities"))
            self.assertEqual(label, labels)
            np.testing.assert_allclose(np.array(scores, np.float32), probabilities, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
