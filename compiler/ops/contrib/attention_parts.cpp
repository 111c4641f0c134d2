#include <cmath>

#include "compiler/ops/contrib/attention.h"

#include "compiler/support/error_codes.h"

namespace onnxc {

Attended attend(Composition& c, const Heads& h) {
  const int64_t heads = c.known_extent(h.q, 1), groups = c.known_extent(h.k, 1), shared = groups > 0 ? heads / groups : 0;
  if (shared < 1 || shared * groups != heads) c.fail(fmt::format("{} heads of the query for {} of the key", heads, groups));
  const Extents q = c.extents(h.q);
  const Dim tokens = q[2], keys = c.extent(h.k, 2);
  // Heads that share a key are rows of one product.
  const auto rows = [&](ValueId x, Dim last) { return shared == 1 ? x : c.reshape(x, {q[0], groups, tokens * shared, last}); };
  const auto back = [&](ValueId x, Dim last) { return shared == 1 ? x : c.reshape(x, {q[0], heads, tokens, last}); };
  ValueId scores = back(c.matmul(rows(h.q, q[3]), c.swap_last(h.k)), keys);
  scores = c.mul(scores, c.constant(h.scale));
  if (h.softcap != 0) scores = c.mul(c.op("Tanh", {c.mul(scores, c.constant(1 / h.softcap))}), c.constant(h.softcap));
  if (h.bias != kAbsent) scores = c.add(scores, h.bias);
  ValueId weights;
  if (h.sink == kAbsent) {
    weights = c.op("Softmax", {scores}, {{"axis", int64_t{-1}}});
  } else {
    const ValueId sink = c.op("Expand", {c.unsqueeze(h.sink, {0, 2, 3}), c.b.shape({q[0], heads, tokens, 1})});
    weights = c.slice(c.op("Softmax", {c.concat({scores, sink}, 3)}, {{"axis", int64_t{-1}}}), 0, keys, 3);
  }
  return {back(c.matmul(rows(weights, keys), h.v), c.extent(h.v, 3)), scores, weights};
}

ValueId split_heads(Composition& c, ValueId x, int64_t heads) {
  const Extents e = c.extents(x);
  const Dim size = floor_div(e[2], heads);
  if (e[2].is_constant() && e[2].value() % heads != 0) c.fail(fmt::format("{} channels do not divide by {} heads", e[2].value(), heads));
  return c.transpose(c.reshape(x, {e[0], e[1], heads, size}), {0, 2, 1, 3});
}

Heads grouped_heads(Composition& c, int64_t heads, int64_t groups) {
  ValueId q = c.in(0), k = c.in(1), v = c.in(2);
  if (k == kAbsent) {  // side by side
    const Dim size = floor_div(c.extent(c.raw(0), 2), heads + 2 * groups);
    const auto parts = c.split(q, {size * heads, size * groups, size * groups}, 2);
    q = parts[0], k = parts[1], v = parts[2];
  } else if (v == kAbsent) {
    c.fail("the value is missing");
  }
  return {.q = split_heads(c, q, heads), .k = split_heads(c, k, groups), .v = split_heads(c, v, groups)};
}

ValueId join_heads(Composition& c, ValueId x) {
  const Extents e = c.extents(x);
  return c.reshape(c.transpose(x, {0, 2, 1, 3}), {e[0], e[2], e[1] * e[3]});
}

double attention_scale(const Composition& c, Dim head_size) {
  const double scale = c.number("scale", 0);
  if (scale != 0) return scale;
  if (!head_size.is_constant())
    c.fail(ErrorCode::OpenDimension, fmt::format("the size of a head is {}", head_size.text()), "fix it with --dim");
  return 1 / std::sqrt(static_cast<double>(head_size.value()));
}

ValueId angles(Composition& c, ValueId cache, ValueId positions) {
  return c.unsqueeze(c.op("Gather", {cache, positions}, {{"axis", int64_t{0}}}), {1});
}

ValueId rotate(Composition& c, ValueId x, ValueId cosines, ValueId sines, bool interleaved) {
  const Extents e = c.extents(x);
  const int64_t pairs = c.known_extent(cosines, 3), size = c.known_extent(x, 3);
  if (2 * pairs > size) c.fail(fmt::format("{} pairs are rotated of {} elements", pairs, size));
  ValueId rotated = x, rest = kAbsent;
  if (2 * pairs < size) {
    const auto parts = c.split(x, {2 * pairs, size - 2 * pairs}, 3);
    rotated = parts[0];
    rest = parts[1];
  }
  ValueId first, second;
  const auto halves = [&](ValueId v, int64_t axis, Dim each) {
    const auto parts = c.split(v, {each, each}, axis);
    first = parts[0];
    second = parts[1];
  };
  if (interleaved) {
    halves(c.reshape(rotated, {e[0], e[1], e[2], pairs, 2}), 4, 1);
    first = c.op("Squeeze", {first, c.b.integers({4})});
    second = c.op("Squeeze", {second, c.b.integers({4})});
  } else {
    halves(rotated, 3, pairs);
  }
  const ValueId re = c.sub(c.mul(first, cosines), c.mul(second, sines)), im = c.add(c.mul(first, sines), c.mul(second, cosines));
  const ValueId y = interleaved ? c.reshape(c.concat({c.unsqueeze(re, {4}), c.unsqueeze(im, {4})}, 4), {e[0], e[1], e[2], 2 * pairs})
                                : c.concat({re, im}, 3);
  return rest == kAbsent ? y : c.concat({y, rest}, 3);
}

}  // namespace onnxc
