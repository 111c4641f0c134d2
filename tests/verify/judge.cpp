// What counts as a departure, for each kind of inputs.
#include "tools/verify/judge.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace onnxc {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity(),
                kLargest = std::numeric_limits<float>::max();

Answer answer(const std::vector<float>& numbers) {
  TensorData tensor = TensorData::zeros(ElementType::F32, {static_cast<int64_t>(numbers.size())});
  std::memcpy(tensor.bytes.data(), numbers.data(), tensor.bytes.size());
  return {Answer::Kind::Values, "", {{"y", HostValue::of(std::move(tensor)), ""}}};
}
Answer refused() { return {Answer::Kind::Refused, "an index is out of range", {}}; }

Verdict::Kind judged(const Answer& actual, const Answer& expected, Content content, const std::string& open = "") {
  return judge(actual, expected, {{1e-3, 1e-5}, content, open}).kind;
}

constexpr auto kRight = Verdict::Kind::Right, kWrong = Verdict::Kind::Wrong, kUnjudged = Verdict::Kind::Unjudged;

TEST_CASE("values that are no finite numbers stand where they are expected", "[verify]") {
  struct Case {
    std::vector<float> actual, expected;
    Verdict::Kind ordinary, extreme;
  };
  const Case cases[] = {
      {{1, kNan}, {1, kNan}, kRight, kRight},
      {{1, kNan}, {1, 2}, kWrong, kRight},  // the sum overflowed in this order
      {{1, 2}, {1, kNan}, kWrong, kRight},
      {{kInfinity}, {kInfinity}, kRight, kRight},
      {{kInfinity}, {-kInfinity}, kWrong, kRight},
      {{-0.0f}, {0.0f}, kRight, kRight},
      {{1, 3}, {1, 2}, kWrong, kWrong},
      {{1, kNan}, {2, kNan}, kWrong, kWrong},
      {{kLargest, 5}, {kLargest, 0}, kWrong, kRight},  // 5 is what the cancelling of largest numbers leaves
  };
  for (const Case& c : cases) {
    INFO(c.actual[0] << " against " << c.expected[0]);
    const bool cancels = c.expected[0] == kLargest;
    for (const Content content : {Content::Given, Content::NotNumbers, Content::Infinities, Content::Ordinary}) {
      if (cancels && content != Content::Given) continue;
      CHECK(judged(answer(c.actual), answer(c.expected), content) == c.ordinary);
    }
    CHECK(judged(answer(c.actual), answer(c.expected), Content::Extremes) == c.extreme);
  }
  CHECK(judged(answer({kNan, 1}), answer({kInfinity, 1}), Content::Infinities) == kRight);  // where it meets a zero
  CHECK(judged(answer({kNan, 1}), answer({kInfinity, 1}), Content::NotNumbers) == kWrong);
  CHECK(judged(answer({kNan, 1}), answer({1, 1}), Content::Infinities) == kWrong);
  CHECK(judge(answer({kNan, 1}), answer({2, 1}), {{1e-3, 1e-5}, Content::Extremes, ""}).elements_left_out == 1);
}

TEST_CASE("made-up inputs have a tolerance of the size of their outputs, given ones that of the data", "[verify]") {
  const Answer expected = answer({100, -100, 0}), near = answer({100, -100, 0.01f}), far = answer({100, -100, 0.2f});
  CHECK(judged(near, expected, Content::Given) == kWrong);
  CHECK(judged(near, expected, Content::Ordinary) == kRight);
  CHECK(judged(far, expected, Content::Ordinary) == kWrong);
}

TEST_CASE("against the evaluator, halves may depart by two units in the last place", "[verify]") {
  const auto half = [](uint16_t bits) {
    TensorData tensor = TensorData::zeros(ElementType::F16, {1});
    std::memcpy(tensor.bytes.data(), &bits, sizeof bits);
    return Answer{Answer::Kind::Values, "", {{"y", HostValue::of(std::move(tensor)), ""}}};
  };
  const auto judged_by = [&](bool is_fitted, uint16_t bits) {
    return judge(half(bits), half(0x3800), {{1e-4, 0}, Content::Given, "", is_fitted}).kind;
  };
  CHECK(judged_by(false, 0x3802) == kRight);
  CHECK(judged_by(false, 0x3803) == kWrong);
  CHECK(judged_by(true, 0x3801) == kWrong);
}

