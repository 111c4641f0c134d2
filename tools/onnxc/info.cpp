#include "tools/onnxc/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace onnxc {
namespace {

using nlohmann::ordered_json;

void count(const Graph& graph, std::map<std::string, int64_t>& operators, int64_t& parameters, int64_t& weight_bytes, int64_t& nodes) {
  for (const Value& v : graph.values) {
    if (!v.constant) continue;
    parameters += v.constant->count();
    weight_bytes += static_cast<int64_t>(v.constant->bytes.size());
  }
  for (const Node& node : graph.nodes) {
    ++nodes;
    ++operators[node.full_op()];
    for (const auto& [name, region] : node.regions) count(*region, operators, parameters, weight_bytes, nodes);
  }
}

/// What only the compiled program tells, or what stands in the way.
struct Compiled {
  std::string macs, obstacle;
  std::vector<std::string> libraries{};
};
Compiled look_into(const std::string& path, const CompileOptions& options) {
  try {
    CompileOptions direct = options;
    direct.level = 3;
    const Compilation c = compile_model(path, direct);
    Dim macs = 0;
    for_each_step(c.program.steps, [&](const Step& s, int) { macs += s.macs; });
    return {macs.text(), "", c.program.libraries};
  } catch (const Error& e) {
    return {"", e.diagnostics().front().text()};
  }
}

}  // namespace

int info_command(const std::string& path, bool json, const CompileOptions& options) {
  const Imported model = read_model(path, options);
  std::map<std::string, int64_t> operators;
  int64_t parameters = 0, weight_bytes = 0, nodes = 0;
  count(model.graph, operators, parameters, weight_bytes, nodes);
  const auto [macs, obstacle, libraries] = look_into(path, options);
  const auto values = [&](const std::vector<ValueId>& ids) {
    ordered_json list = ordered_json::array();
    for (ValueId v : ids) list.push_back({{"name", model.graph[v].name}, {"type", model.graph[v].type.text()}});
    return list;
  };
  ordered_json all{{"file", path}, {"sha256", model.info.sha256}, {"ir_version", model.info.ir_version}, {"opsets", model.info.opsets},
                   {"producer", model.info.producer_name}, {"producer_version", model.info.producer_version}, {"graph", model.info.graph_name},
                   {"metadata", model.info.metadata}, {"inputs", values(model.graph.inputs)}, {"outputs", values(model.graph.outputs)},
                   {"nodes", nodes}, {"operators", operators}, {"parameters", parameters}, {"weight_bytes", weight_bytes}};
  if (obstacle.empty()) {
    all["macs"] = macs;
    all["libraries"] = libraries;
  } else {
    all["not_compiled"] = obstacle;
  }
  if (json) {
    fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{}\n  sha256      {}\n  IR          {}\n", path, model.info.sha256, model.info.ir_version);
  for (const auto& [domain, version] : model.info.opsets) fmt::print("  opset       {} {}\n", domain, version);
  if (!model.info.producer_name.empty()) fmt::print("  producer    {} {}\n", model.info.producer_name, model.info.producer_version);
  for (const auto& [key, value] : model.info.metadata) fmt::print("  metadata    {} = {}\n", key, value.substr(0, 100));
  for (const auto& v : all["inputs"]) fmt::print("  input       {}: {}\n", v["name"].get<std::string>(), v["type"].get<std::string>());
  for (const auto& v : all["outputs"]) fmt::print("  output      {}: {}\n", v["name"].get<std::string>(), v["type"].get<std::string>());
  fmt::print("  nodes       {}\n  parameters  {} ({} bytes)\n", nodes, parameters, weight_bytes);
  if (obstacle.empty()) fmt::print("  MACs        {}\n", macs);
  else fmt::print("  MACs        unknown: {}\n", obstacle);
  for (const std::string& library : libraries) fmt::print("  links with  -l{}\n", library);
  std::vector<std::pair<std::string, int64_t>> sorted(operators.begin(), operators.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  fmt::print("  operators\n");
  for (const auto& [op, n] : sorted) fmt::print("    {:>6}  {}\n", n, op);
  return 0;
}

}  // namespace onnxc
