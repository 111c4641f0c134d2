// Inputs that nobody gave: ordinary ones, and those where compilers go wrong. The same for the same unit.
#pragma once
#include <onnxc/model.h>

#include <string>
#include <vector>

#include "tools/driver/host_value.h"

namespace onnxc {

/// What is put among ordinary values, as `onnxc run` makes them. Each input that has such values gets them at some places, at least at one.
enum class Content : uint8_t {
  Ordinary,
  NotNumbers,  ///< NaN
  Infinities,  ///< of both signs
  Tiny,        ///< zeros of both signs, subnormal numbers and the smallest normal ones
  Extremes     ///< the largest and the least numbers of the type, finite ones, and integers too
};
std::string_view name(Content content);

/// Values for all of a unit's symbols, and what they are called: `batch=1, length=5`.
struct MadeSizes {
  std::string name;
  std::vector<int64_t> symbols;
};
/// Every symbol at 1, or at the least that it may be; then each at another extent in the middle, in several ways from small to large, of which
/// the first that the model takes is meant; then at 0, where that is allowed. One of them without a symbol if the unit has none.
struct SizesToTry {
  MadeSizes least;
  std::vector<MadeSizes> middle;
  std::vector<MadeSizes> empty;
};
SizesToTry sizes_to_try(const onnxc_model& unit);

/// Values for all inputs. Empty if no input has a type with such content. Throws Error{Unsupported} for inputs that cannot be made up.
std::vector<HostValue> made_inputs(const onnxc_model& unit, const MadeSizes& sizes, Content content);

}  // namespace onnxc
