// Reductions. ReduceSum, Prod, Max and Min are kernels. They first apply a function to each value if attribute
// `prologue` names one (our own attribute: abs, square, exp). All other reductions consist of them:
//
//   ReduceL2(x) = Sqrt(ReduceSum{square}(x))      ReduceMean(x) = Div(ReduceSum(x), number of values)
//
// f16 and bf16 are summed in f32 and rounded once. Logarithms, roots and exponentials of integers are computed in
// f64.
#include "compiler/ops/reduce/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/reduce/passes_over_axes.h"
#include "compiler/ops/run_time_axes.h"
#include "runtime_stub/onnxc/scalar/reduce.hpp"

namespace onnxc {

std::optional<std::vector<int>> reduced_axes(const Graph& graph, const Node& node) {
  const int rank = graph[node.input(0)].type.rank();
  std::vector<int64_t> given;
  if (node.has_input(1)) {
    const Value& axes = graph[node.input(1)];
    if (axes.constant) given = to_integers(*axes.constant);
    else if (!(axes.type.is_tensor() && axes.type.ranked && element_count(axes.type.extents) == Dim(0))) return std::nullopt;
  }
  std::vector<int> list;
  if (given.empty()) {
    for (int axis = 0; axis < rank && node.integer("noop_with_empty_axes", 0) == 0; ++axis) list.push_back(axis);
    return list;
  }
  for (int64_t a : given) {
    if (a < -rank || a >= rank) node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", a, rank));
    list.push_back(static_cast<int>(a < 0 ? a + rank : a));
  }
  std::sort(list.begin(), list.end());
  if (std::adjacent_find(list.begin(), list.end()) != list.end()) node.fail(ErrorKind::Invalid, "an axis is given twice");
  return list;
}

bool sums_pixels(const Graph& graph, const Node& node) {
  return node.is("ReduceSum") && node.string("prologue", "").empty() && graph[node.input(0)].type.rank() == 4 &&
         reduced_axes(graph, node) == std::vector{2, 3};
}

ValueId count_along(GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes, ElementType type) {
  Dim n = 1;
  for (int64_t axis : axes) n *= b.extents(x)[static_cast<std::size_t>(axis)];
  if (n.is_constant()) return b.number(type, static_cast<double>(n.value()));
  const ValueId extents = b.op("Gather", {b.op("Shape", {x}), b.integers(axes)}, {{"axis", int64_t{0}}});
  return b.op("Cast", {b.op("ReduceProd", {extents}, {{"keepdims", int64_t{0}}})}, {{"to", static_cast<int64_t>(type)}});
}

ValueId mean_along(GraphBuilder& b, ValueId x, std::vector<int64_t> axes) {
  const ValueId count = count_along(b, x, axes, b.type(x).element);
  return b.op("Div", {b.op("ReduceSum", {x, b.integers(std::move(axes))}), count});
}

namespace {

/// If only a run knows how many axes there are, a hidden input 2 states for each axis of the input whether it is
/// reduced.
void name_axes(GraphBuilder& b, Node& node) {
  if (node.inputs.size() != 2 || !node.has_input(0) || !node.has_input(1)) return;
  const Type &x = b.type(node.input(0)), &axes = b.type(node.input(1));
  if (!x.is_tensor() || !x.ranked || !axes.is_tensor() || !axes.ranked || axes.rank() != 1 || axes.is_static() || !is_integer(axes.element))
    return;
  const auto rank = static_cast<std::size_t>(x.rank());
  const ValueId one = b.number(ElementType::I64, 1), given = cast_to(b, node.input(1), ElementType::I64), count = b.op("Shape", {given});
  const ValueId none = b.integers(std::vector<int64_t>(rank, 0));
  ValueId named = b.op("ScatterElements", {none, given, b.op("Expand", {one, count})});
  if (node.integer("noop_with_empty_axes", 0) == 0) named = b.op("Max", {named, b.op("Sub", {one, b.op("Min", {count, one})})});
  node.inputs.push_back(named);
}

/// Before opset 13 (ReduceSum) or 18 the axes were an attribute.
void resolve_reduce(GraphBuilder& b, Node& node) {
  if (!node.has("axes")) return name_axes(b, node);
  node.inputs.resize(1);
  node.inputs.push_back(b.integers(node.integers("axes")));
  node.attributes.erase("axes");
}

/// Computes the elements of a shape reduced to one. Throws SizeOverflow.
void infer_exact_elements(Inference& n) {
  const auto elements = n.value(0).elements;
  if (!elements || n.rank(0) != 1 || elements->empty() || n.node().has("prologue")) return;
  Dim total = elements->front();
  for (std::size_t i = 1; i < elements->size(); ++i) {
    const Dim d = (*elements)[i];
    if (n.node().op == "ReduceSum") total = total + d;
    else if (n.node().op == "ReduceProd") total = total * d;
    else if (n.node().op == "ReduceMax") total = max(total, d);
    else if (n.node().op == "ReduceMin") total = min(total, d);
    else return;
  }
  n.output_elements(0, {total});
}
void infer_elements(Inference& n) {
  try {
    infer_exact_elements(n);
  } catch (const SizeOverflow&) {  // integers that are no extents: they wrap around, and Dims do not
  }
}

/// The elements of the hidden input as indicators.
DimList indicators_named(DimList elements) {
  for (Dim& d : elements) d = min(1, max(0, d));
  return elements;
}

/// For each axis, 1 if it is reduced, where only a run knows the axes. The list of axes is not empty, unless the
/// hidden input states them: an empty list would be known by its length.
DimList run_time_axes(const Graph& graph, const Node& node) {
  const int rank = graph[node.input(0)].type.rank();
  if (!node.has_input(2)) return axis_indicators(*graph[node.input(1)].elements, rank);
  return indicators_named(*graph[node.input(2)].elements);
}

void infer_run_time_axes(Inference& n) {
  const Extents& in = n.extents(0);
  if (n.has(2)) {
    if (n.node().integer("keepdims", 1) == 0)
      n.unsupported(fmt::format("keepdims is 0, and only a run knows the number of axes (input 1, '{}')", n.value(1).name),
                    "give the axes a known length, or set keepdims");
    const DimList named = indicators_named(n.known_elements(2, "the axes"));
    Extents out;
    for (std::size_t axis = 0; axis < in.size(); ++axis) out.push_back(n.let(select(named[axis], 1, in[axis]), "kept", max(in[axis], 1)));
    return n.output(0, n.element(0), std::move(out));
  }
  const DimList axes = n.known_elements(1, "the axes");
  const DimList reduced = checked_axis_indicators(n, axes, n.rank(0));
  if (n.node().integer("keepdims", 1) == 0) return n.output(0, n.element(0), drop_axes(n, in, reduced, axes.size()));
  Extents out;
  for (std::size_t axis = 0; axis < in.size(); ++axis) out.push_back(n.let(select(reduced[axis], 1, in[axis]), "kept"));
  n.output(0, n.element(0), std::move(out));
}

void infer_reduce(Inference& n) {
  const Extents& in = n.extents(0);
  const auto axes = reduced_axes(n.graph(), n.node());
  if (!axes) return infer_run_time_axes(n);
  const bool keep = n.node().integer("keepdims", 1) != 0;
  Extents out;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    const bool reduced = next < axes->size() && (*axes)[next] == static_cast<int>(axis);
    if (reduced) ++next;
    if (!reduced) out.push_back(in[axis]);
    else if (keep) out.push_back(1);
  }
  if (axes->size() == in.size()) infer_elements(n);
  n.output(0, n.element(0), std::move(out));
}

bool is_kernel(const Node& node) {
  return node.op == "ReduceSum" || node.op == "ReduceProd" || node.op == "ReduceMax" || node.op == "ReduceMin";
}

ValueId reduce(GraphBuilder& b, const Node& node, std::string_view op, ValueId x, const char* prologue = nullptr, bool keep = false) {
  std::map<std::string, Attribute> attributes{{"keepdims", keep ? int64_t{1} : node.integer("keepdims", 1)},
                                              {"noop_with_empty_axes", node.integer("noop_with_empty_axes", 0)}};
  if (prologue != nullptr) attributes["prologue"] = std::string(prologue);
  return b.op(op, {x, node.input(1), node.input(2)}, std::move(attributes));
}

/// log(sum(exp(x))) = m + log(sum(exp(x - m))), where m is the largest value, or 0 if that is infinite.
ValueId log_sum_exp(GraphBuilder& b, const Node& node) {
  const ValueId x = node.input(0), zero = b.number(b.type(x).element, 0);
  const ValueId top = reduce(b, node, "ReduceMax", x, nullptr, true);
  const ValueId shift = b.op("Where", {b.op("IsInf", {top}), zero, top});
  const ValueId log = b.op("Log", {reduce(b, node, "ReduceSum", b.op("Sub", {x, shift}), "exp")});
  if (b.rank(log) == b.rank(shift)) return b.op("Add", {log, shift});
  const auto axes = reduced_axes(b.graph(), node);
  const ValueId fitting = b.op("Squeeze", {shift, axes ? b.integers({axes->begin(), axes->end()}) : node.input(1)});
  return b.op("Add", {log, fitting});
}

/// The number of values that are reduced to one, along axes that only a run knows.
ValueId count_reduced(GraphBuilder& b, const Node& node) {
  const Extents& in = b.extents(node.input(0));
  const DimList reduced = run_time_axes(b.graph(), node);
  Dim n = 1;
  for (std::size_t axis = 0; axis < in.size(); ++axis) n *= select(reduced[axis], in[axis], 1);
  const ValueId count = b.op("Squeeze", {b.shape({n})});
  return b.op("Cast", {count}, {{"to", static_cast<int64_t>(b.type(node.input(0)).element)}});
}

std::optional<std::vector<ValueId>> decompose_reduce(GraphBuilder& b, const Node& node) {
  const std::string& op = node.op;
  const ValueId x = node.input(0);
  const ElementType type = b.type(x).element;
  const auto axes = reduced_axes(b.graph(), node);
  const std::string prologue = node.string("prologue", "");
  if (is_half(type) && op != "ReduceMax" && op != "ReduceMin") return compute_in(b, node, ElementType::F32);
  if (is_integer(type) && (op == "ReduceL2" || op == "ReduceLogSum" || op == "ReduceLogSumExp"))
    return std::vector{cast_to(b, b.op(op, {cast_to(b, x, ElementType::F64), node.input(1), node.input(2)}, node.attributes), type)};
  if (is_kernel(node)) {
    if (!axes || !axes->empty()) return std::nullopt;
    if (prologue == "abs") return std::vector{b.op("Abs", {x})};
    if (prologue == "square") return std::vector{b.op("Mul", {x, x})};
    if (prologue == "exp") return std::vector{b.op("Exp", {x})};
    return std::vector{x};
  }
  if (op == "ReduceL1") return std::vector{reduce(b, node, "ReduceSum", x, "abs")};
  if (op == "ReduceSumSquare") return std::vector{reduce(b, node, "ReduceSum", x, "square")};
  if (op == "ReduceL2") return std::vector{b.op("Sqrt", {reduce(b, node, "ReduceSum", x, "square")})};
  if (op == "ReduceLogSum") return std::vector{b.op("Log", {reduce(b, node, "ReduceSum", x)})};
  if (op == "ReduceLogSumExp") return std::vector{log_sum_exp(b, node)};
  return std::vector{b.op(
      "Div", {reduce(b, node, "ReduceSum", x), axes ? count_along(b, x, {axes->begin(), axes->end()}, type) : count_reduced(b, node)})};
}

}  // namespace

