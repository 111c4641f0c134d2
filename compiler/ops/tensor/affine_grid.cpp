// AffineGrid: the coordinates from which the pixels of an image of shape `size` come under an affine map. GridSample
// reads there.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/affine_grid.hpp"

namespace onnxc {
namespace {

void infer_affine_grid(Inference& n) {
  const Extents& theta = n.extents(0);
  const DimList size = n.known_elements(1, "the size");
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (axes != 2 && axes != 3) n.fail(fmt::format("the size has {} extents; (n, c, h, w) or (n, c, d, h, w) are allowed", size.size()));
  if (theta.size() != 3) n.fail(fmt::format("theta has rank {}, not 3", theta.size()));
  n.unify(theta[1], axes, "theta has a row for each spatial axis");
  n.unify(theta[2], axes + 1, "theta has a column for each spatial axis and one for the offset");
  Extents out{n.unify(theta[0], size[0], "the batches of theta and size differ")};
  out.insert(out.end(), size.begin() + 2, size.end());
  out.push_back(axes);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_affine_grid(Evaluation& e) {
  for_float(e.type(0), [&]<class T>() { scalar::affine_grid(e.out<T>(), e.in<T>(0).data, e.node().integer("align_corners", 0) != 0); });
}

void lower_affine_grid(KernelQuery& l) {
  const View theta = l.in(0);
  l.call("scalar_affine_grid").tensor(l.out(0)).pointer(theta).flag(l.node().integer("align_corners", 0) != 0).emit();
}

}  // namespace

extern const Operator op_AffineGrid;
const Operator op_AffineGrid{.name = "AffineGrid",
                             .min_inputs = 2,
                             .max_inputs = 2,
                             .max_outputs = 1,
                             .infer = infer_affine_grid,
                             .evaluate = evaluate_affine_grid,
                             .lower = lower_affine_grid};

}  // namespace onnxc
