// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml.
//
// A walk from node to node waits for memory at each step, so eight or sixteen walks run interleaved: of as many rows
// through one tree or, for few rows, of one row through as many trees. Steps have no data-dependent branches.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/align.h"
#include "base/half.h"
#include "base/interrupt_point.h"
#include "ops/cpu/ml/forest.h"
#include "ops/cpu/ml/scores.h"
#include "ops/families.h"

namespace max {

namespace {

using ml::Aggregate;
using ml::Forest;
using ml::TreeNode;

constexpr int64_t kGroup = 8, kWide = 16;  // walks
constexpr int64_t kBlock = 128;            // rows processed per tree while it is in cache

// What walks meet beside "x <= value" and numbers: other comparisons, and NaNs that nodes tell from numbers.
struct Steps {
  bool testEqual, tellNan;
};

// Walks from at[i] with features x[i] until all reach leaves.
template <class T, Steps kSteps, int kCount>
void descend(const Forest& forest, const T* const* x, int32_t* at, WorkCounter& work) {
  const TreeNode<T>* nodes = forest.nodes<T>();
  const int32_t firstLeaf = forest.firstLeaf();
  int32_t first = at[0];
  for (int i = 1; i < kCount; ++i) first = std::min(first, at[i]);
  while (first < firstLeaf) {
    first = std::numeric_limits<int32_t>::max();
    work.pass(kCount);
    for (int i = 0; i < kCount; ++i) {
      const TreeNode<T>& node = nodes[at[i]];
      const T value = x[i][node.feature & ml::kFeatureMask];
      bool second = value <= node.value;
      if constexpr (kSteps.testEqual) second &= (value == node.value) | ((node.feature & ml::kTestsEqual) == 0);
      if constexpr (kSteps.tellNan) second |= (value != value) & ((node.feature & ml::kNanTakesSecond) != 0);
      at[i] = node.next[second];
      first = std::min(first, at[i]);
    }
  }
}

// Longer steps keep too much in registers for sixteen walks.
template <class T, Steps kSteps>
void descendByGroups(const Forest& forest, const T* const* x, int32_t* at, WorkCounter& work) {
  for (int64_t i = 0; i < kWide; i += kGroup) descend<T, kSteps, kGroup>(forest, x + i, at + i, work);
}

template <class T>
using DescendFunction = void (*)(const Forest& forest, const T* const* x, int32_t* at, WorkCounter& work);

template <class T>
struct Walk {
  DescendFunction<T> wide, group, one;
};

template <class T>
bool hasNan(const T* x, int64_t count) {
  bool found = false;
  for (int64_t i = 0; i < count; ++i) found |= x[i] != x[i];
  return found;
}

// Scores of rows, in the order of the trees, so that results do not depend on how the work is split.
class Votes {
 public:
  explicit Votes(const Forest& forest)
      : forest_(forest),
        isSum_(forest.aggregate() == Aggregate::Sum || forest.aggregate() == Aggregate::Average),
        addsOne_(isSum_ && forest.hasSingleVotes()) {}

