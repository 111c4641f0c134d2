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
  std::string text{};                 ///< what departs, or why nothing was compared; for both that refuse, why
  int compared = 0;                   ///< outputs
  std::vector<std::string> left_out{};  ///< outputs without an expected value: `'y': Bernoulli has no reference value`
  int64_t overflowed = 0;             ///< elements of extreme inputs that were not compared
  double largest_error = 0;           ///< of all outputs
};

/// NaN stands where NaN is expected and nowhere else, an infinity where the same is expected, strings and bools are exact; see compare.h for
/// all other numbers.
///
/// Extremes are judged less strictly, since whether a sum of the largest numbers overflows depends on its order: an element that is no finite
/// number on one side is not compared, and the tolerance is relative to the largest number of the output.
Verdict judge(const Answer& actual, const Answer& expected, const Tolerance& tolerance, Content content);

}  // namespace onnxc
