// A kernel for each word of the vocabulary: words.cpp runs them, tests/gpu/words.sh has nvcc compile them.
#pragma once
#include <onnxc/gpu/queue.hpp>

namespace onnxc::test {

using namespace onnxc::gpu;

struct Places {
  static constexpr int kThreads = 64;
  struct Shared {};
  int* seen;

  ONNXC_DEVICE void operator()(Shared&) const {
    const auto b = block(), n = blocks();
    const int at = ((b.z * n.y + b.y) * n.x + b.x) * kThreads + thread();
    seen[at] = b.x + 10 * b.y + 100 * b.z + 1000 * lane() + 100000 * warp() + 1000000 * n.x + 10000000 * n.y + 100000000 * n.z;
  }
};

/// Sums of neighbours in shared memory, and of what lies further away after each barrier.
struct Barriers {
  static constexpr int kThreads = 96;
  struct Shared {
    int values[kThreads];
  };
  int* y;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    shared.values[thread()] = thread() + block().x;
    for (int step = 1; step < kThreads; step *= 2) {
      sync_block();
      const int sum = shared.values[thread()] + (thread() >= step ? shared.values[thread() - step] : 0);
      sync_block();
      shared.values[thread()] = sum;
    }
    y[block().x * kThreads + thread()] = shared.values[thread()];
  }
};

template <class T>
struct Shuffles {
  static constexpr int kThreads = 64;
  struct Shared {};
  T *mirrored, *rotated;
  unsigned* odd;

  ONNXC_DEVICE void operator()(Shared&) const {
    const T v = static_cast<T>(thread() * 3);
    mirrored[thread()] = shuffle_xor(v, 31);
    rotated[thread()] = shuffle(v, (lane() + 5) % 32);
    odd[thread()] = ballot(lane() % 3 == 0 && warp() == 1);
  }
};

struct Sum {
  ONNXC_DEVICE float operator()(float a, float b) const { return a + b; }
};

struct Reductions {
  static constexpr int kThreads = 256;
  struct Shared {
    float partial[kThreads / 32];
  };
  float *by_warp, *by_block;
  const float* x;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int at = block().x * kThreads + thread();
    by_warp[at] = reduce_warp(x[at], Sum{});
    by_block[at] = reduce_block<kThreads>(x[at], 0.0f, shared.partial, Sum{});
    by_block[at] += reduce_block<kThreads>(1.0f, 0.0f, shared.partial, Sum{});
  }
};

/// Blocks write parts; the last to come adds them in order.
struct Tickets {
  static constexpr int kThreads = 64;
  struct Shared {
    unsigned ticket;
  };
  float *y, *parts;
  unsigned *ticket, *count, *largest;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    parts[block().x * kThreads + thread()] = 1.0f / static_cast<float>(block().x * kThreads + thread() + 1);
    fetch_max(largest, static_cast<unsigned>((block().x * 7) % 5));
    add(count, 1);
    fence();
    sync_block();
    if (thread() == 0) shared.ticket = fetch_add(ticket, 1);
    sync_block();
    if (shared.ticket != static_cast<unsigned>(blocks().x - 1)) return;
    fence();
    float sum = 0;
    for (int b = 0; b < blocks().x; ++b) sum += parts[b * kThreads + thread()];
    y[thread()] = sum;
    if (thread() == 0) *ticket = 0;
  }
};

template <class T>
struct Packs {
  static constexpr int kThreads = 32;
  struct Shared {};
  T* y;
  const T* x;

  ONNXC_DEVICE void operator()(Shared&) const {
    constexpr int n = 16 / sizeof(T);
    Pack<T> v = load(x + thread() * n);
    for (int i = 0; i < n; ++i) v.at[i] = static_cast<T>(v.at[i] + i);
    store(y + thread() * n, v);
  }
};

template <class T>
struct Pairs {
  static constexpr int kThreads = 32;
  struct Shared {};
  T* y;
  const T* x;

  ONNXC_DEVICE void operator()(Shared&) const { store(y + thread() * 2, Pair<T>{{x[thread() * 2 + 1], x[thread() * 2]}}); }
};

/// A pipeline of three stages through shared memory, of which some rows are not valid.
struct Copies {
  static constexpr int kThreads = 32, kStages = 3;
  struct Shared {
    alignas(16) float stage[kStages][kThreads * 4];
  };
  float* y;
  const float* x;
  int n;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const auto fetch = [&](int i) {
      copy_async(&shared.stage[i % kStages][thread() * 4], x + (i * kThreads + thread()) * 4, (i + thread()) % 5 != 0);
    };
    for (int i = 0; i < kStages - 1; ++i) {
      if (i < n) fetch(i);
      commit();
    }
    for (int i = 0; i < n; ++i) {
      wait<kStages - 2>();
      sync_block();
      if (i + kStages - 1 < n) fetch(i + kStages - 1);
      commit();
      const int other = kThreads - 1 - thread();  // what another thread copied
      for (int k = 0; k < 4; ++k) y[(i * kThreads + other) * 4 + k] = shared.stage[i % kStages][other * 4 + k];
    }
    wait<0>();
  }
};

/// c[16 M][8 N] += a[16 M][8 words] b[8 N][8 words]^T, by a warp.
template <class Kind, int M, int N>
struct Product {
  static constexpr int kThreads = 32;
  struct Shared {};
  typename Kind::Sum* c;
  const uint32_t *a, *b;

  ONNXC_DEVICE void operator()(Shared&) const {
    typename Kind::Sum sums[M][N][4];
    uint32_t left[M][4], right[N][2];
    const int g = lane() / 4, t = lane() % 4;
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < M; ++i) {
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 4; ++r) left[i][r] = a[(16 * i + g + r % 2 * 8) * 8 + t + r / 2 * 4];
    }
    ONNXC_UNROLL_DEVICE
    for (int j = 0; j < N; ++j) {
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 2; ++r) right[j][r] = b[(8 * j + g) * 8 + t + r * 4];
    }
    const auto at = [&](int i, int j, int r) { return (16 * i + g + r / 2 * 8) * 8 * N + 8 * j + 2 * t + r % 2; };
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < M; ++i) {
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < N; ++j) {
        ONNXC_UNROLL_DEVICE
        for (int r = 0; r < 4; ++r) sums[i][j][r] = c[at(i, j, r)];
      }
    }
    mma<Kind>(sums, left, right);
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < M; ++i) {
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < N; ++j) {
        ONNXC_UNROLL_DEVICE
        for (int r = 0; r < 4; ++r) c[at(i, j, r)] = sums[i][j][r];
      }
    }
  }
};

/// Threads draw their places.
struct Order {
  static constexpr int kThreads = 32;
  struct Shared {};
  unsigned* next;
  unsigned* came;
  ONNXC_DEVICE void operator()(Shared&) const {
    sync_block();
    fence();
    came[block().x * kThreads + thread()] = fetch_add(next, 1);
  }
};

struct Rounded {
  static constexpr int kThreads = 32;
  struct Shared {};
  float* y;
  const float* x;
  ONNXC_DEVICE void operator()(Shared&) const { y[thread()] = round_tf32(x[thread()]); }
};

}  // namespace onnxc::test
