#include "compiler/support/closest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/support/error.h"

namespace onnxc {
namespace {

/// The number of characters to insert, delete or replace: Levenshtein's distance, computed row by row.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> closest_names(const std::string& wanted, const std::vector<std::string>& names, std::size_t most) {
  constexpr std::size_t kLongest = 200;
  std::set<std::tuple<bool, std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    const bool contains = !wanted.empty() && name.find(wanted) != name.npos;
    ranked.emplace(!contains, edit_distance(std::string_view(wanted).substr(0, kLongest), std::string_view(name).substr(0, kLongest)),
                   name);
    if (ranked.size() > most) ranked.erase(std::prev(ranked.end()));
  }
  std::vector<std::string> result;
  for (const auto& [apart, distance, name] : ranked) result.push_back(name);
  return result;
}

std::string closest_text(const std::string& wanted, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : closest_names(wanted, names))
    text += fmt::format("{}'{}'", text.empty() ? "the closest are " : ", ", one_line(name));
  return text;
}

}  // namespace onnxc
