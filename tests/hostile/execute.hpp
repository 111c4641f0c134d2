// Runs each unit of a group on a few data sets, under the address sanitizer. Buffers have exactly the sizes that the
// unit states. Prints one line for each unit: whether it ran, was skipped or was too slow, or how it went beyond a
// buffer.
//
// ONNXC_EXECUTE_TABLE lists the units of the group: {name, function that gives its onnxc_model}, ...
#include <onnxc/model.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace execute {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 27;  // of a buffer
enum class Data { Small, Extreme, Zero, Count };

/// Bytes of an element as the C ABI passes it, or 0 for a type that is not known.
inline std::size_t size_of(std::int32_t type) {
  switch (type) {
    case 1:
    case 6:
    case 12: return 4;
    case 7:
    case 11:
    case 13:
    case 14: return 8;
    case 4:
    case 5:
    case 10:
    case 16: return 2;
    case 15: return 16;
    case 8: return sizeof(onnxc_string);
    case 2:
    case 3:
    case 9: return 1;
    default: return type >= 17 && type <= 30 ? 1 : 0;
  }
}

inline std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

template <class T>
void integers(void* at, std::size_t count, Data data, std::uint64_t& state, std::int64_t low, std::int64_t high) {
  T* const p = static_cast<T*>(at);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t extremes[] = {low, high, -1, high / 2 + 1};
    const std::int64_t value = data == Data::Zero    ? 0
                               : data == Data::Small ? static_cast<std::int64_t>(next(state) % 12) - 3
                                                     : extremes[next(state) % 4];
    p[i] = static_cast<T>(std::clamp(value, low, high));
  }
}

template <class T>
void floats(void* at, std::size_t count, Data data, std::uint64_t& state) {
  T* const p = static_cast<T*>(at);
  for (std::size_t i = 0; i < count; ++i) {
    const T extremes[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::max(), T(-1)};
    p[i] = data == Data::Zero    ? T(0)
           : data == Data::Small ? static_cast<T>(static_cast<double>(next(state) % 4001) / 1000 - 2)
                                 : extremes[next(state) % 5];
  }
}

inline void fill(void* at, std::int32_t type, std::size_t count, Data data, std::uint64_t state) {
  using L8 = std::numeric_limits<std::int8_t>;
  switch (type) {
    case 1: return floats<float>(at, count, data, state);
    case 14: return floats<float>(at, 2 * count, data, state);
    case 11: return floats<double>(at, count, data, state);
    case 15: return floats<double>(at, 2 * count, data, state);
    case 6: return integers<std::int32_t>(at, count, data, state, INT32_MIN, INT32_MAX);
    case 12: return integers<std::uint32_t>(at, count, data, state, 0, UINT32_MAX);
    case 7: return integers<std::int64_t>(at, count, data, state, INT64_MIN, INT64_MAX);
    case 13: return integers<std::uint64_t>(at, count, data, state, 0, INT64_MAX);
    case 5: return integers<std::int16_t>(at, count, data, state, INT16_MIN, INT16_MAX);
    case 4: return integers<std::uint16_t>(at, count, data, state, 0, UINT16_MAX);
    case 10:
    case 16: return integers<std::uint16_t>(at, count, data, state, 0, 0x3fff);
    case 3: return integers<std::int8_t>(at, count, data, state, L8::min(), L8::max());
    case 9: return integers<std::uint8_t>(at, count, data, state, 0, 1);
    case 22: return integers<std::int8_t>(at, count, data, state, -8, 7);
    case 21:
    case 23: return integers<std::uint8_t>(at, count, data, state, 0, 15);
    case 8:
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = data == Data::Zero ? 0 : next(state) % 5 + 1;
        char* const text = static_cast<char*>(std::malloc(size));
        std::memset(text, data == Data::Small ? 'a' : '\xff', size);
        static_cast<onnxc_string*>(at)[i] = {text, size};
      }
      return;
    default: return integers<std::uint8_t>(at, count, data, state, 0, type >= 25 && type != 24 ? 3 : 127);
  }
}

/// The number of elements, or -1 where it is more than this test runs.
inline std::int64_t elements(const std::int64_t* extents, std::int32_t rank, std::size_t size) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < rank; ++i) {
    if (extents[i] < 0 || (extents[i] > 0 && count > kMostBytes / extents[i])) return -1;
    count *= extents[i];
  }
  return count * static_cast<std::int64_t>(size) > kMostBytes ? -1 : count;
}

