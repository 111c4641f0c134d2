#include "tools/check_emitted/arena.h"

#include <algorithm>
#include <random>

#include "codegen/names.h"
#include "tools/check_emitted/data.h"
#include "tools/check_emitted/extents.h"
#include "tools/check_emitted/unit_functions.h"

namespace onnxc::check_emitted {
namespace {

using namespace clang;

/// The members of a unit's Dims for such sizes.
SizeValues members_of_dims(const Sizes& sizes) {
  SizeValues dims;
  for (const auto& [symbol, value] : sizes) {
    const std::string member = "dims." + make_identifier(symbol, "dim");
    dims[member] = value;
    dims.try_emplace(member + "_2", value);  // where the interface has a thing of that name
  }
  return dims;
}

class ArenaJudge {
 public:
  ArenaJudge(ASTContext& context, const MemoryPlan& plan, const UnitCode& code, const UnitFunctions& functions, ArenaFindings& result)
      : context_(context), plan_(plan), code_(code), functions_(functions), result_(result) {}

  void judge() {
    for (const FunctionDecl* steps : functions_.steps) judge_steps(*steps);
    result_.operands += operands_.all.size();
    result_.compared += operands_.compared.size();
  }

 private:
  void report(SourceLocation where, std::string what) { result_.findings.push_back({Rule::Arena, where, std::move(what)}); }

  void judge_steps(const FunctionDecl& steps) {
    const ArenaUses uses = arena_uses(steps);
    for (const SourceLocation where : uses.others) report(where, "the arena is used beside onnxc::at");
    result_.pointers += uses.pointers.size();
    if (plan_.symbols.empty()) {
      judge_sizes(steps, uses, {});
      return;
    }
    constexpr int kSamples = 16;  // the least ones, small ones, ones up to several hundred, and multiples of what blocks have
    std::mt19937_64 random(1);
    for (int sample = 0; sample < kSamples && result_.findings.empty(); ++sample) {
      Sizes sizes;
      for (const auto& [name, symbol] : plan_.symbols) {
        const int64_t least = std::max<int64_t>(1, symbol.min_value()), most = std::max(least, symbol.max_value());
        const auto drawn = static_cast<int64_t>(random());
        const int64_t value = sample == 0   ? least
                              : sample < 6  ? least + (drawn & 7)
                              : sample < 12 ? least + (drawn & 511)
                                            : 64 * (1 + (drawn & 7));
        sizes[name] = std::min(most, value);
      }
      judge_sizes(steps, uses, sizes);
    }
  }

  void judge_sizes(const FunctionDecl& steps, const ArenaUses& uses, const Sizes& sizes) {
    const SizeValues dims = members_of_dims(sizes);
    if (functions_.plans.empty())
      return judge_at(steps, uses, sizes, dims, plan_.arena_bytes.is_constant() ? std::optional(plan_.arena_bytes.value()) : std::nullopt);
    for (const FunctionDecl* plan : functions_.plans) {
      if (const auto values = run_plan(*plan, dims, context_)) judge_at(steps, uses, sizes, *values, values->at("p.bytes"));
      // `plan` takes the smallest of several, each of which is judged.
      else if (functions_.plans.size() == 1) report(plan->getLocation(), "the function that computes offsets is not understood");
    }
  }

  struct Place {
    int64_t begin, end;
    int first, last;
  };

  /// For one set of sizes.
  void judge_at(const FunctionDecl& steps, const ArenaUses& uses, const Sizes& sizes, const SizeValues& values,
                std::optional<int64_t> arena_bytes) {
    if (!arena_bytes) return report(steps.getLocation(), "the plan does not say how large the arena is");
    const bool is_fixed = functions_.plans.empty() || std::ranges::none_of(values, [](const auto& value) {
                            return value.first.starts_with("p.b") && value.first != "p.bytes";
                          });
    std::map<int, Place> places;  // of roots
    for (const auto& [id, buffer] : plan_.buffers) {
      if (buffer.parent >= 0) continue;
      std::optional<int64_t> begin;
      if (is_fixed) begin = evaluate(buffer.offset, sizes);
      else if (const auto found = values.find("p.b" + std::to_string(id)); found != values.end()) begin = found->second;
      const auto bytes = evaluate(buffer.bytes, sizes);
      if (!begin || !bytes) continue;
      places[id] = {*begin, *begin + *bytes, buffer.first, buffer.last};
      if (*begin < 0 || *begin + *bytes > *arena_bytes)
        return report(steps.getLocation(), "buffer " + std::to_string(id) + " ends at byte " + std::to_string(*begin + *bytes) +
                                               " of an arena of " + std::to_string(*arena_bytes));
    }
    if (const std::string overlap = find_overlap(places); !overlap.empty()) return report(steps.getLocation(), overlap);
    Rooms rooms(code_.sizes, values, context_);
    if (!place_pointers(uses, sizes, values, places, is_fixed, rooms)) return;
    const auto refuse = [&](const FunctionDecl* f) { return refuses(*f, values, context_); };
    if (std::ranges::any_of(code_.checks, refuse) || refuse(&steps)) return;
    static const ExtentRules rules = read_extent_rules(check_emitted_data("extents.txt"));
    check_extents(steps, rooms, rules, values, context_, result_.findings, operands_);
  }

