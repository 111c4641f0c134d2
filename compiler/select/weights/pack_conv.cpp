#include "compiler/select/weights/append_panels.h"
#include "compiler/select/weights/pack.h"

namespace onnxc::pack {

namespace {

/// The panels of all groups, one after the other, whose element of input channel ci and output channel co of group g, at a
/// tap, is element(g, ci, co, tap).
template <class Element>
std::vector<float> grouped_panels(ConvShape s, Element element) {
  const int64_t taps = s.kh * s.kw, cout_g = s.cout / s.group;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(conv_size(s)));
  for (int64_t g = 0; g < s.group; ++g) {
    append_panels(out, taps * s.cin, cout_g, s.nr, [&](int64_t k, int64_t co) { return element(g, k % s.cin, co, k / s.cin); });
  }
  return out;
}

}  // namespace

int64_t conv_size(ConvShape s) { return panels_size(s.kh * s.kw * s.cin, s.cout / s.group, s.nr) * s.group; }

std::vector<float> conv(std::span<const float> w, ConvShape s) {
  const int64_t taps = s.kh * s.kw, cout_g = s.cout / s.group;
  return grouped_panels(
      s, [&](int64_t g, int64_t ci, int64_t co, int64_t tap) { return at(w, ((g * cout_g + co) * s.cin + ci) * taps + tap); });
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
  return grouped_panels(
      s, [&](int64_t g, int64_t ci, int64_t co, int64_t tap) { return at(w, ((g * s.cin + ci) * cout_g + co) * taps + tap); });
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

std::vector<float> few_outputs(std::span<const float> w, ConvShape s, int64_t lanes, bool transposed) {
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
