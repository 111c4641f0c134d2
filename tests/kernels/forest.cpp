// Flat forests against the scalar walk over the model's own nodes, by each design: the same bits.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include <onnxc/forest.hpp>

#include "compiler/select/forest/branches.h"
#include "compiler/select/forest/flat_forest.h"

using namespace onnxc;

namespace {

using scalar::TreeAggregate;
using scalar::TreeMode;

struct Recipe {
  int trees = 5, depth = 4, targets = 1;
  bool single = false;  ///< a tree has weights for one target
  bool positive = false;
  bool grid = true;  ///< thresholds are few, so they are shared and equal to features
  std::vector<TreeMode> modes{TreeMode::leq};
};

constexpr int kFeatures = 6;
constexpr int64_t kMostTests = 2000;  // of nested conditions

class Grower {
 public:
  Grower(const Recipe& recipe, unsigned seed) : recipe_(recipe), random_(seed) {
    for (int t = 0; t < recipe.trees; ++t) {
      target_ = t % recipe.targets;
      tables_.roots.push_back(grow(t == 1 ? 0 : recipe.depth));  // the second tree is a leaf
    }
  }
  const TreeTables& tables() const { return tables_; }

  double threshold() {
    if (recipe_.grid) return static_cast<int>(random_() % 9) / 2.0 - 2;
    const double far = static_cast<double>(random_() % 100000) / 10000 - 5;
    switch (random_() % 40) {
      case 0: return -0.0;
      case 1: return std::numeric_limits<double>::infinity();
      case 2: return -std::numeric_limits<double>::infinity();
      case 3: return 1e-42;
      case 4: return std::numeric_limits<double>::quiet_NaN();
      default: return static_cast<float>(far);
    }
  }

 private:
  int32_t add(int32_t feature, int32_t mode, int32_t yes, int32_t no, double threshold) {
    tables_.nodes.insert(tables_.nodes.end(), {feature, mode, yes, no});
    tables_.thresholds.push_back(threshold);
    return static_cast<int32_t>(tables_.thresholds.size()) - 1;
  }
  int32_t grow(int depth) {
    if (depth == 0 || (depth < recipe_.depth && random_() % 6 == 0)) {
      const auto first = static_cast<int32_t>(tables_.weights.size());
      for (int t = 0; t < recipe_.targets; ++t) {
        if (recipe_.single && t != target_) continue;
        const double w = static_cast<double>(random_() % 1000) / 300 - (recipe_.positive ? -0.01 : 1.5);
        tables_.weights.push_back(static_cast<float>(w));
        tables_.targets.push_back(t);
      }
      return add(0, static_cast<int32_t>(TreeMode::leaf), first, static_cast<int32_t>(tables_.weights.size()) - first, 0);
    }
    const TreeMode mode = recipe_.modes[random_() % recipe_.modes.size()];
    const auto feature = static_cast<int32_t>(random_() % kFeatures);
    const int32_t flag = random_() % 3 == 0 ? scalar::kMissingTracksTrue : 0;
    const int32_t yes = grow(depth - 1), no = grow(depth - 1);
    int32_t node = add(feature, static_cast<int32_t>(mode) | flag, yes, no, threshold());
    // Members of a set: further comparisons with the same answer.
    for (unsigned more = mode == TreeMode::eq ? random_() % 3 : 0; more > 0; --more)
      node = add(feature, static_cast<int32_t>(mode) | flag, yes, node, threshold());
    return node;
  }

  Recipe recipe_;
  std::mt19937 random_;
  TreeTables tables_;
  int target_ = 0;
};

template <class T>
std::vector<T> rows_of(int64_t rows, Grower& grower, std::mt19937& random) {
  std::vector<T> x(static_cast<std::size_t>(rows * kFeatures));
  const double special[] = {std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            -0.0,
                            1e-42,
                            0.0};
  for (T& v : x) {
    if (random() % 8 == 0) v = static_cast<T>(special[random() % std::size(special)]);
    else if (random() % 2 == 0) v = static_cast<T>(grower.threshold());
    else v = static_cast<T>(static_cast<double>(random() % 10000) / 1000 - 5);
  }
  return x;
}

/// The tables as a kernel reads them.
template <class T, class Word>
struct Flat {
  std::vector<Word> walk;
  std::vector<T> values;
  std::vector<ForestKey<T>> keys;
  FlatForest<T, Word> forest;
  explicit Flat(const FlatTables& t)
      : walk(t.walk.begin(), t.walk.end()),
        values(t.values.begin(), t.values.end()),
        keys(t.keys.begin(), t.keys.end()),
        forest{.walk = walk.data(),
               .nodes = t.nodes.data(),
               .first_node = t.first_node.data(),
               .values = values.data(),
               .tree_target = t.tree_target.empty() ? nullptr : t.tree_target.data(),
               .columns = t.columns.data(),
               .keys = keys.data(),
               .shape = t.shape} {}
};

/// Nested conditions as data: asks what a unit's text would ask.
template <class T>
struct ReadBranches {
  static inline const Branches* branches = nullptr;

