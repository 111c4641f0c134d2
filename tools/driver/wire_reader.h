// Reads protobuf's wire format: a message is a list of (field number, value), where a value is a number or a sequence
// of bytes.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

/// Walks over the fields of one message:   for (WireReader r(bytes); r.next();) if (r.field() == 4) name = r.bytes();
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  bool next() {
    if (rest_.empty()) return false;
    const uint64_t key = read_varint();
    field_ = static_cast<uint32_t>(key >> 3);
    kind_ = static_cast<uint32_t>(key & 7);
    switch (kind_) {
      case 0: number_ = read_varint(); break;
      case 1: number_ = read_fixed<uint64_t>(); break;
      case 2: bytes_ = take(read_varint()); break;
      case 5: number_ = read_fixed<uint32_t>(); break;
      default: fail();
    }
    return true;
  }

  uint32_t field() const { return field_; }
  bool is_bytes() const { return kind_ == 2; }
  /// The value of a varint or fixed field. Floats are given as bits.
  uint64_t number() const { return number_; }
  std::string_view bytes() const {
    if (!is_bytes()) fail();
    return bytes_;
  }

  /// Calls add(bits) for each element of a repeated number, packed or not. `width`: 0 for varints, otherwise 4 or 8
  /// bytes.
  template <class Add>
  void for_each_number(int width, Add add) const {
    if (!is_bytes()) {
      add(number_);
      return;
    }
    WireReader packed(bytes_);
    while (!packed.rest_.empty()) {
      add(width == 0 ? packed.read_varint() : width == 4 ? packed.read_fixed<uint32_t>() : packed.read_fixed<uint64_t>());
    }
  }

 private:
  [[noreturn]] static void fail() { throw Error(ErrorCode::DamagedData, "the bytes are not a protobuf message"); }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T read_fixed() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  uint64_t read_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view rest_, bytes_;
  uint32_t field_ = 0, kind_ = 0;
  uint64_t number_ = 0;
};

}  // namespace onnxc
