// SPDX-License-Identifier: Apache-2.0
// Tree ensembles out of attributes of all kinds, most of them wrong: each is refused or can be walked.
#include <gtest/gtest.h>

#include <random>

#include "ops/cpu/ml/forest.h"
#include "ops/op_kernel.h"

namespace max::test {

namespace {

using Integers = std::vector<int64_t>;

class Trees {
 public:
  explicit Trees(uint32_t seed) : random_(seed) {}

  // Mostly what a forest may have, now and then anything.
  int64_t number(int64_t least, int64_t most) {
    constexpr int64_t kOdd[] = {-1, INT64_MIN, INT64_MAX, int64_t{1} << 32, 1 << 30};
    most = std::max(most, least);
    if (random_() % 200 == 0) return kOdd[random_() % std::size(kOdd)];
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  Integers numbers(size_t count, int64_t least, int64_t most) {
    Integers list(random_() % 100 ? count : count + 1);
    for (int64_t& entry : list) entry = number(least, most);
    return list;
  }
  std::vector<float> floats(size_t count) {
    std::vector<float> list(count);
    for (float& entry : list) entry = static_cast<float>(random_() % 9) - 4;
    return list;
  }

  // The older form: nodes by id, children anywhere, so that there are trees, shared nodes and cycles.
  Attributes named() {
    const size_t count = 1 + random_() % 8;
    const auto last = static_cast<int64_t>(count) - 1;
    Attributes attributes;
    Integers ids(count);
    std::vector<std::string> modes(count);
    const char* names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
    for (size_t i = 0; i < count; ++i) {
      ids[i] = static_cast<int64_t>(i);
      modes[i] = random_() % 2 || i + 1 == count ? "LEAF" : names[random_() % 6];
    }
    attributes.set("nodes_treeids", numbers(count, 0, 0));
    attributes.set("nodes_nodeids", ids);
    attributes.set("nodes_featureids", numbers(count, 0, 2));
    attributes.set("nodes_values", floats(count));
    attributes.set("nodes_modes", modes);
    attributes.set("nodes_truenodeids", numbers(count, 1, last));
    attributes.set("nodes_falsenodeids", numbers(count, 0, last));
    attributes.set("target_treeids", numbers(count, 0, 0));
    attributes.set("target_nodeids", numbers(count, 0, last));
    attributes.set("target_ids", numbers(count, 0, 1));
    attributes.set("target_weights", floats(count));
    attributes.set("n_targets", int64_t{2});
    return attributes;
  }

  // TreeEnsemble: branches and leaves by position.
  Attributes positioned() {
    const size_t count = 1 + random_() % 5, leaves = 1 + random_() % 4;
    const auto most = static_cast<int64_t>(std::max(count, leaves)) - 1;
    Attributes attributes;
    std::vector<uint8_t> modes(count);
    for (uint8_t& mode : modes) mode = static_cast<uint8_t>(random_() % 7);
    const Shape shape{static_cast<int64_t>(count)};
    attributes.set("tree_roots", numbers(1 + random_() % 2, 0, static_cast<int64_t>(count) - 1));
    for (const char* name : {"nodes_trueleafs", "nodes_falseleafs"}) attributes.set(name, numbers(count, 0, 1));
    for (const char* name : {"nodes_truenodeids", "nodes_falsenodeids"}) attributes.set(name, numbers(count, 0, most));
    attributes.set("nodes_featureids", numbers(count, 0, 2));
    attributes.set("nodes_splits", Tensor::copyOf(DType::Float32, shape, floats(count).data()));
    attributes.set("nodes_modes", Tensor::copyOf(DType::UInt8, shape, modes.data()));
    const std::vector<float> members = {1, 2, NAN, 0, NAN, NAN};
    attributes.set("membership_values", Tensor::copyOf(DType::Float32, Shape{6}, members.data()));
    attributes.set("leaf_targetids", numbers(leaves, 0, 1));
    attributes.set("leaf_weights",
                   Tensor::copyOf(DType::Float32, Shape{static_cast<int64_t>(leaves)}, floats(leaves).data()));
    attributes.set("n_targets", int64_t{2});
    return attributes;
  }

 private:
  std::mt19937 random_;
};

// False if it is refused.
bool runs(const char* op, Attributes attributes) {
  Graph graph;
  Value* x = graph.addInput("x", TensorType::of(DType::Float32, {17, 3}));
  try {
    const Node* node = graph.addNode("ai.onnx.ml", op, {x}, std::move(attributes), 1, "trees");
    const Ref<Tensor> rows = Tensor::allocate(DType::Float32, Shape{17, 3}, true);
    for (int64_t i = 0; i < rows->count(); ++i)
      static_cast<float*>(rows->mutableData())[i] = i % 11 == 0 ? NAN : static_cast<float>(i % 7) - 3;
    const Tensor* input = rows.get();
    const std::vector<Ref<Tensor>> results = evaluate(*node, {&input, 1});
    EXPECT_EQ(results[0]->shape(), (Shape{17, 2}));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_INVALID_ARGUMENT) << error.message();
    EXPECT_EQ(error.message().find("node 'trees'"), 0U) << error.message();
    return false;
  }
}

TEST(MlForest, BrokenTreesAreRefused) {
  int good = 0, bad = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    Trees trees(seed);
    const bool isNamed = seed % 2 == 0;
    (runs(isNamed ? "TreeEnsembleRegressor" : "TreeEnsemble", isNamed ? trees.named() : trees.positioned()) ? good
                                                                                                            : bad)++;
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

TEST(MlForest, TensorsOfOtherTypesAreRefused) {
  uint32_t seed = 1;
  while (!runs("TreeEnsemble", Trees(seed).positioned())) ++seed;
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::Int64, DType::BFloat16}) {
    Attributes attributes = Trees(seed).positioned();
    const int64_t leaves = attributes.getTensor("leaf_weights")->count();
    attributes.set("leaf_weights", Tensor::allocate(dtype, Shape{leaves}, true));
    const bool isAllowed = dtype != DType::Int64 && dtype != DType::BFloat16;
    EXPECT_EQ(runs("TreeEnsemble", std::move(attributes)), isAllowed) << nameOf(dtype);
  }
}

// As deep as a list is long: nothing recurses.
TEST(MlForest, LongChainsAreEvaluated) {
  constexpr int64_t kCount = 200001;
  Integers ids(kCount), whenTrue(kCount), whenFalse(kCount), features(kCount), trees(kCount);
  std::vector<std::string> modes(kCount, "BRANCH_LT");
  for (int64_t i = 0; i < kCount; ++i) {
    ids[static_cast<size_t>(i)] = i;
    whenTrue[static_cast<size_t>(i)] = whenFalse[static_cast<size_t>(i)] = i + 1;
  }
  modes.back() = "LEAF";
  Attributes attributes;
  attributes.set("nodes_treeids", trees);
  attributes.set("nodes_nodeids", ids);
  attributes.set("nodes_featureids", features);
  attributes.set("nodes_values", std::vector<float>(kCount));
  attributes.set("nodes_modes", modes);
  attributes.set("nodes_truenodeids", whenTrue);
  attributes.set("nodes_falsenodeids", whenFalse);
  attributes.set("target_treeids", Integers{0});
  attributes.set("target_nodeids", Integers{kCount - 1});
  attributes.set("target_ids", Integers{1});
  attributes.set("target_weights", std::vector<float>{1});
  attributes.set("n_targets", int64_t{2});
  EXPECT_TRUE(runs("TreeEnsembleRegressor", attributes));
  whenTrue[kCount - 2] = 0;
  attributes.set("nodes_truenodeids", whenTrue);
  EXPECT_FALSE(runs("TreeEnsembleRegressor", attributes));
}

// Trees of which some branches are much longer than others, and a walk through them one step at a time.
class LeaningForest {
 public:
  LeaningForest(uint32_t seed, int64_t trees, int64_t splits) : random_(seed) {
    for (int64_t tree = 0; tree < trees; ++tree) grow(tree, static_cast<int64_t>(random_() % (splits + 1)));
  }

