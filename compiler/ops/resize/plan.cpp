#include "compiler/ops/resize/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// Whether an input is present and not empty. Before opset 13 an empty tensor represented an absent one.
bool is_given(const Graph& graph, const Node& node, int i) {
  if (!node.has_input(i)) return false;
  const Type& type = graph[node.input(i)].type;
  return !(type.ranked && element_count(type.extents) == Dim(0));
}

/// floor(extent * scale), in float as in ONNX Runtime. A symbolic extent needs a scale that is a small fraction.
Dim scaled(const Node& node, Dim extent, float scale) {
  if (extent.is_constant()) return static_cast<int64_t>(std::floor(static_cast<float>(extent.value()) * scale));
  for (int64_t q = 1; q <= 64; ++q) {
    const auto p = static_cast<int64_t>(std::llround(static_cast<double>(scale) * static_cast<double>(q)));
    if (p > 0 && static_cast<float>(static_cast<double>(p) / static_cast<double>(q)) == scale) return floor_div(extent * p, q);
  }
  node.fail(ErrorCode::OpenDimension,
            fmt::format("scale {} of an extent {} that is only known when the model runs", static_cast<double>(scale), extent.text()),
            "fix the dimension with --dim");
}

std::optional<DimList> sizes_of(const Value& value) {
  if (value.elements) return value.elements;
  if (!value.constant) return std::nullopt;
  DimList list;
  for (int64_t v : to_integers(*value.constant)) list.push_back(v);
  return list;
}

/// One scale for all axes, such that the result is not larger (or not smaller) than requested.
float common_scale(const Node& node, const std::string& policy, const std::vector<ResizedAxis>& axes) {
  if (policy != "not_larger" && policy != "not_smaller")
    node.fail(ErrorKind::Invalid, fmt::format("keep_aspect_ratio_policy is '{}'", policy));
  double scale = 0;
  for (const ResizedAxis& a : axes) {
    if (!a.is_static())
      node.fail(ErrorCode::OpenDimension, fmt::format("keep_aspect_ratio_policy='{}' with sizes only known when the model runs", policy),
                "fix the dimension with --dim");
    if (a.in.value() == 0) node.fail(ErrorKind::Invalid, "an axis of extent 0 cannot be resized");
    const double own = static_cast<double>(a.out.value()) / static_cast<double>(a.in.value());
    scale = &a == &axes.front() ? own : policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  return static_cast<float>(scale);
}

}  // namespace

bool is_nearest(const Node& node) { return node.string("mode", "nearest") == "nearest"; }

