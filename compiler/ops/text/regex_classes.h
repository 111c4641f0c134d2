// Sets of code points, as the classes of a regular expression are.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace onnxc {

inline constexpr int32_t kLastCode = 0x10ffff;

/// First and last of each run, both inclusive; in any order and overlapping, unless normalised.
using Ranges = std::vector<std::pair<int32_t, int32_t>>;

void normalise(Ranges& set);
/// All other code points, normalised.
Ranges negated(Ranges set);
/// Adds what differs from a member only in case.
void add_other_cases(Ranges& set);

Ranges digit_class();  ///< \d
Ranges space_class();  ///< \s
Ranges word_class();   ///< \w

/// `alpha` of [[:alpha:]] and its like.
struct NamedClass {
  std::string_view name;
  Ranges set;
};
std::span<const NamedClass> posix_classes();
/// `Greek` of \p{Greek}: Any, a category (one letter: all categories whose names begin with it; C does not include
/// unassigned code points), or a script. Nothing for other names.
std::optional<Ranges> unicode_class(std::string_view name);

}  // namespace onnxc
