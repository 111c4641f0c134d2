#include "codegen/unit_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>

#include "codegen/profile.h"

namespace onnxc {
namespace {

char to_upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
char to_lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// logical_not → LogicalNot
std::string in_capitals(const std::string& function) {
  std::string text;
  bool begins = true;
  for (const char c : function) {
    if (c != '_') text += begins ? to_upper(c) : c;
    begins = c == '_';
  }
  return text;
}

}  // namespace

std::vector<std::string> expr_names(const Program& program) {
  constexpr std::size_t kMostFunctions = 4, kLongest = 32;
  std::vector<std::string> names;
  std::set<std::string> used;
  for (std::size_t i = 0; i < program.exprs.size(); ++i) {
    const std::vector<std::string> functions = functions_of(program.exprs[i]);
    std::string base;
    for (const std::string& function : functions) base += in_capitals(function);
    if (base.empty() || functions.size() > kMostFunctions || base.size() > kLongest) base = fmt::format("E{}", i);
    std::string name = base;
    for (int suffix = 2; !used.insert(name).second; ++suffix) name = fmt::format("{}{}", base, suffix);
    names.push_back(std::move(name));
  }
  return names;
}

Names weight_scope(const std::string& name_space, const std::vector<std::string>& variants, bool gpu) {
  std::vector<std::string> own;
  for (const char* what : {"weights", "weights_image", "weights_pointer", "use_huge_pages"})
    own.push_back(fmt::format("{}_{}", name_space, what));
  std::vector<std::string_view> taken(std::begin(kInterfaceNames), std::end(kInterfaceNames));
  taken.insert(taken.end(), std::begin(kUnitNames), std::end(kUnitNames));
  taken.insert(taken.end(), std::begin(Profile::kNames), std::end(Profile::kNames));
  if (gpu) taken.insert(taken.end(), std::begin(kGpuUnitNames), std::end(kGpuUnitNames));
  taken.insert(taken.end(), own.begin(), own.end());
  taken.insert(taken.end(), variants.begin(), variants.end());
  return Names(taken);
}

std::string add_weight_name(Names& scope, std::string_view from) {
  constexpr std::size_t kLongest = 36;  // leaves room for a number
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (from.size() > kLongest) {
    from.remove_prefix(from.size() - kLongest);
    const auto word_ends = std::ranges::find_if_not(from, is_word);
    if (word_ends - from.begin() < static_cast<std::ptrdiff_t>(kLongest / 2))
      from.remove_prefix(static_cast<std::size_t>(word_ends - from.begin()));
  }
  std::string name = make_identifier(from, "constant");
  name[0] = to_lower(name[0]);
  // Avoids keywords and library names of C++, and names that units number.
  while (name.back() == '_') name.pop_back();
  if (!namespace_problem(name).why.empty() || name.starts_with("plan_") || name.starts_with("next_")) name = "w_" + name;
  return scope.add(name);
}

}  // namespace onnxc
