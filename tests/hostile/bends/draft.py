"""A form that is being made, and one change to it."""
from dataclasses import dataclass

import onnx
from onnx import TensorProto, helper

from seeds import schemas

TYPES = {name: getattr(TensorProto, name.upper()) for name in (
    "float", "double", "float16", "bfloat16", "int8", "int64", "uint8", "uint64", "bool", "string", "complex64", "float8e4m3fn", "int4", "float4e2m1")} | {"undefined": 0, "unknown": 99}
OTHER_TYPES = {name: getattr(TensorProto, name.upper()) for name in ("int16", "int32", "uint16", "uint32", "complex128", "float8e5m2", "float8e4m3fnuz", "float8e8m0", "uint4", "int2", "uint2")
               if hasattr(TensorProto, name.upper())}
BITS = {TensorProto.FLOAT4E2M1: 4, TensorProto.INT4: 4, TensorProto.UINT4: 4, TensorProto.BOOL: 8, TensorProto.INT8: 8, TensorProto.UINT8: 8, TensorProto.FLOAT16: 16, TensorProto.BFLOAT16: 16,
        TensorProto.INT16: 16, TensorProto.UINT16: 16, TensorProto.DOUBLE: 64, TensorProto.INT64: 64, TensorProto.UINT64: 64, TensorProto.COMPLEX64: 64, TensorProto.COMPLEX128: 128}
BITS |= {value: 8 for name, value in TensorProto.DataType.items() if name.startswith("FLOAT8")} | {value: 2 for name, value in TensorProto.DataType.items() if name in ("INT2", "UINT2")}
LARGE = {"2e31": 2**31, "2e58": 2**58}


class Draft:
    """A model that is being made, from a Seed, with the inputs of `constants` as initialisers."""

    def __init__(self, seed, constants):
        self.seed = seed
        self.node = onnx.NodeProto()
        self.node.CopyFrom(seed.node)
        self.opsets = dict(seed.opsets)
        self.inputs = list(seed.inputs)
        self.constants = set(constants)
        self.output_types = {}          # name -> TypeProto; without one its type is not stated
        self.hidden = set()             # outputs that are none of the graph's

    def schema(self):
        return schemas()[self.seed.domain, self.seed.op][self.seed.since]

    def attribute(self, name):
        return next(a for a in self.node.attribute if a.name == name)

    def set_attribute(self, attribute):
        kept = [a for a in self.node.attribute if a.name != attribute.name]
        del self.node.attribute[:]
        self.node.attribute.extend(kept + [attribute])

    def model(self):
        graph_inputs, initialisers = [], []
        for i, value in enumerate(self.inputs):
            if value is None:
                continue
            if i in self.constants:
                tensor = TensorProto()
                tensor.CopyFrom(value.tensor)
                tensor.name = f"x{i}"
                initialisers.append(tensor)
            else:
                graph_inputs.append(helper.make_value_info(f"x{i}", value.type))
        outputs = [name for k, name in enumerate(self.node.output) if name and k not in self.hidden]
        infos = [helper.make_value_info(name, self.output_types[name]) if name in self.output_types else helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(outputs)]
        graph = helper.make_graph([self.node], "form", graph_inputs, infos, initialisers)
        model = onnx.ModelProto(ir_version=10, graph=graph)
        for domain, version in self.opsets.items():
            model.opset_import.add(domain=domain, version=version)
        return model


@dataclass
class Bend:
    name: str
    apply: object  # changes a Draft
