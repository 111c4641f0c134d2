import tempfile
import unittest
from pathlib import Path

import models
import numpy as np
import onnxc
from onnx import TensorProto, helper, numpy_helper


def wide():
    """x [n, 6] to scores [n, 3], by twelve hidden channels of which six are copies."""
    random = np.random.default_rng(3)
    once, last = random.standard_normal((6, 6)).astype(np.float32), random.standard_normal((12, 3)).astype(np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w0"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("Gemm", ["b", "w1"], ["y"])]
    weights = [numpy_helper.from_array(np.concatenate([once, once], axis=1), "w0"), numpy_helper.from_array(last, "w1")]
    return models.model(nodes, {"x": (TensorProto.FLOAT, ("n", 6))}, {"y": (TensorProto.FLOAT, ("n", 3))}, weights), once, last


class CompressTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name) / "small.onnx"
        self.model, self.once, self.last = wide()
        self.samples = np.random.default_rng(4).standard_normal((300, 6)).astype(np.float32)

    def test_copies_go(self):
        report = onnxc.compress(self.model, self.output, self.samples, parameters=50, low_rank=False)
        self.assertEqual(report["parameters"], 54)
        self.assertEqual([layer["weights"] for layer in report["layers"]], ["6x6", "6x3"])
        (scores,) = onnxc.InferenceSession(str(self.output)).run(None, {"x": self.samples})
        exact = np.maximum(self.samples @ self.once, 0) @ (self.last[:6] + self.last[6:])
        # Copies are told apart by rounding alone, which the least squares see 1e-7 of the variance of.
        self.assertLess(np.abs(scores - exact).max(), 1e-4 * np.abs(exact).max())

    def test_goal(self):
        report = onnxc.compress(self.model, self.output, {"x": self.samples}, keep_cosine=0.99)
        self.assertGreaterEqual(report["least_cosine"]["after"], 0.99)
        self.assertLessEqual(report["parameters"], 54)

    def test_refusal(self):
        with self.assertRaises(onnxc.CompileError) as caught:
            onnxc.compress(self.model, self.output, self.samples, parameters=1)
        self.assertIn("is the least that can be reached", str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 4)


if __name__ == "__main__":
    unittest.main()
