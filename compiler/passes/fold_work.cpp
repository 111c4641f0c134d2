#include "compiler/passes/fold_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace onnxc {
namespace {

using GivenShape = std::vector<int64_t>;

double count(const GivenShape& shape) {
  double n = 1;
  for (int64_t d : shape) n *= static_cast<double>(d);
  return n;
}

/// The product of all labels' extents. An ellipsis counts as one label.
double einsum_loops(const std::string& equation, const std::vector<GivenShape>& in) {
  std::map<char, double> extents;
  std::size_t term = 0, axis = 0;
  for (std::size_t i = 0; i < equation.size() && term < in.size(); ++i) {
    const char c = equation[i];
    if (c == '-') break;
    if (c == ',') {
      ++term;
      axis = 0;
    } else if (c == '.') {  // as if the other labels were 1
      extents['.'] = std::max(extents['.'], count(in[term]));
    } else if (c != ' ' && axis < in[term].size()) {
      extents[c] = std::max(extents[c], static_cast<double>(in[term][axis++]));
    }
  }
  double loops = 1;
  for (const auto& [label, extent] : extents) loops *= extent;
  return loops;
}

}  // namespace

double evaluation_work(const Graph& graph, const Node& node, const std::vector<Constant>& inputs) {
  std::vector<GivenShape> in;
  double moved = 0, written = 0;
  for (const Constant& c : inputs) {
    in.push_back(c ? c->shape : GivenShape());
    moved += c ? count(in.back()) : 0;
  }
  for (ValueId v : node.outputs) {
    if (v == kAbsent || !graph[v].type.is_static()) continue;
    const double n = count(values(graph[v].type.extents));
    written = std::max(written, n);
    moved += n;
  }
  const std::string& op = node.op;
  const auto rank = [&](std::size_t i) { return i < in.size() ? in[i].size() : 0; };
  const auto extent = [&](std::size_t i, std::size_t axis) { return axis < rank(i) ? static_cast<double>(in[i][axis]) : 1.0; };
  const auto last = [&](std::size_t i) { return rank(i) > 0 ? extent(i, rank(i) - 1) : 1.0; };
  const auto all = [&](std::size_t i) { return i < in.size() ? count(in[i]) : 0.0; };
  const auto taps = [&] { return all(1) / std::max(1.0, extent(1, 0)); };  // for each value of a result, or of a ConvTranspose's input
  if (op == "RoiAlign" || op == "MaxRoiPool") return std::numeric_limits<double>::infinity();
  if (op == "MatMul" || op == "MatMulInteger") return moved + written * last(0);
  if (op == "Gemm") return moved + written * extent(0, node.integer("transA", 0) != 0 ? 0 : 1);
  if (op == "MatMulNBits") return moved + written * static_cast<double>(node.integer("K", 0));
  if (op == "Conv" || op == "ConvInteger" || op == "DeformConv") return moved + written * taps();
  if (op == "ConvTranspose") return moved + all(0) * taps();
  if (op == "MaxPool" || op == "AveragePool" || op == "LpPool") return moved + written * count(node.integers("kernel_shape"));
  if (op == "LRN") return moved + written * static_cast<double>(node.integer("size", 1));
  if (op == "Einsum") return moved + einsum_loops(node.string("equation", ""), in);
  if (op == "Recurrence") return moved + extent(0, 0) * extent(0, 1) * all(1);
  if (op == "Det" || op == "Inverse") return moved + all(0) * last(0);
  if (op == "NonMaxSuppression") return moved + all(1) * extent(0, 1);
  if (op == "TfIdfVectorizer")
    return moved +
           moved * static_cast<double>(node.integer("max_gram_length", 1)) * static_cast<double>(node.integer("max_skip_count", 0) + 1);
  return moved;
}

double most_text(const Graph& graph, const Node& node, const Type& type) {
  constexpr double kNumber = 64, kCases = 3;
  double longest = 0, strings = 0;
  const auto add = [&](const std::vector<std::string>& list) {
    std::size_t most = 0;
    for (const std::string& s : list) most = std::max(most, s.size());
    longest += static_cast<double>(most);
  };
  for (ValueId v : node.inputs) {
    const TensorData* const c = graph.constant(v);
    if (c == nullptr) continue;
    add(c->strings);
    strings += static_cast<double>(c->strings.size());
  }
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* s = std::get_if<std::string>(&attribute)) add({*s});
    if (const auto* list = std::get_if<std::vector<std::string>>(&attribute)) add(*list);
    if (const auto* c = std::get_if<Constant>(&attribute)) add((*c)->strings);
  }
  const double count = type.is_static() ? static_cast<double>(element_count(type.extents).value()) : strings * (longest + 1);
  return count * (kNumber + kCases * longest);
}

}  // namespace onnxc
