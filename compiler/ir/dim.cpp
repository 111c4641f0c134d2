#include "compiler/ir/dim.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "compiler/support/error.h"

namespace onnxc {

struct Dim::Node {
  Kind kind;
  int64_t value;     // Constant; Product: its coefficient
  std::string name;  // Symbol
  std::vector<Dim> args;
  mutable int64_t min, max;
  std::string text;
  mutable uint64_t bounded_at = 0;  // the generation of symbols' bounds that min and max were computed from
  mutable bool run_time = false;
  mutable std::optional<Dim> limit{};
};

namespace {

[[noreturn]] void overflow() { throw Error(ErrorKind::Invalid, "an extent does not fit in 64 bits"); }
int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) overflow();
  return r;
}
int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) overflow();
  return r;
}
int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceil_of(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

// Saturating arithmetic for bounds: INT64_MIN and INT64_MAX stand for the infinities.
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

struct Bounds {
  int64_t min, max;
};
/// Counts statements of symbols' bounds: bounds of expressions are kept until one changes.
uint64_t generation = 1;
Bounds bounds_mul(Bounds a, Bounds b) {
  const int64_t c[] = {bound_mul(a.min, b.min), bound_mul(a.min, b.max), bound_mul(a.max, b.min), bound_mul(a.max, b.max)};
  return {*std::min_element(c, c + 4), *std::max_element(c, c + 4)};
}
Bounds bounds_div(Bounds a, Bounds b, int64_t (*div)(int64_t, int64_t)) {
  if (b.min <= 0) return {INT64_MIN, INT64_MAX};
  const auto one = [&](int64_t n, int64_t d) { return infinite(n) ? n : infinite(d) ? (n < 0 ? -1 : int64_t{0}) : div(n, d); };
  const int64_t c[] = {one(a.min, b.min), one(a.min, b.max), one(a.max, b.min), one(a.max, b.max)};
  return {*std::min_element(c, c + 4), *std::max_element(c, c + 4)};
}
Bounds of(Dim d) { return {d.min_value(), d.max_value()}; }

Bounds bounds_of(Dim::Kind kind, int64_t value, const std::vector<Dim>& args) {
  switch (kind) {
    case Dim::Kind::Constant: return {value, value};
    case Dim::Kind::Symbol: return {1, INT64_MAX};
    case Dim::Kind::Sum: {
      Bounds sum{0, 0};
      for (Dim a : args) sum = {bound_add(sum.min, a.min_value()), bound_add(sum.max, a.max_value())};
      return sum;
    }
    case Dim::Kind::Product: {
      Bounds product{value, value};
      for (Dim a : args) product = bounds_mul(product, of(a));
      return product;
    }
    case Dim::Kind::FloorDiv: return bounds_div(of(args[0]), of(args[1]), floor_of);
    case Dim::Kind::CeilDiv: return bounds_div(of(args[0]), of(args[1]), ceil_of);
    case Dim::Kind::Mod: return {0, bound_add(args[1].max_value(), -1)};
    case Dim::Kind::Min:
      return {std::min(args[0].min_value(), args[1].min_value()), std::min(args[0].max_value(), args[1].max_value())};
    case Dim::Kind::Max:
      return {std::max(args[0].min_value(), args[1].min_value()), std::max(args[0].max_value(), args[1].max_value())};
  }
  return {INT64_MIN, INT64_MAX};
}

bool needs_parentheses(Dim d) { return d.kind() == Dim::Kind::Sum; }

std::string text_of(Dim::Kind kind, int64_t value, const std::string& name, const std::vector<Dim>& args) {
  const auto call = [&](const char* f) { return fmt::format("{}({}, {})", f, args[0].text(), args[1].text()); };
  switch (kind) {
    case Dim::Kind::Constant: return std::to_string(value);
    case Dim::Kind::Symbol: {
      if (is_plain_symbol(name)) return name;
      std::string quoted = "'";
      for (char c : name) {
        if (c == '\'' || c == '\\') quoted += '\\';
        quoted += c;
      }
      return quoted + "'";
    }
    case Dim::Kind::Sum: {
      std::string all;
      for (Dim a : args) {
        std::string term = a.text();
        if (all.empty()) {
          all = term;
        } else if (term[0] == '-') {
          all += " - " + term.substr(1);
        } else {
          all += " + " + term;
        }
      }
      return all;
    }
    case Dim::Kind::Product: {
      std::string all = value == 1 ? "" : value == -1 ? "-" : std::to_string(value);
      for (std::size_t i = 0; i < args.size(); ++i) {
        const bool first = i == 0 && (value == 1 || value == -1);
        all += (first ? "" : "*") + (needs_parentheses(args[i]) ? "(" + args[i].text() + ")" : args[i].text());
      }
      return all;
    }
    case Dim::Kind::FloorDiv: return call("floordiv");
    case Dim::Kind::CeilDiv: return call("ceildiv");
    case Dim::Kind::Mod: return call("mod");
    case Dim::Kind::Min: return call("min");
    case Dim::Kind::Max: return call("max");
  }
  return "?";
}

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
  static std::mutex mutex;
  static std::unordered_map<std::string, std::unique_ptr<Node>> table;
  std::string text = text_of(kind, value, name, args);
  constexpr std::size_t kLongestText = 256 << 10;
  if (text.size() > kLongestText) throw Error(ErrorKind::Unsupported, "an extent is an expression too long to follow", "state dimensions with --dim");
  const Bounds b = bounds_of(kind, value, args);
  if (kind == Kind::Product && value != 1) args.insert(args.begin(), Dim(value));
  const std::scoped_lock lock(mutex);
  auto& slot = table[text];
  if (!slot) {
    slot = std::make_unique<Node>(Node{kind, value, std::move(name), std::move(args), b.min, b.max, text});
  }
  return slot.get();
}

