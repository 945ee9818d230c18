// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml.
//
// A walk from node to node waits for memory at each step, so eight walks run interleaved: of eight rows through one
// tree or, for few rows, of one row through eight trees. Steps have no data-dependent branches.
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

constexpr int64_t kGroup = 8;
constexpr int64_t kBlock = 128;  // rows processed per tree while it is in cache

// Walks from at[i] with features x[i] until all reach leaves.
template <class T, bool kTestsEqual, int kCount>
void descend(const TreeNode<T>* nodes, const T* const* x, int32_t* at, WorkCounter& work) {
  int32_t atLeaf = -1;
  for (int i = 0; i < kCount; ++i) atLeaf &= at[i];
  while (atLeaf >= 0) {
    atLeaf = -1;
    work.pass(kCount);
    for (int i = 0; i < kCount; ++i) {
      const int32_t here = at[i];
      const TreeNode<T>& node = nodes[here < 0 ? 0 : here];
      const T value = x[i][node.feature & ml::kFeatureMask];
      bool holds = value <= node.value;
      if (kTestsEqual && (node.feature & ml::kTestsEqual)) holds = value == node.value;
      const bool isNan = value != value;
      const bool second = holds | (isNan & ((node.feature & ml::kNanTakesSecond) != 0));
      const int32_t next = node.next[second];
      at[i] = here < 0 ? here : next;
      atLeaf &= at[i];
    }
  }
}

template <class T>
using DescendFunction = void (*)(const TreeNode<T>* nodes, const T* const* x, int32_t* at, WorkCounter& work);

// Scores of rows, in the order of the trees, so that results do not depend on how the work is split.
class Votes {
 public:
  explicit Votes(const Forest& forest) : forest_(forest) {}

  void begin(double* scores, int64_t count) const {
    std::fill_n(scores, count, isSum() ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  }

  void add(int32_t at, double* scores, WorkCounter& work) const {
    const auto leaf = static_cast<size_t>(~at);
    if (forest_.hasSingleVotes() && isSum()) {
      const ml::Vote& vote = forest_.votes()[leaf];
      scores[vote.target] += vote.weight;
      return;
    }
    const ml::Leaf range = forest_.leaves()[leaf];
    work.pass(range.end - range.begin);
    for (int32_t i = range.begin; i < range.end; ++i) {
      const ml::Vote& vote = forest_.votes()[static_cast<size_t>(i)];
      merge(scores[vote.target], vote.weight);
    }
  }

  // Adds scores of other trees; NaN stands for "no vote yet" unless votes are summed.
  void merge(double& score, double other) const {
    if (isSum())
      score += other;
    else if (std::isnan(score) || (forest_.aggregate() == Aggregate::Min ? other < score : other > score))
      score = other;
  }

  void finish(double* scores) const {
    const std::vector<double>& base = forest_.baseValues();
    const auto targets = static_cast<size_t>(forest_.targets());
    for (size_t i = 0; i < targets; ++i) {
      if (!isSum() && std::isnan(scores[i])) scores[i] = 0;
      if (forest_.aggregate() == Aggregate::Average) scores[i] /= static_cast<double>(forest_.roots().size());
      if (!base.empty()) scores[i] += base[i];
      // So that scores that are equal in float32 are a tie.
      if (!forest_.isDouble()) scores[i] = static_cast<float>(scores[i]);
    }
  }

 private:
  bool isSum() const { return forest_.aggregate() == Aggregate::Sum || forest_.aggregate() == Aggregate::Average; }
  const Forest& forest_;
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
        nodes_(forest_->nodes<T>()),
        descendGroup_(forest_->testsEqual() ? descend<T, true, kGroup> : descend<T, false, kGroup>),
        descendOne_(forest_->testsEqual() ? descend<T, true, 1> : descend<T, false, 1>) {
    require(forest_->features() <= rows_.columns, MAX_STATUS_INVALID_ARGUMENT, request.node.description(),
            ": a tree uses feature ", forest_->features() - 1, ", the input of shape ", request.inputs[0].shape,
            " has ", rows_.columns);
    block_ = std::clamp<int64_t>(kLaneScores / targets_ / kGroup * kGroup, kGroup, kBlock);
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
    votes_.begin(scores, count * targets_);
    const int64_t grouped = count / kGroup * kGroup;
    WorkCounter work;
    for (int64_t tree = 0; tree < trees_ && grouped > 0; ++tree)
      for (int64_t row = 0; row < grouped; row += kGroup) walkRows(tree, x + row, scores + row * targets_, work);
    for (int64_t row = grouped; row < count; ++row) walkTrees(0, trees_, x[row], scores + row * targets_);
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

  void walkRows(int64_t tree, const T* const* x, double* scores, WorkCounter& work) const {
    int32_t at[kGroup];
    std::fill_n(at, kGroup, forest_->roots()[static_cast<size_t>(tree)]);
    descendGroup_(nodes_, x, at, work);
    for (int64_t i = 0; i < kGroup; ++i) votes_.add(at[i], scores + i * targets_, work);
  }

  void walkTrees(int64_t begin, int64_t end, const T* x, double* scores) const {
    const T* same[kGroup];
    std::fill_n(same, kGroup, x);
    WorkCounter work;
    int64_t tree = begin;
    for (; tree + kGroup <= end; tree += kGroup) {
      int32_t at[kGroup];
      std::copy_n(forest_->roots().data() + tree, kGroup, at);
      descendGroup_(nodes_, same, at, work);
      for (int32_t leaf : at) votes_.add(leaf, scores, work);
    }
    for (; tree < end; ++tree) {
      int32_t at = forest_->roots()[static_cast<size_t>(tree)];
      descendOne_(nodes_, same, &at, work);
      votes_.add(at, scores, work);
    }
  }

  // Few rows and many trees: every task has its own scores, which are added in order.
  void runTrees(const OpContext& context) const {
    const int64_t count = rows_.count;
    const size_t bytes = laneBytes(count);
    const T* x[kBlock];
    std::byte* last = context.scratch + static_cast<size_t>(treeTasks()) * bytes;
    load(context, 0, count, reinterpret_cast<T*>(reinterpret_cast<double*>(last) + count * targets_), x);
    const auto scoresOf = [&](int64_t task) {
      return reinterpret_cast<double*>(context.scratch + static_cast<size_t>(task) * bytes);
    };
    context.parallelFor(treeTasks(), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) {
        votes_.begin(scoresOf(task), count * targets_);
        for (int64_t row = 0; row < count; ++row)
          walkTrees(task * kTreesOfTask, std::min((task + 1) * kTreesOfTask, trees_), x[row],
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
  const TreeNode<T>* nodes_;
  DescendFunction<T> descendGroup_, descendOne_;
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
