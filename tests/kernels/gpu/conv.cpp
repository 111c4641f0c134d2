// Convolutions on a GPU against loops in double, of every kind, in the emulator.
#include <onnxc/gpu/conv.hpp>

#include "tests/kernels/gpu/conv_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

using Small = Tile<64, 64, 32, 32, 3>;
using Few = Tile<32, 64, 32, 16, 4>;

/// relu(conv + bias) by `Kind`; pixels of x and y have gaps.
template <class Tile, class Kind>
struct Case {
  using A = typename gpu::detail::KindOf<Kind>::Left;
  using B = typename gpu::detail::KindOf<Kind>::Right;
  ConvParams p;
  std::vector<A> x;
  std::vector<B> w;
  std::vector<float> bias;

  /// Zeros, or garbage where none of a pixel's channels lie. A gap may be read where it is the rest of 16 bytes: there are zeros.
  explicit Case(ConvParams params) : p(params) {
    const auto chunk = static_cast<int64_t>(16 / sizeof(A));
    p.x_pixel = ceil_div(p.cin, chunk) * chunk + chunk;
    p.y_pixel = p.cout + 1;
    x = in_rows(numbers<A>(static_cast<std::size_t>(p.n * p.h * p.w * p.cin), 1), static_cast<std::size_t>(p.cin),
                static_cast<std::size_t>(p.x_pixel));
    w = numbers<B>(static_cast<std::size_t>(p.cout * p.kh * p.kw * (p.cin / p.group)), 2);
    bias = numbers<float>(static_cast<std::size_t>(p.cout), 3);
  }
  std::vector<float> run() const {
    const auto channels = static_cast<std::size_t>(p.cin / p.group);
    const OnDevice<A> dx(x);
    const OnDevice<B> dw(in_rows(w, channels, static_cast<std::size_t>(contract::gpu::row_of(p.cin / p.group, sizeof(B)))));
    const OnDevice<float> db(bias), y(std::vector<float>(static_cast<std::size_t>(p.n * p.oh * p.ow * p.y_pixel), -77.0f));
    const OnDevice<typename Kind::Sum> parts(static_cast<std::size_t>(parts_of<Tile>(p)));
    const auto tickets = static_cast<std::size_t>(tickets_of<Tile>(p));
    const OnDevice<unsigned> words(std::vector<unsigned>(1 + tickets));
    Queue queue(nullptr, words.data());
    const Epilogue<AddRelu, PerCol<float>> epilogue{{db.data()}};
    if (p.splits > 1) conv<Tile, Kind>(queue, y.data(), dx.data(), dw.data(), parts.data(), p, epilogue);
    else conv<Tile, Kind>(queue, y.data(), dx.data(), dw.data(), p, epilogue);
    REQUIRE(!queue.result());
    CHECK(words.host() == std::vector<unsigned>(1 + tickets));
    return y.host();
  }
  void check(const std::vector<float>& y) const {
    CAPTURE(p.h, p.w, p.cin, p.cout, p.kh, p.kw, p.group, p.splits, Kind::kValues);
    const double error = error_of<Kind>(p.kh * p.kw * (p.cin / p.group + 4 * Kind::kValues));
    for (int64_t pixel = 0; pixel < p.n * p.oh * p.ow; ++pixel) {
      REQUIRE(y[static_cast<std::size_t>(pixel * p.y_pixel + p.cout)] == -77.0f);
      for (int64_t co = 0; co < p.cout; ++co) {
        const auto [sum, size] = conv_sum(p, x, w, pixel, co, static_cast<double>(p.fill));
        const double wanted = std::max(0.0, sum + bias[static_cast<std::size_t>(co)]),
                     got = y[static_cast<std::size_t>(pixel * p.y_pixel + co)];
        CAPTURE(pixel, co, got, wanted);
        REQUIRE(std::abs(got - wanted) <= size * error + 1e-6 * (1 + std::abs(wanted)));
      }
    }
  }
  void check() const { check(run()); }
};

