// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/ml/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/align.h"
#include "base/number_access.h"
#include "ops/cpu/ml/scores.h"

namespace max::ml {

namespace {

constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",   "BRANCH_GT",
                                       "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER"};
constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
// More targets than this need votes for each of them.
constexpr int64_t kFreeTargets = 65536;
constexpr size_t kDepths = 33;
constexpr int64_t kStepsOfLook = 3;  // steps that take the time of a look for walks that have ended

template <class... Parts>
[[noreturn]] void fail(const Node& node, const Parts&... parts) {
  invalidArgument(node.description(), ": ", parts...);
}

bool canHoldNumbers(const Tensor& tensor) {
  constexpr DType kTypes[] = {DType::Float32, DType::Float64, DType::Float16, DType::UInt8};
  return std::ranges::find(kTypes, tensor.dtype()) != std::end(kTypes) || tensor.count() == 0;
}

// Numbers of a list of floats, or of the tensor that may replace it.
class Numbers {
 public:
  Numbers(const Node& node, std::string_view list, std::string_view tensor)
      : floats_(list.empty() ? std::span<const float>() : floatsOf(node, list)),
        tensor_(node.attributes.getTensor(tensor)) {
    if (tensor_ && !canHoldNumbers(*tensor_)) fail(node, "the attribute ", tensor, " is ", tensor_->dtype());
  }
  size_t size() const { return tensor_ ? static_cast<size_t>(tensor_->count()) : floats_.size(); }
  double operator[](size_t i) const {
    return tensor_ ? numberAt(tensor_->dtype(), tensor_->data(), static_cast<int64_t>(i))
                   : static_cast<double>(floats_[i]);
  }
  bool isDouble() const { return tensor_ && tensor_->dtype() == DType::Float64; }

