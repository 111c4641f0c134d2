#include "codegen/size_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "codegen/names.h"
#include "codegen/requirements.h"
#include "compiler/support/checked.h"

namespace onnxc {
namespace {

// Sums of sizes, and amounts of work, may exceed a size. Kernels multiply sizes a little further, for instance by the
// number of threads, and onnxc::product_of is exact below 2^60.
constexpr double kMostSize = static_cast<double>(kMostBytes), kMostSum = 0x1p58;

/// The power of each symbol in a product.
using Powers = std::map<std::string, int>;
/// An upper bound of the magnitude of an expression, for symbols that are at least 1.
using Polynomial = std::map<Powers, double>;

bool divides(const Powers& a, const Powers& b) {
  return std::ranges::all_of(a, [&](const auto& factor) {
    const auto found = b.find(factor.first);
    return found != b.end() && factor.second <= found->second;
  });
}

Polynomial constant(double value) { return {{{}, std::abs(value)}}; }

Polynomial sum(Polynomial a, const Polynomial& b) {
  for (const auto& [powers, coefficient] : b) a[powers] += coefficient;
  return a;
}

/// An upper bound of both.
Polynomial larger(Polynomial a, const Polynomial& b) {
  for (const auto& [powers, coefficient] : b) a[powers] = std::max(a[powers], coefficient);
  return a;
}

/// Adds each term to another one that it divides, which is at least as large.
Polynomial merged(const Polynomial& a) {
  Polynomial result = a;
  for (const auto& [powers, ignored] : a) {
    const auto into =
        std::ranges::find_if(result, [&powers = powers](const auto& term) { return term.first != powers && divides(powers, term.first); });
    if (into == result.end()) continue;
    into->second += result.at(powers);
    result.erase(powers);
  }
  return result;
}

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [p, x] : a) {
    for (const auto& [q, y] : b) {
      Powers powers = p;
      for (const auto& [symbol, power] : q) powers[symbol] += power;
      result[powers] += x * y;
    }
  }
  constexpr std::size_t kMostTerms = 64;
  if (result.size() <= kMostTerms) return result;
  std::pair<Powers, double> one{{}, 0};  // that all of them divide
  for (const auto& [powers, coefficient] : result) {
    for (const auto& [symbol, power] : powers) one.first[symbol] = std::max(one.first[symbol], power);
    one.second += coefficient;
  }
  return {one};
}

class Collection {
 public:
  explicit Collection(const std::vector<Dim>& symbols) {
    for (Dim s : symbols) known_.insert(s.name());
  }

  /// States that the unit computes `dim`.
  void need(Dim dim, double most = kMostSize) {
    if (!dim.is_constant()) need(size_of(dim), most);
  }
  /// All extents of a tensor are multiplied, and so are some of them.
  void need_tensor(const Extents& extents, ElementType element) {
    Polynomial all = constant(std::max(1, held_bits(element) / 8));
    for (Dim d : extents) all = product(all, larger(size_of(d), constant(1)));
    need(all, kMostSize);
  }

  /// By the symbols that are multiplied: the largest allowed product.
  const std::map<Powers, double>& limits() const { return limits_; }

 private:
  void need(const Polynomial& size, double most) {
    const Polynomial terms = merged(size);
    for (const auto& [powers, coefficient] : terms) {
      if (powers.empty()) continue;
      const double limit = std::floor(most / static_cast<double>(terms.size()) / std::max(1.0, coefficient));
      const auto [it, fresh] = limits_.emplace(powers, limit);
      if (!fresh) it->second = std::min(it->second, limit);
    }
  }

