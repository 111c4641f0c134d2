"""What the schema of an operator, in the opset that the model imports, does not allow: numbers of inputs and outputs, types, ranks, attributes; and types that are stated wrongly."""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper

from .case import INVALID, case
from .models import model, node, one, tensor, value

MICROSOFT = (("", 17), ("com.microsoft", 1))


# ---- numbers of inputs and outputs, in opsets whose forms are brought to the latest one


OLD_FORMS = (("TopK", 9, {"k": 2}), ("Split", 12, {}), ("Upsample", 7, {"scales": [1.0, 2.0]}), ("Clip", 10, {}), ("Unsqueeze", 7, {"axes": [0]}), ("Dropout", 7, {}),
             ("Slice", 9, {"starts": [0], "ends": [1]}), ("Pad", 10, {"pads": [0, 0, 0, 0]}), ("Softmax", 7, {}), ("Resize", 10, {}))


def add_old_form(operator, opset, attributes):
    outputs = ["y", "i"] if operator == "TopK" else ["y"]

    @case(INVALID, f"{operator} 'n'", "input", name=f"no_inputs_of_{operator}_{opset}")
    def no_inputs():
        return model([node(operator, [], outputs, name="n", **attributes)], opsets=(("", opset),))

    @case(INVALID, f"{operator} 'n'", "input", name=f"blank_input_of_{operator}_{opset}")
    def blank_input():
        return model([node(operator, ["", "x"], outputs, name="n", **attributes)], opsets=(("", opset),))


for form in OLD_FORMS:
    add_old_form(*form)


@case(INVALID, "Relu 'n'", "input size 2")
def too_many_inputs():
    return model([node("Relu", ["x", "x"], ["y"], name="n")])


@case(INVALID, "Relu 'n'", "output size 2")
def too_many_outputs():
    return model([node("Relu", ["x"], ["y", "z"], name="n")])


@case(INVALID, "Relu 'n'", "output", "marked single")
def blank_output():
    return model([node("Relu", ["x"], [""], name="n"), node("Neg", ["x"], ["y"])])


# ---- attributes


@case(INVALID, "Softmax 'n'", "axis", "multiple times")
def attribute_twice():
    twice = onnx.NodeProto(op_type="Softmax", name="n", input=["x"], output=["y"], attribute=[helper.make_attribute("axis", 1), helper.make_attribute("axis", 0)])
    return model([twice])


@case(INVALID, "Relu 'n'", "slope")
def attribute_unknown():
    return one("Relu", {"slope": 1.0})


@case(INVALID, "MatMulNBits 'n'", "'K'", "missing")
def attribute_of_a_contributed_operator_missing():
    inputs = [value("x", (2, 32)), value("b", (4, 1, 16), T.UINT8), value("s", (4, 1))]
    return model([node("MatMulNBits", ["x", "b", "s"], ["y"], name="n", domain="com.microsoft", N=4, block_size=32)], inputs=inputs, outputs=[value("y", None)], opsets=MICROSOFT)


# ---- versions


@case(INVALID, "Gelu 'n'", "not in opset 17")
def operator_newer_than_the_opset():
    return one("Gelu")


@case(INVALID, "Upsample 'n'", "deprecated")
def operator_that_the_opset_dropped():
    return model([node("Upsample", ["x", "s"], ["y"], name="n")], weights=[tensor("s", np.array([1, 2], np.float32))], opsets=(("", 17),))


# ---- types


@case(INVALID, "Exp 'n'", "i64", "f32")
def type_not_allowed():
    return one("Exp", inputs=[value("x", (2, 3), T.INT64)], outputs=[value("y", None, T.INT64)])


@case(INVALID, "Add 'n'", "f32", "f64", "one type")
def types_that_differ():
    return model([node("Add", ["x", "c"], ["y"], name="n")], inputs=[value("x", (2,)), value("c", (2,), T.DOUBLE)], outputs=[value("y", None)])


@case(INVALID, "Celu 'n'", "string")
def type_of_an_operator_with_a_function_body():
    return one("Celu", inputs=[value("x", (2,), T.STRING)], outputs=[value("y", (2,), T.STRING)])


@case(INVALID, "Resize 'n'", "string")
def type_of_a_constant():
    scales = helper.make_tensor("s", T.STRING, [1], ["a"])
    return model([node("Resize", ["x", "", "s"], ["y"], name="n")], inputs=[value("x", (1, 1, 2, 2))], outputs=[value("y", None)], weights=[scales])


@case(INVALID, "'y'", "f32", "i64")
def output_stated_with_another_type():
    return one("Relu", outputs=[value("y", (2, 3), T.INT64)])


@case(INVALID, "'t'", "f32", "f64")
def value_stated_with_another_type():
    stated = model([node("Relu", ["x"], ["t"]), node("Neg", ["t"], ["y"])])
    stated.graph.value_info.append(value("t", (2, 3), T.DOUBLE))
    return stated


@case(0)
def shape_stated_wrongly_is_what_many_files_hold():
    stated = model([node("Relu", ["x"], ["t"]), node("Neg", ["t"], ["y"])])
    stated.graph.value_info.append(value("t", (7, 5, 3)))
    return stated


# ---- ranks


@case(INVALID, "DecoderMaskedMultiHeadAttention 'n'", "past_key and past_value belong together")
def past_keys_without_past_values():
    inputs = [*(value(name, (1, 1, 8)) for name in "qkv"), value("past", (1, 2, 5, 4)), value("tokens", (1,), T.INT32)]
    attention = node("DecoderMaskedMultiHeadAttention", ["q", "k", "v", "", "", "past", "", "tokens"], ["y"], name="n", domain="com.microsoft", num_heads=2, past_present_share_buffer=1)
    return model([attention], inputs=inputs, outputs=[value("y", None)], opsets=MICROSOFT)


@case(INVALID, "MultiHeadAttention 'n'", "rank 1")
def rank_of_a_contributed_operator():
    inputs = [value("q", (2, 3, 8)), value("k", (4,)), value("v", (2, 5, 8))]
    return model([node("MultiHeadAttention", ["q", "k", "v"], ["y"], name="n", domain="com.microsoft", num_heads=2)], inputs=inputs, outputs=[value("y", None)], opsets=MICROSOFT)


@case(INVALID, "RotaryEmbedding 'n'")
def width_of_1_that_halves_to_nothing():
    inputs = [value("x", (2, 3, 1)), value("i", (2, 3), T.INT64), value("c", (8, 4)), value("s", (8, 4))]
    return model([node("RotaryEmbedding", ["x", "i", "c", "s"], ["y"], name="n", domain="com.microsoft")], inputs=inputs, outputs=[value("y", None)], opsets=MICROSOFT)


@case(INVALID, "Softmax 'n'")
def softmax_of_a_scalar_that_is_flattened():
    return one("Softmax", inputs=[value("x", ())], outputs=[value("y", None)], opsets=(("", 7),))


@case(INVALID, "Resize 'n'", "scales")
def scales_that_are_a_scalar():
    return model([node("Resize", ["x", "", "s"], ["y"], name="n", axes=[2, 3])], inputs=[value("x", (1, 2, 3, 5)), value("s", ())], outputs=[value("y", None)], opsets=(("", 19),))
