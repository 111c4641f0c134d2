// targets/kernels/ml.inc: a forest of 100 trees, a support vector machine of 200 vectors, small tables.
#include <onnxc/distances.hpp>
#include <onnxc/forest.hpp>
#include <onnxc/scalar/ml/maps.hpp>
#include <onnxc/scalar/ml/normalizer.hpp>
#include <onnxc/scalar/ml/trees.hpp>
#include <onnxc/svm.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

using namespace scalar;

constexpr int64_t kRows = 16, kFeatures = 10, kClasses = 3;

/// `trees` complete binary trees of that depth over kFeatures features. Each leaf has one weight.
Forest<float> forest(Data& d, int64_t trees, int depth) {
  const int32_t inner = (1 << depth) - 1, size = 2 * inner + 1, leaves = inner + 1;
  std::vector<int32_t> nodes, roots, targets;
  for (int32_t tree = 0; tree < trees; ++tree) {
    roots.push_back(tree * size);
    for (int32_t i = 0; i < size; ++i) {
      const int32_t weight = tree * leaves + i - inner, left = tree * size + 2 * i + 1;
      if (i < inner)
        nodes.insert(nodes.end(), {static_cast<int32_t>((tree + 7 * i) % kFeatures), static_cast<int32_t>(TreeMode::leq), left, left + 1});
      else nodes.insert(nodes.end(), {0, static_cast<int32_t>(TreeMode::leaf), weight, 1});
    }
    for (int32_t i = 0; i < leaves; ++i) targets.push_back(tree % static_cast<int32_t>(kClasses));
  }
  return {.nodes = d.copy(nodes),
          .thresholds = d.numbers(trees * size),
          .roots = d.copy(roots),
          .trees = trees,
          .targets = d.copy(targets),
          .weights = d.numbers(trees * leaves)};
}

/// The same as a flat forest: one column for each feature, of 100 thresholds.
FlatForest<float, uint16_t> flat_forest(Data& d, int64_t trees, int depth) {
  const int32_t inner = (1 << depth) - 1, leaves = inner + 1, keys = 100, room = static_cast<int32_t>(contract::forest_keys(keys));
  std::vector<uint16_t> walk;
  std::vector<int16_t> nodes;
  std::vector<int32_t> first_node, targets, columns, key_list;
  for (int32_t tree = 0; tree < trees; ++tree) {
    first_node.push_back(tree * inner);
    targets.push_back(tree % static_cast<int32_t>(kClasses));
    for (int32_t i = 0; i < inner; ++i) {
      for (int32_t member : {static_cast<int32_t>((tree + 7 * i) % kFeatures), 37 * (tree + i) % keys, 2 * i + 1, 2 * i + 2})
        nodes.push_back(static_cast<int16_t>(nodes.size() % 4 > 1 && member >= inner ? -1 - (member - inner) : member));
      walk.insert(walk.end(),
                  {contract::forest_test<uint16_t>((tree + 7 * i) % kFeatures, 37 * (tree + i) % keys), static_cast<uint16_t>(i + 1)});
    }
    for (int32_t leaf = 0; leaf < leaves; ++leaf)
      walk.insert(walk.end(), {contract::forest_test<uint16_t>(leaf, contract::kForestRanks), 0});
  }
  first_node.push_back(static_cast<int32_t>(trees) * inner);
  for (int32_t c = 0; c < kFeatures; ++c) {
    columns.insert(columns.end(), {c, c * room, c * keys, keys});
    key_list.resize(static_cast<std::size_t>((c + 1) * room));
    std::vector<int32_t> ascending;
    for (int32_t k = 0; k < keys; ++k) ascending.push_back(contract::forest_key((static_cast<float>(k) - 50) / 50));
    contract::lay_out_forest_keys(ascending.data(), keys, INT32_MAX, key_list.data() + c * room);
  }
  return {
      .walk = d.copy(walk),
      .nodes = d.copy(nodes),
      .first_node = d.copy(first_node),
      .values = d.numbers(trees * leaves),
      .tree_target = d.copy(targets),
      .columns = d.copy(columns),
      .keys = d.copy(key_list),
      .shape = {
          .trees = trees, .columns = kFeatures, .tests = kFeatures * keys, .most_leaves = leaves, .targets = kClasses, .number_bytes = 4}};
}

