// The bytes of a constant. A model's weights may be larger than memory, so there are three places for them:
//
//   memory    few bytes that were made; copies are copies
//   a file    external data where it lies (support/mapped_file.h); copies look at the same bytes
//   scratch   many bytes that were made, in a temporary file; copies look at the same bytes
//
// Whoever changes bytes that others look at, or those of a file, gets bytes of its own first. So a pass may copy a constant for
// nothing, and pays for what it changes.
#pragma once
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onnxc {

class Bytes {
 public:
  using value_type = std::byte;
  using iterator = std::byte*;
  using const_iterator = const std::byte*;

  Bytes() = default;
  Bytes(std::vector<std::byte> own) : own_(std::move(own)) {}
  Bytes(std::initializer_list<std::byte> list) : own_(list) {}
  /// Zeros.
  explicit Bytes(std::size_t count) { assign(count, std::byte{0}); }
  /// Those of a file that is mapped.
  Bytes(std::shared_ptr<const std::byte> first, std::size_t count) : place_(Place::File), shared_(std::move(first)), shared_bytes_(count) {}
  /// The values' own, without a copy.
  template <class T>
  static Bytes of(std::vector<T> values) {
    return of(std::make_shared<const std::vector<T>>(std::move(values)));
  }
  static Bytes of(std::string text) { return of(std::make_shared<const std::string>(std::move(text))); }
  template <class Container>
  static Bytes of(std::shared_ptr<const Container> owner) {
    const auto* const first = reinterpret_cast<const std::byte*>(owner->data());
    const std::size_t count = owner->size() * sizeof(typename Container::value_type);
    Bytes bytes(std::shared_ptr<const std::byte>(std::move(owner), first), count);
    bytes.place_ = Place::Memory;
    return bytes;
  }

  std::size_t size() const { return shared_ ? shared_bytes_ : own_.size(); }
  bool empty() const { return size() == 0; }
  const std::byte* data() const { return shared_ ? shared_.get() : own_.data(); }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size(); }
  std::byte operator[](std::size_t i) const { return data()[i]; }

  std::byte* data() {
    if (shared_) [[unlikely]]
      return change_shared();
    return own_.data();
  }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size(); }
  std::byte& operator[](std::size_t i) { return data()[i]; }

  void clear() { *this = Bytes(); }
  void assign(std::size_t count, std::byte value);
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    *this = Bytes(std::vector<std::byte>(first, last));
  }
  void resize(std::size_t count);
  void push_back(std::byte value) { in_memory().push_back(value); }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    std::vector<std::byte>& own = in_memory();
    own.insert(own.end(), first, last);
  }

  /// Puts many bytes that are in memory into a temporary file.
  void put_away();
  /// Takes pages that a file has out of memory, as they are read again when they are needed.
  void give_back() const;

  friend bool operator==(const Bytes& a, const Bytes& b) {
    return a.size() == b.size() && (a.empty() || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

 private:
  std::byte* change_shared();
  std::vector<std::byte>& in_memory();

  enum class Place { Memory, File, Scratch };  // scratch may be changed by its only owner
  Place place_ = Place::Memory;
  std::vector<std::byte> own_;
  std::shared_ptr<const std::byte> shared_{};  // null: the bytes are `own_`
  std::size_t shared_bytes_ = 0;
};

}  // namespace onnxc
