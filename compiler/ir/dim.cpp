#include "compiler/ir/dim.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "compiler/ir/dim_node.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

namespace {

/// A term of a sum as coefficient and factors: 3*a*b -> {3, [a, b]}.
struct Term {
  int64_t coefficient;
  std::vector<Dim> factors;
};
Term as_term(Dim d) {
  if (d.is_constant()) return {d.value(), {}};
  if (d.kind() == Dim::Kind::Product) {
    int64_t c = 1;
    std::vector<Dim> factors;
    for (Dim f : d.args()) {
      if (f.is_constant()) c = f.value();
      else factors.push_back(f);
    }
    return {c, factors};
  }
  return {1, {d}};
}
/// All extents that there are, by their text.
std::unordered_map<std::string, std::unique_ptr<Dim::Node>>& all_nodes() {
  static std::unordered_map<std::string, std::unique_ptr<Dim::Node>> table;
  return table;
}
std::mutex& nodes_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::vector<Term> as_terms(Dim d) {
  std::vector<Term> terms;
  if (d.kind() == Dim::Kind::Sum) {
    for (Dim a : d.args()) terms.push_back(as_term(a));
  } else {
    terms.push_back(as_term(d));
  }
  return terms;
}

}  // namespace

const Dim::Node* Dim::intern(Kind kind, int64_t value, std::string name, std::vector<Dim> args) {
  std::string text = text_of(kind, value, name, args);
  constexpr std::size_t kLongestText = 256 << 10;
  if (text.size() > kLongestText)
    throw Error(ErrorCode::OpenDimension, "an extent is an expression too long to follow", "state dimensions with --dim");
  const DimBounds b = bounds_of(kind, value, args);
  if (kind == Kind::Product && value != 1) args.insert(args.begin(), Dim(value));
  const std::scoped_lock lock(nodes_mutex());
  auto& slot = all_nodes()[text];
  if (!slot) {
    slot = std::make_unique<Node>(Node{kind, value, std::move(name), std::move(args), b.min, b.max, text});
  }
  return slot.get();
}

KeptBounds::KeptBounds() {
  const std::scoped_lock lock(nodes_mutex());
  for (const auto& [text, node] : all_nodes()) stated_.push_back({node.get(), node->min, node->max, node->limit});
}
KeptBounds::~KeptBounds() {
  for (const Stated& stated : stated_) {
    if (stated.node->kind == Dim::Kind::Symbol) stated.node->min = stated.min, stated.node->max = stated.max;
    stated.node->limit = stated.limit;
  }
  forget_bounds();
}

Dim::Dim(int64_t value) {
  static const Node* const zero = intern(Kind::Constant, 0, "", {});
  node_ = value == 0 ? zero : intern(Kind::Constant, value, "", {});
}

Dim Dim::symbol(std::string_view name) { return wrap(intern(Kind::Symbol, 0, std::string(name), {})); }

Dim Dim::symbol(std::string_view name, int64_t min, int64_t max) {
  const Dim d = symbol(name);
  if (d.node_->min != min || d.node_->max != max) forget_bounds();
  d.node_->min = min;
  d.node_->max = max;
  return d;
}

Dim Dim::run_time_symbol(std::string_view name, int64_t min, int64_t max, std::optional<Dim> limit) {
  const Dim d = symbol(name, min, limit ? std::min(max, limit->max_value()) : max);
  d.node_->run_time = true;
  d.node_->limit = limit;
  return d;
}

Dim::Kind Dim::kind() const { return node_->kind; }
int64_t Dim::value() const {
  ONNXC_CHECK(is_constant(), "only a constant extent has a value");
  return node_->value;
}
const std::string& Dim::name() const { return node_->name; }
const std::vector<Dim>& Dim::args() const { return node_->args; }
std::string Dim::text() const { return node_->text; }

void Dim::collect_symbols(std::map<std::string, Dim>& into) const {
  if (is_symbol()) into.emplace(name(), *this);
  for (Dim a : args()) a.collect_symbols(into);
}

int64_t Dim::evaluate(const Sizes& values) const {
  const auto arg = [&](std::size_t i) { return args()[i].evaluate(values); };
  switch (kind()) {
    case Kind::Constant: return node_->value;
    case Kind::Symbol: {
      const auto it = values.find(name());
      ONNXC_CHECK(it != values.end(), "every symbol of an extent is bound before it is evaluated");
      return it->second;
    }
    case Kind::Sum: {
      int64_t sum = 0;
      for (std::size_t i = 0; i < args().size(); ++i) sum = checked_add(sum, arg(i));
      return sum;
    }
    case Kind::Product: {
      int64_t product = 1;
      for (std::size_t i = 0; i < args().size(); ++i) product = checked_mul(product, arg(i));
      return product;
    }
    case Kind::FloorDiv:
    case Kind::CeilDiv:
    case Kind::Mod: {
      const int64_t b = arg(1);  // each argument once: the time would double with every level otherwise
      if (b == 0) return 0;
      const int64_t a = arg(0);
      if (kind() == Kind::CeilDiv) return ceil_of(a, b);
      return kind() == Kind::FloorDiv ? floor_of(a, b) : a - b * floor_of(a, b);
    }
    case Kind::Min: return std::min(arg(0), arg(1));
    case Kind::Max: return std::max(arg(0), arg(1));
    case Kind::Broadcast: {
      const int64_t a = arg(0);
      return a == 1 ? arg(1) : a;
    }
  }
  return 0;
}

