// A number of JSON on its way into a tensor.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "serving/request.h"

namespace onnxc::serving {

/// A number as it stands in JSON: integers keep all their digits.
struct Number {
  enum class Kind : uint8_t { Signed, Unsigned, Real } kind;
  union {
    int64_t as_signed;
    uint64_t as_unsigned;
    double as_real;
  };
  double real() const {
    return kind == Kind::Signed ? static_cast<double>(as_signed) : kind == Kind::Unsigned ? static_cast<double>(as_unsigned) : as_real;
  }
};

/// One element into `to`. The range of its type is kept.
template <class T>
void store_number(const Number& number, char* to, const std::string& input) {
  T value{};
  bool fits = true;
  if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(number.real());
    fits = std::isfinite(value);
  } else if (number.kind == Number::Kind::Signed) {
    fits = std::in_range<T>(number.as_signed);
    if (fits) value = static_cast<T>(number.as_signed);
  } else if (number.kind == Number::Kind::Unsigned) {
    fits = std::in_range<T>(number.as_unsigned);
    if (fits) value = static_cast<T>(number.as_unsigned);
  } else {
    // 3.0 is an integer, and so is 3e2.
    const double real = number.as_real;
    fits = real == std::floor(real) && real >= static_cast<double>(std::numeric_limits<T>::min()) &&
           real < std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (fits) value = static_cast<T>(real);
  }
  if (!fits) throw RequestError(400, "input '" + input + "': an element does not fit its datatype");
  std::memcpy(to, &value, sizeof value);
}

using StoreNumber = void (*)(const Number&, char*, const std::string&);

inline StoreNumber store_of(const DataType& type) {
  switch (type.onnx) {
    case 1: return store_number<float>;
    case 2: return store_number<uint8_t>;
    case 3: return store_number<int8_t>;
    case 4: return store_number<uint16_t>;
    case 5: return store_number<int16_t>;
    case 6: return store_number<int32_t>;
    case 7: return store_number<int64_t>;
    case 11: return store_number<double>;
    case 12: return store_number<uint32_t>;
    case 13: return store_number<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace onnxc::serving
