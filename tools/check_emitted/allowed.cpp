#include "tools/check_emitted/allowed.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace onnxc::check_emitted {
namespace {

constexpr std::string_view kNames[] = {"allocation", "recursion", "exception", "state", "leaf",
                                       "assembly",   "loop",      "const",     "index", "arena"};

}  // namespace

std::string_view name(Rule rule) { return kNames[static_cast<std::size_t>(rule)]; }

Allowed::Allowed(std::string_view text) {
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t reason = line.find('#');
    std::istringstream words(line.substr(0, reason));
    std::string kind, word;
    if (!(words >> kind)) continue;
    if (kind == "leaves" || kind == "math") {
      while (words >> word) (kind == "math" ? stems_ : leaves_).insert(word);
      continue;
    }
    const auto bad = [&](const char* why) { return std::invalid_argument("line " + std::to_string(number) + ": " + why); };
    if (std::ranges::find(kNames, kind) == std::end(kNames)) throw bad("it begins with no rule, nor with `leaves` or `math`");
    if (!std::getline(words >> std::ws, word)) throw bad("a rule is followed by a function");
    word.erase(word.find_last_not_of(' ') + 1);
    if (reason == std::string::npos || line.find_first_not_of(" #", reason) == std::string::npos) throw bad("an exception has a reason");
    exceptions_.push_back({kind, word});
  }
}

void Allowed::add(const Allowed& more) {
  leaves_.insert(more.leaves_.begin(), more.leaves_.end());
  stems_.insert(more.stems_.begin(), more.stems_.end());
  exceptions_.insert(exceptions_.end(), more.exceptions_.begin(), more.exceptions_.end());
}

bool Allowed::leaf(std::string_view name) const {
  if (leaves_.contains(name) || stems_.contains(name)) return true;
  return name.size() > 1 && (name.back() == 'f' || name.back() == 'l') && stems_.contains(name.substr(0, name.size() - 1));
}

bool Allowed::finding(Rule rule, std::string_view function) const {
  const auto fits = [&](std::string_view pattern) {
    return pattern.ends_with('*') ? function.starts_with(pattern.substr(0, pattern.size() - 1)) : function == pattern;
  };
  return std::ranges::any_of(exceptions_, [&](const Exception& e) { return e.rule == name(rule) && fits(e.function); });
}

}  // namespace onnxc::check_emitted
