// Batched matmul and transposes against loops: tails, pitches, broadcast batches, both layouts of b, threads, guard
// values.
#include <onnxc/matmul.hpp>
#include <onnxc/strided_copy.hpp>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

template <int MR, int NV, bool transposed>
void check(int64_t m, int64_t n, int64_t k, int threads) {
  INFO("m " << m << " n " << n << " k " << k << (transposed ? " transposed" : "") << " threads " << threads);
  constexpr int NR = NV * Vec::width;
  // batch [2, 3]; b is the same for both values of the first axis
  const int64_t lda = k + 1, ldb = (transposed ? k : n) + 2, ldc = n + 3, b_rows = transposed ? n : k;
  const auto a = numbers(6 * m * lda, 1), b = numbers(3 * b_rows * ldb, 2), residual = numbers(6 * m * n, 3);
  std::vector<float> c(size_t(6 * m * ldc) + 1, kGuard);
  const Scratch scratch(threads, matmul_scratch(k, NR));
  const MatMulParams p{.m = m,
                       .n = n,
                       .k = k,
                       .lda = lda,
                       .ldb = ldb,
                       .ldc = ldc,
                       .batch = {2, 3},
                       .a_batch = {3 * m * lda, m * lda},
                       .b_batch = {0, b_rows * ldb},
                       .c_batch = {3 * m * ldc, m * ldc}};
  for (int i = 0; i < threads; ++i)
    matmul<MR, NV, transposed>({i, threads}, a.data(), b.data(), c.data() + 1, scratch.of(i), p,
                               Epilogue<AddRelu, Rows<float>>{{residual.data(), n}});
  int64_t wrong = c[0] != kGuard;
  for (int64_t batch = 0; batch < 6; ++batch) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        const float got = c[size_t((batch * m + i) * ldc + j) + 1];
        if (j >= n) {
          wrong += got != kGuard;
          continue;
        }
        double y = 0;
        const float* const bm = b.data() + batch % 3 * b_rows * ldb;
        for (int64_t s = 0; s < k; ++s)
          y += double(a[size_t((batch * m + i) * lda + s)]) * double(transposed ? bm[j * ldb + s] : bm[s * ldb + j]);
        y = std::fmax(y + double(residual[size_t((batch * m + i) * n + j)]), 0.0);
        wrong += !(std::fabs(got - y) <= sum_tolerance(k));
      }
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("matmul agrees with the loop", "", ((bool transposed), transposed), false, kTransposed) {
  for (int64_t m : {1, 2, 7, 8, 14, 15, 40}) {
    for (int64_t n : {1, Vec::width + 1, 2 * Vec::width, 70}) {
      for (int64_t k : {1, kPartLanes, 33}) check<14, 2, transposed>(m, n, k, int(m % 3) + 1);
    }
  }
  check<6, 2, transposed>(13, 50, 64, 2);
  check<6, 4, transposed>(20, 65, 20, 2);
}

TEST_CASE("a matrix is transposed in blocks and nothing else is touched") {
  for (int64_t rows : {1, kPartLanes, Vec::width, 2 * Vec::width + 3}) {
    for (int64_t cols : {1, kPartLanes, Vec::width, 2 * Vec::width + 3}) {
      for (int threads : {1, 3}) {
        const int64_t x_row = rows + 2, y_row = cols + 3;
        const auto x = numbers(2 * cols * x_row);
        std::vector<float> y(size_t(2 * rows * y_row) + 1, kGuard);
        for (int i = 0; i < threads; ++i)
          transpose_matrix(
              {i, threads}, x.data(), y.data() + 1,
              {.batch = 2, .rows = rows, .cols = cols, .x_row = x_row, .y_row = y_row, .x_batch = cols * x_row, .y_batch = rows * y_row});
        int64_t wrong = y[0] != kGuard;
        for (int64_t b = 0; b < 2; ++b) {
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < y_row; ++j)
              wrong += y[size_t((b * rows + i) * y_row + j) + 1] != (j < cols ? x[size_t((b * cols + j) * x_row + i)] : kGuard);
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

namespace {

template <class T>
void check_permutation(Shape in, std::vector<int> order, int threads) {
  Shape out;
  Ints strides;
  out.rank = strides.size = in.rank;
  for (int axis = 0; axis < in.rank; ++axis) {
    out[axis] = in[order[size_t(axis)]];
    strides[axis] = in.count(order[size_t(axis)] + 1, in.rank);
  }
  std::vector<T> x(size_t(in.count())), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = T(i);
  for (int p = 0; p < threads; ++p) transpose({p, threads}, x.data(), y.data(), out, strides);
  int64_t wrong = 0;
  for (int64_t i = 0; i < out.count(); ++i) wrong += y[size_t(i)] != x[size_t(strided_offset(out, out.rank, strides, i))];
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("boxes are copied between any two placements") {
  // to [2, h, w, c] with a pitch of c + 3 from [2, c, h, w], and a part of it, by one thread and three
  const int64_t h = 5, w = 2 * Vec::width + 1, c = Vec::width + 2, pitch = c + 3;
  const auto x = numbers(2 * c * h * w);
  for (int threads : {1, 3}) {
    std::vector<float> transposed_image(size_t(2 * h * w * pitch), kGuard), stepped = transposed_image;
    const Shape shape = {2, h, w, c};
    const Ints to = {h * w * pitch, w * pitch, pitch, 1}, from = {c * h * w, w, 1, h * w};
    for (int i = 0; i < threads; ++i) {
      transposing_copy({i, threads}, shape, 2, transposed_image.data(), to, x.data(), from);
      strided_copy({i, threads}, shape, stepped.data(), to, x.data(), from);
    }
    CHECK(transposed_image == stepped);
    int64_t wrong = 0;
    for (int64_t i = 0; i < 2 * h * w; ++i) {
      for (int64_t j = 0; j < pitch; ++j)
        wrong += stepped[size_t(i * pitch + j)] != (j < c ? x[size_t((i / (h * w) * c + j) * h * w + i % (h * w))] : kGuard);
    }
    CHECK(wrong == 0);
  }
  // runs of a few elements, walked backwards
  for (int64_t run = 1; run <= 5; ++run) {
    std::vector<float> y(size_t(7 * run), kGuard);
    for (int i = 0; i < 2; ++i) strided_copy<float>({i, 2}, {7, run}, y.data(), {run, 1}, x.data() + 6 * 9, {-9, 1});
    int64_t wrong = 0;
    for (int64_t i = 0; i < 7 * run; ++i) wrong += y[size_t(i)] != x[size_t((6 - i / run) * 9 + i % run)];
    CHECK(wrong == 0);
  }
}

TEST_CASE("axes of any rank and type are permuted") {
  for (int threads : {1, 3}) {
    check_permutation<float>({2, 5, 17, 19}, {0, 2, 3, 1}, threads);
    check_permutation<float>({2, 17, 19, 5}, {0, 3, 1, 2}, threads);
    check_permutation<float>({2, 5, 17, 19}, {0, 2, 1, 3}, threads);
    check_permutation<float>({2, 5, 17, 19}, {3, 2, 1, 0}, threads);
    check_permutation<int32_t>({20, 30}, {1, 0}, threads);
    check_permutation<int64_t>({2, 5, 17, 9}, {3, 1, 0, 2}, threads);
    check_permutation<uint8_t>({2, 5, 7, 9, 3}, {4, 1, 0, 2, 3}, threads);
    check_permutation<float>({1, 1, 7}, {2, 0, 1}, threads);
    check_permutation<float>({}, {}, 1);
  }
}
