// The operator that represents all custom ones. Its rules follow from their text, and its step calls the user's
// function.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/ops/custom/custom_operator.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

CustomOperator custom_operator(const Node& node) { return parse_custom_operator(node.string(kCustomText, "")); }

/// The value of `x1.0`, `x1.m1`, `x1.count` or `x1.e0`.
Dim meaning_of(Inference& n, const std::string& name) {
  const std::size_t dot = name.find('.');
  const int input = std::stoi(name.substr(1, dot - 1));
  const std::string what = name.substr(dot + 1);
  if (!n.has(input)) n.fail(fmt::format("the rule of --custom-op reads x{}, which this node leaves out", input));
  if (what == "count") return element_count(n.extents(input));
  const char kind = what[0];
  const int at = std::stoi(kind == 'm' || kind == 'e' ? what.substr(1) : what);
  if (kind == 'e') {
    const DimList elements = n.known_elements(input, "an extent");
    if (at >= static_cast<int>(elements.size()))
      n.fail(fmt::format("the rule of --custom-op reads x{}[{}]; the input has {} elements", input, at, elements.size()));
    return elements[static_cast<std::size_t>(at)];
  }
  const int rank = n.rank(input), axis = kind == 'm' ? rank - at : at;
  if (axis < 0 || axis >= rank)
    n.fail(fmt::format("the rule of --custom-op reads x{}.{}{}; the input has rank {}", input, kind == 'm' ? "-" : "", at, rank));
  return n.extents(input)[static_cast<std::size_t>(axis)];
}

void append_extents(Inference& n, const ExtentRule& rule, Extents& extents) {
  if (rule.is_slice) {
    if (!n.has(rule.input)) n.fail(fmt::format("the rule of --custom-op reads x{}, which this node leaves out", rule.input));
    const int rank = n.rank(rule.input);
    const auto axis = [&](int at) { return std::clamp(at < 0 ? at + rank : at, 0, rank); };
    for (int k = axis(rule.first); k < axis(rule.last); ++k) extents.push_back(n.extents(rule.input)[static_cast<std::size_t>(k)]);
    return;
  }
  std::map<std::string, Dim> meanings;
  rule.expression.collect_symbols(meanings);
  for (auto& [name, dim] : meanings) dim = meaning_of(n, name);
  const Dim extent = rule.expression.substitute(meanings);
  // An extent that may be negative ends the run if it depends on data; if it depends on the inputs' shapes, it
  // becomes 0.
  extents.push_back(extent.depends_on_run()                           ? n.let(extent, "custom")
                    : extent.is_constant() || extent.min_value() >= 0 ? extent
                                                                      : max(extent, 0));
}

/// Allows only nodes whose operands and attributes the function can take.
void check_node(const Inference& n) {
  if (!n.node().regions.empty())
    n.fail(ErrorCode::CustomOperatorNode, "it has a subgraph", "custom operators take tensors and plain attributes");
  for (int i = 0; i < n.node().own_inputs(); ++i) {
    if (n.has(i) && !n.type(i).is_tensor())
      n.fail(ErrorCode::CustomOperatorNode, fmt::format("input {} is {}", i, n.type(i).text()), "custom operators take tensors");
  }
  for (const auto& [name, value] : n.node().attributes) {
    if (std::holds_alternative<Constant>(value) || std::holds_alternative<Type>(value))
      n.fail(ErrorCode::CustomOperatorNode, fmt::format("attribute '{}' is neither a number nor a string nor a list of them", name),
             "pass a tensor as an input");
  }
}

void infer_custom(Inference& n) {
  check_node(n);
  const CustomOperator custom = custom_operator(n.node());
  for (int k = 0; k < static_cast<int>(n.node().outputs.size()); ++k) {
    if (!n.node().has_output(k)) continue;
    const auto found = custom.rules.find(k);
    const OutputRule rule = found != custom.rules.end() ? found->second : OutputRule{.like = 0};
    if (rule.like >= 0 && !n.has(rule.like))
      n.fail(fmt::format("output {} is like input {}, which this node leaves out", k, rule.like),
             fmt::format("state its type and shape in --custom-op: y{} = float[...]", k));
    Extents extents;
    if (!rule.has_extents) extents = n.extents(rule.like);
    for (const ExtentRule& each : rule.extents) append_extents(n, each, extents);
    n.output(k, rule.like >= 0 ? n.element(rule.like) : rule.element, std::move(extents));
  }
}

