#include "codegen/size_limits.h"

#include <catch2/catch.hpp>

#include <random>

#include "codegen/interface.h"
#include "compiler/support/checked.h"

namespace onnxc {
namespace {

/// A program with buffers of these sizes in its arena, and an input whose extents are the symbols.
Program program_of(const std::vector<Dim>& symbols, const std::vector<Dim>& bytes) {
  Program program;
  program.inputs = {0};
  program.buffers.push_back({.name = "x",
                             .space = Buffer::Space::Input,
                             .element = ElementType::U8,
                             .extents = symbols,
                             .bytes = element_count(symbols),
                             .alignment = 1});
  for (Dim b : bytes) program.buffers.push_back({.name = "b", .bytes = b});
  return program;
}

bool allows(const SizeLimits& limits, const Sizes& sizes) {
  for (const auto& [name, most] : limits.most) {
    if (sizes.at(name) > most) return false;
  }
  return std::ranges::all_of(limits.products, [&](const SizeLimits::Product& product) {
    double all = 1;
    for (Dim s : product.factors) all *= static_cast<double>(std::max<int64_t>(1, sizes.at(s.name())));
    return all <= static_cast<double>(product.most);
  });
}

TEST_CASE("a dimension may be what its largest size allows", "[size-limits]") {
  const Dim n = Dim::symbol("limit_n", 0, INT64_MAX);
  const SizeLimits limits = size_limits(program_of({n}, {n * 3072, n * 4}), {n}, false);
  CHECK(limits.most.at("limit_n") == kMostBytes / 3072);
  CHECK(limits.products.empty());
  const SizeLimits square = size_limits(program_of({n}, {n * n * 16}), {n}, false);
  CHECK(square.most.at("limit_n") == int64_t{1} << 26);
}

TEST_CASE("bounds that are stated hold, and what they make small is not checked", "[size-limits]") {
  const Dim n = Dim::symbol("limit_small", 1, 64), m = Dim::symbol("limit_m", 1, 512);
  const SizeLimits limits = size_limits(program_of({n, m}, {n * m * m * 4096}), {n, m}, true);
  CHECK(limits.most == std::map<std::string, int64_t>{{"limit_small", 64}, {"limit_m", 512}});
  CHECK(limits.products.empty());
}

TEST_CASE("products of several dimensions, but for those that others imply", "[size-limits]") {
  const Dim a = Dim::symbol("limit_a", 0, INT64_MAX), b = Dim::symbol("limit_b", 2, INT64_MAX);
  const SizeLimits limits = size_limits(program_of({a, b}, {a * b * 4, a * b * b * 4, a * 4}), {a, b}, false);
  REQUIRE(limits.products.size() == 1);
  CHECK(text(limits.products[0]) == "limit_a * limit_b * limit_b");
  CHECK(limits.products[0].most == int64_t{1} << 54);
  CHECK(limits.most.at("limit_a") == kMostBytes / 4 / 4);
  CHECK(limits.most.at("limit_b") == int64_t{1} << 27);
  CHECK(product_check(limits.products[0], {{"limit_a", "dims.a"}, {"limit_b", "dims.b"}})
            .starts_with("if (onnxc::product_of(onnxc::product_of(onnxc::max_of(dims.a, 1), dims.b), dims.b) > 18014398509481984) return "
                         "{ONNXC_BAD_DIMENSION, "));
  const SizeLimits wide = size_limits(program_of({a, b}, {a * b * 4096, a * b * b * 4}), {a, b}, false);
  CHECK(wide.products.size() == 2);  // where b is less than 1024, a is bounded by the first
}

TEST_CASE("no size overflows at dimensions that limits allow", "[size-limits]") {
  const Dim a = Dim::symbol("limit_p", 0, INT64_MAX), b = Dim::symbol("limit_q", 1, INT64_MAX), c = Dim::symbol("limit_r", 0, 1000);
  const Dim symbols[] = {a, b, c};
  std::mt19937_64 random(5);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  int allowed = 0, refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Dim> sizes;
    for (int i = 0; i < 4; ++i) {
      Dim d = 1 + below(1000);
      for (int factors = static_cast<int>(below(4)); factors > 0; --factors) {
        const Dim s = symbols[below(3)];
        switch (below(6)) {
          case 0: d *= s + below(100); break;
          case 1: d *= max(s - 3 - below(50), 0); break;
          case 2: d *= floor_div(s * (1 + below(9)) + 5, 1 + below(7)) + 1; break;
          case 3: d = max(d, s * s); break;
          case 4: d = d + ceil_div(d, 1 + below(5)) - s; break;
          default: d *= s;
        }
      }
      sizes.push_back(max(d, 0));
    }
    Program program = program_of({a, b, c}, sizes);
    for (Dim d : sizes) program.arena.unshared_bytes += round_up(d, 64);
    const SizeLimits limits = size_limits(program, {a, b, c}, false);
    for (int trial = 0; trial < 200; ++trial) {
      Sizes at;
      for (Dim s : symbols) at[s.name()] = std::clamp<int64_t>((int64_t{1} << below(63)) + below(3) - 1, s.min_value(), s.max_value());
      if (!allows(limits, at)) {
        ++refused;
        continue;
      }
      ++allowed;
      for (Dim d : sizes) CHECK(d.evaluate(at) <= kMostBytes);
      CHECK(program.arena.unshared_bytes.evaluate(at) >= 0);
    }
  }
  CHECK(allowed > 1000);
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace onnxc
