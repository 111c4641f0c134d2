// NumPy's files of arrays: .npy, and .npz, a zip archive of them.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/tensor.h"

namespace onnxc {

/// Arrays of booleans, integers, floats and complex numbers, of either order of bytes and of axes, as row-major tensors. Throws Error{Invalid} for damage, and
/// Error{Unsupported} for objects, text and records. Messages do not name the file.
TensorData parse_npy(std::string_view bytes);

struct NamedArray {
  std::string name;  ///< of an .npy file: empty
  TensorData tensor;
};

/// The arrays of an .npz file, or the one of an .npy file: its first bytes decide. Messages name the file, and the array.
std::vector<NamedArray> read_arrays(const std::filesystem::path& path);

}  // namespace onnxc
