#include "pack.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "runtime_stub/onnxc/contract/gemm.hpp"
#include "runtime_stub/onnxc/contract/inner_product.hpp"
#include "runtime_stub/onnxc/contract/stem.hpp"
#include "runtime_stub/onnxc/contract/strassen.hpp"
#include "runtime_stub/onnxc/contract/winograd.hpp"

namespace onnxc::pack {

namespace {

/// Panels of one matrix whose element (row, column) is at(row, column).
template <class At>
void append_panels(std::vector<float>& out, int64_t k, int64_t n, int64_t nr, At at) {
  for (int64_t first = 0; first < n; first += nr) {
    for (int64_t row = 0; row < k; ++row) {
      for (int64_t column = first; column < first + nr; ++column) out.push_back(column < n ? at(row, column) : 0.0f);
    }
  }
}

float at(std::span<const float> values, int64_t i) { return values[static_cast<std::size_t>(i)]; }

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

std::vector<float> slices(std::span<const float> b, PanelShape s, int64_t depth) {
  const auto element = element_of(b, s);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(s.k, s.n, s.nr)));
  for (int64_t from = 0; from < s.k; from += depth) {
    append_panels(out, std::min(depth, s.k - from), s.n, s.nr, [&](int64_t row, int64_t column) { return element(from + row, column); });
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

int64_t conv_size(ConvShape s) { return panels_size(s.kh * s.kw * s.cin, s.cout / s.group, s.nr) * s.group; }

std::vector<float> conv(std::span<const float> w, ConvShape s) {
  const int64_t taps = s.kh * s.kw, cout_g = s.cout / s.group;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(conv_size(s)));
  for (int64_t g = 0; g < s.group; ++g) {
    append_panels(out, taps * s.cin, cout_g, s.nr,
                  [&](int64_t k, int64_t co) { return at(w, ((g * cout_g + co) * s.cin + k % s.cin) * taps + k / s.cin); });
  }
  return out;
}

std::vector<float> conv_bias(std::span<const float> bias, ConvShape s) {
  const auto cout_g = static_cast<std::size_t>(s.cout / s.group);
  std::vector<float> out;
  for (int64_t g = 0; g < s.group; ++g) {
    const std::vector<float> share = padded(bias.subspan(static_cast<std::size_t>(g) * cout_g, cout_g), s.nr);
    out.insert(out.end(), share.begin(), share.end());
  }
  return out;
}

std::vector<float> conv_stem(std::span<const float> w, ConvShape s) {
  return panels(w, {.k = s.cin * s.kh * s.kw, .n = s.cout, .nr = s.nr, .transposed = true});
}

std::vector<float> conv_transpose(std::span<const float> w, ConvShape s) {
  const int64_t taps = s.kh * s.kw, cout_g = s.cout / s.group;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(conv_size(s)));
  for (int64_t g = 0; g < s.group; ++g) {
    append_panels(out, taps * s.cin, cout_g, s.nr,
                  [&](int64_t k, int64_t co) { return at(w, ((g * s.cin + k % s.cin) * cout_g + co) * taps + k / s.cin); });
  }
  return out;
}

