// A unit's self-test: inputs and expected outputs in the unit, and a function that runs it on them.
#pragma once
#include <string>
#include <vector>

#include "codegen/interface.h"
#include "compiler/ir/program.h"
#include "compiler/ir/tensor.h"

namespace onnxc {

struct SelfTest {
  struct Vector {
    std::vector<int64_t> dims;                ///< values of the unit's symbols, in order
    std::vector<TensorData> inputs, outputs;  ///< one for each of the unit's
  };
  std::vector<Vector> vectors;
  double rtol = 0, atol = 0;
  int64_t int_atol = 0;
  double rel_l2 = -1;  ///< negative: element by element
  std::string origin;  ///< of the vectors, for a comment
};

/// Why a unit with this interface can have no self-test; empty if it can.
std::string self_test_problem(const Interface& interface, const Program& program);

/// Of the memory that the test takes: the arena and room for the outputs.
int64_t self_test_bytes(const SelfTest& test, const Program& program);

/// For the header, behind `run`.
std::string self_test_declaration(const SelfTest& test, const Program& program);
/// For the source, inside the unit's namespace.
std::string self_test_definition(const SelfTest& test, const Interface& interface, const Program& program, bool threads);

}  // namespace onnxc