  void begin(double* scores, int64_t count) const {
    std::fill_n(scores, count, isSum_ ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  }

  // What `count` walks end at; each adds to scores `step` behind those of the one before.
  void add(const int32_t* at, int64_t count, double* scores, int64_t step, WorkCounter& work) const {
    const int32_t firstLeaf = forest_.firstLeaf();
    if (!addsOne_) {
      for (int64_t i = 0; i < count; ++i) addAll(at[i] - firstLeaf, scores + i * step, work);
      return;
    }
    const ml::Vote* votes = forest_.votes().data();
    for (int64_t i = 0; i < count; ++i, scores += step) {
      const ml::Vote& vote = votes[at[i] - firstLeaf];
      scores[vote.target] += vote.weight;
    }
  }

  // Adds scores of other trees; NaN stands for "no vote yet" unless votes are summed.
  void merge(double& score, double other) const {
    if (isSum_)
      score += other;
    else if (std::isnan(score) || (forest_.aggregate() == Aggregate::Min ? other < score : other > score))
      score = other;
  }

  void finish(double* scores) const {
    const std::vector<double>& base = forest_.baseValues();
    const auto targets = static_cast<size_t>(forest_.targets());
    for (size_t i = 0; i < targets; ++i) {
      if (!isSum_ && std::isnan(scores[i])) scores[i] = 0;
      if (forest_.aggregate() == Aggregate::Average) scores[i] /= static_cast<double>(forest_.roots().size());
      if (!base.empty()) scores[i] += base[i];
      // So that scores that are equal in float32 are a tie.
      if (!forest_.isDouble()) scores[i] = static_cast<float>(scores[i]);
    }
  }

 private:
  void addAll(int32_t leaf, double* scores, WorkCounter& work) const {
    const ml::Leaf range = forest_.leaves()[static_cast<size_t>(leaf)];
    work.pass(range.end - range.begin);
    for (int32_t i = range.begin; i < range.end; ++i) {
      const ml::Vote& vote = forest_.votes()[static_cast<size_t>(i)];
      merge(scores[vote.target], vote.weight);
    }
  }

  const Forest& forest_;
  bool isSum_, addsOne_;
};

// Turns a row's scores into outputs.
class Outcome {
 public:
  Outcome(const OpRequest& request, const Forest& forest)
      : forest_(forest),
        transform_(ml::postTransformOf(request.node)),
        isClassifier_(request.node.op() == "TreeEnsembleClassifier"),
        dtype_(request.outputs[0].dtype) {
    if (!isClassifier_) return;
    labels_ = ml::Labels(ml::treeLabels(request.node));
    hasLabels_ = request.outputs[0].present();
    hasScores_ = request.outputs.size() > 1 && request.outputs[1].present();
  }

  void begin() const {
    if (hasLabels_) labels_.keep();
  }

  void write(const OpContext& context, int64_t row, double* scores) const {
    const std::span<double> all(scores, static_cast<size_t>(forest_.targets()));
    if (!isClassifier_) {
      ml::transformScores(transform_, all);
      return store(dtype_, context.outputs[0], row, all);
    }
    if (forest_.isBinary()) return writePair(context, row, scores[0]);
    if (hasLabels_) labels_.write(context.outputs[0], row, static_cast<int64_t>(ml::largestOf(all)));
    if (!hasScores_) return;
    ml::transformScores(transform_, all);
    store(DType::Float32, context.outputs[1], row, all);
  }

 private:
  // If no weight is negative, they are probabilities, otherwise margins.
  void writePair(const OpContext& context, int64_t row, double score) const {
    const bool isPlain = transform_ == ml::PostTransform::None || transform_ == ml::PostTransform::Probit;
    const bool isProbability = forest_.hasPositiveVotes();
    if (hasLabels_) labels_.write(context.outputs[0], row, score > (isPlain && isProbability ? 0.5 : 0.0));
    if (!hasScores_) return;
    double pair[2];
    ml::transformPair(transform_, isProbability, score, pair);
    store(DType::Float32, context.outputs[1], row, pair);
  }

  static void store(DType dtype, void* output, int64_t row, std::span<const double> scores) {
    size_t at = static_cast<size_t>(row) * scores.size();
    for (double score : scores) {
      if (dtype == DType::Float64)
        static_cast<double*>(output)[at++] = score;
      else if (dtype == DType::Float16)
        static_cast<uint16_t*>(output)[at++] = halfFromFloat(static_cast<float>(score));
      else
        static_cast<float*>(output)[at++] = static_cast<float>(score);
    }
  }

  const Forest& forest_;
  ml::PostTransform transform_;
  bool isClassifier_, hasLabels_ = false, hasScores_ = false;
  DType dtype_;
  ml::Labels labels_;
};

template <class T>
class TreeOp final : public OpKernel {
 public:
  TreeOp(const OpRequest& request, Ref<const Forest> forest)
      : forest_(std::move(forest)),
        rows_(request),
        votes_(*forest_),
        outcome_(request, *forest_),
        targets_(forest_->targets()),
        trees_(static_cast<int64_t>(forest_->roots().size())),
        lanes_(std::max(request.lanes, 1)),
        anyWalk_(forest_->testsEqual() ? walkWith<Steps{true, true}>() : walkWith<Steps{false, true}>()),
        numberWalk_(forest_->testsEqual() ? walkWith<Steps{true, false}>() : walkWith<Steps{false, false}>()) {
    require(forest_->features() <= rows_.columns, MAX_STATUS_INVALID_ARGUMENT, request.node.description(),
            ": a tree uses feature ", forest_->features() - 1, ", the input of shape ", request.inputs[0].shape,
            " has ", rows_.columns);
    block_ = std::clamp<int64_t>(kLaneScores / targets_ / kWide * kWide, kWide, kBlock);
    isConverted_ = rows_.dtype != (sizeof(T) == sizeof(float) ? DType::Float32 : DType::Float64);
    splitsTrees_ = rows_.count <= kFewRows && trees_ >= 2 * kTreesOfTask;
  }

