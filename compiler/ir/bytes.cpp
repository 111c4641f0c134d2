#include "compiler/ir/bytes.h"

#include <algorithm>
#include <utility>

#include "compiler/support/mapped_file.h"

namespace onnxc {

/// Below that memory is cheaper than a file, and pages are not worth giving back.
constexpr std::size_t kLeastScratch = std::size_t{1} << 20, kLeastGivenBack = std::size_t{1} << 18;

void Bytes::assign(std::size_t count, std::byte value) {
  clear();
  if (count >= kLeastScratch && value == std::byte{0}) {
    shared_ = map_scratch(count);
    shared_bytes_ = count;
    place_ = shared_ ? Place::Scratch : Place::Memory;
  }
  if (!shared_) own_.assign(count, value);
}

void Bytes::resize(std::size_t count) {
  if (empty()) assign(count, std::byte{0});
  else in_memory().resize(count);
}

std::byte* Bytes::change_shared() {
  if (place_ != Place::Scratch || shared_.use_count() > 1) {
    Bytes own(shared_bytes_);
    std::copy_n(shared_.get(), shared_bytes_, own.data());
    *this = std::move(own);
  }
  return shared_ ? const_cast<std::byte*>(shared_.get()) : own_.data();
}

std::vector<std::byte>& Bytes::in_memory() {
  if (shared_) *this = Bytes(std::vector<std::byte>(shared_.get(), shared_.get() + shared_bytes_));
  return own_;
}

void Bytes::put_away() {
  if (size() < kLeastScratch) return;
  if (place_ == Place::Memory) {
    Bytes away(size());
    std::copy_n(std::as_const(*this).data(), size(), away.data());
    *this = std::move(away);
  }
  give_back();
}

void Bytes::give_back() const {
  if (place_ != Place::Memory && shared_bytes_ >= kLeastGivenBack) give_back_pages(shared_.get(), shared_bytes_);
}

}  // namespace onnxc