namespace {
/// G of a kernel of `taps` with this many points: row i holds the powers of point i, divided by the product of the
/// point's differences from all others.
std::vector<std::vector<double>> winograd_g(int64_t points, int64_t taps) {
  const auto point = [points](std::size_t i) { return contract::winograd_point(points, static_cast<int64_t>(i)); };
  const auto finite = static_cast<std::size_t>(points - 1);
  std::vector<std::vector<double>> g(finite + 1, std::vector<double>(static_cast<std::size_t>(taps), 0.0));
  for (std::size_t i = 0; i < finite; ++i) {
    double element = 1;
    for (std::size_t j = 0; j < finite; ++j) element /= j == i ? 1.0 : point(i) - point(j);
    for (double& at : g[i]) {
      at = element;
      element *= point(i);
    }
  }
  g[finite].back() = 1;
  return g;
}

/// The factors of a kernel's taps in one product: those along the columns, and those along the rows.
struct Frequency {
  std::span<const double> y, x;
};

using Factors = std::vector<std::vector<double>>;

/// Appends each of ys with each of xs. The frequencies refer to both.
void append_products(std::vector<Frequency>& frequencies, const Factors& ys, const Factors& xs) {
  for (const std::vector<double>& y : ys) {
    for (const std::vector<double>& x : xs) frequencies.push_back({y, x});
  }
}

/// Panels [frequency][kz][cin][nr] of square kernels.
std::vector<float> transformed(std::span<const float> w, ConvShape s, std::span<const Frequency> frequencies) {
  const int64_t depth = s.kh / s.kw, steps = depth * s.cin, rows = steps * std::ssize(frequencies);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(rows, s.cout, s.nr)));
  append_panels(out, rows, s.cout, s.nr, [&](int64_t row, int64_t column) {
    const Frequency& f = frequencies[static_cast<std::size_t>(row / steps)];
    const int64_t kz = row % steps / s.cin, ci = row % s.cin;
    auto tap = w.begin() + ((column * s.cin + ci) * depth + kz) * s.kw * s.kw;
    double sum = 0;
    for (const double y : f.y) {
      for (const double x : f.x) sum += y * x * static_cast<double>(*tap++);
    }
    return static_cast<float>(sum);
  });
  return out;
}
}  // namespace

std::vector<float> winograd(std::span<const float> w, ConvShape s, int outputs) {
  const Factors g = winograd_g(outputs + s.kw - 1, s.kw);
  std::vector<Frequency> frequencies;
  append_products(frequencies, g, g);
  return transformed(w, s, frequencies);
}

std::vector<float> square_pieces(std::span<const float> w, int64_t kd, int64_t kh, int64_t kw, int64_t r) {
  const int64_t down = (kh + r - 1) / r, across = (kw + r - 1) / r, kernels = std::ssize(w) / (kd * kh * kw);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(kernels * kd * down * across * r * r));
  for (int64_t slice = 0; slice < kernels * kd; ++slice) {
    for (int64_t piece = 0; piece < down * across; ++piece) {
      for (int64_t i = 0; i < r * r; ++i) {
        const int64_t y = piece / across * r + i / r, x = piece % across * r + i % r;
        out.push_back(y < kh && x < kw ? at(w, (slice * kh + y) * kw + x) : 0.0f);
      }
    }
  }
  return out;
}

std::vector<float> winograd_stride2(std::span<const float> w, ConvShape s, int outputs) {
  const Factors odd{{0, 1, 0}};
  // of the two outer taps
  Factors even;
  for (const std::vector<double>& row : winograd_g(outputs + 1, 2)) even.push_back({row[0], 0, row[1]});
  std::vector<Frequency> frequencies;
  const Factors* const phases[] = {&even, &odd};
  for (const Factors* const ys : phases) {
    for (const Factors* const xs : phases) append_products(frequencies, *ys, *xs);
  }
  return transformed(w, s, frequencies);
}

std::vector<float> winograd_line(std::span<const float> w, ConvShape s, int outputs, int taps, bool down) {
  const int64_t length = down ? s.kh : s.kw, across = down ? s.kw : s.kh, step = down ? s.kw : 1, step_across = down ? 1 : s.kw;
  const int64_t size = outputs + taps - 1, pieces = (length + taps - 1) / taps, steps = across * pieces * s.cin;
  const auto g = winograd_g(size, taps);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(steps * size, s.cout, s.nr)));
  append_panels(out, steps * size, s.cout, s.nr, [&](int64_t row, int64_t column) {
    const int64_t line = row % steps / s.cin / pieces, from = row % steps / s.cin % pieces * taps;
    const int64_t kernel = (column * s.cin + row % s.cin) * s.kh * s.kw + line * step_across;
    const std::vector<double>& factors = g[static_cast<std::size_t>(row / steps)];
    double sum = 0;
    for (int64_t k = 0; k < taps && from + k < length; ++k)
      sum += factors[static_cast<std::size_t>(k)] * static_cast<double>(at(w, kernel + (from + k) * step));
    return static_cast<float>(sum);
  });
  return out;
}

