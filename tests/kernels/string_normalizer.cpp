// StringNormalizer's memory: what is no result goes back to the caller's allocator.
#include <onnxc/scalar/text/normalize.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

using namespace onnxc;

TEST_CASE("string_normalizer keeps the block that holds its results, and no other") {
  using scalar::TextCase;
  const std::vector<std::string> texts{"One", "AND", "two", "and"}, stop_words{"and"};
  std::vector<onnxc_string> x, stops;
  for (const std::string& s : texts) x.push_back({s.data(), s.size()});
  for (const std::string& s : stop_words) stops.push_back({s.data(), s.size()});
  for (const TextCase action : {TextCase::keep, TextCase::lower, TextCase::upper}) {
    for (const TextCase compare : {TextCase::keep, TextCase::lower}) {
      int blocks = 0;
      const onnxc_allocator allocator{&blocks,
                                      [](void* self, std::size_t bytes) {
                                        ++*static_cast<int*>(self);
                                        return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
                                      },
                                      [](void* self, void* block) {
                                        --*static_cast<int*>(self);
                                        std::free(block);
                                      }};
      std::vector<onnxc_string> y(5);
      int64_t count = 0;
      const Tensor<const onnxc_string> tensor{x.data(), {4}};
      REQUIRE_FALSE(scalar::string_normalizer({&allocator}, y.data(), &count, tensor, stops.data(), {action, compare, 1}));
      CHECK(count == (compare == TextCase::lower ? 2 : 3));
      const std::string first = action == TextCase::lower ? "one" : action == TextCase::upper ? "ONE" : "One";
      CHECK(std::string(y[0].data, y[0].size) == first);
      CHECK(blocks == (action == TextCase::keep ? 0 : 1));
      if (blocks > 0) std::free(const_cast<char*>(y[0].data));
    }
  }
}
