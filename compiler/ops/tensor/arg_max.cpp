// ArgMax, ArgMin: the index of the largest or smallest element along an axis. Hardmax: a one there and zeros elsewhere.
#include <fmt/format.h>

#include "compiler/ops/axis.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/arg_max.hpp"

namespace onnxc {
namespace {

// ---- ArgMax, ArgMin

void infer_arg(Inference& n) {
  Extents out = n.extents(0);
  const int axis = n.axis(n.node().integer("axis", 0), n.rank(0));
  if (out[static_cast<std::size_t>(axis)] == Dim(0) && element_count(out).max_value() != 0)
    n.fail("the axis is empty, so it has no largest element");
  if (n.node().integer("keepdims", 1) != 0) out[static_cast<std::size_t>(axis)] = 1;
  else out.erase(out.begin() + axis);
  n.output(0, ElementType::I64, std::move(out));
}

void evaluate_arg(Evaluation& e) {
  const Shape in = Evaluation::shape_of(e.input(0));
  const int axis = static_cast<int>(axis_of(e.node(), 0, in.rank));
  const scalar::ArgParams params{.outer = in.count(0, axis),
                                 .n = in[axis],
                                 .inner = in.count(axis + 1, in.rank),
                                 .least = e.node().is("ArgMin"),
                                 .last = e.node().integer("select_last_index", 0) != 0};
  for_number(e.type(0), [&]<class T>() { e.check(scalar::arg_max(e.out<int64_t>().data, e.in<T>(0).data, params)); });
}

/// Extents before, at and after the axes [first, last).
NamedArgs params_of(const Extents& x, int first, int last) {
  const auto product = [&](int begin, int end) { return element_count(Extents(x.begin() + begin, x.begin() + end)); };
  return {{"outer", dim_arg(product(0, first))},
          {"n", dim_arg(product(first, last))},
          {"inner", dim_arg(product(last, static_cast<int>(x.size())))}};
}

void lower_arg(KernelQuery& l) {
  const View x = l.in(0);
  const int axis = static_cast<int>(axis_of(l.node(), 0, std::ssize(x.extents)));
  auto params = params_of(x.extents, axis, axis + 1);
  if (l.node().is("ArgMin")) params.emplace_back("least", flag_arg(true));
  if (l.node().integer("select_last_index", 0) != 0) params.emplace_back("last", flag_arg(true));
  l.call("scalar_arg_max").pointer(l.out(0)).pointer(x).params(std::move(params)).emit();
}

// ---- Hardmax. Before opset 13 it took all axes from `axis` (default 1) on as one; attribute `flattens` states that.

void resolve_hardmax(GraphBuilder&, Node& node) {
  if (node.version >= 13) return;
  node.attributes["axis"] = node.integer("axis", 1);
  node.attributes["flattens"] = int64_t{1};
}

/// The axes that form one row: [first, second).
std::pair<int, int> row_axes(const Node& node, int rank) {
  const int axis = static_cast<int>(axis_of(node, -1, rank));
  return {axis, node.integer("flattens", 0) != 0 ? rank : axis + 1};
}

void infer_hardmax(Inference& n) {
  const int64_t axis = n.node().integer("axis", -1);
  if (n.node().integer("flattens", 0) == 0 || axis != n.rank(0)) n.axis(axis, n.rank(0));
  n.output(0, n.type(0));
}

void evaluate_hardmax(Evaluation& e) {
  const Shape in = Evaluation::shape_of(e.input(0));
  const auto [first, last] = row_axes(e.node(), in.rank);
  const scalar::ArgParams params{
      .outer = in.count(0, first), .n = in.count(first, last), .inner = in.count(last, in.rank), .least = false, .last = false};
  for_float(e.type(0), [&]<class T>() { scalar::hardmax(e.out<T>().data, e.in<T>(0).data, params); });
}

void lower_hardmax(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  const auto [first, last] = row_axes(l.node(), static_cast<int>(x.extents.size()));
  l.call("scalar_hardmax").pointer(y).pointer(x).params(params_of(x.extents, first, last)).may_share(y, x).emit();
}

}  // namespace

extern const Operator op_ArgMax, op_ArgMin, op_Hardmax;
const Operator op_ArgMax{
    .name = "ArgMax", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_arg, .evaluate = evaluate_arg, .lower = lower_arg};
const Operator op_ArgMin{
    .name = "ArgMin", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_arg, .evaluate = evaluate_arg, .lower = lower_arg};
const Operator op_Hardmax{.name = "Hardmax",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .resolve = resolve_hardmax,
                          .infer = infer_hardmax,
                          .evaluate = evaluate_hardmax,
                          .lower = lower_hardmax};

}  // namespace onnxc
