// What kernels of a GPU's own take, by their sizes: lines of JSON as google-benchmark has them, which bench/fit_costs.py reads. A kernel's name
// is its row of targets/kernels/gpu.inc, products of other kinds than f32 have names of their own. Sizes follow, then a product's tile.
//
//   costs SECONDS SHRINK      how long each figure is measured; by what sizes are divided, for the emulator
#include <onnxc/gpu/conv.hpp>
#include <onnxc/gpu/conv_depthwise.hpp>
#include <onnxc/gpu/copy_strided.hpp>
#include <onnxc/gpu/gather.hpp>
#include <onnxc/gpu/gemm.hpp>
#include <onnxc/gpu/gemv_nbits.hpp>
#include <onnxc/gpu/map.hpp>
#include <onnxc/gpu/norm.hpp>
#include <onnxc/gpu/pack_rows.hpp>
#include <onnxc/gpu/pool_bytes.hpp>
#include <onnxc/gpu/reduce.hpp>
#include <onnxc/gpu/softmax.hpp>
#include <onnxc/gpu/sum_bytes.hpp>

#include <initializer_list>
#include <string>

#include "bench/gpu/measure.hpp"

namespace {

using namespace onnxc::gpu;
using onnxc::bench::median_us;
using onnxc::bench::require;

double seconds = 1;
int64_t shrink = 1;
Stream stream{};

int64_t small(int64_t size) { return std::max<int64_t>(size / shrink, 32); }

/// Numbers on the device, of which a GPU's power depends: bytes that make floats of every type below 2.
template <class T = float>
class Numbers {
 public:
  explicit Numbers(int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    std::vector<unsigned char> made(bytes_);
    uint32_t random = 1;
    for (unsigned char& byte : made) byte = static_cast<unsigned char>(0x30 + ((random = random * 1664525u + 1013904223u) >> 28));
    fill(made.data());
  }
  explicit Numbers(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) { fill(values.data()); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() { release(p_); }
  T* data() const { return static_cast<T*>(p_); }
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  void fill(const void* from) {
    require(allocate(p_, bytes_));
    require(to_device(stream, p_, from, bytes_));
    require(finish(stream));
  }
  void* p_ = nullptr;
  std::size_t bytes_;
};

/// What a queue wants: a zero.
struct Words {
  void* p = nullptr;
  Words() {
    require(allocate(p, sizeof(unsigned)));
    require(clear(stream, p, sizeof(unsigned)));
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { release(p); }
  unsigned* data() const { return static_cast<unsigned*>(p); }
};

/// enqueue(queue) many times in a row, as a graph has them: the price of one.
template <class Enqueue>
void measure(const std::string& name, double macs, double bytes, Enqueue enqueue) {
  const Words words;
  const int times = shrink > 1 ? 1 : 20;
  Graph graph;
  Queue queue(stream, words.data());
  require(finish(stream));
  require(graph.begin(stream));
  for (int i = 0; i < times; ++i) enqueue(queue);
  require(graph.end(stream));
  require(queue.result());
  const double us = median_us(seconds,
                              [&] {
                                require(graph.launch(stream));
                                require(finish(stream));
                              }) /
                    times;
  std::printf(
      "{\"name\": \"%s\", \"run_type\": \"iteration\", \"iterations\": %d, \"cpu_time\": %.4f, \"time_unit\": \"us\", \"macs\": %.0f, "
      "\"bytes\": %.0f}\n",
      name.c_str(), times, us, macs, bytes);
  std::fflush(stdout);
}
std::string named(const char* row, std::initializer_list<int64_t> sizes, const std::string& more = "") {
  std::string name = std::string(row) + "/";
  for (const int64_t size : sizes) name += (name.back() == '/' ? "" : "x") + std::to_string(size);
  return name + more;
}
template <class Tile>
std::string tile_name() {
  return "/" + std::to_string(Tile::kRows) + "x" + std::to_string(Tile::kCols);
}

struct AddTwo {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A a, B b) {
    return a + b;
  }
};

template <class Tile, class Kind>
void product(const char* row, int64_t m, int64_t n, int64_t k) {
  using A = typename onnxc::gpu::detail::KindOf<Kind>::Left;
  using B = typename onnxc::gpu::detail::KindOf<Kind>::Right;
  using Sum = typename Kind::Sum;
  const Numbers<A> a(m * k);
  const Numbers<B> b(n * k);
  const Numbers<Sum> y(m * n);
  measure(named(row, {m, n, k}, tile_name<Tile>()), static_cast<double>(m * n * k), a.bytes() + b.bytes() + y.bytes(), [&](Queue& q) {
    gemm<Tile, Kind>(q, y.data(), a.data(), b.data(), {.m = m, .n = n, .k = k, .a_stride = k, .b_stride = k, .y_stride = n});
  });
}
template <class Kind>
void products(const char* row) {
  for (const int64_t size : {512, 1024, 2048}) {
    const int64_t s = small(size);
    product<Tile<64, 64, 32, 32, 3>, Kind>(row, s, s, s);
    if constexpr (std::is_same_v<Kind, ThreeTf32>) product<Tile<128, 128, 32, 64, 3>, Kind>(row, s, s, s);
    else product<Tile<128, 128, 64, 32, 4>, Kind>(row, s, s, s);
  }
  product<Tile<32, 64, 32, 16, 4>, Kind>(row, 32, small(768), small(768));
  product<Tile<64, 64, 32, 32, 3>, Kind>(row, 128, small(3072), small(768));
}

void convolutions() {
  for (const int64_t size : {14, 56, 112}) {
    const int64_t s = std::max<int64_t>(size / shrink, 7), c = 64, k = 3;
    const Numbers<> x(s * s * c), w(c * k * k * c), y(s * s * c), wd(k * k * c);
    const ConvParams p{
        .h = s, .w = s, .cin = c, .oh = s, .ow = s, .cout = c, .kh = k, .kw = k, .pad_top = 1, .pad_left = 1, .x_pixel = c, .y_pixel = c};
    measure(named("gpu_conv", {s, s, c}), static_cast<double>(s * s * c * c * k * k), x.bytes() + w.bytes() + y.bytes(),
            [&](Queue& q) { conv<Tile<64, 64, 32, 32, 3>, ThreeTf32>(q, y.data(), x.data(), w.data(), p); });
    ConvParams d = p;
    d.group = c;
    measure(named("gpu_conv_depthwise", {s, s, c}), static_cast<double>(s * s * c * k * k), x.bytes() + wd.bytes() + y.bytes(),
            [&](Queue& q) { conv_depthwise<3, 1>(q, y.data(), x.data(), wd.data(), d); });
    measure(named("gpu_max_pool", {s, s, c}), static_cast<double>(s * s * c * k * k), x.bytes() + y.bytes(), [&](Queue& q) {
      max_pool(q, x.data(), y.data(),
               {.h = s,
                .w = s,
                .c = c,
                .oh = s,
                .ow = s,
                .kh = k,
                .kw = k,
                .pad_top = 1,
                .pad_left = 1,
                .pad_bottom = 1,
                .pad_right = 1,
                .x_pixel = c,
                .y_pixel = c});
    });
  }
}

/// Bytes, of as many values as the kernels for f32 have, and rows that are picked.
void bytes_and_rows() {
  for (const int64_t count : {128, 2048, 16384}) {
    const int64_t m = small(count), n = 768;
    const auto macs = static_cast<double>(m * n);
    const Numbers<uint8_t> x(m * n), codes(m * n / 2);
    const Numbers<> a(n), scales(m * n / 32), from(m * n), y(m * n);
    std::vector<int64_t> places(static_cast<std::size_t>(m));
    for (int64_t i = 0; i < m; ++i) places[static_cast<std::size_t>(i)] = i * 37 % m;
    const Numbers<int64_t> indices(places);
    measure(named("gpu_gather", {m, n}), 0, 2 * y.bytes(), [&](Queue& q) {
      gather(q, onnxc::Tensor<float>{y.data(), {m, n}}, onnxc::Tensor<const float>{from.data(), {m, n}},
             onnxc::Tensor<const int64_t>{indices.data(), {m}}, {.axis = 0});
    });
    measure(named("gpu_sum_bytes_last", {m, n}), macs, x.bytes(),
            [&](Queue& q) { sum_bytes_last(q, x.data(), y.data(), {.outer = m, .r = n, .x_row = n}); });
    measure(named("gpu_sum_bytes_middle", {m, n}), macs, x.bytes(), [&](Queue& q) {
      sum_bytes_middle(q, x.data(), y.data(), {.outer = 1, .r = m, .inner = n, .x_row = n, .x_outer = 0, .y_outer = n});
    });
    measure(named("gpu_gemv_nbits", {1, m, n}), macs, codes.bytes() + scales.bytes(), [&](Queue& q) {
      gemv_nbits<4, 1>(q, y.data(), a.data(), codes.data(), scales.data(), nullptr, {.m = 1, .n = m, .k = n, .block = 32});
    });
  }
  for (const int64_t size : {14, 56, 112}) {
    const int64_t s = std::max<int64_t>(size / shrink, 7), c = 64, k = 3;
    const Numbers<uint8_t> x(s * s * c), y(s * s * c);
    measure(named("gpu_max_pool_bytes", {s, s, c}), static_cast<double>(s * s * c * k * k), x.bytes() + y.bytes(), [&](Queue& q) {
      max_pool_bytes(q, x.data(), y.data(),
                     {.h = s, .w = s, .c = c, .oh = s, .ow = s, .kh = k, .kw = k, .pad_top = 1, .pad_left = 1, .x_pixel = c, .y_pixel = c});
    });
  }
}

void rows() {
  for (const int64_t count : {128, 2048, 16384}) {
    const int64_t m = small(count), n = 768;
    const Numbers<> a(m * n), b(m * n), y(m * n);
    const auto macs = static_cast<double>(m * n);
    measure(named("gpu_map", {m, n}), macs, 3 * y.bytes(), [&](Queue& q) {
      map<AddTwo>(q, {m * n}, onnxc::Stream{y.data()}, onnxc::Stream{static_cast<const float*>(a.data())},
                  onnxc::Stream{static_cast<const float*>(b.data())});
    });
    measure(named("gpu_copy", {m, n}), 0, 2 * y.bytes(), [&](Queue& q) { copy_strided(q, {m, n}, y.data(), {n, 1}, a.data(), {n, 1}); });
    measure(named("gpu_copy", {m, n}, "_turned"), 0, 2 * y.bytes(),
            [&](Queue& q) { copy_strided(q, {n, m}, y.data(), {m, 1}, a.data(), {1, n}); });
    measure(named("gpu_softmax_in_block", {m, n}), macs, 2 * y.bytes(),
            [&](Queue& q) { softmax_in_block<false>(q, a.data(), y.data(), {.rows = m, .n = n, .x_row = n, .y_row = n}); });
    measure(named("gpu_softmax_in_warp", {m * 3, 256}), macs, 2 * y.bytes(),
            [&](Queue& q) { softmax_in_warp<8, false>(q, a.data(), y.data(), {.rows = m * 3, .n = 256, .x_row = 256, .y_row = 256}); });
    measure(named("gpu_layer_norm", {m, n}), macs, 2 * y.bytes(),
            [&](Queue& q) { norm<true>(q, a.data(), y.data(), {.rows = m, .n = n, .x_row = n, .y_row = n}); });
    measure(named("gpu_reduce_last", {m, n}), macs, a.bytes(), [&](Queue& q) {
      reduce_last<onnxc::scalar::Sum, onnxc::scalar::Same>(q, a.data(), y.data(), {.outer = m, .r = n, .x_row = n});
    });
    measure(named("gpu_reduce_middle", {m, n}), macs, a.bytes(), [&](Queue& q) {
      reduce_middle<onnxc::scalar::Sum, onnxc::scalar::Same>(q, a.data(), y.data(),
                                                             {.outer = 1, .r = m, .inner = n, .x_row = n, .x_outer = 0, .y_outer = n});
    });
    measure(named("gpu_pack_rows", {m, n}), 0, 2 * y.bytes(),
            [&](Queue& q) { pack_rows(q, y.data(), a.data(), {.rows = n, .k = m, .to_stride = m, .from_row = 1, .from_k = n}); });
    measure(named("gpu_gemv", {1, m, n}), macs, a.bytes(), [&](Queue& q) {
      gemv<1>(q, y.data(), b.data(), a.data(), {.m = 1, .n = m, .k = n, .a_stride = n, .b_stride = n, .y_stride = m});
    });
  }
}

}  // namespace

int main(int count, char** arguments) {
  require(count == 3, "two arguments");
  seconds = std::atof(arguments[1]);
  shrink = std::max(1, std::atoi(arguments[2]));
  require(open_stream(stream));
  rows();
  bytes_and_rows();
  convolutions();
  products<ThreeTf32>("gpu_gemm");
  products<OnceTf32>("gpu_gemm_once_tf32");
  products<F16>("gpu_gemm_f16");
  products<S8>("gpu_gemm_s8");
  close_stream(stream);
}
