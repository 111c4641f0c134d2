// targets/kernels/sequence.inc: sequences of eight tensors of 64 f32.
#include <onnxc/sequence.hpp>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

constexpr int64_t kCount = 8, kItem = 64;
constexpr int32_t kF32 = 1;
constexpr Work kPointers{0, 0};  // no element is touched

onnxc_value* sequence(Data& d) { return d.sequence_value(kCount, kItem); }
onnxc_value* result(Data& d) { return d.room<onnxc_value>(1); }
onnxc_value* optional(Data& d, const onnxc_value* held) {
  auto* const value = result(d);
  *value = {ONNXC_OPTIONAL, 0, 0, 1, held, {}};
  return value;
}

}  // namespace

void add_sequence(Suite& suite) {
  suite.add("sequence_empty", "1", kPointers, [](Data& d) { return [y = result(d)] { sequence_empty(y); }; });
  suite.add("sequence_length", "8", kPointers,
            [](Data& d) { return [x = sequence(d), y = d.room<int64_t>(1)] { sequence_length(y, x); }; });
  suite.add("sequence_insert", "8x64", [](Data& d) {
    return [&heap = d.heap(), x = sequence(d), item = d.in({kItem}), at = d.list<int64_t>({3}), y = result(d)] {
      return sequence_insert(heap.fresh(), y, x, kF32, item, at);
    };
  });
  suite.add("sequence_erase", "8x64", kPointers, [](Data& d) {
    return [&heap = d.heap(), x = sequence(d), at = d.list<int64_t>({3}), y = result(d)] { return sequence_erase(heap.fresh(), y, x, at); };
  });
  suite.add("sequence_at", "8x64", kPointers, [](Data& d) {
    return [x = sequence(d), at = d.list<int64_t>({3}), data = d.room<const float*>(1), n = d.room<int64_t>(1)] {
      return sequence_at(x, at, kF32, data, n);
    };
  });
  suite.add("concat_extents", "8x64", kPointers,
            [](Data& d) { return [x = sequence(d), n = d.room<int64_t>(1)] { return concat_extents(x, 0, false, n); }; });
  suite.add("concat_items", "8x64",
            [](Data& d) { return [x = sequence(d), y = d.out({kCount * kItem})] { return concat_items(y, x, kF32, 0, false); }; });
  suite.add("split_to_sequence", "8x64", [](Data& d) {
    return [&heap = d.heap(), x = d.in({kCount, kItem}), y = result(d)] {
      return split_to_sequence<float, int64_t>(heap.fresh(), y, x, nullptr, {.elem_type = kF32, .axis = 0, .parts = 0});
    };
  });
  suite.add("optional_empty", "1", kPointers, [](Data& d) { return [y = result(d)] { optional_empty(y); }; });
  suite.add("optional_of", "8x64", kPointers,
            [](Data& d) { return [&heap = d.heap(), x = sequence(d), y = result(d)] { return optional_of(heap.fresh(), y, x); }; });
  suite.add("optional_of_tensor", "64", [](Data& d) {
    return [&heap = d.heap(), x = d.in({kItem}), y = result(d)] { return optional_of_tensor(heap.fresh(), y, kF32, x); };
  });
  suite.add("optional_has_element", "1", kPointers,
            [](Data& d) { return [x = optional(d, d.tensor_value(kItem)), y = d.room<bool>(1)] { optional_has_element(y, x); }; });
  suite.add("optional_get", "8x64", kPointers,
            [](Data& d) { return [x = optional(d, sequence(d)), y = result(d)] { return optional_get(y, x); }; });
  suite.add("optional_get_tensor", "64", kPointers, [](Data& d) {
    return [x = optional(d, d.tensor_value(kItem)), data = d.room<const float*>(1), n = d.room<int64_t>(1)] {
      return optional_get_tensor(x, kF32, data, n);
    };
  });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
