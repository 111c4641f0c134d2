// targets/kernels/text.inc: 64 short strings.
#include <onnxc/scalar/text/cast.hpp>
#include <onnxc/scalar/text/concat.hpp>
#include <onnxc/scalar/text/murmur_hash.hpp>
#include <onnxc/scalar/text/normalize.hpp>
#include <onnxc/scalar/text/regex.hpp>
#include <onnxc/scalar/text/split.hpp>
#include <onnxc/scalar/text/text_features.hpp>

#include <algorithm>
#include <vector>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

using namespace scalar;

constexpr int64_t kStrings = 64;

/// [a-z]+
Regex word(Data& d) {
  const auto op = [](RegexOp o) { return static_cast<int32_t>(o); };
  std::vector<uint8_t> classes(129);
  std::fill(classes.begin() + 'a', classes.begin() + 'z' + 1, uint8_t{1});
  return {.code = d.list<int32_t>({op(RegexOp::set), 0, 1, op(RegexOp::split), 0, 2, op(RegexOp::match), 0, 0}),
          .ranges = d.list<int32_t>({'a', 'z'}),
          .size = 3,
          .automaton = {.next = d.list<uint16_t>({0, 0, 0, 4, 0, 4}),
                        .classes = d.copy(classes),
                        .bounds = d.list<int32_t>({128}),
                        .count = 1,
                        .start = 2,
                        .accepting = 4}};
}

}  // namespace

void add_text(Suite& suite) {
  suite.add("scalar_cast_from_strings", "64", [](Data& d) {
    return [x = d.words({kStrings}, {"1", "-2.5", "6.02e23", "0.1"}), y = d.room(kStrings)] { return cast_from_strings(y, x); };
  });
  suite.add("scalar_cast_to_strings", "64", [](Data& d) {
    return [&heap = d.heap(), x = d.in({kStrings}), y = d.room<onnxc_string>(kStrings)] { return cast_to_strings(heap.fresh(), y, x); };
  });
  suite.add("scalar_string_concat", "64", [](Data& d) {
    return [&heap = d.heap(), x = d.words({kStrings}), y = d.out<onnxc_string>({kStrings})] {
      return string_concat(heap.fresh(), y, x.data, {1}, x.data, {1});
    };
  });
  suite.add("scalar_string_normalizer", "64", [](Data& d) {
    return [&heap = d.heap(), x = d.words({kStrings}), stop = d.words({1}, {"the"}), y = d.room<onnxc_string>(kStrings + 1),
            n = d.room<int64_t>(1)] {
      return string_normalizer(heap.fresh(), y, n, x, stop.data, {.action = TextCase::lower, .compare = TextCase::lower, .stop_words = 1});
    };
  });
  suite.add("scalar_string_split", "64", [](Data& d) {
    return [&heap = d.heap(), x = d.words({kStrings}), by = d.words({1}, {" "}), y = d.room<onnxc_string*>(1),
            counts = d.room<int64_t>(kStrings), n = d.room<int64_t>(1)] { return string_split(heap.fresh(), y, counts, n, x, by.data, 0); };
  });
  suite.add("scalar_murmur_hash", "64",
            [](Data& d) { return [x = d.words({kStrings}), y = d.room<uint32_t>(kStrings)] { murmur_hash(y, x, 0); }; });
  suite.add("scalar_regex_full_match", "64", [](Data& d) {
    return [regex = word(d), x = d.words({kStrings}), y = d.room<bool>(kStrings), room = d.room<int64_t>(regex_room(3))] {
      regex_full_match(y, x, regex, room);
    };
  });
  suite.add("scalar_tokenizer", "64", [](Data& d) {
    return [&heap = d.heap(), regex = word(d), x = d.words({kStrings}), pad = d.words({1}, {"#"}), y = d.room<onnxc_string*>(1),
            n = d.room<int64_t>(1),
            room = d.room<int64_t>(regex_room(3))] { return tokenizer(heap.fresh(), y, n, x, regex, {}, pad.data, room); };
  });
  suite.add("scalar_text_features", "64", [](Data& d) {
    return [regex = word(d), x = d.words({kStrings}), y = d.out({kStrings, 2}), keys = d.words({1}, {"the"}),
            first = d.list<int32_t>({0, contract::bucket_of(hash_of_key(onnxc_string{"the", 3}), 1) == 0, 1}),
            numbers = d.list<int64_t>({0}), tree_keys = d.list<int64_t>({0, 0}), begin = d.list<int64_t>({1, 2, 2}),
            column = d.list<int64_t>({-1, 1}), text = d.room<int8_t>(text_word_room(3)), nodes = d.room<int64_t>(1)] {
      text_features(y, x, regex.automaton, {.longest = 3}, {keys.data, first, 1}, numbers, {tree_keys, begin, column}, nullptr, {}, text,
                    nodes);
    };
  });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
