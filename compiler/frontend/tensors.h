// From TensorProto to Constant, with external data.
#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "compiler/ir/tensor.h"

namespace onnx {
class TensorProto;
class SparseTensorProto;
}  // namespace onnx

namespace onnxc {

/// Where external data may be, and what has been read of it.
struct ExternalData {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> files;
  int64_t dense_bytes = 0, sparse_bytes = 0;  ///< of all sparse tensors: the bytes when dense, and those in the file
  std::optional<int64_t> most_dense_bytes{};  ///< without it, bound by sparse_bytes
};

/// Checks that the data fits the shape. Throws Error{Invalid, Io} that names the tensor.
Constant import_tensor(const onnx::TensorProto& proto, ExternalData& external);
/// A sparse tensor as a dense one. Throws Error{Budget} as well.
Constant import_sparse_tensor(const onnx::SparseTensorProto& proto, ExternalData& external);

}  // namespace onnxc
