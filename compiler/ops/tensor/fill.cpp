// ConstantOfShape, EyeLike, Range: tensors made of their shape and a number or two.
#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/tensor/moves.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/fn.hpp"
#include "runtime_stub/onnxc/scalar/fill.hpp"

namespace onnxc {
namespace {

// ---- ConstantOfShape: one value everywhere, by default 0.0f.

Constant filler_of(const Node& node) {
  const auto it = node.attributes.find("value");
  if (it == node.attributes.end()) return make_scalar(ElementType::F32, 0.0f);
  const auto* value = std::get_if<Constant>(&it->second);
  if (value == nullptr || (*value)->count() != 1) node.fail(ErrorKind::Invalid, "value is not a tensor of one element");
  return *value;
}

Moves move_constant(const Operands& operands) {
  Move move{.input = Move::kFill, .output = 0, .axes = {}, .from = {}, .to = {}};
  for (int k = 0; k < static_cast<int>(operands.out[0].size()); ++k)
    move.axes.push_back({.extent = operands.out[0][static_cast<std::size_t>(k)], .from = -1, .to = k});
  return {{std::move(move)}, filler_of(operands.node)};
}

void infer_constant_of_shape(Inference& n) {
  const DimList shape = n.known_elements(0, "the shape");
  n.output(0, filler_of(n.node())->type, shape);
  infer_moved_elements(n, move_constant);
}

// ---- EyeLike: ones on the k-th diagonal of a matrix, zeros elsewhere.

void infer_eye_like(Inference& n) {
  if (n.rank(0) != 2) n.fail(fmt::format("the input has rank {}, not 2", n.rank(0)));
  const auto type = n.node().has("dtype") ? element_type_numbered(static_cast<int32_t>(n.node().integer("dtype", 0))) : n.element(0);
  if (!type || *type == ElementType::Undefined) n.fail(fmt::format("dtype {} does not exist", n.node().integer("dtype", 0)));
  n.output(0, *type, n.extents(0));
}

void evaluate_eye_like(Evaluation& e) {
  for_type(e.output(0).type, [&]<class T>() { scalar::eye_like(e.out<T>(), e.node().integer("k", 0)); });
}

void lower_eye_like(KernelQuery& l) { l.call("scalar_eye_like").tensor(l.out(0)).dim(l.node().integer("k", 0)).emit(); }

// ---- Range: start, start + delta, ... up to the limit, which is excluded.

/// The number as a Dim, if it is an integer whose elements are known, or a cast of one to a floating-point type.
std::optional<Dim> integer_of(const Graph& graph, const Node& node, int i) {
  const Value& value = graph[node.inputs[static_cast<std::size_t>(i)]];
  if (value.elements) return value.elements->size() == 1 ? std::optional<Dim>((*value.elements)[0]) : std::nullopt;
  if (const TensorData* c = value.constant.get()) {
    if (c->count() != 1) return std::nullopt;
    if (is_integer(c->type)) return to_integers(*c)[0];
    const double x = to_doubles(*c)[0];
    return x == std::floor(x) && std::abs(x) < 1e15 ? std::optional<Dim>(static_cast<int64_t>(x)) : std::nullopt;
  }
  const auto& nodes = graph.nodes;
  for (std::size_t k = nodes.size(); k-- > 0;) {
    if (nodes[k].output(0) != node.input(i)) continue;
    const bool casts =
        nodes[k].is("Cast") || (nodes[k].is_map() && nodes[k].epilogue->terms.size() == 2 && nodes[k].epilogue->terms[1].fn == Fn::Cast);
    if (!casts || nodes[k].inputs.empty()) return std::nullopt;
    const auto& elements = graph[nodes[k].inputs[0]].elements;
    return elements && elements->size() == 1 ? std::optional<Dim>((*elements)[0]) : std::nullopt;
  }
  return std::nullopt;
}

/// max(ceil((limit - start) / delta), 0) of constants, in their own precision.
int64_t range_length(Inference& n) {
  int64_t length = 0;
  for_number(n.element(0), [&]<class T>() {
    const T start = n.constant(0)->as<T>()[0], limit = n.constant(1)->as<T>()[0], delta = n.constant(2)->as<T>()[0];
    if (!(static_cast<double>(delta) < 0) && !(static_cast<double>(delta) > 0)) n.fail("delta is 0 or no number");
    if constexpr (std::is_integral_v<T>) {
      if ((limit > start) != (delta > 0)) return;  // none, also if limit is start
      // The distances as magnitudes, which always fit in 64 bits.
      const auto distance = [](T from, T to) {
        return static_cast<uint64_t>(static_cast<int64_t>(to)) - static_cast<uint64_t>(static_cast<int64_t>(from));
      };
      const uint64_t whole = limit > start ? distance(start, limit) : distance(limit, start),
                     step = delta > 0 ? distance(0, delta) : distance(delta, 0);
      const uint64_t count = whole / step + (whole % step != 0);
      if (count > static_cast<uint64_t>(INT64_MAX)) n.fail("is too long");
      length = static_cast<int64_t>(count);
    } else {
      double difference;
      if constexpr (std::is_same_v<T, double>) difference = limit - start;
      else difference = static_cast<double>(static_cast<float>(limit) - static_cast<float>(start));
      const double count = std::ceil(difference / static_cast<double>(delta));
      if (!(count < 9e18)) n.fail("has no end");
      length = count > 0 ? static_cast<int64_t>(count) : 0;
    }
  });
  return length;
}

/// If only a run knows the numbers, a hidden input 3 has the length: max(ceil((limit - start) / delta), 0).
void resolve_range(GraphBuilder& b, Node& node) {
  if (node.inputs.size() != 3) return;
  const Graph& graph = b.graph();
  bool constant = true;
  for (ValueId v : node.inputs) {
    if (v == kAbsent || !b.type(v).is_tensor() || !b.type(v).ranked || b.type(v).element != b.type(node.inputs[0]).element) return;
    constant = constant && graph[v].constant;
  }
  const auto start = integer_of(graph, node, 0), limit = integer_of(graph, node, 1), delta = integer_of(graph, node, 2);
  if (constant || (start && limit && delta && delta->is_constant())) return;
  const auto cast = [&](ValueId v, ElementType type) { return b.op("Cast", {v}, {{"to", static_cast<int64_t>(type)}}); };
  const ElementType type = b.type(node.inputs[0]).element, exact = is_half(type)      ? ElementType::F32
                                                                   : is_integer(type) ? ElementType::I64
                                                                                      : type;
  const ValueId difference = cast(b.op("Sub", {cast(node.inputs[1], exact), cast(node.inputs[0], exact)}), ElementType::F64);
  const ValueId count = b.op("Ceil", {b.op("Div", {difference, cast(node.inputs[2], ElementType::F64)})});
  node.inputs.push_back(b.op("Reshape", {cast(b.op("Max", {count, b.number(ElementType::F64, 0)}), ElementType::I64), b.integers({1})}));
}

void infer_range(Inference& n) {
  for (int i = 0; i < 3; ++i) {
    if (!(element_count(n.extents(i)) == Dim(1)))
      n.fail(fmt::format("input {} has shape {}; start, limit and delta are scalars", i, text(n.extents(i))));
    if (n.element(i) != n.element(0)) n.fail("start, limit and delta differ in type");
  }
  if (n.constant(0) != nullptr && n.constant(1) != nullptr && n.constant(2) != nullptr) return n.output(0, n.element(0), {range_length(n)});
  if (n.has(3)) return n.output(0, n.element(0), {n.let(n.known_elements(3, "the length")[0], "range")});
  const auto start = integer_of(n.graph(), n.node(), 0), limit = integer_of(n.graph(), n.node(), 1),
             delta = integer_of(n.graph(), n.node(), 2);
  if (!start || !limit || !delta || !delta->is_constant())
    n.fail(ErrorCode::NotConstant, "start, limit or delta is only known when the model runs",
           "make them constants of the model, or extents of its inputs");
  if (*delta == Dim(0)) n.fail("delta is 0");
  const int64_t step = delta->value();
  const Dim length = max(0, step > 0 ? ceil_div(*limit - *start, step) : ceil_div(*start - *limit, -step));
  n.output(0, n.element(0), {length});
  if (!is_integer(n.element(0)) || !length.is_constant() || length.value() > 256) return;
  DimList elements;
  for (int64_t i = 0; i < length.value(); ++i) elements.push_back(*start + *delta * i);
  n.output_elements(0, std::move(elements));
}

void evaluate_range(Evaluation& e) {
  for_number(e.type(0), [&]<class T>() { scalar::range(e.out<T>(), e.in<T>(0), e.in<T>(2)); });
}

void lower_range(KernelQuery& l) {
  const View start = l.in(0), delta = l.in(2);
  l.call("scalar_range").tensor(l.out(0)).tensor(start).tensor(delta).emit();
}

}  // namespace

extern const Operator op_ConstantOfShape, op_EyeLike, op_Range;
const Operator op_ConstantOfShape{.name = "ConstantOfShape",
                                  .min_inputs = 1,
                                  .max_inputs = 1,
                                  .max_outputs = 1,
                                  .infer = infer_constant_of_shape,
                                  .evaluate = evaluate_as<move_constant>,
                                  .lower = lower_as<move_constant>};
const Operator op_EyeLike{.name = "EyeLike",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .infer = infer_eye_like,
                          .evaluate = evaluate_eye_like,
                          .lower = lower_eye_like};
const Operator op_Range{.name = "Range",
                        .min_inputs = 3,
                        .max_inputs = 4,
                        .max_outputs = 1,
                        .resolve = resolve_range,
                        .infer = infer_range,
                        .evaluate = evaluate_range,
                        .lower = lower_range};

}  // namespace onnxc
