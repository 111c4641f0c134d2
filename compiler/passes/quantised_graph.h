// A graph that recognise_quantised rewrites node by node, and what its rules ask about quantised values.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/ops/operator.h"
#include "compiler/support/attempt.h"

namespace onnxc {

/// A value that is (q - zero) * scale. `zero` may be absent.
struct Dequantised {
  ValueId q, scale, zero;
  int64_t axis;  ///< along which a scale of several elements runs
};

/// A value that is sums * factor + addend, where the sums are f32; `addend` may be absent.
struct Scaled {
  ValueId sums, factor, addend;
};

/// How a tensor is quantised: by one scale and one zero point, which may be absent.
struct Quantisation {
  ValueId scale, zero;
  ElementType type;
};

bool has_one_element(const Type& type);
/// Whether the node is that operator of ONNX, or com.microsoft's of the same name and meaning.
bool quantises(const Node& node, const char* op);

class QuantisedGraph {
 public:
  /// `digits`: values of 16 bits are multiplied by digits where that is faster (quantised_digits.h).
  explicit QuantisedGraph(Graph& graph, bool digits = false)
      : graph_(graph), digits_(digits), fresh_(first_fresh(graph)), uses_(use_counts(graph)) {}
  Graph& graph() { return graph_; }
  int& fresh() { return fresh_; }

  void append(Node node);
  /// Later nodes read the results in the place of the node's outputs. The builder's nodes come first.
  void replace(GraphBuilder& b, const Node& node, const std::vector<ValueId>& results);
  /// What takes the place of a value.
  ValueId resolved(ValueId v) const;
  /// The node that computes it, which is appended; null for inputs and constants.
  const Node* producer(ValueId v) const;
  /// In the graph as it was; of results, what reads the outputs whose place they take.
  int uses(ValueId v) const;

  /// A value of integers of so many bits that is dequantised to f32. Nothing, and no reason for it, if no DequantizeLinear computes it.
  Attempt<Dequantised> dequantised(ValueId v, int bits = 8) const;
  /// Those with one scale for all.
  Attempt<Dequantised> dequantised_evenly(ValueId v, int bits = 8) const;
  /// Values of 8, 4 or 2 bits.
  Attempt<Dequantised> dequantised_weights(ValueId v) const;
  bool multiplies_digits() const { return digits_; }
  /// The quantisation that a QuantizeLinear node computes, if it is by one constant scale of f32 to integers.
  Attempt<Quantisation> quantisation(const Node& node) const;

  bool equal_constants(ValueId a, ValueId b) const;
  bool has_same_zero(ValueId a, ValueId b) const;
  /// Whether a scale is known, positive, and neither so small nor so large that (q * scale) / scale is not q.
  bool is_usual(ValueId scale) const;

  std::map<ValueId, Scaled> scaled;  ///< results of rules for products and averages

 private:
  Graph& graph_;
  bool digits_;
  int fresh_;
  PerValue<int> uses_;
  std::map<ValueId, int> count_;
  std::map<ValueId, ValueId> same_;
  std::map<ValueId, int> producer_;
};

}  // namespace onnxc
