// onnxc.TextFeatures: a StringNormalizer, a Tokenizer and a TfIdfVectorizer in one. Its attributes are theirs; those of the
// LabelEncoder in between, which gives words their numbers, are `words` and `numbers`.
#include "compiler/ops/text/text_features.h"

#include <algorithm>

#include "compiler/ops/ml/classes.h"
#include "compiler/ops/ml/key_table.h"
#include "compiler/ops/text/automaton.h"
#include "compiler/ops/text/gram_pool.h"
#include "runtime_stub/onnxc/scalar/text/text_features.hpp"

namespace onnxc {

bool counts_words(const Node& tokenizer, const Node& encoder, const Node& vectorizer) {
  const std::vector<std::string> words = strings_of(encoder, "keys_strings");
  if (words.empty() || encoder.integers("values_int64s").size() != words.size() || encoder.integer("default_int64", 0) >= 0 ||
      encoder.has("default_tensor"))
    return false;
  // Tokenizer fills its rows up with this, which must be no word of the pool.
  if (std::ranges::find(words, tokenizer.string("pad_value", "")) != words.end()) return false;
  if (tokenizer.integer("mark", 0) != 0 || tokenizer.integer("mincharnum", 1) != 1) return false;
  const auto numbers = encoder.integers("values_int64s");
  if (std::ranges::any_of(numbers, [](int64_t n) { return n < 0; }) || read_pool(vectorizer).skips > 0) return false;
  const auto automaton = make_automaton(token_pattern(tokenizer).program);
  return automaton && looks_ahead_a_little(*automaton);
}

bool only_changes_case(const Node& normalizer) { return strings_of(normalizer, "stopwords").empty(); }

Node text_features(const Node* normalizer, const Node& tokenizer, const Node& encoder, const Node& vectorizer) {
  Node node = vectorizer;
  node.domain = "onnxc";
  node.op = "TextFeatures";
  for (const char* attribute : {"tokenexp", "separators"}) {
    if (const auto it = tokenizer.attributes.find(attribute); it != tokenizer.attributes.end()) node.attributes[attribute] = it->second;
  }
  node.attributes["words"] = encoder.attributes.at("keys_strings");
  node.attributes["numbers"] = encoder.attributes.at("values_int64s");
  if (normalizer != nullptr) {
    node.attributes["fills"] = int64_t{1};
    node.attributes["case_change_action"] = normalizer->string("case_change_action", "NONE");
  }
  node.inputs.clear();
  node.outputs.clear();
  return node;
}

namespace {

/// Where a StringNormalizer was, there is at least one string.
void infer_text_features(Inference& n) {
  const Dim rows = n.node().integer("fills", 0) != 0 ? max(n.extents(0)[0], 1) : n.extents(0)[0];
  n.output(0, ElementType::F32, {rows, read_pool(n.node()).columns});
}

void lower_text_features(KernelQuery& l) {
  const Node& node = l.node();
  const GramPool pool = read_pool(node);
  const TokenPattern pattern = token_pattern(node);
  const std::vector<std::string> words = strings_of(node, "words");
  const KeyTable table = key_table(*string_constant(words, {static_cast<int64_t>(words.size())}));
  int64_t longest = 0;
  for (const std::string& word : words) longest = std::max(longest, static_cast<int64_t>(word.size()));
  std::vector<int64_t> numbers;
  for (int64_t i : table.order) numbers.push_back(node.integers("numbers")[static_cast<std::size_t>(i)]);
  const std::string action = node.string("case_change_action", "NONE");
  const char* const text_case = action == "LOWER" ? "lower" : action == "UPPER" ? "upper" : "keep";
  const View x = l.in(0), y = l.out(0);
  StepBuilder call = l.call("scalar_text_features");
  call.tensor(y)
      .tensor(x)
      .params(automaton_params(l, *make_automaton(pattern.program)))
      .params({{"text_case", EnumArg{"scalar::TextCase", text_case}},
               {"separates", flag_arg(pattern.separates)},
               {"longest", dim_arg(longest)}})
      .params(key_table_params(l, "words", table))
      .pointer(l.weights("numbers of words", ElementType::I64, numbers))
      .params(gram_tree_params(l, pool));
  if (pool.weights.empty()) call.null();
  else call.pointer(l.weights("weights", ElementType::F32, pool.weights));
  call.params(gram_params(pool))
      .pointer(l.workspace("word", ElementType::I8, scalar::text_word_room(longest)))
      .pointer(l.workspace("n-grams", ElementType::I64, scalar::text_gram_room(pool.most)))
      .emit();
}

}  // namespace

extern const Operator op_TextFeatures;
const Operator op_TextFeatures{.name = "TextFeatures",
                               .domain = "onnxc",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .infer = infer_text_features,
                               .lower = lower_text_features};

}  // namespace onnxc
