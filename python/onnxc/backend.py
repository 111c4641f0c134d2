"""onnxc as a backend of the onnx package (onnx.backend.base.Backend), so that ONNX's own test runner can drive it.

    import onnxc.backend as backend
    backend.run_model(model, [x])
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper
from onnx.backend.base import Backend, BackendRep

from .session import InferenceSession


class OnnxcBackendRep(BackendRep):
    def __init__(self, session: InferenceSession) -> None:
        self._session = session

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """`inputs`: a list in the model's order, or a dictionary."""
        if not isinstance(inputs, dict):
            if isinstance(inputs, np.ndarray):
                inputs = [inputs]
            inputs = dict(zip([i.name for i in self._session.get_inputs()], inputs))
        return tuple(self._session.run(None, inputs))


class OnnxcBackend(Backend):
    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        try:
            cls.prepare(model, device, **kwargs)
            return True
        except Exception:
            return False

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> OnnxcBackendRep:
        """`kwargs`: threads, dims, options of onnxc.InferenceSession."""
        if not cls.supports_device(device):
            raise ValueError(f"onnxc's backend runs on the CPU, not on {device}")
        return OnnxcBackendRep(InferenceSession(model, **kwargs))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: NodeProto, inputs: Any, device: str = "CPU", outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
                 **kwargs: Any) -> tuple[Any, ...]:
        """`outputs_info`: for each output (numpy type, shape); without it the element type is the first input's, the shape inferred."""
        if not isinstance(inputs, dict):
            inputs = dict(zip([name for name in node.input if name], inputs))
        feeds = {name: np.asarray(value) for name, value in inputs.items()}
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()]
        first = infos[0].type.tensor_type.elem_type if infos else TensorProto.FLOAT
        if outputs_info is None:
            outputs = [helper.make_tensor_value_info(name, first, None) for name in node.output if name]
        else:
            names = [name for name in node.output if name]
            outputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), s) for n, (t, s) in zip(names, outputs_info)]
        opset = helper.make_opsetid("", kwargs.pop("opset_version", 21))
        model = helper.make_model(helper.make_graph([node], "node", infos, outputs), opset_imports=[opset], ir_version=10)
        checker.check_model(model)
        return cls.run_model(model, feeds, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"


is_compatible = OnnxcBackend.is_compatible
prepare = OnnxcBackend.prepare
run_model = OnnxcBackend.run_model
run_node = OnnxcBackend.run_node
supports_device = OnnxcBackend.supports_device