// ---- the kernels

ReductionWalk reduction_walk(const Evaluation& e) {
  Graph inputs;  // for reduced_axes
  Node node = e.node();
  node.inputs.clear();
  node.epilogue_operands = 0;  // they are not among the inputs of an evaluation
  for (int i = 0; i < 2 && e.has(i); ++i) {
    const ValueId v = inputs.add_value("x", Type::tensor(e.type(i), to_extents(e.input(i).shape)));
    if (i == 1) inputs[v].constant = std::make_shared<TensorData>(e.input(1));
    node.inputs.push_back(v);
  }
  const std::vector<int> axes = *reduced_axes(inputs, node);
  const Shape in = Evaluation::shape_of(e.input(0));
  ReductionWalk w;
  for (int axis = 0; axis < in.rank; ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    Shape& shape = reduced ? w.reduced : w.kept;
    Ints& strides = reduced ? w.reduced_strides : w.kept_strides;
    shape.dims[shape.rank++] = in[axis];
    strides[strides.size++] = in.count(axis + 1, in.rank);
  }
  return w;
}

namespace {

template <class Combine, class T>
void evaluate_as(Evaluation& e, const ReductionWalk& w) {
  const std::string prologue = e.node().string("prologue", "");
  T* const y = e.out<T>().data;
  const T* const x = e.in<T>(0).data;
  const auto run = [&]<class Prologue>() {
    scalar::reduce<Combine, Prologue>(Share{}, y, x, w.kept, w.kept_strides, w.reduced, w.reduced_strides);
  };
  if constexpr (std::is_same_v<Combine, scalar::Sum>) {
    if (prologue == "abs") return run.template operator()<scalar::Magnitude>();
    if (prologue == "square") return run.template operator()<scalar::Square>();
    if constexpr (!std::is_integral_v<T>) {
      if (prologue == "exp") return run.template operator()<scalar::Exponential>();
    }
  }
  run.template operator()<scalar::Same>();
}

void evaluate_reduce(Evaluation& e) {
  const ReductionWalk w = reduction_walk(e);
  const std::string& op = e.node().op;
  if (op == "ReduceSum") for_number(e.type(0), [&]<class T>() { evaluate_as<scalar::Sum, T>(e, w); });
  else if (op == "ReduceProd") for_number(e.type(0), [&]<class T>() { evaluate_as<scalar::Product, T>(e, w); });
  else if (e.type(0) == ElementType::Bool) op == "ReduceMax" ? evaluate_as<scalar::Max, bool>(e, w) : evaluate_as<scalar::Min, bool>(e, w);
  else if (op == "ReduceMax") for_number(e.type(0), [&]<class T>() { evaluate_as<scalar::Max, T>(e, w); });
  else for_number(e.type(0), [&]<class T>() { evaluate_as<scalar::Min, T>(e, w); });
}

/// Of a node that reduces: all others sum.
const char* combine_name(const Node& node) {
  return node.op == "ReduceProd" ? "Product" : node.op == "ReduceMax" ? "Max" : node.op == "ReduceMin" ? "Min" : "Sum";
}
const char* prologue_name(const Node& node, const char* none) {
  const std::string prologue = node.string("prologue", "");
  return prologue == "abs" ? "Magnitude" : prologue == "square" ? "Square" : prologue == "exp" ? "Exponential" : none;
}

}  // namespace

