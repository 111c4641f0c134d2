// ZipMap: rows of scores as maps from labels. CastMap: a map as a row.
#include <fmt/format.h>

#include "compiler/ops/ml/classes.h"

namespace onnxc {
namespace {

// ---- ZipMap

void infer_zip_map(Inference& n) {
  const Extents& x = n.extents(0);
  const ClassLabels labels = class_labels(n.node());
  if (n.element(0) != ElementType::F32) n.fail(fmt::format("the input is {}, not f32", name(n.element(0))));
  if (x.size() != 1 && x.size() != 2) n.fail(fmt::format("the input has shape {}, not [rows, classes]", text(x)));
  n.unify(x.back(), labels.count(), "the number of classes");
  const ElementType key = labels.strings.empty() ? ElementType::I64 : ElementType::String;
  n.output(0, Type::sequence({Type::Kind::Map, key, false, {}, {Type::tensor(ElementType::F32, {})}}));
}

void lower_zip_map(KernelQuery& l) {
  View x = l.in(0);
  const ClassLabels labels = class_labels(l.node());
  const PointerArg keys = labels.strings.empty() ? l.weights("labels", ElementType::I64, labels.integers)
                                                 : l.weights("labels", *string_constant(labels.strings, {labels.count()}));
  if (x.extents.size() == 1) x.extents.insert(x.extents.begin(), 1);
  const PointerArg y = l.out_object(0);
  l.call("scalar_zip_map").heap().pointer(y).tensor(x).pointer(keys).emit();
}

// ---- CastMap

ElementType cast_to(const Node& node) {
  const std::string to = node.string("cast_to", "TO_FLOAT");
  if (to == "TO_FLOAT") return ElementType::F32;
  if (to == "TO_INT64") return ElementType::I64;
  if (to == "TO_STRING") return ElementType::String;
  node.fail(ErrorKind::Invalid, fmt::format("cast_to is '{}'", to));
}

int64_t length_of(const Node& node) {
  const std::string form = node.string("map_form", "DENSE");
  if (form == "DENSE") return 0;
  const int64_t length = node.integer("max_map", 1);
  if (form != "SPARSE" || length < 1) node.fail(ErrorKind::Invalid, fmt::format("map_form is '{}', max_map {}", form, length));
  return length;
}

void infer_cast_map(Inference& n) {
  const Type& map = n.type(0);
  const bool fits = map.kind == Type::Kind::Map && map.element == ElementType::I64 && map.nested.size() == 1 && map.nested[0].is_tensor() &&
                    (map.nested[0].element == ElementType::F32 || map.nested[0].element == ElementType::String);
  if (!fits) n.fail(fmt::format("the input is {}, not a map from i64 to f32 or strings", map.text()));
  const int64_t length = length_of(n.node());
  n.output(0, cast_to(n.node()), {1, length > 0 ? Dim(length) : n.fresh("entries")});
}

void lower_cast_map(KernelQuery& l) {
  const PointerArg map = l.object(0);
  const View y = l.out_address(0, false);
  StepBuilder call = l.call("scalar_cast_map");
  call.template_arg(l.type(0).nested[0].element).heap().address(y);
  if (length_of(l.node()) > 0) call.null();
  else call.binds(l.symbol(0));
  call.pointer(map).dim(length_of(l.node())).emit();
}

}  // namespace

extern const Operator op_ZipMap, op_CastMap;
const Operator op_ZipMap{.name = "ZipMap",
                         .domain = "ai.onnx.ml",
                         .min_inputs = 1,
                         .max_inputs = 1,
                         .max_outputs = 1,
                         .infer = infer_zip_map,
                         .lower = lower_zip_map};
const Operator op_CastMap{.name = "CastMap",
                          .domain = "ai.onnx.ml",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .infer = infer_cast_map,
                          .lower = lower_cast_map};

}  // namespace onnxc
