#include "compiler/ops/text/regex_classes.h"

#include <algorithm>

#include "compiler/ops/text/unicode_classes.inc"
#include "compiler/support/sort_unique.h"
#include "runtime_stub/onnxc/unicode_case.hpp"

namespace onnxc {
namespace {

/// `set` is normalised.
bool contains(const Ranges& set, int32_t code) {
  const auto next = std::ranges::upper_bound(set, code, {}, [](const auto& range) { return range.first; });
  return next != set.begin() && code <= std::prev(next)->second;
}

/// Small letters whose upper case is the same several code points.
constexpr std::pair<int32_t, int32_t> kSameUpperCase[] = {{0x390, 0x1fd3}, {0x3b0, 0x1fe3}, {0xfb06, 0xfb05}};

/// Equal for code points that differ only in case, as Unicode's simple case folding says: the last of K, k and the Kelvin
/// sign, say. It keeps the capital i with a dot and the small one without apart.
int32_t folded(int32_t code) {
  if (code == 0x130 || code == 0x131) return code;
  for (const auto& [small, same] : kSameUpperCase) {
    if (code == same) return small;
  }
  return to_lower(to_upper(code));
}

/// (folded, code point) of all code points that have several cases, sorted.
const std::vector<std::pair<int32_t, int32_t>>& cased_letters() {
  static const auto all = [] {
    std::vector<std::pair<int32_t, int32_t>> letters;
    const auto add = [&](int32_t code) { letters.emplace_back(folded(code), code); };
    for (int32_t c = 'A'; c <= 'Z'; ++c) {
      add(c);
      add(to_lower(c));
    }
    for (const std::span<const CaseRange> table : {std::span<const CaseRange>(kLowerCase), std::span<const CaseRange>(kUpperCase)}) {
      for (const CaseRange& range : table) {
        for (int32_t c = range.first; c <= range.last; c += range.step) {
          add(c);
          add(c + range.delta);
        }
      }
    }
    for (const auto& [small, same] : kSameUpperCase) {
      add(small);
      add(same);
    }
    sort_unique(letters);
    return letters;
  }();
  return all;
}

const Ranges kDigits{{'0', '9'}}, kSpaces{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, kWords{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

const NamedClass kNamedClasses[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                    {"ascii", {{0, 0x7f}}},
                                    {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
                                    {"digit", kDigits},
                                    {"graph", {{'!', '~'}}},
                                    {"lower", {{'a', 'z'}}},
                                    {"print", {{' ', '~'}}},
                                    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                    {"space", {{'\t', '\r'}, {' ', ' '}}},
                                    {"upper", {{'A', 'Z'}}},
                                    {"word", kWords},
                                    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};

}  // namespace

void normalise(Ranges& set) {
  std::ranges::sort(set);
  Ranges merged;
  for (const auto& [first, last] : set) {
    if (!merged.empty() && first <= merged.back().second + 1) merged.back().second = std::max(merged.back().second, last);
    else merged.emplace_back(first, last);
  }
  set = std::move(merged);
}

Ranges negated(Ranges set) {
  normalise(set);
  Ranges result;
  int32_t next = 0;
  for (const auto& [first, last] : set) {
    if (first > next) result.emplace_back(next, first - 1);
    next = last + 1;
  }
  if (next <= kLastCode) result.emplace_back(next, kLastCode);
  return result;
}

void add_other_cases(Ranges& set) {
  normalise(set);
  Ranges added;
  const auto& letters = cased_letters();
  for (auto first = letters.begin(); first != letters.end();) {
    const auto last = std::find_if(first, letters.end(), [&](const auto& letter) { return letter.first != first->first; });
    if (std::any_of(first, last, [&](const auto& letter) { return contains(set, letter.second); })) {
      for (auto letter = first; letter != last; ++letter) added.emplace_back(letter->second, letter->second);
    }
    first = last;
  }
  set.insert(set.end(), added.begin(), added.end());
  normalise(set);
}

Ranges digit_class() { return kDigits; }
Ranges space_class() { return kSpaces; }
Ranges word_class() { return kWords; }

std::span<const NamedClass> posix_classes() { return kNamedClasses; }

std::optional<Ranges> unicode_class(std::string_view name) {
  if (name == "Any") return Ranges{{0, kLastCode}};
  const auto of = [&](std::span<const uint32_t> runs, std::span<const char* const> names, const auto& wanted) {
    Ranges set;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto first = static_cast<int32_t>(runs[i] >> 8),
                 last = i + 1 < runs.size() ? static_cast<int32_t>(runs[i + 1] >> 8) - 1 : kLastCode;
      if (const std::size_t number = runs[i] & 0xff; number < names.size()) {
        if (wanted(names[number])) set.emplace_back(first, last);
      } else if (wanted("Lu") && wanted("Ll")) {
        set.emplace_back(first, last);
      } else if (wanted("Lu") || wanted("Ll")) {
        for (int32_t c = first + (wanted("Lu") ? 0 : 1); c <= last; c += 2) set.emplace_back(c, c);
      }
    }
    return set;
  };
  Ranges set;
  if (name.size() <= 2)
    set = of(kCategoryRuns, kCategoryNames, [&](std::string_view category) {
      return category != "Cn" && (category == name || (name.size() == 1 && category.starts_with(name)));
    });
  else if (name != "Unknown") set = of(kScriptRuns, kScriptNames, [&](std::string_view script) { return script == name; });
  if (set.empty()) return std::nullopt;
  return set;
}

}  // namespace onnxc
