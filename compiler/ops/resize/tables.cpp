#include "compiler/ops/resize/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

const char* name_of(Coordinates c) {
  static constexpr const char* names[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                          "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  return names[static_cast<int>(c)];
}
const char* name_of(Filter f) {
  static constexpr const char* names[] = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil", "simple", "linear", "cubic"};
  return names[static_cast<int>(f)];
}

}  // namespace

// The most entries of a table that is a constant. Larger ones are computed in the run.
constexpr int64_t kMostEntries = int64_t{1} << 22;

bool wide_weights(ElementType type) { return type == ElementType::F64 || (is_integer(type) && info(type).bits >= 32); }

ResizeTable make_table(const ResizeTableParams& p, bool wide) {
  ResizeTable t;
  const auto n = static_cast<std::size_t>(p.out * p.taps);
  t.index.resize(n);
  if (p.taps > 1 && wide) t.doubles.resize(n);
  if (p.taps > 1 && !wide) t.floats.resize(n);
  if (p.taps > 1 && wide) resize_table<double>(p, t.index.data(), t.doubles.data());
  else resize_table<float>(p, t.index.data(), t.floats.data());
  return t;
}

bool reads_region(const ResizeTableParams& p) { return p.coordinates == Coordinates::tf_crop_and_resize; }

void set_region(ResizeTableParams& p, const Node& node, const TensorData* region, const ResizePlan& plan, const ResizedAxis& a) {
  if (region == nullptr) node.fail(ErrorKind::Invalid, "tf_crop_and_resize without a region (input 1)");
  const std::vector<double> values = to_doubles(*region);
  if (values.size() != static_cast<std::size_t>(2 * plan.roi_axes))
    node.fail(ErrorKind::Invalid, fmt::format("the region has {} values where {} are needed", values.size(), 2 * plan.roi_axes));
  p.roi_start = static_cast<float>(values[static_cast<std::size_t>(a.roi_at)]);
  p.roi_end = static_cast<float>(values[static_cast<std::size_t>(a.roi_at + plan.roi_axes)]);
}

ResizeTableArgs provide_table(KernelQuery& l, const ResizePlan& plan, const ResizedAxis& a) {
  ResizeTableParams p = table_params(l.node(), a);
  const bool wide = wide_weights(l.type(0).element);
  const ElementType weight = wide ? ElementType::F64 : ElementType::F32;
  const TensorData* roi = l.has(1) ? l.constant(1) : nullptr;
  const std::string what = fmt::format("{} axis {}", l.node().name, a.axis);
  const bool is_small = a.is_static() && p.out <= kMostEntries / std::max<int64_t>(1, p.taps);
  if (is_small && !a.run_time_scale && (!reads_region(p) || !l.has(1) || roi != nullptr)) {
    if (reads_region(p)) set_region(p, l.node(), roi, plan, a);
    const ResizeTable t = make_table(p, wide);
    ResizeTableArgs args{p.taps, l.weights(what + " sources", ElementType::I32, t.index), std::nullopt};
    if (p.taps > 1) args.weight = wide ? l.weights(what + " weights", weight, t.doubles) : l.weights(what + " weights", weight, t.floats);
    return args;
  }
  const Dim taps = taps_of(l.node(), a);
  ResizeTableArgs args{taps, l.workspace(fmt::format("sources{}", a.axis), ElementType::I32, a.out * taps), std::nullopt};
  if (!(taps == Dim(1))) args.weight = l.workspace(fmt::format("weights{}", a.axis), weight, a.out * taps);
  NamedArgs params{{"in", dim_arg(a.in)}, {"out", dim_arg(a.out)}};
  if (p.scale != 0) params.emplace_back("scale", number_arg(static_cast<double>(p.scale)));
  params.emplace_back("taps", dim_arg(taps));
  params.emplace_back("filter", EnumArg{"Filter", name_of(p.filter)});
  params.emplace_back("coordinates", EnumArg{"Coordinates", name_of(p.coordinates)});
  if (p.filter == Filter::cubic) params.emplace_back("cubic_coefficient", number_arg(static_cast<double>(p.cubic_coefficient)));
  if (p.antialias) params.emplace_back("antialias", flag_arg(true));
  if (p.exclude_outside) params.emplace_back("exclude_outside", flag_arg(true));
  if (reads_region(p)) {
    if (roi != nullptr) {
      set_region(p, l.node(), roi, plan, a);
      params.emplace_back("roi_start", number_arg(static_cast<double>(p.roi_start)));
      params.emplace_back("roi_end", number_arg(static_cast<double>(p.roi_end)));
    } else {
      if (!l.has(1) || l.type(1).element != ElementType::F32 || !(element_count(l.extents(1)) == Dim(2 * plan.roi_axes)))
        l.fail(ErrorCode::NotConstant, fmt::format("a region that is {}", l.has(1) ? l.type(1).text() : "absent"),
               "make it a constant of the model");
      params.emplace_back("roi", l.in(1).pointer);
      params.emplace_back("roi_at", dim_arg(a.roi_at));
      params.emplace_back("roi_axes", dim_arg(plan.roi_axes));
    }
  }
  if (a.run_time_scale) {
    params.emplace_back("scales", l.in(2).pointer);
    params.emplace_back("scale_at", dim_arg(a.roi_at));
  }
  StepBuilder step = l.call("resize_table");
  step.template_arg(weight).params(std::move(params)).pointer(args.index);
  if (args.weight) step.pointer(*args.weight);
  else step.null();
  step.emit();
  args.index.writes = false;
  if (args.weight) args.weight->writes = false;
  return args;
}

}  // namespace onnxc
