// Keys and values from before the call, as the compositions keep them: [batch, heads, slots, size].
#pragma once
#include "compiler/ops/contrib/attention.h"

namespace onnxc {

/// The cache with `x` [batch, heads, tokens, size] written from `start` [batch] on; the result has `length` slots.
ValueId extended(Composition& c, ValueId cache, ValueId x, ValueId start, Dim length);

/// A cache of integers round(x / scale): of 8 bits, or of 4 bits plus 8, where two share a byte along the size, the
/// first in the low half. The scale broadcasts to x.
struct QuantisedCache {
  int64_t bits;
  ValueId scale;
};
ValueId quantised(Composition& c, ValueId x, const QuantisedCache& form);
ValueId dequantised(Composition& c, ValueId cache, const QuantisedCache& form);

/// A cache of `room` slots that holds at least the last `window` positions. After t positions, it holds those from t
/// - count(t) on. If new ones do not fit, room - window + 1 are dropped at once.
struct WindowedCache {
  Dim room;
  int64_t window;
  ValueId before, after;  ///< [batch], i64: the number of positions, without and with the call's

  ValueId count(Composition& c, ValueId positions) const;
  /// The positions [batch, room + tokens] of the cache's content and of the call's tokens; negative for empty slots.
  ValueId positions(Composition& c, Dim tokens) const;
  /// The cache after the call, taken from both of them, [batch, heads, room + tokens, size].
  ValueId updated(Composition& c, ValueId both) const;
};

}  // namespace onnxc
