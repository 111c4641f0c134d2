// RNN, GRU and LSTM. The projection of all time steps, X W^T + bias, is one MatMul before a node of our own,
// onnxc.Recurrence, whose kernel walks the steps (runtime_stub/onnxc/scalar/recurrent.hpp). So the product uses
// MatMul's kernels, and layout=1 becomes Transposes.
//
//   onnxc.Recurrence(x, r, bias, lengths, initial_h, initial_c, peepholes, r_scale, r_zero) -> y, h, c
//
// The last two are there where r is of i8: an LSTM on bytes (runtime_stub/onnxc/scalar/recurrent_bytes.hpp), which quant/dynamic_lstm.cpp makes.
#include "compiler/ops/recurrent/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/selected.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/recurrent_bytes.hpp"

namespace onnxc {

const RecurrentKind& recurrent_kind(std::string_view op) {
  static const std::array<RecurrentKind, 3> kinds{
      {{"RNN", 1, {"Tanh"}}, {"GRU", 3, {"Sigmoid", "Tanh"}}, {"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}}}};
  return *std::ranges::find(kinds, op, &RecurrentKind::op);
}

int64_t recurrent_directions(const Node& node) {
  const std::string direction = node.string("direction", "forward");
  if (direction == "bidirectional") return 2;
  if (direction != "forward" && direction != "reverse" && direction != "foward")  // the default as spelled in GRU-1
    node.fail(ErrorKind::Invalid, fmt::format("direction is '{}'", direction), "forward, reverse or bidirectional");
  return 1;
}

namespace {

using scalar::Activation;
using scalar::ActivationParams;

struct ActivationRow {
  std::string_view name;  ///< in lower case
  Activation kind;
  const char* cpp_name;
  int numbers;  ///< 1: alpha, 2: alpha and beta
  double alpha, beta;
};
constexpr ActivationRow kActivations[] = {
    {"affine", Activation::affine, "affine", 2, 1, 0},
    {"elu", Activation::elu, "elu", 1, 1, 0},
    {"hardsigmoid", Activation::hard_sigmoid, "hard_sigmoid", 2, 0.2f, 0.5},
    {"leakyrelu", Activation::leaky_relu, "leaky_relu", 1, 0.01f, 0},
    {"relu", Activation::relu, "relu", 0, 0, 0},
    {"scaledtanh", Activation::scaled_tanh, "scaled_tanh", 2, 1, 1},
    {"sigmoid", Activation::sigmoid, "sigmoid", 0, 0, 0},
    {"softplus", Activation::softplus, "softplus", 0, 0, 0},
    {"softsign", Activation::softsign, "softsign", 0, 0, 0},
    {"tanh", Activation::tanh, "tanh", 0, 0, 0},
    {"thresholdedrelu", Activation::thresholded_relu, "thresholded_relu", 1, 1, 0},
};

template <class T>
std::vector<T> list_of(const Node& node, const char* attribute) {
  const auto it = node.attributes.find(attribute);
  if (it == node.attributes.end()) return {};
  if (const auto* list = std::get_if<std::vector<T>>(&it->second)) return *list;
  if (const auto* empty = std::get_if<std::vector<int64_t>>(&it->second); empty != nullptr && empty->empty()) return {};
  node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a list of the right type", attribute));
}

/// The activation functions of all directions in order. Alphas and betas belong to those functions that have them.
std::vector<std::pair<const ActivationRow*, ActivationParams>> activations_of(const Node& node, const RecurrentKind& kind) {
  std::vector<std::string> names = list_of<std::string>(node, "activations");
  const auto directions = static_cast<std::size_t>(recurrent_directions(node));
  if (names.empty()) {
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), kind.activations.begin(), kind.activations.end());
  }
  if (names.size() != directions * kind.activations.size())
    node.fail(ErrorKind::Invalid, fmt::format("has {} activations; {} are needed", names.size(), directions * kind.activations.size()));
  const std::vector<float> alphas = list_of<float>(node, "activation_alpha"), betas = list_of<float>(node, "activation_beta");
  std::size_t alpha = 0, beta = 0;
  std::vector<std::pair<const ActivationRow*, ActivationParams>> list;
  for (std::string name : names) {
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto* row = std::ranges::find(kActivations, std::string_view(name), &ActivationRow::name);
    if (row == std::end(kActivations)) node.fail(ErrorKind::Invalid, fmt::format("activation '{}' is not one of ONNX's", name));
    ActivationParams params{row->kind, row->alpha, row->beta};
    if (row->numbers >= 1 && alpha < alphas.size()) params.alpha = static_cast<double>(alphas[alpha++]);
    if (row->numbers >= 2 && beta < betas.size()) params.beta = static_cast<double>(betas[beta++]);
    if (!std::isfinite(params.alpha) || !std::isfinite(params.beta))
      node.fail(ErrorKind::Invalid, fmt::format("activation '{}' has alpha {} and beta {}", name, params.alpha, params.beta));
    list.emplace_back(row, params);
  }
  return list;
}

}  // namespace

void check_recurrent_attributes(const Node& node, const RecurrentKind& kind) {
  static_cast<void>(activations_of(node, kind));
  if (node.has("clip") && !(node.number("clip", 0) >= 0)) node.fail(ErrorKind::Invalid, fmt::format("clip is {}", node.number("clip", 0)));
}

namespace {

// ---- RNN, GRU, LSTM

void infer_recurrent(Inference& n) {
  const Node& node = n.node();
  const RecurrentKind& kind = recurrent_kind(node.op);
  const Dim directions = recurrent_directions(node);
  const bool batch_first = node.integer("layout", 0) != 0;
  if (const int64_t layout = node.integer("layout", 0); layout != 0 && layout != 1) n.fail(fmt::format("layout is {}", layout));
  check_recurrent_attributes(node, kind);
  const ElementType type = n.element(0);
  if (!is_float(type) || info(type).bits < 16) n.fail(fmt::format("X is {}", name(type)));
  const auto check = [&](int i, const char* what, Extents wanted) {
    if (!n.has(i)) return;
    if (n.element(i) != (i == 4 ? ElementType::I32 : type)) n.fail(fmt::format("{} is {}, X {}", what, name(n.element(i)), name(type)));
    const Extents& extents = n.extents(i);
    if (extents.size() != wanted.size()) n.fail(fmt::format("{} has shape {}; {} is needed", what, text(extents), text(wanted)));
    for (std::size_t k = 0; k < wanted.size(); ++k) n.unify(extents[k], wanted[k], what);
  };
  if (n.rank(0) != 3) n.fail(fmt::format("X has rank {}; 3 is needed", n.rank(0)));
  if (n.rank(2) != 3) n.fail(fmt::format("R has rank {}; 3 is needed", n.rank(2)));
  const Extents x = n.extents(0);
  const Dim steps = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1], hidden = n.extents(2)[2];
  if (!hidden.is_constant()) n.fail(ErrorCode::OpenDimension, "a hidden size that only a run tells", "fix the dimension with --dim");
  if (node.has("hidden_size") && hidden != Dim(node.integer("hidden_size", 0)))
    n.fail(fmt::format("hidden_size is {}, R has {}", node.integer("hidden_size", 0), hidden.text()));
  const Extents state = batch_first ? Extents{batch, directions, hidden} : Extents{directions, batch, hidden};
  check(1, "W", {directions, hidden * kind.gates, x[2]});
  check(2, "R", {directions, hidden * kind.gates, hidden});
  check(3, "B", {directions, hidden * (2 * kind.gates)});
  check(4, "sequence_lens", {batch});
  check(5, "initial_h", state);
  check(6, "initial_c", state);
  check(7, "P", {directions, hidden * 3});
  n.output(0, type, batch_first ? Extents{batch, steps, directions, hidden} : Extents{steps, directions, batch, hidden});
  n.output(1, type, state);
  n.output(2, type, state);
}

ValueId slice(GraphBuilder& b, ValueId v, int64_t first, int64_t last) {
  return b.op("Slice", {v, b.integers({first}), b.integers({last}), b.integers({1})});
}
ValueId transpose(GraphBuilder& b, ValueId v, std::vector<int64_t> perm) { return b.op("Transpose", {v}, {{"perm", std::move(perm)}}); }

std::optional<std::vector<ValueId>> decompose_recurrent(GraphBuilder& b, const Node& node) {
  if (auto in_float = compute_in_float(b, node)) return in_float;
  const RecurrentKind& kind = recurrent_kind(node.op);
  const bool batch_first = node.integer("layout", 0) != 0, reset = node.op == "GRU" && node.integer("linear_before_reset", 0) != 0;
  const int64_t hidden = b.extents(node.input(2))[2].value(), directions = recurrent_directions(node), gates = kind.gates * hidden;
  const auto to_steps_first = [&](ValueId v) { return v != kAbsent && batch_first ? transpose(b, v, {1, 0, 2}) : v; };

  const ValueId w = b.op("Reshape", {node.input(1), b.integers({directions * gates, -1})});
  ValueId x = b.op("MatMul", {to_steps_first(node.input(0)), transpose(b, w, {1, 0})});
  ValueId bias = kAbsent;
  if (node.has_input(3)) {
    const ValueId of_x = slice(b, node.input(3), 0, gates), of_h = slice(b, node.input(3), gates, 2 * gates);
    ValueId sum;
    if (reset) {  // the bias of n in h R is reset with it
      const ValueId update = b.op("Add", {slice(b, of_x, 0, 2 * hidden), slice(b, of_h, 0, 2 * hidden)});
      sum = b.op("Concat", {update, slice(b, of_x, 2 * hidden, 3 * hidden)}, {{"axis", int64_t{1}}});
      bias = slice(b, of_h, 2 * hidden, 3 * hidden);
    } else {
      sum = b.op("Add", {of_x, of_h});
    }
    x = b.op("Add", {x, b.op("Reshape", {sum, b.integers({directions * gates})})});
  }
  // R transposed, a row for each direction. GRU's n has a matrix of its own, since its product comes later.
  const auto matrix = [&](ValueId v) { return b.op("Reshape", {transpose(b, v, {0, 2, 1}), b.integers({directions, -1})}); };
  ValueId r;
  if (node.op == "GRU") {
    const ValueId first = matrix(slice(b, node.input(2), 0, 2 * hidden)), last = matrix(slice(b, node.input(2), 2 * hidden, 3 * hidden));
    r = b.op("Concat", {first, last}, {{"axis", int64_t{1}}});
  } else {
    r = matrix(node.input(2));
  }
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes.erase("layout");
  attributes["kind"] = node.op;
  attributes["hidden_size"] = hidden;
  const ValueId peepholes = node.input(7);
  std::vector<ValueId> results =
      b.ops("onnxc.Recurrence", {x, r, bias, node.input(4), to_steps_first(node.input(5)), to_steps_first(node.input(6)), peepholes},
            node.op == "LSTM" ? 3 : 2, std::move(attributes));
  results.resize(std::min(results.size(), node.outputs.size()));
  if (batch_first) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i] != kAbsent)
        results[i] = transpose(b, results[i], i == 0 ? std::vector<int64_t>{2, 0, 1, 3} : std::vector<int64_t>{1, 0, 2});
    }
  }
  return results;
}

