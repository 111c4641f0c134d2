"""Programs that were written for onnxruntime: its names, with what they mean here, beside onnxruntime itself where it is installed."""
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

import models
import onnxc
from onnxc import build

X = np.array([[-1, 0, 1], [2, -3, 4]], np.float32)


class Exporter:
    """A tensor of another library, as DLPack shows it."""

    def __init__(self, array, device=(1, 0)):
        self._array, self._device = array, device

    def __dlpack__(self, **how):
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._device


class Names(unittest.TestCase):
    def test_a_program_changes_one_import(self):
        """The same lines give the same from both."""
        answers = []
        for module in (onnxc, __import__("onnxruntime")):
            options = module.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            options.execution_mode = module.ExecutionMode.ORT_SEQUENTIAL
            options.graph_optimization_level = module.GraphOptimizationLevel.ORT_ENABLE_BASIC
            options.add_free_dimension_override_by_name("batch", 2)
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            model = models.add(["batch", 3], [3], ["batch", 3]).SerializeToString()
            session = module.InferenceSession(model, options, providers=["CPUExecutionProvider"], provider_options=[{}])
            inputs = [(i.name, i.shape, i.type) for i in session.get_inputs()]
            outputs = [(o.name, o.type) for o in session.get_outputs()]
            feeds = {"a": X, "b": X[0]}
            binding = session.io_binding()
            binding.bind_cpu_input("a", X)
            binding.bind_cpu_input("b", X[0])
            binding.bind_output("sum")
            session.run_with_iobinding(binding)
            answers.append((inputs, outputs, session.get_providers(), session.run(["sum"], feeds, module.RunOptions())[0].tolist(), binding.copy_outputs_to_cpu()[0].tolist(),
                            options.get_session_config_entry("session.intra_op.allow_spinning"), "CPUExecutionProvider" in module.get_available_providers()))
        self.assertEqual(*answers)

    def test_options_mean_what_onnxcs_own_do(self):
        options = onnxc.SessionOptions()
        options.intra_op_num_threads = 2
        options.graph_optimization_level = onnxc.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_free_dimension_override_by_name("batch", 5)
        with mock.patch.object(build, "compile", side_effect=InterruptedError) as compile:
            for own in ({}, {"threads": 3, "dims": {"time": 4}}):
                with self.assertRaises(InterruptedError):
                    onnxc.InferenceSession("model.onnx", options, **own)
        first, second = (call.kwargs for call in compile.call_args_list)
        self.assertEqual((first["threads"], first["dims"], first["options"]), (2, {"batch": 5}, ["-O0"]))
        self.assertEqual((second["threads"], second["dims"]), (3, {"batch": 5, "time": 4}))

    def test_what_nothing_corresponds_to(self):
        options = onnxc.SessionOptions()
        with self.assertRaises(AttributeError):
            options.intra_op_threads = 2
        for call in (lambda: options.register_custom_ops_library("x.so"), lambda: options.add_initializer("w", X), lambda: options.add_free_dimension_override_by_denotation("BATCH", 1)):
            self.assertRaises(NotImplementedError, call)
        with self.assertRaisesRegex(TypeError, "SessionOptions"):
            onnxc.InferenceSession(models.relu(), 2)
        with self.assertRaisesRegex(ValueError, "2 provider_options for 1"):
            onnxc.InferenceSession(models.relu(), providers=["cpu"], provider_options=[{}, {}])

    def test_bound_memory_is_read_at_each_run(self):
        session, x = onnxc.InferenceSession(models.relu()), X.copy()
        binding = session.io_binding()
        self.assertRaises(RuntimeError, binding.copy_outputs_to_cpu)
        binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.__array_interface__["data"][0])
        session.run_with_iobinding(binding)
        (first,) = binding.copy_outputs_to_cpu()
        x += 10
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(first, np.maximum(X, 0))
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], X + 10)
        self.assertRaises(NotImplementedError, binding.bind_input, "x", "cuda", 0, np.float32, x.shape, 0)
        self.assertRaisesRegex(ValueError, "'z'", binding.bind_output, "z")


class Tensors(unittest.TestCase):
    def test_tensors_of_other_libraries_are_taken_without_a_copy(self):
        session, x = onnxc.InferenceSession(models.relu()), X.copy()
        np.testing.assert_array_equal(session.run(None, {"x": Exporter(x)})[0], np.maximum(x, 0))
        bound = session.bind({"x": Exporter(x)})
        x[:] = 7
        bound.run()
        self.assertEqual(bound.outputs["y"].tolist(), x.tolist())

    def test_tensors_that_numpy_cannot_have(self):
        session = onnxc.InferenceSession(models.relu())
        with self.assertRaisesRegex(TypeError, "memory of a device"):
            session.run(None, {"x": Exporter(X, (2, 0))})
        with self.assertRaisesRegex(TypeError, "float64"):
            session.run(None, {"x": Exporter(X.astype(np.float64))})


class Cache(unittest.TestCase):
    def test_a_model_is_compiled_once_however_many_ask(self):
        with tempfile.TemporaryDirectory() as folder:
            log, wrapper = Path(folder) / "log", Path(folder) / "onnxc"
            wrapper.write_text(f'#!/bin/sh\necho run >>"{log}"\nexec "{onnxc.find_executable()}" "$@"\n')
            wrapper.chmod(0o755)
            environment = {"ONNXC_EXECUTABLE": str(wrapper), "ONNXC_CACHE": folder}
            code = "import models, onnxc; onnxc.InferenceSession(models.relu((3, 5)))"
            processes = [subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **environment}) for _ in range(3)]
            with mock.patch.dict(os.environ, environment):
                threads = [threading.Thread(target=onnxc.InferenceSession, args=(models.relu((3, 5)),)) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            self.assertEqual([process.wait() for process in processes], [0, 0, 0])
            self.assertEqual(log.read_text().split(), ["run"])


class Installation(unittest.TestCase):
    def test_an_import_without_a_compiler_names_the_package(self):
        with mock.patch.dict(os.environ, {"ONNXC_CXX": "no-such-compiler"}), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            build.warn_without_compiler()
        self.assertEqual(len(caught), 1)
        self.assertRegex(str(caught[0].message), r"no-such-compiler.*(install|g\+\+)")

    def test_the_command(self):
        done = subprocess.run([sys.executable, "-m", "onnxc", "--version"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.split()[:2]), (0, ["onnxc", onnxc.__version__]))


if __name__ == "__main__":
    unittest.main()
