// com.microsoft's DynamicQuantizeLSTM: LSTM whose products are those of bytes. X is quantised as a whole, for one product of all steps; h in each
// step, by onnxc.Recurrence with weights of i8.
//
//   X, W, R, B, sequence_lens, initial_h, initial_c, P, W_scale, W_zero, R_scale, R_zero -> Y, Y_h, Y_c
//
// W [directions, width, 4 hidden] and R [directions, hidden, 4 hidden] are LSTM's transposed. Scales and zero points are those of each direction, or of each
// column, too. The ranges are those of ONNX Runtime on one thread: of X, up to the last step that any sequence has; of h, over all sequences
// that were not over before the last step. With several threads ONNX Runtime takes a range for each thread's sequences, and where Y is absent
// it counts the last h of sequences that are over.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/contrib/composition.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/quant/integer_product.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/quant/need.h"
#include "compiler/ops/recurrent/recurrent.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/contract/recurrent_bytes.hpp"

namespace onnxc {
namespace {

void infer_dynamic_lstm(Inference& n) {
  const Node& node = n.node();
  need_type(n, 0, ElementType::F32);
  if (n.rank(0) != 3) n.fail(fmt::format("X has rank {}; 3 is needed", n.rank(0)));
  for (int i : {1, 2}) {
    need_byte(n, i);
    if (n.rank(i) != 3) n.fail(fmt::format("input {} has rank {}; 3 is needed", i, n.rank(i)));
  }
  check_recurrent_attributes(node, recurrent_kind("LSTM"));
  const Extents x = n.extents(0);
  const Dim directions = recurrent_directions(node), steps = x[0], batch = x[1], hidden = n.extents(2)[1];
  if (!hidden.is_constant()) n.fail(ErrorCode::OpenDimension, "a hidden size that only a run tells", "fix the dimension with --dim");
  if (hidden == Dim(0)) n.fail("R has no hidden values");
  if (node.has("hidden_size") && hidden != Dim(node.integer("hidden_size", 0)))
    n.fail(fmt::format("hidden_size is {}, R has {}", node.integer("hidden_size", 0), hidden.text()));
  const Extents state{directions, batch, hidden};
  const auto check = [&](int i, ElementType type, const Extents& wanted) {
    if (!n.has(i)) return;
    need_type(n, i, type);
    const Extents& extents = n.extents(i);
    if (extents.size() != wanted.size()) n.fail(fmt::format("input {} has shape {}; {} is needed", i, text(extents), text(wanted)));
    for (std::size_t k = 0; k < wanted.size(); ++k) n.unify(extents[k], wanted[k], "the extents of the recurrence");
  };
  check(1, n.element(1), {directions, x[2], hidden * 4});
  check(2, n.element(2), {directions, hidden, hidden * 4});
  check(3, ElementType::F32, {directions, hidden * 8});
  check(4, ElementType::I32, {batch});
  check(5, ElementType::F32, state);
  check(6, ElementType::F32, state);
  check(7, ElementType::F32, {directions, hidden * 3});
  for (int i : {8, 9, 10, 11}) {
    if (!n.has(i) || (n.rank(i) != 1 && n.rank(i) != 2))
      n.fail(fmt::format("input {} is no list of one value for each direction, or for each column too", i));
    const ElementType type = i % 2 == 0 ? ElementType::F32 : n.element(i == 9 ? 1 : 2);
    check(i, type, n.rank(i) == 1 ? Extents{directions} : Extents{directions, hidden * 4});
  }
  n.output(0, ElementType::F32, {steps, directions, batch, hidden});
  n.output(1, ElementType::F32, state);
  n.output(2, ElementType::F32, state);
}

ValueId add_constant(GraphBuilder& b, ValueId from, TensorData tensor) {
  const std::string name = b.graph()[from].name;
  return b.graph().add_constant(name, std::make_shared<const TensorData>(std::move(tensor)));
}

// What follows computes on constants at once, since products of bytes look at them.

/// Matrices of bytes [directions, k, n] as one, [k, directions * n].
ValueId beside(GraphBuilder& b, ValueId w) {
  const Extents shape = b.extents(w);
  const TensorData* const all = b.graph().constant(w);
  if (all == nullptr) {
    const ValueId moved = b.op("Transpose", {w}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    return b.op("Reshape", {moved, b.shape({shape[1], shape[0] * shape[2]})});
  }
  const int64_t directions = all->shape[0], k = all->shape[1], n = all->shape[2];
  TensorData out{.type = all->type, .shape = {k, directions * n}, .bytes = {}, .strings = {}};
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t d = 0; d < directions; ++d) {
      const auto* const row = all->bytes.data() + (d * k + i) * n;
      out.bytes.append(row, row + n);
    }
  }
  return add_constant(b, w, std::move(out));
}

/// Values for each direction, or for each column, too: for each column [directions * columns].
ValueId for_columns(GraphBuilder& b, ValueId v, int64_t directions, int64_t columns) {
  const bool are_columns = b.rank(v) == 2;
  const TensorData* const all = b.graph().constant(v);
  // A file may state an R of any size that only a run has; its list of columns must not be made here.
  if (all == nullptr || columns > 4 * contract::kMostBytesDepth) {
    if (!are_columns) v = b.op("Expand", {b.op("Unsqueeze", {v, b.integers({1})}), b.integers({directions, columns})});
    return b.op("Reshape", {v, b.integers({directions * columns})});
  }
  TensorData out{.type = all->type, .shape = {directions * columns}, .bytes = {}, .strings = {}};
  const auto size = static_cast<std::ptrdiff_t>(info(all->type).bits / 8);
  for (int64_t i = 0; i < directions * columns; ++i) {
    const auto* const value = all->bytes.data() + (are_columns ? i : i / columns) * size;
    out.bytes.append(value, value + size);
  }
  return add_constant(b, v, std::move(out));
}

/// u8 as i8, 128 less.
ValueId as_signed(GraphBuilder& b, ValueId v) {
  if (b.type(v).element == ElementType::I8) return v;
  const TensorData* const all = b.graph().constant(v);
  if (all == nullptr) return cast_to(b, b.op("Sub", {cast_to(b, v, ElementType::F32), b.number(ElementType::F32, 128)}), ElementType::I8);
  TensorData out = *all;
  out.type = ElementType::I8;
  for (std::byte& byte : out.bytes) byte ^= std::byte{0x80};
  return add_constant(b, v, std::move(out));
}

/// x with zeros from the last step on that any sequence has: 0 is in every range.
ValueId without_unused_steps(GraphBuilder& b, const Node& node, ValueId x, ValueId lengths) {
  Composition c(b, node);
  const ValueId most = b.op("ReduceMax", {cast_to(b, lengths, ElementType::I64)}, {{"keepdims", int64_t{0}}});
  const ValueId is_used = b.op("Less", {c.unsqueeze(c.count(b.extents(x)[0]), {1, 2}), most});
  return b.op("Where", {is_used, x, b.number(ElementType::F32, 0)});
}

ValueId bias_of(GraphBuilder& b, ValueId both, int64_t columns) {
  const auto half = [&](int64_t first) {
    return b.op("Slice", {both, b.integers({first}), b.integers({first + columns}), b.integers({1})});
  };
  return b.op("Reshape", {b.op("Add", {half(0), half(columns)}), b.integers({-1})});
}

std::optional<std::vector<ValueId>> decompose_dynamic_lstm(GraphBuilder& b, const Node& node) {
  const int64_t hidden = b.extents(node.input(2))[1].value(), directions = recurrent_directions(node), columns = 4 * hidden;
  const auto of_w = [&](int i) {
    const ValueId v = node.input(i);
    return element_count(b.extents(v)) == Dim(1) ? as_scalar(b, v) : for_columns(b, v, directions, columns);
  };
  const ValueId used = node.has_input(4) ? without_unused_steps(b, node, node.input(0), node.input(4)) : node.input(0);
  const std::vector<ValueId> q = b.ops("DynamicQuantizeLinear", {used}, 3);
  const ValueId sums = integer_matmul(b, {q[0], q[2]}, {beside(b, node.input(1)), of_w(9)});
  ValueId x = b.op("Mul", {cast_to(b, sums, ElementType::F32), b.op("Mul", {q[1], of_w(8)})});
  if (node.has_input(3)) x = b.op("Add", {x, bias_of(b, node.input(3), columns)});

  const ValueId r = b.op("Reshape", {as_signed(b, node.input(2)), b.integers({directions, hidden * columns})});
  const ValueId r_zero = cast_to(b, for_columns(b, as_signed(b, node.input(11)), directions, columns), ElementType::I32);
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes["kind"] = std::string("LSTM");
  attributes["hidden_size"] = hidden;
  std::vector<ValueId> results = b.ops("onnxc.Recurrence",
                                       {x, r, kAbsent, node.input(4), node.input(5), node.input(6), node.input(7),
                                        for_columns(b, node.input(10), directions, columns), r_zero},
                                       3, std::move(attributes));
  results.resize(std::min(results.size(), node.outputs.size()));
  return results;
}

}  // namespace

extern const Operator op_DynamicQuantizeLSTM;
const Operator op_DynamicQuantizeLSTM{.name = "DynamicQuantizeLSTM",
                                      .domain = "com.microsoft",
                                      .min_inputs = 3,
                                      .max_inputs = 12,
                                      .min_outputs = 0,
                                      .max_outputs = 3,
                                      .infer = infer_dynamic_lstm,
                                      .decompose = decompose_dynamic_lstm};

}  // namespace onnxc
