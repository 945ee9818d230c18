// SPDX-License-Identifier: Apache-2.0
// Tree ensembles: from fully checked attributes to arrays that are fast to traverse.
//
// Files are not trusted: every reachable node is checked (ids, children, features, cycles), so that traversing a forest
// needs no checks.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace max::ml {

// The comparison of a node under construction, in the order of TreeEnsemble's numbers.
enum class BranchMode : uint8_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member };

// Children and roots are numbers of nodes, or, below zero, of leaves: ~leaf.
struct Branch {
  double value = 0;
  int64_t feature = 0;
  BranchMode mode = BranchMode::LessOrEqual;
  bool nanIsTrue = false;
  int64_t whenTrue = 0, whenFalse = 0;
};

struct Vote {
  double weight;
  int32_t target;
};

// What a leaf adds: votes [begin, end) of the forest.
struct Leaf {
  int32_t begin, end;
};

inline constexpr uint32_t kNanTakesSecond = 1u << 31;
inline constexpr uint32_t kTestsEqual = 1u << 30;
inline constexpr uint32_t kFeatureMask = kTestsEqual - 1;

// A comparison "x <= value" (or "x == value"); next[1] follows if it holds, else next[0]. Behind all comparisons there
// is one for each leaf, which leads to itself, so that walks end where they are until all have ended.
template <class T>
struct TreeNode {
  T value;
  uint32_t feature;
  int32_t next[2];
};

enum class Aggregate : uint8_t { Average, Sum, Min, Max };

class Forest : public Prepared {
 public:
  // Of a node TreeEnsemble, TreeEnsembleClassifier or TreeEnsembleRegressor; float64 features are compared as such.
  // INVALID_ARGUMENT naming the node if its attributes are not a valid forest.
  Forest(const Node& node, bool hasDoubleFeatures);

  size_t bytes() const override;

  int64_t targets() const { return targets_; }
  int64_t features() const { return features_; }  // one more than the largest feature in use
  bool isDouble() const { return isDouble_; }     // thresholds are float64
  bool testsEqual() const { return testsEqual_; }
  bool tellsNan() const { return tellsNan_; }  // some node is kNanTakesSecond
  bool hasSingleVotes() const { return hasSingleVotes_; }
  Aggregate aggregate() const { return aggregate_; }
  const std::vector<int32_t>& roots() const { return roots_; }
  template <class T>
  const TreeNode<T>* nodes() const {
    if constexpr (sizeof(T) == sizeof(float))
      return floatNodes_.data();
    else
      return doubleNodes_.data();
  }
  int32_t firstLeaf() const { return firstLeaf_; }  // of the nodes
  // After so many steps of all walks, those that have ended are taken out.
  int stepsAtOnce() const { return stepsAtOnce_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  const std::vector<Vote>& votes() const { return votes_; }
  const std::vector<double>& baseValues() const { return baseValues_; }
  // Two classes of which only one gets votes: its score is for both.
  bool isBinary() const { return isBinary_; }
  bool hasPositiveVotes() const { return hasPositiveVotes_; }  // none is negative

 private:
  friend class ForestReader;
  // Copies reachable nodes, with children close to their parents.
  void flatten(const Node& node, const std::vector<Branch>& branches, const std::vector<int64_t>& roots);

  int64_t targets_ = 1, features_ = 0;
  bool isDouble_ = false, testsEqual_ = false, tellsNan_ = false, hasSingleVotes_ = true, isBinary_ = false,
       hasPositiveVotes_ = true;
  Aggregate aggregate_ = Aggregate::Sum;
  int32_t firstLeaf_ = 0;
  int stepsAtOnce_ = 1;
  std::vector<int32_t> roots_;
  std::vector<TreeNode<float>> floatNodes_;
  std::vector<TreeNode<double>> doubleNodes_;
  std::vector<Leaf> leaves_;
  std::vector<Vote> votes_;
  std::vector<double> baseValues_;
};

}  // namespace max::ml
