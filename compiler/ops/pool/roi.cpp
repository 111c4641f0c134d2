// RoiAlign and MaxRoiPool: reference kernels. f16 and bf16 are computed in f32.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/roi.hpp"

namespace onnxc {
namespace {

void check_image(Inference& n) {
  if (n.rank(0) != 4) n.fail(fmt::format("the input has rank {}; [n, c, h, w] is needed", n.rank(0)));
}
void check_rois(Inference& n, int64_t columns) {
  if (n.rank(1) != 2) n.fail(fmt::format("the regions have rank {}; [regions, {}] is needed", n.rank(1), columns));
  n.unify(n.extents(1)[1], columns, "the values of a region");
}
template <class F>
void for_wide(ElementType type, F&& f) {
  if (type == ElementType::F64) return f.template operator()<double>();
  if (type == ElementType::F32) return f.template operator()<float>();
  throw Error(ErrorKind::Unsupported, "evaluated once it is decomposed");
}

// ---- RoiAlign

/// Before opset 16 pixels were not shifted by half.
void resolve_roi_align(GraphBuilder&, Node& node) {
  if (node.version < 16) node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
}

scalar::RoiAlignParams roi_align_params(const Node& node) {
  scalar::RoiAlignParams p;
  const std::string coordinates = node.string("coordinate_transformation_mode", "half_pixel"), mode = node.string("mode", "avg");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    node.fail(ErrorKind::Invalid, fmt::format("coordinate_transformation_mode is '{}'", coordinates));
  if (mode != "avg" && mode != "max") node.fail(ErrorKind::Invalid, fmt::format("mode is '{}'", mode));
  p.half_pixel = coordinates == "half_pixel";
  p.maximum = mode == "max";
  p.sampling_ratio = node.integer("sampling_ratio", 0);
  if (p.sampling_ratio < 0 || p.sampling_ratio > 1 << 15)
    node.fail(ErrorKind::Invalid, fmt::format("sampling_ratio is {}", p.sampling_ratio));
  p.spatial_scale = static_cast<double>(node.number("spatial_scale", 1));
  return p;
}

void infer_roi_align(Inference& n) {
  check_image(n);
  check_rois(n, 4);
  if (n.rank(2) != 1) n.fail("the batch indices are not a list");
  if (n.element(2) != ElementType::I64) n.fail("the batch indices are not i64");
  roi_align_params(n.node());
  const Dim regions = n.unify(n.extents(1)[0], n.extents(2)[0], "the number of regions and of batch indices");
  n.output(0, n.element(0), {regions, n.extents(0)[1], n.node().integer("output_height", 1), n.node().integer("output_width", 1)});
}

void evaluate_roi_align(Evaluation& e) {
  for_wide(e.type(0), [&]<class T>() {
    e.check(scalar::roi_align<T>(e.out<T>(), e.in<T>(0), e.in<T>(1), e.in<int64_t>(2).data, roi_align_params(e.node())));
  });
}

void lower_roi_align(KernelQuery& l) {
  const scalar::RoiAlignParams p = roi_align_params(l.node());
  const View x = l.in(0), rois = l.in(1), batch = l.in(2), y = l.out(0);
  l.call("scalar_roi_align")
      .template_arg(y.element)
      .tensor(y)
      .tensor(x)
      .tensor(rois)
      .pointer(batch)
      .params({{"spatial_scale", NumberArg{p.spatial_scale, ElementType::F64}},
               {"sampling_ratio", dim_arg(p.sampling_ratio)},
               {"half_pixel", flag_arg(p.half_pixel)},
               {"maximum", flag_arg(p.maximum)}})
      .emit();
}

// ---- MaxRoiPool

void infer_max_roi_pool(Inference& n) {
  check_image(n);
  check_rois(n, 5);
  const auto shape = n.node().integers("pooled_shape");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1) n.fail("pooled_shape is not [h, w]");
  n.output(0, n.element(0), {n.extents(1)[0], n.extents(0)[1], shape[0], shape[1]});
}

void evaluate_max_roi_pool(Evaluation& e) {
  for_wide(e.type(0), [&]<class T>() {
    e.check(scalar::max_roi_pool<T>(e.out<T>(), e.in<T>(0), e.in<T>(1), static_cast<double>(e.node().number("spatial_scale", 1))));
  });
}

void lower_max_roi_pool(KernelQuery& l) {
  const View x = l.in(0), rois = l.in(1), y = l.out(0);
  l.call("scalar_max_roi_pool")
      .template_arg(y.element)
      .tensor(y)
      .tensor(x)
      .tensor(rois)
      .number(static_cast<double>(l.node().number("spatial_scale", 1)), ElementType::F64)
      .emit();
}

}  // namespace

extern const Operator op_RoiAlign, op_MaxRoiPool;
const Operator op_RoiAlign{.name = "RoiAlign",
                           .min_inputs = 3,
                           .max_inputs = 3,
                           .max_outputs = 1,
                           .resolve = resolve_roi_align,
                           .infer = infer_roi_align,
                           .decompose = compute_in_float,
                           .evaluate = evaluate_roi_align,
                           .lower = lower_roi_align};
const Operator op_MaxRoiPool{.name = "MaxRoiPool",
                             .min_inputs = 2,
                             .max_inputs = 2,
                             .max_outputs = 1,
                             .infer = infer_max_roi_pool,
                             .decompose = compute_in_float,
                             .evaluate = evaluate_max_roi_pool,
                             .lower = lower_max_roi_pool};

}  // namespace onnxc
