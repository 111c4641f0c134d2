#pragma once

namespace onnxc {

/// Whether fma(fnma(scale, q, x), r, q), with r = 1 / scale and q = x r, rounds to the same whole number as x / scale, for all floats x with |x / scale| up to 256:
/// bytes are that far from their zero point. fn::quantize and fn::byte_steps of the runtime divide so.
///
/// The error of that is less than a unit in the last place, so it can only differ where the quotient is the float at a half between two whole numbers or next
/// to it. All x that give these are tried: they lie within a few floats of the product of that half and scale.
bool divides_exactly(float scale);

}  // namespace onnxc
