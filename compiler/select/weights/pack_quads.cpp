#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/quads.hpp"

namespace onnxc::pack {
namespace {

/// Appends panels of b(row, column).
template <class At>
void append_quads(std::vector<int8_t>& to, int64_t k, int64_t n, int64_t nr, At b) {
  for (int64_t panel = 0; panel < n; panel += nr) {
    for (int64_t row = 0; row < 4 * contract::quads(k); row += 4) {
      for (int64_t column = panel; column < panel + nr; ++column) {
        for (int64_t i = row; i < row + 4; ++i) to.push_back(i < k && column < n ? b(i, column) : int8_t{0});
      }
    }
  }
}

}  // namespace

std::vector<int8_t> quads(std::span<const int8_t> b, PanelShape s) {
  const int64_t ld = s.ld != 0 ? s.ld : s.transposed ? s.k : s.n;
  std::vector<int8_t> out;
  append_quads(out, s.k, s.n, s.nr, [&](int64_t row, int64_t column) {
    return b[static_cast<std::size_t>(s.transposed ? column * ld + row : row * ld + column)];
  });
  return out;
}

std::vector<int8_t> conv_quads(std::span<const int8_t> w, ConvShape s) {
  const int64_t taps = s.kh * s.kw, cout_g = s.cout / s.group, channels = 4 * contract::quads(s.cin);
  std::vector<int8_t> out;
  for (int64_t group = 0; group < s.group; ++group) {
    append_quads(out, taps * channels, cout_g, s.nr, [&](int64_t row, int64_t column) {
      const int64_t tap = row / channels, channel = row % channels;
      return channel < s.cin ? w[static_cast<std::size_t>(((group * cout_g + column) * s.cin + channel) * taps + tap)] : int8_t{0};
    });
  }
  return out;
}

std::vector<int8_t> planar_quads(std::span<const int8_t> w, ConvShape s) {
  const int64_t width = 4 * contract::quads(s.kw), rows = s.cin * s.kh;
  std::vector<int8_t> out;
  append_quads(out, rows * width, s.cout, s.nr, [&](int64_t at, int64_t column) {
    const int64_t row = at / width, kx = at % width;
    return kx < s.kw ? w[static_cast<std::size_t>((column * rows + row) * s.kw + kx)] : int8_t{0};
  });
  return out;
}

std::vector<int8_t> depthwise_quads(std::span<const int8_t> w, DepthwiseQuads s) {
  std::vector<int8_t> out;
  for (int64_t first = 0; first < s.c; first += s.lanes) {
    for (int64_t quad = 0; quad < contract::quads(s.kh); ++quad) {
      for (int64_t kx = 0; kx < s.kw; ++kx) {
        for (int64_t row = 0; row < s.rows; ++row) {
          for (int64_t c = first; c < first + s.lanes; ++c) {
            for (int64_t ky = 4 * quad - row * s.stride_y; ky < 4 * (quad + 1) - row * s.stride_y; ++ky)
              out.push_back(c < s.c && ky >= 0 && ky < s.kh ? w[static_cast<std::size_t>((c * s.kh + ky) * s.kw + kx)] : int8_t{0});
          }
        }
      }
    }
  }
  return out;
}

}  // namespace onnxc::pack
