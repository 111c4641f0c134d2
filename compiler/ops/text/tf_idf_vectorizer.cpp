// TfIdfVectorizer: counts of n-grams from a pool, which becomes a tree at compile time. Weights belong to the
// output's columns, as in ONNX Runtime.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/ml/classes.h"
#include "compiler/ops/text/gram_pool.h"
#include "compiler/support/sort_unique.h"
#include "runtime_stub/onnxc/scalar/tf_idf.hpp"

namespace onnxc {
namespace {

/// The strings of the pool, each once.
std::vector<std::string> words_of(const Node& node) {
  std::vector<std::string> words = strings_of(node, "pool_strings");
  sort_unique(words);
  return words;
}

/// The items of the pool: integers, or the numbers of its strings.
std::vector<int64_t> pool_of(const Node& node) {
  const std::vector<std::string> words = words_of(node);
  if (words.empty()) return node.integers("pool_int64s");
  std::vector<int64_t> numbers;
  for (const std::string& word : strings_of(node, "pool_strings")) numbers.push_back(std::ranges::lower_bound(words, word) - words.begin());
  return numbers;
}

}  // namespace

GramPool read_pool(const Node& node) {
  const auto fail = [&](const std::string& found) { node.fail(ErrorKind::Invalid, found); };
  for (const char* attribute : {"max_gram_length", "max_skip_count", "min_gram_length", "mode", "ngram_counts", "ngram_indexes"}) {
    if (!node.has(attribute)) fail(fmt::format("attribute '{}' is missing", attribute));
  }
  GramPool p;
  p.least = node.integer("min_gram_length", 1);
  p.most = node.integer("max_gram_length", 1);
  p.skips = node.integer("max_skip_count", 0);
  p.mode = node.string("mode", "");
  if (p.least < 1 || p.most < p.least || p.skips < 0)
    fail(fmt::format("n-grams of {} to {} items, {} of them skipped", p.least, p.most, p.skips));
  if (p.mode != "TF" && p.mode != "IDF" && p.mode != "TFIDF") fail(fmt::format("mode is '{}'; TF, IDF or TFIDF are allowed", p.mode));
  const std::vector<int64_t> counts = node.integers("ngram_counts"), indexes = node.integers("ngram_indexes"), pool = pool_of(node);
  if (indexes.empty() || counts.empty()) fail("ngram_indexes or ngram_counts is empty");
  for (int64_t i : indexes) {
    if (i < 0 || i >= INT32_MAX) fail(fmt::format("ngram_indexes holds {}", i));
    p.columns = std::max(p.columns, i + 1);
  }
  if (const auto it = node.attributes.find("weights"); it != node.attributes.end() && p.mode != "TF") {
    const auto* given = std::get_if<std::vector<float>>(&it->second);  // one for each n-gram of the pool
    if (given != nullptr && !given->empty()) {
      if (given->size() != indexes.size()) fail(fmt::format("{} weights for {} n-grams", given->size(), indexes.size()));
      p.weights.resize(static_cast<std::size_t>(p.columns));
      for (std::size_t i = 0; i < indexes.size(); ++i) p.weights[static_cast<std::size_t>(indexes[i])] = (*given)[i];
    }
  }
  struct Branch {
    int64_t column = -1;
    std::map<int64_t, Branch> children;
  } root;
  std::size_t id = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const auto first = counts[k], last = k + 1 < counts.size() ? counts[k + 1] : static_cast<int64_t>(pool.size()),
               size = static_cast<int64_t>(k) + 1;
    if (first < 0 || first > last || last > static_cast<int64_t>(pool.size()))
      fail(fmt::format("ngram_counts does not fit a pool of {} items", pool.size()));
    for (int64_t g = 0; g < (last - first) / size; ++g, ++id) {
      if (id >= indexes.size()) fail(fmt::format("the pool has more n-grams than ngram_indexes has values, {}", indexes.size()));
      if (size < p.least || size > p.most) continue;
      Branch* at = &root;
      for (int64_t i = 0; i < size; ++i) at = &at->children[pool[static_cast<std::size_t>(first + g * size + i)]];
      at->column = indexes[id];
    }
  }
  std::vector<const Branch*> nodes{&root};  // breadth first: the children of a node are contiguous
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    p.begin.push_back(static_cast<int64_t>(nodes.size()));
    for (const auto& [key, branch] : nodes[i]->children) {
      nodes.push_back(&branch);
      p.keys.push_back(key);
      p.column.push_back(branch.column);
    }
  }
  p.begin.push_back(static_cast<int64_t>(nodes.size()));
  for (int64_t i = p.begin[0]; i < p.begin[1]; ++i) p.counts_up = p.counts_up && p.keys[static_cast<std::size_t>(i)] == i - p.begin[0];
  return p;
}

