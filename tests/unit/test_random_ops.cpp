// SPDX-License-Identifier: Apache-2.0
// Every operator with more than one implementation, on random shapes, dtypes and attributes:
// all of them against "reference", on every CPU target, with one to three lanes. A new operator is
// one row of kRows; an operator without a row fails OperatorsHaveRows. Other samples than the usual ones:
// --gtest_random_seed=N.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/graph.h"
#include "op_harness.h"
#include "plain_words.h"
#include "random_expert_samples.h"
#include "random_integer_samples.h"
#include "random_samples.h"
#include "random_signal_samples.h"

namespace max::test {
namespace {

const Row kRows[] = {
    {"Abs", unary, kNumbers, kExact},
    {"Acos", unary, kFloats, kSingle, -1, 1},
    {"Acosh", unary, kFloats, kSingle, 1.01, 8},
    {"Asin", unary, kFloats, kSingle, -1, 1},
    {"Asinh", unary, kFloats, kSingle},
    {"Atan", unary, kFloats, kSingle},
    {"Atanh", unary, kFloats, kSingle, -0.95, 0.95},
    {"BitwiseNot", unary, kIntegers, kExact},
    {"Ceil", unary, kFloats, kExact},
    {"Celu", withAlpha, kFloats, kSingle},
    {"Cos", unary, kFloats, kSingle},
    {"Cosh", unary, kFloats, kSingle},
    {"Elu", withAlpha, kFloats, kSingle},
    {"Erf", unary, kFloats, kSingle},
    {"Exp", unary, kFloats, kSingle},
    {"Floor", unary, kFloats, kExact},
    {"Gelu", gelu, kFloats, kSingle},
    {"HardSigmoid", hardSigmoid, kFloats, kSingle},
    {"HardSwish", unary, kFloats, kSingle},
    {"IsInf", specials, kFloats, kExact},
    {"IsNaN", specials, kFloats, kExact},
    {"LeakyRelu", withAlpha, kFloats, kExact},
    {"Log", unary, kFloats, kSingle, 0.01, 8},
    {"Mish", unary, kFloats, kSingle},
    {"Neg", unary, kSigned, kExact},
    {"Not", unary, kBool, kExact},
    {"Reciprocal", unary, kFloats, kExact, 0.1, 4},
    {"Relu", unary, kSigned, kExact},
    {"Round", unary, kFloats, kExact},
    {"Selu", withAlpha, kFloats, kSingle},
    {"Shrink", unary, kFloats, kExact},
    {"Sigmoid", unary, kFloats, kSingle},
    {"Sign", unary, kNumbers, kExact},
    {"Sin", unary, kFloats, kSingle},
    {"Sinh", unary, kFloats, kSingle},
    {"Softplus", unary, kFloats, kSingle},
    {"Softsign", unary, kFloats, kSingle},
    {"Sqrt", unary, kFloats, kExact, 0, 9},
    {"Swish", withAlpha, kFloats, kSingle},
    {"Tan", unary, kFloats, kSingle, -1.4, 1.4},
    {"Tanh", unary, kFloats, kSingle},
    {"ThresholdedRelu", withAlpha, kFloats, kExact},
    {"Cast", cast, kConvertible, kExact},
    {"CastLike", castLike, kConvertible, kExact},
    {"Clip", clip, kNumbers, kExact},
    {"PRelu", prelu, kFloats, kExact},
    {"Where", where, kNumbers, kExact},
    {"Add", binary, kNumbers, kExact},
    {"And", binary, kBool, kExact},
    {"BitShift", bitShift, kIntegers, kExact, -3, 9},
    {"BitwiseAnd", binary, kIntegers, kExact},
    {"BitwiseOr", binary, kIntegers, kExact},
    {"BitwiseXor", binary, kIntegers, kExact},
    {"Div", binary, kNumbers, kExact},
    {"Equal", binary, kNumbers, kExact, -2, 2},
    {"Greater", binary, kNumbers, kExact, -2, 2},
    {"GreaterOrEqual", binary, kNumbers, kExact, -2, 2},
    {"Less", binary, kNumbers, kExact, -2, 2},
    {"LessOrEqual", binary, kNumbers, kExact, -2, 2},
    {"Mod", mod, kNumbers, kExact},
    {"Mul", binary, kNumbers, kExact},
    {"Or", binary, kBool, kExact},
    {"Pow", pow, kFloats, kSingle, 0.2, 3},
    {"Sub", binary, kNumbers, kExact},
    {"Xor", binary, kBool, kExact},
    {"Max", variadic, kNumbers, kExact},
    {"Mean", variadic, kFloats, kSingle},
    {"Min", variadic, kNumbers, kExact},
    {"Sum", variadic, kFloats, kSingle},
    {"MatMul", matMul, kSigned, kSums},
    {"ConvInteger", integerConv, kFloat32, kExact},
    {"QLinearConv", quantizedConv, kFloat32, kExact},
    {"MatMulInteger", integerMatMul, kFloat32, kExact},
    {"QLinearMatMul", quantizedMatMul, kFloat32, kExact},
    {"MatMulInteger", scaledMatMul, kFloat32, kExact, -4, 4, kMaxDomain},
    {"Gemm", gemm, kSigned, kSums},
    {"MatMul", fusedMatMul, kFloats, kSums, -4, 4, kMaxDomain},
    {"SelectedMatMul", selectedMatMul, kFloat32, kSums, -4, 4, kMaxDomain},
    {"Conv", conv, kFloat32, kSums},
    {"Conv", fusedConv, kFloat32, kSums, -4, 4, kMaxDomain},
    {"ConvInteger", fusedIntegerConv, kFloat32, kExact, -4, 4, kMaxDomain},
    {"QLinearConv", fusedQuantizedConv, kFloat32, kExact, -4, 4, kMaxDomain},
    {"MaxPool", fusedPool, kFloatsAndBytes, kExact, -4, 4, kMaxDomain},
    {"AveragePool", fusedPool, kFloats, kSums, -4, 4, kMaxDomain},
    {"Attention", attention, kFloats, kSums, -4, 4, kMaxDomain},
    {"Rotary", rotary, kFloat32, kSums, -4, 4, kMaxDomain},
    {"AddLayerNormalization", addLayerNormalization, kFloats, kDifferences, -4, 4, kMaxDomain},
    {"GlobalAveragePool", globalPool, kFloats, kSums},
    {"GlobalMaxPool", globalPool, kFloats, kExact},
    {"BatchNormalization", batchNormalization, kFloats, kSums},
    {"InstanceNormalization", instanceNormalization, kFloats, kDifferences},
    {"GroupNormalization", groupNormalization, kFloats, kDifferences},
    {"LayerNormalization", layerNormalization, kFloats, kDifferences},
    {"RMSNormalization", layerNormalization, kFloats, kSums},
    {"LpNormalization", lpNormalization, kFloats, kSums},
    {"LRN", localResponse, kFloats, kSums},
    {"Softmax", alongAxis, kFloats, kSingle},
    {"LogSoftmax", alongAxis, kFloats, kSingle},
    {"Hardmax", alongAxis, kFloats, kExact},
    {"QLinearSoftmax", quantizedSoftmax, kFloat32, kExact, -4, 4, kMaxDomain, 1},
    {"ReduceL1", reduce, kNumbers, kSums, -2, 2},
    {"ReduceL2", reduce, kNumbers, kSums, -2, 2},
    {"ReduceLogSum", reduce, kFloats, kSums, 0.5, 2},
    {"ReduceLogSumExp", reduce, kFloats, kSums, -2, 2},
    {"ReduceMax", reduce, kNumbers, kExact},
    {"ReduceMean", reduce, kNumbers, kSums, -9, 9},
    {"ReduceMin", reduce, kNumbers, kExact},
    {"ReduceProd", reduce, kFloats, kSums, 0.8, 1.1},
    {"ReduceSum", reduce, kNumbers, kSums, -2, 2},
    {"ReduceSumSquare", reduce, kNumbers, kSums, -2, 2},
    {"ArgMax", arg, kNumbers, kExact},
    {"ArgMin", arg, kNumbers, kExact},
    {"TopK", topK, kSigned, kExact},
    {"CumSum", cumSum, kSigned, kSums},
    {"QuantizeLinear", quantize, kQuantized, kExact},
    {"DequantizeLinear", dequantize, kQuantized, kExact},
    {"DynamicQuantizeLinear", dynamicQuantize, kFloat32, kExact},
    {"MapBytes", mapBytes, kFloat32, kExact, -4, 4, kMaxDomain},
    {"LSTM", recurrent<4>, kFloat32, kSums},
    {"GRU", recurrent<3>, kFloat32, kSums},
    {"RNN", recurrent<1>, kFloat32, kSums},
    {"Identity", unary, kSizes, kExact},
    {"Reshape", reshape, kSizes, kExact},
    {"Transfer", unary, kSizes, kExact, -4, 4, kMaxDomain},
    {"Rebind", rebind, kSizes, kExact, -4, 4, kMaxDomain},
    {"Squeeze", squeeze, kSizes, kExact},
    {"Unsqueeze", unsqueeze, kSizes, kExact},
    {"Flatten", alongAxis, kSizes, kExact},
    {"Expand", expand, kSizes, kExact},
    {"Transpose", transpose, kSizes, kExact},
    {"Concat", concat, kSizes, kExact},
    {"Split", split, kSizes, kExact},
    {"Slice", slice, kSizes, kExact},
    {"Tile", tile, kSizes, kExact},
    {"Pad", pad, kSizes, kExact},
    {"DepthToSpace", depthAndSpace, kSizes, kExact},
    {"SpaceToDepth", depthAndSpace, kSizes, kExact},
    {"Resize", resize, kFloats, kSums},
    {"GridSample", gridSample, kNumbers, kSums},
    {"RoiAlign", roiAlign, kFloats, kSums},
    {"DeformConv", deformConv, kFloat32, kSums},
    {"ConvTranspose", convTranspose, kFloat32, kSums},
    {"ExpandConv", expandConv, kFloat32, kSums, -4, 4, kMaxDomain},
    {"ConvTranspose", fusedConvTranspose, kFloat32, kSums, -4, 4, kMaxDomain},
    {"MaxPool", maxPool, kPooled, kExact},
    {"AveragePool", averagePool, kFloat32, kSums},
    {"Col2Im", columns, kFloats, kSums},
    {"MeanVarianceNormalization", meanVariance, kFloat32, kDifferences, 1, 5},
    {"DFT", dft, kFloats, kTransforms},
    {"STFT", stft, kFloats, kTransforms},
    {"LinearAttention", linearAttention, kFloat32, kSums},
    {"CausalConvWithState", causalConv, kFloat32, kSums},
    {"MoE", experts, kFloat32, kDifferences, -4, 4, kMaxDomain},
    {"QMoE", quantizedExperts, kFloat32, kDifferences, -4, 4, kMaxDomain},
    {"GatherBlockQuantized", gatherBlocks, kHalves, kExact, -4, 4, "com.microsoft"},
};

bool hasReference(const OpRow& kernels) {
  return std::any_of(kernels.implementations.begin(), kernels.implementations.end(),
                     [](const Implementation& candidate) { return candidate.name == "reference"; });
}

// One sample as a node of a graph, so that its outputs' types are inferred.
class Trial {
 public:
  Trial(const Row& row, Sample sample) : row_(row), sample_(std::move(sample)) {
    std::vector<Value*> values;
    for (const Ref<Tensor>& input : sample_.inputs) {
      values.push_back(input ? graph_->addConstant(input) : nullptr);
      text_ += input ? max::concat(" ", input->dtype(), input->shape()) : " none";
    }
    node_ = graph_->addNode(row.domain, row.op, values, sample_.attributes, sample_.outputs, "n");
    std::vector<InputType> types(sample_.inputs.size());
    for (size_t i = 0; i < types.size(); ++i)
      if (const Tensor* input = sample_.inputs[i].get())
        types[i] = {true, TensorType::of(input->dtype(), symbolic(input->shape())), input, nullptr};
    for (const auto& output : inferNode(*node_, nullptr, types))
      outputs_.push_back({output.type.dtype, shapeOf(output.type), nullptr});
    for (size_t i = 0; i < sample_.inputs.size(); ++i) {
      const Tensor* input = sample_.inputs[i].get();
      inputs_.push_back(input ? Operand{input->dtype(), input->shape(), isConstant(i) ? input : nullptr} : Operand{});
    }
  }

