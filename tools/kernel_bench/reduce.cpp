// targets/kernels/reduce.inc: the shapes of an encoder, of global pooling, of a classifier.
#include <onnxc/layer_norm.hpp>
#include <onnxc/lrn.hpp>
#include <onnxc/reduce.hpp>
#include <onnxc/scalar/layer_norm.hpp>
#include <onnxc/scalar/lrn.hpp>
#include <onnxc/scalar/reduce.hpp>
#include <onnxc/scalar/softmax.hpp>
#include <onnxc/softmax.hpp>
#include <onnxc/sum_bytes.hpp>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {

void add_reduce(Suite& suite) {
  suite.add("reduce_last", "128x384", [](Data& d) {
    return [x = d.numbers(128 * 384), y = d.room(128)] { reduce_last<Sum>({}, x, y, {.outer = 128, .r = 384, .x_row = 384}); };
  });
  suite.add("reduce_last", "1x1000",
            [](Data& d) { return [x = d.numbers(1000), y = d.room(1)] { reduce_last<Max>({}, x, y, {.r = 1000, .x_row = 1000}); }; });
  suite.add("reduce_middle", "49x1280", [](Data& d) {
    return [x = d.numbers(49 * 1280), y = d.room(1280)] {
      reduce_middle<Sum>({}, x, y, {.r = 49, .inner = 1280, .x_row = 1280, .x_outer = 49 * 1280});
    };
  });
  suite.add("reduce_middle", "784x32", [](Data& d) {
    return [x = d.numbers(784 * 32), y = d.room(32)] {
      reduce_middle<Sum>({}, x, y, {.r = 784, .inner = 32, .x_row = 32, .x_outer = 784 * 32});
    };
  });
  suite.add("sum_bytes_last", "512x49", [](Data& d) {
    return [x = d.room<uint8_t>(512 * 49), y = d.room<int32_t>(512)] { sum_bytes_last({}, x, y, {.outer = 512, .r = 49, .x_row = 49}); };
  });
  suite.add("sum_bytes_middle", "49x1280", [](Data& d) {
    return [x = d.room<uint8_t>(49 * 1280), y = d.room<int32_t>(1280)] {
      sum_bytes_middle({}, x, y, {.r = 49, .inner = 1280, .x_row = 1280, .x_outer = 49 * 1280});
    };
  });
  for (const int64_t n : {2, 128, 1000}) {
    const int64_t rows = n == 1000 ? 1 : 1536;
    const std::string shape = std::to_string(rows) + "x" + std::to_string(n);
    suite.add("softmax", shape, [=](Data& d) {
      return [=, x = d.numbers(rows * n), y = d.room(rows * n)] { softmax({}, x, y, {.rows = rows, .n = n, .x_row = n, .y_row = n}); };
    });
    suite.add("log_softmax", shape, [=](Data& d) {
      return [=, x = d.numbers(rows * n), y = d.room(rows * n)] { log_softmax({}, x, y, {.rows = rows, .n = n, .x_row = n, .y_row = n}); };
    });
  }
  suite.add("layer_norm", "128x384", [](Data& d) {
    return [x = d.numbers(128 * 384), y = d.room(128 * 384), w = d.numbers(384), b = d.numbers(384)] {
      layer_norm({}, x, y, {.rows = 128, .n = 384, .x_row = 384, .y_row = 384, .scale = w, .bias = b});
    };
  });
  suite.add("rms_norm", "128x384", [](Data& d) {
    return [x = d.numbers(128 * 384), y = d.room(128 * 384), w = d.numbers(384)] {
      rms_norm({}, x, y, {.rows = 128, .n = 384, .x_row = 384, .y_row = 384, .scale = w});
    };
  });

  suite.add("window_squares", "3136x64", [](Data& d) {
    return [x = d.numbers(3136 * 64), y = d.room(3136 * 64)] {
      window_squares({}, x, y, {.pixels = 3136, .c = 64, .x_pixel = 64, .y_pixel = 64, .before = 2, .after = 2});
    };
  });

  suite.add("scalar_reduce", "64x100", [](Data& d) {
    return [x = d.numbers(6400), y = d.room(64)] { scalar::reduce<scalar::Sum, scalar::Same>({}, y, x, {64}, {100}, {100}, {1}); };
  });
  suite.add("scalar_softmax", "64x100",
            [](Data& d) { return [x = d.numbers(6400), y = d.room(6400)] { scalar::softmax({}, y, x, 64, 100, 1); }; });
  suite.add("scalar_log_softmax", "64x100",
            [](Data& d) { return [x = d.numbers(6400), y = d.room(6400)] { scalar::log_softmax({}, y, x, 64, 100, 1); }; });
  suite.add("scalar_layer_norm", "64x100", [](Data& d) {
    return [x = d.numbers(6400), y = d.room(6400)] { scalar::layer_norm<float>({}, x, y, {.rows = 64, .n = 100}); };
  });
  suite.add("scalar_rms_norm", "64x100",
            [](Data& d) { return [x = d.numbers(6400), y = d.room(6400)] { scalar::rms_norm<float>({}, x, y, {.rows = 64, .n = 100}); }; });
  suite.add("scalar_window_squares", "64x100", [](Data& d) {
    return [x = d.numbers(6400), y = d.room(6400)] {
      scalar::window_squares({}, y, x,
                             {.outer = 1,
                              .c = 64,
                              .inner = 100,
                              .x_outer = 6400,
                              .x_c = 100,
                              .x_inner = 1,
                              .y_outer = 6400,
                              .y_c = 100,
                              .y_inner = 1,
                              .before = 2,
                              .after = 2});
    };
  });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
