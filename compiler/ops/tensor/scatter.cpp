// ScatterElements (formerly Scatter), ScatterND, TensorScatter: the data with some elements replaced, in place if the
// data dies here.
#include <fmt/format.h>

#include "compiler/ops/axis.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/scatter.hpp"

namespace onnxc {
namespace {

Reduction reduction_of(const Node& node) {
  const std::string name = node.string("reduction", "none");
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "max") return Reduction::max;
  if (name == "min") return Reduction::min;
  node.fail(ErrorKind::Invalid, fmt::format("reduction is '{}'; none, add, mul, max and min are allowed", name));
}

EnumArg reduction_arg(const Node& node) { return {"Reduction", node.string("reduction", "none")}; }

// ---- ScatterElements

void resolve_scatter(GraphBuilder&, Node& node) { node.op = "ScatterElements"; }

void infer_scatter_elements(Inference& n) {
  const int rank = n.rank(0);
  if (n.rank(1) != rank) n.fail(fmt::format("the indices have rank {}, the data {}", n.rank(1), rank));
  if (n.rank(2) != rank) n.fail(fmt::format("the updates have rank {}, the data {}", n.rank(2), rank));
  if (n.element(2) != n.element(0)) n.fail("data and updates differ in type");
  const int axis = n.axis(n.node().integer("axis", 0), rank);
  for (std::size_t k = 0; k < static_cast<std::size_t>(rank); ++k) {
    const Dim wide = n.unify(n.extents(1)[k], n.extents(2)[k], "indices and updates differ in shape"), most = n.extents(0)[k];
    if (static_cast<int>(k) != axis && (wide - most).min_value() > 0)
      n.fail(fmt::format("axis {} of the indices has extent {}, of the data {}", k, wide.text(), most.text()));
  }
  reduction_of(n.node());
  n.output(0, n.type(0));
}

void evaluate_scatter_elements(Evaluation& e) {
  for_type(e.type(0), [&]<class T>() {
    for_index(e.type(1), [&]<class I>() {
      e.check(scalar::scatter_elements(e.out<T>(), e.in<T>(0), e.in<I>(1), e.in<T>(2), axis_of(e.node(), 0, e.rank(0)),
                                       reduction_of(e.node())));
    });
  });
}

void lower_scatter_elements(KernelQuery& l) {
  const View x = l.in(0), indices = l.in(1), updates = l.in(2), y = l.out(0);
  l.call("scalar_scatter_elements")
      .tensor(y)
      .tensor(x)
      .tensor(indices)
      .tensor(updates)
      .dim(axis_of(l.node(), 0, static_cast<int>(x.extents.size())))
      .arg(reduction_arg(l.node()))
      .may_share(y, x)
      .emit();
}

// ---- ScatterND

void infer_scatter_nd(Inference& n) {
  const Extents &x = n.extents(0), &indices = n.extents(1), &updates = n.extents(2);
  if (x.empty() || indices.empty()) n.fail("data and indices have rank 1 or more");
  if (n.element(2) != n.element(0)) n.fail("data and updates differ in type");
  if (!indices.back().is_constant())
    n.fail(ErrorCode::OpenDimension, fmt::format("the last axis of the indices has extent {}", indices.back().text()),
           "fix the dimension with --dim");
  const int64_t width = indices.back().value();
  if (width < 0 || width > static_cast<int64_t>(x.size())) n.fail(fmt::format("{} indices for {} axes", width, x.size()));
  Extents wanted(indices.begin(), indices.end() - 1);
  wanted.insert(wanted.end(), x.begin() + width, x.end());
  if (wanted.size() != updates.size()) n.fail(fmt::format("the updates are {}, where {} is needed", text(updates), text(wanted)));
  for (std::size_t k = 0; k < wanted.size(); ++k) n.unify(wanted[k], updates[k], "the updates do not fit the indices");
  reduction_of(n.node());
  n.output(0, n.type(0));
}

void evaluate_scatter_nd(Evaluation& e) {
  for_type(e.type(0), [&]<class T>() {
    for_index(e.type(1),
              [&]<class I>() { e.check(scalar::scatter_nd(e.out<T>(), e.in<T>(0), e.in<I>(1), e.in<T>(2), reduction_of(e.node()))); });
  });
}

void lower_scatter_nd(KernelQuery& l) {
  const View x = l.in(0), indices = l.in(1), updates = l.in(2), y = l.out(0);
  l.call("scalar_scatter_nd").tensor(y).tensor(x).tensor(indices).tensor(updates).arg(reduction_arg(l.node())).may_share(y, x).emit();
}

// ---- TensorScatter: updates of a key-value cache, at an index for each element of the batch.

bool is_circular(const Node& node) {
  const std::string mode = node.string("mode", "linear");
  if (mode != "linear" && mode != "circular")
    node.fail(ErrorKind::Invalid, fmt::format("mode is '{}'; linear and circular are allowed", mode));
  return mode == "circular";
}

void infer_tensor_scatter(Inference& n) {
  const Extents &x = n.extents(0), &updates = n.extents(1);
  const int axis = n.axis(n.node().integer("axis", -2), n.rank(0));
  if (axis == 0) n.fail("axis is 0, which is the batch");
  if (updates.size() != x.size()) n.fail(fmt::format("the update has rank {}, the cache {}", updates.size(), x.size()));
  if (n.element(1) != n.element(0)) n.fail("cache and update differ in type");
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (static_cast<int>(k) != axis) n.unify(x[k], updates[k], "cache and update differ beside the axis");
    else if ((updates[k] - x[k]).min_value() > 0)
      n.fail(fmt::format("the update has extent {} along the axis, the cache {}", updates[k].text(), x[k].text()));
  }
  if (n.has(2)) {
    if (n.rank(2) != 1 || n.element(2) != ElementType::I64) n.fail(fmt::format("write_indices is {}, not an i64 vector", n.type(2).text()));
    n.unify(n.extents(2)[0], x[0], "write_indices has an index for each element of the batch");
  }
  is_circular(n.node());
  n.output(0, n.type(0));
}