  const std::string& text() const { return text_; }
  OpRequest request(int lanes) const { return {*node_, inputs_, outputs_, lanes}; }

  size_t outputCount() const { return outputs_.size(); }
  void omitOutput(size_t i) { outputs_[i] = {}; }

  // For the CPU target that is chosen now.
  void prepareFor(std::string_view implementation) {
    node_->prepared = nullptr;
    const OpRow* kernels = cpuOperators().find(row_.domain, row_.op);
    if (kernels->prepare && sample_.constants && implementation != "reference") prepare(*kernels);
  }

  // `fill`: what lies in fresh memory.
  std::vector<Ref<Tensor>> run(const Implementation& implementation, int lanes, int fill = 0x5a) {
    prepareFor(implementation.name);
    const std::unique_ptr<OpKernel> kernel = implementation.create(request(lanes));
    std::vector<Ref<Tensor>> results;
    std::vector<const void*> sources;
    std::vector<void*> targets;
    for (const Ref<Tensor>& input : sample_.inputs) sources.push_back(input ? input->data() : nullptr);
    for (const Operand& output : outputs_) {
      if (!output.present()) {
        results.push_back(nullptr);
        targets.push_back(nullptr);
        continue;
      }
      results.push_back(Tensor::allocate(output.dtype, output.shape));
      std::memset(results.back()->mutableData(), fill, results.back()->bytes());
      targets.push_back(results.back()->mutableData());
    }
    require(kernel->scratchBytes() < size_t{1} << 30, MAX_STATUS_RESOURCE_EXHAUSTED, "too much scratch memory");
    const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes());
    std::memset(scratch->data(), fill, kernel->scratchBytes());
    kernel->run({sources.data(), targets.data(), static_cast<std::byte*>(scratch->data()), lanes});
    return results;
  }