 private:
  std::span<const float> floats_;
  Ref<Tensor> tensor_;
};

// Finds nodes by (tree, node) ids.
class NodeIndex {
 public:
  NodeIndex(const Node& node, std::span<const int64_t> trees, std::span<const int64_t> ids) : trees_(trees), ids_(ids) {
    order_.resize(ids.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int64_t>(i);
    const auto before = [this](int64_t a, int64_t b) { return keyOf(a) < keyOf(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
    for (size_t i = 1; i < order_.size(); ++i)
      if (keyOf(order_[i - 1]) == keyOf(order_[i]))
        fail(node, "node ", keyOf(order_[i]).second, " of tree ", keyOf(order_[i]).first, " is defined twice");
  }

  // -1 if there is none. Ids usually count up, so the distance to a nearby node is a good guess.
  int64_t find(int64_t tree, int64_t id, int64_t near) const {
    const std::pair<int64_t, int64_t> key(tree, id);
    int64_t guess;
    if (near < static_cast<int64_t>(ids_.size()) &&
        !__builtin_sub_overflow(id, ids_[static_cast<size_t>(near)], &guess) &&
        !__builtin_add_overflow(guess, near, &guess) && guess >= 0 && guess < static_cast<int64_t>(ids_.size()) &&
        keyOf(guess) == key)
      return guess;
    const auto entry = std::lower_bound(order_.begin(), order_.end(), key,
                                        [this](int64_t i, const auto& wanted) { return keyOf(i) < wanted; });
    return entry != order_.end() && keyOf(*entry) == key ? *entry : -1;
  }

 private:
  std::pair<int64_t, int64_t> keyOf(int64_t i) const {
    return {trees_[static_cast<size_t>(i)], ids_[static_cast<size_t>(i)]};
  }
  std::span<const int64_t> trees_, ids_;
  std::vector<int64_t> order_;
};

template <class T>
T numberBelow(T value) {
  if (value == -std::numeric_limits<T>::infinity()) return std::numeric_limits<T>::quiet_NaN();
  return std::nextafter(value, -std::numeric_limits<T>::infinity());
}

// Every comparison is "<=" or "==", with the children swapped if it is the opposite.
template <class T>
TreeNode<T> nodeOf(const Branch& branch, int32_t whenTrue, int32_t whenFalse) {
  T value = static_cast<T>(branch.value);
  const BranchMode mode = branch.mode;
  bool isOpposite = mode == BranchMode::Greater || mode == BranchMode::GreaterOrEqual || mode == BranchMode::NotEqual;
  if (std::isnan(value) && mode != BranchMode::NotEqual) isOpposite = false;  // no comparison with it is true
  if (mode == BranchMode::Less || mode == BranchMode::GreaterOrEqual) value = numberBelow(value);
  TreeNode<T> node{value, static_cast<uint32_t>(branch.feature), {whenFalse, whenTrue}};
  if (isOpposite) std::swap(node.next[0], node.next[1]);
  if (branch.nanIsTrue != isOpposite) node.feature |= kNanTakesSecond;
  if (mode == BranchMode::Equal || mode == BranchMode::NotEqual) node.feature |= kTestsEqual;
  return node;
}

// Nodes in the order of a walk from the roots; a cycle is an error.
class Walk {
 public:
  Walk(const Node& node, const std::vector<Branch>& branches)
      : node_(node), branches_(branches), places_(branches.size(), kUnseen), isOpen_(branches.size(), false) {}

  void from(int64_t root) {
    enter(root);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const Branch& branch = branches_[frame.index];
      if (frame.stage == 2) {
        isOpen_[frame.index] = false;
        stack_.pop_back();
      } else {
        enter(frame.stage++ == 0 ? branch.whenTrue : branch.whenFalse);
      }
    }
  }
  const std::vector<size_t>& order() const { return order_; }
  // How many leaves are so many steps from the root, or at least as many as the last.
  std::span<const int64_t, kDepths> leavesByDepth() const { return leavesByDepth_; }
  // Leaves are behind the others.
  int32_t placeOf(int64_t child) const {
    return child < 0 ? static_cast<int32_t>(order_.size()) + static_cast<int32_t>(~child)
                     : places_[static_cast<size_t>(child)];
  }

 private:
  static constexpr int32_t kUnseen = -1;
  struct Frame {
    size_t index;
    int stage;
  };

  void enter(int64_t child) {
    if (child < 0) return static_cast<void>(++leavesByDepth_[std::min(stack_.size(), kDepths - 1)]);
    const auto index = static_cast<size_t>(child);
    if (isOpen_[index]) fail(node_, "tree node number ", index, " is on a cycle");
    if (places_[index] != kUnseen) return;
    places_[index] = static_cast<int32_t>(order_.size());
    order_.push_back(index);
    isOpen_[index] = true;
    stack_.push_back({index, 0});
  }

  const Node& node_;
  const std::vector<Branch>& branches_;
  std::vector<int32_t> places_;
  std::vector<bool> isOpen_;
  std::vector<size_t> order_;
  std::vector<Frame> stack_;
  int64_t leavesByDepth_[kDepths] = {};
};

// Walks to all leaves take the least time so: the fewer steps, the more looks, and the more, the more walks that wait.
int stepsAtOnceOf(std::span<const int64_t, kDepths> leavesByDepth) {
  int best = 1;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t steps = 1; steps < static_cast<int64_t>(kDepths); ++steps) {
    int64_t cost = 0;
    for (size_t depth = 0; depth < kDepths; ++depth)
      cost += leavesByDepth[depth] * ceilDiv(static_cast<int64_t>(depth), steps) * (steps + kStepsOfLook);
    if (cost < least) best = static_cast<int>(steps);
    least = std::min(least, cost);
  }
  return best;
}

}  // namespace

// Fills a forest from a node's attributes, in the older form (ids of trees and nodes) or that of TreeEnsemble.
class ForestReader {
 public:
  ForestReader(const Node& node, Forest& forest) : node_(node), forest_(forest) {}

