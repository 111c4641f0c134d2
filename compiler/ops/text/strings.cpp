// StringConcat, StringNormalizer, StringSplit, and Cast between strings and numbers.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/ml/classes.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/sort_unique.h"
#include "runtime_stub/onnxc/scalar/text/cast.hpp"
#include "runtime_stub/onnxc/scalar/text/concat.hpp"
#include "runtime_stub/onnxc/scalar/text/normalize.hpp"
#include "runtime_stub/onnxc/scalar/text/split.hpp"

namespace onnxc {
namespace {

void need_strings(Inference& n, int i) {
  if (n.element(i) != ElementType::String) n.fail(fmt::format("input {} is {}, not strings", i, name(n.element(i))));
}

// ---- onnxc.CastText: Cast from or to strings

ElementType cast_target(const Node& node) { return static_cast<ElementType>(node.integer("to", 0)); }

void infer_cast_text(Inference& n) {
  const ElementType from = n.element(0), to = cast_target(n.node()), number = from == ElementType::String ? to : from;
  if (is_sub_byte(number) || number == ElementType::C64 || number == ElementType::C128 || number == ElementType::F8E8M0 ||
      (number == ElementType::String && from != to))
    n.fail(ErrorCode::ElementType, fmt::format("cast from {} to {}", name(from), name(to)));
  n.output(0, to, n.extents(0));
}

void evaluate_cast_text(Evaluation& e) {
  if (e.type(0) == ElementType::String) {
    for_type(e.output(0).type, [&]<class T>() { e.check(scalar::cast_from_strings<T>(e.out<T>().data, e.in<onnxc_string>(0))); });
  } else {
    for_type(e.type(0), [&]<class T>() { e.check(scalar::cast_to_strings<T>(e.heap(), e.out<onnxc_string>().data, e.in<T>(0))); });
  }
}

void lower_cast_text(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  if (x.element == ElementType::String) l.call("scalar_cast_from_strings").pointer(y).tensor(x).emit();
  else l.call("scalar_cast_to_strings").heap().pointer(y).tensor(x).emit();
}

// ---- StringConcat

void infer_string_concat(Inference& n) {
  need_strings(n, 0);
  need_strings(n, 1);
  n.output(0, ElementType::String, n.broadcast({n.extents(0), n.extents(1)}));
}

DimList operand_strides(const Extents& x, const Extents& y) { return broadcast_strides(y, x, strides_of(x, {})); }

Ints integers(const DimList& list) {
  Ints result;
  for (Dim d : list) result.values[result.size++] = d.value();
  return result;
}

void evaluate_string_concat(Evaluation& e) {
  const Extents y = to_extents(e.output(0).shape);
  e.check(scalar::string_concat(e.heap(), e.out<onnxc_string>(), e.in<onnxc_string>(0).data,
                                integers(operand_strides(to_extents(e.input(0).shape), y)), e.in<onnxc_string>(1).data,
                                integers(operand_strides(to_extents(e.input(1).shape), y))));
}

void lower_string_concat(KernelQuery& l) {
  const View a = l.in(0), b = l.in(1), y = l.out(0);
  l.call("scalar_string_concat")
      .heap()
      .tensor(y)
      .pointer(a)
      .dims(operand_strides(a.extents, y.extents))
      .pointer(b)
      .dims(operand_strides(b.extents, y.extents))
      .emit();
}

// ---- StringNormalizer

scalar::TextCase text_case(const std::string& word, const Node& node) {
  if (word == "NONE") return scalar::TextCase::keep;
  if (word == "LOWER") return scalar::TextCase::lower;
  if (word == "UPPER") return scalar::TextCase::upper;
  node.fail(ErrorKind::Invalid, fmt::format("case_change_action is '{}'; NONE, LOWER and UPPER are allowed", word));
}

struct Normalization {
  scalar::NormalizerParams params;
  TensorData stop_words;
};

Normalization normalization_of(const Node& node) {
  Normalization n;
  n.params.action = text_case(node.string("case_change_action", "NONE"), node);
  if (node.integer("is_case_sensitive", 0) == 0)
    n.params.compare = n.params.action == scalar::TextCase::keep ? scalar::TextCase::lower : n.params.action;
  std::vector<std::string> words = strings_of(node, "stopwords");
  for (std::string& word : words) {
    std::string changed(word.size() * 2 + 1, '\0');
    char* to = changed.data();
    for (const char* at = word.data(); at < word.data() + word.size();)
      to = put_code(scalar::in_case(n.params.compare, next_code(at, word.data() + word.size())), to);
    word.assign(changed.data(), to);
  }
  sort_unique(words);
  n.params.stop_words = static_cast<int64_t>(words.size());
  n.stop_words = *string_constant(words, {n.params.stop_words});
  return n;
}

void infer_string_normalizer(Inference& n) {
  need_strings(n, 0);
  const Extents& x = n.extents(0);
  if (x.size() != 1 && !(x.size() == 2 && !(x[0].is_constant() && x[0].value() != 1)))
    n.fail(fmt::format("the input has shape {}; [C] or [1, C] is needed", text(x)));
  if (x.size() == 2) n.unify(x[0], 1, "the number of rows");
  const bool removes = normalization_of(n.node()).params.stop_words > 0;
  Dim words = removes ? n.fresh("words", 1, max(x.back(), 1)) : max(x.back(), 1);
  n.output(0, ElementType::String, x.size() == 1 ? Extents{words} : Extents{1, words});
}

void evaluate_string_normalizer(Evaluation& e) {
  const Normalization n = normalization_of(e.node());
  std::vector<onnxc_string> stop_words, y(static_cast<std::size_t>(e.input(0).count() + 1));
  for (const std::string& word : n.stop_words.strings) stop_words.push_back({word.data(), word.size()});
  int64_t count = 0;
  e.check(scalar::string_normalizer(e.heap(), y.data(), &count, e.in<onnxc_string>(0), stop_words.data(), n.params));
  e.allocate(0, ElementType::String, e.rank(0) == 1 ? std::vector<int64_t>{count} : std::vector<int64_t>{1, count});
  std::copy_n(y.begin(), count, e.out<onnxc_string>().data);
}

void lower_string_normalizer(KernelQuery& l) {
  static constexpr const char* kNames[] = {"keep", "lower", "upper"};
  const Normalization n = normalization_of(l.node());
  const auto named = [](scalar::TextCase c) { return EnumArg{"scalar::TextCase", kNames[static_cast<int>(c)]}; };
  const View x = l.in(0), y = l.out(0);
  StepBuilder call = l.call("scalar_string_normalizer");
  call.heap().pointer(y);
  if (n.params.stop_words > 0) call.binds(l.symbol(0));
  else call.null();
  call.tensor(x);
  if (n.params.stop_words > 0) call.pointer(l.weights("stop words", n.stop_words));
  else call.null();
  call.params({{"action", named(n.params.action)}, {"compare", named(n.params.compare)}, {"stop_words", dim_arg(n.params.stop_words)}})
      .emit();
}

// ---- StringSplit

int64_t most_pieces(const Node& node) {
  if (!node.has("maxsplit")) return 0;
  const int64_t most = node.integer("maxsplit", 0);
  return most < 0 || most == INT64_MAX ? 0 : most + 1;
}

void infer_string_split(Inference& n) {
  need_strings(n, 0);
  Extents y = n.extents(0);
  n.output(1, ElementType::I64, y);
  y.push_back(n.fresh("pieces", 0, most_pieces(n.node()) > 0 ? std::optional<Dim>(most_pieces(n.node())) : std::nullopt));
  n.output(0, ElementType::String, std::move(y));
}

void evaluate_string_split(Evaluation& e) {
  const std::string delimiter = e.node().string("delimiter", "");
  const onnxc_string view{delimiter.data(), delimiter.size()};
  onnxc_string* y = nullptr;
  int64_t columns = 0;
  std::vector<int64_t> counts(static_cast<std::size_t>(e.input(0).count()));
  e.check(scalar::string_split(e.heap(), &y, counts.data(), &columns, e.in<onnxc_string>(0), &view, most_pieces(e.node())));
  std::vector<int64_t> shape = e.input(0).shape;
  shape.push_back(columns);
  e.allocate(0, ElementType::String, shape);
  std::copy_n(y, e.output(0).count(), e.out<onnxc_string>().data);
  if (e.has_output(1)) std::ranges::copy(counts, e.out<int64_t>(1).data);
}

void lower_string_split(KernelQuery& l) {
  const View x = l.in(0), y = l.out_address(0, false);
  const PointerArg counts = l.has_output(1) ? l.out(1).pointer : l.workspace("counts", ElementType::I64, element_count(x.extents));
  l.call("scalar_string_split")
      .heap()
      .address(y)
      .pointer(counts)
      .binds(l.symbol(0))
      .tensor(x)
      .pointer(l.weights("delimiter", *string_constant({l.node().string("delimiter", "")}, {1})))
      .dim(most_pieces(l.node()))
      .emit();
}

}  // namespace

extern const Operator op_CastText, op_StringConcat, op_StringNormalizer, op_StringSplit;
const Operator op_CastText{.name = "CastText",
                           .domain = "onnxc",
                           .min_inputs = 1,
                           .max_inputs = 1,
                           .max_outputs = 1,
                           .infer = infer_cast_text,
                           .evaluate = evaluate_cast_text,
                           .lower = lower_cast_text};
const Operator op_StringConcat{.name = "StringConcat",
                               .min_inputs = 2,
                               .max_inputs = 2,
                               .max_outputs = 1,
                               .infer = infer_string_concat,
                               .evaluate = evaluate_string_concat,
                               .lower = lower_string_concat};
const Operator op_StringNormalizer{.name = "StringNormalizer",
                                   .min_inputs = 1,
                                   .max_inputs = 1,
                                   .max_outputs = 1,
                                   .infer = infer_string_normalizer,
                                   .evaluate = evaluate_string_normalizer,
                                   .lower = lower_string_normalizer};
const Operator op_StringSplit{.name = "StringSplit",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .max_outputs = 2,
                              .infer = infer_string_split,
                              .evaluate = evaluate_string_split,
                              .lower = lower_string_split};

}  // namespace onnxc