ResizePlan plan_resize(const Graph& graph, const Node& node) {
  const Extents& in = graph[node.input(0)].type.extents;
  const auto rank = static_cast<int>(in.size());
  std::vector<int64_t> axes = node.integers("axes");
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  ResizePlan plan;
  plan.out = in;
  plan.roi_axes = static_cast<int>(axes.size());
  std::vector<ResizedAxis> all;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < -rank || axes[k] >= rank)
      node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", axes[k], rank));
    const auto axis = static_cast<int>(axes[k] < 0 ? axes[k] + rank : axes[k]);
    for (const ResizedAxis& other : all) {
      if (other.axis == axis) node.fail(ErrorKind::Invalid, fmt::format("axis {} is given twice", axis));
    }
    all.push_back({axis, in[static_cast<std::size_t>(axis)], 0, 0, static_cast<int>(k)});
  }
  const auto check_count = [&](std::size_t n, const char* what) {
    if (n != all.size()) node.fail(ErrorKind::Invalid, fmt::format("{} {} for {} axes", n, what, all.size()));
  };
  if (is_given(graph, node, 2)) {
    const TensorData* scales = graph.constant(node.input(2));
    const std::vector<double> values = scales != nullptr ? to_doubles(*scales) : std::vector<double>();
    // Where only a run knows them, resolve_run_time has added the sizes that result. A common scale is rounded in a way of its own, also if it is
    // found to be a constant later.
    const bool has_sizes = scales == nullptr || node.has("resolved_policy");
    if (has_sizes) {
      const auto sizes = sizes_of(graph[node.input(3)]);
      ONNXC_CHECK(sizes.has_value(), "the shape rule has asked for the sizes");
      check_count(sizes->size(), "scales");
      for (std::size_t k = 0; k < all.size(); ++k) {
        all[k].out = (*sizes)[k];
        all[k].run_time_scale = scales == nullptr;
      }
    }
    if (scales != nullptr) check_count(values.size(), "scales");
    for (std::size_t k = 0; k < all.size() && scales != nullptr; ++k) {
      all[k].scale = static_cast<float>(values[k]);
      if (has_sizes) continue;  // a size of 0 leads to a common scale of 0
      if (!(all[k].scale > 0) || all[k].scale > 1e6f) node.fail(ErrorKind::Invalid, fmt::format("a scale is {}", values[k]));
      all[k].out = scaled(node, all[k].in, all[k].scale);
    }
  } else if (is_given(graph, node, 3)) {
    const auto sizes = sizes_of(graph[node.input(3)]);
    if (!sizes) node.fail(ErrorCode::NotConstant, "the sizes are only known when the model runs", "make them a constant of the model");
    check_count(sizes->size(), "sizes");
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k].out = (*sizes)[k];
      if (all[k].out.max_value() < 0) node.fail(ErrorKind::Invalid, fmt::format("a size is {}", all[k].out.text()));
    }
    const std::string policy = node.string("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch" && !node.has("resolved_policy")) {
      const float scale = common_scale(node, policy, all);
      for (ResizedAxis& a : all) {
        a.scale = scale;
        a.out = static_cast<int64_t>(static_cast<double>(scale) * static_cast<double>(a.in.value()) + 0.5);
      }
    }
  } else {
    node.fail(ErrorKind::Invalid, "neither scales nor sizes are given");
  }
  const bool crops = node.string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  for (const ResizedAxis& a : all) {
    plan.out[static_cast<std::size_t>(a.axis)] = a.out;
    if (a.in == Dim(0) && a.out.is_constant() && a.out.value() > 0) node.fail(ErrorKind::Invalid, "an axis of extent 0 cannot be enlarged");
    if (a.in.is_constant() && a.in.value() > INT32_MAX)
      node.fail(ErrorKind::Unsupported, fmt::format("an axis of {} elements", a.in.value()));
    if (!(a.in == a.out) || a.run_time_scale || (a.scale != 0 && a.scale != 1) || crops) plan.axes.push_back(a);
  }
  return plan;
}

Dim taps_of(const Node& node, const ResizedAxis& axis) {
  const ResizeTableParams p = table_params(node, axis);
  if (p.taps > 0) return p.taps;
  // With antialiasing and symbolic extents, the filter covers `radius` times as many sources as make one result, on
  // either side.
  const int64_t radius = p.filter == Filter::linear ? 1 : 2;
  return max(radius, ceil_div(axis.in * radius, max(axis.out, 1))) * 2;
}

ResizeTableParams table_params(const Node& node, const ResizedAxis& axis) {
  ResizeTableParams p{};
  const auto choose = [&](const char* attribute, const char* otherwise, std::initializer_list<const char*> names) {
    const std::string given = node.string(attribute, otherwise);
    const auto it = std::find(names.begin(), names.end(), given);
    if (it == names.end()) node.fail(ErrorKind::Invalid, fmt::format("{} is '{}'", attribute, given));
    return static_cast<int>(it - names.begin());
  };
  p.coordinates = static_cast<Coordinates>(choose("coordinate_transformation_mode", "half_pixel",
                                                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                                   "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  const int mode = choose("mode", "nearest", {"nearest", "linear", "cubic"});
  p.filter = mode == 1   ? Filter::linear
             : mode == 2 ? Filter::cubic
                         : static_cast<Filter>(choose("nearest_mode", "round_prefer_floor",
                                                      {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil", "simple"}));
  p.antialias = node.integer("antialias", 0) != 0;
  if (p.antialias && mode == 0) node.fail(ErrorKind::Invalid, "antialias with mode='nearest'");
  p.exclude_outside = node.integer("exclude_outside", 0) != 0;
  p.cubic_coefficient = node.number("cubic_coeff_a", -0.75f);
  p.scale = axis.scale;
  if (axis.is_static()) {
    p.in = axis.in.value();
    p.out = axis.out.value();
  }
  const bool known = !p.antialias || axis.scale != 0 || (axis.is_static() && !axis.run_time_scale);
  const double scale = axis.scale != 0 ? static_cast<double>(axis.scale)
                       : p.in > 0      ? static_cast<double>(p.out) / static_cast<double>(p.in)
                                       : 1.0;
  p.taps = known ? resize_taps(p.filter, p.antialias, scale) : 0;
  if (p.taps > 1 << 20) node.fail(ErrorKind::Unsupported, fmt::format("{} sources for each position", p.taps));
  return p;
}

}  // namespace onnxc
