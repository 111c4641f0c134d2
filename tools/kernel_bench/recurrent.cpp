// targets/kernels/recurrent.inc: one sequence, as in streams of sound, and a batch.
#include <fmt/format.h>

#include <onnxc/recurrent.hpp>
#include <onnxc/recurrent_bytes.hpp>

#include "compiler/select/weights/pack.h"
#include "tools/kernel_bench/suite.h"
#include "tools/kernel_bench/tile.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

using scalar::Activation;

struct Sizes {
  int64_t steps, batch, hidden;
};

/// run(params, y, h, c, x, r, gates) for a network of `gates` gates.
template <class Run>
void add(Suite& suite, const char* row, int64_t gates, Sizes s, Run run) {
  const double macs = double(s.steps * s.batch) * double(gates * s.hidden * s.hidden);
  suite.add(row, fmt::format("{}x{}x{}", s.steps, s.batch, s.hidden), {macs, 4.0 * double(gates * s.hidden * s.hidden)}, [=](Data& d) {
    const Activation outer = gates == 1 ? Activation::tanh : Activation::sigmoid;
    const scalar::RecurrentParams p{.steps = s.steps,
                                    .batch = s.batch,
                                    .directions = 1,
                                    .hidden = s.hidden,
                                    .activations = {{outer}, {Activation::tanh}, {Activation::tanh}}};
    const int64_t state = s.batch * s.hidden;
    return
        [p, run, y = d.room(s.steps * state), h = d.room(state), c = d.room(state), x = d.numbers(s.steps * gates * state),
         r = d.numbers(padded_to(gates * s.hidden, 64 * kTile.nr) * s.hidden), work = d.room(4 * state)] { run(p, y, h, c, x, r, work); };
  });
}

/// An LSTM on bytes: run(params, y, h, c, x, r, gates, bytes, row sums).
template <class Run>
void add_bytes(Suite& suite, const char* row, Sizes s, Run run) {
  const int64_t columns = padded_to(4 * s.hidden, 64 * kTile.nr), state = s.batch * s.hidden;
  const double weights = 4.0 * double(s.hidden * s.hidden);
  suite.add(row, fmt::format("{}x{}x{}", s.steps, s.batch, s.hidden), {double(s.steps * s.batch) * weights, weights}, [=](Data& d) {
    const std::vector<int32_t> none(static_cast<std::size_t>(columns), 0);
    const scalar::RecurrentParams p{.steps = s.steps,
                                    .batch = s.batch,
                                    .directions = 1,
                                    .hidden = s.hidden,
                                    .activations = {{Activation::sigmoid}, {Activation::tanh}, {Activation::tanh}},
                                    .scales = d.copy(std::vector<float>(static_cast<std::size_t>(columns), 1e-3f)),
                                    .zeros = d.copy(none),
                                    .sums = d.copy(none)};
    std::vector<int8_t> codes(static_cast<std::size_t>(columns * (s.hidden + 3)));
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int8_t>(i * 37 % 251);
    return [p, run, y = d.room(s.steps * state), h = d.room(state), c = d.room(state), x = d.numbers(s.steps * 4 * state),
            r = d.copy(codes), work = d.room(4 * state), bytes = d.room<uint8_t>(s.batch * contract::recurrent_bytes_pitch(s.hidden)),
            row_sums = d.room<int32_t>(s.batch)] { run(p, y, h, c, x, r, work, bytes, row_sums); };
  });
}

}  // namespace

// Weights need no packing here: panels of any numbers of the right size take the same time.
void add_recurrent(Suite& suite) {
  for (const Sizes s : {Sizes{48, 1, 128}, {16, 8, 256}}) {
    add(suite, "rnn", 1, s, [](auto p, float* y, float* h, float*, const float* x, const float* r, float* work) {
      rnn<kTile.mr, kTile.nv>(y, h, x, r, nullptr, nullptr, work, p);
    });
    add(suite, "gru", 3, s, [](auto p, float* y, float* h, float*, const float* x, const float* r, float* work) {
      gru<kTile.mr, kTile.nv>(y, h, x, r, nullptr, nullptr, nullptr, work, p);
    });
    add(suite, "lstm", 4, s, [](auto p, float* y, float* h, float* c, const float* x, const float* r, float* work) {
      lstm<kTile.mr, kTile.nv>(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, work, p);
    });
  }
  for (const Sizes s : {Sizes{48, 1, 128}, {48, 1, 512}, {16, 8, 256}}) {
    add_bytes(suite, "lstm_bytes", s,
              [](auto p, float* y, float* h, float* c, const float* x, const int8_t* r, float* work, uint8_t* bytes, int32_t* row_sums) {
                lstm_bytes<8, 2>(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, work, bytes, row_sums, p);
              });
  }
  const Sizes s{16, 1, 64};
  add_bytes(suite, "scalar_lstm_bytes", s,
            [](auto p, float* y, float* h, float* c, const float* x, const int8_t* r, float* work, uint8_t*, int32_t*) {
              scalar::lstm_bytes(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, work, p);
            });
  add(suite, "scalar_rnn", 1, s, [](auto p, float* y, float* h, float*, const float* x, const float* r, float* work) {
    scalar::rnn<float>(y, h, x, r, nullptr, nullptr, work, p);
  });
  add(suite, "scalar_gru", 3, s, [](auto p, float* y, float* h, float*, const float* x, const float* r, float* work) {
    scalar::gru<float>(y, h, x, r, nullptr, nullptr, nullptr, work, p);
  });
  add(suite, "scalar_lstm", 4, s, [](auto p, float* y, float* h, float* c, const float* x, const float* r, float* work) {
    scalar::lstm<float>(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, work, p);
  });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
