"""Where $ONNXC_REPORT names a file, checks append what became of each model to it, a line of JSON each, for docs/operators.md."""
import json
import os
import threading

from onnx import TensorProto

from units import Unit, emit

LOCK = threading.Lock()
SHORT = {"FLOAT": "f32", "DOUBLE": "f64", "BOOL": "bool", "STRING": "string", "COMPLEX64": "c64", "COMPLEX128": "c128"}


def element_name(element):
    """onnxc's name of an element type: FLOAT8E5M2 is f8e5m2."""
    name = TensorProto.DataType.Name(element)
    return SHORT.get(name) or name.lower().replace("float", "f").replace("uint", "u").replace("int", "i")


def elements(type_proto):
    kind = type_proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        return {element_name(getattr(type_proto, kind).elem_type)}
    if kind == "map_type":
        return {element_name(type_proto.map_type.key_type)} | elements(type_proto.map_type.value_type)
    return elements(getattr(type_proto, kind).elem_type) if kind else set()


def operators(graph):
    found = set()
    for node in graph.node:
        found.add(f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type)
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs] if attribute.HasField("g") or attribute.graphs else []:
                found |= operators(inner)
    return found


def record(suite, name, model, passed, options=()):
    path = os.environ.get("ONNXC_REPORT")
    if not path:
        return
    types = set().union(*(elements(v.type) for v in [*model.graph.input, *model.graph.output]))
    line = {
        "suite": suite,
        "name": name,
        "operators": sorted(operators(model.graph)),
        "opsets": {o.domain if o.domain != "ai.onnx" else "": o.version for o in model.opset_import},
        "elements": sorted(types),
        "kernels": sorted(emit(Unit(model, options), "unit").kernels()) if passed else [],
        "result": "passed" if passed else "failed",
        "reason": "",
    }
    with LOCK, open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
