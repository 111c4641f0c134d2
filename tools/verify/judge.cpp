#include "tools/verify/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace onnxc {
namespace {

/// Beyond it squares and products overflow.
double safe_number(ElementType type) { return type == ElementType::F16 ? 0x1p7 : type == ElementType::F64 ? 0x1p511 : 0x1p63; }

/// Makes zeros of the elements that such inputs leave open: see judge. Returns their number.
int64_t remove_open(TensorData& actual, TensorData& expected, Content content) {
  if (actual.type != expected.type || actual.shape != expected.shape || info(expected.type).bits < 16) return 0;
  const std::vector<double> a = to_doubles(actual), e = to_doubles(expected);
  const auto width = static_cast<std::size_t>(info(expected.type).bits) / 8;
  const double safe = safe_number(expected.type);
  int64_t removed = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])), nan = std::isnan(a[i]) || std::isnan(e[i]);
    const bool is_open = content == Content::Extremes ? !(std::abs(a[i]) < safe && std::abs(e[i]) < safe)
                                                      : nan && !std::isfinite(a[i]) && !std::isfinite(e[i]);
    if (same || !is_open) continue;
    for (TensorData* tensor : {&actual, &expected}) std::memset(tensor->bytes.data() + i * width, 0, width);
    ++removed;
  }
  return removed;
}

/// By what the absolute tolerance of a made-up output is measured.
double scale_of(const TensorData& tensor, Content content) {
  double largest = 0, squares = 0;
  int64_t count = 0;
  for (const double x : to_doubles(tensor)) {
    if (!std::isfinite(x)) continue;
    largest = std::max(largest, std::abs(x));
    squares += x * x;
    ++count;
  }
  return content == Content::Extremes || count == 0 ? largest : std::sqrt(squares / static_cast<double>(count));
}

Comparison compare_output(const HostValue& actual, const HostValue& expected, const Terms& terms, int64_t& left_out) {
  Tolerance tolerance = terms.tolerance;
  const Content content = terms.content;
  const bool floats = actual.kind == ValueKind::Tensor && expected.kind == ValueKind::Tensor && is_float(expected.tensor.type);
  if (floats && !terms.is_fitted) {
    if (expected.tensor.type == ElementType::BF16) tolerance.rtol = std::max(tolerance.rtol, 0x1p-6);
    if (expected.tensor.type == ElementType::F16) tolerance.rtol = std::max(tolerance.rtol, 0x1p-9);
  }
  if (content == Content::Given || !floats) return compare(actual, expected, tolerance);
  HostValue a = actual, e = expected;
  if (content == Content::Extremes || content == Content::Infinities) left_out += remove_open(a.tensor, e.tensor, content);
  tolerance.atol = std::max(tolerance.atol, tolerance.rtol * scale_of(e.tensor, content));
  return compare(a, e, tolerance);
}

Verdict wrong(std::string text) { return {Verdict::Kind::Wrong, std::move(text), 0, {}, 0, INFINITY}; }

}  // namespace

namespace {

/// What ONNX leaves open in what a node makes of such inputs; empty if nothing.
std::string what_node_leaves_open(const Node& node, Content content) {
  static const std::set<std::string_view> kRandom = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                                     "RandomUniformLike", "Multinomial",   "Bernoulli"};
  const bool trains = node.op == "Dropout" && node.inputs.size() > 2;
  if (trains || kRandom.contains(node.op)) return fmt::format("ONNX does not say which random numbers {} takes", node.op);
  if (content == Content::Extremes && (node.op == "RMSNormalization" || node.op == "SimplifiedLayerNormalization"))
    return fmt::format("ONNX does not say in which precision {} adds up squares", node.op);
  const auto to = element_type_numbered(static_cast<int32_t>(node.integer("to", 0)));
  const bool makes_integers = node.op == "QuantizeLinear" || node.op == "DynamicQuantizeLinear" || node.op == "CastLike" ||
                              (node.op == "Cast" && to && is_integer(*to));
  if (content == Content::NotNumbers && makes_integers) return fmt::format("ONNX does not say which integer {} makes of NaN", node.op);
  return {};
}

}  // namespace

std::string what_is_open(const Graph& graph, Content content) {
  std::string found;
  for_each_graph(const_cast<Graph&>(graph), [&](const Graph& g) {  // which changes nothing
    for (const Node& node : g.nodes) {
      if (found.empty()) found = what_node_leaves_open(node, content);
    }
  });
  return found;
}

namespace {

bool are_empty(const std::vector<Answer::Output>& outputs) {
  return std::ranges::all_of(
      outputs, [](const Answer::Output& output) { return output.value.kind == ValueKind::Tensor && output.value.tensor.count() == 0; });
}

Verdict judge_values(const Answer& actual, const Answer& expected, const Terms& terms) {
  using Kind = Answer::Kind;
  if (actual.kind == Kind::Fault) return wrong(actual.why);
  if (expected.kind == Kind::Unknown || actual.kind == Kind::Unknown)
    return {Verdict::Kind::Unjudged, expected.kind == Kind::Unknown ? expected.why : actual.why};
  if (expected.kind == Kind::Refused) {
    if (actual.kind == Kind::Refused) return {Verdict::Kind::Right, actual.why};
    if (terms.content == Content::Empty || (terms.content != Content::Given && are_empty(actual.outputs)))
      return {Verdict::Kind::Unjudged, expected.why};
    return wrong(fmt::format("values, where an error is expected: {}", expected.why));
  }
  const bool all_known = std::ranges::all_of(expected.outputs, [](const Answer::Output& output) { return output.unknown.empty(); });
  if (actual.kind == Kind::Refused) {
    if (all_known) return wrong(fmt::format("an error, where values are expected: {}", actual.why));
    return {Verdict::Kind::Unjudged, actual.why};
  }
  Verdict verdict;
  if (actual.outputs.size() != expected.outputs.size())
    return wrong(fmt::format("{} outputs, expected {}", actual.outputs.size(), expected.outputs.size()));
  for (std::size_t k = 0; k < expected.outputs.size(); ++k) {
    const Answer::Output &a = actual.outputs[k], &e = expected.outputs[k];
    if (!e.unknown.empty() || !a.unknown.empty()) {
      verdict.left_out.push_back(fmt::format("'{}': {}", one_line(e.name), e.unknown.empty() ? a.unknown : e.unknown));
      continue;
    }
    const Comparison comparison = compare_output(a.value, e.value, terms, verdict.elements_left_out);
    ++verdict.compared;
    verdict.largest_error = std::max(verdict.largest_error, comparison.largest_error);
    if (comparison.within || verdict.kind == Verdict::Kind::Wrong) continue;
    verdict.kind = Verdict::Kind::Wrong;
    verdict.text = fmt::format("'{}': {}", one_line(e.name), comparison.reason);
  }
  if (verdict.compared == 0 && verdict.kind == Verdict::Kind::Right)
    verdict = {Verdict::Kind::Unjudged, verdict.left_out.empty() ? "there are no outputs" : verdict.left_out[0]};
  return verdict;
}

}  // namespace

Verdict judge(const Answer& actual, const Answer& expected, const Terms& terms) {
  const Verdict verdict = judge_values(actual, expected, terms);
  const bool is_open = verdict.kind == Verdict::Kind::Wrong && actual.kind != Answer::Kind::Fault && !terms.open.empty();
  return is_open ? Verdict{Verdict::Kind::Unjudged, terms.open} : verdict;
}

}  // namespace onnxc
