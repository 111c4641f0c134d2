#include "compiler/ops/contrib/cache.h"

#include "compiler/ops/quant/linear.h"

namespace onnxc {
namespace {

ValueId whole(Composition& c, int64_t value) { return c.b.number(ElementType::I64, static_cast<double>(value)); }

}  // namespace

ValueId extended(Composition& c, ValueId cache, ValueId x, ValueId start, Dim length) {
  const Dim here = c.extent(cache, 2), more = length - here;
  if (!(more == Dim(0))) {
    const Extents shape = c.extents(x);
    cache = c.concat({cache, c.zeros(c.b.type(x).element, {shape[0], shape[1], more, shape[3]})}, 2);
  }
  return c.op("TensorScatter", {cache, x, start}, {{"axis", int64_t{2}}});
}

ValueId quantised(Composition& c, ValueId x, const QuantisedCache& form) {
  const double high = form.bits == 8 ? 127 : 7;
  const ValueId q = c.op("Clip", {c.op("Round", {c.op("Div", {x, form.scale})}), c.constant(-high - 1), c.constant(high)});
  if (form.bits == 8) return cast_to(c.b, q, ElementType::I8);
  Extents pairs = c.extents(x);
  pairs.back() = floor_div(pairs.back(), 2);
  const Extents bytes = pairs;
  pairs.push_back(2);
  const auto halves = c.split(c.reshape(c.add(q, c.constant(8)), pairs), {1, 1}, 4);
  return c.reshape(cast_to(c.b, c.add(halves[0], c.mul(halves[1], c.constant(16))), ElementType::U8), bytes);
}

ValueId dequantised(Composition& c, ValueId cache, const QuantisedCache& form) {
  if (form.bits == 8) return c.mul(cast_to(c.b, cache, c.type), form.scale);
  Extents shape = c.extents(cache);
  shape.back() *= 2;
  const ValueId codes = cast_to(c.b, c.reshape(packed_codes(c.b, cache, 4), shape), c.type);
  return c.mul(c.sub(codes, c.constant(8)), form.scale);
}

ValueId WindowedCache::count(Composition& c, ValueId positions) const {
  const ValueId step = c.b.shape({room - (window - 1)}), over = c.op("Max", {c.sub(positions, c.b.shape({room})), whole(c, 0)});
  const ValueId steps = c.op("Div", {c.add(over, c.b.shape({room - window})), step});  // rounded up
  return c.sub(positions, c.mul(step, steps));
}

ValueId WindowedCache::positions(Composition& c, Dim tokens) const {
  const ValueId held = c.unsqueeze(count(c, before), {1}), so_far = c.unsqueeze(before, {1}), slot = c.unsqueeze(c.count(room), {0});
  const ValueId old = c.op("Where", {c.op("Less", {slot, held}), c.add(c.sub(so_far, held), slot), whole(c, -1)});
  return c.concat({old, c.add(so_far, c.unsqueeze(c.count(tokens), {0}))}, 1);
}

ValueId WindowedCache::updated(Composition& c, ValueId both) const {
  Extents shape = c.extents(both);
  const ValueId last = c.b.shape({shape[2] - 1});
  shape[2] = room;
  const auto column = [&](ValueId v) { return c.unsqueeze(v, {1}); };
  const ValueId position = c.add(column(c.sub(after, count(c, after))), c.unsqueeze(c.count(room), {0}));  // [batch, room]
  const ValueId old = c.sub(position, column(c.sub(before, count(c, before)))),
                now = c.add(c.sub(position, column(before)), c.b.shape({room}));
  const ValueId from = c.op("Clip", {c.op("Where", {c.op("Less", {position, column(before)}), old, now}), whole(c, 0),
                                     c.op("Squeeze", {last, c.b.integers({0})})});
  return c.op("GatherElements", {both, c.op("Expand", {c.unsqueeze(from, {1, 3}), c.b.shape(shape)})}, {{"axis", int64_t{2}}});
}

}  // namespace onnxc
