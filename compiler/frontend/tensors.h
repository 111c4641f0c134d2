// From TensorProto to Constant, with external data.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/tensor.h"

namespace onnx {
class TensorProto;
class SparseTensorProto;
}  // namespace onnx

namespace onnxc {

/// A file of external data, mapped if tensors lie in it that are worth it.
struct ExternalFile {
  std::shared_ptr<const std::byte> bytes{};
  int64_t size = 0, tensor_bytes = 0;  ///< of the tensors that lie in it
};

/// Where external data may be, and what has been read of it.
struct ExternalData {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> files;
  std::map<std::string, ExternalFile> mapped{};  ///< by location
  int64_t dense_bytes = 0, sparse_bytes = 0;     ///< of all sparse tensors: the bytes when dense, and those in the file
  std::optional<int64_t> most_dense_bytes{};     ///< without it, bound by sparse_bytes
};

/// Checks that the data fits the shape. Throws Error{Invalid, Io} that names the tensor.
/// Large data stays where it is: raw_data is moved out of `proto`, and external data is mapped.
Constant import_tensor(onnx::TensorProto& proto, ExternalData& external);
/// A sparse tensor as a dense one. Throws Error{Budget} as well.
Constant import_sparse_tensor(onnx::SparseTensorProto& proto, ExternalData& external);

}  // namespace onnxc