 private:
  static Shape shapeOf(const TensorType& type) {
    const auto shape = type.ranked ? concrete(type.dims) : std::nullopt;
    require(shape.has_value(), MAX_STATUS_INVALID_ARGUMENT, "a shape is not known");
    return *shape;
  }
  bool isConstant(size_t i) const { return (sample_.constants >> i & 1) != 0; }
  void prepare(const OpRow& kernels) {
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < sample_.inputs.size(); ++i)
      constants.push_back(isConstant(i) ? sample_.inputs[i].get() : nullptr);
    node_->prepared = kernels.prepare(*node_, constants);
  }

  const Row& row_;
  Sample sample_;
  Ref<Graph> graph_ = makeRef<Graph>("trial");
  Node* node_ = nullptr;
  std::vector<Operand> inputs_, outputs_;
  std::string text_;
};

void compare(const Row& row, const Tensor& actual, const Tensor& expected) {
  if (isFloat(expected.dtype())) {
    expectClose(actual, expected, row.bounds.of(expected.dtype()), "");
    return;
  }
  ASSERT_EQ(actual.bytes(), expected.bytes());
  if (std::memcmp(actual.data(), expected.data(), expected.bytes()) == 0) return;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double a = numberAt(actual, i), e = numberAt(expected, i);
    ASSERT_LE(std::abs(a - e), row.quanta) << "element " << i << " is " << a << ", not " << e;
  }
}

