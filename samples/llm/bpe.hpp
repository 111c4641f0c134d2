// Byte-level BPE, the tokenizer of GPT-2 and of many after it, in one header without dependencies: text to numbers of tokens, and back.
//
//   bpe::Tokenizer tokenizer(text_of_merges_txt);
//   std::vector<std::int64_t> ids = tokenizer.encode("Once upon a time");
//   tokenizer.bytes(ids[0]) == "Once"
//
// Text is parted into words with the space before them, numbers, signs and white space; in each part the pair of neighbours whose merge
// comes first in the file becomes one token, the leftmost of equal pairs first, again and again. Any bytes can be encoded, and what is
// decoded has the same bytes.
//
// The file has a merge on each line: two tokens parted by a space, written as GPT-2's merges.txt has them, which shows each byte as a
// printable character. A line without a space is a token that no text becomes, such as <|end|>. Numbers are those of GPT-2: 256 bytes,
// then what the merges make, in the order of the file, then the tokens of their own.
//
// What it leaves out: of characters that are not ASCII, all count as letters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bpe {

namespace detail {

/// The bytes in the order of their tokens: first those that are characters of their own in Latin-1 and can be seen.
inline std::array<unsigned char, 256> byte_order() {
  const auto seen = [](int byte) { return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD); };
  std::array<unsigned char, 256> order{};
  std::size_t n = 0;
  for (const bool wanted : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if (seen(byte) == wanted) order[n++] = static_cast<unsigned char>(byte);
    }
  }
  return order;
}

/// What the characters of a token in the file stand for: those that can be seen for themselves, U+0100 and on for the other bytes.
/// Nothing if there is another character.
inline std::optional<std::string> bytes_of(std::string_view shown, const std::array<unsigned char, 256>& order) {
  constexpr std::size_t kSeen = 188;
  std::string bytes;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    unsigned point = static_cast<unsigned char>(shown[i]);
    if (point >= 0x80) {  // two bytes of UTF-8
      if (point < 0xC2 || point > 0xDF || i + 1 == shown.size() || (static_cast<unsigned char>(shown[i + 1]) & 0xC0) != 0x80) return {};
      point = (point & 0x1F) << 6 | (static_cast<unsigned char>(shown[++i]) & 0x3F);
    }
    if (point < 0x100) bytes += static_cast<char>(point);
    else if (point < 0x100 + (256 - kSeen)) bytes += static_cast<char>(order[kSeen + point - 0x100]);
    else return {};
  }
  return bytes;
}

enum class Kind { Letter, Digit, Space, Sign };

inline Kind kind(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) return Kind::Letter;
  if (byte >= '0' && byte <= '9') return Kind::Digit;
  return byte == ' ' || (byte >= '\t' && byte <= '\r') ? Kind::Space : Kind::Sign;
}

/// The size of the part that a text, which is not empty, begins with. As GPT-2's expression:
/// 's|'t|'re|'ve|'m|'ll|'d| ?letters| ?digits| ?signs|spaces that no word follows|spaces
inline std::size_t part(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  const std::size_t first = text[0] == ' ' && text.size() > 1 && kind(text[1]) != Kind::Space ? 1 : 0;
  std::size_t end = first;
  while (end < text.size() && kind(text[end]) == kind(text[first])) ++end;
  const bool before_word = kind(text[first]) == Kind::Space && end < text.size() && end > 1;
  return before_word ? end - 1 : end;  // the last space belongs to the word
}

}  // namespace detail

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view merges) {
    const std::array<unsigned char, 256> order = detail::byte_order();
    std::unordered_map<std::string, std::int32_t> ids;
    const auto id_of = [&](const std::string& bytes) {
      const auto [at, is_new] = ids.try_emplace(bytes, static_cast<std::int32_t>(tokens_.size()));
      if (is_new) tokens_.push_back(bytes);
      return at->second;
    };
    for (const unsigned char byte : order) byte_ids_[byte] = id_of(std::string(1, static_cast<char>(byte)));
    std::int32_t line = 0;
    while (!merges.empty()) {
      std::string_view text = merges.substr(0, merges.find('\n'));
      merges.remove_prefix(std::min(merges.size(), text.size() + 1));
      ++line;
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (text.empty() || (line == 1 && text.starts_with("#version"))) continue;
      const std::size_t space = text.find(' ');
      if (space == text.npos) {
        special_.emplace(text, static_cast<std::int64_t>(tokens_.size()));
        tokens_.emplace_back(text);
        continue;
      }
      const auto left = detail::bytes_of(text.substr(0, space), order), right = detail::bytes_of(text.substr(space + 1), order);
      if (!left || !right || !ids.contains(*left) || !ids.contains(*right))
        throw std::runtime_error("line " + std::to_string(line) + " of the merges does not join two tokens that are known before it");
      const std::uint64_t key = pair(ids.at(*left), ids.at(*right));
      merges_.try_emplace(key, Merge{line, id_of(*left + *right)});
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

  /// What a token stands for; nothing if there is no such token.
  std::optional<std::string_view> bytes(std::int64_t id) const {
    if (id < 0 || id >= size()) return {};
    return tokens_[static_cast<std::size_t>(id)];
  }

  /// The number of a token of its own, such as <|end|>.
  std::optional<std::int64_t> special(const std::string& name) const {
    const auto at = special_.find(name);
    return at == special_.end() ? std::nullopt : std::optional(at->second);
  }

  std::vector<std::int64_t> encode(std::string_view text) const {
    std::vector<std::int64_t> ids;
    while (!text.empty()) {
      const std::size_t size = detail::part(text);
      encode_part(text.substr(0, size), ids);
      text.remove_prefix(size);
    }
    return ids;
  }

 private:
  struct Merge {
    std::int32_t rank, id;
  };
  static std::uint64_t pair(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }

  /// A queue has the pairs that could be merged, so the time is that of sorting them: a part may be as long as the text. A merged token
  /// stands where its left one stood; the right one's place is empty.
  void encode_part(std::string_view text, std::vector<std::int64_t>& result) const {
    struct Place {
      std::int32_t id;
      std::size_t before, after;
    };
    struct Candidate {
      std::int32_t rank;
      std::size_t at;
      std::int32_t left, right, merged;
      bool operator>(const Candidate& other) const { return std::pair(rank, at) > std::pair(other.rank, other.at); }
    };
    constexpr std::int32_t kEmpty = -1;
    std::vector<Place> places;
    for (std::size_t i = 0; i < text.size(); ++i) places.push_back({byte_ids_[static_cast<unsigned char>(text[i])], i - 1, i + 1});
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    const auto consider = [&](std::size_t at) {
      if (at >= places.size() || places[at].after >= places.size()) return;
      const std::int32_t left = places[at].id, right = places[places[at].after].id;
      if (const auto found = merges_.find(pair(left, right)); found != merges_.end())
        queue.push({found->second.rank, at, left, right, found->second.id});
    };
    for (std::size_t i = 0; i < places.size(); ++i) consider(i);
    while (!queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      Place& left = places[best.at];
      if (left.id != best.left || left.after >= places.size() || places[left.after].id != best.right) continue;  // merged meanwhile
      Place& right = places[left.after];
      left.id = best.merged;
      right.id = kEmpty;
      left.after = right.after;
      if (left.after < places.size()) places[left.after].before = best.at;
      consider(left.before);
      consider(best.at);
    }
    for (const Place& place : places) {
      if (place.id != kEmpty) result.push_back(place.id);
    }
  }

  std::vector<std::string> tokens_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::unordered_map<std::string, std::int64_t> special_;
};

}  // namespace bpe
