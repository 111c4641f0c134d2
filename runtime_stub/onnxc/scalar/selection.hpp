// Operators whose result has as many elements as the data says: NonZero, Compress, Unique. Each counts first and then
// writes. Results are row-major at the extents that were found.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// Whether an element is neither zero nor an empty string.
template <class T>
ONNXC_BOTH bool is_nonzero(const T& x) {
  if constexpr (requires {
                  x.data;
                  x.size;
                })
    return x.size != 0;
  else if constexpr (small_integer<T>) return static_cast<int>(x) != 0;
  else if constexpr (requires { x.bits; }) return static_cast<float>(x) != 0;
  else return x != T{};
}

/// y[rank, *count] = the positions of the elements of x that are not zero, in row-major order; a scalar counts as rank 1.
template <class T>
ONNXC_ANYWHERE void nonzero(int64_t* count, int64_t* y, Tensor<const T> x) {
  int64_t n = 0;
  for (int64_t i = 0; i < x.count(); ++i) n += is_nonzero(x.data[i]) ? 1 : 0;
  *count = n;
  int64_t at = 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    if (!is_nonzero(x.data[i])) continue;
    int64_t rest = i;
    for (int axis = x.shape.rank; axis-- > 0;) {
      y[axis * n + at] = rest % x.shape[axis];
      rest /= x.shape[axis];
    }
    if (x.shape.rank == 0) y[at] = 0;
    ++at;
  }
}

struct CompressParams {
  int64_t outer, extent, inner, conditions;
};

/// y[outer, *count, inner] = the slices of x [outer, extent, inner] whose condition holds; slices beyond the conditions are dropped.
template <class T>
ONNXC_ANYWHERE void compress(int64_t* count, T* y, const T* x, const bool* condition, CompressParams p) {
  const int64_t most = p.conditions < p.extent ? p.conditions : p.extent;
  int64_t n = 0;
  for (int64_t i = 0; i < most; ++i) n += condition[i] ? 1 : 0;
  *count = n;
  for (int64_t o = 0; o < p.outer; ++o) {
    int64_t at = 0;
    for (int64_t i = 0; i < most; ++i) {
      if (!condition[i]) continue;
      for (int64_t k = 0; k < p.inner; ++k) y[(o * n + at) * p.inner + k] = x[(o * p.extent + i) * p.inner + k];
      ++at;
    }
  }
}

/// -1, 0 or 1. NaN comes after all numbers and is equal to itself. Strings by their bytes.
template <class T>
ONNXC_BOTH int compare(const T& a, const T& b) {
  if constexpr (requires {
                  a.data;
                  a.size;
                }) {
    const std::size_t n = a.size < b.size ? a.size : b.size;
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = static_cast<unsigned char>(a.data[i]), y = static_cast<unsigned char>(b.data[i]);
      if (x != y) return x < y ? -1 : 1;
    }
    return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
  } else if constexpr (small_float<T>) {
    return compare(static_cast<float>(a), static_cast<float>(b));
  } else {
    const bool a_is_nan = a != a, b_is_nan = b != b;
    if (a_is_nan || b_is_nan) return a_is_nan && b_is_nan ? 0 : a_is_nan ? 1 : -1;
    return a < b ? -1 : b < a ? 1 : 0;
  }
}

struct UniqueParams {
  int64_t outer, extent, inner;
  bool sorted;
};

/// The unique slices along an axis of x [outer, extent, inner]: y [outer, *count, inner], and for each the index of its
/// first occurrence and how often it occurs; for each slice of x the index of its equal in y. Results whose pointer is
/// null are left out. order[extent] and rank[extent] are scratch memory.
template <class T>
ONNXC_ANYWHERE void unique(int64_t* count, T* y, int64_t* indices, int64_t* inverse, int64_t* counts, const T* x, int64_t* order,
                           int64_t* rank, UniqueParams p) {
  const auto compare_slices = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < p.outer; ++o) {
      for (int64_t k = 0; k < p.inner; ++k) {
        if (const int c = compare(x[(o * p.extent + a) * p.inner + k], x[(o * p.extent + b) * p.inner + k])) return c;
      }
    }
    return 0;
  };
  // Heap sort by value and then by index: no recursion, no memory.
  const auto before = [&](int64_t a, int64_t b) {
    const int c = compare_slices(a, b);
    return c != 0 ? c < 0 : a < b;
  };
  const auto sift = [&](int64_t root, int64_t n) {
    for (int64_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
      if (child + 1 < n && before(order[child], order[child + 1])) ++child;
      if (!before(order[root], order[child])) return;
      const int64_t t = order[root];
      order[root] = order[child];
      order[child] = t;
      root = child;
    }
  };
  for (int64_t i = 0; i < p.extent; ++i) order[i] = i;
  for (int64_t i = p.extent / 2; i-- > 0;) sift(i, p.extent);
  for (int64_t n = p.extent; n > 1; --n) {
    const int64_t t = order[0];
    order[0] = order[n - 1];
    order[n - 1] = t;
    sift(0, n - 1);
  }
  // rank[i]: for the first of its equals -1 - number, else the index of that first one.
  int64_t n = 0, first = 0;
  for (int64_t i = 0; i < p.extent; ++i) {
    if (i == 0 || compare_slices(order[i - 1], order[i]) != 0) {
      first = order[i];
      rank[first] = -1 - n++;
    } else {
      rank[order[i]] = first;
    }
  }
  *count = n;
  if (!p.sorted) {
    int64_t number = 0;
    for (int64_t i = 0; i < p.extent; ++i) {
      if (rank[i] < 0) rank[i] = -1 - number++;
    }
  }
  for (int64_t i = 0; i < n && counts != nullptr; ++i) counts[i] = 0;
  for (int64_t i = 0; i < p.extent; ++i) {
    const bool is_first = rank[i] < 0;
    const int64_t number = -1 - (is_first ? rank[i] : rank[rank[i]]);
    if (inverse != nullptr) inverse[i] = number;
    if (counts != nullptr) ++counts[number];
    if (!is_first) continue;
    if (indices != nullptr) indices[number] = i;
    for (int64_t o = 0; o < p.outer && y != nullptr; ++o) {
      for (int64_t k = 0; k < p.inner; ++k) y[(o * n + number) * p.inner + k] = x[(o * p.extent + i) * p.inner + k];
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
