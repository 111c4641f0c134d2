// Vector functions against double: the largest error in ULP over all magnitudes, edge cases, and the primitives of
// Vec.
#include <onnxc/vfn.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace onnxc;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

double ulp_of(double y) {
  int e = 0;
  std::frexp(y, &e);
  return std::ldexp(1.0, (y == 0 || e < -125 ? -125 : e) - 24);
}

struct Worst {
  double ulp = 0;
  float at = 0;
};

/// The largest error over a sweep of all bit patterns in [low, high] and a dense one near zero.
template <class F, class Exact>
Worst sweep(F f, Exact exact, float low, float high) {
  Worst worst;
  float x[Vec::width], y[Vec::width];
  int filled = 0;
  auto put = [&](float v) {
    x[filled++] = v;
    if (filled < Vec::width) return;
    filled = 0;
    f(Vec::load(x)).store(y);
    for (int i = 0; i < Vec::width; ++i) {
      const double expected = exact(double(x[i]));
      if (std::isinf(float(expected))) {
        if (!std::isinf(y[i])) worst = {1e30, x[i]};
        continue;
      }
      const double error = std::fabs(y[i] - expected) / ulp_of(expected);
      if (!(error <= worst.ulp)) worst = {error, x[i]};
    }
  };
  for (uint64_t b = 0; b < 0x100000000ull; b += 1597) {
    float v = 0;
    const auto u = uint32_t(b);
    std::memcpy(&v, &u, 4);
    if (v >= low && v <= high) put(v);
  }
  for (double v = std::fmax(low, -20); v < std::fmin(high, 20); v += 7.3e-5) put(float(v));
  return worst;
}

float one(Vec x) {
  float lanes[Vec::width];
  x.store(lanes);
  return lanes[Vec::width - 1];
}

/// Without FMA each step rounds twice, which costs accuracy.
constexpr double kSlack = kHasFma ? 1.0 : 2.0;

}  // namespace

