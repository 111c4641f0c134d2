// Col2Im: puts blocks back into the image that they were taken from, and adds where they overlap.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/tensor/moves.h"
#include "runtime_stub/onnxc/scalar/col2im.hpp"

namespace onnxc {
namespace {

struct Geometry {
  DimList block;
  std::vector<int64_t> strides, dilations, pads;
  DimList columns;
};

Geometry geometry_of(const Node& node, const DimList& image, DimList block) {
  const std::size_t axes = image.size();
  Geometry g{std::move(block),
             node.integers("strides", std::vector<int64_t>(axes, 1)),
             node.integers("dilations", std::vector<int64_t>(axes, 1)),
             node.integers("pads", std::vector<int64_t>(2 * axes, 0)),
             {}};
  if (g.block.size() != axes || g.strides.size() != axes || g.dilations.size() != axes || g.pads.size() != 2 * axes)
    node.fail(ErrorKind::Invalid,
              fmt::format("image_shape, block_shape, strides, dilations and pads do not agree on the number of axes, {}", axes));
  for (std::size_t k = 0; k < axes; ++k) {
    if (g.block[k].max_value() < 1 || g.strides[k] < 1 || g.dilations[k] < 1)
      node.fail(ErrorKind::Invalid, "block_shape, strides and dilations are positive");
    g.columns.push_back(
        max(0, floor_div(image[k] + g.pads[k] + g.pads[axes + k] - (g.block[k] - 1) * g.dilations[k] - 1, g.strides[k]) + 1));
  }
  g.pads.resize(axes);
  return g;
}

DimList block_of(const TensorData& tensor) {
  const std::vector<int64_t> list = to_integers(tensor);
  return {list.begin(), list.end()};
}

void infer_col2im(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() != 3) n.fail(fmt::format("the input has rank {}, not 3", x.size()));
  const DimList image = n.known_elements(1, "the image's shape");
  const Geometry g = geometry_of(n.node(), image, n.known_elements(2, "the block's shape"));
  Dim elements = 1;
  for (Dim b : g.block) elements *= b;
  const Dim channels = n.let(floor_div(x[1], max(elements, 1)), "channels", x[1]);
  n.unify(x[1], channels * elements, "the channels do not divide into blocks");
  n.unify(x[2], element_count(g.columns), "the number of blocks");
  Extents out{x[0], channels};
  out.insert(out.end(), image.begin(), image.end());
  n.output(0, n.element(0), std::move(out));
}

void evaluate_col2im(Evaluation& e) {
  const std::vector<int64_t>& shape = e.output(0).shape;
  const Geometry g = geometry_of(e.node(), DimList(shape.begin() + 2, shape.end()), block_of(e.input(2)));
  scalar::Col2ImParams params;
  for (std::size_t k = 0; k < g.block.size(); ++k) {
    params.block[params.block.size++] = g.block[k].value();
    params.columns[params.columns.size++] = g.columns[k].value();
    params.strides[params.strides.size++] = g.strides[k];
    params.dilations[params.dilations.size++] = g.dilations[k];
    params.pads[params.pads.size++] = g.pads[k];
  }
  for_number(e.type(0), [&]<class T>() { scalar::col2im(e.out<T>(), e.in<T>(0).data, params); });
}

void lower_col2im(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  const Operands operands(l.graph(), l.node());
  const Geometry g = geometry_of(l.node(), DimList(y.extents.begin() + 2, y.extents.end()), operands.known(2));
  l.call("scalar_col2im")
      .tensor(y)
      .pointer(x)
      .params({{"block", dims_arg(g.block)},
               {"columns", dims_arg(g.columns)},
               {"strides", dims_arg(g.strides)},
               {"dilations", dims_arg(g.dilations)},
               {"pads", dims_arg(g.pads)}})
      .emit();
}

}  // namespace

extern const Operator op_Col2Im;
const Operator op_Col2Im{.name = "Col2Im",
                         .min_inputs = 3,
                         .max_inputs = 3,
                         .max_outputs = 1,
                         .infer = infer_col2im,
                         .evaluate = evaluate_col2im,
                         .lower = lower_col2im};

}  // namespace onnxc
