"""InferenceSession and Binding: shapes, types, dynamic dimensions, the cache, and what is refused."""
import os
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
import onnxc
from onnxc import build

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Run(unittest.TestCase):
    def test_run_returns_new_arrays(self):
        session = onnxc.InferenceSession(models.relu())
        x = np.array([[-1, 0, 1], [2, -3, 4]], np.float32)
        (first,) = session.run(None, {"x": x})
        (second,) = session.run(["y"], {"x": -x})
        np.testing.assert_array_equal(first, np.maximum(x, 0))
        np.testing.assert_array_equal(second, np.maximum(-x, 0))

    def test_inputs_and_outputs_are_described_as_onnxruntime_does(self):
        session = onnxc.InferenceSession(models.add(["batch", 4], [4], ["batch", 4]))
        a, b = session.get_inputs()
        self.assertEqual((a.name, a.shape, a.type), ("a", ["batch", 4], "tensor(float)"))
        self.assertEqual((b.name, b.shape, b.type), ("b", [4], "tensor(float)"))
        self.assertEqual([o.name for o in session.get_outputs()], ["sum"])

    def test_arrays_that_are_not_contiguous_and_lists(self):
        session = onnxc.InferenceSession(models.relu((3, 2)))
        x = np.arange(-3, 3, dtype=np.float32).reshape(2, 3).T
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.maximum(x, 0))
        np.testing.assert_array_equal(session.run(None, {"x": x.tolist()})[0], np.maximum(x, 0))

    def test_scalars(self):
        session = onnxc.InferenceSession(models.relu(()))
        (y,) = session.run(None, {"x": np.float32(3)})
        self.assertEqual((y.shape, y.dtype, float(y)), ((), np.float32, 3.0))

    def test_a_dynamic_dimension(self):
        session = onnxc.InferenceSession(models.add(["batch", 4], ["batch", 4], ["batch", 4]))
        for batch in (1, 2, 7):
            a = np.arange(batch * 4, dtype=np.float32).reshape(batch, 4)
            (total,) = session.run(None, {"a": a, "b": 2 * a})
            np.testing.assert_array_equal(total, 3 * a)

    def test_a_dynamic_dimension_that_is_fixed_when_compiling(self):
        session = onnxc.InferenceSession(models.relu(["batch", 2]), dims={"batch": 3})
        self.assertEqual(session.get_inputs()[0].shape, [3, 2])

    def test_variants_for_some_sizes_are_behind_the_same_function(self):
        weights = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "w")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("NonZero", ["y"], ["where"]), helper.make_node("Shape", ["x"], ["shape"]),
                 helper.make_node("Reshape", ["y", "shape2"], ["z"])]
        made = models.model(nodes, {"x": (TensorProto.FLOAT, ["batch", "time", 4]), "shape2": (TensorProto.INT64, [2])},
                            {"z": (TensorProto.FLOAT, None), "where": (TensorProto.INT64, None), "shape": (TensorProto.INT64, None)}, [weights])
        session = onnxc.InferenceSession(made, options=["--specialize", "batch=1,3", "--specialize", "time=2"])
        for batch, time in ((1, 2), (3, 2), (1, 3), (2, 2)):
            x = np.arange(batch * time * 4, dtype=np.float32).reshape(batch, time, 4) % 5
            y = x @ numpy_helper.to_array(weights)
            z, where, shape = session.run(None, {"x": x, "shape2": np.array([-1, 3])})
            np.testing.assert_array_equal(z, y.reshape(-1, 3))
            np.testing.assert_array_equal(where, np.array(np.nonzero(y)))
            self.assertEqual(shape.tolist(), list(x.shape))
        with tempfile.TemporaryDirectory() as folder:
            library = onnxc.compile(made, Path(folder) / "unit.so", options=["--specialize", "batch=1"])
            self.assertTrue(Path(library).exists())
        for bad, code in (("batch", 2), ("batch=", 2), ("batch=one", 2), ("other=1", 2)):
            with self.assertRaises(onnxc.CompileError) as caught:
                onnxc.InferenceSession(made, options=["--specialize", bad])
            self.assertEqual(caught.exception.exit_code, code)

    def test_limits_of_memory_and_code(self):
        weights = numpy_helper.from_array(np.arange(64 * 64, dtype=np.float32).reshape(64, 64), "w")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Softmax", ["p"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])]
        made = models.model(nodes, {"x": (TensorProto.FLOAT, [4, 64])}, {"y": (TensorProto.FLOAT, [4, 64])}, [weights])
        for name in ("code", "arena", "weights"):
            with tempfile.TemporaryDirectory() as folder:
                library = Path(folder) / "unit.so"
                with self.assertRaisesRegex(onnxc.CompileError, f"the {name} would take [0-9]+ bytes, more than 100.*see --max-{name}") as caught:
                    onnxc.compile(made, library, options=[f"--max-{name}=100"])
                self.assertEqual(caught.exception.exit_code, 4)
                self.assertFalse(library.exists())
            self.assertEqual(len(onnxc.InferenceSession(made, options=[f"--max-{name}=1M"]).run(None, {"x": np.ones((4, 64), np.float32)})), 1)

    def test_several_threads_use_one_session(self):
        session = onnxc.InferenceSession(models.relu((64, 64)))
        wrong = []

        def work(seed):
            x = np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)
            for _ in range(50):
                if not np.array_equal(session.run(None, {"x": x})[0], np.maximum(x, 0)):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_two_threads_give_what_one_gives(self):
        x = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
        one = onnxc.InferenceSession(models.relu((64, 64))).run(None, {"x": x})[0]
        session = onnxc.InferenceSession(models.relu((64, 64)), threads=2)
        self.assertIsNotNone(session._executor)
        for _ in range(100):
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], one)