  /// Functions compute what depends on the run, and saturate at 2^60. Of such expressions only the other parts count.
  Polynomial size_of(Dim d) {
    const auto [it, fresh] = sizes_.try_emplace(d.text());
    if (fresh) it->second = size_of_new(d);
    return it->second;
  }
  Polynomial size_of_new(Dim d) {
    if (d.is_constant()) return constant(static_cast<double>(d.value()));
    if (d.is_symbol()) return known_.contains(d.name()) ? Polynomial{{{{d.name(), 1}}, 1.0}} : constant(1);
    std::vector<Polynomial> args;
    for (Dim a : d.args()) args.push_back(size_of(a));
    const auto divided = [&] {  // the dividend is computed as well
      need(d.args()[0]);
      need(d.args()[1]);
      Polynomial quotient = args[0];
      for (auto& [powers, coefficient] : quotient) coefficient /= static_cast<double>(std::max<int64_t>(1, d.args()[1].min_value()));
      return sum(quotient, constant(1));
    };
    switch (d.kind()) {
      case Dim::Kind::Constant:
      case Dim::Kind::Symbol: break;
      case Dim::Kind::Sum: {
        Polynomial all;
        for (const Polynomial& a : args) all = sum(std::move(all), a);
        return all;
      }
      case Dim::Kind::Product: {
        if (d.depends_on_run()) {
          for (Dim a : d.args()) need(a);
          return constant(1);
        }
        Polynomial all = constant(1);
        for (const Polynomial& a : args) all = product(all, a);
        return all;
      }
      case Dim::Kind::FloorDiv:
      case Dim::Kind::CeilDiv: return divided();
      case Dim::Kind::Mod: divided(); return args[1];
      case Dim::Kind::Min:
        need(d.args()[0]);
        need(d.args()[1]);
        for (int i : {0, 1}) {
          const auto at = static_cast<std::size_t>(i);
          if (d.args()[at].is_constant() && d.args()[at].value() >= 0 && d.args()[1 - at].min_value() >= 0) return args[at];
        }
        return larger(args[0], args[1]);
      case Dim::Kind::Max:
      case Dim::Kind::Broadcast: return larger(args[0], args[1]);
    }
    return constant(1);
  }

  std::set<std::string> known_;
  std::map<std::string, Polynomial> sizes_;
  std::map<Powers, double> limits_;
};

void need_pointer(Collection& sizes, const PointerArg& pointer) {
  for (Dim d : {pointer.offset, pointer.extent_used, pointer.thread_stride}) sizes.need(d);
}
void need_form(Collection& sizes, const FormArg& form) {
  need_pointer(sizes, form.pointer);
  for (Dim d : form.members) sizes.need(d);
  for (Dim d : form.list) sizes.need(d);
}
/// Collects every extent and size among a step's arguments.
void need_arg(Collection& sizes, const Program& program, const Arg& arg) {
  if (const auto* p = std::get_if<PointerArg>(&arg)) need_pointer(sizes, *p);
  if (const auto* f = std::get_if<FormArg>(&arg)) need_form(sizes, *f);
  if (const auto* d = std::get_if<DimArg>(&arg)) sizes.need(d->value);
  if (const auto* t = std::get_if<TensorArg>(&arg)) {
    need_pointer(sizes, t->pointer);
    sizes.need_tensor(t->extents, program[t->pointer.buffer].element);
  }
  if (const auto* list = std::get_if<DimsArg>(&arg)) {
    for (Dim d : list->values) sizes.need(d);
  }
  if (const auto* epilogue = std::get_if<EpilogueArg>(&arg)) {
    for (const FormArg& f : epilogue->operands) need_form(sizes, f);
  }
  if (const auto* params = std::get_if<std::shared_ptr<ParamsArg>>(&arg)) {
    for (const auto& [name, value] : (*params)->members) need_arg(sizes, program, value);
  }
}

