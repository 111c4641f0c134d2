"""The header, and a graph's names: what they stand for, and what is not there."""
import numpy as np
import onnx
from onnx import helper

from .case import INVALID, NOT_ONNX, case
from .models import model, node, one, tensor, value


# ---- the header


@case(INVALID, NOT_ONNX, "no graph")
def no_graph():
    return onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 17)])


@case(INVALID, "opset 0")
def opset_0():
    return one("Relu", opsets=(("", 0),))


@case(INVALID, "opset 999", "newer", code="E0109")
def opset_999():
    return one("Relu", opsets=(("", 999),))


@case(INVALID, "opset -1")
def opset_negative():
    return one("Relu", opsets=(("", -1),))


@case(INVALID, "no opset", code="E0110")
def no_opset():
    return one("Relu", opsets=())


@case(INVALID, "two opsets")
def two_opsets():
    return one("Relu", opsets=(("", 17), ("ai.onnx", 13)))


@case(INVALID, "IR version", code="E0108")
def ir_version_of_the_future():
    return one("Relu", ir=1000)


@case(INVALID, "'n'", "is not imported", code="E0110")
def domain_not_imported():
    return model([node("Relu", ["x"], ["y"], name="n", domain="com.example")])


@case(INVALID, "com.example.Foo 'a'", "com.example.Bar 'b'", "Unheard 'c'", lines=3, code="E0201")
def unknown_operators():
    nodes = [node("Foo", ["x"], ["s"], name="a", domain="com.example"), node("Relu", ["s"], ["t"]),
             node("Bar", ["t"], ["u"], name="b", domain="com.example"), node("Unheard", ["u"], ["y"], name="c")]
    return model(nodes, opsets=(("", 17), ("com.example", 1)))


# ---- the graph


@case(INVALID, "Relu 'b'", "needs its own result", code="E0204")
def cycle():
    return model([node("Relu", ["v"], ["u"], name="b"), node("Relu", ["u"], ["v"], name="c"), node("Add", ["x", "v"], ["y"])])


@case(INVALID, "Relu 'b'", "uses 'nothing', which is not defined before it\n", code="E0205")
def defined_nowhere():  # --repair is not named, since it would not help
    return model([node("Relu", ["nothing"], ["y"], name="b")])


@case(INVALID, "Relu 'b'", "needs its own result", options=["--repair"])
def cycle_to_repair():
    return model([node("Relu", ["x"], ["a"]), node("Relu", ["v"], ["u"], name="b"), node("Relu", ["u"], ["v"], name="c"), node("Add", ["a", "v"], ["y"])])


@case(INVALID, "Relu 'late'", "topological order", "--repair", code="E0205")
def unsorted():
    return model([node("Relu", ["t"], ["y"], name="late"), node("Relu", ["x"], ["t"])])


@case(INVALID, "'t'", "twice", code="E0206")
def defined_twice():
    return model([node("Relu", ["x"], ["t"]), node("Neg", ["x"], ["t"]), node("Neg", ["t"], ["y"])])


@case(INVALID, "'x'", "twice")
def input_redefined():
    return model([node("Relu", ["x"], ["x"]), node("Neg", ["x"], ["y"])])


@case(INVALID, "'x'", "twice")
def inputs_alike():
    return model([node("Relu", ["x"], ["y"])], [value("x"), value("x")])


@case(INVALID, "'nowhere'")
def undefined_name():
    return model([node("Add", ["x", "nowhere"], ["y"], name="n")])


@case(INVALID, "'z'", "never computed", code="E0207")
def missing_output():
    return one("Relu", outputs=[value("z")])


@case(INVALID, "no output", code="E0207")
def no_outputs():
    return one("Relu", outputs=[])


@case(INVALID, "Relu 'n'", code="E0203")
def too_few_inputs():
    return model([node("Relu", [], ["y"], name="n")])


@case(INVALID, "Relu 'n'")
def too_many_inputs():
    return one("Relu", extra=["x", "x"])


@case(INVALID, "Relu 'n'")
def too_many_outputs():
    return model([node("Relu", ["x"], ["y", "z"], name="n")])


@case(INVALID, "Relu 'n'")
def absent_input():
    return model([node("Relu", [""], ["y"], name="n")])


@case(0)
def output_is_an_input():
    return model([], [value("x")], [value("x")])


@case(0)
def output_twice():
    return one("Relu", outputs=[value("y"), value("y")])


@case(0)
def output_is_a_constant():
    return model([], [value("x")], [value("w")], [tensor("w", np.ones((2, 3)))])


@case(INVALID, "NUL")
def nul_in_a_name():
    return model([node("Relu", ["x"], ["y\0z"])], outputs=[value("y\0z")])


@case(INVALID, "NUL")
def nul_in_a_dimension():
    return one("Relu", inputs=[value("x", ("n\0", 3))], outputs=[value("y", None)])
