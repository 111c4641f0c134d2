// Host values as the C ABI passes what is no plain tensor.
#pragma once
#include <onnxc/model.h>

#include <deque>
#include <vector>

#include "tools/driver/host_value.h"

namespace onnxc {

/// An onnxc_value of a copy of a host value, with all that it points to.
class AbiValue {
 public:
  explicit AbiValue(const HostValue& value);
  AbiValue(AbiValue&&) = default;
  const onnxc_value* get() const { return &values_.front().front(); }

 private:
  onnxc_value make(const HostValue& value);

  std::deque<std::vector<onnxc_value>> values_;
  std::deque<TensorData> tensors_;
  std::deque<std::vector<onnxc_string>> strings_;
};

/// A copy of what an onnxc_value holds. Throws Error{Internal} where it is none.
HostValue to_host(const onnxc_value& value);

/// The strings at `strings`, copied. Throws Error{Internal} for those that cannot be.
std::vector<std::string> to_host(const onnxc_string* strings, std::size_t count);

/// Views of strings that live elsewhere.
std::vector<onnxc_string> to_abi(const std::vector<std::string>& strings);

}  // namespace onnxc
