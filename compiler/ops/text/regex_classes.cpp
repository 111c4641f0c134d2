#include "compiler/ops/text/regex_classes.h"

#include <algorithm>

#include "compiler/ops/text/unicode_classes.inc"
#include "runtime_stub/onnxc/unicode_case.hpp"

namespace onnxc {
namespace {

bool contains(const Ranges& set, int32_t code) {
  return std::ranges::any_of(set, [&](const auto& range) { return code >= range.first && code <= range.second; });
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
  const auto visit = [&](int32_t code, int32_t other) {
    if (contains(set, code)) added.emplace_back(other, other);
    if (contains(set, other)) added.emplace_back(code, code);
  };
  for (int32_t c = 'A'; c <= 'Z'; ++c) visit(c, c + 32);
  for (const CaseRange& range : kLowerCase) {
    for (int32_t c = range.first; c <= range.last; c += range.step) visit(c, c + range.delta);
  }
  for (const CaseRange& range : kUpperCase) {
    for (int32_t c = range.first; c <= range.last; c += range.step) visit(c, c + range.delta);
  }
  const std::size_t before = set.size();
  set.insert(set.end(), added.begin(), added.end());
  normalise(set);
  // Once more, for chains such as K, k and the Kelvin sign.
  if (set.size() != before && !added.empty()) {
    Ranges again = set;
    added.clear();
    for (const CaseRange& range : kLowerCase) {
      for (int32_t c = range.first; c <= range.last; c += range.step) {
        if (contains(again, c + range.delta)) added.emplace_back(c, c);
      }
    }
    set.insert(set.end(), added.begin(), added.end());
    normalise(set);
  }
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
