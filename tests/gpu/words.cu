// Every word of the vocabulary of GPU kernels, and a session, in one unit: what words.sh compiles.
#include "tests/kernels/gpu/unit.hpp"
#include "tests/kernels/gpu/words.hpp"

namespace onnxc::test {

Status all(Stream stream, unsigned* words, float* f, int* i, uint32_t* u, int8_t* bytes, int64_t* l) noexcept {
  Queue queue(stream, words);
  launch(queue, Places{i}, {1, 1, 1});
  launch(queue, Barriers{i}, {1, 1, 1});
  launch(queue, Shuffles<float>{f, f, words}, {1, 1, 1});
  launch(queue, Shuffles<int64_t>{l, l, words}, {1, 1, 1});
  launch(queue, Reductions{f, f, f}, {1, 1, 1});
  launch(queue, Tickets{f, f, words, words, words}, {1, 1, 1});
  launch(queue, Packs<float>{f, f}, {1, 1, 1});
  launch(queue, Packs<int8_t>{bytes, bytes}, {1, 1, 1});
  launch(queue, Pairs<float>{f, f}, {1, 1, 1});
  launch(queue, Pairs<int8_t>{bytes, bytes}, {1, 1, 1});
  launch(queue, Copies{f, f, 1}, {1, 1, 1});
  launch(queue, Rounded{f, f}, {1, 1, 1});
  launch(queue, Order{words, words}, {1, 1, 1});
  launch(queue, Product<Tf32, 2, 3>{f, u, u}, {1, 1, 1});
  launch(queue, Product<F16, 1, 2>{f, u, u}, {1, 1, 1});
  launch(queue, Product<Bf16, 2, 1>{f, u, u}, {1, 1, 1});
  launch(queue, Product<S8, 4, 2>{i, u, u}, {1, 1, 1});
  launch(queue, Product<U8, 1, 2>{i, u, u}, {1, 1, 1});
  launch(queue, Product<U8S8, 2, 1>{i, u, u}, {1, 1, 1});
  launch(queue, Product<S8U8, 1, 1>{i, u, u}, {1, 1, 1});
  return queue.result();
}

Status run(bool fixed, const void* const* inputs, void* const* outputs) noexcept {
  const Unit unit = fixed ? fixed_unit() : dynamic_unit();
  const int64_t n = 100;
  Session session(unit);
  DeviceProperties device;
  Event first, last;
  float ms = 0;
  if (const Status s = session.open()) return s;
  if (const Status s = describe_device(device)) return s;
  if (const Status s = first.record(session.stream())) return s;
  if (const Status s = session.run({&n, inputs, outputs})) return s;
  if (const Status s = last.record(session.stream())) return s;
  return elapsed_ms(first, last, ms);
}

}  // namespace onnxc::test