/// A flat forest of 100 trees by one design.
template <int64_t bytes_from, int64_t bits_from>
void add_flat(Suite& suite, const char* shape, int64_t rows) {
  using scalar::TreeAggregate;
  suite.add("forest_regressor", shape, {static_cast<double>(rows) * 100 * 6.0}, [rows](Data& d) {
    const FlatForest<float, uint16_t> f = flat_forest(d, 100, 6);
    return [f, x = d.in({rows, kFeatures}), y = d.out({rows, kClasses}),
            scratch = d.room<uint8_t>(contract::forest_scratch(f.shape, kVectorFloats, false, false, true, true))] {
      forest_regressor<ForestDesigns::kNever, bytes_from, bits_from, 1, TreeAggregate::sum, float, uint16_t>(
          {}, y, x, f, {.trees = 100}, scratch, {.targets = kClasses});
    };
  });
}

Svm machine(Data& d, int64_t vectors) {
  return {.kernel = SvmKernel::rbf,
          .gamma = 0.1f,
          .vectors = d.numbers(contract::pairwise_pitch(vectors, Vec::width) * kFeatures),
          .vector_count = vectors,
          .coefficients = d.numbers(vectors * kClasses),
          .rho = d.numbers(kClasses)};
}

/// Keys 0 to count - 1.
KeyTable<int64_t> key_table(Data& d, int64_t count) {
  const int64_t bits = contract::hash_bits(count);
  const auto bucket = [&](int64_t key) { return contract::bucket_of(hash_of_key(key), bits); };
  std::vector<int64_t> keys(static_cast<std::size_t>(count));
  std::iota(keys.begin(), keys.end(), int64_t{0});
  std::ranges::stable_sort(keys, {}, bucket);
  std::vector<int32_t> first((std::size_t{1} << bits) + 1);
  for (int64_t key : keys) ++first[bucket(key) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  return {d.copy(keys), d.copy(first), bits};
}

/// A map of `count` integers to f32.
onnxc_value* map_value(Data& d, int64_t count) {
  auto *const map = d.room<onnxc_value>(1), *const parts = d.room<onnxc_value>(2);
  make_tensor(parts, 7, d.counting(count, count), {count});
  make_tensor(parts + 1, 1, d.numbers(count), {count});
  *map = {ONNXC_MAP, 0, 0, 2, parts, {}};
  return map;
}

}  // namespace