inline void* allocate(void*, std::size_t bytes) { return bytes > kMostBytes ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
inline void release(void*, void* block) { std::free(block); }

/// The status of the run. -1 where the unit cannot be run here: values that are no tensors, expressions of symbols,
/// or sizes that are too large.
inline int run(const onnxc_model& m, Data data) {
  std::vector<std::int64_t> symbols(static_cast<std::size_t>(m.symbol_count) + 1);
  for (std::int32_t i = 0; i < m.symbol_count; ++i)
    symbols[static_cast<std::size_t>(i)] = std::clamp<std::int64_t>(data == Data::Small     ? 3
                                                                    : data == Data::Extreme ? 1
                                                                                            : m.symbols[i].min,
                                                                    m.symbols[i].min, m.symbols[i].max);
  std::vector<const void*> inputs;
  for (std::int32_t k = 0; k < m.input_count; ++k) {
    const onnxc_tensor_info& t = m.inputs[k];
    const std::size_t size = size_of(t.elem_type);
    if (t.form != ONNXC_PLAIN || size == 0) return -1;
    std::vector<std::int64_t> extents;
    for (std::int32_t i = 0; i < t.rank; ++i) {
      if (t.shape[i] == INT64_MIN) return -1;
      extents.push_back(t.shape[i] >= 0 ? t.shape[i] : symbols[static_cast<std::size_t>(-1 - t.shape[i])]);
    }
    const std::int64_t count = elements(extents.data(), t.rank, size);
    if (count < 0) return -1;
    void* const at = std::malloc(static_cast<std::size_t>(count) * size);
    fill(at, t.elem_type, static_cast<std::size_t>(count), data, 17 + static_cast<std::uint64_t>(k));
    inputs.push_back(at);
  }
  std::vector<void*> outputs;
  for (std::int32_t k = 0; k < m.output_count; ++k) {
    const onnxc_tensor_info& t = m.outputs[k];
    if (t.form == ONNXC_VALUE) {
      outputs.push_back(std::calloc(1, sizeof(onnxc_value)));
      continue;
    }
    std::vector<std::int64_t> extents(ONNXC_MAX_RANK + 1);
    m.output_shape(symbols.data(), k, extents.data());
    const std::size_t size = size_of(t.elem_type);
    const std::int64_t count = elements(extents.data(), t.rank, size);
    if (count < 0 || size == 0) return -1;
    outputs.push_back(std::malloc(static_cast<std::size_t>(count) * size));
  }
  const std::size_t arena_bytes = m.arena_bytes(symbols.data());
  if (arena_bytes > static_cast<std::size_t>(kMostBytes)) return -1;
  // Aligned so that the last byte of the arena is the last byte of the block.
  const std::size_t alignment = std::max<std::size_t>(m.arena_alignment, 1);
  void* const arena = std::aligned_alloc(alignment, (arena_bytes + alignment - 1) / alignment * alignment);
  const onnxc_allocator allocator{nullptr, allocate, release};
  std::vector<std::vector<std::int64_t>> shapes(outputs.size(), std::vector<std::int64_t>(ONNXC_MAX_RANK));
  std::vector<std::int64_t*> shape_pointers;
  for (auto& shape : shapes) shape_pointers.push_back(shape.data());
  char message[200] = "";
  const onnxc_call call{symbols.data(), inputs.data(), outputs.data(), shape_pointers.data(), arena, arena_bytes,
                        nullptr,        &allocator,    message,        sizeof message};
  return m.run(&call);
}

struct Entry {
  const char* name;
  const onnxc_model* (*model)(void);
};

/// Each run has a process of its own, which may be killed. Of what it writes to standard error, only the sanitizer's
/// error and the first frame in onnxc are printed.
inline void judge(const Entry& entry) {
  for (int d = 0; d < static_cast<int>(Data::Count); ++d) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      dup2(ends[1], 2);
      const rlimit seconds{5, 6}, none{0, 0};
      setrlimit(RLIMIT_CPU, &seconds);
      setrlimit(RLIMIT_CORE, &none);
      _exit(run(*entry.model(), static_cast<Data>(d)) < 0 ? 40 : 0);
    }
    close(ends[1]);
    std::string said;
    char block[4096];
    for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;) said.append(block, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 40) return static_cast<void>(std::printf("%s\tskipped\n", entry.name));
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
      return static_cast<void>(std::printf("%s\tslow\n", entry.name));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const std::size_t at = said.find("ERROR: AddressSanitizer"), frame = said.find(" in onnxc::");
    std::string line = at == std::string::npos ? "ends with status " + std::to_string(status) : said.substr(at, said.find(" on ", at) - at);
    if (frame != std::string::npos) line += said.substr(frame, said.find('\n', frame) - frame).substr(0, 120);
    return static_cast<void>(std::printf("%s\tFAULT %s (%s data)\n", entry.name, line.c_str(),
                                         d == 0   ? "small"
                                         : d == 1 ? "extreme"
                                                  : "zero"));
  }
  std::printf("%s\tran\n", entry.name);
}

}  // namespace execute

int main() {
  for (const execute::Entry& entry : std::initializer_list<execute::Entry>{ONNXC_EXECUTE_TABLE}) {
    execute::judge(entry);
    std::fflush(stdout);
  }
}
