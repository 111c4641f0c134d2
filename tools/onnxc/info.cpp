#include "tools/onnxc/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "compiler/support/error_codes.h"
#include "tools/onnxc/csv.h"
#include "tools/onnxc/describe.h"
#include "tools/onnxc/measured.h"

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

/// What only the compiled program knows, or the obstacle to compiling it.
struct Compiled {
  std::string macs, obstacle;
  std::vector<std::string> libraries{};
  ordered_json arena{}, layers{}, floats{}, on_host{};
  ordered_json device_arena{}, transfers{};  ///< null where there is no GPU
  int64_t packed_weight_bytes = 0, saved_weight_bytes = 0;
  ordered_json footprint{}, emulated{};  ///< null without --measure
  std::vector<std::string> outputs{};    ///< types of those that are tensors, else empty
  ordered_json regions{};                ///< null where none are named
};

/// With extents as they were inferred: those that a model states are not believed when it is read.
std::vector<std::string> types_of_outputs(const Program& program) {
  std::vector<std::string> types;
  for (const BufferId id : program.outputs)
    types.push_back(program[id].is_value ? "" : Type::tensor(program[id].element, program[id].extents).text());
  return types;
}

/// A line for each step: its number, kernel, work and nodes.
ordered_json layers_of(const ordered_json& description) {
  ordered_json layers = ordered_json::array();
  for (const ordered_json& step : description.at("steps")) {
    ordered_json nodes = ordered_json::array();
    for (const ordered_json& origin : step.at("origins")) nodes.push_back(label_of(origin));
    layers.push_back({{"step", step.at("number")},
                      {"device", step.at("device")},
                      {"kernel", step.at("label")},
                      {"macs", step.at("macs")},
                      {"bytes", step.at("bytes")},
                      {"weight_bytes", step.at("weight_bytes")},
                      {"mixes", step.at("mixes")},
                      {"what", step.at("what")},
                      {"nodes", std::move(nodes)}});
    for (const char* counted : {"instructions", "cycles"}) {
      if (step.contains(counted)) layers.back()[counted] = step.at(counted);
    }
  }
  return layers;
}

Compiled look_into(const std::string& path, const CompileOptions& options) {
  try {
    CompileOptions direct = options;
    direct.level = 3;
    const Described described = compile_described(path, direct);
    ordered_json description = describe(described, direct);
    if (options.measure) add_measurements(description, path, described.compilation, direct);
    const ordered_json& totals = description.at("totals");
    return {line_of(totals.at("macs")),
            "",
            described.compilation.program.libraries,
            description.at("arena"),
            layers_of(description),
            description.at("floats"),
            description.at("on_host"),
            description.value("device_arena", ordered_json()),
            description.value("transfers", ordered_json()),
            totals.at("weight_bytes"),
            totals.at("weight_bytes_saved"),
            description.value("footprint", ordered_json()),
            description.value("emulated", ordered_json()),
            types_of_outputs(described.compilation.program),
            description.value("regions", ordered_json())};
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Usage || e.kind() == ErrorKind::Io || e.kind() == ErrorKind::Budget) throw;
    return {"", e.diagnostics().front().text()};
  }
}

void print_arena(const ordered_json& arena, const char* what) {
  const std::string unshared = line_of(arena.at("unshared_bytes"));
  const bool fixed = arena.contains("bytes");
  const ordered_json& told = fixed ? arena : arena.at("likely");
  const std::string bytes = line_of(told.at("bytes")),
                    bound =
                        told.at("proved") ? "proved minimal" : fmt::format("no plan takes less than {}", line_of(told.at("lower_bound")));
  if (fixed) {
    fmt::print("  {:<10}  {} bytes, {}; all values together {}\n", what, bytes, bound, unshared);
    return;
  }
  std::string dims;
  for (const auto& [name, size] : told.at("dims").items())
    dims += fmt::format("{}{} = {}", dims.empty() ? "" : ", ", one_line(name), size.get<int64_t>());
  fmt::print("  {:<10}  depends on the dimensions; at {}: {} bytes, {}\n              all values together {}\n", what, dims, bytes, bound,
             unshared);
}

