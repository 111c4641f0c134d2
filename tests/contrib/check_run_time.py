"""Sizes, ranks and axes that only a run knows: ranges, reductions and sequences, against ONNX Runtime or numpy."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper

from harness import check_model, numbers

node, tensor = helper.make_node, helper.make_tensor_value_info
kind = lambda x: helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype)


def model(name, nodes, feeds, expect, shapes=None, stated=None, opset=21):
    """`shapes`: what inputs are declared as, where that is not what they are. A list is a sequence that declares no shapes. `stated`: the result's shape."""
    infos = [helper.make_tensor_sequence_value_info(k, kind(x[0]), None) if isinstance(x, list) else tensor(k, kind(x), shapes[k] if shapes and k in shapes else np.shape(x)) for k, x in feeds.items()]
    results = [tensor(f"y{i}", kind(y), stated) for i, y in enumerate(expect)]
    graph = helper.make_graph(nodes, "run_time", infos, results)
    check_model(name, helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), feeds, expect)


# ---- Range
for dtype in (np.float32, np.float64, np.int16, np.int32, np.int64):
    for start, limit, delta in ((1, 9, 2), (9, -2, -3), (5, 1, 1)):
        numbers_of = [np.array(v, dtype) for v in (start, limit, delta)]
        model(f"Range {np.dtype(dtype)} {start} {limit} {delta}", [node("Range", ["a", "b", "c"], ["y0"])], dict(zip("abc", numbers_of)), [np.arange(start, limit, delta, dtype)])
model("Range of fractions", [node("Range", ["a", "b", "c"], ["y0"])], {"a": np.float32(0.5).reshape(()), "b": np.float32(3).reshape(()), "c": np.float32(0.25).reshape(())}, [np.arange(0.5, 3, 0.25, np.float32)])
x = numbers(4, 5)
model("Range up to a value", [node("ReduceMax", ["i"], ["m"], keepdims=0), node("Range", ["zero", "m", "one"], ["y0"])],
      {"i": np.array([3, 7, 2]), "zero": np.array(0), "one": np.array(1)}, [np.arange(7)], shapes={"i": ["n"]})
model("Range up to a cast", [node("ReduceSum", ["x"], ["s"], keepdims=0), node("Cast", ["s"], ["m"], to=T.INT32), node("Range", ["zero", "m", "one"], ["y0"])],
      {"x": np.array([1.5, 2.75], np.float32), "zero": np.array(0, np.int32), "one": np.array(1, np.int32)}, [np.arange(4, dtype=np.int32)])
model("Range of lists of one", [node("Range", ["a", "b", "c"], ["y0"])], {"a": np.array([1]), "b": np.array([6]), "c": np.array([2])}, [np.array([1, 3, 5])])
model("Range that another reads", [node("Range", ["a", "b", "c"], ["r"]), node("Cast", ["r"], ["f"], to=T.FLOAT), node("Mul", ["f", "f"], ["y0"]), node("Shape", ["f"], ["y1"])],
      {"a": np.array(2), "b": np.array(6), "c": np.array(1)}, [np.array([4, 9, 16, 25], np.float32), np.array([4])])

# ---- reductions over axes whose number is not known
reductions = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod, "ReduceL1": lambda v, **k: np.abs(v).sum(**k),
              "ReduceL2": lambda v, **k: np.sqrt((v**2).sum(**k)), "ReduceSumSquare": lambda v, **k: (v**2).sum(**k), "ReduceLogSumExp": lambda v, **k: np.log(np.exp(v).sum(**k))}
x = numbers(2, 3, 4)
for op, function in reductions.items():
    for axes in ([1], [0, -1], [2, 0, 1]):
        model(f"{op} over {axes}", [node(op, ["x", "axes"], ["y0"])], {"x": x, "axes": np.array(axes)}, [function(x, axis=tuple(axes), keepdims=True)], {"axes": ["k"]})
for noop in (0, 1):
    for axes in ([], [-2]):
        where = tuple(axes) if axes or noop else (0, 1, 2)
        model(f"ReduceSum over {axes} noop={noop}", [node("ReduceSum", ["x", "axes"], ["y0"], noop_with_empty_axes=noop)], {"x": x, "axes": np.array(axes, np.int64)}, [x.sum(where, keepdims=True)], {"axes": [None]})
        model(f"ReduceL1 over {axes} noop={noop}", [node("ReduceL1", ["x", "axes"], ["y0"], noop_with_empty_axes=noop)], {"x": x, "axes": np.array(axes, np.int64)}, [np.abs(x).sum(where, keepdims=True)], {"axes": [None]})
