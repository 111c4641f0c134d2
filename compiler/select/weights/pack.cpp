#include "compiler/select/weights/pack.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "compiler/select/weights/append_panels.h"
#include "runtime_stub/onnxc/contract/gemm.hpp"
#include "runtime_stub/onnxc/contract/inner_product.hpp"
#include "runtime_stub/onnxc/contract/strassen.hpp"
#include "runtime_stub/onnxc/types.hpp"

namespace onnxc::pack {
namespace {

/// The elements of a matrix, by row and column.
auto element_of(std::span<const float> b, PanelShape s) {
  const int64_t ld = s.ld != 0 ? s.ld : s.transposed ? s.k : s.n;
  return [b, ld, transposed = s.transposed](int64_t row, int64_t column) {
    return transposed ? at(b, column * ld + row) : at(b, row * ld + column);
  };
}

/// The exponents of the powers of two by which a matrix's rows and columns are to be divided.
struct Equilibrated {
  std::vector<int> rows, columns;
};

/// Exponents after which every column has a norm of about 1, and every row too, up to one common factor. No row's
/// exponent exceeds 0, so values that are multiplied by a row's power of two do not grow.
template <class At>
Equilibrated equilibrate(int64_t k, int64_t n, At at) {
  constexpr int kMost = 100;
  const auto rows = static_cast<std::size_t>(k), columns = static_cast<std::size_t>(n);
  std::vector<double> squares;
  squares.reserve(rows * columns);
  for (int64_t row = 0; row < k; ++row) {
    for (int64_t column = 0; column < n; ++column)
      squares.push_back(static_cast<double>(at(row, column)) * static_cast<double>(at(row, column)));
  }
  const auto exponent_of_root = [=](double square, int of_zero) {
    return square > 0 ? std::clamp(static_cast<int>(std::lround(std::log2(square) / 2)), -kMost, kMost) : of_zero;
  };
  Equilibrated e{std::vector<int>(rows), std::vector<int>(columns)};
  std::vector<double> per_column(columns, 1.0),
      sums(columns);  // what a column's squares are multiplied by, and their sum by rows so divided
  for (int round = 0; round < 2; ++round) {
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (std::size_t column = 0; column < columns; ++column) sum += squares[row * columns + column] * per_column[column];
      e.rows[row] = exponent_of_root(sum, -kMost);
    }
    const int most = *std::ranges::max_element(e.rows);
    for (int& row : e.rows) row = std::max(row - most, -kMost);
    std::ranges::fill(sums, 0.0);
    for (std::size_t row = 0; row < rows; ++row) {
      const double by = std::ldexp(1.0, -2 * e.rows[row]);
      for (std::size_t column = 0; column < columns; ++column) sums[column] += squares[row * columns + column] * by;
    }
    for (std::size_t column = 0; column < columns; ++column) {
      e.columns[column] = exponent_of_root(sums[column], 0);
      per_column[column] = std::ldexp(1.0, -2 * e.columns[column]);
    }
  }
  return e;
}

}  // namespace

int64_t panels_size(int64_t k, int64_t n, int64_t nr) { return contract::panels_floats(k, n, nr); }

std::vector<float> panels(std::span<const float> b, PanelShape s) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(s.k, s.n, s.nr)));
  append_panels(out, s.k, s.n, s.nr, element_of(b, s));
  return out;
}

std::vector<uint16_t> bf16_pairs(std::span<const float> b, PanelShape s) {
  const auto element = element_of(b, s);
  std::vector<uint16_t> out;
  out.reserve(static_cast<std::size_t>(2 * panels_size(contract::bf16_pairs(s.k), s.n, s.nr)));
  for (int64_t panel = 0; panel < s.n; panel += s.nr) {
    for (int64_t row = 0; row < s.k; row += 2) {
      for (int64_t column = panel; column < panel + s.nr; ++column) {
        for (const int64_t i : {row, row + 1}) out.push_back(i < s.k && column < s.n ? bfloat16(element(i, column)).bits : uint16_t{0});
      }
    }
  }
  return out;
}

