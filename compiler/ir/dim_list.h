// DimList: the extents of a tensor, or the elements of a small integer tensor.
#pragma once
#include <utility>
#include <vector>

#include "compiler/ir/dim.h"
#include "compiler/support/error.h"

namespace onnxc {

/// A model's tensor has another rank, or another number of elements, than what reads it asked for. The walk that infers types makes an error of the node of it
/// (passes/propagate.cpp); anywhere else it is our bug.
class OutsideOfList : public Error {
 public:
  OutsideOfList(std::size_t index, std::size_t size);
};

/// A list whose elements are only reached within its bounds: rules read extents of tensors whose rank a stranger's model states. Throws OutsideOfList.
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
    if (i >= size()) throw OutsideOfList(i, size());
    return i;
  }
};

}  // namespace onnxc