void need_all(Collection& sizes, const Program& program, bool threads) {
  for (const Buffer& b : program.buffers) {
    sizes.need(b.bytes);
    sizes.need(b.offset);
    sizes.need(b.pixel_stride);
    if (!b.is_value) sizes.need_tensor(b.extents, b.element);
  }
  for (BufferId id : program.outputs) {
    for (Dim d : program[id].extents) sizes.need(d.upper_bound().value_or(0));  // stored by output_shape
  }
  sizes.need(program.arena.unshared_bytes, kMostSum);
  for (const Requirement& r : program.requirements) {
    sizes.need(r.a);
    sizes.need(r.b);
  }
  for_each_step(program.steps, [&](const Step& step, int) {
    for (Dim d : sizes_of(step)) sizes.need(d);
    const Call* const call = step.call();
    if (call == nullptr) return for_each_pointer(step, [&](const PointerArg& p) { need_pointer(sizes, p); });
    for (const Arg& arg : call->args) need_arg(sizes, program, arg);
    if (!threads || !worth_sharing(*call)) return;
    sizes.need(call->macs, kMostSum);
    sizes.need(call->bytes, kMostSum);
  });
}

/// The largest value of a symbol for which its power, multiplied by `others`, does not exceed `limit`.
int64_t root(double limit, int power, double others) {
  const double value = std::floor(std::pow(std::max(1.0, limit / others), 1.0 / power));
  return static_cast<int64_t>(std::min(value, kMostSum));
}

}  // namespace

SizeLimits size_limits(const Program& program, const std::vector<Dim>& symbols, bool threads) {
  Collection sizes(symbols);
  need_all(sizes, program, threads);
  std::map<std::string, Dim> by_name;
  for (Dim s : symbols) by_name.emplace(s.name(), s);
  const auto least = [&](const std::string& name) { return static_cast<double>(std::max<int64_t>(1, by_name.at(name).min_value())); };
  const auto value = [](const Powers& powers, const auto& of) {
    double all = 1;
    for (const auto& [name, power] : powers) all *= std::pow(of(name), power);
    return all;
  };
  SizeLimits result;
  for (Dim s : symbols) result.most[s.name()] = s.max_value();
  for (const auto& [powers, limit] : sizes.limits()) {
    for (const auto& [name, power] : powers) {
      const int64_t most = root(limit, power, value(powers, least) / std::pow(least(name), power));
      result.most[name] = std::min(result.most[name], std::max(most, by_name.at(name).min_value()));
    }
  }
  for (const auto& [powers, limit] : sizes.limits()) {
    if (powers.size() < 2 || value(powers, [&](const std::string& name) { return static_cast<double>(result.most.at(name)); }) <= limit)
      continue;
    const bool follows = std::ranges::any_of(sizes.limits(), [&powers = powers, limit = limit](const auto& other) {
      return other.first != powers && divides(powers, other.first) && other.second <= limit;
    });
    if (follows) continue;
    SizeLimits::Product& product = result.products.emplace_back();
    product.most = static_cast<int64_t>(std::max(limit, value(powers, least)));
    for (Dim s : symbols) {
      const auto found = powers.find(s.name());
      if (found != powers.end()) product.factors.insert(product.factors.end(), static_cast<std::size_t>(found->second), s);
    }
  }
  return result;
}

std::string text(const SizeLimits::Product& product) {
  std::string all;
  for (Dim s : product.factors) all += (all.empty() ? "" : " * ") + s.name();
  return all;
}

std::string product_check(const SizeLimits::Product& product, const SymbolNames& symbols) {
  std::string all;
  std::vector<Dim> shown;
  for (Dim s : product.factors) {
    std::string factor = symbols.at(s.name());
    if (s.min_value() < 1) factor = fmt::format("onnxc::max_of({}, 1)", factor);
    all = all.empty() ? factor : fmt::format("onnxc::product_of({}, {})", all, factor);
    if (std::ranges::find(shown, s) == shown.end() && shown.size() < 2) shown.push_back(s);
  }
  return violation(fmt::format("{} > {}", all, product.most), fmt::format("{} must be at most {}", text(product), product.most), shown,
                   symbols);
}

}  // namespace onnxc