  void read() {
    if (node_.op() == "TreeEnsemble") {
      readBranches();
      readLeaves();
      readAggregate();
    } else {
      readNamedNodes();
      readVotes();
    }
    require(branches_.size() + forest_.leaves_.size() < INT32_MAX && forest_.votes_.size() < INT32_MAX,
            MAX_STATUS_UNIMPLEMENTED, node_.description(), ": more than 2^31 tree nodes are not supported");
    summarise();
    forest_.flatten(node_, branches_, roots_);
  }

 private:
  std::span<const int64_t> integers(const char* name, size_t count) const {
    const std::span<const int64_t> list = integersOf(node_, name);
    requireCount(node_, name, list.size(), count);
    return list;
  }

  // An absent list means zeros.
  bool nanIsTrue(size_t i) const { return !missing_.empty() && missing_[i] != 0; }
  void readMissing(size_t count) {
    missing_ = integersOf(node_, "nodes_missing_value_tracks_true");
    if (!missing_.empty()) requireCount(node_, "nodes_missing_value_tracks_true", missing_.size(), count);
  }

  // TreeEnsemble: branches and leaves are separate lists.
  void readBranches() {
    const std::span<const int64_t> features = integersOf(node_, "nodes_featureids");
    const size_t count = features.size();
    leafTargets_ = integersOf(node_, "leaf_targetids");
    const auto whenTrue = integers("nodes_truenodeids", count), whenFalse = integers("nodes_falsenodeids", count);
    const auto trueLeafs = integers("nodes_trueleafs", count), falseLeafs = integers("nodes_falseleafs", count);
    const Numbers splits(node_, "", "nodes_splits"), modes(node_, "", "nodes_modes");
    requireCount(node_, "nodes_splits", splits.size(), count);
    requireCount(node_, "nodes_modes", modes.size(), count);
    readMissing(count);
    forest_.isDouble_ |= splits.isDouble();
    branches_.reserve(count);
    for (size_t i = 0; i < count; ++i)
      branches_.push_back({splits[i], features[i], modeOf(modes[i]), nanIsTrue(i),
                           childOf(whenTrue[i], trueLeafs[i] != 0, count),
                           childOf(whenFalse[i], falseLeafs[i] != 0, count)});
    for (int64_t root : integersOf(node_, "tree_roots")) roots_.push_back(rootOf(root, count));
    expandSets();
  }

  BranchMode modeOf(double number) const {
    if (!(number >= 0 && number < static_cast<double>(std::size(kModes))))
      fail(node_, "attribute 'nodes_modes' contains ", number);
    return static_cast<BranchMode>(static_cast<int>(number));
  }

  int64_t childOf(int64_t id, bool isLeaf, size_t count) const {
    const auto limit = static_cast<int64_t>(isLeaf ? leafTargets_.size() : count);
    if (id < 0 || id >= limit)
      fail(node_, "a tree node has the child ", id, " of ", limit, isLeaf ? " leaves" : " nodes");
    return isLeaf ? ~id : id;
  }

  // A tree of one leaf has a node with that leaf on both sides.
  int64_t rootOf(int64_t id, size_t count) const {
    const int64_t root = childOf(id, false, count);
    const Branch& branch = branches_[static_cast<size_t>(root)];
    return branch.whenTrue < 0 && branch.whenTrue == branch.whenFalse ? branch.whenTrue : root;
  }

  // "is x one of a, b, c" becomes "is x a, else b, else c".
  void expandSets() {
    const Numbers members(node_, "", "membership_values");
    size_t at = 0;
    const size_t count = branches_.size();
    for (size_t i = 0; i < count; ++i) {
      if (branches_[i].mode != BranchMode::Member) continue;
      branches_[i].mode = BranchMode::Equal;
      branches_[i].value = std::numeric_limits<double>::quiet_NaN();
      size_t last = i;
      for (bool isFirst = true; at < members.size() && !std::isnan(members[at]); ++at, isFirst = false) {
        if (!isFirst) {
          branches_.push_back(branches_[last]);
          branches_[last].whenFalse = static_cast<int64_t>(branches_.size()) - 1;
          last = branches_.size() - 1;
        }
        branches_[last].value = members[at];
      }
      ++at;  // sets end with a NaN
    }
    forest_.isDouble_ |= members.isDouble();
  }

