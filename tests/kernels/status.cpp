// Statuses in words, as callers read them.
#include <onnxc/base.hpp>

#include <catch2/catch.hpp>
#include <limits>
#include <string>

using namespace onnxc;

namespace {

/// What a caller with so much room reads; the length of the whole must be told whatever the room.
std::string described(Status status, std::size_t room, std::size_t whole) {
  std::string text(room, '?');
  CHECK(describe(status, text.data(), room) == whole);
  if (room == 0) return text;
  const std::size_t end = text.find('\0');
  REQUIRE(end != std::string::npos);
  CHECK(text.find_first_not_of('?', end + 1) == std::string::npos);  // nothing is written behind the end
  return text.substr(0, end);
}

}  // namespace

TEST_CASE("a status is told with the numbers that were found, and cut where there is no more room") {
  struct Case {
    int64_t first, second;
    std::string numbers;
  };
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  for (const Case& c : {Case{7, 8, "7 and 8"}, Case{0, -1, "0 and -1"}, Case{10, 109, "10 and 109"},
                        Case{least, most, "-9223372036854775808 and 9223372036854775807"}}) {
    const Status status{ONNXC_BAD_DIMENSION, "f: \x01 and \x01", {c.first, c.second}};
    const std::string whole = "a dimension is out of its bounds or does not fit the others: f: " + c.numbers;
    CHECK(described(status, 200, whole.size()) == whole);
    CHECK(described(status, whole.size() + 1, whole.size()) == whole);
    CHECK(described(status, whole.size(), whole.size()) == whole.substr(0, whole.size() - 1));
    CHECK(described(status, 12, whole.size()) == whole.substr(0, 11));
    CHECK(described(status, 1, whole.size()).empty());
    described(status, 0, whole.size());
  }
  CHECK(described({ONNXC_OUT_OF_MEMORY}, 20, 13) == "out of memory");
}
