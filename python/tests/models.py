"""Small models for the tests."""
from onnx import TensorProto, helper


def model(nodes, inputs, outputs, initializers=(), opset=17):
    """inputs, outputs: {name: (element type, shape)}."""
    infos = lambda named: [helper.make_tensor_value_info(name, *what) for name, what in named.items()]
    graph = helper.make_graph(nodes, "test", infos(inputs), infos(outputs), list(initializers))
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def relu(shape=(2, 3), elem_type=TensorProto.FLOAT):
    return model([helper.make_node("Relu", ["x"], ["y"])], {"x": (elem_type, shape)}, {"y": (elem_type, shape)})


def add(left, right, result):
    return model(
        [helper.make_node("Add", ["a", "b"], ["sum"])],
        {"a": (TensorProto.FLOAT, left), "b": (TensorProto.FLOAT, right)},
        {"sum": (TensorProto.FLOAT, result)},
    )
