// Host values in the form in which the C ABI passes values that are no plain tensors.
#pragma once
#include <onnxc/model.h>

#include <deque>
#include <vector>

#include "tools/driver/host_value.h"

namespace onnxc {

/// An onnxc_value with a copy of a host value, and everything it points to.
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

/// A copy of the content of an onnxc_value. Throws Error{Internal} if it is invalid.
HostValue to_host(const onnxc_value& value);

/// Copies of the strings at `strings`. Throws Error{Internal} if they are invalid.
std::vector<std::string> to_host(const onnxc_string* strings, std::size_t count);

/// Views of strings, which the caller keeps.
std::vector<onnxc_string> to_abi(const std::vector<std::string>& strings);

}  // namespace onnxc
