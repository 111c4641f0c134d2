// What every emitted unit uses: Status, arena access, Shape and Tensor views, and the static partition of work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "isa.hpp"
#include "model.h"
#include "subnormals.hpp"

namespace onnxc {

/// The answer of a run. It converts to true when something went wrong: `if (auto s = step()) return s;`
struct [[nodiscard]] Status {
  int32_t code = ONNXC_OK;
  /// With ONNXC_BAD_DIMENSION: what the unit requires of which extents, or null. Each kFound in it stands for one of
  /// `found`, in order. With ONNXC_DEVICE_FAILED: the words of the GPU's driver. With ONNXC_OUT_OF_MEMORY: null, or
  /// whose memory.
  const char* what = nullptr;
  int64_t found[2] = {};

  static constexpr char kFound = '\1';  // no text of a unit holds a control character otherwise
  ONNXC_BOTH constexpr explicit operator bool() const noexcept { return code != ONNXC_OK; }
  constexpr bool operator==(const Status& other) const noexcept { return code == other.code; }
};

/// What a code means. The values that a status carries are in the text of the other `describe`.
constexpr const char* describe(Status status) noexcept {
  switch (status.code) {
    case ONNXC_OK: return "ok";
    case ONNXC_SMALL_ARENA: return "the arena is smaller than arena_bytes";
    case ONNXC_MISALIGNED: return "memory is not aligned as the unit states";
    case ONNXC_WRONG_SIZE: return "an input or output has the wrong size";
    case ONNXC_BAD_DIMENSION: return "a dimension is out of its bounds or does not fit the others";
    case ONNXC_INDEX_OUT_OF_RANGE: return "an index is out of range";
    case ONNXC_TRIP_LIMIT: return "a loop ran longer than its limit";
    case ONNXC_NULL_POINTER: return "a pointer is null";
    case ONNXC_OUT_OF_MEMORY: return "out of memory";
    case ONNXC_BAD_VALUE: return "no result is defined for this data";
    case ONNXC_DEVICE_FAILED: return "the GPU failed";
    case ONNXC_WRONG_RESULT: return "an output is not what it should be";
    case ONNXC_SEPARATE_STATE: return "an output does not begin where its state before the run does";
  }
  return "unknown status";
}

/// Writes what went wrong, with the extents that were found, as a string that is cut where there is no more room.
/// Returns the length of the whole.
///   "a dimension is out of its bounds or does not fit the others: MatMul 'scores': keys = 7 must equal depth = 8"
constexpr std::size_t describe(Status status, char* text, std::size_t room) noexcept {
  std::size_t length = 0;
  const auto put = [&](char c) noexcept {
    if (length + 1 < room) text[length] = c;
    ++length;
  };
  const auto put_number = [&](int64_t value) noexcept {
    char digits[20] = {};
    int count = 0;
    const bool negative = value < 0;
    for (uint64_t left = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value); count == 0 || left != 0; left /= 10)
      digits[count++] = static_cast<char>('0' + left % 10);
    if (negative) put('-');
    while (count > 0) put(digits[--count]);
  };
  for (const char* c = describe(status); *c != 0; ++c) put(*c);
  if (status.what != nullptr) {
    put(':');
    put(' ');
    int next = 0;
    for (const char* c = status.what; *c != 0; ++c) {
      if (*c != Status::kFound) put(*c);
      else put_number(status.found[next++ & 1]);
    }
  }
  if (room > 0) text[length < room ? length : room - 1] = 0;
  return length;
}

/// The code of a status, whose text goes to the caller that has room for it.
constexpr int32_t tell(Status status, char* message, std::size_t message_bytes) noexcept {
  if (status && message != nullptr) describe(status, message, message_bytes);
  return status.code;
}
constexpr int32_t tell(Status status, const onnxc_call& call) noexcept { return tell(status, call.message, call.message_bytes); }

}  // namespace onnxc