model("ReduceSum over what NonZero finds", [node("NonZero", ["flags"], ["at"]), node("Squeeze", ["at", "zero"], ["axes"]), node("ReduceSum", ["x", "axes"], ["y0"])],
      {"x": x, "flags": np.array([1, 0, 1]), "zero": np.array([0])}, [x.sum((0, 2), keepdims=True)])

# ---- sequences whose rank nothing declares, but that hold what has one
a, b = numbers(2, 3), numbers(2, 3, seed=1)
at = {"i": np.array(1)}
grown = [node("SequenceEmpty", [], ["s0"]), node("SequenceInsert", ["s0", "a"], ["s1"]), node("SequenceInsert", ["s1", "b"], ["s"])]
model("SequenceAt of an empty one that grew", [*grown, node("SequenceAt", ["s", "i"], ["y0"])], {"a": a, "b": b, **at}, [b])
model("ConcatFromSequence of an empty one that grew", [*grown, node("ConcatFromSequence", ["s"], ["y0"], axis=1)], {"a": a, "b": b}, [np.concatenate([a, b], 1)])
model("ConcatFromSequence, new axis", [*grown, node("ConcatFromSequence", ["s"], ["y0"], axis=0, new_axis=1)], {"a": a, "b": b}, [np.stack([a, b])])
model("SequenceAt after SequenceErase", [*grown, node("SequenceErase", ["s", "z"], ["t"]), node("SequenceAt", ["t", "z"], ["y0"])], {"a": a, "b": b, "z": np.array(0)}, [b])
body = helper.make_graph([node("Identity", ["c"], ["d"]), node("Gather", ["x", "n"], ["row"]), node("SequenceInsert", ["s", "row"], ["t"])], "body",
                         [tensor("n", T.INT64, []), tensor("c", T.BOOL, []), helper.make_tensor_sequence_value_info("s", T.FLOAT, None)],
                         [tensor("d", T.BOOL, []), helper.make_tensor_sequence_value_info("t", T.FLOAT, None)])
rows = [node("SequenceEmpty", [], ["none"]), node("Loop", ["trips", "", "none"], ["all"], body=body)]
x = numbers(4, 5)
model("ConcatFromSequence of a Loop", [*rows, node("ConcatFromSequence", ["all"], ["y0"], axis=0, new_axis=1)], {"x": x, "trips": np.array(3)}, [x[:3]])
model("SequenceAt of a Loop", [*rows, node("SequenceAt", ["all", "i"], ["y0"])], {"x": x, "trips": np.array(3), **at}, [x[1]])
branch = lambda name, value: helper.make_graph([node("SequenceConstruct", [value], [name])], name, [], [helper.make_tensor_sequence_value_info(name, T.FLOAT, None)])
either = node("If", ["c"], ["s"], then_branch=branch("t", "a"), else_branch=branch("e", "b"))
for c in (True, False):
    model(f"SequenceAt of an If {c}", [either, node("SequenceAt", ["s", "z"], ["y0"])], {"a": a, "b": b, "c": np.array(c), "z": np.array(0)}, [a if c else b])
empty = helper.make_graph([node("SequenceEmpty", [], ["e"])], "e", [], [helper.make_tensor_sequence_value_info("e", T.FLOAT, None)])
model("SequenceAt of an If with an empty one", [node("If", ["c"], ["s"], then_branch=branch("t", "a"), else_branch=empty), node("SequenceAt", ["s", "z"], ["y0"])],
      {"a": a, "c": np.array(True), "z": np.array(0)}, [a])
model("SplitToSequence, SequenceAt", [node("SplitToSequence", ["a"], ["s"], axis=1, keepdims=0), node("SequenceAt", ["s", "i"], ["y0"])], {"a": a, **at}, [a[:, 1]])
twice = helper.make_graph([node("Add", ["v", "v"], ["w"])], "twice", [tensor("v", T.FLOAT, None)], [tensor("w", T.FLOAT, None)])
model("SequenceMap", [*grown, node("SequenceMap", ["s"], ["m"], body=twice), node("SequenceAt", ["m", "i"], ["y0"])], {"a": a, "b": b, **at}, [2 * b])
model("Optional of a sequence", [*grown, node("Optional", ["s"], ["o"]), node("OptionalGetElement", ["o"], ["u"]), node("SequenceAt", ["u", "i"], ["y0"])], {"a": a, "b": b, **at}, [b])

model("SequenceAt, the result's rank is stated", [node("SequenceAt", ["s", "i"], ["y0"])], {"s": [a, b[:1]], **at}, [b[:1]], stated=["n", 3])
model("ConcatFromSequence, the result's rank is stated", [node("ConcatFromSequence", ["s"], ["y0"], axis=0)], {"s": [a, b[:1]]}, [np.concatenate([a, b[:1]])], stated=["n", "m"])