void print_regions(const ordered_json& regions) {
  double elsewhere = 1;
  for (const ordered_json& region : regions) {
    const auto arena = region.at("bytes").get<int64_t>(), constants = region.at("constant_bytes").get<int64_t>();
    const auto section = region.at("section").get<std::string>();
    const auto share = region.at("share").get<double>();
    fmt::print("  region      {}: {} of {} bytes{}{}; {:.1f} % of the accesses\n", line_of(region.at("name")), arena + constants,
               line_of(region.at("capacity")), arena > 0 ? fmt::format(", arena {}", arena) : "",
               constants > 0 ? fmt::format(", constants {} in {}", constants, one_line(section)) : "", 100 * share);
    elsewhere -= share;
  }
  fmt::print("  elsewhere   {:.1f} % of the accesses\n", 100 * std::max(elsewhere, 0.0));
}

void print_footprint(const ordered_json& f) {
  const auto bytes = [&](const char* name) { return line_of(f.at(name)); };
  fmt::print("  flash       {} bytes: code {}, constants {}, weights {}\n", bytes("flash"), bytes("code"), bytes("constants"),
             bytes("weights"));
  if (f.contains("stack_path")) fmt::print("  stack       {} bytes: {}\n", bytes("stack"), line_of(f.at("stack_path")));
  else fmt::print("  stack       unknown: {}\n", line_of(f.at("stack_why")));
  if (!f.at("ram").is_null())
    fmt::print("  RAM         {} bytes: arena, stack, variables {}{}\n", bytes("ram"),
               f.at("data").get<int64_t>() + f.at("zeroed").get<int64_t>(),
               f.at("copied_constants") != 0 ? fmt::format(", constants of regions {}", bytes("copied_constants")) : "");
  fmt::print("  measured    {}\n", line_of(f.at("compiler")));
}

/// Prints what all steps together take in an emulator.
void print_emulated(const ordered_json& emulated, const ordered_json& layers) {
  if (emulated.contains("why")) {
    fmt::print("  emulated    no: {}\n", line_of(emulated.at("why")));
    return;
  }
  int64_t instructions = 0, cycles = 0;
  bool has_cycles = false;
  for (const ordered_json& layer : layers) {
    instructions += layer.value("instructions", int64_t{0});
    if (!layer.contains("cycles") || layer.at("cycles").is_null()) continue;
    has_cycles = true;
    cycles += layer.at("cycles").get<int64_t>();
  }
  fmt::print("  emulated    {} instructions{} on {}, by {}{}\n", instructions,
             has_cycles ? fmt::format(", {} cycles if memory never waits,", cycles) : "", line_of(emulated.at("data")),
             line_of(emulated.at("emulator")), emulated.at("passed") ? "" : ": WRONG OUTPUTS");
}

/// Prints how many steps run where, and what is copied between.
void print_devices(const ordered_json& layers, const ordered_json& transfers) {
  int on_gpu = 0, on_host = 0;
  for (const ordered_json& layer : layers) {
    const bool is_transfer = layer.at("kernel") == "to_device" || layer.at("kernel") == "to_host";
    const bool is_call = layer.at("macs") != 0 || layer.at("bytes") != 0;
    if (is_call && !is_transfer) ++(layer.at("device") == "gpu" ? on_gpu : on_host);
  }
  fmt::print("  steps on    the GPU {}, the host {}; copies to the host {} ({} bytes), to the GPU {} ({} bytes)\n", on_gpu, on_host,
             line_of(transfers.at("to_host")), line_of(transfers.at("to_host_bytes")), line_of(transfers.at("to_gpu")),
             line_of(transfers.at("to_gpu_bytes")));
}

