// The arguments of a call, as typed values. How they are written is the printer's decision (codegen/dialect.h).
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/dim_list.h"
#include "compiler/ir/element_type.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/type.h"

namespace onnxc {

struct PointerArg {
  BufferId buffer = -1;
  bool writes = false;
  Dim offset = 0;                           ///< elements
  ElementType as = ElementType::Undefined;  ///< Undefined: the buffer's own
  /// The step touches at most this many elements from `offset` on; if the buffer has pixels, of each pixel. 0: any
  /// part of the buffer.
  Dim extent_used = 0;
  /// Elements from the memory of one thread share of a step to that of the next. 0: all shares use the same memory.
  Dim thread_stride = 0;
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
/// An integer of 64 bits, for parameters that accept several types.
struct IntegerArg {
  int64_t value = 0;
};
struct FlagArg {
  bool value = false;
};
/// A string literal of these bytes.
struct TextArg {
  std::string text;
};
/// An enumerator of the runtime: {"PadMode", "reflect"}.
struct EnumArg {
  std::string type, value;
};
/// A null pointer. `element` is needed if the parameter accepts pointers of several types.
struct NullArg {
  ElementType element = ElementType::Undefined;
};
/// An operand that is absent, in the parameter's type or in the runtime's `type`.
struct AbsentArg {
  std::string type{};
};
/// What a unit has beside its buffers.
enum class UnitArg {
  Heap,       ///< the caller's allocator
  WeightsEnd  ///< one past the last weight; prefetches must not go beyond
};
/// onnxc::Epilogue<E<expr>, Form<T>..., Numbers<n>>{{form members}..., {numbers}}; expr < 0: onnxc::Epilogue<onnxc::Keep>{}.
struct EpilogueArg {
  int expr = -1;
  std::vector<FormArg> operands;
  std::vector<float> numbers{};  ///< the last inputs of the expression, which are the same for all elements
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
using Arg = std::variant<PointerArg, TensorArg, FormArg, DimArg, DimsArg, NumberArg, IntegerArg, FlagArg, TextArg, EnumArg, NullArg,
                         AbsentArg, UnitArg, EpilogueArg, SymbolArg, AddressArg, std::shared_ptr<ParamsArg>>;
using NamedArgs = std::vector<std::pair<std::string, Arg>>;
/// A struct: {.name = value, ...}. A member without a name is printed as its value alone.
struct ParamsArg {
  NamedArgs members;
  std::string type{};  ///< of the runtime, if the parameter does not determine it
};

/// One of the program's expressions, as a type.
struct ExprType {
  int number = -1;
};
/// One of the program's nested conditions, as a type.
struct BranchesType {
  int number = -1;
};
/// A type or a constant of the runtime: Sum, scalar::Add, kStays.
struct RuntimeName {
  std::string name;
};
using TemplateArg = std::variant<int64_t, bool, ElementType, ExprType, BranchesType, RuntimeName>;

}  // namespace onnxc
