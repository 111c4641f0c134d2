// ONNX protobuf -> Graph. The only folder that knows protobuf.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
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
};

struct Imported {
  Graph graph;
  ModelInfo info;
};

struct ImportOptions {
  /// Named dimensions: a value, or bounds.
  struct Range {
    int64_t min, max;
    bool is_one = true;  ///< false: each extent of that name is one of its own
  };
  std::map<std::string, Range> dims;
  /// Named dimensions that are other extents.
  std::map<std::string, Dim> same{};
  /// True for operators that the compiler knows itself; others are replaced by their ONNX function body where there is one.
  std::function<bool(const std::string& domain, const std::string& op)> knows;
  /// True for operators that are the caller's: a function of the model that has such a name is left out.
  std::function<bool(const std::string& domain, const std::string& op)> replaces{};
};
/// `8`, `1..64` or `*`, as --dim has it.
std::string text(const ImportOptions::Range& range);

/// Reads, checks and inlines. Throws Error{Io, Invalid, Unsupported}.
Imported import_model(const std::filesystem::path& path, const ImportOptions& options);

}  // namespace onnxc
