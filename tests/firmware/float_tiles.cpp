// The loops of float_tiles.hpp on a core that has them, against the same sums one by one, to the bit. Ends with the number of cases that are wrong.
#include <onnxc/depthwise_taps.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

using namespace onnxc;

int failed = 0, cases = 0;

void check(const char* name, int size, const float* got, const float* wanted, int count) {
  ++cases;
  if (std::memcmp(got, wanted, static_cast<std::size_t>(count) * sizeof(float)) == 0) return;
  ++failed;
  std::printf("%s of size %d differs\n", name, size);
}

float numbers[4096];

void check_products() {
  for (int k = 1; k <= 37; ++k) {
    const float *rows[4] = {numbers + 3, numbers + 101, numbers + 222, numbers + 301}, *const b = numbers + 1000,
                *const bias = numbers + 2000;
    float got[4][4], wanted[4][4];
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        wanted[i][j] = bias[j];
        for (int s = 0; s < k; ++s) wanted[i][j] = std::fma(rows[i][s], b[4 * s + j], wanted[i][j]);
      }
    }
    detail::multiply_4x4(got, bias, 0, rows, b, k);
    check("multiply_4x4", k, got[0], wanted[0], 16);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        for (int s = 0; s < k; ++s) wanted[i][j] = std::fma(rows[i][s], b[4 * s + j], wanted[i][j]);
      }
    }
    detail::multiply_4x4(got, got[0], 4, rows, b, k);
    check("multiply_4x4 again", k, got[0], wanted[0], 16);
    float sums[8], wanted_sums[8];
    for (int j = 0; j < 8; ++j) {
      sums[j] = wanted_sums[j] = bias[j];
      for (int s = 0; s < k; ++s) wanted_sums[j] = std::fma(rows[0][s], b[8 * s + j], wanted_sums[j]);
    }
    detail::multiply_1x8(sums, rows[0], b, k);
    check("multiply_1x8", k, sums, wanted_sums, 8);
    float copy[40] = {}, wanted_copy[40] = {};
    for (int i = 0; i < k; ++i) wanted_copy[i] = rows[0][i];
    const bool ends = detail::copy_floats(copy, rows[0], k) == copy + k;
    check("copy_floats", k, copy, wanted_copy, ends ? 40 : 0);
    failed += !ends;
  }
}

void check_taps() {
  for (int rows = 1; rows <= 3; ++rows) {
    for (int columns = 1; columns <= 4; ++columns) {
      const detail::TapStrides taps{rows, columns, 9, 31, 8, 16};
      float got[8], wanted[8];
      for (int j = 0; j < 8; ++j) {
        const float *x = numbers + j, *w = numbers + 1000 + j;
        wanted[j] = numbers[2000 + j];
        for (int ky = 0; ky < rows; ++ky, x += taps.x_row, w += taps.w_row) {
          for (int kx = 0; kx < columns; ++kx, x += taps.x_tap, w += taps.w_tap) wanted[j] = std::fma(*x, *w, wanted[j]);
        }
      }
      detail::multiply_taps(got, numbers + 2000, numbers, numbers + 1000, taps);
      check("multiply_taps", 10 * rows + columns, got, wanted, 8);
    }
  }
}

}  // namespace

int main() {
  uint32_t state = 1;
  for (float& x : numbers) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f;
  }
  if (detail::kFloatTiles) {
    check_products();
    check_taps();
  }
  std::printf("float tiles: %d of %d cases are right\n", cases - failed, cases);
  return failed > 100 ? 100 : failed;
}