std::vector<float> pairs(std::vector<float> panels, int64_t nr, int64_t lanes, int64_t run) {
  const int64_t whole = nr / lanes * lanes, rows = static_cast<int64_t>(panels.size()) / nr;
  std::vector<float> out;
  out.reserve(panels.size());
  for (int64_t row = 0; row < rows;) {
    const auto first = panels.begin() + row * nr, second = first + nr;
    if (row % run == run - 1) {
      out.insert(out.end(), first, second);
      row += 1;
      continue;
    }
    out.insert(out.end(), first, first + whole);
    out.insert(out.end(), second, second + whole);
    for (int64_t i = whole; i < nr; ++i) out.insert(out.end(), {first[i], second[i]});
    row += 2;
  }
  return out;
}

std::vector<float> strassen(std::span<const float> b, PanelShape s) {
  const auto element = element_of(b, s);
  const int64_t depth = s.k / 2, half = contract::strassen_pairs(s.n, s.nr) * s.nr;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(contract::strassen_weights(s.k, s.n, s.nr)));
  append_panels(out, 7 * depth, half, s.nr, [&](int64_t row, int64_t column) {
    const auto quarter = [&](int down, int right) {
      const int64_t at_column = column + right * half;
      return at_column < s.n ? static_cast<double>(element(row % depth + down * depth, at_column)) : 0.0;
    };
    const auto t2 = [&] { return quarter(1, 1) - (quarter(0, 1) - quarter(0, 0)); };
    switch (row / depth) {
      case 0: return static_cast<float>(quarter(0, 0));
      case 1: return static_cast<float>(quarter(1, 0));
      case 2: return static_cast<float>(t2());
      case 3: return static_cast<float>(quarter(0, 1) - quarter(0, 0));
      case 4: return static_cast<float>(quarter(1, 1));
      case 5: return static_cast<float>(quarter(1, 1) - quarter(0, 1));
      default: return static_cast<float>(quarter(1, 0) - t2());
    }
  });
  return out;
}

std::vector<float> fast_inner_product(std::span<const float> b, PanelShape s) {
  const auto element = element_of(b, s);
  const Equilibrated scales = equilibrate(s.k, s.n, element);
  const auto powers = [](const std::vector<int>& exponents) {
    std::vector<double> out;
    for (const int exponent : exponents) out.push_back(std::ldexp(1.0, -exponent));
    return out;
  };
  const auto scaled = [&element, by_row = powers(scales.rows), by_column = powers(scales.columns)](int64_t row, int64_t column) {
    return static_cast<float>(static_cast<double>(element(row, column)) * by_row[static_cast<std::size_t>(row)] *
                              by_column[static_cast<std::size_t>(column)]);
  };

  std::vector<int64_t> order;                      // of the rows in a panel
  std::vector<std::pair<int64_t, int64_t>> pairs;  // of rows
  contract::for_each_step(s.k, s.nr, [&](int which, int64_t row) {
    // the second of a pair comes before the first
    if (which == 1) pairs.emplace_back(row, order.back());
    order.push_back(row);
  });

  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(contract::inner_product_weights(s.k, s.n, s.nr)));
  append_panels(out, s.k + 2, s.n, s.nr, [&](int64_t row, int64_t column) {
    if (row < s.k) return scaled(order[static_cast<std::size_t>(row)], column);
    if (row > s.k) return std::ldexp(1.0f, scales.columns[static_cast<std::size_t>(column)]);
    double products = 0;
    for (const auto& [first, second] : pairs)
      products -= static_cast<double>(scaled(first, column)) * static_cast<double>(scaled(second, column));
    return static_cast<float>(products);
  });
  for (const int exponent : scales.rows) out.push_back(std::ldexp(1.0f, exponent));
  out.resize(out.size() + static_cast<std::size_t>(s.nr));
  return out;
}

std::vector<float> padded(std::span<const float> values, int64_t multiple) {
  std::vector<float> out(values.begin(), values.end());
  const auto m = static_cast<std::size_t>(multiple);
  out.resize((out.size() + m - 1) / m * m);
  return out;
}

}  // namespace onnxc::pack