// ---- onnxc.Recurrence

void infer_recurrence(Inference& n) {
  const Extents x = n.extents(0), r = n.extents(1);
  const Dim hidden = n.node().integer("hidden_size", 0);
  const Extents state{r[0], x[1], hidden};
  n.output(0, n.element(0), {x[0], r[0], x[1], hidden});
  n.output(1, n.element(0), state);
  n.output(2, n.element(0), state);
}

bool is_backward(const Node& node) { return node.string("direction", "forward") == "reverse"; }

void evaluate_recurrence(Evaluation& e) {
  const Node& node = e.node();
  const std::string kind = node.string("kind", "");
  const auto &x = e.input(0).shape, &r = e.input(1).shape;
  scalar::RecurrentParams p{.steps = x[0], .batch = x[1], .directions = r[0], .hidden = node.integer("hidden_size", 0)};
  p.backward = is_backward(node);
  p.clip = static_cast<double>(node.number("clip", 0));
  p.input_forget = node.integer("input_forget", 0) != 0;
  p.linear_before_reset = node.integer("linear_before_reset", 0) != 0;
  const auto functions = activations_of(node, recurrent_kind(kind));
  const std::size_t each = functions.size() / static_cast<std::size_t>(p.directions);
  for (std::size_t i = 0; i < functions.size(); ++i) p.activations[i / each * 3 + i % each] = functions[i].second;
  const auto run = [&]<class T>() {
    const auto input = [&](int i) { return e.has(i) ? e.in<T>(i).data : nullptr; };
    const int32_t* lengths = e.has(3) ? e.in<int32_t>(3).data : nullptr;
    std::vector<T> gates(static_cast<std::size_t>(4 * p.batch * p.hidden));
    T *y = e.out<T>(0).data, *h = e.out<T>(1).data;
    if (kind == "RNN") scalar::rnn<T>(y, h, input(0), input(1), input(4), lengths, gates.data(), p);
    else if (kind == "GRU") scalar::gru<T>(y, h, input(0), input(1), input(2), input(4), lengths, gates.data(), p);
    else scalar::lstm<T>(y, h, e.out<T>(2).data, input(0), input(1), input(6), input(4), input(5), lengths, gates.data(), p);
  };
  if (e.has(7)) {
    const auto input = [&](int i) { return e.has(i) ? e.in<float>(i).data : nullptr; };
    std::vector<float> gates(static_cast<std::size_t>(4 * p.batch * p.hidden));
    p.scales = input(7);
    p.zeros = e.in<int32_t>(8).data;
    scalar::lstm_bytes(e.out<float>(0).data, e.out<float>(1).data, e.out<float>(2).data, input(0), e.in<int8_t>(1).data, input(6), input(4),
                       input(5), e.has(3) ? e.in<int32_t>(3).data : nullptr, gates.data(), p);
  } else if (e.type(0) == ElementType::F32) {
    run.operator()<float>();
  } else {
    run.operator()<double>();
  }
}

