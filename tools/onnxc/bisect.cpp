// There are two rounds. The first taps values that the optimised steps compute anyway, so that observing them changes
// nothing; it finds the step. The second taps all values of this step, and finds the node among those that were
// fused, unless the error disappears when they are computed separately. Many values are tapped in one build, since
// with several branches a binary search over the order of the nodes would not be sound.
#include "tools/onnxc/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/driver/files.h"
#include "tools/driver/session.h"
#include "tools/onnxc/describe.h"
#include "tools/onnxc/ended_run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using Values = std::map<std::string, HostValue>;

/// The files of the data set that are neither inputs nor outputs, by the name in the tensor, or else by that of the
/// file.
Values read_intermediates(const fs::path& folder) {
  Values values;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".pb" || stem.starts_with("input_") || stem.starts_with("output_")) continue;
    HostValue value = read_value(entry.path(), ValueKind::Tensor);
    const std::string name = value.name.empty() ? stem : value.name;
    values.emplace(name, std::move(value));
  }
  return values;
}

/// A value that a node of the model itself computes, and that a build can output.
struct Candidate {
  std::string name;
  std::string node;  ///< `Conv 'conv1'`
};

/// The candidates in the order of the nodes. `typed`: the same graph with types.
std::vector<Candidate> find_candidates(const Graph& model, const Graph& typed) {
  std::map<std::string, const Type*> types;
  for (const Value& value : typed.values) types.emplace(value.name, &value.type);
  std::vector<Candidate> candidates;
  for (const Node& node : model.nodes) {
    for (const ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      const auto type = types.find(model[v].name);
      if (type == types.end() || !type->second->is_tensor() || !type->second->ranked) continue;
      candidates.push_back({model[v].name, one_line(node.full_op() + (node.name.empty() ? "" : " '" + node.name + "'"))});
    }
  }
  return candidates;
}

class Bisection {
 public:
  explicit Bisection(const RunOptions& options) : options_(options), tolerance_(tolerance_for(options)), team_(options.compile.threads) {}

  int run() {
    CompileOptions options = options_.compile;
    Graph typed;
    options.watch = [&](const std::string& pass, const Graph& graph) {
      if (pass == "infer_shapes") typed = clone(graph);
    };
    const Described described = compile_described(options_.model, options);
    candidates_ = find_candidates(described.model, typed);
    const std::vector<fs::path> sets = data_sets_for(options_.model, options_.data);
    if (!sets.empty()) files_ = read_intermediates(sets[0]);
    std::erase_if(files_,
                  [&](const auto& file) { return std::ranges::find(candidates_, file.first, &Candidate::name) == candidates_.end(); });
    if (files_.empty())
      fmt::print("reference: onnxc's own build of the model at -O0, reference kernels without optimisation; not another program\n");
    else fmt::print("reference: {} values of the data set {}\n", files_.size(), sets[0].string());

    std::set<std::string> first_round;
    if (files_.empty()) for_each_step(described.compilation.program.steps, [&](const Step& step, int) { first_round.insert(step.value); });
    else
      for (const auto& [name, value] : files_) first_round.insert(name);
    const std::optional<Departure> departure = find_departure(first_round);
    if (!departure) {
      fmt::print("{} values compared; all are within {}\n", compared_, limits(tolerance_));
      return 0;
    }
    fmt::print("{} values compared, {} depart\n", compared_, departed_);
    const std::set<std::string> inside = values_of_step(departure->step);
    const std::optional<Departure> closer = files_.empty() && inside.size() > 1 ? find_departure(inside) : std::nullopt;
    print(closer ? *closer : *departure);
    if (files_.empty() && inside.size() > 1 && !closer)
      fmt::print("  apart from each other the nodes of this step are right: it is their fusion that departs\n");
    return 1;
  }

 private:
  struct Departure {
    Candidate candidate;
    Comparison comparison;
    std::string type;
    ordered_json step;  ///< of the description; null if no step computes it
  };

