"""Sessions on a GPU, or on the emulated one: providers, results, errors."""
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import models
import onnxc
from onnxc import abi, build, providers

CUDA = "CUDAExecutionProvider"


def cuda(model, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return onnxc.InferenceSession(model, options=["-O1"], providers=["cuda"], **options)


def mlp():
    """A product whose extents a run tells: x of [batch, 4]."""
    weights = onnx.numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3) / 8, "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Tanh", ["h"], ["y"])]
    return models.model(nodes, {"x": (TensorProto.FLOAT, ["batch", 4])}, {"y": (TensorProto.FLOAT, ["batch", 3])}, [weights])


def build_headers():
    installed = Path(onnxc.find_executable()).resolve().parents[1] / "include"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / "runtime_stub"


class Providers(unittest.TestCase):
    def test_the_first_counts_and_names_are_those_of_onnxruntime(self):
        self.assertEqual(providers.first_of(["cuda"]), (CUDA, {}))
        self.assertEqual(providers.first_of([CUDA, "CPUExecutionProvider"]), (CUDA, {}))
        self.assertEqual(providers.first_of([("CUDA", {"device_id": 1}), "cpu"]), (CUDA, {"device_id": 1}))
        self.assertEqual(providers.first_of(["cpu"])[0], "CPUExecutionProvider")
        for wrong in ("cuda", [], ["tpu"], [("cuda", {"fast": 1})], [("cpu", {"device_id": 1})]):
            with self.assertRaises(ValueError):
                providers.first_of(wrong)

    def test_an_architecture_by_any_of_its_names(self):
        for name in ("sm90", "sm_90", "cuda-sm90"):
            self.assertEqual(providers.cuda_options(name, 0)[0], "--target=cuda-sm90")
        self.assertEqual(providers.cuda_options("sm_80+x86-64-v3", 0)[0], "--target=cuda-sm80+x86-64-v3")

    def test_what_a_library_is_for_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            library = onnxc.compile(mlp(), Path(folder) / "unit.so")
            with self.assertRaisesRegex(ValueError, "is for the CPU"):
                onnxc.InferenceSession(library, providers=["cuda"])
            self.assertEqual(onnxc.InferenceSession(library, providers=["cpu"]).get_providers(), ["CPUExecutionProvider"])