void lower_scalar_reduce(KernelQuery& l, ElementType sums) {
  const View x = l.in_any(0), y = l.out(0), s = l.before_epilogue(y, sums);
  const DimList strides = x.strides();
  const auto axes = reduced_axes(l.graph(), l.node());
  const DimList indicators =
      axes ? axis_indicators({axes->begin(), axes->end()}, static_cast<int>(x.extents.size())) : run_time_axes(l.graph(), l.node());
  DimList kept, kept_strides, reduced, reduced_strides;
  for (std::size_t axis = 0; axis < x.extents.size(); ++axis) {
    const bool known = indicators[axis].is_constant();
    if (!known || indicators[axis] == Dim(1)) {
      reduced.push_back(select(indicators[axis], x.extents[axis], 1));
      reduced_strides.push_back(strides[axis]);
    }
    if (!known || indicators[axis] == Dim(0)) {
      kept.push_back(select(indicators[axis], 1, x.extents[axis]));
      kept_strides.push_back(strides[axis]);
    }
  }
  l.call("scalar_reduce")
      .template_arg(RuntimeName{fmt::format("scalar::{}", combine_name(l.node()))})
      .template_arg(RuntimeName{fmt::format("scalar::{}", prologue_name(l.node(), "Same"))})
      .pointer(s)
      .pointer(x)
      .dims(kept)
      .dims(kept_strides)
      .dims(reduced)
      .dims(reduced_strides)
      .emit();
  l.apply_epilogue(y, s);
}