  void readLeaves() {
    const Numbers weights(node_, "", "leaf_weights");
    requireCount(node_, "leaf_weights", weights.size(), leafTargets_.size());
    forest_.targets_ = readTargets(node_, "n_targets");
    for (size_t i = 0; i < leafTargets_.size(); ++i) {
      addVote(leafTargets_[i], weights[i]);
      forest_.leaves_.push_back({static_cast<int32_t>(i), static_cast<int32_t>(i) + 1});
    }
  }

  void addVote(int64_t target, double weight) {
    if (target < 0 || target >= forest_.targets_)
      fail(node_, "a leaf has the target ", target, ", but there are ", forest_.targets_);
    forest_.votes_.push_back({weight, static_cast<int32_t>(target)});
  }

  void readAggregate() {
    const int64_t number = node_.attributes.getInt("aggregate_function", 1);
    if (number < 0 || number >= static_cast<int64_t>(std::size(kAggregates)))
      fail(node_, "attribute 'aggregate_function' is ", number);
    forest_.aggregate_ = static_cast<Aggregate>(number);
  }

  // TreeEnsembleClassifier and -Regressor: leaves are nodes, all nodes have ids.
  void readNamedNodes() {
    trees_ = integersOf(node_, "nodes_treeids");
    const size_t count = trees_.size();
    ids_ = integers("nodes_nodeids", count);
    index_ = std::make_unique<NodeIndex>(node_, trees_, ids_);
    const Numbers values(node_, "nodes_values", "nodes_values_as_tensor");
    requireCount(node_, "nodes_values", values.size(), count);
    forest_.isDouble_ |= values.isDouble();
    readMissing(count);
    const auto features = integers("nodes_featureids", count);
    const std::span<const std::string> modes = stringsOf(node_, "nodes_modes");
    requireCount(node_, "nodes_modes", modes.size(), count);
    branches_.resize(count);
    numbers_.assign(count, 0);
    for (size_t i = 0; i < count; ++i) {
      if (modes[i] == "LEAF") {
        numbers_[i] = ~static_cast<int64_t>(forest_.leaves_.size());
        forest_.leaves_.push_back({0, 0});
        continue;
      }
      numbers_[i] = static_cast<int64_t>(i);
      branches_[i] = {values[i], features[i], modeNamed(modes[i]), nanIsTrue(i), 0, 0};
    }
    connect();
  }

  BranchMode modeNamed(const std::string& name) const {
    for (size_t k = 0; k + 1 < std::size(kModes); ++k)
      if (name == kModes[k]) return static_cast<BranchMode>(k);
    fail(node_, "attribute 'nodes_modes' contains '", name, "'");
  }

  void connect() {
    const size_t count = branches_.size();
    const auto whenTrue = integers("nodes_truenodeids", count), whenFalse = integers("nodes_falsenodeids", count);
    std::vector<bool> hasParent(count, false);
    for (size_t i = 0; i < count; ++i) {
      if (numbers_[i] < 0) continue;
      branches_[i].whenTrue = connected(i, whenTrue[i], hasParent);
      branches_[i].whenFalse = connected(i, whenFalse[i], hasParent);
    }
    findRoots(hasParent);
  }

  int64_t connected(size_t parent, int64_t id, std::vector<bool>& hasParent) const {
    const int64_t child = index_->find(trees_[parent], id, static_cast<int64_t>(parent));
    if (child < 0)
      fail(node_, "node ", ids_[parent], " of tree ", trees_[parent], " has the child ", id, ", which does not exist");
    hasParent[static_cast<size_t>(child)] = true;
    return numbers_[static_cast<size_t>(child)];
  }

