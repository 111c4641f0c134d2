"""Values that are no plain tensors: strings, sequences, optionals, maps, and shapes that a run tells."""
import unittest

import models
import numpy as np
import onnxc
from onnx import TensorProto, helper

FLOAT = helper.make_tensor_type_proto(TensorProto.FLOAT, None)


def identity(type_proto):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "values",
        [helper.make_value_info("x", type_proto)],
        [helper.make_value_info("y", type_proto)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class Values(unittest.TestCase):
    def test_sequences(self):
        session = onnxc.InferenceSession(identity(helper.make_sequence_type_proto(FLOAT)))
        for given in ([], [np.float32([1, 2]), np.float32([[3]])]):
            (answer,) = session.run(None, {"x": given})
            self.assertEqual([a.tolist() for a in answer], [g.tolist() for g in given])
            self.assertEqual([a.shape for a in answer], [g.shape for g in given])
        with self.assertRaisesRegex(TypeError, "wants a list"):
            session.run(None, {"x": np.float32([1])})

    def test_optionals(self):
        session = onnxc.InferenceSession(identity(helper.make_optional_type_proto(FLOAT)))
        self.assertIsNone(session.run(None, {"x": None})[0])
        self.assertIsNone(session.run(None, {})[0])
        self.assertEqual(session.run(None, {"x": np.float32([1, 2])})[0].tolist(), [1, 2])

    def test_zip_maps(self):
        scores = np.float32([[0.25, 0.75], [1, 0]])
        maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))
        graph = helper.make_graph(
            [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["no", "yes"])],
            "scores",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
            [helper.make_value_info("y", maps)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=9)
        (answer,) = onnxc.InferenceSession(model).run(None, {"x": scores})
        self.assertEqual(answer, [{"no": 0.25, "yes": 0.75}, {"no": 1.0, "yes": 0.0}])
        (answer,) = onnxc.InferenceSession(model, options=["--zipmap=tensor"]).run(None, {"x": scores})
        np.testing.assert_array_equal(answer, scores)

    def test_a_shape_that_the_run_tells(self):
        made = models.model(
            [helper.make_node("Reshape", ["x", "shape"], ["y"])],
            {"x": (TensorProto.FLOAT, [6]), "shape": (TensorProto.INT64, [2])},
            {"y": (TensorProto.FLOAT, [None, None])},
        )
        session = onnxc.InferenceSession(made)
        x = np.arange(6, dtype=np.float32)
        for shape in ([2, 3], [6, 1]):
            np.testing.assert_array_equal(session.run(None, {"x": x, "shape": np.array(shape)})[0], x.reshape(shape))
        with self.assertRaises(onnxc.RunError):
            session.run(None, {"x": x, "shape": np.array([2, 2])})


if __name__ == "__main__":
    unittest.main()
