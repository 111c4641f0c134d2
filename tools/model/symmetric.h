// Symmetric matrices, row-major: inverses by Cholesky's method, and eigenvectors.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace onnxc {

using Matrix = std::vector<double>;

double mean_of_diagonal(const Matrix& h, int64_t n);
void add_to_diagonal(Matrix& h, int64_t n, double term);

/// The upper triangular R with R^T R = H^-1, or nothing where H is not positive definite.
///
/// Such an R is U^-1, where H = U U^T with U upper triangular: Cholesky's method from the last column to the first. That costs n^3/3 steps, and so does the inverse.
std::optional<Matrix> root_of_inverse(Matrix h, int64_t n);
/// R^T R.
Matrix squared(const Matrix& r, int64_t n);

/// Eigenvalues, the greatest first; `vectors`, if wanted, gets the eigenvectors as rows in that order.
std::vector<double> eigenvalues(Matrix h, int64_t n, Matrix* vectors = nullptr);

}  // namespace onnxc
