// Matrix products of targets/kernels/linear.inc. Weights stream from beyond L2.
#include <fmt/format.h>

#include <cstring>

#include <onnxc/attention.hpp>
#include <onnxc/fast_inner_product_any.hpp>
#include <onnxc/gemm_bf16.hpp>
#include <onnxc/gemm_few_columns.hpp>
#include <onnxc/gemm_nbits.hpp>
#include <onnxc/gemm_scaled.hpp>
#include <onnxc/gemv.hpp>
#include <onnxc/matmul.hpp>
#include <onnxc/matmul_quads.hpp>
#include <onnxc/strassen.hpp>

#include "compiler/select/weights/pack.h"
#include "tools/kernel_bench/suite.h"
#include "tools/kernel_bench/tile.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

struct Product {
  int64_t m, n, k;
  std::string name() const { return fmt::format("{}x{}x{}", m, n, k); }
  Work work(int64_t nr) const { return {double(m) * double(padded_to(n, nr)) * double(k), 4.0 * double(n) * double(k)}; }
  GemmParams params() const { return {.m = m, .n = n, .k = k, .lda = k, .ldc = n}; }
  WeightStream& weights(Data& d, int64_t nr) const {
    return d.stream(pack::panels({d.numbers(k * n), static_cast<std::size_t>(k * n)}, {.k = k, .n = n, .nr = nr}));
  }
  WeightStream& inner_product_weights(Data& d) const {
    return d.stream(pack::fast_inner_product({d.numbers(k * n), static_cast<std::size_t>(k * n)}, {.k = k, .n = n, .nr = Vec::width}));
  }
};

void add_tiled_products(Suite& suite) {
  // 1x1 convolutions of 28x28 and 7x7 images, layers of an encoder, a perceptron of 1000 rows, a product of small
  // depth.
  for (const Product p : {Product{784, 128, 512},
                          {784, 192, 32},
                          {49, 1024, 512},
                          {196, 256, 1024},
                          {128, 384, 384},
                          {128, 3072, 768},
                          {1000, 128, 30},
                          {14, 32, 64}}) {
    suite.add("gemm", p.name(), p.work(kTile.nr), [p](Data& d) {
      return [p = p.params(), a = d.numbers(p.m * p.k), &w = p.weights(d, kTile.nr), y = d.room(p.m * p.n)] {
        gemm<kTile.mr, kTile.nv>({}, a, w.next(), y, p);
      };
    });
  }
  for (const Product p : {Product{784, 128, 512}, {196, 256, 1024}, {128, 384, 384}, {128, 3072, 768}}) {
    suite.add("strassen", p.name(), p.work(kTile.nr), [p](Data& d) {
      const auto w = pack::strassen({d.numbers(p.k * p.n), static_cast<std::size_t>(p.k * p.n)}, {.k = p.k, .n = p.n, .nr = kTile.nr});
      const int64_t block = p.m > 448 ? 112 : p.m;
      return [p = p.params(), block, a = d.numbers(p.m * p.k), &w = d.stream(w), y = d.room(p.m * p.n),
              scratch = d.room(strassen_scratch<kTile.mr, kTile.nv>(p.k, block))] {
        strassen<kTile.mr, kTile.nv>({}, a, w.next(), y, scratch, p, p.m, block);
      };
    });
  }
  for (const Product p : {Product{1, 384, 384}, {7, 384, 384}, {128, 384, 384}}) {
    suite.add("gemm_any", p.name(), p.work(kTile.nr), [p](Data& d) {
      return [p = p.params(), a = d.numbers(p.m * p.k), &w = p.weights(d, kTile.nr), y = d.room(p.m * p.n)] {
        gemm_any<kTile.mr, kTile.nv>({}, a, w.next(), y, p);
      };
    });
  }
}

/// Of bfloat16, where the processor has them.
void add_bf16_products(Suite& suite) {
#if defined(__AVX512BF16__) && defined(__AVX512F__)
  constexpr int64_t NR = kTile.nr;
  const auto weights = [](const Product& p, Data& d) -> WeightStream& {
    const std::vector<uint16_t> codes =
        pack::bf16_pairs({d.numbers(p.k * p.n), static_cast<std::size_t>(p.k * p.n)}, {.k = p.k, .n = p.n, .nr = NR});
    std::vector<float> words(codes.size() / 2);
    std::memcpy(words.data(), codes.data(), words.size() * sizeof(float));
    return d.stream(words);
  };
  const auto scratch = [](const Product& p, Data& d) { return d.room(contract::bf16_scratch(p.m, p.k)); };
  for (const Product p : {Product{784, 128, 512}, {196, 256, 1024}, {128, 384, 384}, {128, 3072, 768}}) {
    suite.add("gemm_bf16", p.name(), {p.work(NR).macs, 2.0 * double(p.n) * double(p.k)}, [=](Data& d) {
      return [p = p.params(), a = d.numbers(p.m * p.k), &w = weights(p, d), y = d.room(p.m * p.n), rounded = scratch(p, d)] {
        gemm_bf16<kTile.mr, kTile.nv>({}, a, reinterpret_cast<const bfloat16*>(w.next()), y, rounded, p);
      };
    });
  }
  for (const Product p : {Product{3, 384, 384}, {128, 384, 384}}) {
    suite.add("gemm_bf16_any", p.name(), {p.work(NR).macs, 2.0 * double(p.n) * double(p.k)}, [=](Data& d) {
      return [p = p.params(), a = d.numbers(p.m * p.k), &w = weights(p, d), y = d.room(p.m * p.n), rounded = scratch(p, d)] {
        gemm_bf16_any<kTile.mr, kTile.nv>({}, a, reinterpret_cast<const bfloat16*>(w.next()), y, rounded, p);
      };
    });
  }
#else
  for (const char* const row : {"gemm_bf16", "gemm_bf16_any"}) suite.skip(row, "this processor has no products of bfloat16");
#endif
}

