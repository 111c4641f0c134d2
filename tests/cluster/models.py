"""Models of the tests, with what they compute in numpy; and the tables that feed them."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def model(nodes, inputs, outputs, initializers=(), domains=()):
    """inputs, outputs: {name: (element type, shape)}."""
    infos = lambda named: [helper.make_tensor_value_info(name, *what) for name, what in named.items()]
    weights = [numpy_helper.from_array(array, name) for name, array in dict(initializers).items()]
    graph = helper.make_graph(nodes, "cluster_test", infos(inputs), infos(outputs), weights)
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(name, 3) for name in domains)]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets).SerializeToString()


def relu(elem_type=TensorProto.FLOAT, shape=("n", 4)):
    return model([helper.make_node("Relu", ["X"], ["Y"])], {"X": (elem_type, shape)}, {"Y": (elem_type, shape)})


def same(elem_type, shape=("n",)):
    return model([helper.make_node("Identity", ["x"], ["y"])], {"x": (elem_type, shape)}, {"y": (elem_type, shape)})


def taken():
    """y = table[k]: a run with an index that is out of range fails."""
    table = np.array([10, 20, 30], np.float32)
    return model([helper.make_node("Gather", ["table", "k"], ["y"])], {"k": (TensorProto.INT64, ["n"])}, {"y": (TensorProto.FLOAT, ["n"])}, {"table": table})


def pipeline():
    """As sklearn's pipelines are exported, an input [N, 1] for each column: age and income become numbers, and town one of three."""
    nodes = [
        helper.make_node("Concat", ["age", "income"], ["numbers"], axis=1),
        helper.make_node("OneHotEncoder", ["town"], ["hot"], domain="ai.onnx.ml", cats_strings=["Bonn", "Köln", "Ulm"], zeros=1),
        helper.make_node("Reshape", ["hot", "hot_shape"], ["towns"]),
        helper.make_node("Concat", ["numbers", "towns"], ["features"], axis=1),
        helper.make_node("LinearClassifier", ["features"], ["label", "scores"], domain="ai.onnx.ml", classlabels_strings=["no", "yes"],
                         coefficients=[-.01, -.5, .5, 0., -1., .01, .5, -.5, 0., 1.], intercepts=[.2, -.2], multi_class=1, post_transform="SOFTMAX"),
        helper.make_node("ZipMap", ["scores"], ["probabilities"], domain="ai.onnx.ml", classlabels_strings=["no", "yes"]),
    ]
    floats = (TensorProto.FLOAT, ["n", 1])
    made = helper.make_graph(
        nodes, "pipeline", [helper.make_tensor_value_info(name, *what) for name, what in
                            {"age": floats, "income": floats, "town": (TensorProto.STRING, ["n", 1])}.items()],
        [helper.make_tensor_value_info("label", TensorProto.STRING, ["n"]),
         helper.make_value_info("probabilities", helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(
             TensorProto.FLOAT, []))))],
        [numpy_helper.from_array(np.array([-1, 3]), "hot_shape")])
    return helper.make_model(made, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]).SerializeToString()


def people(count, seed=0):
    """{column: list} for pipeline(), with missing ages."""
    random = np.random.default_rng(seed)
    ages = random.integers(1, 99, count).tolist()
    return {
        "id": list(range(count)),
        "age": [None if k % 7 == 3 else age for k, age in enumerate(ages)],
        "income": (random.integers(-20, 20, count) / 4).tolist(),
        "town": random.choice(["Bonn", "Köln", "Ulm", "Rom"], count).tolist(),
    }


def onnxruntime_of(content, feeds):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def pipeline_in_onnxruntime(people, age=np.nan):
    """(labels, probabilities [N, 2]) by ONNX Runtime, `age` where there is none."""
    feeds = {
        "age": np.array([age if a is None else a for a in people["age"]], np.float32)[:, None],
        "income": np.array(people["income"], np.float32)[:, None],
        "town": np.array(people["town"], object)[:, None],
    }
    labels, maps = onnxruntime_of(pipeline(), feeds)
    return labels.tolist(), np.array([[m["no"], m["yes"]] for m in maps], np.float32)
