// From a Program to a C++ translation unit and its header.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/self_test.h"
#include "codegen/side_file.h"
#include "codegen/text.h"
#include "compiler/onnxc.h"

namespace onnxc {

struct EmitOptions {
  std::string name_space;                       ///< of the unit, and the prefix of its C symbols: a C++ identifier
  std::string header_name;                      ///< as the source includes it: mnist.h
  std::string weights = "auto";                 ///< see weights.h
  int threads = 1;                              ///< the unit may be run with this many, which share steps
  bool profile = false;                         ///< the unit measures its steps
  bool huge_pages = false;                      ///< the unit can copy its weights into memory of huge pages
  bool flush_subnormals = true;                 ///< a run treats subnormal numbers as zeros
  bool standalone = false;                      ///< the runtime headers are pasted in
  int vector_floats = 0;                        ///< the vector width that weights and images are packed for; 0: any
  bool gpu = false;                             ///< for a processor and a GPU: a .cu file
  bool small_core = false;                      ///< for a microcontroller: parameters of kernels lie in flash
  bool portable = false;                        ///< plain C++ with vectors of that width, for any machine
  bool reproducible = false;                    ///< the same bits on every machine: ONNXC_REPRODUCIBLE of isa.hpp
  std::string machine_flags;                    ///< what chooses the machine when the unit is compiled: -march=x86-64-v3; or empty
  std::string triple = "x86_64-linux-gnu";      ///< of object files with weights: for x86_64 or aarch64
  bool little_endian = true;                    ///< the machine
  std::shared_ptr<const SelfTest> self_test{};  ///< null: none
  std::optional<int64_t> stack_bytes{};         ///< that a run uses, as `stack_compiler` made the unit: for the interface
  std::string stack_compiler{};
  std::string weights_note;  ///< what was rounded, for the header comment; or empty
  // Provenance, for the header comment and onnxc_model.
  std::string version, model_file, model_sha256, opsets, target, flags;
};

struct Unit {
  std::string name_space;
  Text source;  ///< keeps the weights that it is written from
  std::string header;
  std::vector<SideFile> side_files;
  std::vector<std::string> libraries;  ///< to link with: names as after -l
  bool gpu = false;                    ///< the source is a .cu file
  bool includes_others = false;        ///< it includes headers that are neither its own nor onnxc's
};

/// Deterministic: the same programs and options give the same bytes.
Unit emit_unit(const Program& program, const EmitOptions& options, const std::vector<Variant>& variants = {});

}  // namespace onnxc
