// Which passes over memory compute a reduction.
#include "compiler/ops/reduce/passes_over_axes.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

using namespace onnxc;

namespace {

/// `last 6x20 row 20`, or `middle 1x6x4 row 4 outer 24`; passes separated by "; ".
std::string text(const std::optional<std::vector<AxesPass>>& passes) {
  if (!passes) return "none";
  std::string all;
  for (const AxesPass& p : *passes) {
    all += all.empty() ? "" : "; ";
    if (p.is_last) all += fmt::format("last {}x{} row {}", p.outer.text(), p.reduced.text(), p.x_row.text());
    else
      all += fmt::format("middle {}x{}x{} row {} outer {}", p.outer.text(), p.reduced.text(), p.inner.text(), p.x_row.text(),
                         p.x_outer.text());
  }
  return all;
}

}  // namespace

TEST_CASE("reductions in passes over axes") {
  const Extents x{2, 3, 4, 5};
  const Layout image = Layout{true, 3}, padded = Layout{true, 16};
  struct Case {
    Layout layout;
    std::vector<int> axes;
    const char* expected;
  };
  const Case cases[] = {
      {{}, {3}, "last 24x5 row 5"},
      {{}, {2, 3}, "last 6x20 row 20"},
      {{}, {0, 1, 2, 3}, "last 1x120 row 0"},
      {{}, {1}, "middle 2x3x20 row 20 outer 60"},
      {{}, {0, 2, 3}, "last 6x20 row 20; middle 1x2x3 row 3 outer 0"},
      {image, {2, 3}, "middle 2x20x3 row 3 outer 60"},
      {image, {1}, "last 40x3 row 3"},
      {image, {0, 2, 3}, "middle 1x40x3 row 3 outer 0"},
      {padded, {2, 3}, "middle 2x20x3 row 16 outer 320"},
      {padded, {1}, "last 40x3 row 16"},
      {padded, {2}, "none"},  // rows of pixels with gaps between the channels
  };
  for (const Case& c : cases) {
    Extents y = x;
    for (int axis : c.axes) y[static_cast<std::size_t>(axis)] = 1;
    const Layout y_layout = c.layout.channels_last ? Layout{true, y[1]} : Layout{};
    INFO(text(y) << (c.layout.channels_last ? " channels-last" : ""));
    CHECK(text(passes_over_axes(x, c.layout, y, y_layout, c.axes, true)) == c.expected);
  }
}
