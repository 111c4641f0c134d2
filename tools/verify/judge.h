// Whether two answers to the same inputs say the same.
#pragma once
#include <string>
#include <vector>

#include "tools/driver/compare.h"
#include "tools/verify/made_inputs.h"
#include "tools/verify/oracle.h"

namespace onnxc {

struct Verdict {
  enum class Kind : uint8_t {
    Right,    ///< all outputs agree, or both refuse the inputs
    Wrong,    ///< they depart
    Unjudged  ///< nothing was compared: there is no answer to compare with
  };
  Kind kind = Kind::Right;
  std::string text{};                   ///< what departs, or why nothing was compared; for both that refuse, why
  int compared = 0;                     ///< outputs
  std::vector<std::string> left_out{};  ///< outputs without an expected value: `'y': Bernoulli has no reference value`
  int64_t elements_left_out = 0;        ///< elements that were not compared: see judge
  double largest_error = 0;             ///< of all outputs
};

/// By what answers are judged.
struct Terms {
  Tolerance tolerance{};
  Content content = Content::Given;
  /// Why a departure would be nobody's fault, since ONNX leaves the result open; empty: there is no such reason.
  std::string open{};
  bool is_fitted = false;  ///< the expected values are a data set's, to which somebody has fitted the tolerance; else the evaluator's
};

/// What ONNX leaves open for such inputs of a graph, if anything: random numbers, which integer a NaN becomes, whether squares overflow
/// that are added up and divided by.
std::string what_is_open(const Graph& graph, Content content);

/// NaN stands where NaN is expected and nowhere else, an infinity where the same is expected, strings and bools are exact; see compare.h for
/// all other numbers. What is made up is judged with more care not to blame where nobody can tell:
///
///   - Nobody has fitted the tolerance to these inputs, and sums that cancel are as wrong as their terms. So the absolute tolerance is at least
///     the relative one of the root mean square of the output.
///   - Infinities: one that meets a weight of 0 gives NaN, if the weight is multiplied by it. So an infinity is not compared with NaN.
///   - Extremes: whether a sum of the largest numbers overflows depends on its order. An element that is not finite on one side, or so large that
///     its square overflows, is not compared, and the absolute tolerance is relative to the largest number of the output.
///   - Where a shape has a 0 and a -1, or a 0 that is to copy an extent and has none, a unit knows more than the evaluator, and may give values
///     where that refuses: with an extent of 0 among the inputs, or without an element in the outputs.
///   - What ONNX leaves open is not compared where it departs.
///
/// Against the evaluator the relative tolerance is at least two units in the last place of f16 and bf16: what an operator computes in f32 and
/// rounds once, its parts may round one by one.
Verdict judge(const Answer& actual, const Answer& expected, const Terms& terms);

}  // namespace onnxc