Dim Dim::substitute(const std::map<std::string, Dim>& replacements) const {
  const auto arg = [&](std::size_t i) { return args()[i].substitute(replacements); };
  switch (kind()) {
    case Kind::Constant: return *this;
    case Kind::Symbol: {
      const auto it = replacements.find(name());
      return it == replacements.end() ? *this : it->second;
    }
    case Kind::Sum: {
      Dim sum = 0;
      for (std::size_t i = 0; i < args().size(); ++i) sum += arg(i);
      return sum;
    }
    case Kind::Product: {
      Dim product = 1;
      for (std::size_t i = 0; i < args().size(); ++i) product *= arg(i);
      return product;
    }
    case Kind::FloorDiv: return floor_div(arg(0), arg(1));
    case Kind::CeilDiv: return ceil_div(arg(0), arg(1));
    case Kind::Mod: return onnxc::mod(arg(0), arg(1));
    case Kind::Min: return onnxc::min(arg(0), arg(1));
    case Kind::Max: return onnxc::max(arg(0), arg(1));
    case Kind::Broadcast: return onnxc::broadcast(arg(0), arg(1));
  }
  return *this;
}

/// The product of a coefficient and non-constant, non-sum factors.
Dim make_product(const std::vector<Dim>& factors) {
  int64_t coefficient = 1;
  std::vector<Dim> rest;
  for (Dim f : factors) {
    for (const Term& t : {as_term(f)}) {
      coefficient = checked_mul(coefficient, t.coefficient);
      rest.insert(rest.end(), t.factors.begin(), t.factors.end());
    }
  }
  if (coefficient == 0 || rest.empty()) return Dim(coefficient);
  std::sort(rest.begin(), rest.end(), [](Dim a, Dim b) { return a.text() < b.text(); });
  if (coefficient == 1 && rest.size() == 1) return rest[0];
  return Dim::wrap(Dim::intern(Dim::Kind::Product, coefficient, "", std::move(rest)));
}

/// The sum of terms, like ones collected: constants last, the others by their text.
Dim make_sum(const std::vector<Dim>& terms) {
  std::map<std::string, std::pair<std::vector<Dim>, int64_t>> collected;
  int64_t constant = 0;
  for (Dim d : terms) {
    for (const Term& t : as_terms(d)) {
      if (t.factors.empty()) {
        constant = checked_add(constant, t.coefficient);
        continue;
      }
      auto& slot = collected[make_product(t.factors).text()];
      slot.first = t.factors;
      slot.second = checked_add(slot.second, t.coefficient);
    }
  }
  std::vector<Dim> sum;
  for (auto& [text, term] : collected) {
    if (term.second == 0) continue;
    std::vector<Dim> factors = term.first;
    factors.insert(factors.begin(), Dim(term.second));
    sum.push_back(make_product(factors));
  }
  if (sum.empty()) return Dim(constant);
  if (constant != 0) sum.push_back(Dim(constant));
  return sum.size() == 1 ? sum[0] : Dim::wrap(Dim::intern(Dim::Kind::Sum, 0, "", std::move(sum)));
}

Dim make_binary(Dim::Kind kind, Dim a, Dim b) { return Dim::wrap(Dim::intern(kind, 0, "", {a, b})); }

Dim operator+(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_add(a.value(), b.value()));
  return make_sum({a, b});
}
Dim operator-(Dim a, Dim b) { return a + Dim(-1) * b; }
Dim operator*(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_mul(a.value(), b.value()));
  constexpr std::size_t kMostTerms = 64;  // a larger product of sums stays a product
  const auto ta = as_terms(a), tb = as_terms(b);
  if (ta.size() * tb.size() > kMostTerms || (ta.size() == 1 && tb.size() == 1)) return make_product({a, b});
  std::vector<Dim> terms;
  for (const Term& x : ta) {
    for (const Term& y : tb) {
      std::vector<Dim> factors = x.factors;
      factors.insert(factors.end(), y.factors.begin(), y.factors.end());
      factors.insert(factors.begin(), Dim(checked_mul(x.coefficient, y.coefficient)));
      terms.push_back(make_product(factors));
    }
  }
  return make_sum(terms);
}

