"""Small files that onnxc must refuse, each with a lie that is easily told, and valid ones that look alike, which it must take.

    cases.py [--binary BUILD/onnxc] [--write FOLDER]

To refuse is to end with exit status 1 or 4 and one line that says why; to take, with 0. See judge.py for what else is a fault.
"""
import argparse
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from judge import Runner

FLOAT, UINT8, INT32, INT64, STRING, BOOL, DOUBLE, COMPLEX64, FLOAT8 = (getattr(TensorProto, name) for name in "FLOAT UINT8 INT32 INT64 STRING BOOL DOUBLE COMPLEX64 FLOAT8E4M3FN".split())
MICROSOFT = ("com.microsoft", 1)
REFUSE, TAKE = "refuse", "take"
CASES = []

info, node = helper.make_tensor_value_info, helper.make_node
X, Y = [info("x", FLOAT, [2, 3])], [info("y", FLOAT, None)]


def case(name, expect, nodes, inputs, outputs, initialisers=(), opset=21, domains=(), options=(), functions=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initialisers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(*d) for d in domains)], ir_version=10, functions=functions)
    CASES.append((name, expect, model, options))


def constant(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


# ---- sizes: extents whose product, or whose bytes, wrap around 64 bits
case("wrap_constant_of_shape", REFUSE, [node("ConstantOfShape", ["s"], ["y"])], [], Y, [constant("s", [2**59 + 2])])
case("wrap_expand", REFUSE, [node("Expand", ["c", "s"], ["y"])], [], Y, [constant("c", [1], np.float32), constant("s", [2**59 + 2])])
case("wrap_input", REFUSE, [node("Neg", ["x"], ["y"])], [info("x", DOUBLE, [2**58 + 2])], [info("y", DOUBLE, [2**58 + 2])])
case("wrap_add", REFUSE, [node("Add", ["x", "x"], ["y"])], [info("x", FLOAT, [3, 4, 2**58])], Y, opset=11)
case("wrap_initialiser", REFUSE, [node("Add", ["x", "c"], ["y"])], X, Y, [TensorProto(name="c", data_type=FLOAT, dims=[2**32, 2**32], raw_data=b"")])
case("large_reduce", REFUSE, [node("BitwiseNot", ["x"], ["t"]), node("ReduceMax", ["t"], ["y"], keepdims=0)], [info("x", UINT8, [2**31, 2**31])], [info("y", UINT8, [])])

# ---- constants that are joined with themselves again and again: what a run would take is refused, what is not read is not computed
DOUBLED = [node("Concat", [f"c{k}", f"c{k}"], [f"c{k + 1}"], axis=0) for k in range(50)]
case("doubled_and_added", REFUSE, [*DOUBLED, node("Add", ["x", "c50"], ["y"])], [info("x", FLOAT, [1])], Y, [constant("c0", [1], np.float32)])
case("doubled_shape", TAKE, [*DOUBLED, node("Shape", ["c50"], ["s"]), node("Cast", ["s"], ["f"], to=FLOAT), node("Add", ["x", "f"], ["y"])], [info("x", FLOAT, [1])], Y, [constant("c0", [1], np.float32)])

# ---- numbers of inputs, of versions that are brought to a later one
for op, version, attributes in (("TopK", 9, dict(k=2)), ("Split", 12, {}), ("Upsample", 7, dict(scales=[1.0, 2.0])), ("Clip", 10, {}), ("Unsqueeze", 7, dict(axes=[0])), ("Pow", 1, {})):
    results = ["y", "y2"] if op == "TopK" else ["y"]
    case(f"no_inputs_{op}_{version}", REFUSE, [node(op, [], results, **attributes)], X, Y, opset=version)
    case(f"blank_input_{op}_{version}", REFUSE, [node(op, ["", "x"], results, **attributes)], X, Y, opset=version)
case("blank_data_Slice_10", REFUSE, [node("Slice", ["", "s", "s"], ["y"])], [info("s", INT64, [1])], Y, opset=10)
case("blank_data_Resize_19", REFUSE, [node("Resize", ["", "", "s"], ["y"])], [], Y, [constant("s", [1, 1], np.float32)], opset=19)

# ---- ranks
case("heads_of_rank_1", REFUSE, [node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain=MICROSOFT[0], num_heads=2)],
     [info("q", FLOAT, [2, 3, 8]), info("k", FLOAT, [4]), info("v", FLOAT, [2, 5, 8])], Y, domains=[MICROSOFT])
