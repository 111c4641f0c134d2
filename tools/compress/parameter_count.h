// How many parameters a network has after some decisions, without making it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/compress/network.h"

namespace onnxc {

/// Elements of the floating-point constants of a model, also inside of branches and loops.
int64_t count_parameters(const onnx::ModelProto& model);

/// Whether so many rows and columns by a rank are worth two layers instead of one.
bool is_rank_worth_it(int64_t rank, int64_t rows, int64_t columns);

class ParameterCount {
 public:
  explicit ParameterCount(const FloatNetwork& network);

  int64_t all() const { return all_; }
  /// How many fewer there are without a set.
  int64_t saved_by_removing(int set) const;
  void remove(int set);
  /// The weights of a layer become two factors, if that is worth it.
  void factor(std::size_t layer, int64_t rank);

 private:
  struct Tensor {
    std::vector<int64_t> extents;
    int row_axis = -1;  ///< of a layer's weights
    int64_t rank = 0;   ///< of its factors; 0: it has none
    int64_t elements() const;
  };
  struct Part {
    std::size_t tensor;
    int axis;
    int64_t count;
  };

  std::vector<Tensor> tensors_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::vector<Part>> parts_;  ///< by set
  std::vector<std::size_t> of_layer_;     ///< its weights
  int64_t all_ = 0;
};

}  // namespace onnxc