namespace {

/// Divides term by divisor. Returns false if there is a remainder.
bool divide_exactly(const Term& term, const Term& divisor, Term& quotient) {
  if (divisor.coefficient == 0 || term.coefficient % divisor.coefficient != 0) return false;
  quotient = {term.coefficient / divisor.coefficient, term.factors};
  for (Dim f : divisor.factors) {
    const auto it = std::find(quotient.factors.begin(), quotient.factors.end(), f);
    if (it == quotient.factors.end()) return false;
    quotient.factors.erase(it);
  }
  return true;
}
Dim from_term(const Term& t) {
  std::vector<Dim> factors = t.factors;
  factors.insert(factors.begin(), Dim(t.coefficient));
  return make_product(factors);
}

/// Splits a into (quotient, rest) with a == quotient * b + rest. All terms that divide exactly go to the quotient.
std::pair<Dim, Dim> split_quotient(Dim a, Dim b) {
  Dim quotient = 0, rest = 0;
  if (b.kind() == Dim::Kind::Sum) return a == b ? std::pair{Dim(1), Dim(0)} : std::pair{Dim(0), a};
  const Term divisor = as_term(b);
  for (const Term& t : as_terms(a)) {
    Term q;
    if (divide_exactly(t, divisor, q)) {
      quotient += from_term(q);
    } else if (t.factors.empty() && divisor.factors.empty() && divisor.coefficient > 0) {
      quotient += floor_of(t.coefficient, divisor.coefficient);
      rest += t.coefficient - divisor.coefficient * floor_of(t.coefficient, divisor.coefficient);
    } else {
      rest += from_term(t);
    }
  }
  return {quotient, rest};
}

}  // namespace

Dim floor_div(Dim a, Dim b) {
  if (b == Dim(1)) return a;
  if (a.is_constant() && b.is_constant()) return b.value() == 0 ? Dim(0) : Dim(floor_of(a.value(), b.value()));
  const auto [quotient, rest] = split_quotient(a, b);
  if (rest == Dim(0)) return quotient;
  if (always_at_least(rest, 0) && always_at_least(b, rest + 1)) return quotient;
  return quotient + make_binary(Dim::Kind::FloorDiv, rest, b);
}
Dim ceil_div(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant() && b.value() > 0) return ceil_of(a.value(), b.value());
  if (b.is_constant()) return floor_div(a + (b - 1), b);
  const auto [quotient, rest] = split_quotient(a, b);
  return rest == Dim(0) ? quotient : quotient + make_binary(Dim::Kind::CeilDiv, rest, b);
}
Dim mod(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant() && b.value() != 0) return a.value() - b.value() * floor_of(a.value(), b.value());
  const auto [quotient, rest] = split_quotient(a, b);
  return rest == Dim(0) ? rest : make_binary(Dim::Kind::Mod, rest, b);
}
Dim min(Dim a, Dim b) {
  if (always_at_least(a, b)) return b;
  if (always_at_least(b, a)) return a;
  return a.text() < b.text() ? make_binary(Dim::Kind::Min, a, b) : make_binary(Dim::Kind::Min, b, a);
}
Dim max(Dim a, Dim b) {
  if (always_at_least(a, b)) return a;
  if (always_at_least(b, a)) return b;
  return a.text() < b.text() ? make_binary(Dim::Kind::Max, a, b) : make_binary(Dim::Kind::Max, b, a);
}

void collect_broadcast(Dim d, std::vector<Dim>& into) {
  if (d.kind() != Dim::Kind::Broadcast) return into.push_back(d);
  for (Dim a : d.args()) collect_broadcast(a, into);
}

Dim broadcast(Dim a, Dim b) {
  // Each extent once, sorted by text, so that broadcast(broadcast(a, b), a) is broadcast(a, b).
  std::vector<Dim> all;
  collect_broadcast(a, all);
  collect_broadcast(b, all);
  std::erase(all, Dim(1));
  if (all.empty()) return 1;
  if (const auto known = std::find_if(all.begin(), all.end(), [](Dim d) { return d.min_value() > 1; }); known != all.end()) return *known;
  std::sort(all.begin(), all.end(), [](Dim x, Dim y) { return x.text() < y.text(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Dim result = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) result = make_binary(Dim::Kind::Broadcast, result, all[i]);
  return result;
}

bool always_at_least(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return a.value() >= b.value();
  try {
    return (a - b).min_value() >= 0;
    // A constant near the limit of 64 bits, as exporters write infinity.
  } catch (const SizeOverflow&) {
    return false;
  }
}

bool never_equal(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return a.value() != b.value();
  try {
    return (a - b).min_value() > 0 || (b - a).min_value() > 0;
  } catch (const SizeOverflow&) {
    return false;
  }
}

Sizes sizes_near(int64_t n, const std::map<std::string, Dim>& symbols) {
  Sizes sizes;
  for (const auto& [name, symbol] : symbols) sizes[name] = std::clamp(n, symbol.min_value(), symbol.max_value());
  return sizes;
}

int64_t value_near(int64_t n, Dim dim) {
  std::map<std::string, Dim> symbols;
  dim.collect_symbols(symbols);
  try {
    return dim.evaluate(sizes_near(n, symbols));
  } catch (const SizeOverflow&) {
    return kMostBytes;
  }
}

constexpr int64_t kLikely = 64;

Sizes likely_sizes(const std::map<std::string, Dim>& symbols) { return sizes_near(kLikely, symbols); }

int64_t likely_value(Dim dim) { return value_near(kLikely, dim); }

}  // namespace onnxc
