// LabelEncoder, CategoryMapper, OneHotEncoder, DictVectorizer: tables of keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/ml/classes.h"
#include "compiler/ops/ml/key_table.h"
#include "runtime_stub/onnxc/scalar/ml/lookup.hpp"

namespace onnxc {
namespace {

TensorData of_floats(const std::vector<float>& values) {
  TensorData t = TensorData::zeros(ElementType::F32, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, t.as<float>().begin());
  return t;
}
TensorData of_integers(const std::vector<int64_t>& values) { return *make_constant(values); }
TensorData of_strings(const std::vector<std::string>& values) { return *string_constant(values, {static_cast<int64_t>(values.size())}); }

/// The attribute of that stem: STEM_strings, STEM_int64s, STEM_floats or STEM_tensor.
std::optional<TensorData> table(const Node& node, const std::string& stem) {
  if (const auto list = strings_of(node, stem + "_strings"); !list.empty()) return of_strings(list);
  if (const auto list = node.integers(stem + "_int64s"); !list.empty()) return of_integers(list);
  if (const auto it = node.attributes.find(stem + "_floats"); it != node.attributes.end()) {
    if (const auto list = floats_of(node, stem + "_floats"); !list.empty()) return of_floats(list);
  }
  if (const auto it = node.attributes.find(stem + "_tensor"); it != node.attributes.end()) {
    if (const auto* tensor = std::get_if<Constant>(&it->second)) return **tensor;
  }
  return std::nullopt;
}

// ---- LabelEncoder

/// Version 1 had classes: strings to their numbers, or back.
void resolve_label_encoder(GraphBuilder& b, Node& node) {
  if (node.version != 1) return;
  const std::vector<std::string> classes = strings_of(node, "classes_strings");
  std::vector<int64_t> numbers(classes.size());
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  node.attributes.erase("classes_strings");
  if (classes.empty()) node.fail(ErrorKind::Invalid, "has no classes_strings");
  const bool from_strings = !node.inputs.empty() && b.type(node.inputs[0]).element == ElementType::String;
  node.attributes[from_strings ? "keys_strings" : "values_strings"] = classes;
  node.attributes[from_strings ? "values_int64s" : "keys_int64s"] = numbers;
}

struct Encoding {
  TensorData keys, values, otherwise;
};

Encoding encoding_of(const Node& node) {
  const auto keys = table(node, "keys"), values = table(node, "values");
  if (!keys || !values || keys->count() != values->count()) node.fail(ErrorKind::Invalid, "needs as many keys as values");
  if (is_sub_byte(keys->type) || is_sub_byte(values->type))
    node.fail(ErrorKind::Unsupported, fmt::format("encodes {} as {}", name(keys->type), name(values->type)));
  Encoding e{*keys, *values, {}};
  e.keys.shape = e.values.shape = {e.keys.count()};
  if (const auto it = node.attributes.find("default_tensor"); it != node.attributes.end()) {
    const auto* tensor = std::get_if<Constant>(&it->second);
    if (tensor == nullptr || (*tensor)->type != e.values.type || (*tensor)->count() != 1)
      node.fail(ErrorKind::Invalid, fmt::format("default_tensor is not one {}", name(e.values.type)));
    e.otherwise = **tensor;
    e.otherwise.shape = {1};
    return e;
  }
  switch (e.values.type) {
    case ElementType::String: e.otherwise = of_strings({node.string("default_string", "_Unused")}); break;
    case ElementType::I64: e.otherwise = of_integers({node.integer("default_int64", -1)}); break;
    case ElementType::F32: e.otherwise = of_floats({node.number("default_float", -0.0f)}); break;
    default: {
      const bool one = is_float(e.values.type);
      e.otherwise = TensorData::zeros(e.values.type, {1});
      const uint64_t bits = one ? to_bits(e.values.type, -0.0) : ~uint64_t{0};
      std::memcpy(e.otherwise.bytes.data(), &bits, e.otherwise.bytes.size());
    }
  }
  return e;
}

/// f.operator()<T>() for the T of keys. False if there are no keys of the type.
template <class F>
bool for_key(ElementType type, F&& f) {
  switch (type) {
    case ElementType::String: return f.template operator()<onnxc_string>(), true;
    case ElementType::I64: return f.template operator()<int64_t>(), true;
    case ElementType::I32: return f.template operator()<int32_t>(), true;
    case ElementType::I16: return f.template operator()<int16_t>(), true;
    case ElementType::F32: return f.template operator()<float>(), true;
    case ElementType::F64: return f.template operator()<double>(), true;
    default: return false;
  }
}

/// The elements of a tensor as kernels see them.
class ElementViews {
 public:
  explicit ElementViews(TensorData tensor) : tensor_(std::move(tensor)) {
    for (const std::string& s : tensor_.strings) strings_.push_back({s.data(), s.size()});
  }
  template <class T>
  const T* as() const {
    if constexpr (std::is_same_v<T, onnxc_string>) return strings_.data();
    else return reinterpret_cast<const T*>(tensor_.bytes.data());
  }

