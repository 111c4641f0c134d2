// onnxc.TextFeatures counts what its parts count one after the other.
#include "runtime_stub/onnxc/scalar/text/text_features.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "compiler/ops/ml/classes.h"
#include "compiler/ops/ml/key_table.h"
#include "compiler/ops/text/automaton.h"

namespace onnxc {
namespace {

std::vector<onnxc_string> views_of_texts(const std::vector<std::string>& strings) {
  std::vector<onnxc_string> result;
  for (const std::string& s : strings) result.push_back({s.data(), s.size()});
  return result;
}

/// Memory that is freed in the end.
struct Blocks {
  std::vector<std::unique_ptr<void, decltype(&std::free)>> all;
  onnxc_allocator allocator{this,
                            [](void* self, std::size_t bytes) {
                              void* const block = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
                              static_cast<Blocks*>(self)->all.emplace_back(block, std::free);
                              return block;
                            },
                            [](void*, void*) {}};
};

TEST_CASE("words are counted as by StringNormalizer, Tokenizer, LabelEncoder and TfIdfVectorizer", "[text]") {
  std::mt19937 random(3);
  const std::vector<std::string> pieces{"a",    "B",        "c", "ab", "abc", "ABCDEFGHIJ", "\xc3\x89", "\xe2\x84\xaa",
                                        "\xff", "\xe6\xbc", " ", ",",  "  "};
  const std::vector<std::string> words{"a", "ab", "abc", "\xc3\xa9", "k", "\xff", "B"};
  const KeyTable table = key_table(*string_constant(words, {std::ssize(words)}));
  const std::vector<onnxc_string> keys = views_of_texts(table.keys.strings);
  const scalar::KeyTable<onnxc_string> view{keys.data(), table.first.data(), table.bits};
  // All single words, and some pairs: columns 0 to 6 and 7 to 10.
  const std::vector<int64_t> tree_keys{0, 0, 1, 2, 3, 4, 5, 6, 0, 1, 4, 2}, begin{1, 8, 10, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12},
      column{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const scalar::GramTree tree{tree_keys.data(), begin.data(), column.data(), true};
  for (const auto& [pattern, separates] :
       {std::pair{"[a-z]+", false}, {"\\w\\w+", false}, {"[^ ,]+", false}, {"(?s:.)", false}, {" +|,", true}}) {
    const RegexProgram program = compile_regex(Node{}, pattern);
    const Automaton automaton = *make_automaton(program);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::string> texts(1 + random() % 5);
      for (std::string& text : texts) {
        for (auto length = random() % 15; length > 0; --length) text += pieces[random() % pieces.size()];
      }
      const auto rows = std::ssize(texts);
      const auto x = views_of_texts(texts);
      const auto text_case = static_cast<scalar::TextCase>(random() % 3);
      const scalar::TfIdfParams grams{.least = 1 + static_cast<int64_t>(random() % 2), .most = 2, .counts = random() % 2 == 0};

      Blocks blocks;
      const Heap heap{&blocks.allocator};
      std::vector<onnxc_string> normal(texts.size() + 1);
      REQUIRE_FALSE(scalar::string_normalizer(heap, normal.data(), nullptr, {x.data(), {rows}}, nullptr, {text_case, text_case, 0}));
      const scalar::Regex regex{program.code.data(), program.ranges.data(), static_cast<int64_t>(program.code.size() / 3)};
      std::vector<int64_t> room(static_cast<std::size_t>(scalar::regex_room(regex.size)));
      const onnxc_string pad{"#", 1};
      onnxc_string* tokens = nullptr;
      int64_t columns = 0;
      REQUIRE_FALSE(
          scalar::tokenizer(heap, &tokens, &columns, {normal.data(), {rows}}, regex, {.separates = separates}, &pad, room.data()));
      std::vector<int64_t> numbers(static_cast<std::size_t>(rows * columns));
      const int64_t none = -1;
      scalar::label_encoder<onnxc_string, int64_t>(numbers.data(), {tokens, {rows, columns}}, view, table.order.data(), &none, nullptr);
      std::vector<float> expected(static_cast<std::size_t>(11 * rows)), actual(expected.size(), 5.0f);
      scalar::tf_idf<int64_t>({expected.data(), {rows, 11}}, {numbers.data(), {rows, columns}}, tree, nullptr, grams);

      const auto text = std::make_unique<int8_t[]>(static_cast<std::size_t>(scalar::text_word_room(3)));
      std::vector<int64_t> nodes(static_cast<std::size_t>(scalar::text_gram_room(2)));
      scalar::text_features({actual.data(), {rows, 11}}, {x.data(), {rows}},
                            {automaton.next.data(), automaton.classes.data(), automaton.bounds.data(), std::ssize(automaton.bounds),
                             automaton.start, automaton.accepting},
                            {text_case, separates, 3}, view, table.order.data(), tree, nullptr, grams, text.get(), nodes.data());
      INFO(pattern << ": " << texts[0]);
      REQUIRE(actual == expected);
    }
  }
}

}  // namespace
}  // namespace onnxc
