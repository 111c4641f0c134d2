// Inputs that nobody gave: ordinary ones, and those where compilers go wrong. The same for the same unit.
#pragma once
#include <onnxc/model.h>

#include <string>
#include <vector>

#include "tools/driver/host_value.h"

namespace onnxc {

/// What an input holds: values as `onnxc run` makes them, and others among them. Each input that has such values gets them at some places, at
/// least at one.
enum class Content : uint8_t {
  Given,  ///< by a data set: not made up
  Ordinary,
  Empty,       ///< ordinary ones where some extent is 0
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
/// the first that the model takes is meant; then one after the other at 0, where that is allowed. The last two are empty if the unit has no
/// symbol.
struct SizesToTry {
  MadeSizes least;
  std::vector<MadeSizes> middle;
  std::vector<MadeSizes> empty;
};
SizesToTry sizes_to_try(const onnxc_model& unit);

/// Ordinary values for all inputs. Throws Error{Unsupported} for inputs that cannot be made up.
std::vector<HostValue> made_inputs(const onnxc_model& unit, const MadeSizes& sizes);
/// Other inputs with such content among their values. Empty if none has a type with such content.
std::vector<HostValue> with_content(std::vector<HostValue> inputs, Content content);

}  // namespace onnxc
