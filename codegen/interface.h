// The names in a unit's interface: its dimensions, inputs and outputs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "codegen/cpp_text.h"

namespace onnxc {

/// An input or output of the unit.
struct Member {
  std::string name;
  const Buffer* buffer;
  /// The number of elements, as C++ text; if it depends on data, the largest.
  std::string size;
  bool fixed = false;    ///< `size` is a constant
  bool bounded = false;  ///< an output that stores its shape

  /// Passed as a span; otherwise as an onnxc_value.
  bool is_span() const { return !buffer->is_value; }
  int form() const;
  /// `std::span<const float, 12>`
  std::string span_type(bool output) const;
  /// `size`, as a std::size_t.
  std::string size_text() const;
  /// The member, made from `pointer`, as text: a void pointer to the elements, or to the onnxc_value.
  std::string from_pointer(const std::string& pointer, bool output) const;
};

struct Interface {
  /// `gpu`: of a unit for a GPU, which has more names of its own.
  Interface(const Program& program, bool gpu);

  bool dynamic() const { return !symbols.empty(); }
  /// Declares `dims`, from `pointer` to the symbols' values.
  std::string dims_of(const std::string& pointer, const std::string& name_space = "") const;

  DimList symbols;                                    ///< the dimensions that a caller states, in order
  std::map<std::string, std::string> symbol_members;  ///< by symbol: the member of Dims
  SymbolNames symbol_names;                           ///< by symbol: dims.MEMBER
  std::vector<Member> inputs, outputs;
};

/// Statements of `run` that return a status where the spans of `in` and `out` have other sizes, or states begin at two places.
std::string size_checks(const Interface& interface, const std::vector<State>& states);

}  // namespace onnxc