/// Parameters of the kernels, such as activations.
NamedArgs params_of(KernelQuery& l, const RecurrentKind& kind) {
  const Node& node = l.node();
  const Extents &x = l.extents(0), &r = l.extents(1);
  const auto functions = activations_of(node, kind);
  const std::size_t each = kind.activations.size();
  NamedArgs list;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t number = i / 3 * each + i % 3;
    NamedArgs& one = std::get<std::shared_ptr<ParamsArg>>(list.emplace_back("", params_arg({})).second)->members;
    if (i % 3 >= each || number >= functions.size()) continue;
    const auto& [function, constants] = functions[number];
    one.emplace_back("", EnumArg{"scalar::Activation", std::string(function->cpp_name)});
    for (const double constant : {constants.alpha, constants.beta}) one.emplace_back("", NumberArg{constant, ElementType::F64});
  }
  return {{"steps", dim_arg(x[0])},
          {"batch", dim_arg(x[1])},
          {"directions", dim_arg(r[0])},
          {"hidden", dim_arg(node.integer("hidden_size", 0))},
          {"backward", flag_arg(is_backward(node))},
          {"clip", NumberArg{static_cast<double>(node.number("clip", 0)), ElementType::F64}},
          {"input_forget", flag_arg(node.integer("input_forget", 0) != 0)},
          {"linear_before_reset", flag_arg(node.integer("linear_before_reset", 0) != 0)},
          {"activations", params_arg(std::move(list))}};
}

}  // namespace

