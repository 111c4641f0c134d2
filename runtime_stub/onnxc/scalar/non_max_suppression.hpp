// NonMaxSuppression: of boxes that overlap, keeps the one with the best score.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct SuppressionParams {
  int64_t batches, classes, boxes;
  bool center = false;  // boxes are x, y of the centre, width, height; else two opposite corners y1, x1, y2, x2
};

namespace detail {

struct Box {
  float low_x, high_x, low_y, high_y;
};

ONNXC_BOTH Box box_at(const float* b, bool center) {
  if (center) return {b[0] - b[2] / 2, b[0] + b[2] / 2, b[1] - b[3] / 2, b[1] + b[3] / 2};
  return {b[1] < b[3] ? b[1] : b[3], b[1] < b[3] ? b[3] : b[1], b[0] < b[2] ? b[0] : b[2], b[0] < b[2] ? b[2] : b[0]};
}

/// True when intersection over union is more than the threshold.
ONNXC_BOTH bool overlaps(Box a, Box b, float threshold) {
  const float x0 = a.low_x > b.low_x ? a.low_x : b.low_x, x1 = a.high_x < b.high_x ? a.high_x : b.high_x;
  const float y0 = a.low_y > b.low_y ? a.low_y : b.low_y, y1 = a.high_y < b.high_y ? a.high_y : b.high_y;
  if (!(x1 > x0) || !(y1 > y0)) return false;
  const float common = (x1 - x0) * (y1 - y0);
  const float area_a = (a.high_x - a.low_x) * (a.high_y - a.low_y), area_b = (b.high_x - b.low_x) * (b.high_y - b.low_y);
  const float all = area_a + area_b - common;
  if (!(area_a > 0) || !(area_b > 0) || !(all > 0)) return false;
  return common / all > threshold;
}

}  // namespace detail

/// y[*count, 3] = batch, class and box of those that are kept, best scores first in each class, and at most `most` of
/// each class. Where scores have no threshold, `score` is null. order[boxes] is scratch memory.
ONNXC_BOTH void non_max_suppression(int64_t* count, int64_t* y, const float* boxes, const float* scores, const int64_t* most,
                                    const float* iou, const float* score, int64_t* order, SuppressionParams p) {
  const int64_t limit = most == nullptr || *most < 0 ? 0 : *most;
  const float threshold = iou == nullptr ? 0.0f : *iou;
  int64_t n = 0;
  for (int64_t b = 0; b < p.batches; ++b) {
    for (int64_t c = 0; c < p.classes; ++c) {
      const float* const s = scores + (b * p.classes + c) * p.boxes;
      int64_t candidates = 0;
      for (int64_t i = 0; i < p.boxes; ++i) {
        if (score == nullptr || s[i] > *score) order[candidates++] = i;
      }
      // Best scores first, ties by index: heap sort with the worst on top.
      const auto worse = [&](int64_t i, int64_t j) { return s[i] != s[j] ? s[i] < s[j] : i > j; };
      const auto sift = [&](int64_t root, int64_t size) {
        for (int64_t child = 2 * root + 1; child < size; child = 2 * root + 1) {
          if (child + 1 < size && worse(order[child + 1], order[child])) ++child;
          if (!worse(order[child], order[root])) return;
          const int64_t t = order[root];
          order[root] = order[child];
          order[child] = t;
          root = child;
        }
      };
      for (int64_t i = candidates / 2; i-- > 0;) sift(i, candidates);
      for (int64_t size = candidates; size > 1; --size) {
        const int64_t t = order[0];
        order[0] = order[size - 1];
        order[size - 1] = t;
        sift(0, size - 1);
      }
      const int64_t first = n;
      for (int64_t i = 0; i < candidates && n - first < limit; ++i) {
        const detail::Box box = detail::box_at(boxes + (b * p.boxes + order[i]) * 4, p.center);
        bool keep = true;
        for (int64_t k = first; k < n && keep; ++k)
          keep = !detail::overlaps(detail::box_at(boxes + (b * p.boxes + y[3 * k + 2]) * 4, p.center), box, threshold);
        if (!keep) continue;
        y[3 * n] = b;
        y[3 * n + 1] = c;
        y[3 * n + 2] = order[i];
        ++n;
      }
    }
  }
  *count = n;
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
