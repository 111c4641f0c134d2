// The layers of a network: nodes that multiply by weights, and tables that are looked up in. What of them can be computed with integers.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/type.h"
#include "tools/model/editable_model.h"

namespace onnxc {

/// Types of values by name, as onnxc infers them.
using Types = std::map<std::string, Type>;

struct Layer {
  enum class Kind { Conv, Gemm, MatMul, Table, Other };
  Kind kind = Kind::Other;
  int node = -1;                            ///< its position in the graph
  std::string name;                         ///< `Conv 'stem'`
  std::string input, weight, bias, output;  ///< names of values; `bias` is empty where there is none. Table: `input` has the indices
  std::string kept;                         ///< why it stays in float; empty: it need not

  bool has_weights() const { return kept.empty() && kind != Kind::Other; }
  bool multiplies() const { return has_weights() && kind != Kind::Table; }
};

/// In the order of the nodes, with those that stay in float because of what they are.
std::vector<Layer> find_layers(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types);
/// The Add of a vector of constants behind a MatMul, by the name of its initialiser, if nothing else reads either; else empty. `rows`: the length of the vector.
std::string addend_behind(const Layer& layer, const onnx::GraphProto& graph, const GraphIndex& index, int64_t rows);
/// Whether an initialiser, if there is one, has no other reader.
inline bool is_own(const GraphIndex& index, const std::string& name) { return name.empty() || index.has_one_reader(name); }

/// Weights as a matrix: a row for each output, whose columns it sums over. Of a Conv with groups a row has the columns of its group. Of a Table rows are
/// those of the table.
struct WeightMatrix {
  int64_t rows = 0, columns = 0, groups = 1;
  std::vector<float> values;

  float* row(int64_t r) { return values.data() + r * columns; }
  const float* row(int64_t r) const { return values.data() + r * columns; }
  int64_t group_of(int64_t r) const { return r / (rows / groups); }
};
/// The axis of the weights along which rows run.
int64_t row_axis(const Layer& layer, const onnx::NodeProto& node);
WeightMatrix weight_matrix(const Layer& layer, const onnx::NodeProto& node, const TensorData& weight);
/// Multiplies each row of weights, or each element of a bias, by a factor. `axis`: the rows'.
void scale_rows(TensorData& weight, int64_t axis, const std::vector<double>& factors);
/// Elements of a matrix, by rows, in the order of the weights.
template <class T>
std::vector<T> in_order_of_weights(const std::vector<T>& elements, int64_t rows, int64_t axis) {
  if (axis == 0) return elements;
  const auto m = static_cast<std::size_t>(rows), k = elements.size() / m;
  std::vector<T> turned(elements.size());
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t c = 0; c < k; ++c) turned[c * m + r] = elements[r * k + c];
  }
  return turned;
}

}  // namespace onnxc
