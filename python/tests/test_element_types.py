"""Types agree with the onnx package's; packing is the one of TensorProto.raw_data."""
import unittest

import numpy as np
from onnx import helper, numpy_helper

from onnxc.element_types import ELEMENT_TYPES, pack, unpack


class ElementTypes(unittest.TestCase):
    def test_numpy_types(self):
        for number, (name, dtype, _) in ELEMENT_TYPES.items():
            with self.subTest(name):
                self.assertEqual(dtype, helper.tensor_dtype_to_np_dtype(number))

    def test_packing(self):
        for name, dtype, bits in (row for row in ELEMENT_TYPES.values() if row[2]):
            for count in (0, 1, 2, 3, 4, 5, 9):
                with self.subTest(f"{name}, {count} elements"):
                    low = -(2 ** (bits - 1)) if name.startswith("int") else 0
                    array = (np.arange(count) % 2**bits + low).astype(np.float32).astype(dtype)
                    packed = pack(array, bits)
                    self.assertEqual(packed.tobytes(), numpy_helper.from_array(array).raw_data)
                    back = unpack(packed, bits, count, dtype)
                    np.testing.assert_array_equal(back.astype(np.float32), array.astype(np.float32))


if __name__ == "__main__":
    unittest.main()
