// Cast between numbers and strings.
#pragma once
#include "../../heap.hpp"
#include "../../strings.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

template <class T>
Status cast_to_strings(Heap heap, onnxc_string* y, Tensor<const T> x) {
  char* text = nullptr;
  if (const auto status = heap.allocate(text, x.count() * kNumberCharacters)) return status;
  for (int64_t i = 0; i < x.count(); ++i) y[i] = format_number(x.data[i], text + i * kNumberCharacters);
  return {};
}

template <class T>
Status cast_from_strings(T* y, Tensor<const onnxc_string> x) {
  for (int64_t i = 0; i < x.count(); ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      int64_t number = 0;
      if (const auto status = parse_number(x.data[i], number)) return status;
      y[i] = number != 0;
    } else {
      if (const auto status = parse_number(x.data[i], y[i])) return status;
    }
  }
  return {};
}

}  // namespace onnxc::scalar