 private:
  TensorData tensor_;
  std::vector<onnxc_string> strings_;
};

void infer_label_encoder(Inference& n) {
  const Encoding e = encoding_of(n.node());
  if (!for_key(e.keys.type, []<class>() {})) n.fail(fmt::format("the keys are {}", name(e.keys.type)));
  if (e.keys.type != n.element(0)) n.fail(fmt::format("the input is {}, the keys are {}", name(n.element(0)), name(e.keys.type)));
  n.output(0, e.values.type, n.extents(0));
}

void evaluate_label_encoder(Evaluation& e) {
  const Encoding encoding = encoding_of(e.node());
  const KeyTable s = key_table(encoding.keys);
  const ElementViews keys(s.keys), values(elements(encoding.values, s.order)), otherwise(encoding.otherwise),
      nan(s.nan < 0 ? encoding.otherwise : elements(encoding.values, {s.nan}));
  for_key(e.type(0), [&]<class K>() {
    for_size(encoding.values.type, [&]<class V>() {
      scalar::label_encoder(e.out<V>(0).data, e.in<K>(0), {keys.as<K>(), s.first.data(), s.bits}, values.as<V>(), otherwise.as<V>(),
                            nan.as<V>());
    });
  });
}

void lower_label_encoder(KernelQuery& l) {
  const Encoding e = encoding_of(l.node());
  const KeyTable s = key_table(e.keys);
  const View x = l.in(0), y = l.out(0);
  StepBuilder call = l.call("scalar_label_encoder");
  call.template_arg(x.element)
      .template_arg(y.element)
      .pointer(y)
      .tensor(x)
      .params(key_table_params(l, "keys", s))
      .pointer(l.weights("values", elements(e.values, s.order)))
      .pointer(l.weights("default", e.otherwise));
  if (s.nan >= 0) call.pointer(l.weights("value of NaN", elements(e.values, {s.nan})));
  else call.null();
  call.emit();
}

// ---- CategoryMapper

void infer_category_mapper(Inference& n) {
  if (n.element(0) != ElementType::String && n.element(0) != ElementType::I64)
    n.fail(fmt::format("the input is {}, not a string or i64", name(n.element(0))));
  n.output(0, n.element(0) == ElementType::String ? ElementType::I64 : ElementType::String, n.extents(0));
}

std::optional<std::vector<ValueId>> decompose_category_mapper(GraphBuilder& b, const Node& node) {
  const bool from_strings = b.type(node.input(0)).element == ElementType::String;
  std::map<std::string, Attribute> attributes{{from_strings ? "keys_strings" : "values_strings", strings_of(node, "cats_strings")},
                                              {from_strings ? "values_int64s" : "keys_int64s", node.integers("cats_int64s")}};
  if (from_strings) attributes["default_int64"] = node.integer("default_int64", -1);
  else attributes["default_string"] = node.string("default_string", "_Unused");
  return std::vector{b.op("ai.onnx.ml.LabelEncoder", {node.input(0)}, std::move(attributes))};
}

// ---- OneHotEncoder

TensorData categories(const Node& node, ElementType x) {
  const auto cats = x == ElementType::String ? of_strings(strings_of(node, "cats_strings")) : of_integers(node.integers("cats_int64s"));
  if (cats.count() == 0) node.fail(ErrorKind::Invalid, fmt::format("has no categories of {}", name(x)));
  return cats;
}

void infer_one_hot_encoder(Inference& n) {
  const ElementType x = n.element(0);
  if (x != ElementType::String && x != ElementType::I64 && x != ElementType::I32 && x != ElementType::F32 && x != ElementType::F64)
    n.fail(fmt::format("the input is {}", name(x)));
  Extents out = n.extents(0);
  out.push_back(categories(n.node(), x).count());
  n.output(0, ElementType::F32, std::move(out));
}

/// Numbers are compared as i64.
std::optional<std::vector<ValueId>> decompose_one_hot_encoder(GraphBuilder& b, const Node& node) {
  const ElementType x = b.type(node.input(0)).element;
  if (x == ElementType::String || x == ElementType::I64) return std::nullopt;
  return std::vector{
      b.op("ai.onnx.ml.OneHotEncoder", {b.op("Cast", {node.input(0)}, {{"to", static_cast<int64_t>(ElementType::I64)}})}, node.attributes)};
}

void lower_one_hot_encoder(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  const TensorData cats = categories(l.node(), x.element);
  const KeyTable s = key_table(cats, true);
  l.call("scalar_one_hot_encoder")
      .pointer(y)
      .tensor(x)
      .params(key_table_params(l, "categories", s))
      .pointer(l.weights("positions", ElementType::I64, s.order))
      .dim(cats.count())
      .flag(l.node().integer("zeros", 1) != 0)
      .emit();
}

// ---- DictVectorizer

TensorData vocabulary(const Node& node, ElementType key) {
  const auto words =
      key == ElementType::String ? of_strings(strings_of(node, "string_vocabulary")) : of_integers(node.integers("int64_vocabulary"));
  if (words.count() == 0) node.fail(ErrorKind::Invalid, fmt::format("has no vocabulary of {}", name(key)));
  return words;
}

void infer_dict_vectorizer(Inference& n) {
  const Type& map = n.type(0);
  if (map.kind != Type::Kind::Map || map.nested.size() != 1 || !map.nested[0].is_tensor())
    n.fail(fmt::format("the input is {}, not a map to tensors", map.text()));
  const ElementType key = map.element, value = map.nested[0].element;
  if (key != ElementType::String && key != ElementType::I64) n.fail(fmt::format("the keys are {}", name(key)));
  if (value != ElementType::String && value != ElementType::I64 && value != ElementType::F32 && value != ElementType::F64)
    n.fail(fmt::format("the values are {}", name(value)));
  n.output(0, value, {1, vocabulary(n.node(), key).count()});
}

void lower_dict_vectorizer(KernelQuery& l) {
  const TensorData words = vocabulary(l.node(), l.type(0).element);
  const KeyTable s = key_table(words, true);
  const PointerArg map = l.object(0);
  l.call("scalar_dict_vectorizer")
      .template_arg(words.type)
      .pointer(l.out(0))
      .pointer(map)
      .params(key_table_params(l, "vocabulary", s))
      .pointer(l.weights("positions", ElementType::I64, s.order))
      .dim(words.count())
      .emit();
}

}  // namespace

extern const Operator op_LabelEncoder, op_CategoryMapper, op_OneHotEncoder, op_DictVectorizer;
const Operator op_LabelEncoder{.name = "LabelEncoder",
                               .domain = "ai.onnx.ml",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .resolve = resolve_label_encoder,
                               .infer = infer_label_encoder,
                               .evaluate = evaluate_label_encoder,
                               .lower = lower_label_encoder};
const Operator op_CategoryMapper{.name = "CategoryMapper",
                                 .domain = "ai.onnx.ml",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_category_mapper,
                                 .decompose = decompose_category_mapper};
const Operator op_OneHotEncoder{.name = "OneHotEncoder",
                                .domain = "ai.onnx.ml",
                                .min_inputs = 1,
                                .max_inputs = 1,
                                .max_outputs = 1,
                                .infer = infer_one_hot_encoder,
                                .decompose = decompose_one_hot_encoder,
                                .lower = lower_one_hot_encoder};
const Operator op_DictVectorizer{.name = "DictVectorizer",
                                 .domain = "ai.onnx.ml",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_dict_vectorizer,
                                 .lower = lower_dict_vectorizer};

}  // namespace onnxc
