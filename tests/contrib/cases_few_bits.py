"""Elements of 4 and 2 bits through the operators whose schemas allow them: packed where they go in and come out, odd counts, constants small and large."""
import ml_dtypes
from onnx.reference import ReferenceEvaluator

from case import Case, helper, np, numpy_helper

TYPES = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn]
I = lambda *values: np.array(values, np.int64)


def model_of(nodes, inputs, constants, outputs):
    graph_inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()]
    initialisers = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "case", graph_inputs, [helper.make_empty_tensor_value_info(o) for o in outputs], initialisers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def made(name, nodes, inputs, constants=None, outputs=("y",)):
    model = model_of(nodes, inputs, constants or {}, outputs)
    return Case(f"bits_{name}", model, inputs, wanted=ReferenceEvaluator(model).run(None, inputs))


def cases():
    node = helper.make_node
    for dtype in TYPES:
        kind, rng = np.dtype(dtype).name, np.random.default_rng(7)
        values = lambda *shape: rng.integers(0, 2, shape).astype(np.float32).astype(dtype) if "2" in kind and "int" in kind else rng.integers(-2, 4, shape).astype(np.float32).astype(dtype)
        x = values(3, 5, 7)  # 105: the last byte is not full
        yield made(f"identity_{kind}", [node("Identity", ["x"], ["y"])], {"x": x})
        yield made(f"transpose_{kind}", [node("Transpose", ["x"], ["y"], perm=[2, 0, 1])], {"x": x})
        yield made(f"reshape_{kind}", [node("Reshape", ["x", "s"], ["y"])], {"x": x}, {"s": I(15, -1)})
        yield made(f"flatten_{kind}", [node("Flatten", ["x"], ["y"], axis=2)], {"x": x})
        yield made(f"two_outputs_{kind}", [node("Identity", ["x"], ["y"]), node("Cast", ["x"], ["z"], to=1)], {"x": x}, outputs=("y", "z"))
        large = values(5, 1801)
        yield made(f"large_constant_{kind}", [node("Cast", ["w"], ["g"], to=1), node("Gather", ["g", "i"], ["y"])], {"i": I(4, 1)}, {"w": large})
        yield made(f"constant_out_{kind}", [node("Identity", ["w"], ["y"]), node("Identity", ["i"], ["z"])], {"i": I(4, 1)}, {"w": x}, outputs=("y", "z"))