void evaluate_tensor_scatter(Evaluation& e) {
  for_size(e.type(0), [&]<class T>() {
    e.check(scalar::tensor_scatter<T>(e.out<T>(), e.in<T>(0), e.in<T>(1), e.has(2) ? e.in<int64_t>(2) : Tensor<const int64_t>{},
                                      axis_of(e.node(), -2, e.rank(0)), is_circular(e.node())));
  });
}

void lower_tensor_scatter(KernelQuery& l) {
  const View x = l.in(0), updates = l.in(1), y = l.out(0);
  if (l.has(2)) l.in(2);
  l.call("scalar_tensor_scatter")
      .tensor(y)
      .tensor(x)
      .tensor(updates)
      .optional_tensor(2)
      .dim(axis_of(l.node(), -2, static_cast<int>(x.extents.size())))
      .flag(is_circular(l.node()))
      .may_share(y, x)
      .emit();
}

}  // namespace

extern const Operator op_Scatter, op_ScatterElements, op_ScatterND, op_TensorScatter;
const Operator op_Scatter{.name = "Scatter",
                          .min_inputs = 3,
                          .max_inputs = 3,
                          .max_outputs = 1,
                          .resolve = resolve_scatter,
                          .infer = infer_scatter_elements,
                          .evaluate = evaluate_scatter_elements,
                          .lower = lower_scatter_elements};
const Operator op_ScatterElements{.name = "ScatterElements",
                                  .min_inputs = 3,
                                  .max_inputs = 3,
                                  .max_outputs = 1,
                                  .infer = infer_scatter_elements,
                                  .evaluate = evaluate_scatter_elements,
                                  .lower = lower_scatter_elements};
const Operator op_ScatterND{.name = "ScatterND",
                            .min_inputs = 3,
                            .max_inputs = 3,
                            .max_outputs = 1,
                            .infer = infer_scatter_nd,
                            .evaluate = evaluate_scatter_nd,
                            .lower = lower_scatter_nd};
const Operator op_TensorScatter{.name = "TensorScatter",
                                .min_inputs = 2,
                                .max_inputs = 3,
                                .max_outputs = 1,
                                .infer = infer_tensor_scatter,
                                .evaluate = evaluate_tensor_scatter,
                                .lower = lower_tensor_scatter};

}  // namespace onnxc