  Attributes attributes() const {
    Attributes attributes;
    attributes.set("nodes_treeids", treeIds_);
    attributes.set("nodes_nodeids", ids_);
    attributes.set("nodes_featureids", features_);
    attributes.set("nodes_values", values_);
    attributes.set("nodes_modes", modes_);
    attributes.set("nodes_truenodeids", whenTrue_);
    attributes.set("nodes_falsenodeids", whenFalse_);
    attributes.set("target_treeids", treeIds_);
    attributes.set("target_nodeids", ids_);
    attributes.set("target_ids", Integers(ids_.size(), 0));
    attributes.set("target_weights", weights_);
    attributes.set("n_targets", int64_t{1});
    return attributes;
  }

  float scoreOf(const float* row) const {
    double sum = 0;
    for (const size_t root : roots_) {
      size_t at = root;
      while (modes_[at] != "LEAF") {
        const float x = row[features_[at]];
        const bool isTrue = modes_[at] == "BRANCH_EQ" ? x == values_[at] : x <= values_[at];
        at = root + static_cast<size_t>(isTrue ? whenTrue_[at] : whenFalse_[at]);
      }
      sum += weights_[at];
    }
    return static_cast<float>(sum);
  }

 private:
  void addLeaf(int64_t tree, int64_t id) {
    treeIds_.push_back(tree);
    ids_.push_back(id);
    features_.push_back(static_cast<int64_t>(random_() % 3));
    values_.push_back(static_cast<float>(random_() % 64) / 8);
    modes_.emplace_back("LEAF");
    whenTrue_.push_back(0);
    whenFalse_.push_back(0);
    weights_.push_back(static_cast<float>(random_() % 1000) / 7);
  }

