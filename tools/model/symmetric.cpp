// Eigenvalues by Householder's reduction to a tridiagonal matrix and implicit QL steps (Golub and Van Loan, Matrix Computations, 8.3). The transformations are kept as
// rows, so every inner loop runs along memory: 4/3 n^3 steps for the values, some 6 n^3 with the vectors.
#include "tools/model/symmetric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/support/error.h"

namespace onnxc {
namespace {

constexpr int kMostSteps = 60;  ///< of QL for an eigenvalue; three suffice mostly

/// The root of a² + b², without overflow on the way. std::hypot asks for a C library of 2022, and with it the wheel would.
double length(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b)), smaller = std::min(std::abs(a), std::abs(b));
  return larger == 0 ? 0 : larger * std::sqrt(1 + smaller / larger * (smaller / larger));
}

/// A symmetric tridiagonal matrix: `above[i]` stands between i and i + 1.
struct Tridiagonal {
  std::vector<double> diagonal, above;
};

/// Q H Q^T is tridiagonal. Row i of `q` starts as e_i; it is left alone where `q` is null.
Tridiagonal reduce(Matrix& h, int64_t n, Matrix* q) {
  Tridiagonal t{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n))};
  std::vector<double> v(static_cast<std::size_t>(n)), p(static_cast<std::size_t>(n));
  double *const x = v.data(), *const y = p.data();
  for (int64_t k = 0; k + 1 < n; ++k) {
    const double* const row = h.data() + k * n;
    t.diagonal[static_cast<std::size_t>(k)] = row[k];
    double norm = 0;
    for (int64_t j = k + 1; j < n; ++j) norm += row[j] * row[j];
    norm = std::sqrt(norm);
    const double pivot = row[k + 1], mirrored = pivot > 0 ? -norm : norm;
    t.above[static_cast<std::size_t>(k)] = mirrored;
    // The reflection I - 2 v v^T / (v^T v) takes the rest of row k to (mirrored, 0, 0, ...).
    double length = 0;
    for (int64_t j = k + 1; j < n; ++j) {
      x[j] = row[j] - (j == k + 1 ? mirrored : 0);
      length += x[j] * x[j];
    }
    if (length <= 0) continue;
    const double factor = 2 / length;
    // H <- H - v w^T - w v^T with w = factor (H v) - (factor^2 / 2) (v^T H v) v.
    double inner = 0;
    for (int64_t i = k + 1; i < n; ++i) {
      double sum = 0;
      for (int64_t j = k + 1; j < n; ++j) sum += h[static_cast<std::size_t>(i * n + j)] * x[j];
      y[i] = factor * sum;
      inner += x[i] * y[i];
    }
    for (int64_t i = k + 1; i < n; ++i) y[i] -= factor / 2 * inner * x[i];
    for (int64_t i = k + 1; i < n; ++i) {
      double* const to = h.data() + i * n;
      for (int64_t j = k + 1; j < n; ++j) to[j] -= x[i] * y[j] + y[i] * x[j];
    }
    if (q == nullptr) continue;
    // Rows k + 1 .. of Q are reflected, a column of v at a time.
    std::fill(y, y + n, 0.0);
    for (int64_t i = k + 1; i < n; ++i) {
      const double* const from = q->data() + i * n;
      for (int64_t j = 0; j < n; ++j) y[j] += x[i] * from[j];
    }
    for (int64_t i = k + 1; i < n; ++i) {
      double* const to = q->data() + i * n;
      for (int64_t j = 0; j < n; ++j) to[j] -= factor * x[i] * y[j];
    }
  }
  if (n > 0) t.diagonal[static_cast<std::size_t>(n - 1)] = h[static_cast<std::size_t>(n * n - 1)];
  return t;
}