void call_recurrence(KernelQuery& l, const RecurrentKind& kind, StepBuilder& step, PointerArg r, const NamedArgs& scales,
                     const std::vector<PointerArg>& scratch) {
  const ElementType type = l.type(0).element;
  const Extents x = l.extents(0);
  const int64_t hidden = l.node().integer("hidden_size", 0);
  const bool is_lstm = kind.op == "LSTM";
  step.pointer(l.out(0)).pointer(l.out(1));
  if (is_lstm) step.pointer(l.out(2));
  step.pointer(l.in(0)).pointer(r);
  if (kind.op == "GRU") step.optional_pointer(2, type);
  if (is_lstm) step.optional_pointer(6, type);
  step.optional_pointer(4, type);
  if (is_lstm) step.optional_pointer(5, type);
  step.optional_pointer(3);
  auto params = params_of(l, kind);
  params.insert(params.end(), scales.begin(), scales.end());
  step.pointer(l.workspace("gates", type, x[1] * (4 * hidden)));
  for (const PointerArg& more : scratch) step.pointer(more);
  step.params(std::move(params)).macs(x[0] * x[1] * element_count(l.extents(1))).emit();
}

namespace {

void lower_recurrence(KernelQuery& l) {
  const RecurrentKind& kind = recurrent_kind(l.node().string("kind", ""));
  const ElementType type = l.type(0).element;
  const Dim work = l.extents(0)[0] * l.extents(0)[1] * element_count(l.extents(1));
  const double macs = work.is_constant() ? static_cast<double>(work.value()) : 1e6;
  if (l.has(7)) {
    l.consider("scalar_lstm_bytes", macs, 0, [&l, &kind] {
      StepBuilder step = l.call("scalar_lstm_bytes");
      call_recurrence(l, kind, step, l.in(1).pointer, {{"scales", l.in(7).pointer}, {"zeros", l.in(8).pointer}});
    });
    if (l.optimise()) consider_byte_recurrence(l, macs);
    return;
  }
  const std::string row = "scalar_" + kind.kernel();
  l.consider(row, macs, 0, [&l, &kind, row, type] {
    const PointerArg r = l.in(1).pointer;
    StepBuilder step = l.call(row);
    step.template_arg(type);
    call_recurrence(l, kind, step, r);
  });
  if (l.optimise() && type == ElementType::F32 && l.constant(1) != nullptr && l.node().integer("hidden_size", 0) != 0)
    consider_fast_recurrence(l, macs);
}

}  // namespace

std::span<const Operator> table_recurrent() {
  static const Operator list[] = {
      {.name = "RNN", .min_inputs = 3, .max_inputs = 6, .max_outputs = 2, .infer = infer_recurrent, .decompose = decompose_recurrent},
      {.name = "GRU", .min_inputs = 3, .max_inputs = 6, .max_outputs = 2, .infer = infer_recurrent, .decompose = decompose_recurrent},
      {.name = "LSTM", .min_inputs = 3, .max_inputs = 8, .max_outputs = 3, .infer = infer_recurrent, .decompose = decompose_recurrent},
      {.name = "Recurrence",
       .domain = "onnxc",
       .min_inputs = 2,
       .max_inputs = 9,
       .max_outputs = 3,
       .infer = infer_recurrence,
       .evaluate = evaluate_recurrence,
       .lower = lower_recurrence},
  };
  return list;
}

}  // namespace onnxc