  // Mostly the newest leaf is split.
  void grow(int64_t tree, int64_t splits) {
    const size_t root = ids_.size();
    roots_.push_back(root);
    addLeaf(tree, 0);
    for (int64_t split = 0; split < splits; ++split) {
      size_t at = random_() % 4 ? ids_.size() - 1 : root + random_() % (ids_.size() - root);
      if (modes_[at] != "LEAF") at = ids_.size() - 1;
      const auto next = static_cast<int64_t>(ids_.size() - root);
      modes_[at] = random_() % 8 ? "BRANCH_LEQ" : "BRANCH_EQ";
      whenTrue_[at] = next;
      whenFalse_[at] = next + 1;
      addLeaf(tree, next);
      addLeaf(tree, next + 1);
    }
  }

  std::mt19937 random_;
  std::vector<size_t> roots_;
  Integers treeIds_, ids_, features_, whenTrue_, whenFalse_;
  std::vector<float> values_, weights_;
  std::vector<std::string> modes_;
};

TEST(MlForest, WalksOfAllLengthsEnd) {
  for (const int64_t trees : {1, 3, 40, 500})
    for (const int64_t splits : {0, 1, 7, 90})
      for (const int64_t count : {1, 5, 16, 33, 300}) {
        const LeaningForest forest(static_cast<uint32_t>(trees * 1000 + splits), trees, splits);
        Graph graph;
        Value* x = graph.addInput("x", TensorType::of(DType::Float32, {count, 3}));
        const Node* node =
            graph.addNode("ai.onnx.ml", "TreeEnsembleRegressor", {x}, forest.attributes(), 1, "leaning trees");
        const Ref<Tensor> rows = Tensor::allocate(DType::Float32, Shape{count, 3}, true);
        auto* numbers = static_cast<float*>(rows->mutableData());
        std::mt19937 random(7);
        for (int64_t i = 0; i < rows->count(); ++i) numbers[i] = static_cast<float>(random() % 72) / 8;
        const Tensor* input = rows.get();
        const std::vector<Ref<Tensor>> results = evaluate(*node, {&input, 1});
        for (int64_t row = 0; row < count; ++row)
          ASSERT_EQ(results[0]->as<float>()[row], forest.scoreOf(numbers + row * 3))
              << trees << " trees of " << splits << " splits, row " << row << " of " << count;
      }
}

}  // namespace

}  // namespace max::test
