// What a StringNormalizer, a Tokenizer and a TfIdfVectorizer compute together, by one walk over each string and without
// memory for its words.
#pragma once
#include "../../utf8.hpp"
#include "../ml/lookup.hpp"
#include "../tf_idf.hpp"
#include "normalize.hpp"
#include "regex.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct TextParams {
  TextCase text_case = TextCase::keep;  ///< in which strings are read
  bool separates = false;               ///< matches lie between the words, else they are the words
  int64_t longest = 0;                  ///< bytes of a word that the table has
};

/// Room for a word, in bytes, and for the n-grams that have begun, in elements.
constexpr int64_t text_word_room(int64_t longest) { return longest + 8; }
constexpr int64_t text_gram_room(int64_t most) { return most; }

namespace detail {

/// The start of a word, in the case in which strings are read. Of one that is longer than any in the table, no more is
/// kept than what shows that.
struct WordText {
  char* text;
  int64_t longest, size = 0;

  void add(int32_t code) {
    if (size <= longest) size = put_code(code, text + size) - text;
  }
};

/// The longest match at `from`, or null. Without `word`, its text is not kept.
inline const char* match_word(const RegexAutomaton& automaton, TextCase text_case, const char* from, const char* end, WordText* word) {
  auto state = static_cast<uint16_t>(automaton.start);
  const char* last = nullptr;
  int64_t size = 0;
  for (const char* at = from; at < end;) {
    const auto byte = static_cast<unsigned char>(*at);
    int32_t code = 0;
    if (byte < 128) {
      ++at;
      code = in_case(text_case, byte);
      state = automaton.next[state + automaton.classes[code]];
      if (state == 0) break;
      if (word != nullptr) {
        word->text[word->size] = static_cast<char>(code);
        word->size += word->size <= word->longest;
      }
    } else {
      code = in_case(text_case, next_code(at, end));
      state = automaton.after(state, code);
      if (state == 0) break;
      if (word != nullptr) word->add(code);
    }
    if (state >= automaton.accepting) {
      last = at;
      if (word != nullptr) size = word->size;
    }
  }
  if (word != nullptr) word->size = size;
  return last;
}

/// Calls give() for each word, which is in `word` then.
template <class Give>
void for_each_word(const RegexAutomaton& automaton, const TextParams& params, onnxc_string text, WordText& word, Give give) {
  const char* at = text.data;
  const char* const end = text.size == 0 ? at : at + text.size;
  word.size = 0;
  while (at < end) {
    if (params.separates) {
      const char* const last = match_word(automaton, params.text_case, at, end, nullptr);
      if (last == nullptr) {
        word.add(in_case(params.text_case, next_code(at, end)));
        continue;
      }
      if (word.size > 0) give();
      at = last;
    } else {
      const char* const last = match_word(automaton, params.text_case, at, end, &word);
      if (last != nullptr) give();
      if (last == nullptr) next_code(at, end);
      else at = last;
    }
    word.size = 0;
  }
  if (word.size > 0) give();
}

}  // namespace detail

/// y [rows, columns]: tf_idf of the words of x[row], numbers[k] for words.keys[k] and none for other words. Rows behind
/// those of x are as if x had an empty string there. No n-gram skips items. text, grams: text_word_room and
/// text_gram_room.
inline void text_features(Tensor<float> y, Tensor<const onnxc_string> x, RegexAutomaton automaton, TextParams params,
                          KeyTable<onnxc_string> words, const int64_t* numbers, GramTree tree, const float* weights, TfIdfParams grams,
                          int8_t* text, int64_t* nodes) {
  const int64_t columns = y.shape[1];
  detail::WordText word{reinterpret_cast<char*>(text), params.longest};
  for (int64_t row = 0; row < y.shape[0]; ++row) {
    float* const to = y.data + row * columns;
    for (int64_t c = 0; c < columns; ++c) to[c] = 0;
    if (row >= x.count()) continue;
    for (int64_t i = 0; i < grams.most; ++i) nodes[i] = -1;
    detail::for_each_word(automaton, params, x.data[row], word, [&] {
      const int64_t k = word.size > params.longest ? -1 : find_key(words, onnxc_string{word.text, static_cast<std::size_t>(word.size)});
      // nodes[i]: where the n-gram of the last i + 1 words is in the tree, or -1.
      for (int64_t i = grams.most - 1; i >= 0; --i) {
        const int64_t parent = i == 0 ? 0 : nodes[i - 1];
        nodes[i] = k < 0 || parent < 0 ? -1 : tree.find(parent, numbers[k]);
        if (nodes[i] >= 0 && i + 1 >= grams.least && tree.column[nodes[i]] >= 0) to[tree.column[nodes[i]]] += 1;
      }
    });
    for (int64_t c = 0; !grams.counts && c < columns; ++c) to[c] = to[c] > 0 ? 1.0f : 0.0f;
    for (int64_t c = 0; weights != nullptr && c < columns; ++c) to[c] *= weights[c];
  }
}

}  // namespace onnxc::scalar