  /// Those of `names` that are values of the model, computed by one build.
  Values compute(const CompileOptions& options, const std::set<std::string>& names, ordered_json* description) {
    CompileOptions tapped = options;
    for (const Candidate& candidate : candidates_) {
      if (names.contains(candidate.name)) tapped.taps.push_back(candidate.name);
    }
    const Described described = compile_described(options_.model, tapped);
    if (description != nullptr) *description = describe(described, tapped);
    const CompiledModel compiled = build_and_load(described.compilation, tapped);
    const Feed feed = find_feed(options_.model, options_.data, compiled);
    ModelCall call(*compiled.model, feed.inputs, team_.executor());
    if (call.run() != 0) throw ended_run(call.message(), options_.model, tapped, feed.inputs);
    Values values;
    for (int32_t k = 0; k < compiled.model->output_count; ++k) values.emplace(compiled.model->outputs[k].name, call.output(k));
    return values;
  }

  std::optional<Departure> find_departure(const std::set<std::string>& names) {
    ordered_json description;
    const Values actual = compute(options_.compile, names, &description);
    CompileOptions unoptimised = options_.compile;
    unoptimised.level = 0;
    unoptimised.small = false;
    const Values expected = files_.empty() ? compute(unoptimised, names, nullptr) : files_;
    std::optional<Departure> first;
    compared_ = departed_ = 0;
    for (const Candidate& candidate : candidates_) {
      const auto a = actual.find(candidate.name), e = expected.find(candidate.name);
      if (a == actual.end() || e == expected.end()) continue;
      ++compared_;
      const Comparison comparison = compare(a->second, e->second, tolerance_);
      if (comparison.within) continue;
      ++departed_;
      if (!first) first = Departure{candidate, comparison, onnxc::describe(a->second), step_of(description, candidate.name)};
    }
    return first;
  }

  /// The last of the steps that compute the node of the value.
  static ordered_json step_of(const ordered_json& description, const std::string& value) {
    for (const ordered_json& node : description.at("nodes")) {
      const auto& outputs = node.at("outputs");
      if (std::ranges::find(outputs, ordered_json(value)) == outputs.end() || node.at("steps").empty()) continue;
      for (const ordered_json& number : node.at("steps")) {
        const ordered_json& step = description.at("steps").at(number.get<std::size_t>() - 1);
        if (step.at("value") == value) return step;
      }
      return description.at("steps").at(node.at("steps").back().get<std::size_t>() - 1);
    }
    return nullptr;
  }

  static std::set<std::string> values_of_step(const ordered_json& step) {
    std::set<std::string> values;
    if (!step.is_null()) {
      for (const ordered_json& origin : step.at("origins")) values.insert(origin.at("output").get<std::string>());
    }
    return values;
  }

  void print(const Departure& departure) const {
    fmt::print("the first to depart, in the order of the nodes: '{}' {}\n  node      {}\n", one_line(departure.candidate.name),
               departure.type, departure.candidate.node);
    fmt::print("  errors    largest {:.3g}, relative L2 {:.3g}, NOT within {}\n            {}\n", departure.comparison.largest_error,
               departure.comparison.relative_l2, limits(tolerance_), one_line(departure.comparison.reason));
    if (departure.step.is_null()) fmt::print("  step      none: it is computed while compiling\n");
    else
      fmt::print("  step      {}: {}  {}\n", departure.step.at("number").get<int>(), departure.step.at("label").get<std::string>(),
                 one_line(departure.step.at("what").get<std::string>()));
  }

  const RunOptions& options_;
  Tolerance tolerance_;
  ThreadTeam team_;
  std::vector<Candidate> candidates_;
  Values files_;
  int compared_ = 0, departed_ = 0;
};

}  // namespace

int bisect_command(const RunOptions& options) { return Bisection(options).run(); }

}  // namespace onnxc
