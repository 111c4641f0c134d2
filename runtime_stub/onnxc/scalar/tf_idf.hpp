// TfIdfVectorizer over integers, as ONNX defines it.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// The n-grams as a tree. Node i has children [begin[i], begin[i + 1]), in the order of their keys; node 0 is the root.
/// column[i] is the column of y that counts the n-gram which ends at node i, or -1.
struct GramTree {
  const int64_t *keys = nullptr, *begin = nullptr, *column = nullptr;
  bool counts_up = false;  ///< the keys of the root's children are 0, 1, 2 and so on

  /// The child of `node` with this key, or -1.
  ONNXC_ANYWHERE int64_t find(int64_t node, int64_t key) const {
    if (node == 0 && counts_up) return key >= 0 && key < begin[1] - begin[0] ? begin[0] + key : -1;
    int64_t low = begin[node], count = begin[node + 1] - low;
    if (count == 0) return -1;
    while (count > 1) {  // without branches that depend on keys
      const int64_t half = count / 2;
      low += keys[low + half] <= key ? half : 0;
      count -= half;
    }
    return keys[low] == key ? low : -1;
  }
};

struct TfIdfParams {
  int64_t least = 1, most = 1;  ///< lengths of the n-grams
  int64_t skips = 0;            ///< up to so many items are skipped between two of an n-gram, the same number each time
  bool counts = true;           ///< y holds counts, else whether there are any
};

/// y[row, column] = count of the n-gram in x[row], or 1 where there is one, times weights[column] unless weights are
/// null. x [rows, items], y [rows, columns]. A share has some of the rows.
template <class I>
ONNXC_ANYWHERE void tf_idf(Tensor<float> y, Tensor<const I> x, GramTree tree, const float* weights, TfIdfParams params, Share share = {}) {
  const int64_t items = x.shape[1], columns = y.shape[1];
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    float* const to = y.data + row * columns;
    const I* const from = x.data + row * items;
    for (int64_t c = 0; c < columns; ++c) to[c] = 0;
    int64_t least = params.least;
    for (int64_t distance = 1; distance <= params.skips + 1 && least <= params.most; ++distance) {
      for (int64_t start = 0; start + distance * (least - 1) < items; ++start) {
        int64_t node = 0, item = start;
        for (int64_t size = 1; size <= params.most && item < items; ++size, item += distance) {
          node = tree.find(node, static_cast<int64_t>(from[item]));
          if (node < 0) break;
          if (size >= least && tree.column[node] >= 0) to[tree.column[node]] += 1;
        }
      }
      if (least == 1) least = 2;  // single items have no distance: they are counted once
    }
    for (int64_t c = 0; c < columns; ++c) {
      if (!params.counts) to[c] = to[c] > 0 ? 1.0f : 0.0f;
      if (weights != nullptr) to[c] *= weights[c];
    }
  }
}

}  // namespace onnxc::scalar
