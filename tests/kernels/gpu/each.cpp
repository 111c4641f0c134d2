// Reference kernels by the threads of a GPU, in the emulator: the same bits as on the CPU, and the largest code of what
// went wrong.
#include <onnxc/gpu/each.hpp>
#include <onnxc/map_scalar.hpp>
#include <onnxc/scalar/conv.hpp>
#include <onnxc/scalar/gather.hpp>
#include <onnxc/scalar/softmax.hpp>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

std::vector<float> some(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(static_cast<int>(i * 37 % 61) - 30) / 8;
  return v;
}

struct AddTanh {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A a, B b) {
    return fn::tanh(fn::add(a, b));
  }
};

/// enqueue(queue, y) on the device and compute(y) here give the same.
template <class Enqueue, class Compute>
void check_same(std::size_t count, Enqueue enqueue, Compute compute) {
  std::vector<float> expected(count, -1.0f);
  compute(expected.data());
  for_orders([&] {
    const OnDevice<float> y(std::vector<float>(count, -1.0f));
    const OnDevice<unsigned> words(std::vector<unsigned>(2));
    Queue queue(nullptr, words.data());
    enqueue(queue, y.data());
    REQUIRE(!queue.result());
    CHECK(y.host() == expected);
    CHECK(words.host()[0] == 0);
  });
}

}  // namespace

TEST_CASE("each thread computes one share") {
  const std::vector<float> x = some(2 * 3 * 8 * 8), w = some(4 * 3 * 3 * 3);
  const OnDevice<float> device_x(x), device_w(w);
  const float *const dx = device_x.data(), *const dw = device_w.data();
  const auto conv = [](float* y, const float* from, const float* weights, Share share) {
    scalar::conv(Tensor<float>{y, {2, 4, 6, 6}}, Tensor<const float>{from, {2, 3, 8, 8}}, Tensor<const float>{weights, {4, 3, 3, 3}},
                 static_cast<const float*>(nullptr), {.strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0}}, share);
  };
  for (const int64_t items : {288, 100, 1}) {
    check_same(
        288, [&](Queue& q, float* y) { each(q, items, [=] ONNXC_LAMBDA(Share share) { conv(y, dx, dw, share); }); },
        [&](float* y) { conv(y, x.data(), w.data(), {}); });
  }
  check_same(
      120, [&](Queue& q, float* y) { each(q, 40, [=] ONNXC_LAMBDA(Share share) { scalar::softmax(share, y, dx, 8, 3, 5); }); },
      [&](float* y) { scalar::softmax(Share{}, y, x.data(), 8, 3, 5); });
  check_same(
      30,
      [&](Queue& q, float* y) {
        each(q, 30, [=] ONNXC_LAMBDA(Share share) {
          map_scalar<AddTanh>(share, {3, 10}, onnxc::Stream{y, {10}}, onnxc::Stream{dx, {10}}, Fixed{dw, {1}});
        });
      },
      [&](float* y) {
        map_scalar<AddTanh>(Share{}, {3, 10}, onnxc::Stream{y, {10}}, onnxc::Stream{x.data(), {10}}, Fixed{w.data(), {1}});
      });
  check_same(5, [&](Queue& q, float* y) { each(q, 0, [=] ONNXC_LAMBDA(Share) { y[0] = 1; }); }, [](float*) {});
}

TEST_CASE("what a share meets is told by the largest code") {
  const OnDevice<float> x(some(40)), y(std::vector<float>(40));
  const OnDevice<int64_t> indices(std::vector<int64_t>{0, 3, 8, -9});
  const OnDevice<unsigned> words(std::vector<unsigned>(2));
  for_orders([&] {
    Queue queue(nullptr, words.data());
    queue.clear(words.data(), 2 * sizeof(unsigned));
    float* const to = y.data();
    const float* const from = x.data();
    const int64_t* const at = indices.data();
    each(queue, 20, [=] ONNXC_LAMBDA(Share share) {
      return scalar::gather(Tensor<float>{to, {4, 5}}, Tensor<const float>{from, {8, 5}}, Tensor<const int64_t>{at, {4}}, {}, share);
    });
    REQUIRE(!queue.result());
    CHECK(words.host()[0] == ONNXC_INDEX_OUT_OF_RANGE);
    each(queue, 1000, [=] ONNXC_LAMBDA(Share share) {
      return Status{share.index % 2 == 0 ? ONNXC_BAD_VALUE : share.index % 3 == 0 ? ONNXC_BAD_DIMENSION : ONNXC_OK};
    });
    CHECK(words.host()[0] == ONNXC_BAD_VALUE);
  });
}
