"""Valid ONNX that onnxc cannot compile: ranks that nothing tells, sizes and values that only a run knows, types, forms of operators."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper

from .case import BUDGET, INVALID, case
from .models import model, node, one, tensor, value


@case(INVALID, "Mish 'n'", "is not in opset 17", code="E0202")
def operator_of_a_later_opset():
    return one("Mish")


@case(INVALID, "input 0", code="E0302")
def input_type_that_the_schema_lacks():
    return one("Relu", inputs=[value("x", (2, 3), T.STRING)], outputs=[value("y", (2, 3), T.STRING)])


@case(INVALID, "CDist 'n'", "metric is 'cosine'", code="E0306")
def form_that_is_not_there():
    nodes = [node("CDist", ["x", "x"], ["y"], name="n", domain="com.microsoft", metric="cosine")]
    return model(nodes, outputs=[value("y", (2, 2))], opsets=(("", 17), ("com.microsoft", 1)))


@case(INVALID, "no known rank", "give the model's inputs shapes", code="E0307")
def input_without_a_rank():
    x = helper.make_tensor_value_info("x", T.FLOAT, None)
    return model([node("MatMul", ["x", "x"], ["y"], name="n")], [x])


@case(INVALID, "rank", code="E0309")
def loop_that_adds_an_axis():
    body = helper.make_graph([node("Unsqueeze", ["v", "zero"], ["w"]), node("Identity", ["c"], ["d"])], "body",
                             [value("i", (), T.INT64), value("c", (), T.BOOL), helper.make_tensor_value_info("v", T.FLOAT, None)],
                             [value("d", (), T.BOOL), helper.make_tensor_value_info("w", T.FLOAT, None)])
    weights = [tensor("zero", [0], np.int64), tensor("n", 3, np.int64)]
    return model([node("Loop", ["n", "", "x"], ["y"], name="l", body=body)], [value("x", (2,))], [helper.make_tensor_value_info("y", T.FLOAT, None)], weights)


@case(INVALID, "known only when the model runs", "make it a constant", code="E0310")
def reshape_to_any_rank():
    return one("Reshape", extra=["s"], inputs=[value("x"), value("s", ("n",), T.INT64)], outputs=[helper.make_tensor_value_info("y", T.FLOAT, None)])


@case(INVALID, "GatherND 'n'", "--dim", code="E0311")
def depth_of_indices_that_is_open():
    return model([node("GatherND", ["x", "i"], ["y"], name="n")], [value("x", (4, 4)), value("i", (2, "depth"), T.INT64)],
                 [helper.make_tensor_value_info("y", T.FLOAT, None)])


@case(INVALID, "'n'", code="E0312")
def grid_over_text():
    inputs = [value("x", (1, 1, 2, 2), T.STRING), value("grid", (1, 2, 2, 2))]
    return model([node("GridSample", ["x", "grid"], ["y"], name="n")], inputs, [value("y", (1, 1, 2, 2), T.STRING)])


@case(INVALID, "sparse tensor", code="E0313")
def sparse_input():
    return one("Relu", inputs=[helper.make_sparse_tensor_value_info("x", T.FLOAT, (2, 3))])


@case(INVALID, "Gradient", "no derivative rule", code="E0314")
def gradient_of_a_sort():
    nodes = [node("TopK", ["x", "k"], ["v", "i"]), node("ReduceSum", ["v"], ["s"]),
             node("Gradient", ["x"], ["y"], name="n", domain="ai.onnx.preview.training", xs=["x"], y="s")]
    return model(nodes, weights=[tensor("k", [1], np.int64)], opsets=(("", 17), ("ai.onnx.preview.training", 1)))


@case(BUDGET, "see --max-fold-bytes", code="E0910", options=["--max-fold-bytes=1K"])
def sparse_weight_over_the_limit():
    values = tensor("w", [1.0])
    indices = tensor("", [0], np.int64)
    m = model([node("Add", ["x", "w"], ["y"])], [value("x", (1000,))], [value("y", (1000,))])
    m.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [1000]))
    return m