class Run(unittest.TestCase):
    def test_results_are_those_of_the_processor(self):
        on_gpu, on_cpu = cuda(mlp()), onnxc.InferenceSession(mlp())
        self.assertEqual(on_gpu.get_providers(), [CUDA])
        for batch in (1, 3, 2, 3, 1, 0):
            x = np.arange(batch * 4, dtype=np.float32).reshape(batch, 4) / 5
            np.testing.assert_allclose(on_gpu.run(None, {"x": x})[0], on_cpu.run(None, {"x": x})[0], rtol=1e-5)

    def test_bound_arrays_and_threads(self):
        session = cuda(mlp())
        x = np.ones((2, 4), np.float32)
        bound = session.bind({"x": x})
        results = [[], []]

        def work(to, value):
            for _ in range(20):
                to.append(session.run(None, {"x": np.full((2, 4), value, np.float32)})[0].copy())

        threads = [threading.Thread(target=work, args=(results[k], k + 1)) for k in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            bound.run()
        for thread in threads:
            thread.join()
        for to in results:
            self.assertEqual(len(to), 20)
            for y in to:
                np.testing.assert_array_equal(y, to[0])
        np.testing.assert_array_equal(bound.outputs["y"], results[0][0])

    def test_outputs_whose_shape_a_run_tells(self):
        nodes = [helper.make_node("NonZero", ["x"], ["where"]), helper.make_node("Relu", ["x"], ["y"])]
        session = cuda(models.model(nodes, {"x": (TensorProto.FLOAT, [3, 2])}, {"where": (TensorProto.INT64, None), "y": (TensorProto.FLOAT, [3, 2])}))
        for x in (np.array([[0, 1], [2, 0], [0, -3]], np.float32), np.zeros((3, 2), np.float32)):
            where, y = session.run(None, {"x": x})
            np.testing.assert_array_equal(where, np.array(np.nonzero(x)))
            np.testing.assert_array_equal(y, np.maximum(x, 0))

    def test_what_stays_on_the_host(self):
        nodes = [helper.make_node("Equal", ["s", "t"], ["same"]), helper.make_node("Neg", ["x"], ["minus"]),
                 helper.make_node("Where", ["same", "x", "minus"], ["y"])]
        session = cuda(models.model(nodes, {"s": (TensorProto.STRING, [3]), "t": (TensorProto.STRING, [3]), "x": (TensorProto.FLOAT, [3])},
                                    {"y": (TensorProto.FLOAT, [3])}, opset=19))
        x = np.array([1, 2, 3], np.float32)
        for _ in range(3):
            (y,) = session.run(None, {"s": np.array(["a", "b", "c"]), "t": np.array(["a", "x", "c"]), "x": x})
            np.testing.assert_array_equal(y, [1, -2, 3])

    def test_what_has_no_bound_comes_from_an_allocator(self):
        nodes = [helper.make_node("SplitToSequence", ["x"], ["parts"], axis=0, keepdims=1), helper.make_node("SequenceAt", ["parts", "k"], ["part"]),
                 helper.make_node("Range", ["zero", "k", "one"], ["range"]), helper.make_node("Neg", ["part"], ["y"])]
        constants = [onnx.numpy_helper.from_array(np.array(k, np.int64), name) for k, name in ((0, "zero"), (1, "one"))]
        session = cuda(models.model(nodes, {"x": (TensorProto.FLOAT, [3, 2]), "k": (TensorProto.INT64, [])},
                                    {"y": (TensorProto.FLOAT, None), "range": (TensorProto.INT64, [None])}, constants))
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        for k in (2, 0, 1, 2):
            y, numbers = session.run(None, {"x": x, "k": np.array(k)})
            np.testing.assert_array_equal(y, -x[k : k + 1])
            np.testing.assert_array_equal(numbers, np.arange(k))

    def test_names_that_units_have_for_themselves(self):
        names = "gpu stream device DeviceInputs DeviceOutputs enqueue unit Session session memory to use arguments inputs outputs shapes symbols on_host std onnxc".split()
        inputs = {name: (TensorProto.FLOAT, [name, 2]) for name in names}
        outputs = {name + "/": (TensorProto.FLOAT, [name, 2]) for name in names}
        weights = [onnx.numpy_helper.from_array(np.full(2, k, np.float32), name + " ") for k, name in enumerate(names)]
        nodes = [helper.make_node("Add", [name, name + " "], [name + "/"]) for name in names]
        session = cuda(models.model(nodes, inputs, outputs, weights))
        feeds = {name: np.full((k % 3 + 1, 2), 0.5, np.float32) for k, name in enumerate(names)}
        for k, y in enumerate(session.run(None, feeds)):
            np.testing.assert_array_equal(y, np.full((k % 3 + 1, 2), k + 0.5, np.float32))

    @unittest.skipIf(providers.gpu_capability() and providers.has_nvcc(), "there is a GPU")
    def test_the_emulator_is_told_once(self):
        model = Path(tempfile.mkdtemp()) / "model.onnx"
        model.write_bytes(mlp().SerializeToString())
        code = f"import onnxc\nfor _ in range(2): onnxc.InferenceSession({str(model)!r}, options=['-O1'], providers=['cuda'])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("RuntimeWarning: this runs in onnxc's emulator"), 1, done.stderr)

    @unittest.skipIf(providers.gpu_capability() and providers.has_nvcc(), "there is a GPU")
    def test_what_the_driver_refuses_is_an_error(self):
        cuda(mlp())
        library = build.compile(mlp(), options=["-O1", *providers.cuda_options(None, 0)])
        code = f"import onnxc\ntry: onnxc.InferenceSession({library!r})\nexcept onnxc.RunError as e: print(e.status, e)"
        for setting, said in (("DEVICES=0", "10 compiled: the GPU failed: no GPU is emulated"), ("MEMORY=0", "8 compiled: out of memory: memory of the emulated GPU")):
            name, value = setting.split("=")
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env={**os.environ, f"ONNXC_EMULATOR_{name}": value})
            self.assertEqual(done.stdout.strip(), said, done.stderr)
        with self.assertRaisesRegex(onnxc.RunError, "no such GPU is emulated"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            onnxc.InferenceSession(library, providers=[("cuda", {"device_id": 1})])

    def test_units_of_older_versions_load(self):
        """A library of C, whose description ends before what units for GPUs have, as the header lays it out."""
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "old.c", Path(folder) / "old.so"
            for size, is_old in (("offsetof(onnxc_model, device_words)", True), ("sizeof(onnxc_model)", False)):
                source.write_text(f"""
#include <onnxc/model.h>
static const onnxc_model model = {{.struct_bytes = {size}, .name = "old", .device = ONNXC_CPU, .can_capture = 7, .enqueue = 0}};
const onnxc_model* unit_model(void) {{ return &model; }}
""")
                subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{build_headers()}", source, "-o", library], check=True)
                _, model = abi.load(library, "unit")
                self.assertEqual((model.name, model.device), (b"old", abi.CPU))
                self.assertEqual(isinstance(model, abi.DeviceModel), not is_old)
                if not is_old:
                    self.assertEqual((model.can_capture, bool(model.enqueue), abi.c.sizeof(model)), (7, False, model.struct_bytes))
                library.unlink()
                library = library.with_name("new.so")


if __name__ == "__main__":
    unittest.main()