/// Makes `t` diagonal by rotations of neighbours, which also turn the rows of `q`.
void diagonalise(Tridiagonal& t, int64_t n, Matrix* q) {
  std::vector<double>&d = t.diagonal, &e = t.above;
  const auto at = [](int64_t i) { return static_cast<std::size_t>(i); };
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) norm = std::max({norm, std::abs(d[at(i)]), std::abs(e[at(i)])});
  const double nothing =
      std::numeric_limits<double>::epsilon() * norm;  // eigenvalues that are 0 beside the others are not resolved further
  for (int64_t l = 0; l < n; ++l) {
    for (int step = 0;; ++step) {
      int64_t m = l;
      while (m + 1 < n && std::abs(e[at(m)]) > nothing) ++m;
      if (m == l) break;
      ONNXC_CHECK(step < kMostSteps, "QL steps converge");
      double g = (d[at(l + 1)] - d[at(l)]) / (2 * e[at(l)]);
      g = d[at(m)] - d[at(l)] + e[at(l)] / (g + std::copysign(length(g, 1), g));
      double sine = 1, cosine = 1, p = 0;
      int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = sine * e[at(i)], b = cosine * e[at(i)], r = length(f, g);
        e[at(i + 1)] = r;
        if (r == 0) {
          d[at(i + 1)] -= p;
          e[at(m)] = 0;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = d[at(i + 1)] - p;
        const double turned = (d[at(i)] - g) * sine + 2 * cosine * b;
        p = sine * turned;
        d[at(i + 1)] = g + p;
        g = cosine * turned - b;
        if (q == nullptr) continue;
        double *const a = q->data() + i * n, *const c = a + n;
        for (int64_t k = 0; k < n; ++k) {
          const double low = a[k], high = c[k];
          c[k] = sine * low + cosine * high;
          a[k] = cosine * low - sine * high;
        }
      }
      if (i >= l) continue;
      d[at(l)] -= p;
      e[at(l)] = g;
      e[at(m)] = 0;
    }
  }
}

}  // namespace

double mean_of_diagonal(const Matrix& h, int64_t n) {
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) mean += h[static_cast<std::size_t>(i * n + i)] / static_cast<double>(n);
  return mean;
}

void add_to_diagonal(Matrix& h, int64_t n, double term) {
  for (int64_t i = 0; i < n; ++i) h[static_cast<std::size_t>(i * n + i)] += term;
}

std::optional<Matrix> root_of_inverse(Matrix h, int64_t n) {
  const auto at = [n](int64_t i, int64_t j) { return static_cast<std::size_t>(i * n + j); };
  // H = U U^T. Column j of U is what is left of that of H, over its root; then U_j U_j^T is taken off the rows above, all along memory.
  std::vector<double> column(static_cast<std::size_t>(n));
  for (int64_t j = n; j-- > 0;) {
    const double diagonal = h[at(j, j)];
    if (!(diagonal > 0)) return std::nullopt;
    const double root = std::sqrt(diagonal);
    h[at(j, j)] = root;
    for (int64_t i = 0; i < j; ++i) column[static_cast<std::size_t>(i)] = h[at(i, j)] /= root;
    for (int64_t i = 0; i < j; ++i) {
      double* const row = h.data() + i * n;
      const double factor = column[static_cast<std::size_t>(i)];
      for (int64_t k = i; k < j; ++k) row[k] -= factor * column[static_cast<std::size_t>(k)];
    }
  }
  // R = U^-1: rows from the last, R_i = (e_i - sum_k>i U_ik R_k) / U_ii.
  Matrix r(h.size());
  for (int64_t i = n; i-- > 0;) {
    double* const row = r.data() + i * n;
    row[i] = 1;
    for (int64_t k = i + 1; k < n; ++k) {
      const double factor = h[at(i, k)];
      const double* const other = r.data() + k * n;
      for (int64_t j = k; j < n; ++j) row[j] -= factor * other[j];
    }
    for (int64_t j = i; j < n; ++j) row[j] /= h[at(i, i)];
  }
  return r;
}

Matrix squared(const Matrix& r, int64_t n) {
  Matrix product(r.size());
  for (int64_t k = 0; k < n; ++k) {
    const double* const row = r.data() + k * n;
    for (int64_t i = k; i < n; ++i) {
      double* const to = product.data() + i * n;
      for (int64_t j = k; j < n; ++j) to[j] += row[i] * row[j];
    }
  }
  return product;
}

std::vector<double> eigenvalues(Matrix h, int64_t n, Matrix* vectors) {
  Matrix q;
  if (vectors != nullptr) {
    q.resize(h.size());
    add_to_diagonal(q, n, 1);
  }
  Tridiagonal t = reduce(h, n, vectors == nullptr ? nullptr : &q);
  diagonalise(t, n, vectors == nullptr ? nullptr : &q);
  std::vector<int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](int64_t i) { return t.diagonal[static_cast<std::size_t>(i)]; });
  std::vector<double> values;
  if (vectors != nullptr) vectors->clear();
  for (const int64_t i : order) {
    values.push_back(t.diagonal[static_cast<std::size_t>(i)]);
    if (vectors != nullptr) vectors->insert(vectors->end(), q.begin() + i * n, q.begin() + (i + 1) * n);
  }
  return values;
}

}  // namespace onnxc
