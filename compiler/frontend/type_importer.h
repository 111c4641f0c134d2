// Types that a model states, its symbols made Dims.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/import.h"
#include "compiler/ir/type.h"
#include "onnx/onnx_pb.h"

namespace onnxc {

/// Names end up in the C ABI: throws Invalid for one that holds a NUL.
void check_name(const std::string& name);

class TypeImporter {
 public:
  explicit TypeImporter(const ImportOptions& options) : options_(options) {}

  /// The type of `value`, of kind Unknown where none is stated. Throws Invalid for element types and extents that do
  /// not exist, Unsupported for ranks beyond kMaxRank and for sparse tensors.
  Type import(const onnx::TypeProto& proto, const std::string& value, int depth = 0);

  /// The names of options.dims that no type so far has had.
  std::vector<std::string> unmet_dims() const;

 private:
  Dim dim(const onnx::TensorShapeProto::Dimension& proto, const std::string& value, int axis);

  const ImportOptions& options_;
  std::set<std::string> met_;  // of the names of options_.dims
};

}  // namespace onnxc