  size_t scratchBytes() const override {
    if (splitsTrees_) return static_cast<size_t>(treeTasks() + 1) * laneBytes(rows_.count);
    return static_cast<size_t>(lanes_) * laneBytes(block_);
  }

  void run(const OpContext& context) const override {
    outcome_.begin();
    if (splitsTrees_) return runTrees(context);
    const int64_t grain = std::clamp<int64_t>(kWalksOfTask / trees_, 1, block_);
    context.parallelFor(rows_.count, grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* scratch = context.scratch + static_cast<size_t>(lane) * laneBytes(block_);
      for (int64_t row = begin; row < end; row += block_) runRows(context, row, std::min(row + block_, end), scratch);
    });
  }

 private:
  static constexpr int64_t kLaneScores = 16384;
  static constexpr int64_t kWalksOfTask = 512;
  static constexpr int64_t kTreesOfTask = 1024;
  static constexpr int64_t kFewRows = 4;

  int64_t treeTasks() const { return (trees_ + kTreesOfTask - 1) / kTreesOfTask; }

  size_t laneBytes(int64_t rows) const {
    const size_t scores = static_cast<size_t>(rows * targets_) * sizeof(double);
    const size_t features = isConverted_ ? static_cast<size_t>(rows * rows_.columns) * sizeof(T) : 0;
    return alignUp(scores + features);
  }

  void runRows(const OpContext& context, int64_t begin, int64_t end, std::byte* scratch) const {
    double* scores = reinterpret_cast<double*>(scratch);
    const int64_t count = end - begin;
    const T* x[kBlock];
    load(context, begin, count, reinterpret_cast<T*>(scores + block_ * targets_), x);
    const Walk<T>& walk = walkOf(x, count);
    votes_.begin(scores, count * targets_);
    const int64_t wide = count / kWide * kWide, grouped = count / kGroup * kGroup;
    WorkCounter work;
    for (int64_t tree = 0; tree < trees_ && grouped > 0; ++tree) {
      for (int64_t row = 0; row < wide; row += kWide)
        walkRows<kWide>(walk.wide, tree, x + row, scores + row * targets_, work);
      if (wide < grouped) walkRows<kGroup>(walk.group, tree, x + wide, scores + wide * targets_, work);
    }
    for (int64_t row = grouped; row < count; ++row) walkTrees(walk, 0, trees_, x[row], scores + row * targets_);
    for (int64_t row = 0; row < count; ++row) {
      work.pass(8 * targets_);
      votes_.finish(scores + row * targets_);
      outcome_.write(context, begin + row, scores + row * targets_);
    }
  }

  void load(const OpContext& context, int64_t begin, int64_t count, T* buffer, const T** x) const {
    for (int64_t i = 0; i < count; ++i, passWork(isConverted_ ? rows_.columns : 4))
      x[i] = rows_.at<T>(context.inputs[0], begin + i, isConverted_ ? buffer + i * rows_.columns : nullptr);
  }

  // NaNs go another way only where a node says so, and rows that have none are a matter of the features alone.
  const Walk<T>& walkOf(const T* const* x, int64_t count) const {
    if (!forest_->tellsNan()) return numberWalk_;
    WorkCounter work;
    for (int64_t i = 0; i < count; ++i, work.pass(forest_->features()))
      if (hasNan(x[i], forest_->features())) return anyWalk_;
    return numberWalk_;
  }

  template <Steps kSteps>
  static Walk<T> walkWith() {
    constexpr bool isPlain = !kSteps.testEqual && !kSteps.tellNan;
    constexpr auto wide = isPlain ? descend<T, kSteps, kWide> : descendByGroups<T, kSteps>;
    return {wide, descend<T, kSteps, kGroup>, descend<T, kSteps, 1>};
  }