namespace onnxc::inline ONNXC_ISA {

constexpr int kMaxRank = 10;

/// A number of elements, or a position among them, in loops: as wide as pointers on small cores, where no more fit into memory.
using Index = std::conditional_t<ONNXC_MICRO, std::ptrdiff_t, int64_t>;

/// Extents of a tensor, outermost first. rank 0 is a scalar.
struct Shape {
  int rank = 0;
  Index dims[kMaxRank] = {};

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<int64_t> extents) {
    for (int64_t d : extents) dims[rank++] = static_cast<Index>(d);
  }
  constexpr Index operator[](int axis) const { return dims[axis]; }
  constexpr Index& operator[](int axis) { return dims[axis]; }
  /// Number of elements in axes [first, last).
  constexpr Index count(int first, int last) const {
    Index n = 1;
    for (int axis = first; axis < last; ++axis) n *= dims[axis];
    return n;
  }
  constexpr Index count() const { return count(0, rank); }
};

/// A contiguous row-major tensor somewhere in memory; owns nothing.
template <class T>
struct Tensor {
  T* data = nullptr;
  Shape shape;
  constexpr Index count() const { return shape.count(); }
};

/// A list of integers among a kernel's parameters: axes, pads, strides, ... The storage is the parameter itself.
struct Ints {
  int size = 0;
  Index values[2 * kMaxRank] = {};
  constexpr Ints() = default;
  constexpr Ints(std::initializer_list<int64_t> list) {
    for (int64_t v : list) values[size++] = static_cast<Index>(v);
  }
  constexpr Index operator[](int i) const { return values[i]; }
  constexpr Index& operator[](int i) { return values[i]; }
  constexpr const Index* begin() const { return values; }
  constexpr const Index* end() const { return values + size; }
};

/// A thread's share of a step: the static partition. `Share{}` is the whole.
#if ONNXC_MICRO && !defined(__unix__) && !defined(__APPLE__)
struct Share {  // without an operating system there is one thread, and nothing to pass
  static constexpr int index = 0, count = 1;
  struct Range {
    Index begin, end;
    constexpr Range(int64_t first, int64_t last) : begin(static_cast<Index>(first)), end(static_cast<Index>(last)) {}
  };
  constexpr Share() = default;
  constexpr Share(int, int) {}
  constexpr Range slice(Index n, Index = 1) const { return {0, n}; }
};
#else
struct Share {
  int index = 0, count = 1;
  struct Range {
    Index begin, end;
    constexpr Range(int64_t first, int64_t last) : begin(static_cast<Index>(first)), end(static_cast<Index>(last)) {}
  };
  /// What this share has of [0, n), in multiples of `grain`; shares differ by one grain at most and do not depend on
  /// time.
  constexpr Range slice(Index n, Index grain = 1) const {
    const Index grains = (n + grain - 1) / grain;
    const Index first = grains * index / count * grain, last = grains * (index + 1) / count * grain;
    return {first < n ? first : n, last < n ? last : n};
  }
};
#endif

/// The caller's threads, or none. Gives each its Share of a step and waits for all.
struct Threads {
  const onnxc_executor* executor = nullptr;
  bool flush = false;  ///< each thread flushes subnormal numbers to zero; the caller's own does so already

  /// These threads, or none where a step is not worth a fork at the sizes of this run.
  Threads where(bool worth) const { return worth ? *this : Threads{}; }

  template <class Work>
  void run(Work&& work) const {
    if (executor == nullptr || executor->threads <= 1) return work(Share{});
    struct Shared {
      Work& work;
      int count;
      bool flush;
    } shared{work, executor->threads, flush};
    executor->parallel_for(
        executor->self, executor->threads,
        [](void* context, int32_t i) {
          const auto& all = *static_cast<const Shared*>(context);
          if (!all.flush) return all.work(Share{i, all.count});
          flushing_subnormals([&] {
            all.work(Share{i, all.count});
            return true;
          });
        },
        &shared);
  }
};

