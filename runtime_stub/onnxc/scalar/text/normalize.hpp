// StringNormalizer, as ONNX defines it and ONNX Runtime understands it: stop words are whole elements.
#pragma once
#include "../../heap.hpp"
#include "../../strings.hpp"
#include "../../unicode_case.hpp"
#include "../../utf8.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class TextCase { keep, lower, upper };

inline int32_t in_case(TextCase text_case, int32_t code) {
  return text_case == TextCase::lower ? to_lower(code) : text_case == TextCase::upper ? to_upper(code) : code;
}

struct NormalizerParams {
  TextCase action = TextCase::keep;   ///< of the result
  TextCase compare = TextCase::keep;  ///< in which elements are compared with the stop words
  int64_t stop_words = 0;
};

/// The strings of x that are no stop words (sorted, in the case of `compare`), in the case of `action`. Unless count is
/// null, *count receives their number. It is at least one: where none is left, y holds an empty string. y has room for
/// all of x and for one.
inline Status string_normalizer(Heap heap, onnxc_string* y, int64_t* count, Tensor<const onnxc_string> x, const onnxc_string* stop_words,
                                NormalizerParams params) {
  const int64_t n = x.count();
  int64_t room = 0, longest = 0;
  for (int64_t i = 0; i < n; ++i) {
    room += static_cast<int64_t>(x.data[i].size) * 2;  // at most 2 bytes become 3
    longest = max_of(longest, static_cast<int64_t>(x.data[i].size) * 2);
  }
  const bool copies = params.action != TextCase::keep || (params.compare != TextCase::keep && params.stop_words > 0);
  char* text = nullptr;
  if (copies) {
    if (const auto status = heap.allocate(text, room + longest)) return status;
  }
  const auto convert = [](onnxc_string from, TextCase text_case, char* to) {
    if (text_case == TextCase::keep || from.size == 0) return from;
    const char* at = from.data;
    const char* const end = from.data + from.size;
    char* last = to;
    while (at < end) last = put_code(in_case(text_case, next_code(at, end)), last);
    return onnxc_string{to, static_cast<std::size_t>(last - to)};
  };
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (params.stop_words > 0 && find_sorted(stop_words, params.stop_words, convert(x.data[i], params.compare, text)) >= 0) continue;
    const onnxc_string result = convert(x.data[i], params.action, text);
    y[kept++] = result;
    if (params.action != TextCase::keep) text += result.size;
  }
  if (kept == 0) y[kept++] = {};
  if (count != nullptr) *count = kept;
  if (params.action == TextCase::keep) heap.release(text);  // else results lie there
  return {};
}

}  // namespace onnxc::scalar
