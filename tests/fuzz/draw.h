// Random choices, and the odd values among which mistakes hide.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace onnxc::fuzz {

class Draw {
 public:
  explicit Draw(std::minstd_rand& random) : random_(random) {}

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  template <class List>
  auto* any_of(List* list) {
    return list->empty() ? nullptr : list->Mutable(static_cast<int>(below(static_cast<std::size_t>(list->size()))));
  }

  int64_t number() {
    constexpr std::array<int64_t, 22> kOdd{0,  1,  -1,  2,   3,   -2,    4,       5,         7,         8,         9,
                                           10, 16, 127, 128, 255, 65536, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    return one_in(8) ? static_cast<int64_t>(random_()) * (one_in(2) ? 1 : -1) : kOdd[below(one_in(3) ? kOdd.size() : 12)];
  }
  float real() {
    constexpr std::array kOdd{0.0F,
                              -0.0F,
                              1.0F,
                              -1.0F,
                              0.5F,
                              2.0F,
                              1e-40F,
                              1e38F,
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
    return kOdd[below(kOdd.size())];
  }
  std::string text() {
    static const std::array<std::string, 18> kWords{
        "",    "NOTSET", "SAME_UPPER", "linear",    "nearest",        "cubic", "constant",      "edge",     "wrap",
        "add", "max",    "float",      "ij,jk->ik", "...i,...i->...", "i",     "*/ evil(); /*", "a\n\"b\\", std::string(300, 'x')};
    return kWords[below(kWords.size())];
  }
  std::string new_name() { return "v" + std::to_string(below(100000)); }

 private:
  std::minstd_rand& random_;
};

}  // namespace onnxc::fuzz
