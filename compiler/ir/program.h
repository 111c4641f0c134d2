// Program: how to compute it.
//
// A Program is a list of buffers and a list of steps in the order of execution. A step calls one kernel: it names a row of the catalogue and
// gives the arguments in the order of the kernel's C++ signature, so that codegen prints any step without knowing what it computes.
//
//   buffers   0 input x   1 weights w0   2 arena +0 [1, 3) 12544 bytes   3 output y
//   steps     1 conv<14, 2>(x, w0, %2, {.h = 28, ...}, Epilogue<E0>)
//
// Sizes, offsets, extents and loop bounds are Dims: constants in the static case. Steps that control others (If, Loop) hold blocks of steps;
// steps are numbered in pre-order through all blocks, and a buffer's lifetime is a half-open range of these numbers.
//
// A step may bind symbols: extents that depend on data. They are variables from there on. A buffer whose size has a bound lies in the arena at that
// size; one without lies on the heap, the caller's allocator, taken by an Allocate step or given by a kernel. What is no tensor (sequences, optionals,
// maps) is an Object: a variable that kernels point to.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/requirement.h"
#include "compiler/ir/tensor.h"
#include "compiler/ir/type.h"

namespace onnxc {

using BufferId = int32_t;

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

struct PointerArg {
  BufferId buffer = -1;
  bool writes = false;
  Dim offset = 0;                           ///< elements
  ElementType as = ElementType::Undefined;  ///< Undefined: the buffer's own
  Dim reach =
      0;  ///< the step touches no more than so many elements from `offset` on, of each pixel where the buffer has pixels; 0: whatever of the buffer
  Dim part_stride = 0;  ///< elements: each part of a step has room of its own, so far from that of the part before; 0: the same for all
};
/// onnxc::Tensor<T>{pointer, {extents}}
struct TensorArg {
  PointerArg pointer;
  Extents extents;
};
/// onnxc::FORM{pointer, members..., {list}}: an operand of an expression loop, or of an epilogue.
struct FormArg {
  std::string form;  ///< Stream, Fixed, Strided; Rows, PerCol, PerRow, PerGroup, Repeat, Single
  PointerArg pointer;
  DimList members;
  DimList list;  ///< printed in braces where `has_list`
  bool has_list = false;
};
struct DimArg {
  Dim value;
};
struct DimsArg {
  DimList values;
};
struct NumberArg {
  double value = 0;
  ElementType type = ElementType::F32;
};
/// C++ text: an enumerator, true, false.
struct NameArg {
  std::string text;
};
/// A string literal of these bytes.
struct TextArg {
  std::string text;
};
/// onnxc::Epilogue<E<expr>, Form<T>...>{{form members}...}; expr < 0: onnxc::Epilogue<onnxc::Keep>{}.
struct EpilogueArg {
  int expr = -1;
  std::vector<FormArg> operands;
};
/// &symbol: the step binds it.
struct SymbolArg {
  Dim symbol;
};
/// &pointer: the step makes a Heap buffer point to something.
struct AddressArg {
  BufferId buffer = -1;
};
struct ParamsArg;
using Arg = std::variant<PointerArg, TensorArg, FormArg, DimArg, DimsArg, NumberArg, NameArg, TextArg, EpilogueArg, SymbolArg, AddressArg,
                         std::shared_ptr<ParamsArg>>;
/// type{.name = value, ...}; a member without a name is its value alone.
struct ParamsArg {
  std::vector<std::pair<std::string, Arg>> members;
  std::string type{};  ///< C++ text
};

struct TemplateArg {
  std::string text;  ///< C++ text
  int expr = -1;     ///< or the expression struct of this number
};

struct Step {
  enum class Kind {
    Call,
    If,
    Loop,
    Declare,   ///< variables: `binds` with `values` as their first ones (else 0), and the pointer of `buffer`
    Assign,    ///< `binds` become `values`
    Bind,      ///< `binds` become the elements of `condition`, an integer tensor; they are variables from here on
    Require,   ///< ends the run where `requirement` does not hold
    Allocate,  ///< room for `values[0]` elements of `buffer`
    Move,      ///< `buffer`, a heap pointer or an object, becomes what `condition` points to; a heap block it owned is given back
    Release,   ///< gives `buffer`'s heap block back
    Shape,     ///< tells the caller that output `buffer` has the extents `values`
  };
  Kind kind = Kind::Call;
  std::string header;    ///< onnxc/HEADER, of the kernel
  std::string function;  ///< in namespace onnxc; from `::` on, whatever namespace that names
  std::vector<TemplateArg> template_args;
  std::vector<Arg> args;
  bool parallel = false;     ///< takes onnxc::Part as its first argument
  bool fallible = false;     ///< gives a Status
  bool specialised = false;  ///< compiled for its own extents, not once for all calls of the kernel
  bool concurrent =
      false;  ///< threads go on to it from the step before without waiting for each other; see lowering/threads/concurrent_steps.h

  PointerArg condition;                   ///< If: a bool. Loop: a bool that is read before each iteration, or none
  std::vector<std::vector<Step>> blocks;  ///< If: then, else. Loop: the body
  DimList binds;                          ///< symbols that the step binds. Loop: the number of the iteration; it is a variable of the body
  DimList values;  ///< Loop: at most so many iterations; of one that has no such number, the limit beyond which the run ends
  BufferId buffer = -1;
  bool limited = false;  ///< Loop: values[0] is a limit whose excess is an error
  std::optional<Requirement> requirement{};

  /// Pairs (written, read) that may be the same memory when the read buffer dies here: each element is read before it is written.
  std::vector<std::pair<BufferId, BufferId>> may_share;

  std::string row;      ///< name of the catalogue row
  std::string what;     ///< for the comment: `Conv 'conv1' + relu: [1,1,28,28] -> [1,14,14,16]`
  std::string value{};  ///< of the graph: the first output of the node that it belongs to; see origins.h
  Dim macs = 0;         ///< multiply-adds
  Dim bytes = 0;        ///< read and written
  double cost_ns = 0;   ///< predicted, on one thread; 0 where that takes sizes that are not known
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

/// Calls visit(step, number) for all steps in pre-order.
template <class Steps, class Visit>
int for_each_step(Steps& steps, Visit&& visit, int number = 0) {
  for (auto& step : steps) {
    visit(step, number++);
    for (auto& block : step.blocks) number = for_each_step(block, visit, number);
  }
  return number;
}
/// Calls visit(PointerArg&) for every pointer among the step's own arguments, the condition included.
void for_each_pointer(Step& step, const std::function<void(PointerArg&)>& visit);
void for_each_pointer(const Step& step, const std::function<void(const PointerArg&)>& visit);

/// As many multiply-adds, or bytes moved, are worth a fork of threads, which costs some ten thousand multiply-adds.
inline constexpr int64_t kForkMacs = 1 << 16, kForkBytes = 1 << 17;
/// What `macs` multiply-adds or `bytes` take on one thread, in units that are worth a fork of threads.
double forks_worth(int64_t macs, int64_t bytes);
/// The caller's threads share such a step, where a unit has them: it can be large enough, and cannot fail.
bool worth_sharing(const Step& step);
/// It is large enough at the least sizes that its dimensions allow, empty ones apart.
bool always_worth_sharing(const Step& step);

/// The row that a step calls, or what it does instead: `if`, `loop`, `bind`.
std::string step_label(const Step& step);

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
