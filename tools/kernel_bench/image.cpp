// targets/kernels/image.inc, if the libraries of the image formats are installed.
#include "tools/kernel_bench/suite.h"

#ifdef ONNXC_BENCH_IMAGES
#include <onnxc/image/decode.hpp>
#endif

namespace onnxc::inline ONNXC_ISA::bench {

void add_image(Suite& suite) {
#ifdef ONNXC_BENCH_IMAGES
  suite.add("decode_image", "pnm_64x64", [](Data& d) {
    const std::string head = "P6 64 64 255\n";
    const int64_t size = static_cast<int64_t>(head.size()) + 64 * 64 * 3;
    uint8_t* const file = d.counting<uint8_t>(size, 256);
    std::copy(head.begin(), head.end(), file);
    return [&heap = d.heap(), x = Tensor<const uint8_t>{file, {size}}, y = d.room<uint8_t*>(1), n = d.room<int64_t>(2)] {
      return decode_image(heap.fresh(), y, n, n + 1, x, PixelFormat::RGB);
    };
  });
#else
  suite.skip("decode_image", "built without the libraries of image formats");
#endif
}

}  // namespace onnxc::inline ONNXC_ISA::bench
