// A Program as a C++ function: its expressions, the plan of its arena, and `steps`, which runs it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "codegen/interface.h"
#include "codegen/names.h"
#include "codegen/profile.h"
#include "codegen/weights.h"

namespace onnxc {

class FunctionText {
 public:
  /// `program` has the inputs and outputs of `interface`, possibly with more known extents. `profile`: what measures
  /// its steps, or null.
  /// `small_core`: parameters lie in flash. `device_weights`: where each constant of a GPU lies in their image, by name; null for a unit
  /// without a GPU.
  FunctionText(const Program& program, const Interface& interface, bool threads, const Profile* profile,
               const std::map<std::string, std::size_t>* device_weights = nullptr, bool small_core = false);

  /// The whole text, for the inside of an anonymous namespace. `weights` knows the names of the program's constants.
  std::string print(const WeightsText& weights);

 private:
  std::string plan(Device device) const;
  std::string signature() const;
  std::string base_of(const Buffer& root, const WeightsText& weights) const;
  std::string buffers(const WeightsText& weights);

  const Program& program_;
  const Interface& interface_;
  bool threads_, small_core_;
  const Profile* profile_;
  const std::map<std::string, std::size_t>* device_weights_;
  SymbolNames symbol_names_;
  std::vector<std::string> expr_names_;
  PerBuffer<std::string> buffer_names_;
  Names locals_{kInterfaceNames};
};

}  // namespace onnxc