/// onnxc::Attribute{"name", value}, or {"name", list, count}
Arg attribute_arg(KernelQuery& l, const std::string& name, const Attribute& value) {
  auto arg = std::make_shared<ParamsArg>();
  arg->type = "Attribute";
  arg->members.emplace_back("", TextArg{name});
  const auto list = [&](auto count, ElementType element, auto make) {
    if (count == 0) arg->members.emplace_back("", NullArg{element});
    else arg->members.emplace_back("", make());
    arg->members.emplace_back("", DimArg{static_cast<int64_t>(count)});
  };
  const auto strings = [&](const std::vector<std::string>& all) {
    list(all.size(), ElementType::String, [&] {
      TensorData tensor;
      tensor.type = ElementType::String;
      tensor.shape = {static_cast<int64_t>(all.size())};
      tensor.strings = all;
      return l.weights(name, tensor);
    });
  };
  if (const auto* i = std::get_if<int64_t>(&value)) arg->members.emplace_back("", IntegerArg{*i});
  if (const auto* f = std::get_if<float>(&value)) arg->members.emplace_back("", NumberArg{*f, ElementType::F32});
  if (const auto* s = std::get_if<std::string>(&value)) strings({*s});
  if (const auto* v = std::get_if<std::vector<int64_t>>(&value))
    list(v->size(), ElementType::I64, [&] { return l.weights(name, ElementType::I64, *v); });
  if (const auto* v = std::get_if<std::vector<float>>(&value))
    list(v->size(), ElementType::F32, [&] { return l.weights(name, ElementType::F32, *v); });
  if (const auto* v = std::get_if<std::vector<std::string>>(&value)) strings(*v);
  return arg;
}

Arg attributes_arg(KernelQuery& l) {
  auto list = std::make_shared<ParamsArg>();
  for (const auto& [name, value] : l.node().attributes) {
    if (name != kCustomText) list->members.emplace_back("", attribute_arg(l, name, value));
  }
  list->type = list->members.empty() ? "Attributes" : fmt::format("AttributeList<{}>", list->members.size());
  if (list->members.empty()) return list;
  auto all = std::make_shared<ParamsArg>();
  std::swap(all->type, list->type);
  all->members.emplace_back("", list);
  return all;
}

void lower_custom(KernelQuery& l) {
  const CustomOperator custom = custom_operator(l.node());
  l.include(custom.include);
  for (const std::string& library : custom.libraries) l.link(library);
  std::vector<std::optional<View>> operands;
  for (int i = 0; i < std::max(l.node().own_inputs(), custom.inputs); ++i)
    operands.push_back(l.has(i) ? std::optional(l.in(i)) : std::nullopt);
  for (int i = 0; i < std::max(static_cast<int>(l.node().outputs.size()), custom.outputs); ++i)
    operands.push_back(l.has_output(i) ? std::optional(l.out(i)) : std::nullopt);
  const Arg attributes = attributes_arg(l);
  StepBuilder call = l.call("custom");
  call.call().function = custom.function;
  for (const auto& operand : operands) {
    if (operand) call.tensor(*operand);
    else call.arg(AbsentArg{"Absent"});
  }
  call.arg(attributes).emit();
}

}  // namespace

/// Found by find_operator for every domain that begins with kCustomDomain.
extern const Operator op_Custom;
const Operator op_Custom{.name = "Custom",
                         .domain = "custom:",
                         .min_inputs = 0,
                         .max_inputs = 1000,
                         .min_outputs = 1,
                         .infer = infer_custom,
                         .lower = lower_custom};

}  // namespace onnxc
