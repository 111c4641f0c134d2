#include "compiler/ops/nn/window.h"

#include <fmt/format.h>

#include <utility>

namespace onnxc {

Window read_window(const Node& node, const Extents& spatial, const DimList& kernel) {
  const std::size_t rank = spatial.size();
  Window w;
  const auto list = [&](const char* name, std::size_t length, int64_t otherwise, int64_t least) {
    std::vector<int64_t> values = node.integers(name, std::vector<int64_t>(length, otherwise));
    if (values.size() != length)
      node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' has {} values where {} are needed", name, values.size(), length));
    for (int64_t v : values) {
      if (v < least || v > INT32_MAX) node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' holds {}", name, v));
    }
    return values;
  };
  if (node.has("kernel_shape")) {
    for (int64_t k : list("kernel_shape", rank, 1, 1)) w.kernel.push_back(k);
    for (std::size_t i = 0; i < rank && !kernel.empty(); ++i) {
      if (kernel[i].is_constant() && !(kernel[i] == w.kernel[i]))
        node.fail(ErrorKind::Invalid,
                  fmt::format("kernel_shape[{}] is {} where the weights have {}", i, w.kernel[i].text(), kernel[i].text()));
    }
  } else {
    w.kernel = kernel;
  }
  if (w.kernel.size() != rank)
    node.fail(ErrorKind::Invalid, fmt::format("the kernel has {} axes, the input {} spatial ones", w.kernel.size(), rank));
  w.strides = list("strides", rank, 1, 1);
  w.dilations = list("dilations", rank, 1, 1);
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    for (std::size_t i = 0; i < rank; ++i) {
      const Dim out = ceil_div(spatial[i], w.strides[i]), dilated = (w.kernel[i] - 1) * w.dilations[i] + 1;
      const Dim total = max((out - 1) * w.strides[i] + dilated - spatial[i], 0), less = floor_div(total, 2);
      w.pads_begin.push_back(auto_pad == "SAME_UPPER" ? less : total - less);
      w.pads_end.push_back(auto_pad == "SAME_UPPER" ? total - less : less);
    }
  } else if (auto_pad == "VALID" || auto_pad == "NOTSET" || auto_pad.empty()) {
    const std::vector<int64_t> pads = auto_pad == "VALID" ? std::vector<int64_t>(2 * rank, 0) : list("pads", 2 * rank, 0, 0);
    w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    w.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  } else {
    node.fail(ErrorKind::Invalid, fmt::format("auto_pad is '{}'; NOTSET, SAME_UPPER, SAME_LOWER or VALID are allowed", auto_pad));
  }
  return w;
}

Extents window_output(const Node& node, const Window& w, const Extents& spatial, bool ceil_mode) {
  Extents out;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const Dim dilated = (w.kernel[i] - 1) * w.dilations[i] + 1, room = spatial[i] + w.pads_begin[i] + w.pads_end[i] - dilated;
    Dim n = ceil_mode ? ceil_div(room, w.strides[i]) + 1 : floor_div(room, w.strides[i]) + 1;
    // A last window that would begin in the padding at the end is dropped.
    if (ceil_mode) n = min(n, ceil_div(spatial[i] + w.pads_begin[i], w.strides[i]));
    // With ceil_mode a window may reach out by less than a stride.
    if (n.max_value() <= 0 && spatial[i].max_value() > 0)
      node.fail(ErrorKind::Invalid, fmt::format("the window reaches over {} elements of axis {}, which has {} with its padding",
                                                dilated.text(), i + 2, (room + dilated).text()));
    out.push_back(max(n, 0));
  }
  return out;
}

Window Sliding::plane() const {
  return {.kernel = {y.kernel, x.kernel},
          .strides = {y.stride, x.stride},
          .dilations = {y.dilation, x.dilation},
          .pads_begin = {y.pad_begin, x.pad_begin},
          .pads_end = {y.pad_end, x.pad_end}};
}

Sliding sliding(const Window& window, const Extents& in, const Extents& out) {
  const std::size_t rank = window.rank();
  ONNXC_CHECK(rank >= 1 && rank <= 3, "a window of one to three axes");
  const auto axis = [&](std::size_t from_last) {
    if (from_last > rank) return WindowAxis{};
    const std::size_t i = rank - from_last;
    return WindowAxis{in[i + 2],           out[i + 2],           window.kernel[i],  window.strides[i],
                      window.dilations[i], window.pads_begin[i], window.pads_end[i]};
  };
  Sliding s{in[0], axis(3), axis(2), axis(1)};
  if (s.z.is_identity()) {
    s.n = s.n * s.z.in;
    s.z = {};
  } else if (s.y.is_identity() && s.x.is_identity()) {
    s.x.in = s.x.out = s.y.in * s.x.in;
    s.y = std::exchange(s.z, {});
  }
  return s;
}

}  // namespace onnxc
