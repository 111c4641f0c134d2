#include "pack.h"

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
  return [b, ld, transposed = s.transposed](int64_t row, int64_t column) { return transposed ? at(b, column * ld + row) : at(b, row * ld + column); };
}

}  // namespace

int64_t panels_size(int64_t k, int64_t n, int64_t nr) { return (n + nr - 1) / nr * nr * k; }

std::vector<float> panels(std::span<const float> b, PanelShape s) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(s.k, s.n, s.nr)));
  append_panels(out, s.k, s.n, s.nr, element_of(b, s));
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
  const int64_t depth = s.k / 2, half = (s.n + 2 * s.nr - 1) / (2 * s.nr) * s.nr;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(7 * depth, half, s.nr)));
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
    append_panels(out, taps * s.cin, cout_g, s.nr, [&](int64_t k, int64_t co) { return at(w, ((g * cout_g + co) * s.cin + k % s.cin) * taps + k / s.cin); });
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
    append_panels(out, taps * s.cin, cout_g, s.nr, [&](int64_t k, int64_t co) { return at(w, ((g * s.cin + k % s.cin) * cout_g + co) * taps + k / s.cin); });
  }
  return out;
}

namespace {
/// The rows of G for F(outputs, 3), outputs 2 or 4.
const double (*winograd_g(int outputs))[3] {
  static constexpr double g2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static constexpr double g4[6][3] = {{1.0 / 4, 0, 0},           {-1.0 / 6, -1.0 / 6, -1.0 / 6}, {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                      {1.0 / 24, 1.0 / 12, 1.0 / 6}, {1.0 / 24, -1.0 / 12, 1.0 / 6}, {0, 0, 1}};
  return outputs == 4 ? g4 : g2;
}
}  // namespace

std::vector<float> winograd(std::span<const float> w, int64_t cout, int64_t cin, int64_t nr, int outputs) {
  const double(*g)[3] = winograd_g(outputs);
  const int size = outputs + 2;
  auto element = [&](int64_t co, int64_t ci, int fy, int fx) {
    double sum = 0;
    for (int ky = 0; ky < 3; ++ky) {
      for (int kx = 0; kx < 3; ++kx) sum += g[fy][ky] * g[fx][kx] * static_cast<double>(at(w, ((co * cin + ci) * 3 + ky) * 3 + kx));
    }
    return static_cast<float>(sum);
  };
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(cin * size * size, cout, nr)));
  for (int64_t first = 0; first < cout; first += nr) {
    append_panels(out, cin * size * size, cout - first < nr ? cout - first : nr, nr, [&](int64_t row, int64_t column) {
      const auto frequency = static_cast<int>(row / cin);
      return element(first + column, row % cin, frequency / size, frequency % size);
    });
  }
  return out;
}

std::vector<float> winograd_line(std::span<const float> w, int64_t cout, int64_t cin, int64_t kh, int64_t nr, int outputs) {
  const double(*g)[3] = winograd_g(outputs);
  const int64_t taps = kh * cin;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(taps * (outputs + 2), cout, nr)));
  for (int64_t first = 0; first < cout; first += nr) {
    append_panels(out, taps * (outputs + 2), cout - first < nr ? cout - first : nr, nr, [&](int64_t row, int64_t column) {
      const int64_t frequency = row / taps, ky = row % taps / cin, ci = row % cin;
      double sum = 0;
      for (int kx = 0; kx < 3; ++kx) sum += g[frequency][kx] * static_cast<double>(at(w, (((first + column) * cin + ci) * kh + ky) * 3 + kx));
      return static_cast<float>(sum);
    });
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

}  // namespace onnxc::pack