class Bind(unittest.TestCase):
    def test_arrays_stay_in_place(self):
        session = onnxc.InferenceSession(models.relu())
        x = np.array([[-1, 0, 1], [2, -3, 4]], np.float32)
        bound = session.bind({"x": x})
        y = bound.outputs["y"]
        bound.run()
        np.testing.assert_array_equal(y, np.maximum(x, 0))
        x *= -1  # the array that was bound is the one that is read
        bound.run()
        np.testing.assert_array_equal(y, np.maximum(x, 0))
        self.assertIs(bound.outputs[0], y)
        self.assertEqual(list(bound.outputs.keys()), ["y"])

    def test_bindings_of_one_session_do_not_disturb_each_other(self):
        session = onnxc.InferenceSession(models.add(["n"], ["n"], ["n"]))
        small = session.bind({"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)})
        large = session.bind({"a": np.ones(5, np.float32), "b": np.full(5, 3, np.float32)})
        small.run()
        large.run()
        np.testing.assert_array_equal(small.outputs["sum"], [2, 2])
        np.testing.assert_array_equal(large.outputs["sum"], [4, 4, 4, 4, 4])


class Refuse(unittest.TestCase):
    def test_wrong_feeds(self):
        session = onnxc.InferenceSession(models.add(["n", 4], ["n", 4], ["n", 4]))
        good = np.zeros((2, 4), np.float32)
        for feeds, error, text in [
            ({"a": good}, ValueError, "without 'b'"),
            ({"a": good, "b": good, "c": good}, ValueError, "unknown 'c'"),
            ({"a": good, "b": good.astype(np.float64)}, TypeError, "'b' is float64"),
            ({"a": good, "b": np.zeros((2, 5), np.float32)}, ValueError, "'b' has shape"),
            ({"a": good, "b": np.zeros(4, np.float32)}, ValueError, "'b' has shape"),
            ({"a": good, "b": np.zeros((3, 4), np.float32)}, ValueError, "n is 3 here and 2"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                session.run(None, feeds)
        with self.assertRaisesRegex(ValueError, "no output is called 'total'"):
            session.run(["total"], {"a": good, "b": good})

    def test_beyond_declared_bounds(self):
        session = onnxc.InferenceSession(models.relu(["n"]), dims={"n": (1, 4)})
        session.run(None, {"x": np.zeros(4, np.float32)})
        with self.assertRaisesRegex(ValueError, "compiled for 1 to 4"):
            session.run(None, {"x": np.zeros(5, np.float32)})

    def test_what_is_no_model(self):
        with self.assertRaises(onnxc.CompileError) as caught:
            onnxc.InferenceSession(b"this is not a model")
        self.assertEqual(caught.exception.exit_code, 1)
        with self.assertRaises(FileNotFoundError):
            onnxc.InferenceSession("no/such/model.onnx")


class Compile(unittest.TestCase):
    def test_the_cache_goes_by_content(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.onnx", "b.onnx"):
                onnx.save(models.relu((5,)), f"{folder}/{name}")
            first = onnxc.compile(f"{folder}/a.onnx")
            file = os.stat(first).st_ino
            self.assertEqual(onnxc.compile(f"{folder}/b.onnx"), first)
            self.assertEqual(os.stat(first).st_ino, file)
            self.assertNotEqual(onnxc.compile(f"{folder}/a.onnx", options=["-O1"]), first)

    def test_another_compiler_makes_another_library(self):
        with tempfile.TemporaryDirectory() as folder:
            first = onnxc.compile(models.relu((5,)))
            wrapper = Path(folder) / "compiler"
            wrapper.write_text('#!/bin/sh\nexec ${CXX:-c++} "$@"\n')
            wrapper.chmod(0o755)
            with mock.patch.dict(os.environ, ONNXC_CXX=str(wrapper)):
                self.assertNotEqual(onnxc.compile(models.relu((5,))), first)
            self.assertEqual(onnxc.compile(models.relu((5,))), first)

    def test_a_library_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            library = onnxc.compile(models.relu((4,)), f"{folder}/relu.so")
            (y,) = onnxc.InferenceSession(library).run(None, {"x": np.array([-1, 1, -2, 2], np.float32)})
            np.testing.assert_array_equal(y, [0, 1, 0, 2])

    def test_cache_keeps_what_was_used_last(self):
        with tempfile.TemporaryDirectory() as folder:
            libraries = []
            for age in range(4):
                libraries.append(Path(folder) / f"key{age}" / "library.so")
                libraries[-1].parent.mkdir()
                libraries[-1].write_bytes(bytes(100))
                os.utime(libraries[-1], (1000 - age, 1000 - age))
            build._prune(Path(folder), 250)
            self.assertEqual([library.exists() for library in libraries], [True, True, False, False])

    def test_changed_external_data_compiles_anew(self):
        weight = np.arange(1000, dtype=np.float32)
        made = models.model(
            [helper.make_node("Add", ["x", "w"], ["y"])],
            {"x": (TensorProto.FLOAT, [1000])},
            {"y": (TensorProto.FLOAT, [1000])},
            [numpy_helper.from_array(weight, "w")],
        )
        x = np.ones(1000, np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.onnx"
            onnx.save(made, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
            np.testing.assert_array_equal(onnxc.InferenceSession(path).run(None, {"x": x})[0], x + weight)
            (weight * 2).tofile(f"{folder}/weights.bin")
            np.testing.assert_array_equal(onnxc.InferenceSession(path).run(None, {"x": x})[0], x + 2 * weight)


class Samples(unittest.TestCase):
    def test_digits(self):
        image = np.array((SAMPLES / "digits/digit.pgm").read_text().split("\n16\n")[1].split(), np.float32) / 16
        label, *scores = (SAMPLES / "digits/expected.txt").read_text().splitlines()
        (answer,) = onnxc.InferenceSession(SAMPLES / "digits/digits.onnx").run(None, {"image": image.reshape(1, 1, 8, 8)})
        np.testing.assert_allclose(answer[0], np.array(scores, np.float32), atol=1e-5)
        self.assertEqual(f"label {answer[0].argmax()}", label)

    def test_dynamic_mlp(self):
        table = np.loadtxt(SAMPLES / "dynamic_mlp/flowers.txt", dtype=np.float32)
        session = onnxc.InferenceSession(SAMPLES / "dynamic_mlp/dynamic_mlp.onnx")
        for count in (1, 5, len(table)):
            (scores,) = session.run(None, {"flowers": table[:count, :4]})
            np.testing.assert_allclose(scores, table[:count, 5:], atol=1e-5)


if __name__ == "__main__":
    unittest.main()
