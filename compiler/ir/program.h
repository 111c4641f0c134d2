// Program: how to compute it.
//
// A Program is a list of buffers and a list of steps in the order of execution. Most steps call a kernel: they name a
// row of the catalogue and have the arguments in the order of the kernel's signature, so that codegen can print any
// step without knowing what it computes. step.h has the other kinds of steps.
//
//   buffers   0 input x   1 weights w0   2 arena +0 [1, 3) 12544 bytes   3 output y
//   steps     1 conv<14, 2>(x, w0, %2, {.h = 28, ...}, Epilogue<E0>)
//
// Sizes, offsets, extents and loop bounds are Dims, which are constants in the static case. A buffer's lifetime is a
// half-open range of step numbers.
//
// A buffer whose size has a bound is in the arena, with that size. One without a bound is on the heap, which is the
// caller's allocator; an Allocate step or a kernel allocates it. Values that are no tensors (sequences, optionals,
// maps) are Objects: variables that kernels get a pointer to.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/branches.h"
#include "compiler/ir/device.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/state.h"
#include "compiler/ir/step.h"
#include "compiler/ir/tensor.h"
#include "compiler/ir/type.h"
#include "compiler/ir/weight_bytes.h"

namespace onnxc {

struct Buffer {
  /// The memory that the buffer lies in.
  enum class Space { Input, Output, Weights, Arena, Heap, Object };
  std::string name;  ///< of the value that it holds
  Space space = Space::Arena;
  Device device = Device::Cpu;                   ///< whose memory it is; that of a view is its parent's
  ElementType element = ElementType::Undefined;  ///< Input, Output: sub-byte elements are packed, as in ONNX
  Extents extents{};                             ///< of the value, in ONNX's order, for comments and interfaces
  Dim bytes{};                                   ///< storage, with padding
  Dim pixel_stride = 0;                          ///< elements from one pixel to the next, if channels-last; 0: row-major
  int64_t alignment = 64;
  int index = 0;         ///< the number of an input, an output or a constant
  BufferId parent = -1;  ///< a view lies inside `parent`, from byte `offset` on
  /// Arena: bytes into the arena, set by plan_memory if sizes are constant. View: bytes into the parent.
  Dim offset = 0;
  int first = -1, last = -1;  ///< Arena: live in steps [first, last)
  int region = -1;            ///< Arena, of a program with regions: the number of the one that `offset` counts from
  /// Heap: points to memory of something else: an element of a sequence, or a part of another buffer.
  bool borrowed = false;
  /// Input, Output: passed as an onnxc_value. Object: always.
  bool is_value = false;
  bool is_ranked = true;  ///< false: a tensor, passed as an onnxc_value, that states its own rank
  Type::Kind kind = Type::Kind::Tensor;
};

/// The element type that the buffer's pointer points to: bytes if elements are packed.
inline ElementType stored_element(const Buffer& buffer) {
  const bool interface = buffer.space == Buffer::Space::Input || buffer.space == Buffer::Space::Output;
  return interface && !buffer.is_value && is_sub_byte(buffer.element) ? ElementType::U8 : buffer.element;
}

/// A constant in the form that the kernel reads.
struct Weights {
  std::string name;  ///< w0, w1, ...
  std::string from;  ///< the ONNX name, for comments
  ElementType element = ElementType::Undefined;
  WeightBytes bytes{};                                        ///< in a draft, only planned
  std::shared_ptr<const std::vector<std::string>> strings{};  ///< instead of bytes, if the elements are strings
  /// If they are stored in a narrower type: their bytes as f32. Scales have none; see select/weights/stored.h.
  std::optional<int64_t> wide_bytes{};
  int region = -1;  ///< the number of the region that it lies in; -1: with all others
};

/// A memory of the machine with a speed of its own, for a part of the arena and for constants. plan_regions says what lies there.
struct Region {
  std::string name;             ///< a C++ identifier
  int64_t capacity = 0;         ///< bytes, for both
  std::string section{};        ///< that its constants are put into; empty: it takes none
  bool constants_only = false;  ///< flash: it takes no part of the arena
  int64_t arena_bytes = 0;      ///< of its part of the arena
  int64_t constant_bytes = 0;   ///< of its constants, with the padding behind each
  double share = 0;             ///< of all accesses to arena and constants, as accesses_of estimates them
};

/// The offsets of the arena's buffers in a program with symbolic sizes. A buffer's offset is the maximum, over the
/// buffers `below` it, of (their offset + their bytes, rounded up to the alignment), or 0; and at least such that it
/// is centred on `centre`. The arena ends where the highest buffer ends.
struct Placement {
  struct Offset {
    BufferId buffer;
    std::vector<BufferId> below;  ///< buffers of earlier offsets
    /// Of an earlier offset, or -1. Centred buffers let threads write where they wrote before.
    BufferId centre = -1;
  };
  std::vector<Offset> offsets;  ///< in the order in which they are computed
};

/// The block of memory that a run uses on one device. Its owner is the caller.
struct Arena {
  std::vector<Placement> placements{};  ///< if sizes are symbolic; a run uses the one with the smallest arena
  Dim bytes = 0;                        ///< if all sizes are constant
  /// No plan takes less: the maximum of live bytes over the steps, or more if a search has proved it. Only if all sizes are
  /// constant.
  Dim lower_bound = 0;
  Dim unshared_bytes = 0;  ///< the sum of all its buffers
  int64_t alignment = 64;
};

/// What it costs to run nodes where they run, predicted, in nanoseconds.
struct DeviceCosts {
  struct OfNode {
    std::string node;  ///< `MatMul 'name'`
    Device device;
    double host_ns, gpu_ns;  ///< infinite where there is no kernel
  };
  struct Transfer {
    std::string value;
    Device to;
    double ns;
  };
  double chosen_ns = 0;            ///< of all nodes and transfers
  double host_ns = 0, gpu_ns = 0;  ///< the same with all on the host, and with all that can be on the GPU
  std::vector<OfNode> nodes{};
  std::vector<Transfer> transfers{};
};

struct Program {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Weights> weights;
  std::vector<Expr> exprs;
  std::vector<Branches> branches;
  std::vector<Step> steps;
  std::vector<BufferId> inputs, outputs;  ///< by number
  std::vector<State> states{};            ///< outputs that begin where an input does
  std::vector<Requirement> requirements;

