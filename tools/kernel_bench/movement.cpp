// targets/kernels/movement.inc.
#include <onnxc/byte_table.hpp>
#include <onnxc/gather_nbits.hpp>
#include <onnxc/gather_rows.hpp>
#include <onnxc/packed.hpp>
#include <onnxc/pick_channels.hpp>
#include <onnxc/pixels_of_bytes.hpp>
#include <onnxc/scalar/byte_table.hpp>
#include <onnxc/store_integers.hpp>
#include <onnxc/strided_copy.hpp>
#include <onnxc/transpose.hpp>
#include <onnxc/types.hpp>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {

void add_movement(Suite& suite) {
  suite.add("transposing_copy", "nchw_to_nhwc_64x56x56", [](Data& d) {  // axes h * w, c
    return [x = d.numbers(64 * 3136), y = d.room(64 * 3136)] { transposing_copy({}, {3136, 64}, 0, y, {64, 1}, x, {1, 3136}); };
  });
  suite.add("transposing_copy", "128x384", [](Data& d) {
    return [x = d.numbers(128 * 384), y = d.room(128 * 384)] { transposing_copy({}, {384, 128}, 0, y, {128, 1}, x, {1, 384}); };
  });
  suite.add("byte_table", "784x96", [](Data& d) {
    return [x = d.room<uint8_t>(784 * 96), y = d.room<uint8_t>(784 * 96), table = d.room<uint8_t>(256)] {
      byte_table({}, x, y, table, {.columns = 784 * 96});
    };
  });
  suite.add("scalar_byte_table", "784x96", [](Data& d) {
    return [x = d.room<uint8_t>(784 * 96), y = d.room<uint8_t>(784 * 96), table = d.room<uint8_t>(256)] {
      scalar::byte_table(y, x, table, 784 * 96);
    };
  });
  suite.add("pixels_of_bytes", "3x224x224", [](Data& d) {
    return
        [x = d.room<uint8_t>(3 * 50176), y = d.room<uint8_t>(4 * 50176)] { pixels_of_bytes({}, x, y, {.channels = 3, .pixels = 50176}); };
  });
  suite.add("strided_copy", "heads_128x12x32", [](Data& d) {  // [128, 12, 32] to [12, 128, 32]
    return [x = d.numbers(128 * 384), y = d.room(128 * 384)] { strided_copy({}, {12, 128, 32}, y, {4096, 32, 1}, x, {32, 384, 1}); };
  });
  suite.add("strided_copy", "slice_1000_of_2",
            [](Data& d) { return [x = d.numbers(2000), y = d.room(1000)] { strided_copy({}, {1000}, y, {1}, x, {2}); }; });
  suite.add("strided_copy", "58_of_116_channels_784", [](Data& d) {
    return [x = d.numbers(784 * 116), y = d.room(784 * 58)] { strided_copy({}, {784, 58}, y, {58, 1}, x, {116, 1}); };
  });
  suite.add("strided_copy", "15_of_58_channels_784", [](Data& d) {
    return [x = d.numbers(784 * 58), y = d.room(784 * 58)] { strided_copy({}, {784, 15}, y, {58, 1}, x, {58, 1}); };
  });
  suite.add("interleave_channels", "2x58_784", [](Data& d) {
    return [x = d.numbers(784 * 116), y = d.room(784 * 116)] { interleave_channels<2>({}, x, y, {784, 116, 116, 116}); };
  });
  suite.add("interleave_channels", "3x80_784", [](Data& d) {
    return [x = d.numbers(784 * 240), y = d.room(784 * 240)] { interleave_channels<3>({}, x, y, {784, 240, 240, 240}); };
  });
  suite.add("interleave_channels", "4x116_196", [](Data& d) {
    return [x = d.numbers(196 * 464), y = d.room(196 * 464)] { interleave_channels<4>({}, x, y, {196, 464, 464, 464}); };
  });
  suite.add("interleave_channels", "8x12_784", [](Data& d) {
    return [x = d.numbers(784 * 96), y = d.room(784 * 96)] { interleave_channels<8>({}, x, y, {784, 96, 96, 96}); };
  });
  suite.add("pick_channels", "116_784", [](Data& d) {
    return [x = d.numbers(784 * 116), channels = d.counting<int32_t>(116, 116), y = d.room(784 * 116)] {
      pick_channels({}, x, y, channels, {784, 116, 116, 116});
    };
  });
  suite.add("gather_rows", "f16_128_of_384", [](Data& d) {
    return [x = d.room<float16>(128 * 384), i = d.indices({128}, 128), y = d.room(128 * 384)] {
      return gather_rows(y, x, i.data, {.rows = 128, .columns = 384, .count = 128});
    };
  });
  suite.add("gather_rows", "i8_128_of_384", [](Data& d) {
    return [x = d.counting<int8_t>(128 * 384, 100), scales = d.numbers(128), i = d.indices({128}, 128), y = d.room(128 * 384)] {
      return gather_rows(y, x, i.data, {.rows = 128, .columns = 384, .count = 128, .scales = scales});
    };
  });
  suite.add("gather_nbits", "4_bits_128_of_384", [](Data& d) {
    return [x = d.counting<uint8_t>(128 * 12 * 19, 251), i = d.indices({128}, 128), y = d.room(128 * 384)] {
      gather_nbits<4, 1, float16, uint8_t>({}, y, x, i.data, {.rows = 128, .k = 384, .block = 32, .count = 128});
    };
  });
  suite.add("unpack", "int4_4096",
            [](Data& d) { return [x = d.counting<uint8_t>(2048, 256), y = d.room<int4>(4096)] { unpack({}, y, x, 4096); }; });
  suite.add("pack", "int4_4096", [](Data& d) { return [x = d.room<int4>(4096), y = d.room<uint8_t>(2048)] { pack({}, y, x, 4096); }; });
  suite.add("store_integers", "4", [](Data& d) { return [y = d.room<int64_t>(4)] { store_integers(y, {1, 3, 224, 224}); }; });
  suite.add("make_tensor", "4", {0, 0},
            [](Data& d) { return [y = d.room<onnxc_value>(1), x = d.room(8)] { make_tensor(y, 1, x, {1, 2, 2, 2}); }; });
  suite.add("append_slice", "8_of_256", [](Data& d) {
    return [&heap = d.heap(), x = d.in({256})]() -> Status {
      const Heap fresh = heap.fresh();
      float* all = nullptr;
      for (int64_t i = 0; i < 8; ++i) {
        if (const Status status = append_slice(fresh, &all, i, x)) return status;
      }
      return {};
    };
  });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