case("rotary_of_width_1", REFUSE, [node("RotaryEmbedding", ["x", "i", "c", "s"], ["y"], domain=MICROSOFT[0])],
     [info("x", FLOAT, [2, 3, 1]), info("i", INT64, [2, 3]), info("c", FLOAT, [8, 4]), info("s", FLOAT, [8, 4])], Y, domains=[MICROSOFT])
case("softmax_of_scalar", REFUSE, [node("Softmax", ["x"], ["y"])], [info("x", FLOAT, [])], Y, opset=7)
case("resize_by_scalar", REFUSE, [node("Resize", ["x", "", "s"], ["y"], axes=[2, 3])], [info("x", FLOAT, [1, 2, 3, 5]), info("s", FLOAT, [])], Y, opset=19)

# ---- element types: of constants that are read while compiling, and of what the C++ would have to compute with
case("resize_by_strings", REFUSE, [node("Resize", ["x", "", "s"], ["y"])], [info("x", FLOAT, [1, 1, 2, 2])], Y, [helper.make_tensor("s", STRING, [1], ["a"])])
for op, inputs in (("ReduceSum", ["x", "c"]), ("Add", ["c", "c"]), ("PRelu", ["x", "c"]), ("TopK", ["x", "c"]), ("Where", ["c", "x", "x"])):
    for name, kind, size in (("complex64", COMPLEX64, 8), ("string", STRING, 0), ("float", FLOAT, 4), ("float8", FLOAT8, 1)):
        if name == "float" and op in ("Add", "PRelu"):
            continue  # valid
        tensor = helper.make_tensor("c", STRING, [1], ["a"]) if kind == STRING else TensorProto(name="c", data_type=kind, dims=[1], raw_data=bytes(size))
        case(f"constant_of_{op}_{name}", REFUSE, [node(op, inputs, ["y", "y2"] if op == "TopK" else ["y"])], X, Y, [tensor], opset=20)
for op, kind in (("Exp", INT64), ("Add", STRING), ("BitwiseNot", FLOAT), ("ReduceMean", BOOL), ("Celu", STRING)):
    case(f"type_of_{op}", REFUSE, [node(op, ["x", "x"] if op == "Add" else ["x"], ["y"])], [info("x", kind, [2, 3])], [info("y", kind, [2, 3])])
case("types_that_differ", REFUSE, [node("Add", ["x", "z"], ["y"])], [*X, info("z", DOUBLE, [2, 3])], Y)

# ---- attributes, outputs, versions
case("attribute_twice", REFUSE, [onnx.NodeProto(op_type="Softmax", input=["x"], output=["y"], attribute=[helper.make_attribute("axis", 1), helper.make_attribute("axis", 0)])], X, [info("y", FLOAT, [2, 3])])
case("attribute_unknown", REFUSE, [node("Relu", ["x"], ["y"], axis=1)], X, Y)
case("attribute_of_wrong_type", REFUSE, [node("Softmax", ["x"], ["y"], axis=1.0)], X, Y)
case("attribute_missing", REFUSE, [node("Cast", ["x"], ["y"])], X, Y)
case("output_of_other_type", REFUSE, [node("Relu", ["x"], ["y"])], X, [info("y", INT64, [2, 3])])
case("output_too_many", REFUSE, [node("Relu", ["x"], ["y", "z"])], X, [*Y, info("z", FLOAT, None)])
for names in (), ("y", "z"):  # in a function of another opset, for which ONNX's library converts and infers
    function = helper.make_function("local", "F", ["x"], list(names), [node("RegexFullMatch", ["x"], list(names), pattern="a")], [helper.make_opsetid("", 20)])
    case(f"body_with_{len(names)}_outputs", REFUSE, [node("F", ["x"], list(names), domain="local")], [info("x", STRING, [2])], Y, opset=21, domains=[("local", 1)], functions=[function])
