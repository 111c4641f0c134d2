// TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier: trees as tables.
//
// Node i is nodes[4 i, ...): feature, mode, the node where the comparison holds, the node where it does not. In a leaf
// the last two say where its weights begin and how many there are. The compiler has checked that all walks end.
#pragma once
#include "../../types.hpp"
#include "scores.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class TreeMode { leq, lt, gte, gt, eq, neq, leaf };
constexpr int32_t kMissingTracksTrue = 16;  ///< beside the mode: NaN takes the first branch

enum class TreeAggregate { sum, average, min, max };

template <class T>
struct Forest {
  const int32_t* nodes = nullptr;
  const T* thresholds = nullptr;   ///< of the nodes
  const int32_t* roots = nullptr;  ///< a node for each tree
  int64_t trees = 0;
  const int32_t* targets = nullptr;  ///< of the leaves' weights
  const T* weights = nullptr;
  const T* base = nullptr;  ///< `bases` values, which are added to the sums
  int64_t bases = 0;
};

struct TreeParams {
  int64_t targets = 1;
  TreeAggregate aggregate = TreeAggregate::sum;
  PostTransform post = PostTransform::none;
  bool one_sided = false;  ///< classifier: of two classes, the weights are all for one
  bool positive = false;   ///< classifier: no weight is less than 0
};

/// The leaf in which x ends.
template <class T, class X>
ONNXC_ANYWHERE const int32_t* find_leaf(const Forest<T>& forest, int64_t tree, const X* x) {
  int32_t at = forest.roots[tree];
  for (;;) {
    const int32_t* const node = forest.nodes + int64_t{4} * at;
    const auto mode = static_cast<TreeMode>(node[1] & ~kMissingTracksTrue);
    if (mode == TreeMode::leaf) return node;
    const T value = static_cast<T>(x[node[0]]), threshold = forest.thresholds[at];
    bool holds = false;
    switch (mode) {
      case TreeMode::leq: holds = value <= threshold; break;
      case TreeMode::lt: holds = value < threshold; break;
      case TreeMode::gte: holds = value >= threshold; break;
      case TreeMode::gt: holds = value > threshold; break;
      case TreeMode::eq: holds = value == threshold; break;
      case TreeMode::neq: holds = value != threshold; break;
      case TreeMode::leaf: break;
    }
    if ((node[1] & kMissingTracksTrue) != 0 && value != value) holds = true;
    at = holds ? node[2] : node[3];
  }
}

/// Adds up the leaves in which x ends: scores[target], and whether a target has any.
template <class T, class X>
ONNXC_ANYWHERE void aggregate_trees(const Forest<T>& forest, const X* x, const TreeParams& params, T* scores, bool* has) {
  for (int64_t t = 0; t < params.targets; ++t) {
    scores[t] = 0;
    has[t] = false;
  }
  for (int64_t tree = 0; tree < forest.trees; ++tree) {
    const int32_t* const leaf = find_leaf(forest, tree, x);
    for (int32_t w = leaf[2]; w < leaf[2] + leaf[3]; ++w) {
      const T weight = forest.weights[w];
      T& score = scores[forest.targets[w]];
      bool& any = has[forest.targets[w]];
      switch (params.aggregate) {
        case TreeAggregate::sum:
        case TreeAggregate::average: score += weight; break;
        case TreeAggregate::min: score = !any || weight < score ? weight : score; break;
        case TreeAggregate::max: score = !any || weight > score ? weight : score; break;
      }
      any = true;
    }
  }
}

/// The scores of one row of a TreeEnsembleRegressor or TreeEnsemble, from the aggregates of its targets. y: `targets` elements.
template <class T, class Y>
ONNXC_ANYWHERE void finish_regression(const Forest<T>& forest, const TreeParams& params, T* scores, Y* y) {
  const int64_t n = params.targets;
  if (params.aggregate == TreeAggregate::average) {
    for (int64_t t = 0; t < n; ++t) scores[t] /= static_cast<T>(forest.trees);
  }
  if (forest.bases == n) {
    for (int64_t t = 0; t < n; ++t) scores[t] += forest.base[t];
  }
  if (n > 1) post_transform(params.post, scores, n);
  else if (params.post == PostTransform::probit) scores[0] = probit_of(scores[0]);  // ONNX Runtime applies no other to a single target
  for (int64_t t = 0; t < n; ++t) y[t] = static_cast<Y>(scores[t]);
}

/// The class of one row of a TreeEnsembleClassifier, and its scores y [targets], from the sums of its targets. has: whether a target
/// has any weight. As in ONNX Runtime, the base value of one of two classes counts only where the class has a weight, and two base values for
/// two classes that have weights mean one score and its opposite.
template <class T>
ONNXC_ANYWHERE int64_t finish_classification(const Forest<T>& forest, const TreeParams& params, T* scores, bool* has, float* y) {
  const int64_t n = params.targets;
  int64_t best = 0, held = n;
  SecondClass second = SecondClass::none;
  if (n != 2) {
    for (int64_t t = 0; t < n; ++t) {
      if (forest.bases == n) {
        scores[t] += forest.base[t];
        has[t] = true;
      }
    }
    best = -1;
    for (int64_t t = 0; t < n; ++t) {
      if (has[t] && (best < 0 || scores[t] > scores[best])) best = t;
    }
    if (best < 0) best = 0;
  } else {
    if (forest.bases == 2 && has[1]) {
      scores[1] = forest.base[1] + scores[0];
      scores[0] = -scores[1];
    } else if (forest.bases == 2) {
      scores[0] += forest.base[0];
    } else {
      if (forest.bases == 1) scores[0] += forest.base[0];
      if (!has[1]) held = 1;
    }
    const T weight = has[1] ? scores[1] : has[0] ? scores[0] : T(0);
    if (params.one_sided && params.positive) {
      best = weight > T(0.5f);
      second = SecondClass::complement;
    } else {
      best = weight > T(0);
      if (params.one_sided || forest.bases == 0) second = SecondClass::opposite;
    }
    for (int64_t t = 0; t < n; ++t) {
      if (!has[t]) scores[t] = 0;
    }
  }
  if (held == 1) two_scores(params.post, second, T(scores[0]), scores);
  else post_transform(params.post, scores, n);
  for (int64_t t = 0; t < n; ++t) y[t] = static_cast<float>(scores[t]);
  return best;
}

/// y[row, target]. x [rows, columns], y [rows, targets]; scores and has: room for `targets` elements, of this share.
template <class T, class Y, class X>
ONNXC_ANYWHERE void tree_regressor(Share share, Tensor<Y> y, Tensor<const X> x, Forest<T> forest, T* scores, bool* has, TreeParams params) {
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    aggregate_trees(forest, x.data + row * x.shape[1], params, scores, has);
    finish_regression(forest, params, scores, y.data + row * params.targets);
  }
}

/// classes[row] is the number of the class, and y[row, class] its score; otherwise as above.
template <class T, class X>
ONNXC_ANYWHERE void tree_classifier(Share share, Tensor<float> y, int64_t* classes, Tensor<const X> x, Forest<T> forest, T* scores,
                                    bool* has, TreeParams params) {
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    aggregate_trees(forest, x.data + row * x.shape[1], params, scores, has);
    classes[row] = finish_classification(forest, params, scores, has, y.data + row * params.targets);
  }
}

}  // namespace onnxc::scalar
