// The changes of each pass: nodes that vanished, appeared or were replaced.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Compares the graph after each pass with the one before. Nodes are identified by their first output, since results
/// keep their names.
class PassChanges {
 public:
  /// For CompilerOptions::watch.
  void see(const std::string& pass, const Graph& graph);

  /// [{name, before, after, operators: {op: [before, after]}, vanished: [{value, node}], appeared: [{value, node}],
  ///   changed: [{value, before, after}]}]
  /// Regions are included. `operators` are those whose number changed, and `node` is node_text(). The first entry,
  /// the import, has no `before`.
  nlohmann::ordered_json take() { return std::move(passes_); }

 private:
  struct Seen {
    std::string op, text;
  };
  /// Nodes in the order of the graph, with their keys.
  struct Snapshot {
    std::vector<std::string> order;
    std::map<std::string, Seen> nodes;
  };
  static void add(const Graph& graph, const std::string& prefix, Snapshot& snapshot);

  Snapshot last_;
  nlohmann::ordered_json passes_ = nlohmann::ordered_json::array();
};

}  // namespace onnxc
