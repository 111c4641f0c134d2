#include "tools/onnxc/report/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "compiler/support/error_codes.h"
#include "tools/driver/files.h"
#include "tools/onnxc/describe.h"
#include "tools/onnxc/measured.h"
#include "tools/onnxc/report/graph_views.h"
#include "tools/onnxc/report/pass_changes.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

constexpr const char* kProfileRemedy = "give what onnxc profile --json wrote for this model and these options";

ordered_json describe_model(const ModelInfo& info, const std::filesystem::path& file) {
  return {{"file", file.filename().string()},
          {"sha256", info.sha256},
          {"graph", info.graph_name},
          {"ir_version", info.ir_version},
          {"opsets", info.opsets},
          {"producer", info.producer_version.empty() ? info.producer_name : info.producer_name + " " + info.producer_version}};
}

ordered_json describe_options(const CompileOptions& options) {
  ordered_json dims = ordered_json::object();
  for (const auto& [dim, range] : options.dims) dims[dim] = text(range);
  return {{"level", level_name(options)},
          {"memory", name(options.memory)},
          {"math", name(options.math)},
          {"narrow_weights", name(options.narrow_weights)},
          {"weight_bits", options.weight_form ? options.weight_form->bits : 32},
          {"weights_growth", options.weights_growth},
          {"dims", std::move(dims)}};
}

/// The predicted peak of the fastest rows of the catalogue that the target can run.
ordered_json describe_roofline(const Target& target) {
  const Kernel *arithmetic = nullptr, *stream = nullptr;
  for (const Kernel& row : all_kernels()) {
    if (!target.features.include(row.needs)) continue;
    if (row.per_mac > 0 && (arithmetic == nullptr || row.per_mac < arithmetic->per_mac)) arithmetic = &row;
    if (row.per_mac > 0 && row.per_byte > 0 && (stream == nullptr || row.per_byte < stream->per_byte)) stream = &row;
  }
  if (arithmetic == nullptr || stream == nullptr) return nullptr;
  return {{"peak_gmacs", 1 / arithmetic->per_mac},
          {"gbytes", 1 / stream->per_byte},
          {"from", fmt::format("{}, {}", arithmetic->name, stream->name)}};
}

/// The first known type of each value, by name.
using Types = std::map<std::string, Type>;
void collect_types(const Graph& graph, Types& types) {
  for (const Value& v : graph.values) {
    if (!v.name.empty() && (v.type.ranked || v.type.kind > Type::Kind::Tensor)) types.try_emplace(v.name, v.type);
  }
  for (const Node& node : graph.nodes) {
    for (const auto& [name, region] : node.regions) collect_types(*region, types);
  }
}

ordered_json parse_json(const std::filesystem::path& path, const char* what) {
  const std::string text = read_file(path);
  try {
    return ordered_json::parse(text);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::NotADescription, fmt::format("{} is no JSON", one_line(path.string())), what);
  }
}

}  // namespace

ordered_json report_data(const std::filesystem::path& model, const CompileOptions& options) {
  PassChanges changes;
  Types types;
  CompileOptions watched = options;
  watched.watch = [&](const std::string& pass, const Graph& graph) {
    changes.see(pass, graph);
    collect_types(graph, types);
  };
  const Described described = compile_described(model, watched);
  ordered_json data{{"onnxc", ONNXC_VERSION},
                    {"kind", "report"},
                    {"model", describe_model(described.compilation.info, model)},
                    {"options", describe_options(options)}};
  data.update(describe(described, options));
  if (options.measure) add_measurements(data, model, described.compilation, options);
  data["roofline"] = describe_roofline(described.compilation.target);
  data["graphs"] = {{"model", describe_model_graph(described.model, types)}, {"steps", describe_step_graph(described.compilation.program)}};
  data["passes"] = changes.take();
  return data;
}

std::optional<ordered_json> read_description(const std::filesystem::path& path) {
  if (std::ifstream(path, std::ios::binary).peek() != '{') return std::nullopt;  // no ONNX protobuf begins with it
  constexpr const char* kRemedy = "give a model, or what onnxc report --json wrote";
  ordered_json data = parse_json(path, kRemedy);
  if (!data.is_object() || data.value("kind", ordered_json()) != "report")
    throw Error(ErrorCode::NotADescription, fmt::format("{} is no description of a compilation", one_line(path.string())), kRemedy);
  return data;
}

ordered_json read_profile(const std::filesystem::path& path) {
  const ordered_json all = parse_json(path, kProfileRemedy);
  try {
    ordered_json profile{{"peak_gmacs", all.value("peak_gmacs", 0.0)},
                         {"variant", all.value("variant", std::map<std::string, int64_t>())},
                         {"steps", ordered_json::array()}};
    for (const ordered_json& step : all.at("steps")) {
      profile["steps"].push_back({{"number", step.at("number").get<std::size_t>()},
                                  {"kernel", step.value("kernel", "")},
                                  {"calls", step.value("calls", int64_t{1})},
                                  {"mean_ns", step.at("mean_ns").get<double>()},
                                  {"best_ns", step.value("best_ns", step.at("mean_ns").get<double>())}});
    }
    return profile;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::NotADescription, fmt::format("{} holds no times of steps", one_line(path.string())), kProfileRemedy);
  }
}

CompileOptions options_of_profile(const CompileOptions& options, const ordered_json& profile) {
  CompileOptions fixed = options;
  for (const auto& [dim, extent] : profile.at("variant").get<std::map<std::string, int64_t>>()) {
    const auto given = options.dims.find(dim);
    if (extent < 0 || (given != options.dims.end() && (extent < given->second.min || extent > given->second.max)))
      throw Error(ErrorCode::NotADescription, fmt::format("the profile is of a variant with {}={}", one_line(dim), extent),
                  fmt::format("leave --dim {} out, or measure what it asks for", one_line(dim)));
    fixed.dims[dim] = {extent, extent};
    fixed.specialize.clear();
  }
  return fixed;
}

void check_profile(const ordered_json& profile, const ordered_json& steps) {
  for (const ordered_json& step : profile.at("steps")) {
    const auto number = step.at("number").get<std::size_t>();
    if (number < 1 || number > steps.size())
      throw Error(ErrorCode::NotADescription, fmt::format("the profile speaks of step {}, and the program has {}", number, steps.size()),
                  kProfileRemedy);
    const std::string measured = step.at("kernel"), label = steps[number - 1].at("label");
    if (!measured.empty() && measured != label)
      throw Error(ErrorCode::NotADescription,
                  fmt::format("the profile's step {} calls {}, the program's {}", number, one_line(measured), one_line(label)),
                  kProfileRemedy);
  }
}

}  // namespace onnxc
