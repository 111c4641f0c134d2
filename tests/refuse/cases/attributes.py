"""Attributes: of wrong types, missing, and what operators cannot do with theirs."""
import numpy as np
from onnx import TensorProto as T

from .case import INVALID, case
from .models import model, node, one, tensor, value


# ---- attributes


@case(INVALID, "Concat 'n'", "axis")
def attribute_of_wrong_type():
    return one("Concat", {"axis": "zero"}, extra=["x"])


@case(INVALID, "Softmax 'n'", "axis")
def attribute_float_for_int():
    return one("Softmax", {"axis": 1.0})


@case(INVALID, "Conv 'n'", "pads")
def attribute_int_for_ints():
    return one("Conv", {"pads": 1}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", None)])


@case(INVALID, "Conv 'n'", "pads")
def attribute_too_short():
    return one("Conv", {"pads": [1]}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", None)])


@case(INVALID, "Concat 'n'", "axis")
def attribute_missing():
    return model([node("Concat", ["x", "x"], ["y"], name="n")])


@case(INVALID, "Cast 'n'")
def cast_to_nothing():
    return one("Cast", {"to": 99})


@case(INVALID, "Constant 'n'")
def constant_without_value():
    return model([node("Constant", [], ["c"], name="n"), node("Add", ["x", "c"], ["y"])])


@case(INVALID)
def attribute_of_two_types():
    proto = one("Softmax", {"axis": 1})
    proto.graph.node[0].attribute[0].type = 4  # TENSOR, without one
    return proto


@case(INVALID)
def attribute_of_no_type():
    proto = one("Softmax", {"axis": 1})
    proto.graph.node[0].attribute[0].type = 0
    return proto


# ---- quantised and recurrent operators


def recurrent(op, gates, **attributes):
    weights = [tensor("w", np.ones((1, gates * 4, 3))), tensor("r", np.ones((1, gates * 4, 4)))]
    return one(op, {"hidden_size": 4, **attributes}, extra=["w", "r"], weights=weights, inputs=[value("x", (5, 2, 3))], outputs=[value("y", None)])


@case(INVALID, "LSTM 'n'", "activations", "3")
def lstm_with_two_activations():
    return recurrent("LSTM", 4, activations=["Tanh", "Tanh"])


@case(INVALID, "GRU 'n'", "swish")
def gru_with_unknown_activation():
    return recurrent("GRU", 3, activations=["Sigmoid", "Swish"])


@case(INVALID, "RNN 'n'", "direction")
def rnn_with_unknown_direction():
    return recurrent("RNN", 1, direction="sideways")


@case(INVALID, "RNN 'n'", "alpha")
def rnn_with_infinite_alpha():
    return recurrent("RNN", 1, activations=["Elu"], activation_alpha=[float("inf")])


@case(INVALID, "LSTM 'n'", "hidden_size")
def lstm_with_another_hidden_size():
    return recurrent("LSTM", 4, hidden_size=5)


def dynamic_lstm(names, **attributes):
    weights = [tensor("w", np.ones((1, 3, 16)), np.int8), tensor("r", np.ones((1, 4, 16)), np.int8), tensor("s", np.ones(1)), tensor("z", np.zeros(1), np.int8)]
    return one("DynamicQuantizeLSTM", {"hidden_size": 4, "domain": "com.microsoft", **attributes}, extra=["w", "r", "", "", "", "", "", *names.split()], weights=weights,
               inputs=[value("x", (5, 2, 3))], outputs=[value("y", None)])


@case(INVALID, "com.microsoft.DynamicQuantizeLSTM 'n'", "min=12")
def dynamic_lstm_without_zero_point():
    return dynamic_lstm("s z s")


@case(INVALID, "com.microsoft.DynamicQuantizeLSTM 'n'", "input 9")
def dynamic_lstm_with_zero_points_of_floats():
    return dynamic_lstm("s s s z")


@case(INVALID, "com.microsoft.DynamicQuantizeLSTM 'n'", "activations", "3")
def dynamic_lstm_with_two_activations():
    return dynamic_lstm("s z s z", activations=["Tanh", "Tanh"])


@case(INVALID, "com.microsoft.DynamicQuantizeLSTM 'n'", "hidden_size")
def dynamic_lstm_with_another_hidden_size():
    return dynamic_lstm("s z s z", hidden_size=5)


@case(INVALID, "com.microsoft.DynamicQuantizeLSTM 'n'", "extents of the recurrence")
def dynamic_lstm_of_two_directions_with_weights_of_one():
    return dynamic_lstm("s z s z", direction="bidirectional")


@case(INVALID, "MatMulInteger 'n'", "f32")
def integer_product_of_floats():
    return one("MatMulInteger", extra=["w"], weights=[tensor("w", np.ones((3, 4)), np.int8)], outputs=[value("y", None, T.INT32)])


@case(INVALID, "QuantizeLinear 'n'", "output_dtype")
def quantise_to_two_types():
    weights = [tensor("s", 0.5), tensor("z", 0, np.int8)]
    return one("QuantizeLinear", {"output_dtype": T.UINT8}, extra=["s", "z"], weights=weights, outputs=[value("y", None, T.INT8)], opsets=(("", 21),))


@case(INVALID, "QuantizeLinear 'n'", "blocks of 2")
def quantise_with_too_few_blocks():
    return one("QuantizeLinear", {"axis": 1, "block_size": 2}, extra=["s"], weights=[tensor("s", np.ones((2, 1)))], outputs=[value("y", None, T.UINT8)], opsets=(("", 21),))


@case(INVALID, "Cast 'n'", "round_mode")
def cast_with_unknown_rounding():
    return one("Cast", {"to": T.FLOAT8E8M0, "round_mode": "sideways"}, outputs=[value("y", None, T.FLOAT8E8M0)], opsets=(("", 24),))


@case(INVALID, "com.microsoft.MatMulNBits 'n'", "block_size")
def few_bits_in_odd_blocks():
    weights = [tensor("w", np.zeros((4, 1, 6)), np.uint8), tensor("s", np.ones(4))]
    return one("MatMulNBits", {"K": 3, "N": 4, "block_size": 12, "domain": "com.microsoft"}, extra=["w", "s"], weights=weights, outputs=[value("y", None)])


@case(INVALID, "onnxc")
def domain_of_the_compiler():
    return one("Map", {"domain": "onnxc"}, opsets=(("", 17), ("onnxc", 1)))