  // The root of each tree (a leaf if there is nothing else), in order of appearance.
  void findRoots(const std::vector<bool>& hasParent) {
    struct Tree {
      int64_t id, nodes;
      bool isRooted;
    };
    std::vector<int64_t> ids(trees_.begin(), trees_.end());
    std::sort(ids.begin(), ids.end());
    std::vector<Tree> trees;
    for (int64_t id : ids) {
      if (trees.empty() || trees.back().id != id) trees.push_back({id, 0, false});
      ++trees.back().nodes;
    }
    const auto before = [](const Tree& tree, int64_t id) { return tree.id < id; };
    for (size_t i = 0; i < branches_.size(); ++i) {
      Tree& tree = *std::lower_bound(trees.begin(), trees.end(), trees_[i], before);
      if (hasParent[i] || tree.isRooted || (numbers_[i] < 0 && tree.nodes > 1)) continue;
      tree.isRooted = true;
      roots_.push_back(numbers_[i]);
    }
    for (const Tree& tree : trees)
      if (!tree.isRooted) fail(node_, "tree ", tree.id, " has no root: its nodes are on a cycle");
  }

  struct NamedVote {
    int32_t leaf;
    int32_t target;
    double weight;
  };

  void readVotes() {
    const bool isClassifier = node_.op() == "TreeEnsembleClassifier";
    const std::string prefix = isClassifier ? "class_" : "target_";
    const Numbers weights(node_, prefix + "weights", prefix + "weights_as_tensor");
    const size_t count = weights.size();
    const auto trees = integers((prefix + "treeids").c_str(), count),
               ids = integers((prefix + "nodeids").c_str(), count), targets = integers((prefix + "ids").c_str(), count);
    if (isClassifier)
      forest_.targets_ = static_cast<int64_t>(treeLabels(node_).count());
    else
      forest_.targets_ = readTargets(node_, "n_targets");
    std::vector<NamedVote> votes;
    votes.reserve(count);
    int64_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      found = index_->find(trees[i], ids[i], std::max<int64_t>(found, 0));
      if (found < 0) fail(node_, "a weight has the node ", ids[i], " of tree ", trees[i], ", which does not exist");
      if (targets[i] < 0 || targets[i] >= forest_.targets_)
        fail(node_, "a weight has the target ", targets[i], ", but there are ", forest_.targets_);
      const int64_t leaf = numbers_[static_cast<size_t>(found)];
      if (leaf < 0) votes.push_back({static_cast<int32_t>(~leaf), static_cast<int32_t>(targets[i]), weights[i]});
    }
    sortVotes(votes);
    readBase(isClassifier);
    if (!isClassifier) readNamedAggregate();
  }

  void sortVotes(std::vector<NamedVote>& votes) {
    std::stable_sort(votes.begin(), votes.end(),
                     [](const NamedVote& a, const NamedVote& b) { return a.leaf < b.leaf; });
    for (const NamedVote& vote : votes) forest_.votes_.push_back({vote.weight, vote.target});
    size_t at = 0;
    for (size_t leaf = 0; leaf < forest_.leaves_.size(); ++leaf) {
      const size_t begin = at;
      while (at < votes.size() && votes[at].leaf == static_cast<int32_t>(leaf)) ++at;
      forest_.leaves_[leaf] = {static_cast<int32_t>(begin), static_cast<int32_t>(at)};
    }
  }

  // A classifier of two classes may have one score, that of the second class.
  void readBase(bool isClassifier) {
    const Numbers base(node_, "base_values", "base_values_as_tensor");
    std::vector<double>& values = forest_.baseValues_;
    for (size_t i = 0; i < base.size(); ++i) values.push_back(base[i]);
    std::vector<Vote>& votes = forest_.votes_;
    forest_.isBinary_ =
        isClassifier && forest_.targets_ == 2 && !votes.empty() &&
        std::all_of(votes.begin(), votes.end(), [&](const Vote& vote) { return vote.target == votes[0].target; });
    if (forest_.isBinary_) {
      if (values.size() == 2) values = {values[static_cast<size_t>(votes[0].target)]};
      for (Vote& vote : votes) vote.target = 0;
      forest_.targets_ = 1;
    }
    if (!values.empty()) requireCount(node_, "base_values", values.size(), static_cast<size_t>(forest_.targets_));
  }

