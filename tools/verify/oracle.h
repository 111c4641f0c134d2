// What a model says, computed without compiling it: the evaluator on the graph as it was imported, or as some pass has left it.
#pragma once
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tools/driver/host_value.h"

namespace onnxc {

/// What a graph, or a unit, made of one set of inputs.
struct Answer {
  enum class Kind : uint8_t {
    Values,   ///< `outputs`, as far as they are known
    Refused,  ///< the inputs are not allowed: a stated error
    Unknown,  ///< there is no answer, for the reason in `why`
    Fault     ///< of a unit: it crashed, hung, or wrote where it must not
  };
  struct Output {
    std::string name;
    HostValue value;
    std::string unknown;  ///< why there is no value; empty if there is one
  };
  Kind kind = Kind::Values;
  std::string why;
  std::vector<Output> outputs;
};

/// Whether a graph is computed with subnormal numbers as zeros, as units are by default. Machines without such a mode keep them.
enum class SubnormalMode : uint8_t { Keep, Flush };

/// Evaluates the graph. `inputs`: one for each of its inputs, in order. Never throws for what the model or the inputs have wrong.
Answer ask_evaluator(const Graph& graph, const std::vector<const HostValue*>& inputs, SubnormalMode mode);

}  // namespace onnxc
