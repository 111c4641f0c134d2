"""The engines that are compared, each behind the same four members.

    name                 "onnxc", "ort", "ov"
    calls(n)             runs the model n times on inputs and outputs that were bound beforehand
    outputs()            the outputs of one more run, in the model's order
    load(path, ...)      what the engine needs before its first run, without any binding

All compute in f32 on the same number of threads.
"""
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import numpy as np

import native

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))


class Onnxc:
    name, title = "onnxc", "onnxc"

    def __init__(self, model_path, feeds, threads, options=(), native_loop=False, name="onnxc"):
        import onnxc

        self.name = name
        self.session = onnxc.InferenceSession(str(model_path), threads=threads, options=options)
        self._binding = self.session.bind({i.name: feeds[i.name] for i in self.session.get_inputs()})
        if native_loop:
            self.calls = native.loop(self.session._model, self._binding._call)

    def calls(self, n):
        run = self._binding.run
        for _ in range(n):
            run()

    def outputs(self):
        self._binding.run()
        return [np.array(o) for o in self._binding.outputs]

    @property
    def symbols(self):
        """{dynamic dimension: its extent with these inputs}, in the order of the C ABI."""
        return {name: value for (name, _, _), value in zip(self.session._symbols, self._binding._symbol_values)}

    @property
    def weights_bytes(self):
        """Of the constants in the compiled model, packed for its kernels."""
        return self.session._model.weights_bytes

    @property
    def arena_bytes(self):
        return self.session._model.arena_bytes(self._binding._symbol_values)


class OnnxRuntime:
    name, title, module = "ort", "ONNX Runtime", "onnxruntime"

    @staticmethod
    def load(model_path, feeds, threads):
        """A session; `feeds` is not used: shapes may differ from run to run."""
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return ort.InferenceSession(str(model_path), options, providers=["CPUExecutionProvider"])

    @staticmethod
    def first_run(session, feeds):
        return session.run(None, feeds)

    def __init__(self, model_path, feeds, threads):
        import onnxruntime as ort

        self.session = self.load(model_path, feeds, threads)
        self._feeds, self._binding = feeds, self.session.io_binding()
        self._inputs = {name: ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for name, array in feeds.items()}
        for name, value in self._inputs.items():
            self._binding.bind_ortvalue_input(name, value)
        self._outputs = [ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(r)) for r in self.session.run(None, feeds)]
        for info, value in zip(self.session.get_outputs(), self._outputs):
            self._binding.bind_ortvalue_output(info.name, value)

    def calls(self, n):
        run, binding = self.session.run_with_iobinding, self._binding
        for _ in range(n):
            run(binding)

    def outputs(self):
        return self.session.run(None, self._feeds)


class OpenVino:
    name, title, module = "ov", "OpenVINO", "openvino"

    @staticmethod
    def load(model_path, feeds, threads):
        """A request for a model whose shapes are those of the feeds."""
        import openvino as ov

        core = ov.Core()
        model = core.read_model(str(model_path))
        model.reshape({name: list(array.shape) for name, array in feeds.items()})
        config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY",
                  # or it rounds the activations of products with compressed weights to 8 bits
                  "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
        request = core.compile_model(model, "CPU", config).create_infer_request()
        for name, array in feeds.items():
            request.set_tensor(name, ov.Tensor(np.ascontiguousarray(array), shared_memory=True))
        return request

    @staticmethod
    def first_run(request, feeds):
        request.infer()
        return [tensor.data for tensor in request.output_tensors]

    def __init__(self, model_path, feeds, threads):
        self._feeds = {name: np.ascontiguousarray(array) for name, array in feeds.items()}  # the request reads them
        self._request = self.load(model_path, self._feeds, threads)

    def calls(self, n):
        infer = self._request.infer
        for _ in range(n):
            infer()

    def outputs(self):
        return [np.array(data) for data in self.first_run(self._request, self._feeds)]


PEERS = {engine.name: engine for engine in (OnnxRuntime, OpenVino)}
TITLES = {engine.name: engine.title for engine in (Onnxc, *PEERS.values())}


def available_peers(names):
    """Those of `names` that are installed here."""
    return [name for name in names if importlib.util.find_spec(PEERS[name].module)]


def peer_versions(names):
    return {name: importlib.metadata.version(PEERS[name].module) for name in names}