TEST_CASE("functions stay within their stated error") {
  auto check = [](const char* name, Worst worst, double bound) {
    INFO(name << ": " << worst.ulp << " ULP at " << worst.at);
    CHECK(worst.ulp <= bound * kSlack);
    if (const char* show = std::getenv("ONNXC_SHOW"); show != nullptr)
      std::printf("%-21s %.2f ULP at %g\n", name, worst.ulp, double(worst.at));
  };
  check("exp", sweep([](Vec x) { return fn::exp(x); }, [](double x) { return std::exp(x) < 0x1p-126 ? 0 : std::exp(x); }, -1e30f, 1e30f),
        1.1);
  check("log", sweep([](Vec x) { return fn::log(x); }, [](double x) { return std::log(x); }, 1e-45f, 3e38f), 1.0);
  const auto exact_sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto exact_gate = [](double x) { return x / (1 + std::exp(-x)); };
  const auto exact_gate_exp2 = [](double u) { return -0.69314718055994530942 * u / (1 + std::exp2(u)); };
  const auto x_of = [](Vec u) { return u * Vec::all(-0.693147182f); };
  check("sigmoid", sweep([](Vec x) { return fn::sigmoid(x); }, exact_sigmoid, -87.0f, 3e38f), 4.0);
  check("gate", sweep([](Vec x) { return fn::gate(x, x); }, exact_gate, -80.0f, 3e38f), 4.5);
  check("gate_exp2", sweep([&](Vec u) { return fn::gate_exp2(x_of(u), x_of(u), u); }, exact_gate_exp2, -3e38f, 115.0f), 4.5);
#if defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)  // the form that this machine does not take
  constexpr bool kOther = !kDivides;
  check("sigmoid, other form", sweep([](Vec x) { return fn::sigmoid<kOther>(x); }, exact_sigmoid, -87.0f, 3e38f), 4.0);
  check("gate, other form", sweep([](Vec x) { return fn::gate<kOther>(x, x); }, exact_gate, -80.0f, 3e38f), 4.5);
  check("gate_exp2, other form", sweep([&](Vec u) { return fn::gate_exp2<kOther>(x_of(u), x_of(u), u); }, exact_gate_exp2, -3e38f, 115.0f),
        4.5);
  check("quotient", sweep([](Vec x) { return quotient<true>(Vec::all(3.0f), x); }, [](double x) { return 3 / x; }, 1e-30f, 1e30f), 0.6);
  check("quotient, other form",
        sweep([](Vec x) { return quotient<false>(Vec::all(3.0f), x); }, [](double x) { return 3 / x; }, 1e-30f, 1e30f), 0.6);
#endif
  check("tanh", sweep([](Vec x) { return fn::tanh(x); }, [](double x) { return std::tanh(x); }, -3e38f, 3e38f), 6.0);
  check("erf", sweep([](Vec x) { return fn::erf(x); }, [](double x) { return std::erf(x); }, -3e38f, 3e38f), 1.5);
  double most = 0, most_of_tail = 0;
  for (float x = -12; x < 12; x += 1.0f / 4096) {
    const double exact = std::erfc(-double(x)), error = std::abs(one(fn::erf_plus_one(Vec::all(x))) - exact);
    most = std::max(most, error);
    if (x > -4.8f && exact < 0.02) most_of_tail = std::max(most_of_tail, error / exact);
  }
  CHECK(most < 3e-7);
  CHECK(most_of_tail < 2e-5);
  check("softplus",
        sweep([](Vec x) { return fn::softplus(x); },
              [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, -87.0f, 3e38f),
        3.0);
  check("sin", sweep([](Vec x) { return fn::sin(x); }, [](double x) { return std::sin(x); }, -100.0f, 100.0f), 1.6);
  check("cos", sweep([](Vec x) { return fn::cos(x); }, [](double x) { return std::cos(x); }, -100.0f, 100.0f), 1.6);
}

TEST_CASE("sine and cosine keep absolute accuracy at large angles") {
  for (float x : {1234.5f, -7999.0f, 8001.0f, 1e10f}) {
    CHECK(one(fn::sin(Vec::all(x))) == Approx(std::sin(double(x))).margin(1e-6));
    CHECK(one(fn::cos(Vec::all(x))) == Approx(std::cos(double(x))).margin(1e-6));
  }
  CHECK(std::isnan(one(fn::sin(Vec::all(kInf)))));
}

TEST_CASE("NaN and infinity pass through the functions as in C") {
  using F = Vec (*)(Vec);
  using G = double (*)(double);
  const struct {
    const char* name;
    F f;
    G g;
  } table[] = {{"exp", fn::exp, std::exp},
               {"log", fn::log, std::log},
               {"tanh", fn::tanh, std::tanh},
               {"erf", fn::erf, std::erf},
               {"erf_plus_one", fn::erf_plus_one, [](double x) { return std::erfc(-x); }},
               {"sqrt", fn::sqrt, std::sqrt},
               {"atan", fn::atan, std::atan},
               {"floor", fn::floor, std::floor},
               {"ceil", fn::ceil, std::ceil}};
  for (const auto& row : table) {
    for (float x : {kNan, kInf, -kInf, 0.0f, -0.0f, -1.0f}) {
      INFO(row.name << " of " << x);
      const float y = one(row.f(Vec::all(x))), expected = float(row.g(double(x)));
      if (std::isnan(expected)) CHECK(std::isnan(y));
      else CHECK(y == Approx(expected));
    }
  }
  const auto check_gates = [](auto sigmoid, auto gate, auto gate_exp2) {
    CHECK(std::isnan(one(sigmoid(Vec::all(kNan)))));
    CHECK(one(sigmoid(Vec::all(-kInf))) == 0.0f);
    CHECK(one(sigmoid(Vec::all(kInf))) == 1.0f);
    CHECK(one(sigmoid(Vec::all(-1e38f))) == 0.0f);
    CHECK(one(sigmoid(Vec::all(1e38f))) == 1.0f);
    for (float y : {-kInf, -1e38f, -150.0f, 0.0f, 1e38f, kInf}) {
      INFO(y);
      const float u = y * -1.44269504f;
      CHECK(std::isnan(one(gate(Vec::all(kNan), Vec::all(y)))));
      CHECK(std::isnan(one(gate(Vec::all(y), Vec::all(kNan)))));
      CHECK(std::isnan(one(gate_exp2(Vec::all(kNan), Vec::all(y), Vec::all(u)))));
      CHECK(std::isnan(one(gate_exp2(Vec::all(y), Vec::all(kNan), Vec::all(kNan)))));
      for (const float open : {one(gate(Vec::all(kInf), Vec::all(y))), one(gate_exp2(Vec::all(kInf), Vec::all(y), Vec::all(u)))}) {
        CHECK((y < -87 ? std::isnan(open) : open == kInf));
      }
      CHECK(one(gate(Vec::all(-3.0f), Vec::all(y))) == Approx(-3.0 / (1.0 + std::exp(-double(y)))).margin(1e-37));
      CHECK(one(gate_exp2(Vec::all(-3.0f), Vec::all(y), Vec::all(u))) == Approx(-3.0 / (1.0 + std::exp(-double(y)))).margin(1e-37));
    }
  };
  check_gates([](Vec x) { return fn::sigmoid(x); }, [](Vec x, Vec y) { return fn::gate(x, y); },
              [](Vec x, Vec y, Vec u) { return fn::gate_exp2(x, y, u); });
#if defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
  constexpr bool kOther = !kDivides;
  check_gates([](Vec x) { return fn::sigmoid<kOther>(x); }, [](Vec x, Vec y) { return fn::gate<kOther>(x, y); },
              [](Vec x, Vec y, Vec u) { return fn::gate_exp2<kOther>(x, y, u); });
#endif
  CHECK(std::isnan(one(fn::softplus(Vec::all(kNan)))));
  CHECK(one(fn::softplus(Vec::all(kInf))) == kInf);
  CHECK(one(fn::softplus(Vec::all(-kInf))) == 0.0f);
}

TEST_CASE("vector min and max propagate NaN from either side") {
  const Lanes lanes;
  const Vec nan = Vec::all(kNan), two = Vec::all(2.0f);
  CHECK(std::isnan(one(fn::max(nan, two))));
  CHECK(std::isnan(one(fn::max(two, nan))));
  CHECK(std::isnan(one(fn::min(nan, two))));
  CHECK(std::isnan(one(fn::min(two, nan))));
  CHECK(std::isnan(one(fn::max(nan, lanes(0.0f)))));
  CHECK(std::isnan(one(fn::max(two, lanes(kNan)))));
  CHECK(std::isnan(one(fn::clip(nan, lanes(0.0f), lanes(6.0f)))));
  CHECK(std::isnan(one(fn::relu(nan))));
  CHECK(one(fn::max(two, lanes(3.0f))) == 3.0f);
  CHECK(one(fn::clip(Vec::all(9.0f), lanes(0.0f), lanes(6.0f))) == 6.0f);
  CHECK(one(fn::clip(Vec::all(9.0f), two, Vec::all(5.0f))) == 5.0f);
  CHECK(one(fn::relu(Vec::all(-1.0f))) == 0.0f);
}

TEST_CASE("rounding, signs, choice and powers") {
  for (float x : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f, -2.6f, 8388609.0f, 1e20f}) {
    INFO(x);
    CHECK(one(fn::round(Vec::all(x))) == std::nearbyint(x));
    CHECK(one(fn::floor(Vec::all(x))) == std::floor(x));
    CHECK(one(fn::ceil(Vec::all(x))) == std::ceil(x));
    CHECK(one(fn::abs(Vec::all(x))) == std::fabs(x));
    CHECK(one(fn::neg(Vec::all(x))) == -x);
    CHECK(one(fn::sign(Vec::all(x))) == fn::sign(x));
    for (float e : {1.0f, 2.0f, 3.0f, -1.0f, 0.5f, 0.3f, 5.0f}) {
      const float y = one(fn::pow(Vec::all(x), Lanes{}(e))), expected = std::pow(x, e);
      if (std::isnan(expected)) CHECK(std::isnan(y));
      else CHECK(y == Approx(expected));
    }
  }
  CHECK(std::signbit(one(fn::round(Vec::all(-0.25f)))));
  CHECK(one(fn::pow(Vec::all(-kInf), Lanes{}(0.5f))) == kInf);
  CHECK(one(fn::where(fn::less(Vec::all(1.0f), Vec::all(2.0f)), Vec::all(3.0f), Vec::all(4.0f))) == 3.0f);
  CHECK(one(fn::where(fn::logical_not(fn::less(Vec::all(1.0f), Vec::all(2.0f))), Vec::all(3.0f), Vec::all(4.0f))) == 4.0f);
  CHECK(one(fn::cast<float>(fn::logical_xor(Lanes{}(true), Lanes{}(false)))) == 1.0f);
  CHECK(one(fn::cast<float>(fn::cast<bool>(Vec::all(kNan)))) == 1.0f);
}

