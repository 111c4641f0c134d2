// onnxc.TextFeatures: a StringNormalizer, a Tokenizer and a TfIdfVectorizer in one.
#pragma once
#include "compiler/ir/graph.h"

namespace onnxc {

/// Whether the words of this Tokenizer, [rows, words], and the numbers that this LabelEncoder gives them may be counted by
/// onnxc.TextFeatures for this TfIdfVectorizer.
bool counts_words(const Node& tokenizer, const Node& encoder, const Node& vectorizer);
/// Whether this StringNormalizer only changes the case.
bool only_changes_case(const Node& normalizer);
/// Without inputs and outputs; `normalizer` may be null.
Node text_features(const Node* normalizer, const Node& tokenizer, const Node& encoder, const Node& vectorizer);

}  // namespace onnxc
