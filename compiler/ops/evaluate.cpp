#include "compiler/ops/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/shape_arithmetic.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/propagate.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/fn.hpp"

namespace onnxc {
namespace {

constexpr int64_t kMostEvaluated = int64_t{1} << 31;  // bytes of a value, so that inputs that say how large one is do no harm

template <class T>
T* elements(TensorData& t) {
  return reinterpret_cast<T*>(t.bytes.data());
}
template <class T>
const T* elements(const TensorData& t) {
  return reinterpret_cast<const T*>(t.bytes.data());
}

/// The input repeated to the output's shape.
TensorData broadcast(const TensorData& input, const std::vector<int64_t>& shape) {
  if (input.shape == shape) return input;
  TensorData out = evaluation_room(input.type, shape);
  const int64_t n = out.count();
  std::vector<int64_t> strides(shape.size(), 0), index(shape.size(), 0);
  int64_t stride = 1;
  for (std::size_t k = 0; k < input.shape.size(); ++k) {
    const std::size_t axis = shape.size() - 1 - k;
    const int64_t extent = input.shape[input.shape.size() - 1 - k];
    strides[axis] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  for_size(input.type, [&]<class T>() {
    int64_t from = 0;
    for (int64_t i = 0; i < n; ++i) {
      elements<T>(out)[i] = elements<T>(input)[from];
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        from += strides[axis];
        if (++index[axis] < shape[axis]) break;
        from -= strides[axis] * shape[axis];
        index[axis] = 0;
      }
    }
  });
  return out;
}

[[noreturn]] void undefined(Fn fn, ElementType type) {
  throw Error(ErrorKind::Invalid, fmt::format("{} is not defined for {}", info(fn).name, name(type)));
}

/// The logical functions are for bool, all others for numbers.
template <class T>
consteval bool takes(Fn fn) {
  const bool logical = fn == Fn::LogicalNot || fn == Fn::LogicalAnd || fn == Fn::LogicalOr || fn == Fn::LogicalXor;
  return logical == std::is_same_v<T, bool>;
}

template <class T>
void apply_same(Fn fn, TensorData& out, const TensorData& a, const TensorData& b) {
  const int64_t n = out.count();
  T* y = elements<T>(out);
  const T* p = elements<T>(a);
  const T* q = elements<T>(b);
  switch (fn) {
#define ONNXC_UNARY(id, name)                                              \
  case Fn::id:                                                             \
    if constexpr (takes<T>(Fn::id) && requires(T x) { T(fn::name(x)); }) { \
      for (int64_t i = 0; i < n; ++i) y[i] = T(fn::name(p[i]));            \
      return;                                                              \
    }                                                                      \
    break;
#define ONNXC_BINARY(id, name)                                                \
  case Fn::id:                                                                \
    if constexpr (takes<T>(Fn::id) && requires(T x) { T(fn::name(x, x)); }) { \
      for (int64_t i = 0; i < n; ++i) y[i] = T(fn::name(p[i], q[i]));         \
      return;                                                                 \
    }                                                                         \
    break;
#define ONNXC_CHOOSE_1(id, name) ONNXC_UNARY(id, name)
#define ONNXC_CHOOSE_2(id, name) ONNXC_BINARY(id, name)
#define ONNXC_CHOOSE_3(id, name)
#define ONNXC_Same(id, name, arity) ONNXC_CHOOSE_##arity(id, name)
#define ONNXC_Boolean(id, name, arity)
#define ONNXC_First(id, name, arity)
#define ONNXC_Second(id, name, arity)
#define ONNXC_Explicit(id, name, arity)
#define ONNXC_ROW(id, name, arity, result) ONNXC_##result(id, name, arity)
    ONNXC_FUNCTIONS(ONNXC_ROW)
#undef ONNXC_Same
#undef ONNXC_Boolean
    default: break;
  }
  undefined(fn, out.type);
}

template <class T>
void apply_boolean(Fn fn, TensorData& out, const TensorData& a, const TensorData& b) {
  const int64_t n = out.count();
  bool* y = elements<bool>(out);
  const T* p = elements<T>(a);
  const T* q = elements<T>(b);
  switch (fn) {
#undef ONNXC_UNARY
#undef ONNXC_BINARY
#define ONNXC_UNARY(id, name)                                \
  case Fn::id:                                               \
    if constexpr (requires(T x) { bool(fn::name(x)); }) {    \
      for (int64_t i = 0; i < n; ++i) y[i] = fn::name(p[i]); \
      return;                                                \
    }                                                        \
    break;
#define ONNXC_BINARY(id, name)                                     \
  case Fn::id:                                                     \
    if constexpr (requires(T x) { bool(fn::name(x, x)); }) {       \
      for (int64_t i = 0; i < n; ++i) y[i] = fn::name(p[i], q[i]); \
      return;                                                      \
    }                                                              \
    break;
#define ONNXC_Same(id, name, arity)
#define ONNXC_Boolean(id, name, arity) ONNXC_CHOOSE_##arity(id, name)
    ONNXC_FUNCTIONS(ONNXC_ROW)
    default: break;
  }
  undefined(fn, a.type);
}

template <class To, class From>
void apply_cast(Fn fn, To* y, const From* x, int64_t n) {
  const auto each = [&](auto one) {
    for (int64_t i = 0; i < n; ++i) y[i] = one(x[i]);
  };
  if (fn == Fn::Cast) return each([](From v) { return fn::cast<To>(v); });
  if constexpr (std::is_same_v<To, float8e8m0>) {
    if (fn == Fn::CastDown) return each([](From v) { return fn::cast_down<To>(v); });
    if (fn == Fn::CastNearest) return each([](From v) { return fn::cast_nearest<To>(v); });
    if (fn == Fn::CastSpecialDown) return each([](From v) { return fn::cast_special_down<To>(v); });
    if (fn == Fn::CastSpecialNearest) return each([](From v) { return fn::cast_special_nearest<To>(v); });
  }
  each([](From v) { return fn::cast_special<To>(v); });
}

/// Operands that the function does not have are not looked at.
TensorData apply(const Expr::Term& term, const TensorData& a, const TensorData& b, const TensorData& c, const std::vector<int64_t>& shape) {
  TensorData out = evaluation_room(term.type, shape);
  const int64_t n = out.count();
  switch (info(term.fn).result) {
    case FnResult::Same: for_type(term.type, [&]<class T>() { apply_same<T>(term.fn, out, a, b); }); break;
    case FnResult::Boolean:
      if (a.type == ElementType::String) apply_boolean<onnxc_string>(term.fn, out, a, b);
      else for_type(a.type, [&]<class T>() { apply_boolean<T>(term.fn, out, a, b); });
      break;
    case FnResult::First:
      for_number(a.type, [&]<class T>() {
        for_number(b.type, [&]<class U>() {
          for (int64_t i = 0; i < n; ++i) elements<T>(out)[i] = fn::pow(elements<T>(a)[i], elements<U>(b)[i]);
        });
      });
      break;
    case FnResult::Second:
      for_size(term.type, [&]<class T>() {
        for (int64_t i = 0; i < n; ++i) elements<T>(out)[i] = elements<bool>(a)[i] ? elements<T>(b)[i] : elements<T>(c)[i];
      });
      break;
    case FnResult::Explicit:
      for_element(a.type, [&]<class From>() {
        for_element(term.type, [&]<class To>() { apply_cast(term.fn, elements<To>(out), elements<From>(a), n); });
      });
      break;
  }
  return out;
}

/// A tensor of strings as kernels see it: onnxc_strings that point into `tensor`.
Constant with_views(const Constant& tensor) {
  if (tensor == nullptr || tensor->type != ElementType::String) return tensor;
  auto views = std::make_shared<TensorData>(evaluation_room(tensor->type, tensor->shape));
  for (std::size_t i = 0; i < tensor->strings.size(); ++i)
    elements<onnxc_string>(*views)[i] = {tensor->strings[i].data(), tensor->strings[i].size()};
  return views;
}

/// The inverse, with copies of the strings.
void own_strings(TensorData& tensor) {
  if (tensor.type != ElementType::String) return;
  tensor.strings.clear();
  for (const onnxc_string& s : std::as_const(tensor).as<onnxc_string>()) tensor.strings.emplace_back(s.size == 0 ? "" : s.data, s.size);
  tensor.bytes.clear();
}

}  // namespace

TensorData evaluation_room(ElementType type, std::vector<int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count = checked_mul(count, extent);
  if (storage_bytes(type, count) > kMostEvaluated) throw Error(ErrorCode::ConstantTooLarge, "a value is too large to be evaluated");
  if (type != ElementType::String) return unpacked_zeros(type, std::move(shape));
  TensorData room{type, std::move(shape), {}, {}};
  room.bytes.resize(static_cast<std::size_t>(storage_bytes(type, room.count())));
  return room;
}

TensorData evaluate_expression(const Expr& expr, const std::vector<Constant>& inputs, const std::vector<int64_t>& shape) {
  std::vector<TensorData> values;
  for (const Expr::Term& term : expr.terms) {
    const auto arg = [&](int i) -> const TensorData& { return values[static_cast<std::size_t>(term.args[term.args[i] < 0 ? 0 : i])]; };
    if (term.kind == Expr::Kind::Input) {
      values.push_back(broadcast(*inputs[static_cast<std::size_t>(term.args[0])], shape));
    } else if (term.kind == Expr::Kind::Constant) {
      TensorData one = TensorData::zeros(term.type, {});
      std::memcpy(one.bytes.data(), &term.bits, one.bytes.size());
      values.push_back(broadcast(unpacked(std::move(one)), shape));
    } else {
      values.push_back(apply(term, arg(0), arg(1), arg(2), shape));
    }
  }
  return std::move(values.back());
}

std::optional<std::vector<TensorData>> evaluate_node(const Graph& graph, const Node& node, std::vector<Constant> inputs) {
  const std::vector<Constant> originals = inputs;  // strings that are pointed to
  for (Constant& input : inputs) {
    if (input && is_sub_byte(input->type)) input = std::make_shared<TensorData>(unpacked(*input));
    else input = with_views(input);
  }
  std::vector<TensorData> outputs;
  const auto concrete = [](const Type& t) { return t.is_static() ? values(t.extents) : std::vector<int64_t>{}; };
  const Operator* op = node.is_map() ? nullptr : find_operator(node);
  const bool elementwise = node.is_map() || (op != nullptr && op->express != nullptr);
  std::vector<Constant> operands;  // of the epilogue
  if (!node.is_map() && node.epilogue) {
    operands.assign(inputs.end() - node.epilogue_operands, inputs.end());
    inputs.resize(inputs.size() - static_cast<std::size_t>(node.epilogue_operands));
  }
  if (elementwise) {
    const Type& type = graph[node.outputs[0]].type;
    if (!type.is_static()) return std::nullopt;
    outputs.push_back(evaluate_expression(node.is_map() ? *node.epilogue : op->express(graph, node), inputs, concrete(type)));
    own_strings(outputs.back());
  } else {
    if (op == nullptr || op->evaluate == nullptr) return std::nullopt;
    for (ValueId v : node.outputs) {
      const bool allocate = v != kAbsent && graph[v].type.is_static();
      ElementType element = v == kAbsent ? ElementType::Undefined : graph[v].type.element;
      // The epilogue may change the type. The operator's own result has the type of its expression's input x0.
      if (allocate && node.epilogue) {
        for (const auto& t : node.epilogue->terms) {
          if (t.kind == Expr::Kind::Input && t.args[0] == 0) element = t.type;
        }
      }
      outputs.push_back(allocate ? evaluation_room(element, concrete(graph[v].type)) : TensorData{});
    }
    Evaluation evaluation(node, std::move(inputs), std::move(outputs));
    op->evaluate(evaluation);
    outputs = evaluation.take_outputs();
    for (TensorData& output : outputs) own_strings(output);
  }
  if (!node.is_map() && node.epilogue) {
    const std::vector<int64_t> shape = outputs[0].shape;
    operands.insert(operands.begin(), std::make_shared<TensorData>(std::move(outputs[0])));
    outputs[0] = evaluate_expression(*node.epilogue, operands, shape);
  }
  for (TensorData& output : outputs) output = packed(std::move(output));
  return outputs;
}

namespace {

bool is_known(const Graph& graph) {
  return std::ranges::all_of(graph.outputs, [&](ValueId v) { return graph[v].constant != nullptr; });
}

bool is_too_large(const Value& value) {
  if (!value.type.is_static()) return false;
  try {
    return storage_bytes(value.type.element, element_count(value.type.extents).value()) > kMostEvaluated;
  } catch (const SizeOverflow&) {
    return true;
  }
}

/// Why a graph whose inputs are constants has nodes left: the first of them that had all of its inputs.
Evaluated reason_for_rest(const Graph& rest) {
  for (const Node& node : rest.nodes) {
    std::vector<Constant> inputs;
    for (ValueId v : node.inputs) inputs.push_back(v == kAbsent ? nullptr : rest[v].constant);
    const bool has_inputs = std::ranges::all_of(node.inputs, [&](ValueId v) { return v == kAbsent || rest[v].constant != nullptr; });
    if (!has_inputs || node.outputs.empty()) continue;
    if (std::ranges::any_of(node.outputs, [&](ValueId v) { return v != kAbsent && is_too_large(rest[v]); }))
      return {nullptr, false, fmt::format("the result of {} is too large to be evaluated", node.full_op())};
    try {
      if (!node.regions.empty() || !evaluate_node(rest, node, std::move(inputs)))
        return {nullptr, false, fmt::format("{} has no reference value", node.full_op())};
    } catch (const Error& e) {
      return {nullptr, e.kind() == ErrorKind::Invalid, e.diagnostics()[0].found};
    }
  }
  return {nullptr, false, "a value has no reference value"};
}

}  // namespace

std::vector<Evaluated> evaluate_outputs(const Graph& graph, const std::vector<Constant>& inputs) {
  // With all inputs constant, propagation computes every value.
  Graph copy = clone(graph);
  ONNXC_CHECK(inputs.size() == copy.inputs.size(), "every input has a value");
  std::map<std::string, Dim> symbols;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Value& v = copy[copy.inputs[i]];
    for (std::size_t k = 0; k < v.type.extents.size() && k < inputs[i]->shape.size(); ++k) {
      if (v.type.extents[k].is_symbol()) symbols.emplace(v.type.extents[k].name(), inputs[i]->shape[k]);
    }
    v.type = Type::tensor(inputs[i]->type, to_extents(inputs[i]->shape));
    v.constant = inputs[i];
    v.elements.reset();
  }
  for_each_graph(copy, [&](Graph& region) {
    for (Node& node : region.nodes) {
      if (is_extents(node)) bind_symbols(node, symbols);
    }
  });
  copy.inputs.clear();
  const FoldBudget all{
      .most_bytes = INT64_MAX, .total_bytes = INT64_MAX, .work = std::numeric_limits<double>::infinity(), .evaluates = true};
  propagate(copy, all);
  if (!is_known(copy)) {  // those that are computed in floats may have parts that have one
    copy = decompose(std::move(copy));
    propagate(copy, all);
  }
  std::vector<Evaluated> outputs;
  for (ValueId v : copy.outputs) outputs.push_back(copy[v].constant ? Evaluated{copy[v].constant} : reason_for_rest(copy));
  return outputs;
}

std::vector<Constant> evaluate_graph(const Graph& graph, const std::vector<Constant>& inputs) {
  const std::vector<Evaluated> outputs = evaluate_outputs(graph, inputs);
  std::vector<Constant> values;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].value)
      throw Error(ErrorKind::Unsupported, fmt::format("'{}' has no reference value: {}", graph[graph.outputs[k]].name, outputs[k].why));
    values.push_back(outputs[k].value);
  }
  return values;
}

}  // namespace onnxc
