// Kernels that can be divided give the same bits in any number of shares as in one: that is how threads of a GPU run
// them. Of what they write, each byte is written by one share alone.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <onnxc/fn.hpp>

#include "common.hpp"

namespace onnxc::test {

/// What kernels write: arrays of any types, one behind the other.
class Outputs {
 public:
  explicit Outputs(unsigned char fill) : fill_(fill) {}
  /// The next array. A kernel asks for the same ones in each run.
  template <class T>
  T* array(int64_t count) {
    if (next_ == arrays_.size()) arrays_.emplace_back(static_cast<size_t>(count) * sizeof(T), fill_);
    return reinterpret_cast<T*>(arrays_[next_++].data());
  }
  template <class T>
  Tensor<T> tensor(const Shape& shape) {
    return {array<T>(shape.count()), shape};
  }
  void rewind() { next_ = 0; }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all;
    for (const auto& a : arrays_) all.insert(all.end(), a.begin(), a.end());
    return all;
  }

 private:
  unsigned char fill_;
  size_t next_ = 0;
  std::vector<std::vector<unsigned char>> arrays_;
};

template <class Call>
int32_t run(Call& call, Outputs& to, Share share) {
  to.rewind();
  if constexpr (std::is_void_v<decltype(call(to, share))>) {
    call(to, share);
    return ONNXC_OK;
  } else {
    return call(to, share).code;
  }
}

/// call(outputs, share) in shares is the whole, for `count` elements or lines that can be told apart. Returns the code
/// of the whole.
template <class Call>
int32_t check_shares(int64_t count, Call call) {
  Outputs expected(0x5a);
  const int32_t code = run(call, expected, Share{});
  for (const int64_t shares : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, count, count + 5}) {
    if (shares < 1) continue;
    const int n = static_cast<int>(shares);
    CAPTURE(n);
    Outputs together(0x5a);
    int32_t found = ONNXC_OK;
    for (int i = 0; i < n; ++i) {
      const int32_t one = run(call, together, Share{n - 1 - i, n});  // in no particular order
      if (one != ONNXC_OK) {
        CHECK(one == code);
        found = one;
      }
    }
    CHECK(found == code);
    if (code != ONNXC_OK) continue;
    const std::vector<unsigned char> whole = expected.bytes();
    CHECK((together.bytes() == whole));
    // A byte that does not depend on what was there is one that the share has written.
    std::vector<int> writers(whole.size());
    for (int i = 0; i < n; ++i) {
      Outputs one(0x5a), other(0xa5);
      run(call, one, Share{i, n});
      run(call, other, Share{i, n});
      const std::vector<unsigned char> a = one.bytes(), b = other.bytes();
      for (size_t k = 0; k < whole.size(); ++k) writers[k] += a[k] == b[k];
    }
    CHECK(std::all_of(writers.begin(), writers.end(), [](int w) { return w == 1; }));
  }
  return code;
}

template <class T>
std::vector<T> values(int64_t n, uint32_t seed = 1, float scale = 8) {
  std::vector<T> v;
  for (float x : numbers(n, seed)) v.push_back(fn::cast<T>(x * scale));
  return v;
}
/// Indices in [-extent, extent).
template <class I>
std::vector<I> places(int64_t n, int64_t extent, uint32_t seed = 5) {
  std::vector<I> v;
  for (float x : numbers(n, seed)) v.push_back(static_cast<I>(std::floor(x * static_cast<float>(extent))));
  return v;
}
template <class T>
Tensor<const T> of(const std::vector<T>& v, const Shape& shape) {
  REQUIRE(static_cast<int64_t>(v.size()) == shape.count());
  return {v.data(), shape};
}
template <class... T, class F>
void for_types(F f) {
  (f.template operator()<T>(), ...);
}
template <class F>
void for_numbers(F f) {
  for_types<float, double, float16, bfloat16, int8_t, uint8_t, int32_t, int64_t, uint64_t>(f);
}
template <class F>
void for_floats(F f) {
  for_types<float, double, float16, bfloat16>(f);
}

}  // namespace onnxc::test
