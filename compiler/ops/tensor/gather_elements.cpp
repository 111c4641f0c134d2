// GatherElements and GatherND: elements, or slices, picked by an index for each.
#include <fmt/format.h>

#include "compiler/ops/axis.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/gather_elements.hpp"

namespace onnxc {
namespace {

void infer_gather_elements(Inference& n) {
  const int rank = n.rank(0);
  if (n.rank(1) != rank) n.fail(fmt::format("the indices have rank {}, the data {}", n.rank(1), rank));
  const int axis = n.axis(n.node().integer("axis", 0), rank);
  for (int k = 0; k < rank; ++k) {
    const Dim wide = n.extents(1)[static_cast<std::size_t>(k)], most = n.extents(0)[static_cast<std::size_t>(k)];
    if (k != axis && (wide - most).min_value() > 0)
      n.fail(fmt::format("axis {} of the indices has extent {}, of the data {}", k, wide.text(), most.text()));
  }
  n.output(0, n.element(0), n.extents(1));
}

void evaluate_gather_elements(Evaluation& e) {
  for_size(e.type(0), [&]<class T>() {
    for_index(e.type(1),
              [&]<class I>() { e.check(scalar::gather_elements(e.out<T>(), e.in<T>(0), e.in<I>(1), axis_of(e.node(), 0, e.rank(0)))); });
  });
}

void lower_gather_elements(KernelQuery& l) {
  const View x = l.in(0), indices = l.in(1);
  l.call("scalar_gather_elements")
      .tensor(l.out(0))
      .tensor(x)
      .tensor(indices)
      .dim(axis_of(l.node(), 0, static_cast<int>(x.extents.size())))
      .emit();
}

void infer_gather_nd(Inference& n) {
  const Extents &x = n.extents(0), &indices = n.extents(1);
  const int64_t batch = n.node().integer("batch_dims", 0);
  if (x.empty() || indices.empty()) n.fail("data and indices have rank 1 or more");
  if (batch < 0 || batch >= static_cast<int64_t>(std::min(x.size(), indices.size())))
    n.fail(fmt::format("batch_dims {} is out of range", batch));
  if (!indices.back().is_constant())
    n.fail(ErrorCode::OpenDimension, fmt::format("the last axis of the indices has extent {}", indices.back().text()),
           "fix the dimension with --dim");
  const int64_t width = indices.back().value();
  if (width < 0 || batch + width > static_cast<int64_t>(x.size()))
    n.fail(fmt::format("{} indices for {} axes", width, static_cast<int64_t>(x.size()) - batch));
  Extents out;
  for (std::size_t k = 0; k + 1 < indices.size(); ++k)
    out.push_back(static_cast<int64_t>(k) < batch ? n.unify(x[k], indices[k], "the batch axes differ") : indices[k]);
  out.insert(out.end(), x.begin() + batch + width, x.end());
  n.output(0, n.element(0), std::move(out));
}

void evaluate_gather_nd(Evaluation& e) {
  for_size(e.type(0), [&]<class T>() {
    for_index(e.type(1),
              [&]<class I>() { e.check(scalar::gather_nd(e.out<T>(), e.in<T>(0), e.in<I>(1), e.node().integer("batch_dims", 0))); });
  });
}

void lower_gather_nd(KernelQuery& l) {
  const View x = l.in(0), indices = l.in(1);
  l.call("scalar_gather_nd").tensor(l.out(0)).tensor(x).tensor(indices).dim(l.node().integer("batch_dims", 0)).emit();
}

}  // namespace

extern const Operator op_GatherElements, op_GatherND;
const Operator op_GatherElements{.name = "GatherElements",
                                 .min_inputs = 2,
                                 .max_inputs = 2,
                                 .max_outputs = 1,
                                 .infer = infer_gather_elements,
                                 .evaluate = evaluate_gather_elements,
                                 .lower = lower_gather_elements};
const Operator op_GatherND{.name = "GatherND",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .max_outputs = 1,
                           .infer = infer_gather_nd,
                           .evaluate = evaluate_gather_nd,
                           .lower = lower_gather_nd};

}  // namespace onnxc
