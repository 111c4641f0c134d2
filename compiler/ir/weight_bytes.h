// The bytes of weights as a kernel reads them. Large ones that are made of a model's constants, as packed panels are, are made when somebody
// reads them and not kept: a program of many gigabytes holds little but what its model's file holds anyway.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "compiler/ir/bytes.h"
#include "compiler/ir/tensor.h"

namespace onnxc {

class WeightBytes {
 public:
  WeightBytes() = default;
  /// Kept, in a temporary file if there are many.
  WeightBytes(Bytes bytes);
  WeightBytes(std::vector<std::byte> bytes) : WeightBytes(Bytes(std::move(bytes))) {}
  /// Of a draft, which has none: how many there would be.
  static WeightBytes planned(int64_t size);
  /// What `make` gives of these constants, which are kept: so many bytes, the same each time.
  static WeightBytes made(int64_t size, std::vector<Constant> from, std::function<Bytes()> make);

  std::size_t size() const { return size_; }
  bool are_planned() const { return size_ != 0 && held_ == nullptr && make_ == nullptr; }
  /// For the moment: whoever keeps the result keeps memory. Pages of files are given back by its owner (Bytes::give_back).
  std::shared_ptr<const Bytes> get() const;
  /// The same for equal bytes that come from equal constants.
  std::size_t digest() const { return digest_; }
  friend bool operator==(const WeightBytes& a, const WeightBytes& b);

 private:
  std::size_t size_ = 0, digest_ = 0;
  std::shared_ptr<const Bytes> held_{};
  std::vector<Constant> from_;
  std::function<Bytes()> make_;
};

}  // namespace onnxc
