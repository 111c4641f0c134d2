#include "compiler/ops/reduce/passes_over_axes.h"

#include <algorithm>

namespace onnxc {
namespace {

/// A run of neighbouring axes, all kept or all reduced, that are contiguous in memory.
struct Run {
  bool reduced;
  Dim extent, x_stride, y_stride;
  std::vector<int> y_axes;  ///< of kept runs, outermost first
};

/// The extent and stride of runs [0, end) as one axis, where `of` selects a stride. Empty if they are not evenly
/// spaced.
std::optional<std::pair<Dim, Dim>> as_one(const std::vector<Run>& runs, std::size_t end, Dim Run::* of) {
  Dim extent = 1, stride = 0;
  for (std::size_t k = end; k-- > 0;) {
    if (k + 1 == end) stride = runs[k].*of;
    else if (!(runs[k].*of == stride * extent)) return std::nullopt;
    extent *= runs[k].extent;
  }
  return std::pair{extent, stride};
}

/// The runs of x, outermost first, without axes of extent 1. At least one is reduced.
std::vector<Run> runs_of(const Extents& x, const Layout& x_layout, const Extents& y, const Layout& y_layout, const std::vector<int>& axes,
                         bool keep) {
  const DimList x_strides = strides_of(x, x_layout), y_strides = strides_of(y, y_layout);
  std::vector<Run> runs;
  for (int axis : memory_order(static_cast<int>(x.size()), x_layout)) {
    const auto at = static_cast<std::size_t>(axis);
    const auto before = std::lower_bound(axes.begin(), axes.end(), axis);
    const bool reduced = before != axes.end() && *before == axis;
    if (x[at] == Dim(1)) continue;
    Run run{reduced, x[at], x_strides[at], 0, {}};
    if (!reduced) {
      const std::size_t y_axis = keep ? at : at - static_cast<std::size_t>(before - axes.begin());
      run.y_axes.push_back(static_cast<int>(y_axis));
      run.y_stride = y_strides[y_axis];
    }
    Run* const last = runs.empty() ? nullptr : &runs.back();
    if (last != nullptr && last->reduced == reduced && last->x_stride == run.x_stride * run.extent &&
        (reduced || last->y_stride == run.y_stride * run.extent)) {
      last->extent *= run.extent;
      last->x_stride = run.x_stride;
      last->y_stride = run.y_stride;
      last->y_axes.insert(last->y_axes.end(), run.y_axes.begin(), run.y_axes.end());
    } else {
      runs.push_back(std::move(run));
    }
  }
  if (std::none_of(runs.begin(), runs.end(), [](const Run& r) { return r.reduced; })) runs.push_back({true, 1, 1, 0, {}});
  return runs;
}

}  // namespace

std::optional<std::vector<AxesPass>> passes_over_axes(const Extents& x, const Layout& x_layout, const Extents& y, const Layout& y_layout,
                                                      const std::vector<int>& axes, bool keep) {
  std::vector<Run> runs = runs_of(x, x_layout, y, y_layout, axes, keep);
  std::vector<AxesPass> passes;
  for (;;) {
    std::size_t at = runs.size() - 1;
    while (!runs[at].reduced) --at;
    AxesPass pass;
    pass.is_last = at + 1 == runs.size();
    pass.reduced = runs[at].extent;
    const auto outer = as_one(runs, at, &Run::x_stride);
    if (!outer) return std::nullopt;
    pass.outer = outer->first;
    if (pass.is_last) {
      if (!(runs[at].x_stride == Dim(1))) return std::nullopt;
      pass.x_row = outer->second;
    } else {
      const auto inner =
          as_one(std::vector<Run>(runs.begin() + static_cast<std::ptrdiff_t>(at) + 1, runs.end()), runs.size() - at - 1, &Run::x_stride);
      if (!inner || !(inner->second == Dim(1))) return std::nullopt;
      pass.inner = inner->first;
      pass.x_row = runs[at].x_stride;
      pass.x_outer = outer->second;
    }
    const bool final_pass =
        std::none_of(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(at), [](const Run& r) { return r.reduced; });
    std::vector<Run> rest(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(at));
    const std::vector<Run> after(runs.begin() + static_cast<std::ptrdiff_t>(at) + 1, runs.end());
    if (final_pass) {
      const auto y_outer = as_one(rest, rest.size(), &Run::y_stride);
      if (!y_outer) return std::nullopt;
      if (pass.is_last) {
        if (!(pass.outer == Dim(1)) && !(y_outer->second == Dim(1))) return std::nullopt;
      } else {
        const auto y_inner = as_one(after, after.size(), &Run::y_stride);
        if (!y_inner || !(y_inner->second == Dim(1))) return std::nullopt;
        pass.y_outer = y_outer->second;
      }
      // reduce_last sees the result as one row, reduce_middle as [outer, inner].
      for (const Run& r : rest) {
        for (int axis : r.y_axes) {
          if (pass.is_last) {
            pass.epilogue.col_axes.push_back(axis);
          } else {
            pass.epilogue.row_axes.push_back(axis);
            pass.epilogue.row_extents.push_back(y[static_cast<std::size_t>(axis)]);
          }
        }
      }
      for (const Run& r : after) pass.epilogue.col_axes.insert(pass.epilogue.col_axes.end(), r.y_axes.begin(), r.y_axes.end());
      passes.push_back(std::move(pass));
      return passes;
    }
    passes.push_back(pass);
    // What remains is in scratch memory, without gaps.
    rest.insert(rest.end(), after.begin(), after.end());
    Dim stride = 1;
    for (std::size_t k = rest.size(); k-- > 0;) {
      rest[k].x_stride = stride;
      stride *= rest[k].extent;
    }
    runs = std::move(rest);
  }
}

NamedArgs pass_params(const AxesPass& p, Dim y_outer) {
  if (p.is_last) return {{"outer", dim_arg(p.outer)}, {"r", dim_arg(p.reduced)}, {"x_row", dim_arg(p.x_row)}};
  return {{"outer", dim_arg(p.outer)}, {"r", dim_arg(p.reduced)},       {"inner", dim_arg(p.inner)},
          {"x_row", dim_arg(p.x_row)}, {"x_outer", dim_arg(p.x_outer)}, {"y_outer", dim_arg(y_outer)}};
}

bool epilogue_fits(const KernelQuery& l, const EpilogueShape& shape) {
  const Node& node = l.node();
  const Extents& result = l.output_type(0).extents;
  for (int i = 0; i < node.epilogue_operands; ++i) {
    const ValueId v = node.inputs[static_cast<std::size_t>(node.own_inputs() + i)];
    const Extents& extents = l.graph()[v].type.extents;
    // The layouts that KernelQuery::epilogue chooses.
    const bool image = shape.col_axes.size() == 1 && shape.col_axes[0] == 1 && result.size() >= 3 && extents.size() == result.size() &&
                       !l.graph()[v].constant;
    const Layout layout = !image ? Layout{} : extents == result ? l.out_layout(0) : Layout{true, extents[1]};
    if (!epilogue_operand(shape, result, extents, strides_of(extents, layout))) return false;
  }
  return true;
}

}  // namespace onnxc