std::vector<float> stem_winograd(std::span<const float> w, ConvShape s, int outputs, int taps, int64_t stride, bool joined) {
  // In memory the kernel then is [cout, kh, kw, cin]: a kernel of one channel.
  if (joined) {
    std::vector<float> turned;
    turned.reserve(w.size());
    for (int64_t row = 0; row < s.cout * s.kh; ++row) {
      for (int64_t i = 0; i < s.kw * s.cin; ++i)
        turned.push_back(at(w, ((row / s.kh * s.cin + i % s.cin) * s.kh + row % s.kh) * s.kw + i / s.cin));
    }
    return stem_winograd(turned, {.cout = s.cout, .cin = 1, .kh = s.kh, .kw = s.kw * s.cin, .nr = s.nr}, outputs, taps, stride);
  }
  const int64_t points = outputs + taps - 1;
  const Factors g = winograd_g(points, taps);
  // the first tap of each piece
  std::vector<int64_t> pieces;
  for (int64_t tap = 0; tap < s.kh; ++tap) {
    if (contract::stem_piece_begins(tap, taps, stride)) pieces.push_back(tap);
  }
  const int64_t rows = std::ssize(pieces) * s.cin * s.kw * points;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(rows, s.cout, s.nr)));
  append_panels(out, rows, s.cout, s.nr, [&](int64_t row, int64_t column) {
    const std::vector<double>& factors = g[static_cast<std::size_t>(row % points)];
    const int64_t kx = row / points % s.kw, ci = row / points / s.kw % s.cin,
                  first = pieces[static_cast<std::size_t>(row / points / s.kw / s.cin)];
    double sum = 0;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t ky = first + k * stride;
      if (ky < s.kh)
        sum += factors[static_cast<std::size_t>(k)] * static_cast<double>(at(w, ((column * s.cin + ci) * s.kh + ky) * s.kw + kx));
    }
    return static_cast<float>(sum);
  });
  return out;
}

std::vector<float> grouped(std::span<const float> w, ConvShape s, int64_t lanes) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(s.kh * s.cin * s.kw, s.cout, lanes)));
  append_panels(out, s.kh * s.cin * s.kw, s.cout, lanes, [&](int64_t row, int64_t column) {
    const int64_t kx = row % s.kw, ci = row / s.kw % s.cin, ky = row / s.kw / s.cin;
    return at(w, ((column * s.cin + ci) * s.kh + ky) * s.kw + kx);
  });
  return out;
}

std::vector<float> narrow(std::span<const float> w, ConvShape s, int64_t lanes, bool transposed) {
  const int64_t taps = s.kh * s.kw, blocks = (s.cin + lanes - 1) / lanes;
  std::vector<float> out(static_cast<std::size_t>(taps * blocks * s.cout * lanes));
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t ci = 0; ci < s.cin; ++ci) {
      for (int64_t co = 0; co < s.cout; ++co)
        out[static_cast<std::size_t>(((tap * blocks + ci / lanes) * s.cout + co) * lanes + ci % lanes)] =
            at(w, (transposed ? ci * s.cout + co : co * s.cin + ci) * taps + tap);
    }
  }
  return out;
}

std::vector<float> depthwise(std::span<const float> w, int64_t c, int64_t kh, int64_t kw) {
  const int64_t taps = kh * kw;
  std::vector<float> out(static_cast<std::size_t>(taps * c));
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t ch = 0; ch < c; ++ch) out[static_cast<std::size_t>(tap * c + ch)] = at(w, ch * taps + tap);
  }
  return out;
}

std::vector<float> depthwise_winograd(std::span<const float> w, int64_t c) {
  std::vector<float> out(static_cast<std::size_t>(12 * c));
  for (int64_t ch = 0; ch < c; ++ch) {
    for (int64_t kx = 0; kx < 3; ++kx) {
      const double g0 = at(w, ch * 9 + kx), g1 = at(w, ch * 9 + 3 + kx), g2 = at(w, ch * 9 + 6 + kx);
      const double transformed[] = {g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2};
      for (int64_t j = 0; j < 4; ++j) out[static_cast<std::size_t>((kx * 4 + j) * c + ch)] = static_cast<float>(transformed[j]);
    }
  }
  return out;
}

}  // namespace onnxc::pack
