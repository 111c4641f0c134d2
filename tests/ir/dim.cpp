#include "compiler/ir/dim.h"
#include "compiler/ir/dim_node.h"

#include <catch2/catch.hpp>
#include <random>

#include "compiler/support/checked.h"

namespace onnxc {
namespace {

TEST_CASE("equal extents are the same Dim", "[dim]") {
  const Dim a = Dim::symbol("a", 1, INT64_MAX), b = Dim::symbol("b", 1, INT64_MAX);
  CHECK(a + b == b + a);
  CHECK((a + 1) * (b + 2) == a * b + 2 * a + b + 2);
  CHECK(a - a == Dim(0));
  CHECK(floor_div(4 * a * b, 2 * a) == 2 * b);
  CHECK(floor_div(2 * a + 1, 2) == a);
  CHECK(ceil_div(2 * a + 1, 2) == a + 1);
  CHECK(mod(6 * a, 3) == Dim(0));
  CHECK(max(a, 0) == a);
  CHECK(min(a + 1, a) == a);
  CHECK_FALSE(a == b);
}

TEST_CASE("integers near the ends of 64 bits are compared, not subtracted", "[dim]") {
  const Dim far = INT64_MAX, near = INT64_MIN, n = Dim::symbol("far_n", 1, INT64_MAX);
  CHECK(always_at_least(far, near));
  CHECK_FALSE(always_at_least(near, far));
  CHECK(never_equal(far, near));
  CHECK_FALSE(never_equal(far, far));
  CHECK_FALSE(always_at_least(near, n));
  CHECK(never_equal(n - 5, near + 3));
  CHECK_FALSE(never_equal(n + 5, near + 3));
  CHECK(max(far, near) == far);
  CHECK(min(far, near) == near);
  CHECK(ceil_div(far, 2) == Dim(int64_t{1} << 62));
  CHECK_THROWS_AS(floor_div(near, -1), SizeOverflow);
  CHECK_THROWS_AS(far + 1, SizeOverflow);
  CHECK_THROWS_AS(far * n * 2, SizeOverflow);
  CHECK(value_near(64, n * n * n * n * n * n * n * n * n * n * n) == kMostBytes);
}

TEST_CASE("text and parse are inverse", "[dim]") {
  for (const char* text :
       {"0", "17", "a", "2*a + 1", "a*b - 3", "floordiv(h - 1, 2) + 1", "max(a, b)", "'odd name'*2", "mod(a, 7)", "-a + 5"}) {
    const Dim d = parse_dim(text);
    INFO(text << " -> " << d.text());
    CHECK(parse_dim(d.text()) == d);
  }
  for (const char* text : {"", "a +", "2**3", "f(a)", "(a", "99999999999999999999"}) CHECK_THROWS_AS(parse_dim(text), Error);
}

TEST_CASE("simplification keeps the value", "[dim]") {
  std::mt19937 random(3);
  const Dim symbols[] = {Dim::symbol("p", 1, 50), Dim::symbol("q", 1, 50), Dim::symbol("r", 0, 50)};
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 2000; ++round) {
    const std::map<std::string, int64_t, std::less<>> values{{"p", 1 + pick(50)}, {"q", 1 + pick(50)}, {"r", pick(51)}};
    std::vector<std::pair<Dim, int64_t>> pool;
    for (Dim s : symbols) pool.emplace_back(s, s.evaluate(values));
    for (int64_t c : {0, 1, 2, 3, 7}) pool.emplace_back(c, c);
    for (int step = 0; step < 12; ++step) {
      const auto [a, x] = pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
      const auto [b, y] = pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
      const auto floor_of = [](int64_t n, int64_t d) { return n / d - (n % d != 0 && (n < 0) != (d < 0)); };
      if (std::abs(x) > 1'000'000 || std::abs(y) > 1'000'000) continue;
      switch (pick(7)) {
        case 0: pool.emplace_back(a + b, x + y); break;
        case 1: pool.emplace_back(a - b, x - y); break;
        case 2: pool.emplace_back(a * b, x * y); break;
        case 3:
          if (b.min_value() > 0) pool.emplace_back(floor_div(a, b), floor_of(x, y));
          break;
        case 4:
          if (b.min_value() > 0) pool.emplace_back(ceil_div(a, b), -floor_of(-x, y));
          break;
        case 5: pool.emplace_back(min(a, b), std::min(x, y)); break;
        case 6: pool.emplace_back(max(a, b), std::max(x, y)); break;
      }
      const auto& [d, expected] = pool.back();
      INFO(d.text());
      REQUIRE(d.evaluate(values) == expected);
      REQUIRE(d.min_value() <= expected);
      REQUIRE(d.max_value() >= expected);
      REQUIRE(parse_dim(d.text()) == d);
    }
  }
}

TEST_CASE("run-time symbols are bounded by their limits", "[dim]") {
  const Dim n = Dim::symbol("rows", 1, INT64_MAX), count = Dim::run_time_symbol("@count", 0, kFar, n * 4),
            free = Dim::run_time_symbol("@free", 0, kFar);
  CHECK_FALSE(n.depends_on_run());
  CHECK((count * 3 + 1).depends_on_run());
  CHECK((count * 3 + 1).upper_bound() == n * 12 + 1);
  CHECK((n * 4 - count).upper_bound() == n * 4);
  CHECK(min(free, count).upper_bound() == n * 4);
  CHECK(floor_div(count, 2).upper_bound() == n * 2);
  CHECK_FALSE(max(free, count).upper_bound().has_value());
  CHECK_FALSE((free * 2).upper_bound().has_value());
  CHECK((free * count).upper_bound([](const std::string& s) { return s == "@free"; }) == free * n * 4);
  const Dim any = Dim::run_time_symbol("@any", -kFar, kFar);
  CHECK((any * count).upper_bound([](const std::string& s) { return s == "@any"; }) == max(any, 0) * n * 4);
}

TEST_CASE("what another graph states of the same symbols is forgotten", "[dim]") {
  const Dim n = Dim::symbol("lines", 2, 9), found = Dim::run_time_symbol("@found", 0, kFar, n * 4), sum = found + 1;
  {
    const KeptBounds kept;
    Dim::symbol("lines", 3, 3);
    Dim::run_time_symbol("@found", 0, 12, Dim(12));
    Dim::state_limit(sum, 5);
    CHECK(found.upper_bound() == Dim(12));
    CHECK(n.max_value() == 3);
  }
  CHECK(found.upper_bound() == n * 4);
  CHECK(sum.upper_bound() == n * 4 + 1);
  CHECK(n.min_value() == 2);
  CHECK(n.max_value() == 9);
  CHECK(sum.max_value() == 37);
}

TEST_CASE("a limit that stands on what it limits says nothing", "[dim]") {
  const Dim n = Dim::symbol("rows", 1, INT64_MAX), a = Dim::run_time_symbol("@round1", 0, kFar, n),
            b = Dim::run_time_symbol("@round2", 0, kFar);
  Dim::state_limit(a, a);
  CHECK(a.upper_bound() == n);
  Dim::state_limit(b, a * 2);
  CHECK(b.upper_bound() == n * 2);
  Dim::state_limit(a, b + 1);
  CHECK(a.upper_bound() == n);
}

TEST_CASE("extents that meet are one list", "[dim]") {
  const Dim d = parse_dim("broadcast(c, broadcast(a, b), a)");
  CHECK(d.text() == "broadcast(a, b, c)");
  CHECK(d == parse_dim("broadcast(a, b, c)"));
  CHECK(d == broadcast(parse_dim("b"), parse_dim("broadcast(c, a)")));
}

TEST_CASE("bounds of nested extents", "[dim]") {
  Dim d = Dim::run_time_symbol("@deep", -kFar, kFar);
  for (int i = 0; i < 8; ++i) d = min(1, max(0, Dim(1) - max(d - i, Dim(i) - d)));
  CHECK(d.min_value() >= 0);
  CHECK(d.max_value() <= 1);
  const auto nest_on = [&] {
    const Dim other = Dim::run_time_symbol("@other", -kFar, kFar);
    for (int i = 0; i < 60; ++i) d = max(min(d, other + i), other - d);
  };
  CHECK_THROWS_AS(nest_on(), Error);  // a text that doubles each time
}

TEST_CASE("an extent beyond 64 bits is refused", "[dim]") { CHECK_THROWS_AS(Dim(INT64_MAX) + Dim(1), Error); }

}  // namespace
}  // namespace onnxc