/// The steps with the most multiply-adds, or bytes if there are none, in their order.
void print_layers(const ordered_json& layers, bool devices) {
  constexpr std::size_t kMost = 20;
  std::vector<const ordered_json*> shown;
  for (const ordered_json& layer : layers) {
    if (layer.at("macs") != 0 || layer.at("bytes") != 0) shown.push_back(&layer);
  }
  const std::size_t all = shown.size();
  const auto amount = [](const ordered_json* layer) {
    const auto number = [](const ordered_json& size) { return size.is_number() ? size.get<double>() : 1e18; };
    return std::pair{number(layer->at("macs")), number(layer->at("bytes"))};
  };
  std::ranges::stable_sort(shown, std::ranges::greater{}, amount);
  shown.resize(std::min(all, kMost));
  std::ranges::sort(shown, {}, [](const ordered_json* layer) { return layer->at("step").get<int>(); });
  const bool counted = std::ranges::any_of(layers, [](const ordered_json& layer) { return layer.contains("instructions"); });
  const auto counts = [&](const std::string& instructions, const std::string& cycles) {
    return counted ? fmt::format(" {:>12} {:>12}", instructions, cycles) : std::string();
  };
  const auto count_of = [](const ordered_json& layer, const char* what) {
    return layer.contains(what) && !layer.at(what).is_null() ? line_of(layer.at(what)) : std::string("-");
  };
  fmt::print("  steps{}\n    {:>5}{} {:>14} {:>12} {:>12}{}  {}\n",
             all > kMost ? fmt::format(", the largest {} of {}; --csv tells all", kMost, all) : "", "step", devices ? "   on" : "", "MACs",
             "bytes", "of weights", counts("instructions", "cycles"), "what");
  for (const ordered_json* layer : shown)
    fmt::print("    {:>5}{} {:>14} {:>12} {:>12}{}  {}\n", line_of(layer->at("step")),
               devices ? fmt::format(" {:>4}", line_of(layer->at("device"))) : "", line_of(layer->at("macs")), line_of(layer->at("bytes")),
               line_of(layer->at("weight_bytes")), counts(count_of(*layer, "instructions"), count_of(*layer, "cycles")),
               line_of(layer->at("what")));
}

/// Prints which steps use algorithms that mix values.
void print_mixing(const ordered_json& layers) {
  std::map<std::string, std::string> numbers;  // of the steps, by kernel
  for (const ordered_json& layer : layers) {
    if (!layer.at("mixes")) continue;
    std::string& of_kernel = numbers[layer.at("kernel")];
    of_kernel += fmt::format("{}{}", of_kernel.empty() ? "" : ", ", line_of(layer.at("step")));
  }
  if (numbers.empty()) fmt::print("  mixing      no step goes by an algorithm that mixes values\n");
  bool first = true;
  for (const auto& [kernel, list] : numbers)
    fmt::print("  {}{}: steps {}\n", std::exchange(first, false) ? "mixing      " : "            ", kernel, list);
}

void print_csv(const ordered_json& layers) {
  std::string csv = csv_line({"step", "kernel", "macs", "bytes", "weight_bytes", "mixes", "what", "nodes", "instructions", "cycles"});
  for (const ordered_json& layer : layers) {
    std::string nodes;
    for (const ordered_json& node : layer.at("nodes")) nodes += (nodes.empty() ? "" : "; ") + node.get<std::string>();
    csv += csv_line({layer.at("step"), layer.at("kernel"), layer.at("macs"), layer.at("bytes"), layer.at("weight_bytes"),
                     layer.at("mixes") ? "yes" : "no", layer.at("what"), nodes, layer.value("instructions", ordered_json()),
                     layer.value("cycles", ordered_json())});
  }
  std::fwrite(csv.data(), 1, csv.size(), stdout);
}

}  // namespace

