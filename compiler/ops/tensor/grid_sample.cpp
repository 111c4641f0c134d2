// GridSample: an image (of one, two or three spatial axes) read at the coordinates that a grid gives for each pixel of the result.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/grid_sample.hpp"

namespace onnxc {
namespace {

/// Opset 16 had the names bilinear and bicubic.
GridMode mode_of(const Node& node) {
  const std::string mode = node.string("mode", "linear");
  if (mode == "linear" || mode == "bilinear") return GridMode::linear;
  if (mode == "cubic" || mode == "bicubic") return GridMode::cubic;
  if (mode == "nearest") return GridMode::nearest;
  node.fail(ErrorKind::Invalid, fmt::format("mode is '{}'; linear, nearest and cubic are allowed", mode));
}

GridPadding padding_of(const Node& node) {
  const std::string padding = node.string("padding_mode", "zeros");
  if (padding == "zeros") return GridPadding::zeros;
  if (padding == "border") return GridPadding::border;
  if (padding == "reflection") return GridPadding::reflection;
  node.fail(ErrorKind::Invalid, fmt::format("padding_mode is '{}'; zeros, border and reflection are allowed", padding));
}

void infer_grid_sample(Inference& n) {
  const Extents &x = n.extents(0), &grid = n.extents(1);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; images have 3 or more", x.size()));
  if (!is_number(n.element(0))) n.fail(ErrorCode::ElementType, fmt::format("images of {}", name(n.element(0))));
  if (grid.size() != x.size()) n.fail(fmt::format("the grid has rank {}, the input {}", grid.size(), x.size()));
  n.unify(grid.back(), static_cast<int64_t>(x.size()) - 2, "the grid has a coordinate for each spatial axis");
  mode_of(n.node());
  padding_of(n.node());
  Extents out{n.unify(x[0], grid[0], "the batches differ"), x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_grid_sample(Evaluation& e) {
  const GridSampleParams params{
      .mode = mode_of(e.node()), .padding = padding_of(e.node()), .align_corners = e.node().integer("align_corners", 0) != 0};
  for_number(e.type(0),
             [&]<class T>() { for_float(e.type(1), [&]<class G>() { scalar::grid_sample(e.out<T>(), e.in<T>(0), e.in<G>(1), params); }); });
}

void lower_grid_sample(KernelQuery& l) {
  constexpr const char* modes[] = {"nearest", "linear", "cubic"};
  constexpr const char* paddings[] = {"zeros", "border", "reflection"};
  const View x = l.in(0), grid = l.in(1), y = l.out(0);
  const int taps = mode_of(l.node()) == GridMode::cubic ? 4 : 2;
  Dim macs = element_count(y.extents);
  for (std::size_t k = 2; k < y.extents.size(); ++k) macs *= taps;
  l.call("scalar_grid_sample")
      .tensor(y)
      .tensor(x)
      .tensor(grid)
      .params({{"mode", EnumArg{"GridMode", modes[static_cast<int>(mode_of(l.node()))]}},
               {"padding", EnumArg{"GridPadding", paddings[static_cast<int>(padding_of(l.node()))]}},
               {"align_corners", flag_arg(l.node().integer("align_corners", 0) != 0)}})
      .macs(macs)
      .emit();
}

}  // namespace

extern const Operator op_GridSample;
const Operator op_GridSample{.name = "GridSample",
                             .min_inputs = 2,
                             .max_inputs = 2,
                             .max_outputs = 1,
                             .infer = infer_grid_sample,
                             .evaluate = evaluate_grid_sample,
                             .lower = lower_grid_sample};

}  // namespace onnxc