  void readNamedAggregate() {
    const std::string name = node_.attributes.getString("aggregate_function", "SUM");
    const auto* found = std::find(std::begin(kAggregates), std::end(kAggregates), name);
    if (found == std::end(kAggregates)) fail(node_, "attribute 'aggregate_function' is '", name, "'");
    forest_.aggregate_ = static_cast<Aggregate>(found - kAggregates);
  }

  void summarise() {
    const int64_t targets = forest_.targets_;
    if (targets < 1 || targets > std::max<int64_t>(kFreeTargets, static_cast<int64_t>(forest_.votes_.size())))
      fail(node_, "has ", targets, " targets, but ", forest_.votes_.size(), " weights of leaves");
    if (roots_.empty()) fail(node_, "has no trees");
    for (const Leaf& leaf : forest_.leaves_) forest_.hasSingleVotes_ &= leaf.end - leaf.begin == 1;
    for (const Vote& vote : forest_.votes_) forest_.hasPositiveVotes_ &= !(vote.weight < 0);
  }

  const Node& node_;
  Forest& forest_;
  std::vector<Branch> branches_;
  std::vector<int64_t> roots_;
  std::span<const int64_t> missing_, leafTargets_, trees_, ids_;
  std::unique_ptr<NodeIndex> index_;
  std::vector<int64_t> numbers_;  // how branches name node i: as a child of theirs
};

Forest::Forest(const Node& node, bool hasDoubleFeatures) : isDouble_(hasDoubleFeatures) {
  ForestReader(node, *this).read();
}

size_t Forest::bytes() const {
  return floatNodes_.size() * sizeof(floatNodes_[0]) + doubleNodes_.size() * sizeof(doubleNodes_[0]) +
         leaves_.size() * sizeof(Leaf) + votes_.size() * sizeof(Vote) + roots_.size() * sizeof(int32_t);
}

void Forest::flatten(const Node& node, const std::vector<Branch>& branches, const std::vector<int64_t>& roots) {
  Walk walk(node, branches);
  for (int64_t root : roots) walk.from(root);
  for (int64_t root : roots) roots_.push_back(walk.placeOf(root));
  firstLeaf_ = static_cast<int32_t>(walk.order().size());
  stepsAtOnce_ = stepsAtOnceOf(walk.leavesByDepth());
  for (size_t index : walk.order()) {
    const Branch& branch = branches[index];
    if (branch.feature < 0 || branch.feature > kFeatureMask)
      fail(node, "tree node number ", index, " uses feature ", branch.feature);
    features_ = std::max(features_, branch.feature + 1);
    const int32_t whenTrue = walk.placeOf(branch.whenTrue), whenFalse = walk.placeOf(branch.whenFalse);
    if (isDouble_)
      doubleNodes_.push_back(nodeOf<double>(branch, whenTrue, whenFalse));
    else
      floatNodes_.push_back(nodeOf<float>(branch, whenTrue, whenFalse));
    const uint32_t feature = isDouble_ ? doubleNodes_.back().feature : floatNodes_.back().feature;
    testsEqual_ |= (feature & kTestsEqual) != 0;
    tellsNan_ |= (feature & kNanTakesSecond) != 0;
  }
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    const int32_t self = firstLeaf_ + static_cast<int32_t>(leaf);
    if (isDouble_)
      doubleNodes_.push_back({0, 0, {self, self}});
    else
      floatNodes_.push_back({0, 0, {self, self}});
  }
}

}  // namespace max::ml
