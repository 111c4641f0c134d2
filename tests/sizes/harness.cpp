// Calls a unit with every combination of a list of extents. Most of these tensors fit in no memory, so large tensors
// get only a few bytes: the size that a 64-bit multiplication wraps to, if that is small. Each call must return an
// error status or the right answer, and the sanitizers must report nothing.
//
// CASE is a header that check.py writes beside the unit's own. It has a `struct Case` with the unit's namespace, its
// number of dimensions, the shapes for given dimensions, and what the outputs must be.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include CASE

namespace {

constexpr std::int64_t kExtents[] = {0,
                                     1,
                                     2,
                                     7,
                                     std::int64_t{1} << 29,
                                     std::int64_t{1} << 31,
                                     (std::int64_t{1} << 32) + 1,
                                     std::int64_t{1} << 58,
                                     (std::int64_t{1} << 61) + 1,
                                     INT64_MAX,
                                     -1,
                                     INT64_MIN};
constexpr std::size_t kFew = 1 << 16;  // bytes: larger tensors are not allocated whole

int failures = 0;

void fail(const std::vector<std::int64_t>& dims, const char* what) {
  std::printf("FAILED ");
  for (std::int64_t d : dims) std::printf(" %" PRId64, d);
  std::printf(": %s\n", what);
  ++failures;
}

/// The memory that a tensor gets. `whole`: it holds all elements. Otherwise it has the size that the product of the
/// extents wraps to if that is small, else none.
struct Room {
  std::size_t count = 0;
  bool whole = true;
};
Room room_of(const std::vector<std::int64_t>& shape, std::size_t bits) {
  unsigned __int128 exact = 1;
  std::uint64_t wrapped = 1;
  bool empty = false, negative = false;
  for (std::int64_t d : shape) {
    negative = negative || d < 0;
    empty = empty || d == 0;
    wrapped *= static_cast<std::uint64_t>(d);
    if (exact < (static_cast<unsigned __int128>(1) << 64)) exact *= static_cast<std::uint64_t>(d);
  }
  if (empty && !negative) return {0, true};
  if (!negative && exact * bits / 8 <= kFew) return {static_cast<std::size_t>((exact * bits + 7) / 8), true};
  const std::uint64_t bytes = wrapped * bits / 8;
  return {bytes <= kFew ? static_cast<std::size_t>(bytes) : 0, false};
}

template <class T>
struct Array {
  explicit Array(const Room& room)
      : count(room.count / sizeof(T)), data(count == 0 ? nullptr : static_cast<T*>(std::malloc(count * sizeof(T)))) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { std::free(data); }
  std::span<T> span() const { return {data, count}; }
  std::size_t count;
  T* data;
};

void* allocate(void*, std::size_t bytes) {
  return bytes > (std::size_t{1} << 26) ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}
void release(void*, void* block) { std::free(block); }

/// Empty tensors with billions of rows: a run would take long to step over these.
bool is_slow(const std::vector<std::int64_t>& dims) {
  bool empty = false;
  double product = 1;
  for (std::int64_t d : dims) {
    empty = empty || d == 0;
    product *= d > 0 ? static_cast<double>(d) : 1;
  }
  return empty && product > 0x1p22 && product < 0x1p56;
}

}  // namespace

#include CASE_RUN

int main() {
  std::vector<std::int64_t> dims(kDims);
  constexpr std::size_t kValues = sizeof(kExtents) / sizeof(kExtents[0]);
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < kDims; ++i) combinations *= kValues;
  int answers = 0, refusals = 0;
  for (std::size_t n = 0; n < combinations; ++n) {
    std::size_t rest = n;
    for (std::size_t i = 0; i < kDims; ++i, rest /= kValues) dims[i] = kExtents[rest % kValues];
    const int status = is_slow(dims) ? -1 : run_case(dims);
    if (status >= 0) ++(status == 0 ? answers : refusals);
    // The C functions that a host calls before it allocates memory.
    const onnxc_model* const model = MODEL();
    std::int64_t extents[ONNXC_MAX_RANK];
    for (int k = 0; k < model->output_count; ++k) model->output_shape(dims.data(), k, extents);
    const std::size_t arena = model->arena_bytes(dims.data());
    char message[512] = {};
    onnxc_call call{};
    call.symbols = dims.data();
    call.message = message;
    call.message_bytes = sizeof message;
    if (arena == SIZE_MAX && model->run(&call) != ONNXC_BAD_DIMENSION) fail(dims, "the arena has no size, and the run does not refuse");
    if (arena == SIZE_MAX && status == 0) fail(dims, "the arena has no size, and the run gives an answer");
  }
  std::printf("%d answers, %d refusals\n", answers, refusals);
  return failures == 0 && answers > 0 && refusals > 0 ? 0 : 1;
}
