// Sequences: SequenceConstruct, Empty, Insert, Erase, At, Length, SplitToSequence, ConcatFromSequence. A sequence is
// an onnxc_value. Its element type has the extents that all elements share, and `@unknown` where they differ. A
// tensor that is taken out of a sequence has extents that the run binds.
#include <fmt/format.h>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/sequence/sequence.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

const Type& element_of(Inference& n, int i, Type::Kind kind, const char* what) {
  const Type& t = n.type(i);
  if (t.kind != kind || t.nested.empty()) n.fail(fmt::format("input {} is {}, not {}", i, t.text(), what));
  return t.nested[0];
}

namespace {

/// The type that the model states for the node's result, if that is a tensor of this element type with a rank;
/// otherwise null.
const Type* stated_type(Inference& n, ElementType element) {
  if (!n.node().has_output(0)) return nullptr;
  const Type& stated = n.graph()[n.node().output(0)].type;
  return stated.is_tensor() && stated.ranked && stated.element == element ? &stated : nullptr;
}

}  // namespace

Type told_by_run(Inference& n, const Type& of_elements) {
  if (!of_elements.is_tensor()) return of_elements;
  const Type* const stated = of_elements.ranked ? nullptr : stated_type(n, of_elements.element);
  const Type declared = stated != nullptr ? *stated : of_elements;
  if (!declared.ranked)
    n.fail(ErrorCode::UnknownRank, "takes a tensor of unknown rank out of a sequence or an optional",
           "give the model's input the shape of its elements, or this result its own");
  Extents extents;
  for (Dim d : declared.extents) {
    const Dim symbol = n.fresh("x");
    extents.push_back(d.is_constant() ? d : symbol);
  }
  return Type::tensor(declared.element, std::move(extents));
}

void require_declared(KernelQuery& l, const Type& type) {
  for (std::size_t axis = 0; axis < type.extents.size(); ++axis) {
    if (type.extents[axis].is_constant())
      l.require({l.symbol(axis), type.extents[axis], Requirement::Kind::Equal,
                 fmt::format("{} '{}': an element's extent {}", l.node().full_op(), l.node().name, axis)});
  }
}

StepBuilder& bind_extents(StepBuilder& step, const KernelQuery& l) {
  for (std::size_t i = 0; i < l.node().binds.size(); ++i) step.binds(l.symbol(i));
  return step;
}

Arg element_number(ElementType type) { return NumberArg{static_cast<double>(type), ElementType::I32}; }

