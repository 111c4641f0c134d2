// Regular expressions in time linear in the text: all threads of a small program walk over it together (Pike;
// Thompson). The compiler makes the program.
//
//   a|b*     0 split 1 3   1 set {a}   2 jump 6   3 split 4 6   4 set {b}   5 jump 3   6 match
//
// For most programs the compiler also makes a deterministic automaton, which takes one look-up for each character. It
// matches from a given place, so a search tries one place after the other, until what it has read in vain is more than a
// few times the text: then the threads go on.
#pragma once
#include "../../heap.hpp"
#include "../../utf8.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class RegexOp : int32_t { match, set, split, jump, hold };
enum class RegexPlace : int32_t { text_begin, text_end, line_begin, line_end, word_edge, no_word_edge };

/// Code points are of classes that the program does not tell apart. A state is where its row of `next` begins, which has
/// one state for each class; state 0 has no way to a match.
struct RegexAutomaton {
  const uint16_t* next = nullptr;    ///< null: there is no automaton
  const uint8_t* classes = nullptr;  ///< of the code points below 128, then one for each element of `bounds`
  const int32_t* bounds = nullptr;   ///< class 128 + i is that of code points from bounds[i] to before bounds[i + 1]; bounds[0] is 128
  int64_t count = 0;                 ///< of bounds
  int32_t start = 0, accepting = 0;  ///< states from `accepting` on match

  uint16_t after(uint16_t state, int32_t code) const {
    if (code < 128) return code < 0 ? 0 : next[state + classes[code]];
    int64_t low = 0, high = count;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (bounds[middle] <= code ? low : high) = middle;
    }
    return next[state + classes[128 + low]];
  }
};

/// Instruction i is code[3 i, ...): operation, a, b.
///   set    one code point in one of b ranges, pairs from ranges[a] on; goes on
///   split  goes to a and to b
///   jump   goes to a
///   hold   goes on where place a holds
struct Regex {
  const int32_t* code = nullptr;
  const int32_t* ranges = nullptr;
  int64_t size = 0;            ///< instructions
  RegexAutomaton automaton{};  ///< may be empty
};

/// Room that a search needs, in elements.
constexpr int64_t regex_room(int64_t size) { return 7 * size; }

namespace detail {

struct RegexThreads {
  int64_t* at;
  int64_t* start;
  int64_t count = 0;
};

inline bool is_word(const char* at) {
  return (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z') || *at == '_';
}

inline bool place_holds(int32_t place, const char* text, const char* end, const char* at) {
  switch (static_cast<RegexPlace>(place)) {
    case RegexPlace::text_begin: return at == text;
    case RegexPlace::text_end: return at == end;
    case RegexPlace::line_begin: return at == text || at[-1] == '\n';
    case RegexPlace::line_end: return at == end || *at == '\n';
    case RegexPlace::word_edge:
    case RegexPlace::no_word_edge: {
      const bool edge = (at > text && is_word(at - 1)) != (at < end && is_word(at));
      return edge == (static_cast<RegexPlace>(place) == RegexPlace::word_edge);
    }
  }
  return false;
}

}  // namespace detail

namespace detail {

/// The longest match at `from`, or null. `at` receives where reading ended.
inline const char* longest_match(const RegexAutomaton& automaton, const char* from, const char* end, const char*& at) {
  auto state = static_cast<uint16_t>(automaton.start);
  const char* last = state >= automaton.accepting ? from : nullptr;
  for (at = from; at < end;) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 128) {
      ++at;
      state = automaton.next[state + automaton.classes[byte]];
    } else {
      state = automaton.after(state, next_code(at, end));
    }
    if (state == 0) return last;
    if (state >= automaton.accepting) last = at;
  }
  return last;
}

/// The leftmost and longest match as long as few characters are read in vain. `from` receives where the search ended: at
/// `end` + 1, if there is no match; at the match; or before what is still to be searched.
inline bool find_quickly(const RegexAutomaton& automaton, const char* end, const char*& from, const char*& match_end) {
  int64_t left = 8 * (end - from) + 64;
  for (; left > 0;) {
    const char* at = nullptr;
    match_end = longest_match(automaton, from, end, at);
    if (match_end != nullptr) return true;
    left -= at - from;
    if (from == end) {
      ++from;
      return false;
    }
    next_code(from, end);
  }
  return false;
}

}  // namespace detail

