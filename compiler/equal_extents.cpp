#include "compiler/equal_extents.h"

#include <algorithm>

namespace onnxc {
namespace {

using Symbols = std::map<std::string, Dim>;

Symbols symbols_of(Dim d) {
  Symbols symbols;
  d.collect_symbols(symbols);
  return symbols;
}

}  // namespace

EqualExtents equal_extents(const Graph& graph) {
  Symbols of_inputs;
  for (const ValueId v : graph.inputs) {
    for (const Dim d : graph[v].type.extents) d.collect_symbols(of_inputs);
  }
  const auto is_known = [&](Dim d) {
    return std::ranges::all_of(symbols_of(d), [&](const auto& symbol) { return of_inputs.contains(symbol.first); });
  };
  EqualExtents result;
  for (const auto& [a, b] : graph.meetings) {
    if (!is_known(a) || !is_known(b)) continue;
    Dim from = a.substitute(result.same), to = b.substitute(result.same);
    if (!from.is_symbol() || symbols_of(to).contains(from.name())) std::swap(from, to);
    // Earlier replacements already make them equal.
    if (from == to) continue;
    if (!from.is_symbol() || symbols_of(to).contains(from.name())) continue;
    result.equal.emplace_back(from, to);
    for (auto& [name, replacement] : result.same) replacement = replacement.substitute({{from.name(), to}});
    result.same[from.name()] = to;
  }
  return result;
}

}  // namespace onnxc
