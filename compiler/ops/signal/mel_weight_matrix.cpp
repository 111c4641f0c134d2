// MelWeightMatrix: the bands of a mel spectrum as triangles over the bins of a one-sided spectrum.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/mel_weight_matrix.hpp"

namespace onnxc {
namespace {

void infer_mel_weight_matrix(Inference& n) {
  for (int i = 0; i < 5; ++i) {
    if (!(element_count(n.extents(i)) == Dim(1)))
      n.fail(fmt::format("input {} has shape {}; all inputs are scalars", i, text(n.extents(i))));
    if (n.element(i) != n.element(i < 3 ? 0 : 3))
      n.fail(fmt::format("input {} is {}, input {} is {}", i, name(n.element(i)), i < 3 ? 0 : 3, name(n.element(i < 3 ? 0 : 3))));
  }
  if (!is_float(n.element(3))) n.fail(fmt::format("the edges are {}, not floats", name(n.element(3))));
  const Dim bands = n.known_elements(0, "num_mel_bins")[0], length = n.known_elements(1, "dft_length")[0];
  if (bands.max_value() < 1 || length.max_value() < 1) n.fail("num_mel_bins or dft_length is not positive");
  const auto type = element_type_numbered(static_cast<int32_t>(n.node().integer("output_datatype", 1)));
  if (!type || !(is_float(*type) || is_integer(*type)))
    n.fail(fmt::format("output_datatype is {}, which is no numeric type", n.node().integer("output_datatype", 1)));
  n.output(0, *type, {n.let(max(0, floor_div(length, 2) + 1), "bins"), n.let(max(0, bands), "bands")});
}

void evaluate_mel_weight_matrix(Evaluation& e) {
  for_number(e.output(0).type, [&]<class T>() {
    for_index(e.type(1), [&]<class I>() {
      for_float(e.type(3), [&]<class F>() {
        e.check(scalar::mel_weight_matrix(e.out<T>(), e.in<I>(1).data, e.in<I>(2).data, e.in<F>(3).data, e.in<F>(4).data));
      });
    });
  });
}

void lower_mel_weight_matrix(KernelQuery& l) {
  const View length = l.in(1), rate = l.in(2), low = l.in(3), high = l.in(4);
  l.call("scalar_mel_weight_matrix").tensor(l.out(0)).pointer(length).pointer(rate).pointer(low).pointer(high).emit();
}

}  // namespace

extern const Operator op_MelWeightMatrix;
const Operator op_MelWeightMatrix{.name = "MelWeightMatrix",
                                  .min_inputs = 5,
                                  .max_inputs = 5,
                                  .max_outputs = 1,
                                  .infer = infer_mel_weight_matrix,
                                  .evaluate = evaluate_mel_weight_matrix,
                                  .lower = lower_mel_weight_matrix};

}  // namespace onnxc