class RandomOps : public testing::TestWithParam<Row> {};

// The same samples each time, unless others are asked for.
uint32_t seedOf(uint32_t base) { return base + static_cast<uint32_t>(GTEST_FLAG_GET(random_seed)); }

bool multipliesBytes(const Row& row) {
  const std::string_view op = row.op;
  return op.find("Integer") != op.npos || op.find("QLinear") != op.npos;
}

TEST_P(RandomOps, AgreesWithReference) {
  const Row& row = GetParam();
  const OpRow* kernels = cpuOperators().find(row.domain, row.op);
  ASSERT_TRUE(kernels && hasReference(*kernels));
  Random random(seedOf(1234)), laneRandom(5678);  // samples do not depend on which targets the machine has
  Source source(random), lanesSource(laneRandom);
  constexpr int kSamples = 60;
  for (int i = 0; i < kSamples; ++i) {
    Trial trial(row, row.make(source, row));
    SCOPED_TRACE(max::concat("sample ", i, ":", trial.text()));
    const auto accepts = [&](const Implementation& candidate) {
      return !candidate.accepts || candidate.accepts(trial.request(1));
    };
    const auto& all = kernels->implementations;
    const auto reference =
        std::find_if(all.begin(), all.end(), [](const auto& one) { return one.name == "reference"; });
    ASSERT_TRUE(accepts(*reference));
    const std::vector<Ref<Tensor>> expected = trial.run(*reference, 1);
    const auto check = [&] {
      trial.prepareFor("");
      for (const Implementation& candidate : all) {
        if (candidate.name == "reference" || !accepts(candidate)) continue;
        const int lanes = static_cast<int>(lanesSource.integer(1, 3));
        SCOPED_TRACE(max::concat(std::string(candidate.name), ", lanes ", lanes));
        const std::vector<Ref<Tensor>> actual = trial.run(candidate, lanes);
        for (size_t k = 0; k < expected.size(); ++k) compare(row, *actual[k], *expected[k]);
      }
    };
    forEachTarget(check);
    if (multipliesBytes(row)) withEmulatedTiles([&](const EmulatedTables&) { check(); });
    if (HasFatalFailure()) return;
  }
}

