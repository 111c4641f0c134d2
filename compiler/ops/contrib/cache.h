// Keys and values of before the call, as compositions keep them: [batch, heads, places, size].
#pragma once
#include "compiler/ops/contrib/attention.h"

namespace onnxc {

/// The cache with `x` [batch, heads, tokens, size] written from `start` [batch] on, `length` long.
ValueId extended(Composition& c, ValueId cache, ValueId x, ValueId start, Dim length);

/// A cache of integers: round(x / scale), of 8 bits, or of 4 bits plus 8, two a byte along the size, the first in the low half. The scale broadcasts to x.
struct QuantisedCache {
  int64_t bits;
  ValueId scale;
};
ValueId quantised(Composition& c, ValueId x, const QuantisedCache& form);
ValueId dequantised(Composition& c, ValueId cache, const QuantisedCache& form);

/// A cache of `room` places that holds the last positions, `window` of them at least: of t positions so far t - count(t) is the first, and the others follow.
/// Where they do not fit, room - window + 1 go at once.
struct WindowedCache {
  Dim room;
  int64_t window;
  ValueId before, after;  ///< [batch], i64: positions so far, without the call's and with them

  ValueId count(Composition& c, ValueId positions) const;
  /// The positions [batch, room + tokens] of what is in the cache and of the call's; a negative one where there is nothing.
  ValueId positions(Composition& c, Dim tokens) const;
  /// The cache after the call, of both [batch, heads, room + tokens, size].
  ValueId kept(Composition& c, ValueId both) const;
};

}  // namespace onnxc
