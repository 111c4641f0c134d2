"""If, Loop and Scan around small bodies."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from spec import Spec, generator

I64 = np.int64
F = TensorProto.FLOAT


def info(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


@generator("If")
def branch(d, op):
    shape = d.shape(0, 3, zero=0)
    x, y = d.array(shape, np.float32, "plain"), d.array(d.broadcastable(shape), np.float32, "plain")
    bodies = []
    for name in ("then", "else"):
        ops = [node(d.one("Add", "Mul", "Sub", "Max"), ["x1", "x2"], [name + "a"]), node(d.one("Relu", "Neg", "Tanh", "Identity"), [name + "a"], [name + "b"])]
        bodies.append(helper.make_graph(ops, name, [], [helper.make_tensor_value_info(name + "b", F, None)]))
    nodes = [node("If", ["x0"], ["v"], then_branch=bodies[0], else_branch=bodies[1]), node("Add", ["v", "x1"], ["y0"])]
    return Spec(op, [np.array(d.chance(0.5)), x, y], opset=d.one(11, 13, 16, 19, 21), nodes=nodes)


@generator("Loop")
def loop(d, op):
    """A running sum with an early end, and what it passes on the way."""
    shape = d.shape(1, 2, zero=0)
    trips, limit = d.int(0, 5), d.uniform(-2, 4)
    body = [node("Add", ["state", "x1"], ["next"]), node("ReduceSum", ["next"], ["total"], keepdims=0), node("Constant", [], ["limit"], value=numpy_helper.from_array(np.float32(limit))),
            node("Less", ["total", "limit"], ["go"]), node(d.one("Neg", "Abs", "Identity"), ["next"], ["scanned"])]
    graph = helper.make_graph(body, "body", [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL), info("state", shape)],
                              [info("go", [], TensorProto.BOOL), info("next", shape), info("scanned", shape)])
    has_trips = d.chance(0.8)
    nodes = [node("Loop", ["x0" if has_trips else "", d.one("", "x2"), "x1"], ["y0", "y1"], body=graph)]
    if not has_trips:
        limit_always = helper.make_graph(body[:2] + [node("Constant", [], ["limit"], value=numpy_helper.from_array(np.float32(limit))), node("Constant", [], ["most"], value=numpy_helper.from_array(
            np.array(6, I64))), node("Less", ["i", "most"], ["go"]), body[4]], "body", graph.input, graph.output)
        nodes = [node("Loop", ["", "x2", "x1"], ["y0", "y1"], body=limit_always)]
    used = {name for n in nodes for name in n.input}
    inputs = [np.array(trips, I64) if "x0" in used else None, d.array(shape, np.float32, "plain"), np.array(d.chance(0.85)) if "x2" in used else None]
    return Spec(op, inputs, opset=d.one(13, 16, 19, 21), outputs=2, nodes=nodes, symbols=False, constants=(0,) if d.chance(0.5) else ())


@generator("Scan")
def scan(d, op):
    steps, width = d.int(1, 5), d.int(1, 4)
    axis, reverse, out_axis, out_reverse = d.int(0, 1), d.int(0, 1), d.int(0, 1), d.int(0, 1)
    x = d.array([steps, width] if axis == 0 else [width, steps], np.float32, "plain")
    body = helper.make_graph([node(d.one("Add", "Max"), ["s", "e"], ["t"]), node("Mul", ["t", "e"], ["o"])], "body", [info("s", [width]), info("e", [width])],
                             [info("t", [width]), info("o", [width])])
    nodes = [node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1, scan_input_axes=[axis], scan_input_directions=[reverse], scan_output_axes=[out_axis],
                  scan_output_directions=[out_reverse])]
    return Spec(op, [d.array([width], np.float32, "plain"), x], opset=d.one(9, 11, 16, 21), outputs=2, nodes=nodes, symbols=False)
