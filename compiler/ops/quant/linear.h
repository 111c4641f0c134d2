// The two maps between integers and reals that quantised operators consist of, in f32.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// real = (q - zero) * scale. `zero` may be absent; both broadcast to q.
ValueId to_real(GraphBuilder& b, ValueId q, ValueId scale, ValueId zero);
/// q = saturate(round(real / scale) + zero) as `type`, half to even. `zero` may be absent.
ValueId to_quantised(GraphBuilder& b, ValueId real, ValueId scale, ValueId zero, ElementType type);
/// The same for a given quotient: q = saturate(round(quotient) + zero).
ValueId round_to_quantised(GraphBuilder& b, ValueId quotient, ValueId zero, ElementType type);
/// One element as a scalar, for a shape of any number of ones.
ValueId as_scalar(GraphBuilder& b, ValueId v);
/// A vector along `axis` of a tensor of `rank`, with ones after it, so that it broadcasts. A value of one element
/// becomes a scalar.
ValueId along(GraphBuilder& b, ValueId v, int64_t axis, int64_t rank);

/// A constant matrix of integers of at most 8 bits as its transpose, of bytes.
ValueId transposed_bytes(GraphBuilder& b, ValueId matrix);
/// Why an operator between quantised values is computed in floats, if no kernel computes it on integers.
std::string no_byte_form(std::string_view op);

/// Codes of `bits` bits each, packed in bytes, the first in the lowest bits: one element each, along a new last axis.
ValueId packed_codes(GraphBuilder& b, ValueId bytes, int64_t bits);

}  // namespace onnxc
