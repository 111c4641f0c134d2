// How much error it makes to remove a set of channels, where the layers that sum over them make up for it.
//
// A layer computes W x. If inputs R are removed and the weights of the others, S, are solved anew by least squares, what is left is the part of x_R that x_S does not
// tell: the error is the trace of W_R C W_R^T, with C the covariance of x_R given x_S. With G = H^-1, H the covariance of x, C is the inverse of G_RR: no least-squares
// problem is solved to know it (Optimal Brain Surgeon, Hassibi and Stork 1993, for whole columns). After a removal
//
//   W <- W - W_R C G_R:      G <- G - G_:R C G_R:
//
// are the weights and the matrix of what remains. Only M = W^T W is needed of the weights, so rows cost nothing. A set that is a copy or a linear combination of others
// has C = 0; so has one that is constant, since H is the covariance and the bias takes it.
//
// For n columns a removal costs n^2 steps for each column removed, all of them n^3.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "tools/model/symmetric.h"

namespace onnxc {

class RemovalCosts {
 public:
  explicit RemovalCosts(int sets) : parts_of_(static_cast<std::size_t>(sets)) {}

  /// Columns of a layer that are correlated with each other. `sets`: by column. `signal`: the variance of the layer's output, which errors are measured in.
  void add(const Matrix& covariance, Matrix weights_squared, const std::vector<int>& sets, double signal);

  /// The error that removing it would add: a share of the output's variance, summed over the layers that read it.
  double cost(int set) const;
  void remove(int set);
  /// The sets whose cost a removal of `set` changes.
  std::vector<int> beside(int set) const;

 private:
  struct Part {
    int64_t n = 0;
    Matrix inverse, weights;                      ///< G and M
    std::map<int, std::vector<int64_t>> columns;  ///< by set
    double signal = 1;
  };
  static Matrix pick(const Matrix& matrix, int64_t n, const std::vector<int64_t>& columns);
  static Matrix conditional(const Part& part, const std::vector<int64_t>& columns);

  std::vector<Part> parts_;
  std::vector<std::vector<std::size_t>> parts_of_;  ///< by set
};

}  // namespace onnxc
