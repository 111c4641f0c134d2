#include "codegen/cpp_branches.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp_text.h"

namespace onnxc {
namespace {

/// Writes one tree, and counts its leaves.
class TreeText {
 public:
  TreeText(const Branches& branches, int32_t first_leaf) : branches_(branches), first_leaf_(first_leaf) {}
  int32_t leaves() const { return leaves_; }

  /// A child of a node at that depth.
  std::string child(int32_t number, int depth) {
    if (number >= 0) return test(number, depth);
    leaves_ = std::max(leaves_, -number);
    return std::to_string(first_leaf_ - 1 - number);
  }

 private:
  /// A test of two leaves takes a line; otherwise its answers are on lines of their own.
  std::string test(int32_t number, int depth) {
    const Branches::Test& t = branches_.tests[static_cast<std::size_t>(number)];
    std::string arguments = std::to_string(t.feature);
    for (const uint64_t bits : t.numbers) arguments += ", " + cpp_constant(branches_.type, bits);
    const std::string question = fmt::format("x.{}{}({})", t.is_set ? "outside" : "above", t.nan_right ? "_or_nan" : "", arguments);
    const std::string space =
        t.left < 0 && t.right < 0 ? " " : "\n" + std::string(static_cast<std::size_t>(std::min(kDeepest, 4 + 2 * depth)), ' ');
    // One after the other, since they count leaves.
    const std::string right = child(t.right, depth + 1), left = child(t.left, depth + 1);
    return fmt::format("{}{}? {}{}: {}", question, space, right, space, left);
  }

  static constexpr int kDeepest = 60;  // columns
  const Branches& branches_;
  int32_t first_leaf_, leaves_ = 0;
};

}  // namespace

std::string branches_name(int number) { return fmt::format("Branches{}", number); }

std::string cpp_branches_struct(const std::string& name, const Branches& branches) {
  std::string trees;
  int32_t first_leaf = 0;
  for (std::size_t i = 0; i < branches.roots.size(); ++i) {
    TreeText tree(branches, first_leaf);
    trees += fmt::format("    ends({}, {});\n", i, tree.child(branches.roots[i], 1));
    first_leaf += tree.leaves();
  }
  return fmt::format(
      "struct {} {{  // {}\n  template <class Row, class Ends>\n  static ONNXC_INLINE void leaves(const Row& x, const Ends& ends) {{\n{}  "
      "}}\n}};\n",
      name, branches.summary(), trees);
}

}  // namespace onnxc
