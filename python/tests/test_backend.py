"""ONNX's own backend test runner on onnxc.backend, for a sample of the node tests (tests/conformance runs all of them)."""
import unittest

import numpy as np
import onnx.backend.test
from onnx import helper

import onnxc.backend

SAMPLE = [
    "abs", "add", "add_bcast", "averagepool_2d_pads", "basic_conv_with_padding", "batchnorm_example", "concat_2d_axis_1", "clip",
    "convtranspose", "depthtospace_example", "einsum_batch_matmul", "flatten_axis2", "gather_1", "gemm_all_attributes",
    "globalaveragepool", "layer_normalization_4d_axis2", "leakyrelu", "matmul_3d", "maxpool_2d_strides", "mul_bcast", "quantizelinear",
    "reduce_mean_default_axes_keepdims_example", "relu", "scatternd", "shape", "sigmoid", "softmax_axis_1",
    "split_equal_parts_1d_opset13", "transpose_all_permutations_3", "where_example",
]  # fmt: skip

runner = onnx.backend.test.BackendTest(onnxc.backend, __name__)
wanted = {f"test_{name}_cpu" for name in SAMPLE}
test_cases = runner.test_cases  # made anew by each look
for test_case in test_cases.values():
    for name in [name for name in vars(test_case) if name.startswith("test_") and name not in wanted]:
        delattr(test_case, name)  # rather than include(), which reports four thousand tests as skipped
globals().update(test_cases)


class Backend(unittest.TestCase):
    def test_devices(self):
        self.assertTrue(onnxc.backend.supports_device("CPU"))
        self.assertFalse(onnxc.backend.supports_device("CUDA"))

    def test_run_node(self):
        x = np.array([-1, 2], np.float32)
        (y,) = onnxc.backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x], outputs_info=[(np.float32, (2,))])
        np.testing.assert_array_equal(y, [0, 2])


if __name__ == "__main__":
    unittest.main()
