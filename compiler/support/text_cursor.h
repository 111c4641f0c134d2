// A position in a text that a parser reads from left to right.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace onnxc {

/// Before it looks for a token, it skips the gap in front of it: spaces, unless the parser defines gaps otherwise. It
/// never throws, since the parser reports errors in its own words. To return to a position, keep a copy.
class TextCursor {
 public:
  using Gap = std::size_t (*)(std::string_view rest);  ///< the number of characters at the start of `rest` that belong to no token

  explicit TextCursor(std::string_view text, Gap gap = spaces) : text_(text), rest_(text), gap_(gap) {}

  std::string_view text() const { return text_; }                       ///< all of it
  std::string_view rest() const { return rest_; }                       ///< what is ahead
  std::size_t position() const { return text_.size() - rest_.size(); }  ///< where `rest` begins

  /// Consumes `n` characters, or as many as there are, and returns them. Skips no gap.
  std::string_view advance(std::size_t n) {
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// Skips the gap and returns what is then ahead.
  std::string_view skip() { return advance(gap_(rest_)), rest_; }
  /// Whether `token` comes next.
  bool peek(std::string_view token) { return skip().starts_with(token); }
  /// Consumes `token` if it comes next; returns whether it did.
  bool take(std::string_view token) { return peek(token) && (advance(token.size()), true); }
  /// Consumes the following characters for which `is` holds, which may be none, and returns them.
  template <class Is>
  std::string_view take_while(Is is) {
    const std::string_view ahead = skip();
    return advance(static_cast<std::size_t>(std::ranges::find_if_not(ahead, is) - ahead.begin()));
  }

 private:
  static std::size_t spaces(std::string_view rest) { return std::min(rest.find_first_not_of(' '), rest.size()); }

  std::string_view text_, rest_;
  Gap gap_;
};

}  // namespace onnxc