template <class Kind>
void check_shapes() {
  constexpr int64_t chunk = 4 * Kind::kValues;
  // 3 x 3 with pads, several images in a tile; channels that fill no 16 bytes.
  Case<Small, Kind>({.n = 3, .h = 5, .w = 7, .cin = chunk + 1, .oh = 5, .ow = 7, .cout = 9, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1})
      .check();
  Case<Small, Kind>({.n = 1,
                     .h = 9,
                     .w = 11,
                     .cin = 3,
                     .oh = 5,
                     .ow = 5,
                     .cout = 70,
                     .kh = 3,
                     .kw = 3,
                     .stride_y = 2,
                     .stride_x = 2,
                     .pad_top = 1,
                     .pad_left = 0})
      .check();
  // 1 x 1, and a kernel that is larger than the image.
  Case<Few, Kind>({.n = 2, .h = 6, .w = 6, .cin = 2 * chunk, .oh = 6, .ow = 6, .cout = 5}).check();
  Case<Few, Kind>({.n = 1,
                   .h = 2,
                   .w = 3,
                   .cin = chunk,
                   .oh = 1,
                   .ow = 2,
                   .cout = 4,
                   .kh = 5,
                   .kw = 5,
                   .dilation_y = 2,
                   .dilation_x = 1,
                   .pad_top = 4,
                   .pad_left = 2})
      .check();
  // 1-D with a dilation, groups, shared k.
  Case<Few, Kind>({.n = 2, .w = 40, .cin = 3 * chunk, .ow = 19, .cout = 6, .kw = 3, .stride_x = 2, .dilation_x = 2, .pad_left = 1}).check();
  Case<Small, Kind>(
      {.n = 1, .h = 4, .w = 5, .cin = 3 * chunk, .oh = 4, .ow = 5, .cout = 15, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .group = 3})
      .check();
  for (const int64_t group : {1, 2}) {
    Case<Few, Kind>({.n = 2,
                     .h = 5,
                     .w = 5,
                     .cin = 4 * chunk,
                     .oh = 5,
                     .ow = 5,
                     .cout = 10,
                     .kh = 3,
                     .kw = 3,
                     .pad_top = 1,
                     .pad_left = 1,
                     .group = group,
                     .splits = 3})
        .check();
  }
  Case<Few, Kind>({.n = 0, .h = 5, .w = 5, .cin = 4, .oh = 5, .ow = 5, .cout = 10}).check();
}

}  // namespace

TEST_CASE("convolutions of f32 on a GPU, by three of tf32 and by one") {
  check_shapes<ThreeTf32>();
  check_shapes<OnceTf32>();
}

TEST_CASE("convolutions of halves on a GPU") {
  check_shapes<F16>();
  check_shapes<Bf16>();
}

TEST_CASE("convolutions of bytes on a GPU are exact, with any value outside of the image") {
  check_shapes<S8>();
  check_shapes<U8S8>();
  Case<Small, U8S8>(
      {.n = 2, .h = 5, .w = 6, .cin = 19, .oh = 5, .ow = 6, .cout = 9, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .fill = 131})
      .check();
  Case<Few, S8>({.n = 2,
                 .h = 5,
                 .w = 6,
                 .cin = 32,
                 .oh = 5,
                 .ow = 6,
                 .cout = 8,
                 .kh = 3,
                 .kw = 3,
                 .pad_top = 1,
                 .pad_left = 1,
                 .group = 2,
                 .splits = 2,
                 .fill = -3})
      .check();
}

TEST_CASE("the order of blocks and threads does not change a convolution on a GPU") {
  const Case<Small, ThreeTf32> c(
      {.n = 2, .h = 9, .w = 8, .cin = 20, .oh = 9, .ow = 8, .cout = 70, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .splits = 2});
  const Case<Few, U8S8> filled(
      {.n = 2, .h = 9, .w = 8, .cin = 40, .oh = 9, .ow = 8, .cout = 7, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .fill = 7});
  std::vector<float> first, first_filled;
  for_orders([&] {
    const auto y = c.run(), z = filled.run();
    if (first.empty()) {
      first = y;
      first_filled = z;
    }
    REQUIRE(y == first);
    REQUIRE(z == first_filled);
  });
}

TEST_CASE("what is not finite in a convolution on a GPU is what f32 gives") {
  Case<Small, ThreeTf32> c({.n = 1, .h = 4, .w = 4, .cin = 4, .oh = 4, .ow = 4, .cout = 3, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1});
  c.x[0] = INFINITY;
  c.x[static_cast<std::size_t>(10 * c.p.x_pixel + 2)] = NAN;
  c.bias = {0, 0, 0};
  const auto y = c.run();
  for (int64_t pixel = 0; pixel < 16; ++pixel) {
    for (int64_t co = 0; co < 3; ++co) {
      const float got = y[static_cast<std::size_t>(pixel * c.p.y_pixel + co)];
      const double wanted = conv_sum(c.p, c.x, c.w, pixel, co, 0).sum;
      CAPTURE(pixel, co, got, wanted);
      if (std::isnan(wanted)) REQUIRE(got == 0);  // x > 0 ? x : 0
      else if (std::isinf(wanted)) REQUIRE(got == (wanted > 0 ? INFINITY : 0.0f));
      else REQUIRE(std::abs(got - std::max(0.0, wanted)) <= 1e-4);
    }
  }
}