void add_fast_inner_products(Suite& suite) {
  for (const Product p : {Product{784, 128, 512}, {784, 192, 32}, {49, 1024, 512}, {196, 256, 1024}, {1000, 128, 30}, {1000, 64, 128}}) {
    suite.add("fast_inner_product", p.name(), p.work(Vec::width), [p](Data& d) {
      constexpr int64_t kBlock = 48;
      return
          [p = p.params(), a = d.numbers(p.m * p.k), &w = p.inner_product_weights(d), y = d.room(p.m * p.n),
           scratch = d.room(fast_inner_product_scratch(p.k, kBlock))] { fast_inner_product<12>({}, a, w.next(), y, scratch, p, kBlock); };
    });
  }
  for (const Product p : {Product{1, 128, 30}, {1, 384, 384}, {7, 384, 384}, {128, 384, 384}}) {
    suite.add("fast_inner_product_any", p.name(), p.work(Vec::width), [p](Data& d) {
      constexpr int64_t kBlock = 48;
      return [p = p.params(), a = d.numbers(p.m * p.k), &w = p.inner_product_weights(d), y = d.room(p.m * p.n),
              scratch = d.room(fast_inner_product_scratch(p.k, kBlock))] {
        fast_inner_product_any<12>({}, a, w.next(), y, scratch, p, kBlock);
      };
    });
  }
}

void add_vector_products(Suite& suite) {
  for (const Product p : {Product{1000, 1, 64}, {1, 1, 64}, {1000, 1, 512}}) {
    suite.add("gemm_few_columns", p.name(), p.work(1), [p](Data& d) {
      const auto w = pack::panels({d.numbers(p.k), static_cast<std::size_t>(p.k)}, {.k = 1, .n = p.k, .nr = Vec::width});
      return [p = p.params(), a = d.numbers(p.m * p.k), w = d.copy(w), y = d.room(p.m)] { gemm_few_columns<1>({}, a, w, y, p); };
    });
  }
  constexpr int64_t kLine = 4 * Vec::width;
  for (const Product p : {Product{1, 1000, 512}, {1, 1000, 1280}, {1, 768, 768}, {1, 128, 30}, {1, 10, 84}}) {
    suite.add("gemv", p.name(), p.work(kLine), [p](Data& d) {
      return [p = p.params(), a = d.numbers(p.k), &w = p.weights(d, kLine), y = d.room(p.n)] { gemv<4>({}, a, w.next(), y, p); };
    });
  }
}

/// Weights of 4 bits in blocks of 32, with zero points.
void add_packed_products(Suite& suite) {
  constexpr int kVectors = ONNXC_VECTOR_REGISTERS == 32 ? 4 : 2;
  constexpr int64_t kColumns = kVectors * Vec::width, kBlock = 32;
  for (const Product p : {Product{1, 4096, 4096}, {1, 512, 256}, {4, 1024, 1024}, {64, 1024, 1024}}) {
    const int64_t blocks = p.k / kBlock, bytes = padded_to(p.n, kColumns) * blocks * contract::nbits_block_bytes(kBlock, 1, 4, 4, 1);
    const Work work{double(p.m) * double(padded_to(p.n, kColumns)) * double(p.k), double(bytes)};
    const auto weights = [p, blocks](Data& d) -> WeightStream& {
      std::vector<uint8_t> codes(static_cast<std::size_t>(p.n * p.k / 2)), zeros(static_cast<std::size_t>(p.n * ((blocks + 1) / 2)), 0x87);
      for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i * 37);
      const std::vector<float> scales(static_cast<std::size_t>(p.n * blocks), 0.01f);
      const std::vector<std::byte> packed = pack::nbits({kBlock, codes, scales, zeros, {}}, {p.k, p.n, 4, kColumns});
      std::vector<float> words(packed.size() / sizeof(float));
      std::memcpy(words.data(), packed.data(), packed.size());
      return d.stream(words);
    };
    const NBitsParams params{.m = p.m, .n = p.n, .k = p.k, .block = kBlock, .lda = p.k, .ldc = p.n};
    suite.add("gemm_nbits", p.name(), work, [=](Data& d) {
      return [params, a = d.numbers(p.m * p.k), &w = weights(d), y = d.room(p.m * p.n),
              scratch = d.room<uint8_t>(contract::nbits_scratch(p.m, p.k, kBlock, kColumns, Vec::width))] {
        gemm_nbits<4, kVectors, float, uint8_t>({}, a, reinterpret_cast<const uint8_t*>(w.next()), y, scratch, params);
      };
    });
    suite.add("gemm_nbits_exact", p.name(), work, [=](Data& d) {
      return [params, a = d.numbers(p.m * p.k), &w = weights(d), y = d.room(p.m * p.n),
              scratch = d.room(contract::nbits_exact_scratch(p.k, kColumns, Vec::width) / 4)] {
        gemm_nbits_exact<4, kVectors, float, uint8_t>({}, a, reinterpret_cast<const uint8_t*>(w.next()), y, scratch, params);
      };
    });
  }
}