NamedArgs gram_tree_params(KernelQuery& l, const GramPool& p) {
  return {{"keys", l.weights("pool", ElementType::I64, p.keys)},
          {"begin", l.weights("pool", ElementType::I64, p.begin)},
          {"column", l.weights("pool", ElementType::I64, p.column)},
          {"counts_up", flag_arg(p.counts_up)}};
}

NamedArgs gram_params(const GramPool& p) {
  return {{"least", dim_arg(p.least)}, {"most", dim_arg(p.most)}, {"skips", dim_arg(p.skips)}, {"counts", flag_arg(p.mode != "IDF")}};
}

namespace {

void infer_tf_idf(Inference& n) {
  const Extents x = n.extents(0);
  const bool strings = !strings_of(n.node(), "pool_strings").empty();
  if (strings ? n.element(0) != ElementType::String : n.element(0) != ElementType::I32 && n.element(0) != ElementType::I64)
    n.fail(fmt::format("the input is {}, the pool holds {}", name(n.element(0)), strings ? "strings" : "integers"));
  if (x.size() > 2) n.fail(fmt::format("the input has rank {}; [items] or [rows, items] is needed", x.size()));
  const Dim columns = read_pool(n.node()).columns;
  n.output(0, ElementType::F32, x.size() == 2 ? Extents{x[0], columns} : Extents{columns});
}

/// Strings become their numbers in the pool, or -1.
std::optional<std::vector<ValueId>> decompose_tf_idf(GraphBuilder& b, const Node& node) {
  if (b.type(node.input(0)).element != ElementType::String) return std::nullopt;
  const std::vector<std::string> words = words_of(node);
  std::vector<int64_t> numbers(words.size());
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const ValueId x = b.op("ai.onnx.ml.LabelEncoder", {node.input(0)},
                         {{"keys_strings", words}, {"values_int64s", numbers}, {"default_int64", int64_t{-1}}});
  auto attributes = node.attributes;
  attributes["pool_int64s"] = pool_of(node);
  attributes.erase("pool_strings");
  return std::vector{b.op("TfIdfVectorizer", {x}, std::move(attributes))};
}

Extents as_rows(const Extents& e) { return e.size() == 2 ? e : Extents{1, e.empty() ? Dim(1) : e[0]}; }

void evaluate_tf_idf(Evaluation& e) {
  const GramPool p = read_pool(e.node());
  const auto rows = [](Shape s) { return s.rank == 2 ? s : Shape{1, s.count()}; };
  for_index(e.type(0), [&]<class I>() {
    scalar::tf_idf<I>({e.out<float>().data, rows(e.out<float>().shape)}, {e.in<I>(0).data, rows(e.in<I>(0).shape)},
                      {p.keys.data(), p.begin.data(), p.column.data(), p.counts_up}, p.weights.empty() ? nullptr : p.weights.data(),
                      {.least = p.least, .most = p.most, .skips = p.skips, .counts = p.mode != "IDF"});
  });
}

void lower_tf_idf(KernelQuery& l) {
  const GramPool p = read_pool(l.node());
  View x = l.in(0), y = l.out(0);
  x.extents = as_rows(x.extents);
  y.extents = as_rows(y.extents);
  StepBuilder call = l.call("scalar_tf_idf");
  call.template_arg(x.element).tensor(y).tensor(x).params(gram_tree_params(l, p));
  if (p.weights.empty()) call.null();
  else call.pointer(l.weights("weights", ElementType::F32, p.weights));
  call.params(gram_params(p)).emit();
}

}  // namespace

extern const Operator op_TfIdfVectorizer;
const Operator op_TfIdfVectorizer{.name = "TfIdfVectorizer",
                                  .min_inputs = 1,
                                  .max_inputs = 1,
                                  .max_outputs = 1,
                                  .infer = infer_tf_idf,
                                  .decompose = decompose_tf_idf,
                                  .evaluate = evaluate_tf_idf,
                                  .lower = lower_tf_idf};

}  // namespace onnxc
