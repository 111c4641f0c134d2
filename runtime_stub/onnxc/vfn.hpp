// The functions of expressions (fn.hpp) on vectors of floats. Comparisons give a Mask, `where` takes one.
//
// Largest errors against the exact value, swept over all magnitudes (tests/kernels/vfn.cpp asserts them; with FMA):
//
//   exp 1.1 ULP   log 1.0   sigmoid 4   gate 4.5   tanh 6   erf 1.5   softplus 3   sin, cos 1.6   pow, tan, asin, ... as the C library
//   erf_plus_one 3e-7, and where it is below 0.02, as for GELU of -3 and less, 2e-5 of the result at most down to 1e-11
//
// Results of sigmoid and softplus below 2^-126 may be off by more: sigmoid's may be 0, and then gate's is too; exp's
// are 0. Nothing else is flushed to zero here, and NaN and infinity are as in C. References: range reduction after W.
// J. Cody and W. Waite, Software Manual for the Elementary Functions (1980); polynomials are fitted by Lawson's
// iteration with coefficients rounded to float one by one; tanh is the 13/6 rational function that Eigen uses.
#pragma once
#include "fn.hpp"
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA::fn {

namespace detail {
/// a[0] + a[1] x + a[2] x^2 + ...
template <int n>
ONNXC_INLINE Vec polynomial(Vec x, const float (&a)[n]) {
  Vec p = Vec::all(a[n - 1]);
  ONNXC_UNROLL for (int i = n - 2; i >= 0; --i) p = onnxc::fma(p, x, Vec::all(a[i]));
  return p;
}
/// f on each lane, for functions that are rare.
template <class F>
ONNXC_INLINE Vec each(Vec x, F f) {
  float lanes[Vec::width];
  x.store(lanes);
  for (float& lane : lanes) lane = f(lane);
  return Vec::load(lanes);
}
template <class F>
ONNXC_INLINE Vec each(Vec x, Vec y, F f) {
  float a[Vec::width], b[Vec::width];
  x.store(a);
  y.store(b);
  for (int i = 0; i < Vec::width; ++i) a[i] = f(a[i], b[i]);
  return Vec::load(a);
}
}  // namespace detail

// ---- arithmetic

ONNXC_INLINE Vec add(Vec a, Vec b) { return a + b; }
ONNXC_INLINE Vec sub(Vec a, Vec b) { return a - b; }
ONNXC_INLINE Vec mul(Vec a, Vec b) { return a * b; }
ONNXC_INLINE Vec div(Vec a, Vec b) { return a / b; }
ONNXC_INLINE Vec neg(Vec x) { return -x; }
ONNXC_INLINE Vec abs(Vec x) { return onnxc::abs(x); }
ONNXC_INLINE Vec reciprocal(Vec x) { return Vec::all(1.0f) / x; }
ONNXC_INLINE Vec sqrt(Vec x) { return onnxc::sqrt(x); }
ONNXC_INLINE Vec ceil(Vec x) { return onnxc::ceil(x); }
ONNXC_INLINE Vec floor(Vec x) { return onnxc::floor(x); }
ONNXC_INLINE Vec round(Vec x) { return onnxc::round(x); }
ONNXC_INLINE Vec sign(Vec x) {
  const Vec zero = Vec::all(0.0f);
  return select(x > zero, Vec::all(1.0f), select(x < zero, Vec::all(-1.0f), select(x == zero, zero, x)));
}

/// NaN where either operand is one.
ONNXC_INLINE Vec max(Vec a, Vec b) { return max_or_nan(a, b); }
ONNXC_INLINE Vec min(Vec a, Vec b) { return min_or_nan(a, b); }
/// A constant that is a number comes first and needs no test for NaN: one instruction.
ONNXC_INLINE Vec max(Vec x, Constant c) {
  if constexpr (kMaxKeepsNan) return max_or_nan(Vec::all(c.value), x);
  else return c.value == c.value ? onnxc::max(Vec::all(c.value), x) : Vec::all(c.value);
}
ONNXC_INLINE Vec max(Constant c, Vec x) { return fn::max(x, c); }
ONNXC_INLINE Vec min(Vec x, Constant c) {
  if constexpr (kMaxKeepsNan) return min_or_nan(Vec::all(c.value), x);
  else return c.value == c.value ? onnxc::min(Vec::all(c.value), x) : Vec::all(c.value);
}
ONNXC_INLINE Vec min(Constant c, Vec x) { return fn::min(x, c); }
ONNXC_INLINE Vec max(Constant a, Constant b) { return Vec::all(fn::max(a.value, b.value)); }
ONNXC_INLINE Vec min(Constant a, Constant b) { return Vec::all(fn::min(a.value, b.value)); }
template <class Low, class High>
ONNXC_INLINE Vec clip(Vec x, Low low, High high) {
  return fn::min(fn::max(x, low), high);
}
ONNXC_INLINE Vec relu(Vec x) { return fn::max(x, Constant{0.0f}); }

// ---- tests, comparisons, choice

ONNXC_INLINE Mask is_nan(Vec x) { return x != x; }
ONNXC_INLINE Mask is_pos_inf(Vec x) { return x > Vec::all(std::numeric_limits<float>::max()); }
ONNXC_INLINE Mask is_neg_inf(Vec x) { return x < Vec::all(std::numeric_limits<float>::lowest()); }
ONNXC_INLINE Mask is_inf(Vec x) { return onnxc::abs(x) > Vec::all(std::numeric_limits<float>::max()); }
ONNXC_INLINE Mask equal(Vec a, Vec b) { return a == b; }
ONNXC_INLINE Mask less(Vec a, Vec b) { return a < b; }
ONNXC_INLINE Mask less_equal(Vec a, Vec b) { return a <= b; }
ONNXC_INLINE Mask greater(Vec a, Vec b) { return a > b; }
ONNXC_INLINE Mask greater_equal(Vec a, Vec b) { return a >= b; }
ONNXC_INLINE Mask equal(Mask a, Mask b) { return ~(a ^ b); }
ONNXC_INLINE Mask logical_and(Mask a, Mask b) { return a & b; }
ONNXC_INLINE Mask logical_or(Mask a, Mask b) { return a | b; }
ONNXC_INLINE Mask logical_xor(Mask a, Mask b) { return a ^ b; }
ONNXC_INLINE Mask logical_not(Mask a) { return ~a; }
ONNXC_INLINE Vec where(Mask condition, Vec a, Vec b) { return select(condition, a, b); }

template <class T>
  requires std::is_same_v<T, float>
ONNXC_INLINE Vec cast(Vec x) {
  return x;
}
template <class T>
  requires std::is_same_v<T, float>
ONNXC_INLINE Vec cast(Mask x) {
  return select(x, Vec::all(1.0f), Vec::all(0.0f));
}
template <class T>
  requires std::is_same_v<T, bool>
ONNXC_INLINE Mask cast(Vec x) {
  return x != Vec::all(0.0f);
}
template <class T>
  requires std::is_same_v<T, bool>
ONNXC_INLINE Mask cast(Mask x) {
  return x;
}

// ---- functions of the reals

namespace detail {
/// x = n ln2 + r with |r| <= ln2 / 2; e^x = 2^n (1 + r + r^2 Q(r)). x in [-104, 89], or NaN.
ONNXC_INLINE Vec exp_in_range(Vec x) {
  const Vec n = onnxc::round(x * Vec::all(1.44269504f));
  Vec r = onnxc::fnma(n, Vec::all(0.693359375f), x);
  r = onnxc::fnma(n, Vec::all(-2.12194440e-4f), r);
  const Vec q = polynomial(r, {4.999999404e-01f, 1.666652113e-01f, 4.166826233e-02f, 8.368670009e-03f, 1.382091199e-03f});
  return scale(onnxc::fma(q, r * r, r) + Vec::all(1.0f), n);
}
/// exp(-|x|), which is in (0, 1]. Setting the sign bit replaces a test.
ONNXC_INLINE Vec exp_of_minus_abs(Vec x) {
  return exp_in_range(onnxc::max(Vec::all(-104.0f), from_bits(bits(x) | IntVec::all(INT32_MIN))));
}

/// 2^r for |r| <= 1/2, within 1e-7.
inline constexpr float kPowersOf2[] = {1.0f, 0.693146974f, 0.240222412f, 0.0555073954f, 0.00967156961f, 0.00132629723f};

/// 2^t for t <= 127 that is not NaN, within 1e-7 of it; 0 below 2^-126. Half of the steps of exp.
ONNXC_INLINE Vec power_of_2(Vec t) {
  const Vec magic = Vec::all(12582912.0f);  // 1.5 * 2^23: the low bits of a float near it are a whole number
  Vec whole = t + magic;
  pin(whole);
  const Vec p = polynomial(t - (whole - magic), kPowersOf2);
  return select(t < Vec::all(-126.0f), Vec::all(0.0f), from_bits(bits(p) + (bits(whole) << 23)));
}
}  // namespace detail

/// 0 below 2^-126, the smallest normal number: what reads the result would be slowed down by subnormal ones.
ONNXC_INLINE Vec exp(Vec x) {
  constexpr float kLeast = -87.3365f;
  const Vec power = detail::exp_in_range(
      onnxc::max(Vec::all(-88.0f), onnxc::min(Vec::all(89.0f), x)));  // infinity at the upper end; NaN stays, being second
  return select(x < Vec::all(kLeast), Vec::all(0.0f), power);
}

/// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log x = e ln2 + f - f^2 / 2 + f^3 P(f).
ONNXC_INLINE Vec log(Vec x) {
  const Mask tiny = x < Vec::all(1.17549435e-38f);
  const Vec normal = select(tiny, x * Vec::all(33554432.0f), x);
  const IntVec shifted = bits(normal) - IntVec::all(0x3f3504f3);
  const IntVec exponent = shifted >> 23;
  const Vec f = from_bits(bits(normal) - (exponent << 23)) - Vec::all(1.0f), f2 = f * f;
  const Vec e = to_float(exponent) - select(tiny, Vec::all(25.0f), Vec::all(0.0f));
  Vec p = detail::polynomial(f, {3.333333135e-01f, -2.500081956e-01f, 2.000123709e-01f, -1.662339717e-01f, 1.420170665e-01f,
                                 -1.315992922e-01f, 1.276136190e-01f, -7.634307444e-02f});
  p = onnxc::fma(p * f, f2, e * Vec::all(-2.12194440e-4f));
  p = onnxc::fnma(f2, Vec::all(0.5f), p);
  const Vec y = onnxc::fma(e, Vec::all(0.693359375f), f + p);
  const Vec infinity = Vec::all(std::numeric_limits<float>::infinity()), nan = Vec::all(std::numeric_limits<float>::quiet_NaN());
  const Vec edge = select(x == Vec::all(0.0f), -infinity, select(x < Vec::all(0.0f), nan, x));
  return select(x > Vec::all(0.0f), select(x < infinity, y, x), edge);
}

namespace detail {
/// Below this argument the C library's sigmoid is subnormal.
inline constexpr float kLeastSigmoid = -87.3f;
/// -kLeastSigmoid log2(e)
inline constexpr float kMostPower = 125.9f;
}  // namespace detail

#if defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
namespace detail {
/// 2^(i/32) for i in [0, 32).
alignas(64) inline constexpr float kPowers[32] = {1.0f,        1.0218972f,  1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f,  1.13878858f,
                                                  1.1637249f,  1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f,
                                                  1.35425556f, 1.38390994f, 1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f,
                                                  1.5759809f,  1.61049032f, 1.64575553f, 1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f,
                                                  1.8340081f,  1.87416768f, 1.91520655f, 1.95714414f};
inline constexpr float kMagic = 393216.0f;  // 1.5 * 2^18: a float near it is a multiple of 1/32, and its low bits are i

/// 1 + 2^n p, where n = t - kMagic is a multiple of 1/32; the fraction of n picks a power 2^(i/32).
ONNXC_INLINE Vec one_plus_power(Vec t, Vec n, Vec p) {
  return onnxc::fma(scale(pick(Vec::load(kPowers), Vec::load(kPowers + 16), t), n), p, Vec::all(1.0f));
}

/// 1 + e^-x. x is clamped to [-200, 30], or to [-87.3, 30] where no division follows. e^-x = 2^n e^-r with |r| < 0.011,
/// so a polynomial of degree 2 is enough: of the 4 ULP of the reciprocal it makes one (an error of at most 5.3e-8), and
/// roundings make the others. A third power would lower them to 3.05, at the cost of another multiply-add.
template <bool divides>
ONNXC_INLINE Vec one_plus_exp_of_minus(Vec x) {
  // Far below, where the C library's sigmoid is subnormal, the divisor is infinite. Without a division the caller sets
  // 0 there.
  const Vec z = onnxc::min(Vec::all(30.0f), onnxc::max(Vec::all(divides ? -200.0f : kLeastSigmoid), x));  // NaN stays, being second
  const Vec t = onnxc::fnma(z, Vec::all(1.44269502f), Vec::all(kMagic)), n = t - Vec::all(kMagic);
  const Vec r = onnxc::fma(n, Vec::all(-1.90465421e-9f), onnxc::fma(n, Vec::all(0.693147182f), z));
  return one_plus_power(t, n, polynomial(r, {1.0f, -1.00001466f, 0.5f}));
}

/// 1 + 2^u. u is clamped to [-44, 288], or to [-44, kMostPower] where no division follows. The powers are the same, and
/// the remainder is exact.
template <bool divides>
ONNXC_INLINE Vec one_plus_exp2(Vec u) {
  const Vec z = onnxc::min(Vec::all(divides ? 288.0f : kMostPower), onnxc::max(Vec::all(-44.0f), u));
  const Vec t = z + Vec::all(kMagic), n = t - Vec::all(kMagic);
  return one_plus_power(t, n, polynomial(z - n, {1.0f, 0.693157343f, 0.240226507f}));
}

/// 1 / d for d from 1 to 2^126, or 0 where the mask says so.
ONNXC_INLINE Vec reciprocal_or_0(Vec d, Mask zero) {
  const Vec s = select(zero, Vec::all(0.0f), reciprocal_14(d));
  return onnxc::fma(onnxc::fnma(d, s, Vec::all(1.0f)), s, s);
}
}  // namespace detail

template <bool divides = kDivides>
ONNXC_INLINE Vec sigmoid(Vec x) {
  const Vec d = detail::one_plus_exp_of_minus<divides>(x);
  if constexpr (divides) return Vec::all(1.0f) / d;
  return detail::reciprocal_or_0(d, x < Vec::all(detail::kLeastSigmoid));
}
/// x * sigmoid(y). With a division, it takes no multiplication.
template <bool divides = kDivides>
ONNXC_INLINE Vec gate(Vec x, Vec y) {
  if constexpr (divides) return x / detail::one_plus_exp_of_minus<divides>(y);
  return x * sigmoid<divides>(y);
}
/// The same from u = -y log2(e), which takes three multiply-adds less: SiLU behind a product competes for their ports.
/// y is not used, because it is rounded, and far from 0 that is a factor of the result.
template <bool divides = kDivides>
ONNXC_INLINE Vec gate_exp2(Vec x, Vec, Vec u) {
  const Vec d = detail::one_plus_exp2<divides>(u);
  if constexpr (divides) return x / d;
  return x * detail::reciprocal_or_0(d, u > Vec::all(detail::kMostPower));
}
#else
namespace detail {
/// 1 + e^-x, infinite below kLeastSigmoid, since subnormal values are very slow on processors without a fast path for
/// them. e^-x = 2^n e^-r with |r| < 0.347; n from -44 to 127 is added to the exponent. The polynomial is within 9.2e-8.
ONNXC_INLINE Vec one_plus_exp_of_minus(Vec x) {
  const Vec z = onnxc::min(Vec::all(30.0f), onnxc::max(Vec::all(-88.0f), x)),
            magic = Vec::all(12582912.0f);  // 1.5 * 2^23: the low bits of a float near it are a whole number
  Vec t = onnxc::fnma(z, Vec::all(1.44269504f), magic);
  pin(t);
  const Vec n = t - magic, r = onnxc::fma(n, Vec::all(-2.12194440e-4f), onnxc::fma(n, Vec::all(0.693359375f), z));
  const Vec p = polynomial(r, {1.0f, -0.999999702f, 0.499991477f, -0.166676536f, 0.0418981761f, -0.00828921795f});
  const Vec d = from_bits(bits(p) + (bits(t) << 23)) + Vec::all(1.0f);
  return select(x < Vec::all(kLeastSigmoid), Vec::all(std::numeric_limits<float>::infinity()),
                d);  // NaN stays, being second in max and min
}

/// 1 + 2^u, infinite above kMostPower. The polynomial is of the same degree, and the remainder is exact.
ONNXC_INLINE Vec one_plus_exp2(Vec u) {
  const Vec z = onnxc::min(Vec::all(127.0f), onnxc::max(Vec::all(-44.0f), u)), magic = Vec::all(12582912.0f);
  Vec t = z + magic;
  pin(t);
  const Vec p = polynomial(z - (t - magic), kPowersOf2);
  const Vec d = from_bits(bits(p) + (bits(t) << 23)) + Vec::all(1.0f);
  return select(u > Vec::all(kMostPower), Vec::all(std::numeric_limits<float>::infinity()), d);
}
}  // namespace detail

ONNXC_INLINE Vec sigmoid(Vec x) { return Vec::all(1.0f) / detail::one_plus_exp_of_minus(x); }
/// x * sigmoid(y)
ONNXC_INLINE Vec gate(Vec x, Vec y) { return x / detail::one_plus_exp_of_minus(y); }
/// The same from u = -y log2(e), in fewer steps. y is not used, because it is rounded, and far from 0 that is a factor
/// of the result.
ONNXC_INLINE Vec gate_exp2(Vec x, Vec, Vec u) { return x / detail::one_plus_exp2(u); }
#endif

/// log(1 + exp(x)) = max(x, 0) + log1p(e), e = exp(-|x|); log1p(e) = log(u) + (e - (u - 1)) / u with u = 1 + e rounded.
ONNXC_INLINE Vec softplus(Vec x) {
  const Vec e = detail::exp_of_minus_abs(x), one = Vec::all(1.0f), u = one + e;
  return onnxc::max(Vec::all(0.0f), x) + (fn::log(u) + (e - (u - one)) / u);
}

/// x P(x^2) / Q(x^2), and x itself where the quotient would lose the bits of a tiny x.
ONNXC_INLINE Vec tanh(Vec x) {
  const Vec end = Vec::all(7.90531110763549805f), v = onnxc::max(-end, onnxc::min(end, x)), z = v * v;
  const Vec p = detail::polynomial(z, {4.89352455891786e-03f, 6.37261928875436e-04f, 1.48572235717979e-05f, 5.12229709037114e-08f,
                                       -8.60467152213735e-11f, 2.00018790482477e-13f, -2.76076847742355e-16f});
  const Vec q = detail::polynomial(z, {4.89352518554385e-03f, 2.26843463243900e-03f, 1.18534705686654e-04f, 1.19825839466702e-06f});
  return select(onnxc::abs(x) < Vec::all(4e-4f), x, quotient(v * p, q));
}

/// |x| < 0.9277: x + x Q(x^2). Beyond: 1 - 2^(t P(t)) with t = |x|, which is 1 from t = 4 on.
ONNXC_INLINE Vec erf(Vec x) {
  const Vec t = onnxc::min(Vec::all(4.0f), onnxc::abs(x));
  const Vec near = onnxc::fma(detail::polynomial(x * x, {1.283791512e-01f, -3.761248887e-01f, 1.128173098e-01f, -2.676296420e-02f,
                                                         4.987347405e-03f, -5.959549453e-04f}),
                              x, x);
  const Vec p = detail::polynomial(
      t, {-1.628102183e+00f, -9.171474576e-01f, -1.518609971e-01f, 3.302337974e-02f, -4.638237879e-03f, 3.087186196e-04f});
  const Vec far = Vec::all(1.0f) - detail::power_of_2(t * p);
  return select(onnxc::abs(x) >= Vec::all(0.927734375f), copysign(far, x), near);  // near, too, where x is NaN
}

/// 1 + erf(x), which is 2^(t P(t)) for x = -t, and what is left of 2 for x = t. The product is below -126 from t = 10 on.
ONNXC_INLINE Vec erf_plus_one(Vec x) {
  const Vec t = onnxc::min(Vec::all(10.0f), onnxc::abs(x));
  const Vec p = detail::polynomial(t, {-1.627915978e+00f, -9.183105826e-01f, -1.489567310e-01f, 2.918417566e-02f, -1.649891725e-03f,
                                       -1.119329478e-03f, 4.172066692e-04f, -7.076840848e-05f, 6.223965102e-06f, -2.280327749e-07f});
  const Vec tail = onnxc::fma(t, Vec::all(0.0f), detail::power_of_2(t * p));  // NaN stays
  return select(x > Vec::all(0.0f), Vec::all(2.0f) - tail, tail);
}

namespace detail {
/// sin (quarter_turns = 0) or cos (1): x = n pi/2 + r. The lowest bit of n chooses the sine or the cosine of r, the
/// next one the sign.
template <int quarter_turns>
ONNXC_INLINE Vec sine(Vec x) {
  const Vec n = onnxc::round(x * Vec::all(0.636619772f));
  Vec r;
  if constexpr (kHasFma) {
    r = onnxc::fnma(n, Vec::all(1.57079637f), x);
    r = onnxc::fnma(n, Vec::all(-4.37113883e-08f), r);
    r = onnxc::fnma(n, Vec::all(-1.71512451e-15f), r);
  } else {  // the parts of pi/2 have few bits, so that products with n are exact
    r = x - n * Vec::all(1.5703125f);
    r = r - n * Vec::all(4.837512969970703125e-4f);
    r = r - n * Vec::all(7.54978995489188216e-8f);
  }
  const IntVec quadrant = to_int(n) + IntVec::all(quarter_turns);
  const Vec r2 = r * r;
  const Vec s = onnxc::fma(polynomial(r2, {-1.666666716e-01f, 8.333379403e-03f, -1.985306590e-04f, 2.832539622e-06f}), r * r2, r);
  const Vec c = onnxc::fma(r2 * r2, polynomial(r2, {4.166664556e-02f, -1.388730947e-03f, 2.443232734e-05f}),
                           onnxc::fnma(r2, Vec::all(0.5f), Vec::all(1.0f)));
  const Mask odd = to_float(quadrant & IntVec::all(1)) != Vec::all(0.0f);
  return from_bits(bits(select(odd, c, s)) ^ ((quadrant & IntVec::all(2)) << 30));
}
}  // namespace detail

/// A vector that holds a large angle goes to the C library as a whole.
ONNXC_INLINE Vec sin(Vec x) {
  if (any(~(onnxc::abs(x) < Vec::all(8000.0f)))) return detail::each(x, [](float v) { return fn::sin(v); });
  return detail::sine<0>(x);
}
ONNXC_INLINE Vec cos(Vec x) {
  if (any(~(onnxc::abs(x) < Vec::all(8000.0f)))) return detail::each(x, [](float v) { return fn::cos(v); });
  return detail::sine<1>(x);
}

#define ONNXC_EACH(name)                                         \
  ONNXC_INLINE Vec name(Vec x) {                                 \
    return detail::each(x, [](float v) { return fn::name(v); }); \
  }
ONNXC_EACH(tan)
ONNXC_EACH(asin)
ONNXC_EACH(acos)
ONNXC_EACH(atan)
ONNXC_EACH(sinh)
ONNXC_EACH(cosh)
ONNXC_EACH(asinh)
ONNXC_EACH(acosh)
ONNXC_EACH(atanh)
#undef ONNXC_EACH

ONNXC_INLINE Vec pow(Vec base, Vec exponent) {
  return detail::each(base, exponent, [](float a, float b) { return fn::pow(a, b); });
}
/// Squares, cubes, roots and inverses need no call of pow.
ONNXC_INLINE Vec pow(Vec x, Constant exponent) {
  const float e = exponent.value;
  if (e == 1.0f) return x;
  if (e == 2.0f) return x * x;
  if (e == 3.0f) return x * x * x;
  if (e == -1.0f) return Vec::all(1.0f) / x;
  if (e == 0.5f) return select(is_inf(x), onnxc::abs(x), onnxc::sqrt(x + Vec::all(0.0f)));  // C: pow(-inf, 0.5) = inf, pow(-0, 0.5) = +0
  return fn::pow(x, Vec::all(e));
}
ONNXC_INLINE Vec mod(Vec a, Vec b) {
  return detail::each(a, b, [](float x, float y) { return fn::mod(x, y); });
}
ONNXC_INLINE Vec fmod(Vec a, Vec b) {
  return detail::each(a, b, [](float x, float y) { return fn::fmod(x, y); });
}

}  // namespace onnxc::fn
