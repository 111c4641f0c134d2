// The table of contents: every pass, in order, with its reason.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "compiler/budgets.h"
#include "compiler/ir/dim_node.h"
#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/memory_goal.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/memory/plan_regions.h"
#include "compiler/onnxc.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"
#include "compiler/states.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/stage.h"
#include "compiler/taps.h"

namespace onnxc {
namespace {

struct Pass {
  const char* name;
  Graph (*run)(Graph);
  bool optional;             ///< an optimisation: -O0 and --opt-bisect-limit leave it out
  bool keeps_alive = false;  ///< it extends the lives of values: --memory=balanced and --memory=min leave it out
  Features needs{};          ///< on machines without these features the pass would cost time
  Math math = Math::Strict;  ///< Default: --math=strict leaves it out
  bool bare = false;         ///< it saves memory at the cost of time: for targets without an operating system
};

// clang-format off
constexpr Pass kPasses[] = {
    {"bind_gradients",                  bind_gradients,                  false},  // what Gradient differentiates; before names change
    {"infer_shapes",                    infer_shapes,                    false},  // older opsets become the newest; values get types
    {"quantise_weights",                quantise_weights,                false},  // for --weight-bits alone; before what reads weights is rewritten
    // Values of 16 bits become two bytes in products by constants. Then the same for bytes alone.
    {"recognise_digits",                recognise_digits,                true, false, {Feature::Vnni}},
    {"recognise_quantised",             recognise_quantised,             true},   // QuantizeLinear and its inverse around products become bytes
    {"recognise_weight_only",           recognise_weight_only,           true},   // weights of few bits stay packed in products
    {"decompose",                       decompose,                       false},  // composite operators become parts that later passes see
    {"place_states",                    place_states,                    false},  // caches grow at their end; before transposes vanish
    {"fold_constants",                  fold_constants,                  true},   // what does not depend on inputs is computed here
    {"simplify",                        simplify,                        true},   // no-ops, transpose and reshape chains vanish
    {"join_text",                       join_text,                       true},   // words are counted without a heap
    {"join_columns",                    join_columns,                    true},   // columns that a Concat joins are picked at once
    {"lower_elementwise",               lower_elementwise,               false},  // every elementwise operator becomes an expression
    {"fold_parameters",                 fold_constants,                  true},   // expressions over weights, above all those of BatchNorm
    {"eliminate_common_subexpressions", eliminate_common_subexpressions, true},   // equal nodes are computed once; before fusion hides them
    {"merge_trees",                     merge_trees,                     true},   // functions of leaves move into leaves
    {"fold_scales",                     fold_scales,                     true},   // BatchNorm and scales move into weights
    {"flatten_pixels",                  flatten_pixels,                  true},   // bytes [n, h, w, c] are read where they lie
    // Channel shuffles move into weights, once no BatchNorm is in between.
    {"select_channels",                 select_channels,                 true, true},
    {"reorder_flattened",               reorder_flattened,               true},   // weights take a flattened image's order, before fusion
    {"fuse_expressions",                fuse_expressions,                true},   // elementwise groups join their producers
    // Residuals that were bytes are bytes in memory.
    {"store_bytes",                     store_bytes,                     true, false, {}, Math::Strict, true},
    // Weights give the exponents of SiLU's powers of two.
    {"scale_gates",                     scale_gates,                     true, false, {Feature::Avx512}, Math::Default},
    {"mark_direct",                     mark_direct,                     false},  // readers that magnify errors at zero; after fusion
    {"eliminate_dead_code",             eliminate_dead_code,             false},  // what no output needs is removed
    {"order_nodes",                     order_nodes,                     true},   // fewer bytes are live at once
};
// clang-format on

/// Reports all operators that cannot be compiled at once.
void refuse_unknown_operators(const Graph& graph) {
  std::vector<Diagnostic> missing;
  std::set<std::string> seen;
  const std::function<void(const Graph&)> walk = [&](const Graph& g) {
    for (const Node& node : g.nodes) {
      if (!node.is_map() && find_operator(node) == nullptr && missing.size() < 100)
        missing.push_back(
            {node.name, node.full_op(), "this operator is not supported",
             !seen.insert(node.full_op()).second    ? ""
             : node.domain == "com.microsoft.nchwc" ? "save the model with ONNX Runtime's optimization level extended or lower"
             : node.domain.empty() || node.domain.starts_with("ai.onnx")
                 ? "see docs/operators.md"
                 : fmt::format("write it in C++ and say where with --custom-op {}=HEADER:FUNCTION; see docs/custom-operators.md",
                               one_line(node.full_op()))});
      for (const auto& [name, region] : node.regions) walk(*region);
    }
  };
  walk(graph);
  if (!missing.empty()) throw Error(ErrorCode::UnknownOperator, std::move(missing));
}

ImportOptions import_options(const CompilerOptions& options, std::map<std::string, Dim> same = {}) {
  const auto is_custom = [&options](const std::string& domain, const std::string& op) {
    return std::ranges::any_of(options.custom_operators,
                               [&](const CustomOperator& custom) { return custom.domain == domain && custom.op == op; });
  };
  return {options.dims,
          std::move(same),
          [is_custom](const std::string& domain, const std::string& op) {
            return is_custom(domain, op) || find_operator(domain, op) != nullptr;
          },
          is_custom,
          options.max_nodes,
          options.max_fold_bytes,
          options.repair};
}

/// The graph and, for goals that may cost time, others that compute the same with fewer bytes live at once.
std::vector<Graph> forms_for(MemoryGoal goal, Graph graph) {
  // The shares by which stripes may increase the work: for the balanced goal, and for the least memory.
  constexpr double kExtraWork[] = {0.08, 0.6};
  std::vector<Graph> forms{std::move(graph)};
  if (goal == MemoryGoal::Speed) return forms;
  Graph lean = recompute(forms[0]);
  if (lean.nodes.size() > forms[0].nodes.size()) forms.push_back(fuse_expressions(std::move(lean)));
  std::vector<Graph> striped = stripe(forms.back(), std::span(kExtraWork).first(goal == MemoryGoal::Min ? 2 : 1));
  std::ranges::move(striped, std::back_inserter(forms));
  return forms;
}

}  // namespace

const char* name(Subnormals subnormals) { return subnormals == Subnormals::Flush ? "flush" : "keep"; }

std::vector<std::string> pass_names() {
  std::vector<std::string> names{"import"};
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

Graph run_pass(const std::string& name, Graph graph) {
  for (const Pass& pass : kPasses) {
    if (name != pass.name) continue;
    graph = pass.run(std::move(graph));
    verify_graph(graph, name);
    return graph;
  }
  throw Error(ErrorCode::NoSuchValue, fmt::format("there is no pass '{}'", name));
}

Imported read_model(const std::filesystem::path& model, const CompilerOptions& options) {
  return import_model(model, import_options(options));
}

namespace {

std::vector<bool> are_values(const Program& program) {
  std::vector<bool> list;
  for (const BufferId output : program.outputs) list.push_back(program[output].is_value);
  return list;
}

}  // namespace

std::string level_name(const CompilerOptions& options) { return options.small ? "-Os" : fmt::format("-O{}", options.level); }
MemoryGoal usual_memory(const CompilerOptions& options) {
  if (options.small) return MemoryGoal::Min;
  const auto target = find_target(options.target);
  return target && target->bare ? MemoryGoal::Balanced : MemoryGoal::Speed;  // a core has little memory, and no cache to please
}
NarrowWeights usual_narrow_weights(const CompilerOptions& options) { return options.small ? NarrowWeights::All : NarrowWeights::Auto; }

namespace {

/// The target, but for instructions on floats that only some machines have; and with the costs of any, so that all choose alike.
Target without_own_arithmetic(Target target) {
  Features exact;
  for (const Feature feature : {Feature::Dsp, Feature::Helium}) {  // of integers
    if (target.has(feature)) exact.add(feature);
  }
  target.features = exact;
  target.machine = target.vector_floats == 1 ? &machines::kScalar : &machines::kGeneric;
  return target;
}

/// Memories of several speeds are filled for one set of sizes.
void refuse_unknown_sizes(const Program& program) {
  std::map<std::string, Dim> symbols;
  for (const BufferId id : program.inputs) {
    for (Dim d : program[id].extents) d.collect_symbols(symbols);
  }
  for (const Placement& placement : program.arena.placements) {
    for (const Placement::Offset& offset : placement.offsets) program[offset.buffer].bytes.collect_symbols(symbols);
  }
  if (symbols.empty()) return;
  const std::string& name = symbols.begin()->first;
  throw Error(ErrorCode::NeedsFixedSizes, fmt::format("--region needs sizes that are known before a run, and '{}' is not", name),
              fmt::format("--dim '{}=…' fixes it", name));
}

/// Import, passes, lowering and memory plan, for all sizes that the dimensions may have. `same`: symbols of the
/// inputs that are replaced by other extents. `general`: if this is to be a variant, the program for all sizes, whose
/// interface it gets.
Compilation compile_general(const std::filesystem::path& model, const CompilerOptions& options, const Program* general = nullptr,
                            std::map<std::string, Dim> same = {}) {
  const auto target = find_target(options.target);
  if (!target) throw Error(ErrorCode::CommandLine, fmt::format("there is no target '{}'", options.target), "see onnxc --help for the list");
  if (target->gpu == nullptr && (options.devices != Devices::Auto || options.gpu_memory))
    throw Error(ErrorCode::NotForTarget,
                fmt::format("--devices and --gpu-memory are for units that run on a GPU, and {} is none", options.target),
                "say --target=cuda-sm80");
  if (target->gpu != nullptr && !options.states.empty())
    throw Error(ErrorCode::NotForTarget, "--state is for units that run on a processor", "leave it out");
  if (target->gpu != nullptr && !options.regions.empty())
    throw Error(ErrorCode::NotForTarget, "--region is for memories of processors", "leave it out; --gpu-memory limits what a GPU holds");
  if (target->gpu != nullptr && options.math == Math::Reproducible)
    throw Error(ErrorCode::NotForTarget, "--math=reproducible is for processors", "leave --math out, or say --math=strict");
  Imported imported = import_model(model, import_options(options, std::move(same)));
  Compilation result{std::move(imported.info),
                     options.math == Math::Reproducible ? without_own_arithmetic(*target) : *target,
                     std::move(imported.graph),
                     {},
                     {},
                     {},
                     {},
                     {}};
  Graph& graph = result.graph;
  take_custom_operators(graph, options.custom_operators);
  refuse_unknown_operators(graph);
  add_taps(graph, options.taps);
  bind_states(graph, options.states);
  const auto after = [&](const char* name) {
    verify_graph(graph, name);
    if (options.watch) options.watch(name, graph);
    if (options.log != nullptr && (options.print_after == "all" || options.print_after == name))
      *options.log << "# after " << name << "\n" << print_graph(graph);
    return options.stop_after == name;
  };
  std::vector<std::string> output_names;  // passes may replace one value by another
  for (ValueId v : graph.outputs) output_names.push_back(graph[v].name);
  if (after("import")) return result;
  if (!options.zip_maps) graph = unzip_maps(std::move(graph));  // classical models then need no heap
  int optional_passes = 0;
  std::optional<int64_t> fold_bytes_left = options.max_fold_bytes;
  std::map<std::string, std::string> reasons_of_weights;
  for (const Pass& pass : kPasses) {
    if (pass.optional && (options.level == 0 || (options.bisect_limit >= 0 && optional_passes++ >= options.bisect_limit))) continue;
    if (pass.math == Math::Default && (options.math == Math::Strict || options.math == Math::Reproducible)) continue;
    if ((pass.keeps_alive && options.memory != MemoryGoal::Speed) || !result.target.features.include(pass.needs)) continue;
    if (pass.bare && !result.target.bare) continue;
    if (pass.needs != Features{} && result.target.gpu != nullptr) continue;  // vectors of a processor
    const bool rounds = pass.run == static_cast<Graph (*)(Graph)>(quantise_weights);
    if (rounds && !options.weight_form) continue;
    const Stage stage(pass.name);
    const bool folds = pass.run == static_cast<Graph (*)(Graph)>(fold_constants);
    if (rounds) {
      graph = quantise_weights(std::move(graph), *options.weight_form, result.rounded_weights);
      reasons_of_weights = graph.float_reasons;
    } else graph = folds && fold_bytes_left ? fold_constants(std::move(graph), *fold_bytes_left) : pass.run(std::move(graph));
    if (after(pass.name)) return result;
  }
  if (options.stop_after == "all") return result;
  const Stage stage("the choice of kernels and the memory plan");
  const LowerOptions lower{.optimise = options.level > 0,
                           .small = options.small,
                           .math = options.math,
                           .narrow_weights = options.narrow_weights,
                           .flush_weights = options.subnormals == Subnormals::Flush && options.math != Math::Reproducible,
                           .heap = options.heap,
                           .max_trip = options.max_trip,
                           .channels_last = options.level > 0,
                           .devices = options.devices,
                           .gpu_memory = options.gpu_memory.value_or(INT64_MAX),
                           .threads = options.threads,
                           .tuning = options.tuning.get(),
                           .output_names = std::move(output_names),
                           .value_outputs = general != nullptr ? are_values(*general) : std::vector<bool>{}};
  result.equal = equal_extents(graph);
  result.float_reasons = std::move(reasons_of_weights);  // they say more than passes that find a quantised network
  result.float_reasons.merge(graph.float_reasons);
  const std::vector<Graph> forms = forms_for(options.level > 0 ? options.memory : MemoryGoal::Speed, std::move(graph));
  Planned planned = plan_for(options.memory, forms, result.target, lower, options.weights_growth);
  result.program = std::move(planned.program);
  result.choices = std::move(planned.choices);
  if (!options.regions.empty()) {
    refuse_unknown_sizes(result.program);
    plan_regions(result.program, options.regions);
    check_room_in_regions(result.program);
  }
  check_plan(result.program);
  ONNXC_CHECK(general == nullptr || are_values(result.program) == are_values(*general),
              "a variant has the interface of the program for all sizes");
  check_budgets(result.program, options);
  return result;
}

constexpr std::size_t kMostVariants = 64;

/// Adds the variant for sizes at which extents that meet in broadcasting are equal, if there are any such extents.
void add_equal_variant(std::vector<Variant>& variants, const std::filesystem::path& model, CompilerOptions options, const Program& general,
                       const EqualExtents& equal, const Sizes& dims) {
  if (equal.same.empty()) return;
  options.print_after.clear();
  options.watch = {};
  Compilation compiled = compile_general(model, options, &general, equal.same);
  variants.push_back({dims, equal.equal, std::move(compiled.program), std::move(compiled.choices)});
}

/// Compiles a variant for each combination of the extents that the user names.
std::vector<Variant> compile_variants(const std::filesystem::path& model, const CompilerOptions& options, const Program& general) {
  std::vector<Sizes> combinations;
  if (!options.specialize.empty()) combinations.emplace_back();
  for (const auto& dimension : options.specialize) {
    const std::string& name = dimension.first;
    const auto is_named = [&](Dim d) { return d.is_symbol() && d.name() == name; };
    const bool known = std::ranges::any_of(general.inputs, [&](BufferId id) { return std::ranges::any_of(general[id].extents, is_named); });
    if (!known)
      throw Error(ErrorCode::SpecializeOption, fmt::format("--specialize names '{}', which is no dynamic dimension of the model", name),
                  "see onnxc info for their names");
    std::vector<Sizes> longer;
    for (const auto& dims : combinations) {
      for (const int64_t extent : dimension.second) {
        longer.push_back(dims);
        longer.back()[name] = extent;
      }
    }
    combinations = std::move(longer);
    if (combinations.size() > kMostVariants)
      throw Error(ErrorCode::SpecializeOption,
                  fmt::format("--specialize asks for {} variants, more than {}", combinations.size(), kMostVariants));
  }
  std::vector<Variant> variants;
  for (auto& dims : combinations) {
    CompilerOptions fixed = options;
    fixed.specialize.clear();
    fixed.print_after.clear();
    fixed.watch = {};
    for (const auto& [name, extent] : dims) {
      const auto range = options.dims.find(name);
      if (range != options.dims.end() && (extent < range->second.min || extent > range->second.max))
        throw Error(ErrorCode::SpecializeOption, fmt::format("--specialize {}={} is out of the bounds of --dim", name, extent));
      fixed.dims[name] = {extent, extent};
    }
    Compilation compiled = compile_general(model, fixed, &general);
    add_equal_variant(variants, model, fixed, general, compiled.equal, dims);
    variants.push_back({std::move(dims), {}, std::move(compiled.program), std::move(compiled.choices)});
  }
  return variants;
}

}  // namespace

Compilation compile_model(const std::filesystem::path& model, const CompilerOptions& options) {
  Compilation result = compile_general(model, options);
  if (!options.stop_after.empty()) return result;
  const KeptBounds kept;  // variants state others of the same symbols, and the interface is that of the general program
  result.variants = compile_variants(model, options, result.program);
  add_equal_variant(result.variants, model, options, result.program, result.equal, {});
  return result;
}

}  // namespace onnxc
