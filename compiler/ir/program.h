// Program: how to compute it.
//
// A Program is a list of buffers and a list of steps in the order of execution. A step calls one kernel: it names a row of the catalogue and
// gives the arguments in the order of the kernel's signature, so that codegen prints any step without knowing what it computes. step.h has the other
// kinds of steps.
//
//   buffers   0 input x   1 weights w0   2 arena +0 [1, 3) 12544 bytes   3 output y
//   steps     1 conv<14, 2>(x, w0, %2, {.h = 28, ...}, Epilogue<E0>)
//
// Sizes, offsets, extents and loop bounds are Dims: constants in the static case. A buffer's lifetime is a half-open range of step numbers.
//
// A buffer whose size has a bound lies in the arena at that size; one without lies on the heap, the caller's allocator, taken by an Allocate step or given
// by a kernel. What is no tensor (sequences, optionals, maps) is an Object: a variable that kernels point to.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/step.h"
#include "compiler/ir/tensor.h"
#include "compiler/ir/type.h"

namespace onnxc {

struct Buffer {
  enum class Place { Input, Output, Weights, Arena, Heap, Object };
  std::string name;  ///< of the value it holds
  Place place = Place::Arena;
  ElementType element = ElementType::Undefined;  ///< Input, Output: sub-byte elements lie packed, as ONNX packs them
  Extents extents{};                             ///< of the value, in ONNX's order, for comments and interfaces
  Dim bytes{};                                   ///< storage, with padding
  Dim pixel_stride = 0;                          ///< elements from one pixel to the next where channels lie last; 0: row-major
  int64_t alignment = 64;
  int index = 0;              ///< Input, Output: its number. Weights: of the constant
  BufferId parent = -1;       ///< a view: lives inside `parent`, from byte `offset` on
  Dim offset = 0;             ///< Arena: place in the arena, set by plan_memory where sizes are constant. View: bytes into the parent
  int first = -1, last = -1;  ///< Arena: live in steps [first, last)
  /// Heap: points to what is not its own: an element of a sequence, a part of another buffer.
  bool borrowed = false;
  /// Input, Output: passed as an onnxc_value. Object: always.
  bool is_value = false;
  bool is_ranked = true;  ///< false: a tensor, as an onnxc_value, that tells its rank
  Type::Kind kind = Type::Kind::Tensor;
};

/// What the buffer's pointer points to: bytes where elements are packed.
inline ElementType stored_element(const Buffer& buffer) {
  const bool interface = buffer.place == Buffer::Place::Input || buffer.place == Buffer::Place::Output;
  return interface && !buffer.is_value && is_sub_byte(buffer.element) ? ElementType::U8 : buffer.element;
}

/// A constant as the kernel that reads it wants it.
struct Weights {
  std::string name;  ///< w0, w1, ...
  std::string from;  ///< ONNX name, for comments
  ElementType element = ElementType::Undefined;
  std::shared_ptr<const std::vector<std::byte>> bytes;
  std::shared_ptr<const std::vector<std::string>> strings{};  ///< where the elements are strings, instead of bytes
  int64_t draft_bytes = 0;  ///< where the program is a draft, and `bytes` is null: how many there would be
  std::optional<int64_t>
      wide_bytes{};  ///< where they are stored narrower: so many as f32. Of their scales none; see select/weights/stored.h
};

/// Where the arena's buffers lie in a program with symbolic sizes: offset = max over those `below` of (their offset + their bytes, rounded up to the
/// alignment), else 0; at least where it has one middle with `centre`. The arena ends where the highest buffer does.
struct Placement {
  struct Place {
    BufferId buffer;
    std::vector<BufferId> below;  ///< of earlier places
    BufferId centre = -1;         ///< likewise, or none: threads then write where they wrote before
  };
  std::vector<Place> places;  ///< in the order in which offsets are computed
};

struct Program {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Weights> weights;
  std::vector<Expr> exprs;
  std::vector<Step> steps;
  std::vector<BufferId> inputs, outputs;  ///< by number
  std::vector<Requirement> requirements;

  std::vector<Placement> placements;  ///< where sizes are symbolic: a run takes the one that needs the least arena
  Dim arena_bytes = 0;                ///< where all sizes are constant
  Dim lower_bound =
      0;  ///< no plan takes less: max of live bytes over the steps, or more where a search has shown it; only where all sizes are constant
  Dim unshared_bytes = 0;  ///< sum of all arena buffers
  int64_t arena_alignment = 64;
  bool uses_heap = false;  ///< takes an allocator
  /// What the unit needs beside onnxc's runtime: headers as `#include` takes them, quotes or brackets included, and names of libraries (`jpeg`) in the
  /// order of the linker's command line.
  std::vector<std::string> includes, libraries;

  Buffer& operator[](BufferId id) { return buffers[static_cast<std::size_t>(id)]; }
  const Buffer& operator[](BufferId id) const { return buffers[static_cast<std::size_t>(id)]; }
};

/// Of all steps, each once.
double predicted_ns(const Program& program);
/// Multiply-adds of all steps; INT64_MAX where 64 bits do not hold them.
Dim total_macs(const Program& program);

/// `input`, `arena`.
const char* place_name(Buffer::Place place);

/// The buffer a view finally lies in.
BufferId root_of(const Program& program, BufferId buffer);

/// Text for people: buffers, steps, sizes.
std::string print_program(const Program& program);

}  // namespace onnxc
