// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml.
//
// A walk from node to node waits for memory at each step, so many walks run interleaved: of a block of rows through one
// tree or, for fewer rows, through several trees. Steps have no data-dependent branches. Walks that have ended leave
// the list of those under way after every few steps, as some branches of a tree may be much longer than others.
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

constexpr int64_t kGroup = 16, kFew = 4;  // walks side by side, of many and of few
constexpr int64_t kBlock = 128;           // walks of one list: rows processed per tree while it is in cache

// What walks meet beside "x <= value" and numbers: other comparisons, and NaNs that nodes tell from numbers.
struct Steps {
  bool testEqual, tellNan;
};

template <class T, Steps kSteps>
inline int32_t stepFrom(const TreeNode<T>* nodes, int32_t at, const T* x) {
  const TreeNode<T>& node = nodes[at];
  const T value = x[node.feature & ml::kFeatureMask];
  bool second = value <= node.value;
  if constexpr (kSteps.testEqual) second &= (value == node.value) | ((node.feature & ml::kTestsEqual) == 0);
  if constexpr (kSteps.tellNan) second |= (value != value) & ((node.feature & ml::kNanTakesSecond) != 0);
  return node.next[second];
}

// Walks under way, close together; entries behind them fill up the last group.
template <class T>
struct WalkList {
  int32_t at[kBlock + kGroup];
  const T* x[kBlock + kGroup];
  uint8_t walk[kBlock + kGroup];
};

// Some steps of walks `first` and following; ends[i] is where walk i is then. Those that reach no leaf stay in the
// list, as its entries `kept` and following. Returns the number of all kept.
template <class T, Steps kSteps, int64_t kCount>
int64_t advance(const Forest& forest, WalkList<T>& walks, int64_t first, int64_t kept, int32_t* ends) {
  const TreeNode<T>* nodes = forest.nodes<T>();
  const int steps = forest.stepsAtOnce();
  int32_t at[kCount];
  for (int64_t i = 0; i < kCount; ++i) at[i] = walks.at[first + i];
  for (int step = 0; step < steps; ++step)
    for (int64_t i = 0; i < kCount; ++i) at[i] = stepFrom<T, kSteps>(nodes, at[i], walks.x[first + i]);
  for (int64_t i = 0; i < kCount; ++i) {
    const uint8_t walk = walks.walk[first + i];
    ends[walk] = walks.at[kept] = at[i];
    walks.x[kept] = walks.x[first + i];
    walks.walk[kept] = walk;
    kept += at[i] < forest.firstLeaf();
  }
  return kept;
}

// From walks.at[i] with features walks.x[i] until all reach leaves, which become ends[i].
template <class T, Steps kSteps>
void descend(const Forest& forest, WalkList<T>& walks, int64_t count, int32_t* ends, WorkCounter& work) {
  if (forest.firstLeaf() == 0) return static_cast<void>(std::copy_n(walks.at, count, ends));
  for (int64_t i = 0; i < count; ++i) walks.walk[i] = static_cast<uint8_t>(i);
  for (int64_t left = count; left > 0;) {
    work.pass(left * forest.stepsAtOnce());
    std::fill_n(walks.at + left, kGroup, forest.firstLeaf());
    std::fill_n(walks.x + left, kGroup, walks.x[0]);
    std::fill_n(walks.walk + left, kGroup, static_cast<uint8_t>(kBlock));
    int64_t kept = 0, first = 0;
    // Longer steps keep too much in registers for sixteen walks.
    constexpr int64_t kMany = kSteps.testEqual || kSteps.tellNan ? kGroup / 2 : kGroup;
    for (; left - first > kMany / 2; first += kMany) kept = advance<T, kSteps, kMany>(forest, walks, first, kept, ends);
    for (; first < left; first += kFew) kept = advance<T, kSteps, kFew>(forest, walks, first, kept, ends);
    left = kept;
  }
}

