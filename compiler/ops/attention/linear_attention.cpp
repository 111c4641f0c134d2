// LinearAttention, of ai.onnx and of com.microsoft: a reference kernel that walks the tokens.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/linear_attention.hpp"

namespace onnxc {
namespace {

/// com.microsoft's may have fewer query heads than state heads, and fewer key heads. The keys' shape gives their
/// number.
struct LinearHeads {
  int64_t q, k, kv;
  int64_t results() const { return std::max(q, kv); }
};
LinearHeads heads_of(const Node& node, const Extents& q, const Extents& k) {
  LinearHeads h{node.integer("q_num_heads", 0), 0, node.integer("kv_num_heads", 0)};
  const bool general = !node.domain.empty();
  if (h.q < 1 || h.kv < 1 || (h.q % h.kv != 0 && !(general && h.kv % h.q == 0)))
    node.fail(ErrorKind::Invalid,
              fmt::format("q_num_heads is {} and kv_num_heads {}; the first must be a multiple of the second", h.q, h.kv));
  h.k = h.kv;
  if (const Dim size = floor_div(q[2], h.q); general && size.is_constant() && size.value() > 0 && k[2].is_constant())
    h.k = k[2].value() / size.value();
  if (h.k < 1 || h.kv % h.k != 0) node.fail(ErrorKind::Invalid, fmt::format("the key has {} heads, and kv_num_heads is {}", h.k, h.kv));
  return h;
}

void infer_linear_attention(Inference& n) {
  for (int i : {0, 1}) {
    if (n.rank(i) != 3) n.fail(fmt::format("input {} has rank {}; [batch, tokens, heads * size] is needed", i, n.rank(i)));
  }
  const LinearHeads heads = heads_of(n.node(), n.extents(0), n.extents(1));
  const int64_t window = n.node().integer("state_window", 0);
  if (window < 0 || window > 8) n.fail(fmt::format("state_window is {}; 0 to 8 are allowed", window));
  const std::string rule = n.node().string("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta") n.fail(fmt::format("update_rule is '{}'", rule));
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  if (n.has(4) != gated) n.fail(fmt::format("update_rule '{}' {} decay", rule, gated ? "needs" : "forbids"));
  if (n.has(5) != delta) n.fail(fmt::format("update_rule '{}' {} beta", rule, delta ? "needs" : "forbids"));
  for (int i : {0, 1, 2, 4, 5}) {
    if (!n.has(i)) continue;
    if (n.rank(i) != 3) n.fail(fmt::format("input {} has rank {}; [batch, tokens, heads * size] is needed", i, n.rank(i)));
    if (n.element(i) != n.element(0)) n.fail(fmt::format("input {} is {}, the query {}", i, name(n.element(i)), name(n.element(0))));
    for (std::size_t k = 0; k < 2; ++k)
      n.unify(n.extents(i)[k], n.extents(0)[k], "the batches and tokens of query, key, value, decay and beta");
  }
  if (!is_float(n.element(0))) n.fail(fmt::format("the query is {}, not a float", name(n.element(0))));
  const Extents q = n.extents(0), v = n.extents(2);
  const Dim dk = floor_div(q[2], heads.q), dv = floor_div(v[2], heads.kv);
  n.unify(q[2], dk * heads.q, "the query does not divide into its heads");
  n.unify(n.extents(1)[2], dk * heads.k, "the key has heads of the query's size");
  n.unify(v[2], dv * heads.kv, "the value does not divide into its heads");
  Extents state{q[0], heads.kv, dk, dv};
  if (window > 0) state.insert(state.begin(), Dim(window));
  if (n.has(3)) {
    if (n.rank(3) != static_cast<int>(state.size())) n.fail(fmt::format("past_state has rank {}, not {}", n.rank(3), state.size()));
    for (std::size_t k = 0; k < state.size(); ++k) n.unify(n.extents(3)[k], state[k], "the shape of past_state");
  }
  if (n.has(4) && !(n.extents(4)[2] == Dim(heads.kv)))
    n.unify(n.extents(4)[2], dk * heads.kv, "decay has a value for each head, or for each element of each head's key");
  if (n.has(5) && !(n.extents(5)[2] == Dim(1))) n.unify(n.extents(5)[2], heads.kv, "beta has a value for each head, or one");
  n.output(0, n.element(0), {q[0], q[1], dv * heads.results()});
  n.output(1, n.has(3) ? n.element(3) : n.element(0), state);
}

double scale_of(const Node& node, int64_t dk) {
  const double scale = static_cast<double>(node.number("scale", 0));
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(dk));
}

void lower_linear_attention(KernelQuery& l) {
  const LinearHeads heads = heads_of(l.node(), l.extents(0), l.extents(1));
  const int64_t window = l.node().integer("state_window", 0);
  const Dim dk = floor_div(l.extents(0)[2], heads.q), dv = floor_div(l.extents(2)[2], heads.kv);
  if (!dk.is_constant()) l.fail(ErrorCode::OpenDimension, fmt::format("the size of a head is {}", dk.text()), "fix it with --dim");
  const View q = l.in(0), k = l.in(1), v = l.in(2), y = l.out(0);
  const ElementType state = l.has(3) ? l.type(3).element : y.element;
  const PointerArg work = l.share_workspace("state", ElementType::F32, (dk + 1) * dv, q.extents[0] * heads.kv);
  Extents shape{q.extents[0], heads.kv, dk, dv};
  if (window > 0) shape.insert(shape.begin(), Dim(window));
  const View present = l.has_output(1) ? l.out(1) : View{l.workspace("present", state, element_count(shape)), state, shape, {}};
  StepBuilder call = l.call("scalar_linear_attention");
  call.template_arg(y.element).template_arg(state).tensor(y).tensor(present).tensor(q).tensor(k).tensor(v);
  for (int i = 3; i < 6; ++i) call.optional_tensor(i);
  call.pointer(work)
      .params({{"q_heads", dim_arg(heads.q)},
               {"k_heads", dim_arg(heads.k)},
               {"kv_heads", dim_arg(heads.kv)},
               {"scale", Arg(NumberArg{scale_of(l.node(), dk.value()), ElementType::F64})},
               {"window", dim_arg(window)}})
      .emit();
}

}  // namespace

std::span<const Operator> table_linear_attention() {
  const auto row = [](std::string_view domain) {
    return Operator{.name = "LinearAttention",
                    .domain = domain,
                    .min_inputs = 3,
                    .max_inputs = 6,
                    .max_outputs = 2,
                    .infer = infer_linear_attention,
                    .lower = lower_linear_attention};
  };
  static const Operator rows[] = {row(""), row("com.microsoft")};
  return rows;
}

}  // namespace onnxc
