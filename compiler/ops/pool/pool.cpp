// MaxPool, AveragePool, LpPool. f32 images with one to three spatial axes, and MaxPool's of bytes, run channels-last, on
// vectors of channels (select/pool/pool.cpp). All others use the reference kernel. f16 and bf16 are computed in f32.
#include "compiler/ops/pool/pool.h"

#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/pool.hpp"

namespace onnxc {

Window pool_window(const Node& node, const Extents& x) {
  if (!node.has("kernel_shape")) node.fail(ErrorKind::Invalid, "attribute 'kernel_shape' is missing");
  return read_window(node, spatial_extents(x), {});
}

bool has_fast_pool(const Graph& graph, const Node& node) {
  const Type& x = graph[node.input(0)].type;
  return x.element == ElementType::F32 && x.rank() <= 5 && node.op != "LpPool" && !node.has_output(1);
}

bool has_byte_pool(const Graph& graph, const Node& node) {
  const Type& x = graph[node.input(0)].type;
  return is_byte(x.element) && x.rank() <= 4 && node.op == "MaxPool" && !node.has_output(1);
}

Dim window_elements(const Window& window, const Extents& y) {
  Dim n = element_count(y);
  for (const auto& k : window.kernel) n *= k;
  return n;
}

namespace {

void infer_pool(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  const std::string auto_pad = n.node().string("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  Extents out{x[0], x[1]};
  for (Dim d : window_output(n.node(), pool_window(n.node(), x), spatial_extents(x), n.node().integer("ceil_mode", 0) != 0 && !same))
    out.push_back(d);
  n.output(1, ElementType::I64, out);
  n.output(0, n.element(0), std::move(out));
}

/// LpPool's p was a float before opset 2.
double norm_of(const Node& node) {
  const auto it = node.attributes.find("p");
  if (it == node.attributes.end()) return 2;
  const auto* number = std::get_if<float>(&it->second);
  const double p = number != nullptr ? static_cast<double>(*number) : static_cast<double>(node.integer("p", 2));
  if (!(p > 0)) node.fail(ErrorKind::Invalid, fmt::format("p is {}", p));
  return p;
}

void evaluate_pool(Evaluation& e) {
  const Window window = pool_window(e.node(), to_extents(e.input(0).shape));
  scalar::PoolParams p;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.kernel[p.kernel.size++] = window.kernel[i].value();
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
    p.pads_end[p.pads_end.size++] = window.pads_end[i].value();
  }
  p.count_include_pad = e.node().integer("count_include_pad", 0) != 0;
  p.column_major = e.node().integer("storage_order", 0) != 0;
  if (e.node().op == "MaxPool") {
    for_number(e.type(0), [&]<class T>() {
      scalar::max_pool<T>(Share{}, e.out<T>(), e.has_output(1) ? e.out<int64_t>(1).data : nullptr, e.in<T>(0), p);
    });
  } else if (e.node().op == "AveragePool") {
    for_float(e.type(0), [&]<class T>() { scalar::average_pool<T>(Share{}, e.out<T>(), e.in<T>(0), p); });
  } else {
    p.p = norm_of(e.node());
    for_float(e.type(0), [&]<class T>() { scalar::lp_pool<T>(Share{}, e.out<T>(), e.in<T>(0), p); });
  }
}

void lower_pool_reference(KernelQuery& l) {
  const Node& node = l.node();
  const Window window = pool_window(node, l.extents(0));
  const View x = l.in(0), y = l.out(0);
  const bool is_max = node.op == "MaxPool";
  StepBuilder step = l.call(is_max ? "scalar_max_pool" : node.op == "AveragePool" ? "scalar_average_pool" : "scalar_lp_pool");
  step.template_arg(y.element).tensor(y).work(window_elements(window, y.extents));
  if (is_max && l.has_output(1)) step.pointer(l.out(1));
  else if (is_max) step.null();
  NamedArgs params{{"kernel", dims_arg(window.kernel)},
                   {"strides", dims_arg(window.strides)},
                   {"dilations", dims_arg(window.dilations)},
                   {"pads", dims_arg(window.pads_begin)},
                   {"pads_end", dims_arg(window.pads_end)}};
  if (node.op == "AveragePool" && node.integer("count_include_pad", 0) != 0) params.emplace_back("count_include_pad", flag_arg(true));
  if (is_max && node.integer("storage_order", 0) != 0) params.emplace_back("column_major", flag_arg(true));
  if (node.op == "LpPool") params.emplace_back("p", NumberArg{norm_of(node), ElementType::F64});
  step.tensor(x).params(std::move(params)).emit();
}

void lower_pool(KernelQuery& l) {
  if (l.optimise() && has_fast_pool(l.graph(), l.node())) return lower_fast_pool(l);
  if (l.optimise() && has_byte_pool(l.graph(), l.node())) lower_byte_pool(l);
  else lower_pool_reference(l);
  l.apply_epilogue(l.result());
}

Operator pool_operator(std::string_view name, int outputs) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = outputs,
          .infer = infer_pool,
          .decompose = compute_in_float,
          .evaluate = evaluate_pool,
          .lower = lower_pool,
          .layout = name == "LpPool" ? LayoutRule::RowMajor : LayoutRule::Prefers,
          .planar = name == "LpPool" ? nullptr : planar_pool,
          .takes_epilogue = has_fast_pool};
}

}  // namespace

std::span<const Operator> table_pools() {
  static const Operator rows[] = {pool_operator("MaxPool", 2), pool_operator("AveragePool", 1), pool_operator("LpPool", 1)};
  return rows;
}

}  // namespace onnxc
