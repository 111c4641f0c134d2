// Linear attention: its state, step by step.
#include <onnxc/scalar/linear_attention.hpp>

#include <catch2/catch.hpp>
#include <vector>

using namespace onnxc;

namespace {

/// One head of two keys and one value. The states that are left, of so many tokens.
std::vector<float> states_after(int64_t tokens, int64_t window, const std::vector<float>& past) {
  const float k[] = {1, 0, 0, 2, 1, 1}, v[] = {3, 5, 7}, q[] = {1, 1, 1, 1, 1, 1};
  const int64_t slots = window > 0 ? window : 1;
  std::vector<float> y(3), present(static_cast<std::size_t>(2 * slots), -1), work(3);
  const scalar::LinearAttentionParams params{.q_heads = 1, .k_heads = 1, .kv_heads = 1, .scale = 1, .window = window};
  scalar::linear_attention(Tensor<float>{y.data(), {1, tokens, 1}}, Tensor<float>{present.data(), {slots, 1, 2, 1}},
                           Tensor<const float>{q, {1, tokens, 2}}, Tensor<const float>{k, {1, tokens, 2}},
                           Tensor<const float>{v, {1, tokens, 1}}, Tensor<const float>{past.empty() ? nullptr : past.data(), {1, 1, 2, 1}},
                           Tensor<const float>{nullptr, {0}}, Tensor<const float>{nullptr, {0}}, work.data(), params);
  return present;
}

}  // namespace

TEST_CASE("the state of linear attention is that of the last token, or the past where there is none") {
  using State = std::vector<float>;
  CHECK(states_after(0, 0, {}) == State{0, 0});
  CHECK(states_after(0, 0, {4, 6}) == State{4, 6});
  CHECK(states_after(1, 0, {}) == State{3, 0});
  CHECK(states_after(2, 0, {4, 6}) == State{7, 16});
  CHECK(states_after(3, 0, {}) == State{10, 17});
}

TEST_CASE("a window of states ends with the last token, and begins with zeros") {
  using State = std::vector<float>;
  CHECK(states_after(1, 2, {}) == State{0, 0, 3, 0});
  CHECK(states_after(2, 2, {}) == State{3, 0, 3, 10});
  CHECK(states_after(3, 2, {}) == State{3, 10, 10, 17});
}