namespace {

/// Each pass reads its input once. The sums between passes go to scratch memory.
void lower_passes(KernelQuery& l, const PassKernels& kernels, const std::vector<AxesPass>& passes, const View& x, const View& y) {
  PointerArg from = x.pointer;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    const AxesPass& p = passes[k];
    const bool last = k + 1 == passes.size();
    const PointerArg to = last ? y.pointer : l.workspace(fmt::format("pass{}", k), ElementType::F32, p.outer * p.inner);
    StepBuilder step = l.call(p.is_last ? kernels.last : kernels.middle);
    const std::string prologue = k == 0 ? prologue_name(l.node(), "") : "";
    step.template_arg(RuntimeName{fmt::format("{}{}", kernels.name_space, combine_name(l.node()))});
    step.template_arg(RuntimeName{prologue.empty() ? std::string(kernels.keep) : fmt::format("{}{}", kernels.name_space, prologue)});
    step.pointer(from).pointer(to);
    step.call().bytes = p.outer * (p.reduced + 1) * p.inner * 4;
    step.params(pass_params(p, last ? p.y_outer : p.inner));
    const bool applied = last && l.node().epilogue && epilogue_fits(l, p.epilogue);
    if (applied) step.epilogue(l.epilogue(p.epilogue, step));
    step.emit();
    if (applied) return;
    from = to;
    from.writes = false;
  }
  l.apply_epilogue(y);
}

}  // namespace

