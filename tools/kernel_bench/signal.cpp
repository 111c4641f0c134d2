// targets/kernels/signal.inc.
#include <onnxc/scalar/dft.hpp>
#include <onnxc/scalar/mel_weight_matrix.hpp>
#include <onnxc/scalar/random.hpp>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {

void add_signal(Suite& suite) {
  suite.add("scalar_dft", "4_of_512", [](Data& d) {
    const Tensor<const int64_t> axis{d.list<int64_t>({1}), {}};
    return
        [axis, x = d.in({4, 512, 2}), y = d.out({4, 512, 2}), work = d.room<double>(6 * 512)] { return scalar::dft(y, x, axis, work, {}); };
  });
  suite.add("scalar_stft", "16_frames_of_400", [](Data& d) {
    return [x = d.in({1, 2800, 1}), y = d.out({1, 16, 201, 2}), window = d.numbers(400), work = d.room<double>(2400)] {
      scalar::stft<float>(y, x, window, work, 400, 160, false);
    };
  });
  suite.add("scalar_mel_weight_matrix", "257x80", [](Data& d) {
    return [length = d.list<int64_t>({512}), rate = d.list<int64_t>({16000}), low = d.list({20.f}), high = d.list({8000.f}),
            y = d.out({257, 80})] { return scalar::mel_weight_matrix(y, length, rate, low, high); };
  });
  suite.add("scalar_random_normal", "4096", [](Data& d) { return [y = d.out({4096})] { scalar::random_normal(y, 1, 0.0, 1.0); }; });
  suite.add("scalar_random_uniform", "4096", [](Data& d) { return [y = d.out({4096})] { scalar::random_uniform(y, 1, 0.0, 1.0); }; });
  suite.add("scalar_multinomial", "16_of_100",
            [](Data& d) { return [x = d.in({1, 100}), y = d.out<int32_t>({1, 16})] { return scalar::multinomial(y, x, 1); }; });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
