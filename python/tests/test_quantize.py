import tempfile
import unittest
from pathlib import Path

import models
import numpy as np
import onnx
import onnxc
from onnx import TensorProto, helper, numpy_helper


def classifier():
    """x [n, 6] to scores [n, 3]."""
    weights = np.random.default_rng(3).standard_normal((6, 3)).astype(np.float32)
    return models.model([helper.make_node("MatMul", ["x", "w"], ["y"], name="only")], {"x": (TensorProto.FLOAT, ("n", 6))}, {"y": (TensorProto.FLOAT, ("n", 3))}, [numpy_helper.from_array(weights, "w")]), weights


class QuantizeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name) / "small.onnx"
        self.model, self.weights = classifier()
        self.samples = np.random.default_rng(4).standard_normal((40, 6)).astype(np.float32)

    def test_samples_as_array_and_by_name(self):
        report = onnxc.quantize(self.model, self.output, self.samples)
        self.assertEqual([layer["form"] for layer in report["layers"]], ["8 bits"])
        once = self.output.read_bytes()
        onnxc.quantize(self.model, self.output, {"x": self.samples}, method="mse")
        self.assertEqual(once, self.output.read_bytes())
        (scores,) = onnxc.InferenceSession(str(self.output)).run(None, {"x": self.samples})
        # Six products of codes: 0.4 % of the range of inputs and of weights, at most.
        bound = 6 * 2 * np.abs(self.samples).max() * np.abs(self.weights).max() / 127
        self.assertLess(np.abs(scores - self.samples @ self.weights).max(), bound)

    def test_labels_and_forms(self):
        labels = (self.samples @ self.weights).argmax(1)
        report = onnxc.quantize(self.model, self.output, self.samples, keep_accuracy=5, labels=labels)
        self.assertGreaterEqual(report["accuracy"]["quantised"], 95)
        onnxc.quantize(self.model, self.output, format="dynamic")
        self.assertIn("MatMulInteger", [node.op_type for node in onnx.load(self.output).graph.node])

    def test_refusal(self):
        with self.assertRaises(onnxc.CompileError) as caught:
            onnxc.quantize(self.model, self.output, self.samples.astype(np.float64))
        self.assertIn("astype(np.float32)", str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 1)


if __name__ == "__main__":
    unittest.main()