// What a broken or hostile file may hold: odd attributes, wrong shapes, missing inputs, wild contents.
void mutate(Source& source, Sample& sample) {
  const Ints wild{0, -1, 1, 2, 7, -9, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
  const auto entries = sample.attributes.entries();
  if (!entries.empty() && source.chance(60)) {
    const auto& [name, value] =
        entries[static_cast<size_t>(source.integer(0, static_cast<int64_t>(entries.size()) - 1))];
    Attribute changed = value;
    if (auto* number = std::get_if<int64_t>(&changed)) *number = source.pick(wild);
    if (auto* text = std::get_if<std::string>(&changed)) *text = source.pick<std::string>({"", "BHSD", "LEFT", "?"});
    if (auto* list = std::get_if<Ints>(&changed)) {
      if (list->empty() || source.chance(30))
        list->resize(static_cast<size_t>(source.integer(0, 9)), 1);
      else
        (*list)[static_cast<size_t>(source.integer(0, static_cast<int64_t>(list->size()) - 1))] = source.pick(wild);
    }
    return sample.attributes.set(name, changed);
  }
  Ref<Tensor>& input =
      sample.inputs[static_cast<size_t>(source.integer(0, static_cast<int64_t>(sample.inputs.size()) - 1))];
  if (!input || source.chance(20)) {
    input = input && source.chance(50) ? nullptr : source.ints({source.pick(wild)});
  } else if (input->dtype() == DType::Int64 && input->count() > 0 && source.chance(70)) {
    input = Tensor::copyOf(input->dtype(), input->shape(), input->data());
    static_cast<int64_t*>(input->mutableData())[source.integer(0, input->count() - 1)] = source.pick(wild);
  } else {
    input = source.tensor(input->dtype(), source.shape(0, 5));
  }
}

bool isSmall(const OpRequest& request) {
  constexpr int64_t kMostElements = 1 << 20;
  return std::all_of(request.outputs.begin(), request.outputs.end(),
                     [](const Operand& output) { return output.shape.count() <= kMostElements; });
}

// Whatever a node looks like, it runs or fails with an Error; memory errors show under a sanitizer.
TEST_P(RandomOps, MutatedNodesFailCleanly) {
  const Row& row = GetParam();
  const OpRow* kernels = cpuOperators().find(row.domain, row.op);
  Random random(seedOf(99)), laneRandom(5678);  // samples do not depend on which kernels the machine has
  Source source(random), lanesSource(laneRandom);
  constexpr int kSamples = 200;
  for (int i = 0; i < kSamples; ++i) {
    Sample sample = row.make(source, row);
    for (int64_t k = source.integer(1, 2); k > 0; --k) mutate(source, sample);
    try {
      Trial trial(row, sample);
      SCOPED_TRACE(max::concat("sample ", i, ":", trial.text()));
      for (const Implementation& candidate : kernels->implementations)
        if (isSmall(trial.request(1)) && (!candidate.accepts || candidate.accepts(trial.request(1))))
          trial.run(candidate, static_cast<int>(lanesSource.integer(1, 2)));
    } catch (const Error& error) {
      EXPECT_FALSE(error.message().empty());
    }
  }
}

// All dimensions of one size become 0, so that shapes go on fitting each other.
void empty(Source& source, Sample& sample) {
  std::vector<int64_t> sizes;
  for (const Ref<Tensor>& input : sample.inputs)
    if (input) sizes.insert(sizes.end(), input->shape().begin(), input->shape().end());
  if (sizes.empty()) return;
  const int64_t size = source.pick(sizes);
  for (Ref<Tensor>& input : sample.inputs) {
    if (!input) continue;
    Shape shape = input->shape();
    for (int axis = 0; axis < shape.rank(); ++axis)
      if (shape[axis] == size) shape[axis] = 0;
    if (!(shape == input->shape())) input = Tensor::allocate(input->dtype(), shape);
  }
}

void expectSame(const Trial& trial, const std::vector<Ref<Tensor>>& a, const std::vector<Ref<Tensor>>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i] || a[i]->bytes() == 0) continue;
    ASSERT_EQ(std::memcmp(a[i]->data(), b[i]->data(), a[i]->bytes()), 0)
        << "output " << i << " depends on what lay in memory or on the number of threads:" << trial.text();
  }
}

