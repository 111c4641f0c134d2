// Bounds of Dims: intervals of integers, and limits in terms of other extents.
#include <algorithm>

#include "compiler/ir/dim_node.h"

namespace onnxc {
namespace {

// Saturating arithmetic.
bool infinite(int64_t a) { return a == INT64_MAX || a == INT64_MIN; }
int64_t bound_add(int64_t a, int64_t b) {
  if (infinite(a)) return a;
  if (infinite(b)) return b;
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? (a > 0 ? INT64_MAX : INT64_MIN) : r;
}
int64_t bound_mul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t r;
  if (infinite(a) || infinite(b) || __builtin_mul_overflow(a, b, &r)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return r;
}

/// Counts statements of symbols' bounds. The bounds of expressions are cached until it changes.
uint64_t generation = 1;
DimBounds bounds_mul(DimBounds a, DimBounds b) {
  const int64_t c[] = {bound_mul(a.min, b.min), bound_mul(a.min, b.max), bound_mul(a.max, b.min), bound_mul(a.max, b.max)};
  return {*std::min_element(c, c + 4), *std::max_element(c, c + 4)};
}
DimBounds bounds_div(DimBounds a, DimBounds b, int64_t (*div)(int64_t, int64_t)) {
  if (b.min <= 0) return {INT64_MIN, INT64_MAX};
  const auto one = [&](int64_t n, int64_t d) { return infinite(n) ? n : infinite(d) ? (n < 0 ? -1 : int64_t{0}) : div(n, d); };
  const int64_t c[] = {one(a.min, b.min), one(a.min, b.max), one(a.max, b.min), one(a.max, b.max)};
  return {*std::min_element(c, c + 4), *std::max_element(c, c + 4)};
}
DimBounds of(Dim d) { return {d.min_value(), d.max_value()}; }

}  // namespace

void forget_bounds() { ++generation; }

DimBounds bounds_of(Dim::Kind kind, int64_t value, const std::vector<Dim>& args) {
  switch (kind) {
    case Dim::Kind::Constant: return {value, value};
    case Dim::Kind::Symbol: return {1, INT64_MAX};
    case Dim::Kind::Sum: {
      DimBounds sum{0, 0};
      for (Dim a : args) sum = {bound_add(sum.min, a.min_value()), bound_add(sum.max, a.max_value())};
      return sum;
    }
    case Dim::Kind::Product: {
      DimBounds product{value, value};
      for (Dim a : args) product = bounds_mul(product, of(a));
      return product;
    }
    case Dim::Kind::FloorDiv: return bounds_div(of(args[0]), of(args[1]), floor_of);
    case Dim::Kind::CeilDiv: return bounds_div(of(args[0]), of(args[1]), ceil_of);
    case Dim::Kind::Mod: return {0, bound_add(args[1].max_value(), -1)};
    case Dim::Kind::Min: return {std::min(args[0].min_value(), args[1].min_value()), std::min(args[0].max_value(), args[1].max_value())};
    case Dim::Kind::Broadcast:
      return {std::min(args[0].min_value(), args[1].min_value()), std::max(args[0].max_value(), args[1].max_value())};
    case Dim::Kind::Max: return {std::max(args[0].min_value(), args[1].min_value()), std::max(args[0].max_value(), args[1].max_value())};
  }
  return {INT64_MIN, INT64_MAX};
}

void Dim::update_bounds() const {
  if (is_symbol() || node_->bounded_at == generation) return;
  for (Dim a : node_->args) a.update_bounds();
  const DimBounds b = bounds_of(kind(), kind() == Kind::Product ? 1 : node_->value, node_->args);
  node_->min = b.min;
  node_->max = b.max;
  node_->bounded_at = generation;
}
int64_t Dim::min_value() const {
  update_bounds();
  return node_->min;
}
int64_t Dim::max_value() const {
  update_bounds();
  return node_->max;
}

void Dim::state_limit(Dim expression, Dim limit) {
  if (!expression.depends_on_run()) return;
  // A limit that depends on the expression itself says nothing, and upper_bound would never terminate.
  const auto stands_on = [&](auto&& self, Dim d) -> bool {
    if (d == expression || (d.node_->limit && self(self, *d.node_->limit))) return true;
    return std::any_of(d.args().begin(), d.args().end(), [&](Dim a) { return self(self, a); });
  };
  if (!stands_on(stands_on, limit)) expression.node_->limit = limit;
}

bool Dim::depends_on_run() const {
  return is_symbol() ? node_->run_time : std::any_of(args().begin(), args().end(), [](Dim a) { return a.depends_on_run(); });
}

std::optional<Dim> Dim::upper_bound(const std::function<bool(const std::string&)>& known) const {
  const auto range = range_of(*this, known);
  return range.second;
}

std::pair<std::optional<Dim>, std::optional<Dim>> Dim::range_of(Dim d, const std::function<bool(const std::string&)>& known) {
  using Bound = std::optional<Dim>;
  using Range = std::pair<Bound, Bound>;
  if (!d.depends_on_run()) return {d, d};
  if (known) {
    std::map<std::string, Dim> symbols;
    d.collect_symbols(symbols);
    if (std::all_of(symbols.begin(), symbols.end(), [&](const auto& s) { return !s.second.depends_on_run() || known(s.first); }))
      return {d, d};
  }
  const auto finite = [](int64_t v) { return v <= -kFar || v >= kFar ? Bound() : Bound(Dim(v)); };
  std::vector<Range> args;
  for (Dim a : d.args()) args.push_back(range_of(a, known));
  const auto both = [](const Bound& a, const Bound& b, Dim (*f)(Dim, Dim)) { return a && b ? Bound(f(*a, *b)) : Bound(); };
  const Range otherwise{finite(d.min_value()), finite(d.max_value())};
  switch (d.kind()) {
    case Kind::Constant: return {d, d};
    case Kind::Symbol: {
      if (known && known(d.name())) return {d, d};
      Bound limit = d.node_->limit ? d.node_->limit->upper_bound(known) : std::nullopt;
      if (!limit) limit = finite(d.node_->max);
      return {finite(d.node_->min), limit};
    }
    case Kind::Sum: {
      Range sum{Dim(0), Dim(0)};
      const auto add = [](Dim a, Dim b) { return a + b; };
      for (const Range& a : args) sum = {both(sum.first, a.first, add), both(sum.second, a.second, add)};
      return sum;
    }
    case Kind::Product: {
      const auto multiply = [](Dim a, Dim b) { return a * b; };
      Dim coefficient = 1;
      Range product{Dim(1), Dim(1)};
      std::vector<Dim> factors;
      for (Dim f : d.args()) {
        if (f.is_constant()) coefficient = f;
        else factors.push_back(f);
      }
      if (const Dim rest = make_product(factors); rest.node_->limit && coefficient.value() > 0) {
        const Bound limit = rest.node_->limit->upper_bound(known);
        if (limit) return {std::nullopt, *limit * coefficient};
      }
      const auto may_be_negative = [](Dim f) { return !f.is_constant() && f.min_value() < 0; };
      const auto negative = std::count_if(d.args().begin(), d.args().end(), may_be_negative);
      if (negative > 1 || (negative == 1 && (coefficient.value() < 0 || otherwise.second))) return otherwise;
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (d.args()[i].is_constant()) continue;
        // Where the only factor that may be negative is, the product is, too, or 0.
        if (may_be_negative(d.args()[i])) args[i] = {std::nullopt, args[i].second ? Bound(max(*args[i].second, 0)) : Bound()};
        product = {both(product.first, args[i].first, multiply), both(product.second, args[i].second, multiply)};
      }
      if (coefficient.value() < 0) std::swap(product.first, product.second);
      return {both(product.first, coefficient, multiply), both(product.second, coefficient, multiply)};
    }
    case Kind::FloorDiv:
    case Kind::CeilDiv: {
      if (d.args()[0].min_value() < 0 || d.args()[1].min_value() <= 0)
        // Half of an unbounded value is unbounded, although half of its largest number is smaller.
        return args[0].first && args[0].second ? otherwise : Range{};
      using Division = Dim (*)(Dim, Dim);
      const Division div = d.kind() == Kind::FloorDiv ? Division{floor_div} : Division{ceil_div};
      return {both(args[0].first, args[1].second, div), both(args[0].second, args[1].first, div)};
    }
    case Kind::Mod: return {Dim(0), args[1].second ? Bound(*args[1].second - 1) : finite(d.max_value())};
    case Kind::Min: {
      const Bound high = args[0].second && args[1].second ? Bound(onnxc::min(*args[0].second, *args[1].second))
                         : args[0].second                 ? args[0].second
                                                          : args[1].second;
      return {both(args[0].first, args[1].first, onnxc::min), high};
    }
    case Kind::Broadcast: return {both(args[0].first, args[1].first, onnxc::min), both(args[0].second, args[1].second, onnxc::max)};
    case Kind::Max: {
      const Bound low = args[0].first && args[1].first ? Bound(onnxc::max(*args[0].first, *args[1].first))
                        : args[0].first                ? args[0].first
                                                       : args[1].first;
      return {low, both(args[0].second, args[1].second, onnxc::max)};
    }
  }
  return otherwise;
}

}  // namespace onnxc