  static std::string find_overlap(const std::map<int, Place>& places) {
    for (auto a = places.begin(); a != places.end(); ++a) {
      for (auto b = std::next(a); b != places.end(); ++b) {
        const Place &x = a->second, &y = b->second;
        if (x.first < y.last && y.first < x.last && x.begin < y.end && y.begin < x.end)
          return "buffers " + std::to_string(a->first) + " and " + std::to_string(b->first) + " live at once and overlap";
      }
    }
    return {};
  }

  /// Finds the buffer of each pointer. Both are in the same order, and a few buffers have no pointer.
  bool place_pointers(const ArenaUses& uses, const Sizes& sizes, const SizeValues& values, const std::map<int, Place>& places,
                      bool is_fixed, Rooms& rooms) {
    auto next = plan_.buffers.begin();
    std::size_t left = uses.pointers.size();
    for (const ArenaPointer& pointer : uses.pointers) {
      const auto offset = size_value(*pointer.offset(), values, context_);
      if (!offset) return report(pointer.at->getBeginLoc(), "an offset that is not understood"), false;
      const MemberExpr* const named = plan_member(pointer.offset());
      const auto place_of = [&](const auto& entry) {
        const int root = plan_.root_of(entry.first);
        const auto place = places.find(root);
        const auto inside = evaluate(plan_.offset_in_root(entry.first), sizes), bytes = evaluate(entry.second.bytes, sizes);
        if (place == places.end() || !inside || place->second.begin + *inside != *offset) return places.end();
        // A view may have bytes that only a run knows. Of symbolic sizes, the model may refuse those for which it is larger than what it lies in.
        const bool fits = is_fixed ? !bytes || *offset + *bytes <= place->second.end
                                   : named == nullptr || named->getMemberDecl()->getName() == "b" + std::to_string(root);
        return fits ? place : places.end();
      };
      next = std::find_if(next, plan_.buffers.end(), [&](const auto& entry) { return place_of(entry) != places.end(); });
      if (next == plan_.buffers.end())
        return report(pointer.at->getBeginLoc(), "no buffer of the plan lies at byte " + std::to_string(*offset)), false;
      // If others that begin there may be meant as well, the pointer has the room of the largest.
      const auto spare = std::distance(next, plan_.buffers.end()) - static_cast<std::ptrdiff_t>(left--);
      Room room{0, 0};
      auto other = next;
      for (std::ptrdiff_t k = 0; k <= spare && other != plan_.buffers.end(); ++k, ++other) {
        if (const auto place = place_of(*other); place != places.end())
          room = {std::max(room.before, *offset - place->second.begin), std::max(room.behind, place->second.end - *offset)};
      }
      rooms.add(pointer.at, room);
      ++next;
    }
    return true;
  }

  /// `p.b6` in an offset; null if there is none.
  static const MemberExpr* plan_member(const Stmt* offset) {
    if (const auto* member = dyn_cast<MemberExpr>(offset)) {
      const auto* const base = dyn_cast<DeclRefExpr>(member->getBase()->IgnoreParenCasts());
      if (base != nullptr && base->getNameInfo().getAsString() == "p") return member;
    }
    for (const Stmt* part : offset->children()) {
      if (const MemberExpr* const found = part == nullptr ? nullptr : plan_member(part)) return found;
    }
    return nullptr;
  }

  /// Nothing if it depends on what only a run knows.
  static std::optional<int64_t> evaluate(Dim dim, const Sizes& sizes) {
    std::map<std::string, Dim> symbols;
    dim.collect_symbols(symbols);
    if (!std::ranges::all_of(symbols, [&](const auto& symbol) { return sizes.contains(symbol.first); })) return std::nullopt;
    return dim.evaluate(sizes);
  }

  ASTContext& context_;
  const MemoryPlan& plan_;
  const UnitCode& code_;
  const UnitFunctions& functions_;
  ArenaFindings& result_;
  ComparedOperands operands_;
};

}  // namespace

ArenaFindings check_arena(ASTContext& context, const std::map<std::string, MemoryPlan>& plans, FileID unit) {
  ArenaFindings result;
  const UnitCode code = unit_code(context, unit);
  for (const auto& [variant, functions] : code.variants) {
    const auto plan = plans.find(variant);
    if (plan == plans.end()) {
      for (const FunctionDecl* steps : functions.steps)
        result.findings.push_back({Rule::Arena, steps->getLocation(), "the plan has no variant '" + variant + "'"});
      continue;
    }
    if (!plan->second.is_divided) ArenaJudge(context, plan->second, code, functions, result).judge();
  }
  for (const FunctionDecl* f : code.careless)
    result.findings.push_back({Rule::Arena, f->getLocation(), "it calls steps without check_arena"});
  return result;
}

}  // namespace onnxc::check_emitted