void add_ml(Suite& suite) {
  suite.add("scalar_tree_regressor", "16x100_trees_of_6", {kRows * 100 * 6.0}, [](Data& d) {
    return [f = forest(d, 100, 6), x = d.in({kRows, kFeatures}), y = d.out({kRows, kClasses}), scores = d.room(kClasses),
            has = d.room<bool>(kClasses)] { tree_regressor({}, y, x, f, scores, has, {.targets = kClasses}); };
  });
  suite.add("scalar_tree_classifier", "16x100_trees_of_6", {kRows * 100 * 6.0}, [](Data& d) {
    return [f = forest(d, 100, 6), x = d.in({kRows, kFeatures}), y = d.out({kRows, kClasses}), classes = d.room<int64_t>(kRows),
            scores = d.room(kClasses),
            has = d.room<bool>(kClasses)] { tree_classifier({}, y, classes, x, f, scores, has, {.targets = kClasses}); };
  });
  constexpr int64_t kNever = ForestDesigns::kNever;
  add_flat<kNever, kNever>(suite, "1x100_trees_of_6", 1);
  add_flat<1, kNever>(suite, "64x100_trees_of_6", 64);
  add_flat<1, 1>(suite, "512x100_trees_of_6", 512);
  suite.add("forest_classifier", "16x100_trees_of_6", {kRows * 100 * 6.0}, [](Data& d) {
    const FlatForest<float, uint16_t> f = flat_forest(d, 100, 6);
    return [f, x = d.in({kRows, kFeatures}), y = d.out({kRows, kClasses}), classes = d.room<int64_t>(kRows),
            scratch = d.room<uint8_t>(contract::forest_scratch(f.shape, kVectorFloats, false, false, true, true))] {
      forest_classifier<ForestDesigns::kNever, 8, 200, 1, TreeAggregate::sum, float, uint16_t>({}, y, classes, x, f, {.trees = 100},
                                                                                               nullptr, scratch, {.targets = kClasses});
    };
  });
  suite.add("scalar_svm_regressor", "16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [svm = machine(d, 200), x = d.in({kRows, kFeatures}), y = d.out({kRows, 1})] { svm_regressor(y, x, svm, false); };
  });
  suite.add("scalar_svm_classifier", "16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [svm = machine(d, 200), of = d.list<int64_t>({70, 70, 60}), x = d.in({kRows, kFeatures}), y = d.out({kRows, kClasses}),
            classes = d.room<int64_t>(kRows),
            room = d.room(300)] { svm_classifier(y, classes, x, svm, {.classes = kClasses, .vectors_of = of}, room); };
  });
  suite.add("svm_regressor", "16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [svm = machine(d, 200), x = d.in({kRows, kFeatures}), y = d.out({kRows, 1}),
            room = d.room(contract::svm_regressor_scratch(200, Vec::width))] {
      onnxc::svm_regressor<SvmKernel::rbf>({}, y, x, svm, false, room);
    };
  });
  suite.add("svm_classifier", "16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [svm = machine(d, 200), of = d.list<int64_t>({70, 70, 60}), x = d.in({kRows, kFeatures}), y = d.out({kRows, kClasses}),
            classes = d.room<int64_t>(kRows), room = d.room(contract::svm_classifier_scratch(200, kClasses, Vec::width))] {
      onnxc::svm_classifier<SvmKernel::rbf>({}, y, classes, x, svm, {.classes = kClasses, .vectors_of = of}, room);
    };
  });
  suite.add("scalar_distances", "16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [x = d.in({kRows, kFeatures}), v = d.in({200, kFeatures}), y = d.out({kRows, 200})] {
      scalar::distances(y, x, v, Metric::euclidean);
    };
  });
  suite.add("distances", "16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [x = d.in({kRows, kFeatures}), v = d.numbers(contract::pairwise_pitch(200, Vec::width) * kFeatures), y = d.out({kRows, 200})] {
      onnxc::distances<Metric::euclidean>({}, y, x, v);
    };
  });
  suite.add("nearest", "5_of_16x200_vectors", {kRows * 200.0 * kFeatures}, [](Data& d) {
    return [x = d.in({kRows, kFeatures}), v = d.numbers(contract::pairwise_pitch(200, Vec::width) * kFeatures), y = d.out({kRows, 5}),
            at = d.out<int64_t>({kRows, 5}),
            room = d.room(contract::nearest_scratch(200, Vec::width))] { nearest<Metric::euclidean, false>({}, y, at, x, v, 200, room); };
  });
  suite.add("scalar_post_transform", "64x10",
            [](Data& d) { return [x = d.in({64, 10}), y = d.out({64, 10})] { transform_rows(y, x, {PostTransform::softmax}); }; });
  suite.add("scalar_best_class", "64x10", [](Data& d) { return [x = d.in({64, 10}), c = d.room<int64_t>(64)] { best_class(c, x); }; });
  suite.add("scalar_class_scores", "64x10", [](Data& d) {
    return [x = d.in({64, 10}), y = d.out({64, 10}), c = d.room<int64_t>(64)] { class_scores(y, c, x, {PostTransform::softmax}); };
  });
  suite.add("scalar_normalizer", "64x10", [](Data& d) { return [x = d.numbers(640), y = d.room(640)] { normalizer(y, x, 64, 10); }; });
  suite.add("scalar_label_encoder", "256_of_100", [](Data& d) {
    return [x = d.indices({256}, 120), keys = key_table(d, 100), values = d.numbers(100), other = d.list({0.f}), y = d.room(256)] {
      label_encoder<int64_t, float>(y, x, keys, values, other, nullptr);
    };
  });
  suite.add("scalar_one_hot_encoder", "64_of_100", [](Data& d) {
    return [x = d.indices({64}, 100), keys = key_table(d, 100), at = d.counting(100, 100), y = d.room(6400)] {
      return one_hot_encoder(y, x, keys, at, 100, true);
    };
  });
  suite.add("scalar_dict_vectorizer", "100", [](Data& d) {
    return [map = map_value(d, 100), keys = key_table(d, 100), at = d.counting(100, 100), y = d.room(100)] {
      return dict_vectorizer(y, map, keys, at, 100);
    };
  });
  suite.add("scalar_zip_map", "64x10", [](Data& d) {
    return [&heap = d.heap(), x = d.in({64, 10}), keys = d.counting(10, 10), y = d.room<onnxc_value>(1)] {
      return zip_map(heap.fresh(), y, x, keys);
    };
  });
  suite.add("scalar_cast_map", "100", [](Data& d) {
    return [&heap = d.heap(), map = map_value(d, 100), y = d.room<float*>(1), n = d.room<int64_t>(1)] {
      return cast_map<float>(heap.fresh(), y, n, map, 0);
    };
  });
}

}  // namespace onnxc::inline ONNXC_ISA::bench