Dim::Dim(int64_t value) {
  static const Node* const zero = intern(Kind::Constant, 0, "", {});
  node_ = value == 0 ? zero : intern(Kind::Constant, value, "", {});
}

Dim Dim::symbol(std::string_view name) { return wrap(intern(Kind::Symbol, 0, std::string(name), {})); }

Dim Dim::symbol(std::string_view name, int64_t min, int64_t max) {
  const Dim d = symbol(name);
  if (d.node_->min != min || d.node_->max != max) ++generation;
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

void Dim::state_limit(Dim expression, Dim limit) {
  if (expression.depends_on_run()) expression.node_->limit = limit;
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
    if (std::all_of(symbols.begin(), symbols.end(), [&](const auto& s) { return !s.second.depends_on_run() || known(s.first); })) return {d, d};
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
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (d.args()[i].is_constant()) continue;
        if (d.args()[i].min_value() < 0) return otherwise;
        product = {both(product.first, args[i].first, multiply), both(product.second, args[i].second, multiply)};
      }
      if (coefficient.value() < 0) std::swap(product.first, product.second);
      return {both(product.first, coefficient, multiply), both(product.second, coefficient, multiply)};
    }
    case Kind::FloorDiv:
    case Kind::CeilDiv: {
      if (d.args()[0].min_value() < 0 || d.args()[1].min_value() <= 0)
        return args[0].first && args[0].second ? otherwise : Range{};  // half of what has no bound has none, although its number is smaller
      Dim (*const div)(Dim, Dim) = d.kind() == Kind::FloorDiv ? onnxc::floor_div : onnxc::ceil_div;
      return {both(args[0].first, args[1].second, div), both(args[0].second, args[1].first, div)};
    }
    case Kind::Mod: return {Dim(0), args[1].second ? Bound(*args[1].second - 1) : finite(d.max_value())};
    case Kind::Min: {
      const Bound high = args[0].second && args[1].second ? Bound(onnxc::min(*args[0].second, *args[1].second)) : args[0].second ? args[0].second : args[1].second;
      return {both(args[0].first, args[1].first, onnxc::min), high};
    }
    case Kind::Max: {
      const Bound low = args[0].first && args[1].first ? Bound(onnxc::max(*args[0].first, *args[1].first)) : args[0].first ? args[0].first : args[1].first;
      return {low, both(args[0].second, args[1].second, onnxc::max)};
    }
  }
  return otherwise;
}

Dim::Kind Dim::kind() const { return node_->kind; }
int64_t Dim::value() const {
  ONNXC_CHECK(is_constant(), "only a constant extent has a value");
  return node_->value;
}
const std::string& Dim::name() const { return node_->name; }
const std::vector<Dim>& Dim::args() const { return node_->args; }
void Dim::update_bounds() const {
  if (is_symbol() || node_->bounded_at == generation) return;
  for (Dim a : node_->args) a.update_bounds();
  const Bounds b = bounds_of(kind(), kind() == Kind::Product ? 1 : node_->value, node_->args);
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
    case Kind::FloorDiv: return arg(1) == 0 ? 0 : floor_of(arg(0), arg(1));
    case Kind::CeilDiv: return arg(1) == 0 ? 0 : ceil_of(arg(0), arg(1));
    case Kind::Mod: return arg(1) == 0 ? 0 : arg(0) - arg(1) * floor_of(arg(0), arg(1));
    case Kind::Min: return std::min(arg(0), arg(1));
    case Kind::Max: return std::max(arg(0), arg(1));
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
  }
  return *this;
}

