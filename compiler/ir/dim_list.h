// DimList: the extents of a tensor, or the elements of a small integer tensor.
#pragma once
#include <utility>
#include <vector>

#include "compiler/ir/dim.h"
#include "compiler/support/error.h"

namespace onnxc {

/// A list whose [], front and back check their bounds, since rules read extents of tensors whose rank an unknown
/// model states. Throws Misread.
class DimList : public std::vector<Dim> {
 public:
  using vector::vector;
  DimList() = default;
  DimList(std::vector<Dim> list) : vector(std::move(list)) {}  // NOLINT: a list of Dims is one

  Dim& operator[](std::size_t i) { return vector::operator[](checked(i)); }
  const Dim& operator[](std::size_t i) const { return vector::operator[](checked(i)); }
  Dim& front() { return (*this)[0]; }
  const Dim& front() const { return (*this)[0]; }
  Dim& back() { return (*this)[size() - 1]; }
  const Dim& back() const { return (*this)[size() - 1]; }
  void pop_back() {
    checked(0);
    vector::pop_back();
  }

 private:
  std::size_t checked(std::size_t i) const {
    if (i >= size()) refuse(i, size());
    return i;
  }
  [[noreturn]] static void refuse(std::size_t i, std::size_t size);
};

}  // namespace onnxc