namespace {

void check_position(Inference& n, int i) {
  if (!n.has(i)) return;
  if (n.element(i) != ElementType::I32 && n.element(i) != ElementType::I64)
    n.fail(fmt::format("the position is {}, not i32 or i64", name(n.element(i))));
  n.unify(element_count(n.extents(i)), 1, "the position");
}

Type holding(Type type, const Type& next) {
  generalise_nested(type, next);
  return type;
}

// ---- creating them

void infer_empty(Inference& n) {
  const auto element = element_type_numbered(static_cast<int32_t>(n.node().integer("dtype", 1)));
  if (!element || *element == ElementType::Undefined) n.fail(fmt::format("dtype {} does not exist", n.node().integer("dtype", 1)));
  n.output(0, Type::sequence(Type::unranked(*element)));
}
void lower_empty(KernelQuery& l) { l.call("sequence_empty").pointer(l.out_object(0)).emit(); }

void infer_construct(Inference& n) {
  Type element = n.type(0);
  for (int i = 0; i < n.node().own_inputs(); ++i) {
    if (!n.type(i).is_tensor() || n.element(i) != n.element(0))
      n.fail(fmt::format("element {} is {}, where the first is {}", i, n.type(i).text(), n.type(0).text()));
    element = holding(element, n.type(i));
  }
  n.output(0, Type::sequence(std::move(element)));
}
void lower_construct(KernelQuery& l) {
  const PointerArg y = l.out_object(0);
  l.call("sequence_empty").pointer(y).emit();
  PointerArg so_far = y;
  so_far.writes = false;
  for (int i = 0; i < l.node().own_inputs(); ++i) {
    const View x = l.in(i);
    StepBuilder step = l.call("sequence_insert");
    step.heap().pointer(y).pointer(so_far).arg(element_number(x.element)).tensor(x).null(ElementType::I64).emit();
  }
}

void infer_insert(Inference& n) {
  const Type& element = element_of(n, 0, Type::Kind::Sequence, "a sequence");
  if (!n.type(1).is_tensor() || n.element(1) != element.element) n.fail(fmt::format("puts {} into {}", n.type(1).text(), n.type(0).text()));
  check_position(n, 2);
  n.output(0, Type::sequence(holding(element, n.type(1))));
}
void lower_insert(KernelQuery& l) {
  const PointerArg x = l.object(0);
  const View item = l.in(1);
  const PointerArg y = l.out_object(0);
  StepBuilder step = l.call("sequence_insert");
  step.heap().pointer(y).pointer(x).arg(element_number(item.element)).tensor(item);
  step.optional_pointer(2, ElementType::I64);
  step.emit();
}

void infer_erase(Inference& n) {
  static_cast<void>(element_of(n, 0, Type::Kind::Sequence, "a sequence"));
  check_position(n, 1);
  n.output(0, n.type(0));
}
void lower_erase(KernelQuery& l) {
  const PointerArg x = l.object(0), y = l.out_object(0);
  StepBuilder step = l.call("sequence_erase");
  step.heap().pointer(y).pointer(x);
  step.optional_pointer(1, ElementType::I64);
  step.emit();
}

// ---- reading them

void infer_at(Inference& n) {
  check_position(n, 1);
  const Type declared = element_of(n, 0, Type::Kind::Sequence, "a sequence");
  n.output(0, told_by_run(n, declared));
}
void lower_at(KernelQuery& l) {
  const PointerArg x = l.object(0);
  const View at = l.in(1), y = l.out_address(0, true);
  StepBuilder step = l.call("sequence_at");
  step.pointer(x).pointer(at).arg(element_number(y.element)).address(y);
  bind_extents(step, l).emit();
  require_declared(l, l.output_type(0));
}

void infer_length(Inference& n) {
  static_cast<void>(element_of(n, 0, Type::Kind::Sequence, "a sequence"));
  n.output(0, ElementType::I64, {});
}
void lower_length(KernelQuery& l) {
  const PointerArg x = l.object(0);
  l.call("sequence_length").pointer(l.out(0)).pointer(x).emit();
}

// ---- SplitToSequence, ConcatFromSequence

void infer_split_to_sequence(Inference& n) {
  Extents element = n.extents(0);
  const auto axis = static_cast<std::size_t>(n.axis(n.node().integer("axis", 0), n.rank(0)));
  bool drops = false;
  if (!n.has(1)) {
    element[axis] = 1;
    drops = n.node().integer("keepdims", 1) == 0;
  } else {
    if (n.element(1) != ElementType::I32 && n.element(1) != ElementType::I64) n.fail(fmt::format("the sizes are {}", name(n.element(1))));
    if (n.rank(1) > 1) n.fail(fmt::format("the sizes have shape {}", text(n.extents(1))));
    const auto sizes = n.elements(1);
    const bool equal = sizes && !sizes->empty() &&
                       std::all_of(sizes->begin(), sizes->end(), [&](Dim d) { return d == sizes->front() && d.is_constant(); });
    const bool whole = equal && (n.rank(1) == 1 || (element[axis].is_constant() && sizes->front().value() > 0 &&
                                                    element[axis].value() % sizes->front().value() == 0));
    element[axis] = whole ? sizes->front() : unknown_extent();
  }
  if (drops) element.erase(element.begin() + static_cast<std::ptrdiff_t>(axis));
  n.output(0, Type::sequence(Type::tensor(n.element(0), std::move(element))));
}
void lower_split_to_sequence(KernelQuery& l) {
  const View x = l.in(0);
  const int64_t given = l.node().integer("axis", 0), axis = given < 0 ? given + static_cast<int64_t>(x.extents.size()) : given;
  const PointerArg y = l.out_object(0);
  StepBuilder step = l.call("split_to_sequence");
  step.heap().pointer(y).tensor(x);
  step.optional_pointer(1, ElementType::I64);
  const Dim parts = !l.has(1) ? Dim(0) : l.extents(1).empty() ? Dim(-1) : l.extents(1)[0];
  step.params({{"elem_type", element_number(x.element)},
               {"axis", dim_arg(axis)},
               {"parts", dim_arg(parts)},
               {"keep_axis", flag_arg(l.has(1) || l.node().integer("keepdims", 1) != 0)}})
      .emit();
}

int64_t joined_axis(const Node& node, std::size_t rank) {
  const int64_t axis = node.integer("axis", 0);
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

void infer_concat_from_sequence(Inference& n) {
  const Type element = element_of(n, 0, Type::Kind::Sequence, "a sequence");
  const Type* const stated = element.ranked ? nullptr : stated_type(n, element.element);
  if (!element.ranked && stated == nullptr)
    n.fail(ErrorCode::UnknownRank, "joins tensors of unknown rank",
           "give the model's input the shape of its elements, or this result its own");
  if (!n.node().has("axis")) n.fail("has no axis");
  const bool adds = n.node().integer("new_axis", 0) != 0;
  const int rank = stated != nullptr ? stated->rank() : element.rank() + (adds ? 1 : 0);
  static_cast<void>(n.axis(n.node().integer("axis", 0), rank));
  Extents extents;
  for (int k = 0; k < rank; ++k) extents.push_back(n.fresh("joined"));
  n.output(0, element.element, std::move(extents));
}
void lower_concat_from_sequence(KernelQuery& l) {
  const PointerArg x = l.object(0);
  const std::size_t rank = l.output_type(0).extents.size();
  const int64_t axis = joined_axis(l.node(), rank);
  const bool adds = l.node().integer("new_axis", 0) != 0;
  StepBuilder step = l.call("concat_extents");
  step.pointer(x).dim(axis).flag(adds);
  bind_extents(step, l).emit();
  const View y = l.out(0);
  l.call("concat_items").tensor(y).pointer(x).arg(element_number(y.element)).dim(axis).flag(adds).emit();
}

}  // namespace

extern const Operator op_SequenceEmpty, op_SequenceConstruct, op_SequenceInsert, op_SequenceErase, op_SequenceAt, op_SequenceLength,
    op_SplitToSequence, op_ConcatFromSequence;
const Operator op_SequenceEmpty{.name = "SequenceEmpty", .max_inputs = 0, .max_outputs = 1, .infer = infer_empty, .lower = lower_empty};
const Operator op_SequenceConstruct{
    .name = "SequenceConstruct", .min_inputs = 1, .max_outputs = 1, .infer = infer_construct, .lower = lower_construct};
const Operator op_SequenceInsert{
    .name = "SequenceInsert", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .infer = infer_insert, .lower = lower_insert};
const Operator op_SequenceErase{
    .name = "SequenceErase", .min_inputs = 1, .max_inputs = 2, .max_outputs = 1, .infer = infer_erase, .lower = lower_erase};
const Operator op_SequenceAt{
    .name = "SequenceAt", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .infer = infer_at, .lower = lower_at};
const Operator op_SequenceLength{
    .name = "SequenceLength", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_length, .lower = lower_length};
const Operator op_SplitToSequence{.name = "SplitToSequence",
                                  .min_inputs = 1,
                                  .max_inputs = 2,
                                  .max_outputs = 1,
                                  .infer = infer_split_to_sequence,
                                  .lower = lower_split_to_sequence};
const Operator op_ConcatFromSequence{.name = "ConcatFromSequence",
                                     .min_inputs = 1,
                                     .max_inputs = 1,
                                     .max_outputs = 1,
                                     .infer = infer_concat_from_sequence,
                                     .lower = lower_concat_from_sequence};

}  // namespace onnxc
