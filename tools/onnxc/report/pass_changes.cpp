#include "tools/onnxc/report/pass_changes.h"

#include <fmt/format.h>

#include <array>

#include "tools/onnxc/report/node_text.h"

namespace onnxc {

using nlohmann::ordered_json;

void PassChanges::add(const Graph& graph, const std::string& prefix, Snapshot& snapshot) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::string key = prefix + (node.output(0) == kAbsent ? fmt::format("#{}", i) : graph[node.output(0)].name);
    snapshot.nodes.try_emplace(key, Seen{node.full_op(), node_text(graph, node)});
    for (const auto& [name, region] : node.regions) add(*region, fmt::format("{}/{}/", key, name), snapshot);
    snapshot.order.push_back(std::move(key));
  }
}

void PassChanges::see(const std::string& pass, const Graph& graph) {
  Snapshot now;
  add(graph, "", now);
  ordered_json entry{{"name", pass}};
  if (!passes_.empty()) {
    std::map<std::string, std::array<int, 2>> operators;
    for (const auto& [key, seen] : last_.nodes) ++operators[seen.op][0];
    for (const auto& [key, seen] : now.nodes) ++operators[seen.op][1];
    std::erase_if(operators, [](const auto& entry_of) { return entry_of.second[0] == entry_of.second[1]; });
    ordered_json vanished = ordered_json::array(), appeared = ordered_json::array(), changed = ordered_json::array();
    for (const std::string& key : last_.order) {
      const Seen& was = last_.nodes.at(key);
      const auto is = now.nodes.find(key);
      if (is == now.nodes.end()) vanished.push_back({{"value", key}, {"node", was.text}});
      else if (is->second.text != was.text) changed.push_back({{"value", key}, {"before", was.text}, {"after", is->second.text}});
    }
    for (const std::string& key : now.order) {
      if (!last_.nodes.contains(key)) appeared.push_back({{"value", key}, {"node", now.nodes.at(key).text}});
    }
    entry["before"] = last_.order.size();
    entry["after"] = now.order.size();
    entry["operators"] = operators;
    entry["vanished"] = std::move(vanished);
    entry["appeared"] = std::move(appeared);
    entry["changed"] = std::move(changed);
  } else {
    entry["after"] = now.order.size();
  }
  passes_.push_back(std::move(entry));
  last_ = std::move(now);
}

}  // namespace onnxc