  template <int64_t kCount>
  void walkRows(DescendFunction<T> descend, int64_t tree, const T* const* x, double* scores, WorkCounter& work) const {
    int32_t at[kCount];
    std::fill_n(at, kCount, forest_->roots()[static_cast<size_t>(tree)]);
    descend(*forest_, x, at, work);
    votes_.add(at, kCount, scores, targets_, work);
  }

  void walkTrees(const Walk<T>& walk, int64_t begin, int64_t end, const T* x, double* scores) const {
    const T* same[kWide];
    std::fill_n(same, kWide, x);
    WorkCounter work;
    for (int64_t tree = begin; tree < end;) {
      const int64_t left = end - tree, count = left >= kWide ? kWide : left >= kGroup ? kGroup : 1;
      int32_t at[kWide];
      std::copy_n(forest_->roots().data() + tree, count, at);
      (count == kWide ? walk.wide : count == kGroup ? walk.group : walk.one)(*forest_, same, at, work);
      votes_.add(at, count, scores, 0, work);
      tree += count;
    }
  }

  // Few rows and many trees: every task has its own scores, which are added in order.
  void runTrees(const OpContext& context) const {
    const int64_t count = rows_.count;
    const size_t bytes = laneBytes(count);
    const T* x[kBlock];
    std::byte* last = context.scratch + static_cast<size_t>(treeTasks()) * bytes;
    load(context, 0, count, reinterpret_cast<T*>(reinterpret_cast<double*>(last) + count * targets_), x);
    const Walk<T>& walk = walkOf(x, count);
    const auto scoresOf = [&](int64_t task) {
      return reinterpret_cast<double*>(context.scratch + static_cast<size_t>(task) * bytes);
    };
    context.parallelFor(treeTasks(), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) {
        votes_.begin(scoresOf(task), count * targets_);
        for (int64_t row = 0; row < count; ++row)
          walkTrees(walk, task * kTreesOfTask, std::min((task + 1) * kTreesOfTask, trees_), x[row],
                    scoresOf(task) + row * targets_);
      }
    });
    double* total = scoresOf(0);
    WorkCounter work;
    for (int64_t task = 1; task < treeTasks(); ++task)
      for (int64_t i = 0; i < count * targets_; ++i, work.pass(2)) votes_.merge(total[i], scoresOf(task)[i]);
    for (int64_t row = 0; row < count; ++row) {
      votes_.finish(total + row * targets_);
      outcome_.write(context, row, total + row * targets_);
    }
  }

  Ref<const Forest> forest_;
  ml::Rows rows_;
  Votes votes_;
  Outcome outcome_;
  int64_t targets_, trees_;
  int lanes_;
  const Walk<T> anyWalk_, numberWalk_;
  int64_t block_;
  bool isConverted_, splitsTrees_;
};

Ref<Prepared> prepareForest(const Node& node, std::span<const Tensor* const>) {
  const Value* input = node.input(0);
  return makeRef<Forest>(node, input && input->type.dtype == DType::Float64);
}

std::unique_ptr<OpKernel> createTrees(const OpRequest& request) {
  const bool isDouble = request.inputs[0].dtype == DType::Float64;
  Ref<const Forest> forest(static_cast<const Forest*>(request.node.prepared.get()));
  if (!forest || (isDouble && !forest->isDouble())) forest = makeRef<Forest>(request.node, isDouble);
  if (forest->isDouble()) return std::make_unique<TreeOp<double>>(request, std::move(forest));
  return std::make_unique<TreeOp<float>>(request, std::move(forest));
}

constexpr Implementation kTrees[] = {{"forest", nullptr, createTrees}};

const OpRow kRows[] = {
    {"ai.onnx.ml", "TreeEnsemble", kTrees, prepareForest},
    {"ai.onnx.ml", "TreeEnsembleClassifier", kTrees, prepareForest},
    {"ai.onnx.ml", "TreeEnsembleRegressor", kTrees, prepareForest},
};

}  // namespace

std::span<const OpRow> mlTreeOps() { return kRows; }

}  // namespace max