int info_command(const std::string& path, InfoForm form, const CompileOptions& options) {
  const Imported model = read_model(path, options);
  std::map<std::string, int64_t> operators;
  int64_t parameters = 0, weight_bytes = 0, nodes = 0;
  count(model.graph, operators, parameters, weight_bytes, nodes);
  const auto [macs, obstacle, libraries, arena, layers, floats, on_host, device_arena, transfers, packed_weight_bytes, saved_weight_bytes,
              footprint, emulated, outputs, regions] = look_into(path, options);
  if (form == InfoForm::Csv) {
    if (!obstacle.empty())
      throw Error(ErrorCode::OperatorForm, "--csv tells of steps, and the model does not compile: " + obstacle, "leave --csv out");
    print_csv(layers);
    return 0;
  }
  const auto values = [&](const std::vector<ValueId>& ids) {
    ordered_json list = ordered_json::array();
    for (ValueId v : ids) list.push_back({{"name", model.graph[v].name}, {"type", model.graph[v].type.text()}});
    return list;
  };
  ordered_json listed_outputs = values(model.graph.outputs);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!outputs[k].empty()) listed_outputs[k]["type"] = outputs[k];
  ordered_json all{{"file", path},
                   {"sha256", model.info.sha256},
                   {"ir_version", model.info.ir_version},
                   {"opsets", model.info.opsets},
                   {"producer", model.info.producer_name},
                   {"producer_version", model.info.producer_version},
                   {"graph", model.info.graph_name},
                   {"metadata", model.info.metadata},
                   {"inputs", values(model.graph.inputs)},
                   {"outputs", std::move(listed_outputs)},
                   {"nodes", nodes},
                   {"operators", operators},
                   {"parameters", parameters},
                   {"weight_bytes", weight_bytes}};
  if (obstacle.empty()) {
    all["macs"] = macs;
    all["libraries"] = libraries;
    all["arena"] = arena;
    if (!device_arena.is_null()) all.update({{"device_arena", device_arena}, {"transfers", transfers}});
    if (!regions.is_null()) all["regions"] = regions;
    all["packed_weight_bytes"] = packed_weight_bytes;
    all["saved_weight_bytes"] = saved_weight_bytes;
    all["layers"] = layers;
    all["floats"] = floats;
    all["on_host"] = on_host;
    if (!footprint.is_null()) all["footprint"] = footprint;
    if (!emulated.is_null()) all["emulated"] = emulated;
  } else {
    all["not_compiled"] = obstacle;
  }
  if (form == InfoForm::Json) {
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
  if (obstacle.empty()) {
    const std::string saved =
        saved_weight_bytes > 0 ? fmt::format("; {} saved by narrower types that hold the same values", saved_weight_bytes) : "";
    fmt::print("  MACs        {}\n  packed      {} bytes of weights, as the kernels read them{}\n", macs, packed_weight_bytes, saved);
    print_arena(arena, device_arena.is_null() ? "arena" : "host arena");
    if (!regions.is_null()) print_regions(regions);
    if (!footprint.is_null()) print_footprint(footprint);
    if (!emulated.is_null()) print_emulated(emulated, layers);
    if (!device_arena.is_null()) {
      print_arena(device_arena, "GPU arena");
      print_devices(layers, transfers);
    }
    print_mixing(layers);
    for (const ordered_json& group : floats)
      fmt::print("  {:<10}  {}\n", &group == &floats.front() ? "in floats" : "", text_of_group(group));
    for (const ordered_json& group : on_host)
      fmt::print("  {:<10}  {}\n", &group == &on_host.front() ? "on the host" : "", text_of_group(group));
  } else fmt::print("  MACs        unknown: {}\n", obstacle);
  for (const std::string& library : libraries) fmt::print("  links with  -l{}\n", library);
  std::vector<std::pair<std::string, int64_t>> sorted(operators.begin(), operators.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  fmt::print("  operators\n");
  for (const auto& [op, n] : sorted) fmt::print("    {:>6}  {}\n", n, op);
  if (obstacle.empty()) print_layers(layers, !device_arena.is_null());
  return 0;
}

}  // namespace onnxc