template <class T>
using DescendFunction = void (*)(const Forest& forest, WalkList<T>& walks, int64_t count, int32_t* ends,
                                 WorkCounter& work);

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

  // Of some rows.
  void finish(double* scores, int64_t rows) const {
    const std::vector<double>& base = forest_.baseValues();
    const int64_t targets = forest_.targets(), count = rows * targets;
    const auto trees = static_cast<double>(forest_.roots().size());
    for (int64_t i = 0; i < count && !isSum_; ++i)
      if (std::isnan(scores[i])) scores[i] = 0;
    for (int64_t i = 0; i < count && forest_.aggregate() == Aggregate::Average; ++i) scores[i] /= trees;
    for (int64_t i = 0; i < count && !base.empty(); ++i) scores[i] += base[static_cast<size_t>(i % targets)];
    // So that scores that are equal in float32 are a tie.
    for (int64_t i = 0; i < count && !forest_.isDouble(); ++i) scores[i] = static_cast<float>(scores[i]);
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

  // Rows [begin, begin + count).
  void write(const OpContext& context, int64_t begin, int64_t count, double* scores) const {
    const int64_t targets = forest_.targets();
    if (!isClassifier_ && transform_ == ml::PostTransform::None)
      return store(dtype_, context.outputs[0], begin * targets, {scores, static_cast<size_t>(count * targets)});
    WorkCounter work;
    for (int64_t i = 0; i < count; ++i, work.pass(8 * targets)) writeRow(context, begin + i, scores + i * targets);
  }

 private:
  void writeRow(const OpContext& context, int64_t row, double* scores) const {
    const std::span<double> all(scores, static_cast<size_t>(forest_.targets()));
    if (!isClassifier_) {
      ml::transformScores(transform_, all);
      return store(dtype_, context.outputs[0], row * forest_.targets(), all);
    }
    if (forest_.isBinary()) return writePair(context, row, scores[0]);
    if (hasLabels_) labels_.write(context.outputs[0], row, static_cast<int64_t>(ml::largestOf(all)));
    if (!hasScores_) return;
    ml::transformScores(transform_, all);
    store(DType::Float32, context.outputs[1], row * forest_.targets(), all);
  }

  // If no weight is negative, they are probabilities, otherwise margins.
  void writePair(const OpContext& context, int64_t row, double score) const {
    const bool isPlain = transform_ == ml::PostTransform::None || transform_ == ml::PostTransform::Probit;
    const bool isProbability = forest_.hasPositiveVotes();
    if (hasLabels_) labels_.write(context.outputs[0], row, score > (isPlain && isProbability ? 0.5 : 0.0));
    if (!hasScores_) return;
    double pair[2];
    ml::transformPair(transform_, isProbability, score, pair);
    store(DType::Float32, context.outputs[1], 2 * row, pair);
  }

  template <class T, class Convert>
  static void fill(void* output, size_t at, std::span<const double> scores, Convert convert) {
    std::transform(scores.begin(), scores.end(), static_cast<T*>(output) + at, convert);
  }

  // As elements `at` and following.
  static void store(DType dtype, void* output, int64_t at, std::span<const double> scores) {
    const auto first = static_cast<size_t>(at);
    const auto narrow = [](double score) { return static_cast<float>(score); };
    if (dtype == DType::Float64) return fill<double>(output, first, scores, [](double score) { return score; });
    if (dtype == DType::Float32) return fill<float>(output, first, scores, narrow);
    fill<uint16_t>(output, first, scores, [&](double score) { return halfFromFloat(narrow(score)); });
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
        anyWalk_(forest_->testsEqual() ? descend<T, Steps{true, true}> : descend<T, Steps{false, true}>),
        numberWalk_(forest_->testsEqual() ? descend<T, Steps{true, false}> : descend<T, Steps{false, false}>) {
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
    walkTrees(walkOf(x, count), 0, trees_, x, count, scores);
    votes_.finish(scores, count);
    outcome_.write(context, begin, count, scores);
  }

  void load(const OpContext& context, int64_t begin, int64_t count, T* buffer, const T** x) const {
    WorkCounter work;
    for (int64_t i = 0; i < count; ++i, work.pass(isConverted_ ? rows_.columns : 4))
      x[i] = rows_.at<T>(context.inputs[0], begin + i, isConverted_ ? buffer + i * rows_.columns : nullptr);
  }

  // NaNs go another way only where a node says so, and rows that have none are a matter of the features alone.
  DescendFunction<T> walkOf(const T* const* x, int64_t count) const {
    if (!forest_->tellsNan()) return numberWalk_;
    WorkCounter work;
    for (int64_t i = 0; i < count; ++i, work.pass(forest_->features()))
      if (hasNan(x[i], forest_->features())) return anyWalk_;
    return numberWalk_;
  }

  // Some rows through trees [begin, end), as many trees at once as a list of walks holds.
  void walkTrees(DescendFunction<T> descend, int64_t begin, int64_t end, const T* const* x, int64_t count,
                 double* scores) const {
    const int64_t most = std::min(kBlock / count, end - begin);
    WalkList<T> walks;
    int32_t ends[kBlock + 1];
    WorkCounter work;
    for (int64_t tree = begin; tree < end; tree += most) {
      const int64_t trees = std::min(most, end - tree);
      const int32_t* roots = forest_->roots().data() + tree;
      if (count == 1) {
        std::copy_n(roots, trees, walks.at);
        std::fill_n(walks.x, trees, x[0]);
        descend(*forest_, walks, trees, ends, work);
        votes_.add(ends, trees, scores, 0, work);
        continue;
      }
      for (int64_t i = 0; i < trees; ++i) {
        std::fill_n(walks.at + i * count, count, roots[i]);
        std::copy_n(x, count, walks.x + i * count);
      }
      descend(*forest_, walks, trees * count, ends, work);
      for (int64_t i = 0; i < trees; ++i) votes_.add(ends + i * count, count, scores, targets_, work);
    }
  }

  // Few rows and many trees: every task has its own scores, which are added in order.
  void runTrees(const OpContext& context) const {
    const int64_t count = rows_.count;
    const size_t bytes = laneBytes(count);
    const T* x[kBlock];
    std::byte* last = context.scratch + static_cast<size_t>(treeTasks()) * bytes;
    load(context, 0, count, reinterpret_cast<T*>(reinterpret_cast<double*>(last) + count * targets_), x);
    const DescendFunction<T> walk = walkOf(x, count);
    const auto scoresOf = [&](int64_t task) {
      return reinterpret_cast<double*>(context.scratch + static_cast<size_t>(task) * bytes);
    };
    context.parallelFor(treeTasks(), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) {
        votes_.begin(scoresOf(task), count * targets_);
        walkTrees(walk, task * kTreesOfTask, std::min((task + 1) * kTreesOfTask, trees_), x, count, scoresOf(task));
      }
    });
    double* total = scoresOf(0);
    WorkCounter work;
    for (int64_t task = 1; task < treeTasks(); ++task)
      for (int64_t i = 0; i < count * targets_; ++i, work.pass(2)) votes_.merge(total[i], scoresOf(task)[i]);
    votes_.finish(total, count);
    outcome_.write(context, 0, count, total);
  }

  Ref<const Forest> forest_;
  ml::Rows rows_;
  Votes votes_;
  Outcome outcome_;
  int64_t targets_, trees_;
  int lanes_;
  const DescendFunction<T> anyWalk_, numberWalk_;
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