// Arithmetic on extents: divisions round toward minus infinity (floor) or plus infinity (ceil); b > 0.
constexpr int64_t floor_div(int64_t a, int64_t b) noexcept { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
constexpr int64_t ceil_div(int64_t a, int64_t b) noexcept { return -floor_div(-a, b); }
constexpr int64_t mod(int64_t a, int64_t b) noexcept { return a - b * floor_div(a, b); }
constexpr int64_t min_of(int64_t a, int64_t b) noexcept { return a < b ? a : b; }
constexpr int64_t max_of(int64_t a, int64_t b) noexcept { return a > b ? a : b; }
/// The broadcast extent of two that are equal, or of which one is 1.
constexpr int64_t broadcast_of(int64_t a, int64_t b) noexcept { return a == 1 ? b : a; }
/// Arithmetic on extents that a run finds in its data: what overflows is clamped to a size that no memory has.
constexpr int64_t kHuge = int64_t{1} << 60;
constexpr int64_t clamp_extent(int64_t a) noexcept { return a < -kHuge ? -kHuge : a > kHuge ? kHuge : a; }
constexpr int64_t product_of(int64_t a, int64_t b) noexcept {
  int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) ? ((a < 0) == (b < 0) ? kHuge : -kHuge) : clamp_extent(r);
}
constexpr int64_t sum_of(int64_t a, int64_t b) noexcept { return clamp_extent(clamp_extent(a) + clamp_extent(b)); }
/// An element of an integer tensor as an extent, clamped to 2^40 either way. No tensor is that large, and sums of such
/// extents do not overflow.
template <class T>
constexpr int64_t extent_of(T element) noexcept {
  constexpr int64_t far = int64_t{1} << 40;
  if constexpr (sizeof(T) == 8 && T(-1) > T(0)) {
    if (element > static_cast<T>(far)) return far;
  }
  const auto v = static_cast<int64_t>(element);
  return v < -far ? -far : v > far ? far : v;
}
/// Writes the shape of an output; `to` may be null.
constexpr void store_shape(int64_t* to, const Shape& shape) noexcept {
  for (int i = 0; to != nullptr && i < shape.rank; ++i) to[i] = shape.dims[i];
}
/// A size in bytes, or SIZE_MAX where this machine cannot address so many.
constexpr std::size_t size_of(int64_t bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  return bytes >= 0 && static_cast<uint64_t>(size) == static_cast<uint64_t>(bytes) ? size : SIZE_MAX;
}
/// The next multiple of the arena's alignment, and at least 0.
template <int64_t alignment = 64>
constexpr int64_t aligned(int64_t bytes) noexcept {
  return bytes > 0 ? (bytes + alignment - 1) / alignment * alignment : 0;
}

template <class T>
ONNXC_BOTH T* at(std::byte* arena, std::size_t offset) noexcept {
  return reinterpret_cast<T*>(arena + offset);
}
template <class T>
ONNXC_BOTH const T* at(const std::byte* weights, std::size_t offset) noexcept {
  return reinterpret_cast<const T*>(weights + offset);
}

/// f as a function that does not throw. No kernel throws, but compilers cannot see that of every one, and would
/// otherwise call the C++ library to end the program.
template <class Result, class... Arguments>
ONNXC_INLINE auto nothrow(Result (*f)(Arguments...)) noexcept {
  return reinterpret_cast<Result (*)(Arguments...) noexcept>(f);
}

ONNXC_INLINE Status check_arena(std::span<std::byte> arena, std::size_t bytes, std::size_t alignment) noexcept {
  if (arena.size() < bytes) return {ONNXC_SMALL_ARENA};
  if (bytes != 0 && reinterpret_cast<std::uintptr_t>(arena.data()) % alignment != 0) return {ONNXC_MISALIGNED};
  return {};
}

/// Hides where a pointer, or an offset, came from, so that loads through it are not hoisted out of a loop.
template <class T>
ONNXC_INLINE T opaque(T p) {
  asm("" : "+r"(p));
  return p;
}

}  // namespace onnxc
