#include "compiler/ir/weight_bytes.h"

#include <string_view>
#include <utility>

namespace onnxc {
namespace {

/// Below that it is not worth making them twice.
constexpr int64_t kLeastMade = int64_t{1} << 16;

std::size_t hash_of(const Bytes& bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

WeightBytes::WeightBytes(Bytes bytes) : size_(bytes.size()), digest_(hash_of(bytes)) {
  bytes.put_away();
  held_ = std::make_shared<const Bytes>(std::move(bytes));
}

WeightBytes WeightBytes::planned(int64_t size) {
  WeightBytes result;
  result.size_ = static_cast<std::size_t>(size);
  return result;
}

WeightBytes WeightBytes::made(int64_t size, std::vector<Constant> from, std::function<Bytes()> make) {
  if (size < kLeastMade) return {make()};
  WeightBytes result = planned(size);
  for (const Constant& constant : from) {
    if (constant == nullptr) continue;
    result.digest_ = result.digest_ * 31 + hash_of(constant->bytes);
    constant->bytes.give_back();
  }
  result.from_ = std::move(from);
  result.make_ = std::move(make);
  return result;
}

std::shared_ptr<const Bytes> WeightBytes::get() const {
  if (make_ == nullptr) return held_ != nullptr ? held_ : std::make_shared<const Bytes>();
  auto bytes = std::make_shared<const Bytes>(make_());
  ONNXC_CHECK(bytes->size() == size_, "packed weights have the size that was foreseen");
  for (const Constant& constant : from_) {
    if (constant != nullptr) constant->bytes.give_back();
  }
  return bytes;
}

bool operator==(const WeightBytes& a, const WeightBytes& b) {
  if (a.size_ != b.size_ || a.digest_ != b.digest_ || a.are_planned() || b.are_planned()) return false;
  return (a.held_ != nullptr && a.held_ == b.held_) || *a.get() == *b.get();
}

}  // namespace onnxc
