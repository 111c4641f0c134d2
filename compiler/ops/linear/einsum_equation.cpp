#include "compiler/ops/linear/einsum_equation.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "compiler/ops/broadcast.h"

namespace onnxc {

bool has_repeats(const Labels& labels) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (std::count(labels.begin(), labels.end(), labels[k]) > 1) return true;
  }
  return false;
}

Equation parse_equation(const Node& node, const std::vector<int>& ranks) {
  std::string text = node.string("equation", "");
  const auto bad = [&](const std::string& what) {
    node.fail(ErrorKind::Invalid, fmt::format("equation '{}': {}", node.string("equation", ""), what));
  };
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation e;
  int widest = 0;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // The labels of a term. Its ellipsis represents as many axes as `rank` leaves.
  const auto parse_term = [&](std::string_view term, int rank) {
    const auto letters = static_cast<int>(std::count_if(term.begin(), term.end(), is_letter));
    const std::size_t dots = term.find("...");
    if (static_cast<std::size_t>(letters) + (dots == term.npos ? 0 : 3) != term.size())
      bad("only letters, '...', ',' and '->' are allowed");
    const int hidden = dots == term.npos ? 0 : rank - letters;
    if (rank != letters + hidden || hidden < 0) bad(fmt::format("'{}' has {} labels for {} axes", term, letters, rank));
    Labels labels;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        for (int k = hidden; k > 0; --k) labels.push_back(-k);
        i += 2;
      } else {
        if (!is_letter(term[i])) bad("an ellipsis is three dots");
        labels.push_back(term[i]);
      }
    }
    widest = std::max(widest, hidden);
    return labels;
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    if (i > 0 && begin > left.size()) bad(fmt::format("has fewer terms than the {} inputs", ranks.size()));
    e.terms.push_back(parse_term(std::string_view(left).substr(begin, end - begin), ranks[i]));
    begin = end + 1;
  }
  if (begin <= left.size()) bad(fmt::format("has more terms than the {} inputs", ranks.size()));
  Labels all;
  for (const Labels& t : e.terms) all.insert(all.end(), t.begin(), t.end());
  if (arrow != text.npos) {
    const std::string right = text.substr(arrow + 2);
    const auto letters = static_cast<int>(std::count_if(right.begin(), right.end(), is_letter));
    const bool dots = right.find("...") != right.npos;
    if (widest > 0 && !dots) bad("the axes of the ellipsis are missing on the right");
    e.output = parse_term(right, letters + (dots ? widest : 0));
    if (has_repeats(e.output)) bad("a label is twice on the right");
    for (Label l : e.output) {
      if (!contains(all, l)) bad("a label on the right is not on the left");
    }
  } else {
    for (int k = widest; k > 0; --k) e.output.push_back(-k);
    for (Label l = 'A'; l <= 'z'; ++l) {
      if (std::count(all.begin(), all.end(), l) == 1) e.output.push_back(l);
    }
  }
  return e;
}

Equation equation_of(const Graph& graph, const Node& node) {
  std::vector<int> ranks;
  for (ValueId v : node.inputs) ranks.push_back(graph[v].type.rank());
  return parse_equation(node, ranks);
}

Dim wider(Dim a, Dim b) {
  if (b == Dim(1) || a == b) return a;
  if (a == Dim(1)) return b;
  const bool repeats_a = may_repeat(a, b), repeats_b = may_repeat(b, a);
  if (repeats_a && repeats_b) return broadcast(a, b);
  return repeats_a || (!repeats_b && b.is_constant()) ? b : a;
}

}  // namespace onnxc