  Arena arena;             ///< of the host; with regions, its bytes are those of their parts together
  Arena device_arena;      ///< of the GPU
  bool uses_heap = false;  ///< it needs an allocator
  /// The memories that the arena and constants are spread over, the fastest first; empty: the arena is one block.
  std::vector<Region> regions{};
  /// Of a program for a GPU: why nodes stay on the host, as the end of a sentence, by the names of their first outputs (Step::value).
  std::map<std::string, std::string> host_reasons{};
  std::optional<DeviceCosts> device_costs{};  ///< of a program for a GPU, where costs decided between devices
  /// What the unit needs beside onnxc's runtime: headers as in `#include`, with quotes or brackets, and names of
  /// libraries (`jpeg`) in the order of the linker's command line.
  std::vector<std::string> includes, libraries;

  Arena& arena_of(Device device) { return device == Device::Gpu ? device_arena : arena; }
  const Arena& arena_of(Device device) const { return device == Device::Gpu ? device_arena : arena; }

  Buffer& operator[](BufferId id) { return buffers[static_cast<std::size_t>(id)]; }
  const Buffer& operator[](BufferId id) const { return buffers[static_cast<std::size_t>(id)]; }
};

/// The sum over all steps; steps of loops count once.
double predicted_ns(const Program& program);
/// Multiply-adds of all steps; INT64_MAX if they do not fit in 64 bits.
Dim total_macs(const Program& program);

/// Of a program for a GPU, for each step in pre-order: why the host computes it, as the end of a sentence. Empty for what the GPU does, and for
/// bookkeeping.
std::vector<std::string> host_reasons_of_steps(const Program& program);

/// One buffer, views that begin where it does, or the input and the output of a state.
bool lie_at_one_place(const Program& program, BufferId a, BufferId b);

/// `input`, `arena`.
const char* space_name(Buffer::Space space);

/// The buffer that a view ultimately lies in.
BufferId root_of(const Program& program, BufferId buffer);

/// Text for people: buffers, steps, sizes.
std::string print_program(const Program& program);

}  // namespace onnxc
