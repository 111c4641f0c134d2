"""What went wrong inside of the compiler: errors that left it in another way than by an exit status, and small models that took minutes or gigabytes."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper

from .bombs import sum_of_constants
from .case import BUDGET, INVALID, case
from .models import F, message, model, node, one, tensor, value

UNKNOWN = None  # a shape


# ---- errors where C++ allows none, and where there is nothing


@case({INVALID, BUDGET}, "value 'x'")
def overflow_while_a_step_is_stated():
    huge = (1 << 31, 1 << 31)
    nodes = [node("BitwiseNot", ["x"], ["t"], name="n"), node("ReduceMax", ["t"], ["y"], keepdims=0)]
    return model(nodes, [value("x", huge, T.UINT8)], [value("y", (), T.UINT8)], opsets=(("", 20),))


def all_folded():
    return model([node("Neg", ["w"], ["y"])], [], [value("y", (2,))], [tensor("w", [1, 2])])


def nothing_computed():
    return model([], [value("x")], [value("x")])


def nothing_at_all():
    return model([], [], [value("w", (2,))], [tensor("w", [1, 2])])


def empty_images():
    nodes = [node("Conv", ["x", "w"], ["t"]), node("Relu", ["t"], ["u"]), node("MaxPool", ["u"], ["y"], kernel_shape=[2, 2])]
    return model(nodes, [value("x", (0, 3, 8, 8))], [value("y", UNKNOWN)], [tensor("w", np.ones((16, 3, 3, 3)))])


for make in (all_folded, nothing_computed, nothing_at_all, empty_images):
    for memory in ("min", "balanced", "speed"):
        case(0, options=[f"--memory={memory}"], name=f"{make.__name__}_memory_{memory}")(make)


# ---- graphs inside of each other


def body(k, nodes, inputs, outputs, loop=True):
    """Values of level k are named with its number. Loops pass their condition on."""
    known = [value(f"i{k}", (), T.INT64), value(f"c{k}", (), T.BOOL)] if loop else []
    passed = [value(f"p{k}", (), T.BOOL)] if loop else []
    if loop:
        nodes = [*nodes, node("Identity", [f"c{k}"], [f"p{k}"])]
    return helper.make_graph(nodes, f"b{k}", known + [value(n, UNKNOWN) for n in inputs], passed + [value(n, UNKNOWN) for n in outputs])


def nested_loops(depth, innermost, y):
    graph = body(depth, [innermost(f"s{depth}", f"t{depth}")], [f"s{depth}"], [f"t{depth}"])
    for k in range(depth - 1, 0, -1):
        graph = body(k, [node("Loop", ["m", "", f"s{k}"], [f"t{k}"], body=graph)], [f"s{k}"], [f"t{k}"])
    return model([node("Loop", ["m", "", "x"], ["y"], body=graph)], [value("x"), value("m", (), T.INT64)], [value("y", y)])


@case(0)
def nested_loops_of_one_shape():
    return nested_loops(20, lambda s, t: node("Neg", [s], [t]), (2, 3))


@case(0)
def nested_loops_that_grow():
    return nested_loops(20, lambda s, t: node("Concat", [s, s], [t], axis=0), (None, 3))


@case(0)
def nested_scans():
    depth, zero = 16, tensor("zero", [0], np.int64)
    graph = body(depth, [node("Add", [f"s{depth}", f"x{depth}"], [f"t{depth}"]), node("Neg", [f"t{depth}"], [f"o{depth}"])], [f"s{depth}", f"x{depth}"], [f"t{depth}", f"o{depth}"], loop=False)
    for k in range(depth - 1, 0, -1):
        nodes = [node("Unsqueeze", [f"x{k}", "zero"], [f"u{k}"]), node("Scan", [f"s{k}", f"u{k}"], [f"t{k}", f"v{k}"], num_scan_inputs=1, body=graph),
                 node("Squeeze", [f"v{k}", "zero"], [f"o{k}"])]
        graph = body(k, nodes, [f"s{k}", f"x{k}"], [f"t{k}", f"o{k}"], loop=False)
    return model([node("Scan", ["s", "x"], ["t", "y"], num_scan_inputs=1, body=graph)], [value("s", (3,)), value("x")], [value("t", (3,)), value("y")], [zero])


@case(0)
def nested_sequence_maps():
    depth = 10
    graph = body(depth, [node("Neg", [f"x{depth}"], [f"o{depth}"])], [f"x{depth}"], [f"o{depth}"], loop=False)
    for k in range(depth - 1, 0, -1):
        nodes = [node("SequenceConstruct", [f"x{k}", f"x{k}"], [f"q{k}"]), node("SequenceMap", [f"q{k}"], [f"r{k}"], body=graph), node("SequenceAt", [f"r{k}", "zero"], [f"o{k}"])]
        graph = body(k, nodes, [f"x{k}"], [f"o{k}"], loop=False)
    nodes = [node("SequenceConstruct", ["x", "x"], ["q"]), node("SequenceMap", ["q"], ["r"], body=graph), node("SequenceAt", ["r", "zero"], ["y"])]
    return model(nodes, outputs=[value("y", (None, None))], weights=[tensor("zero", 0, np.int64)])


@case(0)
def nested_loops_and_branches():
    depth = 12
    graph = body(depth, [node("Concat", [f"s{depth}", f"s{depth}"], [f"t{depth}"], axis=0)], [f"s{depth}"], [f"t{depth}"])
    for k in range(depth - 1, 0, -1):
        then = helper.make_graph([node("Loop", ["m", "", f"s{k}"], [f"a{k}"], body=graph)], "t", [], [value(f"a{k}", UNKNOWN)])
        other = helper.make_graph([node("Concat", [f"s{k}", f"s{k}"], [f"b{k}"], axis=0)], "e", [], [value(f"b{k}", UNKNOWN)])
        graph = body(k, [node("If", [f"c{k}"], [f"t{k}"], then_branch=then, else_branch=other)], [f"s{k}"], [f"t{k}"])
    return model([node("Loop", ["m", "c", "x"], ["y"], body=graph)], [value("x"), value("m", (), T.INT64), value("c", (), T.BOOL)], [value("y", (None, 3))])


# ---- constants that grow


@case(0)
def strings_double():
    nodes = [node("StringConcat", ["w" if k == 0 else f"v{k}"] * 2, [f"v{k + 1}"]) for k in range(30)]
    return model([*nodes, node("Identity", ["v30"], ["y"])], [], [value("y", (1,), T.STRING)], [helper.make_tensor("w", T.STRING, [1], ["a"])], opsets=(("", 20),))


@case(0)
def strings_in_pieces():
    """One of many pieces makes all of many."""
    nodes = [node("StringConcat", ["w", "w"], ["v"]), node("StringSplit", ["v"], ["y", "n"], delimiter=" ")]
    words = [" " * 20000] + ["a"] * 20000
    return model(nodes, [], [value("y", UNKNOWN, T.STRING), value("n", UNKNOWN, T.INT64)], [helper.make_tensor("w", T.STRING, [len(words)], words)], opsets=(("", 20),))


@case(0)
def many_constants():
    """400 of 4 MB."""
    return sum_of_constants(400, 1 << 20)


@case(BUDGET, "tensor 'w", "sparse")
def many_sparse_tensors():
    nodes, weights = [], []
    for k in range(400):
        nodes += [node("ReduceSum", [f"w{k}"], [f"r{k}"], keepdims=0), node("Add", ["x" if k == 0 else f"a{k - 1}", f"r{k}"], [f"a{k}"])]
        weights.append(helper.make_sparse_tensor(tensor(f"w{k}", [1]), tensor(f"i{k}", [0], np.int64), [1 << 20]))
    proto = model([*nodes, node("Identity", ["a399"], ["y"])])
    proto.graph.sparse_initializer.extend(weights)
    return proto


def product_of_constants(shape, nodes):
    return model([node("ConstantOfShape", ["s"], ["c"], value=helper.make_tensor("", F, [1], [1.0])), *nodes], [], [value("y", UNKNOWN)], [tensor("s", shape, np.int64)])


@case(0)
def large_product_of_constants():
    return product_of_constants([2000, 2000], [node("MatMul", ["c", "c"], ["y"])])


@case(0)
def large_windows_over_constants():
    return product_of_constants([1, 1, 1500, 1500], [node("MaxPool", ["c"], ["y"], kernel_shape=[500, 500])])


@case({0, BUDGET})
def table_of_a_resize():
    return one("Resize", {"mode": "cubic"}, ["", "", "s"], [tensor("s", [1, 1, 1, 1 << 28], np.int64)], inputs=[value("x", (1, 1, 1, 4))], outputs=[value("y", UNKNOWN)], opsets=(("", 19),))


@case(0)
def symbolic_parts():
    parts = [f"p{k}" for k in range(300)]
    nodes = [node("Split", ["x"], parts, axis=0, num_outputs=len(parts)), node("Concat", parts, ["y"], axis=0)]
    return model(nodes, [value("x", ("n", 2))], [value("y", UNKNOWN)], opsets=(("", 18),))


def functions_that_double(count):
    opsets = (("", 17), ("local", 1))
    ids = [helper.make_opsetid(*o) for o in opsets]
    functions = [helper.make_function("local", "f0", ["a"], ["b"], [node("Relu", ["a"], ["b"])], ids)]
    functions += [helper.make_function("local", f"f{k}", ["a"], ["b"], [node(f"f{k - 1}", ["a"], ["t"], domain="local"), node(f"f{k - 1}", ["t"], ["b"], domain="local")], ids)
                  for k in range(1, count)]
    return model([node(f"f{count - 1}", ["x"], ["y"], domain="local")], functions=functions, opsets=opsets)


@case(0)
def functions_of_many_nodes():
    return functions_that_double(15)


@case(BUDGET, "function 'local:f", "nodes")
def functions_of_too_many_nodes():
    return functions_that_double(19)


# ---- what a message says


def chain(length):
    opsets = (("", 17), ("local", 1))
    ids = [helper.make_opsetid(*o) for o in opsets]
    functions = [helper.make_function("local", "f0", ["a"], ["b"], [node("Relu", ["a"], ["b"])], ids)]
    functions += [helper.make_function("local", f"f{k}", ["a"], ["b"], [node(f"f{k - 1}", ["a"], ["b"], domain="local")], ids) for k in range(1, length)]
    return model([node(f"f{length - 1}", ["x"], ["y"], domain="local")], functions=functions, opsets=opsets)


@case(0)
def chain_of_functions():
    return chain(90)


@case(INVALID, "function 'local:f", "more than 100")
def long_chain_of_functions():
    return chain(300)


@case(INVALID, "If 'y'", "nested too deeply")
def graphs_beyond_what_protobuf_reads():
    """1000 of them."""
    def graph_of(n, output):
        return message(1, n) + message(2, "g") + message(12, message(1, output))

    graph = graph_of(message(1, "x") + message(2, "v0") + message(4, "Relu"), "v0")
    for k in range(1, 1001):
        name = f"v{k}" if k < 1000 else "y"
        branches = b"".join(message(5, message(1, side) + message(6, graph if side == "then_branch" else graph_of(message(1, "x") + message(2, "o") + message(4, "Relu"), "o")) + b"\xa0\x01\x05")
                            for side in ("then_branch", "else_branch"))
        n = message(1, "c") + message(2, name) + message(4, "If") + branches
        graph = graph_of(n, name)
    proto = one("Relu", inputs=[value("x"), value("c", (), T.BOOL)])
    del proto.graph.node[:]
    whole = proto.graph.SerializeToString() + message(1, n)
    proto.ClearField("graph")
    return proto.SerializeToString() + message(7, whole)


@case(INVALID, "'x'", "nested too deeply")
def type_beyond_what_protobuf_reads():
    kind = message(1, b"\x08\x01")
    for _ in range(500):
        kind = message(4, message(1, kind))
    proto = one("Identity")
    del proto.graph.input[:]
    whole = proto.graph.SerializeToString() + message(11, message(1, "x") + message(2, kind))
    proto.ClearField("graph")
    return proto.SerializeToString() + message(7, whole)


# ---- what only one place of a model makes wrong


def with_body(co, nodes=(), constants=()):
    """A Loop whose body gives the condition `co`."""
    body = helper.make_graph([*nodes, node("Neg", ["s"], ["t"])], "b", [value("i", (), T.INT64), value("c", (), T.BOOL), value("s")],
                             [value(co, UNKNOWN, T.BOOL), value("t")], list(constants))
    return model([node("Loop", ["m", "", "x"], ["y"], name="l", body=body)], [value("m", (), T.INT64), value("x")], [value("y")])


@case(INVALID, "Loop 'l': the body's condition is bool[2, 3]; one value is needed")
def condition_of_many():
    return with_body("co", [node("Greater", ["s", "s"], ["co"])])


@case(INVALID, "Loop 'l': the body's condition is")
def condition_of_two():
    return with_body("co", constants=[tensor("co", [True, False], np.bool_)])


@case(INVALID, "If 'i': then_branch has an input 'z'; a branch takes none")
def branch_with_an_input():
    then = helper.make_graph([node("Neg", ["z"], ["q"])], "t", [value("z")], [value("q")])
    other = helper.make_graph([node("Abs", ["x"], ["r"])], "e", [], [value("r")])
    return model([node("If", ["c"], ["y"], name="i", then_branch=then, else_branch=other)], [value("c", (), T.BOOL), value("x")], [value("y")])


def calls(inputs, outputs, opset=21):
    f = helper.make_function("own", "f", ["a"], ["b"], [node("Neg", ["a"], ["b"])], [helper.make_opsetid("", opset)])
    return model([node("f", inputs, outputs, name="call", domain="own")], [value("x")], [value("y")], opsets=(("", 21), ("own", 1)), functions=[f])


@case(INVALID, "f 'call': has 2 inputs, its function 1")
def call_with_more_inputs():
    return calls(["x", "x"], ["y"])


@case(INVALID, "f 'call': has 2 outputs, its function 1")
def call_with_more_outputs():
    return calls(["x"], ["y", "z"])


@case(INVALID, "function 'f': opset 999 of domain 'ai.onnx' is newer than")
def function_of_an_opset_to_come():
    return calls(["x"], ["y"], 999)


@case(INVALID, "SequenceMap 's'")
def map_over_a_tensor():
    body = helper.make_graph([node("Neg", ["a"], ["b"])], "m", [value("a")], [value("b")])
    return model([node("SequenceMap", ["x"], ["y"], name="s", body=body)], [value("x")], [value("y")])