void lower_in_passes(KernelQuery& l, const PassKernels& kernels) {
  const std::vector<int> axes = *reduced_axes(l.graph(), l.node());
  const bool keep = l.node().integer("keepdims", 1) != 0;
  const Extents &in = l.extents(0), &out = l.output_type(0).extents;
  if (const auto sums = l.row_sums(0); sums && sums_pixels(l.graph(), l.node())) {
    if (const auto passes = passes_over_axes(sums->extents, sums->layout, out, l.out_layout(0), axes, keep))
      return lower_passes(l, kernels, *passes, *sums, l.out_any(0));
  }
  if (const auto passes = passes_over_axes(in, l.in_any(0).layout, out, l.out_layout(0), axes, keep))
    return lower_passes(l, kernels, *passes, l.in_any(0), l.out_any(0));
  const auto passes = passes_over_axes(in, {}, out, {}, axes, keep);
  ONNXC_CHECK(passes.has_value(), "row-major tensors can be reduced in passes");
  const View x = l.in(0);
  lower_passes(l, kernels, *passes, x, l.out(0));
}

namespace {

void lower_reduce(KernelQuery& l) {
  if (l.optimise() && reduced_axes(l.graph(), l.node()) && l.type(0).element == ElementType::F32)
    return lower_in_passes(l, {"reduce_last", "reduce_middle"});
  lower_scalar_reduce(l, l.output_type(0).element);
}

bool is_fast(const Graph& graph, const Node& node) { return graph[node.input(0)].type.element == ElementType::F32; }

}  // namespace

std::span<const Operator> table_reductions() {
  static const auto table = [] {
    std::vector<Operator> rows;
    for (const char* name : {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceLogSum",
                             "ReduceLogSumExp", "ReduceSumSquare"}) {
      Operator row{.name = name,
                   .min_inputs = 1,
                   .max_inputs = 3,
                   .max_outputs = 1,
                   .resolve = resolve_reduce,
                   .infer = infer_reduce,
                   .decompose = decompose_reduce};
      if (rows.size() < 4) {
        row.evaluate = evaluate_reduce;
        row.lower = lower_reduce;
        row.layout = LayoutRule::Follows;
        row.takes_epilogue = is_fast;
      }
      rows.push_back(row);
    }
    return rows;
  }();
  return table;
}

}  // namespace onnxc