/// The leftmost match at or behind `from` in [text, end), and of several the longest. With `whole`, whether all of it
/// matches.
inline bool find_match(const Regex& regex, const char* text, const char* end, const char* from, bool whole, int64_t* room,
                       const char*& match_begin, const char*& match_end) {
  if (regex.automaton.next != nullptr) {
    if (whole) return detail::longest_match(regex.automaton, from, end, match_end) == end;
    if (detail::find_quickly(regex.automaton, end, from, match_end)) {
      match_begin = from;
      return true;
    }
    if (from > end) return false;
  }
  const int64_t n = regex.size;
  detail::RegexThreads current{room, room + n}, next{room + 2 * n, room + 3 * n};
  int64_t* const marks = room + 4 * n;
  int64_t* const stack = room + 5 * n;
  for (int64_t i = 0; i < n; ++i) marks[i] = 0;
  int64_t generation = 1;
  const auto add = [&](detail::RegexThreads& threads, int64_t pc, int64_t start, const char* at) {
    int64_t depth = 0;
    stack[depth++] = pc;
    while (depth > 0) {
      const int64_t i = stack[--depth];
      if (marks[i] == generation) continue;
      marks[i] = generation;
      const int32_t* const instruction = regex.code + 3 * i;
      switch (static_cast<RegexOp>(instruction[0])) {
        case RegexOp::jump: stack[depth++] = instruction[1]; break;
        case RegexOp::split:
          stack[depth++] = instruction[2];
          stack[depth++] = instruction[1];
          break;
        case RegexOp::hold:
          if (detail::place_holds(instruction[1], text, end, at)) stack[depth++] = i + 1;
          break;
        case RegexOp::match:
        case RegexOp::set:
          threads.at[threads.count] = i;
          threads.start[threads.count++] = start;
          break;
      }
    }
  };
  bool matched = false;
  for (const char* at = from;;) {
    if (!matched && (!whole || at == from)) add(current, 0, at - text, at);
    if (current.count == 0 && (matched || whole)) return matched;
    const char* after = at;
    const int32_t code = at < end ? next_code(after, end) : -1;
    ++generation;
    next.count = 0;
    for (int64_t t = 0; t < current.count; ++t) {
      const int32_t* const instruction = regex.code + 3 * current.at[t];
      if (static_cast<RegexOp>(instruction[0]) == RegexOp::match) {
        if (whole && at != end) continue;
        const char* const begin = text + current.start[t];
        if (whole) return true;
        if (matched && begin > match_begin) break;
        matched = true;
        match_begin = begin;
        match_end = at;
        continue;
      }
      if (matched && text + current.start[t] > match_begin) break;
      if (code < 0) continue;  // the end, or no character
      const int32_t* const ranges = regex.ranges + instruction[1];
      for (int32_t k = 0; k < instruction[2]; ++k) {
        if (code < ranges[2 * k] || code > ranges[2 * k + 1]) continue;
        add(next, current.at[t] + 1, current.start[t], after);
        break;
      }
    }
    if (at == end) return matched;
    const detail::RegexThreads swapped = current;
    current = next;
    next = swapped;
    at = after;
  }
}

/// y[i]: whether all of x[i] matches. room: regex_room elements.
inline void regex_full_match(bool* y, Tensor<const onnxc_string> x, Regex regex, int64_t* room) {
  for (int64_t i = 0; i < x.count(); ++i) {
    const onnxc_string& text = x.data[i];
    const char* begin = nullptr;
    const char* end = nullptr;
    static constexpr char kNothing[1] = {};
    const char* const first = text.size == 0 ? kNothing : text.data;
    y[i] = find_match(regex, first, first + text.size, first, true, room, begin, end);
  }
}

struct TokenizerParams {
  bool separates = false;  ///< matches lie between the tokens, else they are the tokens
  bool marks = false;      ///< rows begin with \x02 and end with \x03
  int64_t least = 1;       ///< characters of a token; shorter ones are left out
};

namespace detail {

template <class Token>
void for_each_token(const Regex& regex, onnxc_string text, const TokenizerParams& params, int64_t* room, Token token) {
  const char* at = text.data;
  const char* const end = text.data + text.size;
  if (text.size == 0) return;
  const auto give = [&](const char* first, const char* last) {
    int64_t characters = last - first;
    if (params.least > 1) {
      characters = 0;
      for (const char* c = first; c < last; ++characters) next_code(c, last);
    }
    if (characters >= max_of(params.least, int64_t{1})) token(onnxc_string{first, static_cast<std::size_t>(last - first)});
  };
  const char* piece = at;  // what follows the last separator
  while (at < end) {
    const char* first = nullptr;
    const char* last = nullptr;
    if (!find_match(regex, text.data, end, at, false, room, first, last)) break;
    at = last;
    if (first == last) {
      if (at < end) next_code(at, end);
      continue;
    }
    if (params.separates) give(piece, first);
    else give(first, last);
    piece = last;
  }
  if (params.separates) give(piece, end);
}

}  // namespace detail

/// *y: [count of x, *columns] tokens, which point into x, followed by *pad. room: regex_room elements.
inline Status tokenizer(Heap heap, onnxc_string** y, int64_t* columns, Tensor<const onnxc_string> x, Regex regex, TokenizerParams params,
                        const onnxc_string* pad, int64_t* room) {
  const int64_t n = x.count();
  int64_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t tokens = 0;
    detail::for_each_token(regex, x.data[i], params, room, [&](onnxc_string) { ++tokens; });
    most = max_of(most, tokens);
  }
  *columns = most == 0 ? 0 : most + (params.marks ? 2 : 0);
  if (const auto status = heap.allocate(*y, product_of(n, *columns))) return status;
  for (int64_t i = 0; i < n && *columns > 0; ++i) {
    onnxc_string* to = *y + i * *columns;
    onnxc_string* const end = to + *columns;
    if (params.marks) *to++ = {"\x02", 1};
    detail::for_each_token(regex, x.data[i], params, room, [&](onnxc_string token) { *to++ = token; });
    if (params.marks) *to++ = {"\x03", 1};
    while (to < end) *to++ = *pad;
  }
  return {};
}

}  // namespace onnxc::scalar