for op, domain, result in (("LabelEncoder", "ai.onnx.ml", INT64), ("RegexFullMatch", "", BOOL), ("Scaler", "ai.onnx.ml", FLOAT), ("Where", "", FLOAT)):  # of a value whose type is not known when functions are inlined
    attributes = dict(LabelEncoder=dict(keys_strings=["a"], values_int64s=[1]), RegexFullMatch=dict(pattern="a"), Scaler=dict(scale=[1.0], offset=[0.0])).get(op, {})
    function = helper.make_function("local", "F", ["x"], ["y"], [node("Relu", ["x"], ["y"])], [helper.make_opsetid("", 13)])
    case(f"untyped_input_of_{op}", REFUSE, [node("NoSuchOperator", ["x"], ["t"], domain="nobody"), node(op, ["t"] * (3 if op == "Where" else 1), ["y"], domain=domain, **attributes), node("F", ["x"], ["u"], domain="local")],
         X, [info("y", result, None)], opset=21, domains=[("local", 1), ("nobody", 1), ("ai.onnx.ml", 4)], functions=[function])
case("operator_before_it_was", REFUSE, [node("Gelu", ["x"], ["y"])], X, Y, opset=19)
case("operator_unknown", REFUSE, [node("Bogus", ["x"], ["y"])], X, Y)
for op in ("Bind", "Let", "Require", "Assume", "Map", "Extents"):  # what the compiler puts into graphs itself is not a model's
    case(f"operator_of_the_compiler_{op}", REFUSE, [node(op, ["x"], ["y"], domain="onnxc")], X, Y, domains=[("onnxc", 1)])
    case(f"operator_of_the_compiler_{op}_by_name", REFUSE, [node("onnxc." + op, ["x"], ["y"])], X, Y)

# ---- valid ones
case("all_is_constant_and_memory_min", TAKE, [node("Neg", ["c"], ["y"])], [], [info("y", FLOAT, [2])], [constant("c", [1, 2], np.float32)], options=("--memory=min",))
case("equal_at_the_limits", TAKE, [node("Equal", ["a", "b"], ["y"])], [], [info("y", BOOL, [2])], [constant("a", [2**63 - 1, -(2**63)]), constant("b", [2**63 - 1, 4])])
BODY = helper.make_graph([node("Identity", ["c"], ["co"]), node("Tanh", ["s"], ["so"]), node("Neg", ["so"], ["w"])], "b", [info("i", INT64, []), info("c", BOOL, []), info("s", FLOAT, [2, 5])],
                         [info("co", BOOL, []), info("so", FLOAT, [2, 5]), info("w", FLOAT, [2, 5])])
case("loop_then_conv", TAKE, [node("Loop", ["m", "", "x"], ["f", "v"], body=BODY), node("Conv", ["v", "k"], ["y"])], [info("m", INT64, []), info("x", FLOAT, [2, 5])],
     [info("y", FLOAT, [None, 3, 3])], [constant("k", np.ones((3, 2, 3)), np.float32)])
case("extent_of_zero", TAKE, [node("Relu", ["x"], ["y"])], [info("x", FLOAT, [0, 3])], Y)
case("output_read_twice", TAKE, [node("Relu", ["x"], ["y"]), node("Add", ["y", "y"], ["z"])], X, [info("y", FLOAT, [2, 3]), info("z", FLOAT, [2, 3])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", default="build/onnxc")
    parser.add_argument("--write", type=pathlib.Path, help="a folder for the models")
    options = parser.parse_args()
    binary = pathlib.Path(options.binary).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(binary, folder, b"__asan_init" in binary.read_bytes())
        for name, expect, model, flags in CASES:
            data = model.SerializeToString()
            if options.write:
                options.write.mkdir(parents=True, exist_ok=True)
                (options.write / f"{name}.onnx").write_bytes(data)
            ended = runner.run(data, flags)
            fault = ended.fault or ("was taken" if not ended.status and expect == REFUSE else "was refused" if ended.status and expect == TAKE else "")
            if fault:
                failed += 1
                print(f"FAILED {name}, must be {'refused' if expect == REFUSE else 'taken'}: {fault}: {ended.said[:200]}")
    print(f"{len(CASES) - failed} of {len(CASES)} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
