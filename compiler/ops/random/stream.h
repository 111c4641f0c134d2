// Streams: which random numbers a node gets.
#pragma once
#include <cstring>

#include "compiler/ops/operator.h"

namespace onnxc {

/// Sets attribute `stream`, which seeds the kernels. It is derived from the seed if the node has one, so that equal
/// seeds give equal numbers; otherwise from the model's hash and the node's place, so that every node gets its own
/// numbers. For `resolve`, when names are still those of the model.
inline void choose_stream(const Graph& graph, Node& node) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;
  };
  const auto seed = node.attributes.find("seed");
  if (seed != node.attributes.end()) {
    uint64_t bits = 0;
    if (const auto* f = std::get_if<float>(&seed->second)) std::memcpy(&bits, f, sizeof *f);
    if (const auto* i = std::get_if<int64_t>(&seed->second)) bits = static_cast<uint64_t>(*i);
    add({reinterpret_cast<const char*>(&bits), sizeof bits});
  } else {
    if (const auto sha = graph.metadata.find("sha256"); sha != graph.metadata.end()) add(sha->second);
    add(node.name);
    for (const ValueId v : node.outputs) add(v == kAbsent ? std::string_view() : std::string_view(graph[v].name));
  }
  node.attributes["stream"] = static_cast<int64_t>(hash >> 1);
}

}  // namespace onnxc