  template <class Row>
  static bool answer(const Row& x, const Branches::Test& test) {
    std::vector<T> numbers;
    for (const uint64_t bits : test.numbers) numbers.push_back(std::bit_cast<T>(static_cast<std::make_unsigned_t<ForestKey<T>>>(bits)));
    if (!test.is_set) return test.nan_right ? x.above_or_nan(test.feature, numbers[0]) : x.above(test.feature, numbers[0]);
    bool right = test.nan_right ? x.outside_or_nan(test.feature) : x.outside(test.feature);
    for (const T n : numbers) right = right && (test.nan_right ? x.outside_or_nan(test.feature, n) : x.outside(test.feature, n));
    return right;
  }
  template <class Row, class Ends>
  static void leaves(const Row& x, const Ends& ends) {
    int32_t first_leaf = 0;
    for (std::size_t tree = 0; tree < branches->roots.size(); ++tree) {
      int32_t at = branches->roots[tree];
      while (at >= 0) {
        const Branches::Test& test = branches->tests[static_cast<std::size_t>(at)];
        at = answer(x, test) ? test.right : test.left;
      }
      ends(static_cast<int64_t>(tree), first_leaf - 1 - at);
      const std::size_t end =
          tree + 1 < branches->roots.size() ? static_cast<std::size_t>(branches->roots[tree + 1]) : branches->tests.size();
      first_leaf += static_cast<int32_t>(end) - branches->roots[tree] + 1;
    }
  }
};

template <class T, class Word, TreeAggregate aggregate, int id_bytes, ForestDesigns designs, class Single = ForestWalk>
void check_design(const TreeTables& tables, const FlatTables& flat, const std::vector<T>& x, int64_t targets,
                  const std::vector<T>& expected) {
  const Flat<T, Word> f(flat);
  const auto rows = static_cast<int64_t>(x.size()) / kFeatures;
  const int64_t bytes =
      contract::forest_scratch(flat.shape, kVectorFloats, !std::is_same_v<Single, ForestWalk>, designs.rows_from != ForestDesigns::kNever,
                               designs.bytes_from != ForestDesigns::kNever, designs.bits_from != ForestDesigns::kNever);
  for (int threads : {1, 3}) {
    std::vector<T> y(expected.size(), T(99));
    for (int i = 0; i < threads; ++i) {
      std::vector<uint8_t> memory(static_cast<std::size_t>(bytes + 128), 0xab);
      uint8_t* const scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
      forest_regressor<designs.rows_from, designs.bytes_from, designs.bits_from, id_bytes, aggregate, T, Word, Single>(
          Share{i, threads}, Tensor<T>{y.data(), {rows, targets}}, Tensor<const T>{x.data(), {rows, kFeatures}}, f.forest,
          {.trees = static_cast<int64_t>(tables.roots.size())}, scratch, {.targets = targets, .aggregate = aggregate});
      for (const uint8_t* p = scratch + bytes; p < memory.data() + memory.size(); ++p) REQUIRE(*p == 0xab);
    }
    int64_t differ = 0;
    for (std::size_t i = 0; i < y.size(); ++i) differ += std::memcmp(&y[i], &expected[i], sizeof(T)) != 0 ? 1 : 0;
    CHECK(differ == 0);
  }
}

template <class T, TreeAggregate aggregate>
void check_forest(const Recipe& recipe, unsigned seed) {
  Grower grower(recipe, seed);
  const TreeTables& tables = grower.tables();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto flat = flatten(tables, {.doubles = sizeof(T) == 8,
                                     .targets = recipe.targets,
                                     .neutral = aggregate == TreeAggregate::min   ? infinity
                                                : aggregate == TreeAggregate::max ? -infinity
                                                                                  : 0});
  REQUIRE(flat);
  std::mt19937 random(seed + 1);
  const std::vector<T> thresholds(tables.thresholds.begin(), tables.thresholds.end()),
      weights(tables.weights.begin(), tables.weights.end());
  const scalar::Forest<T> model{.nodes = tables.nodes.data(),
                                .thresholds = thresholds.data(),
                                .roots = tables.roots.data(),
                                .trees = static_cast<int64_t>(tables.roots.size()),
                                .targets = tables.targets.data(),
                                .weights = weights.data()};
  for (int64_t rows : {1, 2, 63, 65, 700}) {
    const std::vector<T> x = rows_of<T>(rows, grower, random);
    std::vector<T> expected(static_cast<std::size_t>(rows * recipe.targets)), scores(static_cast<std::size_t>(recipe.targets));
    const auto has = std::make_unique<bool[]>(static_cast<std::size_t>(recipe.targets));
    scalar::tree_regressor(Share{}, Tensor<T>{expected.data(), {rows, recipe.targets}}, Tensor<const T>{x.data(), {rows, kFeatures}}, model,
                           scores.data(), has.get(), {.targets = recipe.targets, .aggregate = aggregate});
    const auto all = [&]<class Word, int id_bytes>() {
      check_design<T, Word, aggregate, id_bytes, ForestDesigns{}>(tables, *flat, x, recipe.targets, expected);
      check_design<T, Word, aggregate, id_bytes, ForestDesigns{.rows_from = 1}>(tables, *flat, x, recipe.targets, expected);
      check_design<T, Word, aggregate, id_bytes, ForestDesigns{.rows_from = 8}>(tables, *flat, x, recipe.targets, expected);
      if (flat->nodes.empty()) return;
      const auto branches = write_branches(*flat, kMostTests);
      CHECK(branches.has_value() == (flat->nodes.size() / 4 <= kMostTests));
      if (branches) {
        ReadBranches<T>::branches = &*branches;
        check_design<T, Word, aggregate, id_bytes, ForestDesigns{}, ReadBranches<T>>(tables, *flat, x, recipe.targets, expected);
        check_design<T, Word, aggregate, id_bytes, ForestDesigns{.bytes_from = 8}, ReadBranches<T>>(tables, *flat, x, recipe.targets,
                                                                                                    expected);
      }
      check_design<T, Word, aggregate, id_bytes, ForestDesigns{.bytes_from = 1}>(tables, *flat, x, recipe.targets, expected);
      check_design<T, Word, aggregate, id_bytes, ForestDesigns{.bytes_from = 1, .bits_from = 1}>(tables, *flat, x, recipe.targets,
                                                                                                 expected);
      check_design<T, Word, aggregate, id_bytes, ForestDesigns{.bytes_from = 8, .bits_from = 100}>(tables, *flat, x, recipe.targets,
                                                                                                   expected);
    };
    if (!contract::forest_is_wide(flat->shape)) all.template operator()<uint16_t, 1>();
    else if (contract::forest_id_bytes(flat->shape) == 1) all.template operator()<uint32_t, 1>();
    else all.template operator()<uint32_t, 2>();
  }
}

const std::vector<TreeMode> kAllModes{TreeMode::leq, TreeMode::lt, TreeMode::gte, TreeMode::gt, TreeMode::eq, TreeMode::neq};

}  // namespace

