#include "tools/calibration/accuracy.h"

#include <catch2/catch.hpp>

#include "tests/calibration/message.h"
#include "tests/codegen/compile_and_run.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

using test::message;

TEST_CASE("labels are read from a text", "[calibration]") {
  const test::TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    folder.write("labels.txt", text);
    return read_labels(folder.path() / "labels.txt");
  };
  CHECK(read("3\n1\r\n\n-2 \n4") == std::vector<int64_t>{3, 1, -2, 4});
  CHECK_THAT(message([&] { read("3\ncat\n"); }), Catch::Contains("labels.txt: line 2 is 'cat', no integer"));
  CHECK_THAT(message([&] { read("1.5\n"); }), Catch::Contains("line 1 is '1.5'"));
  CHECK_THAT(message([&] { read("\n"); }), Catch::Contains("has no labels"));
}

TEST_CASE("the accuracy of a classifier is the share of digits that it names", "[calibration]") {
  const std::filesystem::path model = std::filesystem::path(ONNXC_SOURCE_DIR) / "samples/digits/digits.onnx";
  const ModelRunner runner(model, {});
  const test::TemporaryFolder folder;
  std::vector<int64_t> found;
  for (const char* name : {"a.pb", "b.pb", "c.pb"}) {
    TensorData image = TensorData::zeros(ElementType::F32, {1, 1, 8, 8});
    for (std::size_t i = 0; i < 64; ++i) image.as<float>()[i] = static_cast<float>((i * static_cast<std::size_t>(name[0])) % 17) / 16;
    folder.write(name, serialize_tensor(image, ""));
  }
  const Samples samples = Samples::read(folder.path(), summarize_model(model), read_model(model, {}).graph);
  runner.run(samples, "digits", [&](std::size_t, const ModelRunner::Values& values) {
    const auto scores = values.at("scores").as<float>();
    found.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
  });
  REQUIRE(found.size() == 3);
  const Accuracy all = measure_accuracy(runner, samples, found, "digits");
  CHECK(all.right == 3);
  found[1] = (found[1] + 1) % 10;
  CHECK(measure_accuracy(runner, samples, found, "digits").percent() == Approx(200.0 / 3));
  found.push_back(0);
  CHECK_THAT(message([&] { measure_accuracy(runner, samples, found, "digits"); }), Catch::Contains("4 labels for 3 examples"));
}

}  // namespace
}  // namespace onnxc