TEST_CASE("partial loads and stores touch the given lanes alone") {
  float memory[3 * Vec::width], out[3 * Vec::width];
  for (int n = 0; n <= Vec::width; ++n) {
    for (int offset = 0; offset < Vec::width; ++offset) {
      for (int i = 0; i < 3 * Vec::width; ++i) {
        memory[i] = float(i + 1);
        out[i] = -1.0f;
      }
      Vec::load(memory + offset, n).store(out + offset);
      for (int i = 0; i < Vec::width; ++i) CHECK(out[offset + i] == (i < n ? memory[offset + i] : 0.0f));
      for (float& v : out) v = -1.0f;
      Vec::load(memory).store(out + offset, n);
      for (int i = 0; i < 3 * Vec::width; ++i) CHECK(out[i] == (i >= offset && i < offset + n ? memory[i - offset] : -1.0f));
    }
  }
}

TEST_CASE("lanes are summed and bits move") {
  float x[Vec::width];
  double total = 0;
  for (int i = 0; i < Vec::width; ++i) total += x[i] = float(i * i) - 3.5f;
  CHECK(sum(Vec::load(x)) == Approx(total));
  CHECK(one(from_bits(bits(Vec::all(1.0f)) + (IntVec::all(1) << 23))) == 2.0f);
  CHECK(one(to_float(to_int(Vec::all(2.5f)))) == 2.0f);
  CHECK(one(scale(Vec::all(1.5f), Vec::all(-149.0f))) == std::ldexp(1.5f, -149));
  CHECK(one(scale(Vec::all(1.0f), Vec::all(128.0f))) == kInf);
  CHECK(one(fma(Vec::all(2.0f), Vec::all(3.0f), Vec::all(1.0f))) == 7.0f);
  CHECK(one(fnma(Vec::all(2.0f), Vec::all(3.0f), Vec::all(1.0f))) == -5.0f);
  CHECK(one(copysign(Vec::all(2.0f), Vec::all(-0.0f))) == -2.0f);
}
