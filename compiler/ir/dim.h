// Dim: the extent of one axis, a constant, a named symbol, or an expression of them.
//
//   batch            a symbol, with closed bounds
//   2*batch + 1      polynomials are kept in normal form, so equal extents are the same Dim
//   floordiv(h - 1, 2) + 1
//
// Dims are immutable and hash-consed: comparing two is comparing two pointers. Integer arithmetic is exact; an overflow of 64 bits throws
// SizeOverflow, since no tensor has such an extent.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnxc {

/// Integers read from data are clamped to [-kFar, kFar], so that arithmetic on them stays within 64 bits. No extent
/// is that large.
inline constexpr int64_t kFar = int64_t{1} << 40;

/// Values of symbols, by name.
using Sizes = std::map<std::string, int64_t, std::less<>>;

class Dim {
 public:
  enum class Kind { Constant, Symbol, Sum, Product, FloorDiv, CeilDiv, Mod, Min, Max, Broadcast };
  struct Node;

  Dim() : Dim(int64_t{0}) {}
  Dim(int64_t value);                      // NOLINT: integers are extents
  Dim(int value) : Dim(int64_t{value}) {}  // NOLINT
  /// A symbol is known by its name: the same name gives the same Dim. Its bounds are [1, INT64_MAX] until they are stated.
  static Dim symbol(std::string_view name);
  /// The same, and states the symbol's closed bounds.
  static Dim symbol(std::string_view name, int64_t min, int64_t max);
  /// A symbol that a step of a run binds, such as the number of nonzero elements, or an element of an integer input.
  /// `limit`, if given, is an upper bound in terms of other extents.
  static Dim run_time_symbol(std::string_view name, int64_t min, int64_t max, std::optional<Dim> limit = std::nullopt);

  Kind kind() const;
  /// States that `expression`, of run-time symbols, never exceeds `limit`, where upper_bound cannot deduce it.
  static void state_limit(Dim expression, Dim limit);
  bool is_constant() const { return kind() == Kind::Constant; }
  bool is_symbol() const { return kind() == Kind::Symbol; }
  /// Whether it contains a symbol that a step of a run binds, or is one.
  bool depends_on_run() const;
  /// Only for a constant.
  int64_t value() const;
  /// Only for a symbol.
  const std::string& name() const;
  const std::vector<Dim>& args() const;
  /// Closed bounds, by interval arithmetic over the symbols' own.
  int64_t min_value() const;
  int64_t max_value() const;

  /// All symbols inside, by name.
  void collect_symbols(std::map<std::string, Dim>& into) const;
  /// The largest value in terms of what is known before the run: run-time symbols that are not in `known` are
  /// replaced by their limits (or by their least values, where the expression decreases with them). Empty if one of
  /// them has no limit.
  std::optional<Dim> upper_bound(const std::function<bool(const std::string&)>& known = {}) const;
  /// Value under an assignment; a missing symbol is an internal error.
  int64_t evaluate(const Sizes& values) const;
  /// Replaces symbols by other Dims.
  Dim substitute(const std::map<std::string, Dim>& replacements) const;
  /// `2*batch + 1`; parse_dim is its inverse.
  std::string text() const;

  friend bool operator==(Dim a, Dim b) { return a.node_ == b.node_; }
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  Dim& operator+=(Dim other) { return *this = *this + other; }
  Dim& operator*=(Dim other) { return *this = *this * other; }
  /// Rounds toward minus infinity; b > 0.
  friend Dim floor_div(Dim a, Dim b);
  /// Rounds toward plus infinity; b > 0.
  friend Dim ceil_div(Dim a, Dim b);
  /// a - b * floor_div(a, b); b > 0.
  friend Dim mod(Dim a, Dim b);
  friend Dim min(Dim a, Dim b);
  friend Dim max(Dim a, Dim b);
  /// The result of broadcasting one extent with the other: b where a is 1, else a.
  friend Dim broadcast(Dim a, Dim b);

 private:
  static Dim wrap(const Node* node) {
    Dim d;
    d.node_ = node;
    return d;
  }
  void update_bounds() const;
  static std::pair<std::optional<Dim>, std::optional<Dim>> range_of(Dim d, const std::function<bool(const std::string&)>& known);
  static const Node* intern(Kind kind, int64_t value, std::string name, std::vector<Dim> args);
  friend Dim make_sum(const std::vector<Dim>& terms);
  friend Dim make_product(const std::vector<Dim>& factors);
  friend Dim make_binary(Kind kind, Dim a, Dim b);
  const Node* node_;
};

Dim floor_div(Dim a, Dim b);
Dim ceil_div(Dim a, Dim b);
Dim mod(Dim a, Dim b);
Dim min(Dim a, Dim b);
Dim max(Dim a, Dim b);
Dim broadcast(Dim a, Dim b);
/// Appends the extents that meet in `d`. If it is no broadcast, this is d itself.
void collect_broadcast(Dim d, std::vector<Dim>& into);
inline Dim round_up(Dim a, int64_t multiple) { return ceil_div(a, multiple) * multiple; }

/// True when a == b for every value of the symbols (their normal forms are equal).
inline bool always_equal(Dim a, Dim b) { return a == b; }
/// True when a >= b for every value of the symbols within their bounds, as far as interval arithmetic can tell.
bool always_at_least(Dim a, Dim b);
/// True when a != b likewise.
bool never_equal(Dim a, Dim b);

/// Sizes where each symbol is n, or the value within its bounds that is nearest to n.
Sizes sizes_near(int64_t n, const std::map<std::string, Dim>& symbols);
/// The value at these sizes; kMostBytes if it does not fit in 64 bits.
int64_t value_near(int64_t n, Dim dim);
/// Sizes to estimate by where they are unknown: near 64.
Sizes likely_sizes(const std::map<std::string, Dim>& symbols);
/// The value at these sizes.
int64_t likely_value(Dim dim);

/// The inverse of Dim::text; symbols not seen before get bounds [1, INT64_MAX]. Throws Error{Invalid}.
Dim parse_dim(std::string_view text);

/// True for a name that the text form can contain as it is: letters, digits, '_' and '.', not starting with a digit.
bool is_unquoted_symbol(std::string_view name);

}  // namespace onnxc
