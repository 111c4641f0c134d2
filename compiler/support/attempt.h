// What a rule makes, or why it makes nothing.
//
//   Attempt<ValueId> product(...) {
//     if (!has_known_weights) return Refusal{"its weights are not constant"};
//     return sums;
//   }
#pragma once
#include <optional>
#include <string>
#include <utility>

namespace onnxc {

/// The reason for which a rule does not apply, as the end of a sentence for the user: what was found, and what would do.
struct Refusal {
  std::string why;
};

template <class T>
class Attempt {
 public:
  Attempt(T value) : value_(std::move(value)) {}
  Attempt(Refusal refusal) : why_(std::move(refusal.why)) {}
  /// The rule is not for such a case.
  Attempt(std::nullopt_t) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  /// Empty for a result, and where the rule is not for such a case.
  const std::string& why() const { return why_; }
  Refusal refusal() const { return {why_}; }

 private:
  std::optional<T> value_;
  std::string why_;
};

}  // namespace onnxc
