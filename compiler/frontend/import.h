// From ONNX protobuf to Graph. This is the only folder that knows protobuf.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "compiler/ir/graph.h"

namespace onnxc {

/// What the file says about itself, for `onnxc info` and the header comment of the emitted unit.
struct ModelInfo {
  std::string sha256;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  ///< by domain; "ai.onnx" for the default one
  std::string producer_name, producer_version, model_domain, doc_string, graph_name;
  int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
  std::vector<std::filesystem::path> files;  ///< the model and its external data
  std::vector<std::string> unmet_dims;       ///< named by ImportOptions::dims, and by no type of the model
};

struct Imported {
  Graph graph;
  ModelInfo info;
};

struct ImportOptions {
  /// The value of a named dimension, or its bounds.
  struct Range {
    int64_t min, max;
    bool is_one = true;  ///< false: extents of this name are independent of each other
  };
  std::map<std::string, Range> dims;
  /// Named dimensions that are replaced by other extents.
  std::map<std::string, Dim> same{};
  /// Returns true for operators that the compiler knows itself. Others are replaced by their ONNX function body, if
  /// they have one.
  std::function<bool(const std::string& domain, const std::string& op)> knows;
  /// Returns true for operators of the caller. A function of the model with such a name is ignored.
  std::function<bool(const std::string& domain, const std::string& op)> replaces{};
  std::optional<int64_t> max_nodes{};        ///< see CompilerOptions
  std::optional<int64_t> max_dense_bytes{};  ///< of sparse weights that become dense
  bool repair = false;                       ///< see CompilerOptions
};
/// `8`, `1..64` or `*`, in the form of --dim.
std::string text(const ImportOptions::Range& range);

/// Reads and checks a model, and inlines its functions. Throws Error{Io, Invalid, Unsupported, Budget}.
Imported import_model(const std::filesystem::path& path, const ImportOptions& options);

}  // namespace onnxc