/// The product of a coefficient and non-constant, non-sum factors.
Dim make_product(std::vector<Dim> factors) {
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
Dim make_sum(std::vector<Dim> terms) {
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
    sum.push_back(make_product(std::move(factors)));
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
  constexpr std::size_t kMostTerms = 64;  // beyond it a product of sums stays a product
  const auto ta = as_terms(a), tb = as_terms(b);
  if (ta.size() * tb.size() > kMostTerms || (ta.size() == 1 && tb.size() == 1)) return make_product({a, b});
  std::vector<Dim> terms;
  for (const Term& x : ta) {
    for (const Term& y : tb) {
      std::vector<Dim> factors = x.factors;
      factors.insert(factors.end(), y.factors.begin(), y.factors.end());
      factors.insert(factors.begin(), Dim(checked_mul(x.coefficient, y.coefficient)));
      terms.push_back(make_product(std::move(factors)));
    }
  }
  return make_sum(std::move(terms));
}

namespace {

/// Divides term by divisor without remainder, or says that it cannot.
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
  return make_product(std::move(factors));
}

/// Splits a into (quotient, rest) with a == quotient * b + rest, moving what divides exactly into the quotient.
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

bool always_at_least(Dim a, Dim b) { return (a - b).min_value() >= 0; }

bool is_plain_symbol(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  if (name == "floordiv" || name == "ceildiv" || name == "mod" || name == "min" || name == "max") return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

namespace {

class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}
  Dim parse() {
    const Dim d = sum();
    skip();
    if (pos_ != text_.size()) fail();
    return d;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::Invalid, fmt::format("'{}' is not an extent (stopped at column {})", text_, pos_ + 1));
  }
  void skip() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  bool take(char c) {
    skip();
    if (pos_ < text_.size() && text_[pos_] == c) return ++pos_, true;
    return false;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  Dim sum() {
    Dim d = product();
    for (;;) {
      if (take('+')) d = d + product();
      else if (take('-')) d = d - product();
      else return d;
    }
  }
  Dim product() {
    if (take('-')) return Dim(-1) * product();
    Dim d = atom();
    while (take('*')) d = d * atom();
    return d;
  }
  Dim atom() {
    if (++depth_ > 200) fail();
    const Dim d = bare_atom();
    --depth_;
    return d;
  }
  Dim bare_atom() {
    skip();
    if (pos_ >= text_.size()) fail();
    const char c = text_[pos_];
    if (take('(')) {
      const Dim d = sum();
      expect(')');
      return d;
    }
    if (take('\'')) return quoted();
    if (c >= '0' && c <= '9') return number();
    const std::size_t first = pos_;
    while (pos_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '_' || text_[pos_] == '.')) ++pos_;
    if (first == pos_) fail();
    const std::string_view name = text_.substr(first, pos_ - first);
    if (!take('(')) return Dim::symbol(name);
    const Dim a = sum();
    expect(',');
    const Dim b = sum();
    expect(')');
    if (name == "floordiv") return floor_div(a, b);
    if (name == "ceildiv") return ceil_div(a, b);
    if (name == "mod") return onnxc::mod(a, b);
    if (name == "min") return onnxc::min(a, b);
    if (name == "max") return onnxc::max(a, b);
    fail();
  }
  Dim quoted() {
    std::string name;
    while (pos_ < text_.size() && text_[pos_] != '\'') {
      if (text_[pos_] == '\\') ++pos_;
      if (pos_ < text_.size()) name += text_[pos_++];
    }
    expect('\'');
    return Dim::symbol(name);
  }
  Dim number() {
    int64_t v = 0;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') v = checked_add(checked_mul(v, 10), text_[pos_++] - '0');
    return Dim(v);
  }
  std::string_view text_;
  std::size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(std::string_view text) { return DimParser(text).parse(); }

Sizes likely_sizes(const std::map<std::string, Dim>& symbols) {
  Sizes sizes;
  for (const auto& [name, symbol] : symbols) sizes[name] = std::clamp<int64_t>(64, symbol.min_value(), symbol.max_value());
  return sizes;
}

int64_t likely_value(Dim dim) {
  std::map<std::string, Dim> symbols;
  dim.collect_symbols(symbols);
  return dim.evaluate(likely_sizes(symbols));
}

}  // namespace onnxc