/// A stack of products, one behind the other.
template <class Params>
Params stacked(int64_t heads, const Product& p) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .lda = p.k,
          .ldb = p.n,
          .ldc = p.n,
          .batch = {heads},
          .a_batch = {p.m * p.k},
          .b_batch = {p.k * p.n},
          .c_batch = {p.m * p.n}};
}

/// Encoders of 128 and 500 tokens, and a step of a language model with 512 keys.
void add_attention(Suite& suite) {
  constexpr int MR = Vec::width == 16 ? 8 : 6, NR = 2 * Vec::width;
  struct Heads {
    int64_t heads, queries, keys, size;
  };
  for (const auto& [heads, queries, keys, size] : {Heads{12, 128, 128, 32}, {6, 500, 500, 64}, {8, 1, 512, 64}}) {
    const HeadSteps steps{0, size, heads * size};
    const AttentionParams p{.batch = 1,
                            .heads = heads,
                            .queries = queries,
                            .keys = keys,
                            .size = size,
                            .value_size = size,
                            .scale = 0.125f,
                            .q = steps,
                            .k = steps,
                            .v = steps,
                            .y = steps};
    suite.add("attention", fmt::format("{}x{}x{}x{}", heads, queries, keys, size), {2.0 * double(heads * queries) * double(keys * size), 0},
              [p](Data& d) {
                const int64_t floats = contract::attention_scratch(padded_to(p.keys, NR), p.size, padded_to(p.value_size, NR), MR);
                return
                    [p, q = d.numbers(p.queries * p.q.row), k = d.numbers(p.keys * p.k.row), v = d.numbers(p.keys * p.v.row),
                     y = d.room(p.queries * p.y.row), scratch = d.room(floats)] { attention<MR, 2>({}, y, q, k, v, nullptr, scratch, p); };
              });
  }
}

void add_computed_products(Suite& suite) {
  // Attention: scores and values of 12 heads, and one plain product of two computed values.
  struct Heads {
    int64_t heads;
    Product p;
  };
  for (const auto& [heads, p] : {Heads{12, {128, 128, 64}}, {12, {128, 64, 128}}, {1, {256, 256, 256}}}) {
    suite.add("matmul_quads", fmt::format("{}x{}", heads, p.name()), {double(heads) * double(p.m) * double(p.n) * double(p.k), 0},
              [heads = heads, p = p](Data& d) {
                const auto params = stacked<QuadMatMulParams>(heads, p);
                return [params, a = d.room<uint8_t>(heads * p.m * p.k), b = d.room<uint8_t>(heads * p.k * p.n),
                        y = d.room<int32_t>(heads * p.m * p.n), panel = d.room<uint8_t>(4 * contract::quads(p.k) * 2 * Vec::width)] {
                  matmul_quads<14, 2>({}, a, b, y, panel, nullptr, nullptr, params);
                };
              });
    suite.add("matmul", fmt::format("{}x{}", heads, p.name()), {double(heads) * double(p.m) * double(p.n) * double(p.k), 0},
              [heads = heads, p = p](Data& d) {
                const auto params = stacked<MatMulParams>(heads, p);
                return [params, a = d.numbers(heads * p.m * p.k), b = d.numbers(heads * p.k * p.n), y = d.room(heads * p.m * p.n),
                        scratch = d.room(matmul_scratch(p.k, kTile.nr))] { matmul<kTile.mr, kTile.nv>({}, a, b, y, scratch, params); };
              });
  }
  for (const Product p : {Product{196, 40, 240}, {196, 112, 672}, {784, 40, 240}}) {
    suite.add("gemm_scaled", p.name(), p.work(kTile.nr), [p](Data& d) {
      return [p = p.params(), a = d.numbers(p.m * p.k), &w = p.weights(d, kTile.nr), s = d.numbers(p.k), y = d.room(p.m * p.n),
              scaled = d.room(p.k * padded_to(p.n, kTile.nr))] { gemm_scaled<kTile.mr, kTile.nv>({}, a, w.next(), s, y, scaled, p, p.m); };
    });
  }
}

}  // namespace

void add_linear(Suite& suite) {
  add_tiled_products(suite);
  add_bf16_products(suite);
  add_fast_inner_products(suite);
  add_vector_products(suite);
  add_packed_products(suite);
  add_attention(suite);
  add_computed_products(suite);
}

}  // namespace onnxc::inline ONNXC_ISA::bench