TEST_CASE("forest: designs agree with a walk") {
  check_forest<float, TreeAggregate::sum>({.trees = 20}, 1);
  check_forest<float, TreeAggregate::sum>({.trees = 9, .depth = 6, .grid = false}, 2);
  check_forest<float, TreeAggregate::average>({.trees = 7, .targets = 3, .modes = kAllModes}, 3);
  check_forest<float, TreeAggregate::sum>({.trees = 12, .targets = 3, .single = true, .grid = false, .modes = kAllModes}, 4);
  check_forest<float, TreeAggregate::min>({.trees = 7, .targets = 2, .modes = {TreeMode::lt, TreeMode::gt}}, 5);
  check_forest<float, TreeAggregate::max>({.trees = 7, .targets = 2, .single = true, .modes = {TreeMode::lt, TreeMode::gte}}, 6);
}
TEST_CASE("forest: trees of many leaves") {
  check_forest<float, TreeAggregate::sum>({.trees = 4, .depth = 11, .grid = false, .modes = {TreeMode::lt}}, 7);
  check_forest<float, TreeAggregate::sum>({.trees = 3, .depth = 9, .targets = 2, .modes = kAllModes}, 8);
  check_forest<float, TreeAggregate::sum>({.trees = 1200, .depth = 4, .grid = false, .modes = kAllModes}, 10);  // of many columns
  check_forest<float, TreeAggregate::sum>({.trees = 3, .depth = 22, .grid = false}, 11);                        // more than blocks take
}
TEST_CASE("forest: in f64") {
  check_forest<double, TreeAggregate::sum>({.trees = 9, .depth = 6, .targets = 2, .grid = false, .modes = kAllModes}, 9);
  check_forest<double, TreeAggregate::min>({.trees = 3, .depth = 10, .grid = false, .modes = {TreeMode::leq, TreeMode::gt}}, 10);
}
TEST_CASE("forest: seeds") {
  for (unsigned seed = 20; seed < 60; ++seed)
    check_forest<float, TreeAggregate::sum>({.trees = 6,
                                             .depth = 5,
                                             .targets = 1 + static_cast<int>(seed % 3),
                                             .single = seed % 2 == 0,
                                             .grid = seed % 4 < 2,
                                             .modes = kAllModes},
                                            seed);
}