// Every element of every output that is wanted, axes of size 0 or not, and whichever others are wanted; the same bits
// with any number of threads.
TEST_P(RandomOps, WritesAllOutputs) {
  const Row& row = GetParam();
  const OpRow* kernels = cpuOperators().find(row.domain, row.op);
  Random random(seedOf(77));
  Source source(random);
  constexpr int kSamples = 60;
  for (int i = 0; i < kSamples; ++i) {
    Sample sample = row.make(source, row);
    if (i % 2) empty(source, sample);
    try {
      Trial trial(row, sample);
      if (trial.outputCount() > 1 && i % 3 == 0)
        trial.omitOutput(static_cast<size_t>(source.integer(0, static_cast<int64_t>(trial.outputCount()) - 1)));
      for (const Implementation& candidate : kernels->implementations) {
        if (!isSmall(trial.request(1)) || (candidate.accepts && !candidate.accepts(trial.request(1)))) continue;
        SCOPED_TRACE(std::string(candidate.name));
        expectSame(trial, trial.run(candidate, 1, 0x5a), trial.run(candidate, 1 + i % 3, 0xa5));
        if (HasFatalFailure()) return;
      }
    } catch (const Error&) {
      // Not every operator takes empty axes.
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomOps, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return nameOf(row.param); });

TEST(RandomOpsTable, OperatorsHaveRows) {
  for (const OpSchema* schema : allSchemas()) {
    const OpRow* kernels = cpuOperators().find(schema->domain, schema->name);
    if (!kernels || kernels->implementations.size() < 2 || !hasReference(*kernels)) continue;
    const bool found = std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
      return row.domain == schema->domain && row.op == schema->name;
    });
    EXPECT_TRUE(found) << "no row for " << schema->domain << " " << schema->name;
  }
}

}  // namespace
}  // namespace max::test