TEST_CASE("an error is right where one is expected, and wrong where values are", "[verify]") {
  const Answer fault{Answer::Kind::Fault, "the run crashed: SIGSEGV", {}},
      unknown{Answer::Kind::Unknown, "Loop has no reference value", {}};
  CHECK(judged(refused(), refused(), Content::Ordinary) == kRight);
  CHECK(judged(refused(), answer({1}), Content::Ordinary) == kWrong);
  CHECK(judged(answer({1}), refused(), Content::Ordinary) == kWrong);
  CHECK(judged(answer({1}), refused(), Content::Empty) == kUnjudged);
  CHECK(judged(answer({}), refused(), Content::Ordinary) == kUnjudged);
  CHECK(judged(answer({}), refused(), Content::Given) == kWrong);
  CHECK(judged(answer({1}), unknown, Content::Ordinary) == kUnjudged);
  CHECK(judged(fault, unknown, Content::Ordinary) == kWrong);
  CHECK(judged(fault, refused(), Content::Ordinary) == kWrong);
  Answer half = answer({1});
  half.outputs[0].unknown = "RandomNormal has no reference value";
  CHECK(judged(refused(), half, Content::Ordinary) == kUnjudged);
  CHECK(judge(answer({1}), half, {}).left_out.empty());  // nothing was compared at all
  CHECK(judged(answer({1}), half, Content::Ordinary) == kUnjudged);
}

TEST_CASE("what ONNX leaves open is told, but never a crash", "[verify]") {
  const Answer fault{Answer::Kind::Fault, "the run crashed: SIGSEGV", {}};
  CHECK(judged(answer({1}), answer({2}), Content::NotNumbers, "open") == kUnjudged);
  CHECK(judged(answer({2}), answer({2}), Content::NotNumbers, "open") == kRight);
  CHECK(judged(fault, answer({2}), Content::NotNumbers, "open") == kWrong);
  const Graph random = parse_graph("graph \"g\" (x: f32[2]) -> (y) {\n  y: f32[2] = RandomNormalLike(x)\n}\n");
  CHECK(what_is_open(random, Content::Given) == "ONNX does not say which random numbers RandomNormalLike takes");
  const Graph norm = parse_graph("graph \"g\" (x: f32[2], s: f32[2]) -> (y) {\n  y: f32[2] = RMSNormalization(x, s)\n}\n");
  CHECK(what_is_open(norm, Content::Extremes) == "ONNX does not say in which precision RMSNormalization adds up squares");
  CHECK(what_is_open(norm, Content::Infinities).empty());
  const Graph quantised = parse_graph("graph \"g\" (x: f32[2], s: f32[]) -> (y) {\n  y: u8[2] = QuantizeLinear(x, s)\n}\n");
  CHECK(what_is_open(quantised, Content::NotNumbers) == "ONNX does not say which integer QuantizeLinear makes of NaN");
  CHECK(what_is_open(quantised, Content::Infinities).empty());
}

TEST_CASE("special values are put into each input that has them", "[verify]") {
  const auto zeros = [](ElementType type, int64_t count) { return HostValue::of(TensorData::zeros(type, {count})); };
  const std::vector<HostValue> inputs{zeros(ElementType::F32, 100), zeros(ElementType::I32, 1), zeros(ElementType::F16, 3)};
  const auto special = [&](Content content, std::size_t input) {
    const std::vector<HostValue> made = with_content(inputs, content);
    return made.empty() ? std::vector<double>{} : to_doubles(made[input].tensor);
  };
  const auto nans = special(Content::NotNumbers, 0);
  CHECK(std::ranges::count_if(nans, [](double x) { return std::isnan(x); }) >= 2);
  CHECK(std::ranges::count(nans, 0.0) >= 90);
  CHECK(std::ranges::count_if(special(Content::Infinities, 2), [](double x) { return std::isinf(x); }) == 1);
  CHECK(std::ranges::count_if(special(Content::Extremes, 2), [](double x) { return std::abs(x) == 65504; }) == 1);
  CHECK(special(Content::Extremes, 1)[0] == 2147483647);
  CHECK(with_content({zeros(ElementType::Bool, 4)}, Content::NotNumbers).empty());
}

}  // namespace
}  // namespace onnxc
