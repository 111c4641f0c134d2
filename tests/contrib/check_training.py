"""Gradient against differences, batch normalisation in training against its formula."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from harness import check, check_model, numbers

TRAINING = "ai.onnx.preview.training"
node = helper.make_node


def info(name, x):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)


def gradient_check(name, nodes, opset=18, initializers=None, held=(), rtol=1e-4, atol=1e-5, step=1e-5, positive=False, **inputs):
    """`nodes` compute y of the inputs and initialisers, all f64; those that `held` names are not differentiated by."""
    initializers = initializers or {}
    values = {**inputs, **initializers}
    xs = [n for n, x in values.items() if n not in held and x.dtype == np.float64]
    zs = [n for n in inputs if n in held or inputs[n].dtype != np.float64]
    stored = [numpy_helper.from_array(x, n) for n, x in initializers.items()]
    feeds = [info(n, x) for n, x in inputs.items()]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    forward = helper.make_model(helper.make_graph(nodes, "f", [info(n, x) for n, x in values.items()], [helper.make_tensor_value_info("y", T.DOUBLE, None)]),
                                opset_imports=opsets[:1], ir_version=10)
    evaluate = ReferenceEvaluator(forward)
    expect = []
    for n in xs:
        d = np.zeros(values[n].shape)
        for at in np.ndindex(values[n].shape):
            ends = []
            for sign in (1, -1):
                moved = {k: v.copy() for k, v in values.items()}
                moved[n][at] += sign * step
                ends.append(evaluate.run(None, moved)[0].sum())
            d[at] = (ends[0] - ends[1]) / (2 * step)
        expect.append(d)
    outputs = [f"d{n}" for n in xs]
    options = {"zs": zs} if zs else {}
    last = node("Gradient", xs + zs, outputs, "gradient", domain=TRAINING, xs=xs, y="y", **options)
    graph = helper.make_graph([*nodes, last], "g", feeds, [helper.make_tensor_value_info(o, T.DOUBLE, None) for o in outputs], stored)
    check_model(f"Gradient {name}", helper.make_model(graph, opset_imports=opsets, ir_version=10), inputs, expect, rtol=rtol, atol=atol)


def f64(*shape, seed=0, low=None):
    x = numbers(*shape, seed=seed, dtype=np.float64)
    return x if low is None else np.abs(x) + low


for op in ("Neg Exp Sin Cos Tan Atan Sinh Cosh Tanh Asinh Sigmoid Softplus Relu Abs Softsign Elu Selu LeakyRelu HardSigmoid HardSwish Mish Identity Floor "
           ).split():
    gradient_check(op, [node(op, ["x"], ["y"])], opset=20, x=f64(3, 4))
for op in ("Erf", "Gelu"):  # which the reference computes in single precision
    gradient_check(op, [node(op, ["x"], ["y"])], opset=20, step=1e-3, rtol=1e-3, atol=3e-4, x=f64(3, 4))
for op in "Log Sqrt Reciprocal Acosh".split():
    gradient_check(op, [node(op, ["x"], ["y"])], x=f64(3, 4, low=1.2))
for op in "Asin Acos Atanh".split():
    gradient_check(op, [node(op, ["x"], ["y"])], x=np.tanh(f64(3, 4)) * 0.9)
for op in "Add Sub Mul Div Min Max".split():
    n = [node(op, ["x", "w"], ["t"]), node("Mul", ["t", "t"], ["y"])]
    gradient_check(op, n, x=f64(3, 4), w=f64(3, 4, seed=1, low=0.5))
    gradient_check(f"{op} broadcast", n, x=f64(2, 1, 4), w=f64(3, 1, seed=1, low=0.5))
    gradient_check(f"{op} of initialisers", n, x=f64(3, 4), initializers={"w": f64(4, seed=1, low=0.5)})
gradient_check("Pow", [node("Pow", ["x", "w"], ["y"])], x=f64(3, 4, low=0.3), w=f64(4))
gradient_check("Where", [node("Greater", ["x", "w"], ["c"]), node("Where", ["c", "x", "w"], ["t"]), node("Mul", ["t", "x"], ["y"])], x=f64(3, 4), w=f64(1, 4, seed=3))
for a, b in (((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2))):
    gradient_check(f"MatMul {a} {b}", [node("MatMul", ["x", "w"], ["t"]), node("Mul", ["t", "t"], ["y"])], x=f64(*a), w=f64(*b, seed=1))
for ta in (0, 1):
    for tb in (0, 1):
        gradient_check(f"Gemm {ta}{tb}", [node("Gemm", ["x", "w", "c"], ["t"], transA=ta, transB=tb, alpha=0.5, beta=2.0), node("Tanh", ["t"], ["y"])],
                       x=f64(*((4, 3) if ta else (3, 4))), w=f64(*((2, 4) if tb else (4, 2)), seed=1), c=f64(2, seed=2))
one = lambda *v: np.array(v, np.int64)
for op in "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split():
    for axes in ((1,), (0, 2), ()):
        if op == "Prod" and len(axes) == 2:
            continue
        for keep in (0, 1):
            gradient_check(f"Reduce{op} {axes} {keep}", [node(f"Reduce{op}", ["x", "axes"] if axes else ["x"], ["t"], keepdims=keep), node("Mul", ["t", "t"], ["y"])],
                           initializers={"axes": one(*axes)} if axes else {}, x=f64(2, 3, 2, low=0.1))
for op in ("Softmax", "LogSoftmax"):
    gradient_check(op, [node(op, ["x"], ["t"], axis=1), node("Mul", ["t", "w"], ["y"])], x=f64(2, 3, 2), w=f64(2, 3, 2, seed=1))
gradient_check("Transpose and Reshape", [node("Transpose", ["x"], ["a"], perm=[2, 0, 1]), node("Reshape", ["a", "s"], ["b"]), node("Mul", ["b", "w"], ["y"])], x=f64(2, 3, 4),
               w=f64(4, 6, seed=1), initializers={"s": one(4, -1)})
gradient_check("Concat and Split", [node("Concat", ["x", "w"], ["a"], axis=1), node("Split", ["a", "s"], ["p", "q"], axis=1), node("Mul", ["p", "p"], ["pp"]),
                                    node("ReduceSum", ["q"], ["qq"]), node("Mul", ["pp", "qq"], ["y"])], x=f64(2, 3), w=f64(2, 4), initializers={"s": one(2, 5)})
gradient_check("Gather", [node("Gather", ["x", "i"], ["a"]), node("Mul", ["a", "a"], ["y"])], x=f64(4, 3), initializers={"i": np.array([[0, -1], [0, 2]], np.int64)})
gradient_check("Expand, Unsqueeze, Squeeze", [node("Unsqueeze", ["x", "u"], ["a"]), node("Expand", ["a", "s"], ["b"]), node("Mul", ["b", "w"], ["y"])], x=f64(3, 1),
               w=f64(3, 4, 2, seed=1), initializers={"u": one(1), "s": one(3, 4, 2)})
gradient_check("a perceptron", [node("MatMul", ["x", "w1"], ["a"]), node("Add", ["a", "b1"], ["b"]), node("Relu", ["b"], ["h"]), node("MatMul", ["h", "w2"], ["o"]),
                                node("Sub", ["o", "t"], ["e"]), node("Mul", ["e", "e"], ["s"]), node("ReduceMean", ["s"], ["y"], keepdims=0)],
               held=("x", "t"), x=f64(5, 4), t=f64(5, 2, seed=5), initializers={"w1": f64(4, 6, seed=1), "b1": f64(6, seed=2), "w2": f64(6, 2, seed=3)})

# At other values than those of the graph, and twice: y = a^3, d2y/da2 = 6 a.
a, other = f64(4), f64(4, seed=9)
graph = helper.make_graph([node("Mul", ["a", "a"], ["s"]), node("Mul", ["s", "a"], ["y"]), node("Gradient", ["a"], ["d"], domain=TRAINING, xs=["a"], y="y"),
                           node("Gradient", ["a"], ["dd"], domain=TRAINING, xs=["a"], y="d"), node("Gradient", ["o"], ["e"], domain=TRAINING, xs=["a"], y="y"),
                           node("Gradient", ["o"], ["f"], domain=TRAINING, xs=["s"], y="y")],
                          "g", [info("a", a), info("o", other)], [helper.make_tensor_value_info(n, T.DOUBLE, None) for n in ("d", "dd", "e", "f")])
check_model("Gradient of a gradient, and at other values", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(TRAINING, 1)], ir_version=10),
            {"a": a, "o": other}, [3 * a * a, 6 * a, 3 * other * other, a])
graph = helper.make_graph([node("Det", ["a"], ["y"]), node("Gradient", ["a"], ["d"], domain=TRAINING, xs=["a"], y="y")], "g", [info("a", f64(2, 2))],
                          [helper.make_tensor_value_info("d", T.DOUBLE, None)])
check_model("Gradient without a rule", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(TRAINING, 1)], ir_version=10), {"a": f64(2, 2)},
            refused="operator Det has no derivative rule")

x, scale, bias, mean, var = numbers(2, 3, 4, 5), numbers(3), numbers(3, seed=1), numbers(3, seed=2), np.abs(numbers(3, seed=3))
channel = lambda v: v.reshape(3, 1, 1)
now, spread = x.mean((0, 2, 3)), x.var((0, 2, 3))
y = channel(scale) * (x - channel(now)) / np.sqrt(channel(spread) + 1e-3) + channel(bias)
moved = [mean * 0.8 + now * 0.2, var * 0.8 + spread * 0.2]
for opset in (1, 6, 7, 9):
    options = dict(epsilon=1e-3, momentum=0.8, **(dict(is_test=0) if opset < 7 else {}), **(dict(consumed_inputs=[0, 0, 0, 1, 1]) if opset == 1 else {}))
    check(f"BatchNormalization {opset} in training", "BatchNormalization", [x, scale, bias, mean, var], options, opset=opset, outputs=5, expect=[y, *moved, now, spread])
check("BatchNormalization 6, one output", "BatchNormalization", [x, scale, bias, mean, var], dict(epsilon=1e-3, is_test=0), opset=6, expect=[y])
for opset in (14, 15):
    check(f"BatchNormalization {opset} in training", "BatchNormalization", [x, scale, bias, mean, var], dict(epsilon=1e-3, momentum=0.8, training_mode=1), opset=opset,
          outputs=3, expect=[y, *moved])
flat, spatial = x.reshape(2, 60), dict(spatial=0)
many = [numbers(3, 4, 5, seed=k) for k in range(3)] + [np.abs(numbers(3, 4, 5, seed=4))]
check("BatchNormalization 7, not spatial", "BatchNormalization", [x, *many], spatial, opset=7,
      expect=[many[0] * (x - many[2]) / np.sqrt(many[3] + 1e-5) + many[1]])
now, spread = x.mean(0), x.var(0)
moved = [many[2] * 0.9 + now * 0.1, many[3] * 0.9 + spread * 0.1]
check("BatchNormalization 7 in training, not spatial", "BatchNormalization", [x, *many], spatial, opset=7, outputs=5,
      expect=[many[0] * (x - now) / np.sqrt(spread + 1e-5) + many[1], *moved, now, spread])
