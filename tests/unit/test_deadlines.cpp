// SPDX-License-Identifier: Apache-2.0
// Kernels whose work a file or an input can make long look at deadlines while they work: each row is seconds or minutes
// of work for every implementation of an operator, and all of them must stop in time. What counts is the time that
// the thread itself takes, so that a busy machine changes nothing. One row is one call: a piece that the thread pool
// cannot cut (few or one of it), which is where looks are forgotten.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/active_call.h"
#include "base/error.h"
#include "base/object.h"
#include "graph/graph.h"
#include "graph/schema.h"
#include "op_harness.h"
#include "ops/cpu/matrix/gemm_int.h"

namespace max::test {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kDeadline = 30 * kMillisecond;
// What is promised; sanitizers take some times longer between two looks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kTolerance = 1000 * kMillisecond;
#else
constexpr int64_t kTolerance = 100 * kMillisecond;
#endif

int64_t threadNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// Zeros: numbers do not matter, sizes do. Untouched pages cost no memory.
Ref<Tensor> zeros(DType dtype, const Shape& shape) {
  if (bytesFor(dtype, shape.count()) < (size_t{1} << 20)) return Tensor::allocate(dtype, shape, true);
  Ref<Storage> pages = allocateLastingStorage(bytesFor(dtype, shape.count()));
  const void* data = pages->data();
  return makeRef<Tensor>(dtype, shape, data, std::move(pages));
}
Ref<Tensor> floats(const Shape& shape) { return zeros(DType::Float32, shape); }
Ref<Tensor> bytes(const Shape& shape) { return zeros(DType::UInt8, shape); }
Ref<Tensor> ints(const std::vector<int64_t>& values) {
  return Tensor::copyOf(DType::Int64, {static_cast<int64_t>(values.size())}, values.data());
}
Ref<Tensor> number(int64_t value) { return Tensor::copyOf(DType::Int64, {}, &value); }
// Different numbers in no order, so that sorting takes its time.
Ref<Tensor> mixed(const Shape& shape) {
  Ref<Tensor> tensor = floats(shape);
  uint32_t state = 1;
  for (int64_t i = 0; i < tensor->count(); ++i)
    static_cast<float*>(tensor->mutableData())[i] = static_cast<float>((state = state * 1664525 + 1013904223) >> 8);
  return tensor;
}
Ref<Tensor> filled(const Shape& shape, float value) {
  Ref<Tensor> tensor = floats(shape);
  std::fill_n(static_cast<float*>(tensor->mutableData()), tensor->count(), value);
  return tensor;
}
Ref<Tensor> text(size_t length) {
  const std::string all(length, 'a');
  const std::string_view view = all;
  return stringTensor(Shape{1}, {&view, 1});
}

struct Row {
  const char* name;
  std::string_view domain;
  const char* op;
  Attributes attributes;
  std::vector<Ref<Tensor>> inputs;
  size_t outputs = 1;
  uint32_t constants = 0;  // bit i: input i is constant when the kernel is made
};

using Ints = std::vector<int64_t>;

// Windows as large as images, work far beyond the sizes of operands.
std::vector<Row> longWindows() {
  const int64_t side = 3000, many = 1 << 23;
  std::vector<Row> rows;
  const Attributes window = with({{"kernel_shape", Ints{2999, 2999}}, {"pads", Ints{1499, 1499, 1499, 1499}}});
  const Attributes line = with({{"kernel_shape", Ints{many - 1}}, {"pads", Ints{many / 2, many / 2}}});
  rows.push_back({"MaxPool", "", "MaxPool", window, {floats({1, 1, side, side})}});
  rows.push_back({"MaxPoolLine", "", "MaxPool", line, {floats({1, 1, many})}});
  rows.push_back({"MaxPoolIndices", "", "MaxPool", window, {floats({1, 1, side, side})}, 2});
  rows.push_back({"AveragePool", "", "AveragePool", window, {floats({1, 1, side, side})}});
  rows.push_back({"LpPool", "", "LpPool", window, {floats({1, 1, side, side})}});
  rows.push_back({"MaxPoolLast", kMaxDomain, "MaxPool", window, {floats({1, side, side, 1})}});
  rows.push_back({"AveragePoolLast", kMaxDomain, "AveragePool", line, {floats({1, many, 1})}});
  rows.push_back({"LRN", "", "LRN", with({{"size", int64_t{200001}}}), {floats({1, 200000, 10})}});
  const Attributes padded = with({{"pads", Ints{many / 2, many / 2}}});
  rows.push_back({"Conv", "", "Conv", padded, {floats({1, 1, many}), floats({1, 1, many - 1})}});
  rows.push_back({"ConvLast", kMaxDomain, "Conv", padded, {floats({1, many, 1}), floats({1, 1, many - 1})}, 1, 2});
  rows.push_back({"Depthwise",
                  kMaxDomain,
                  "Conv",
                  with({{"group", int64_t{2}}, {"pads", Ints{many / 2, many / 2}}}),
                  {floats({1, many, 2}), floats({2, 1, many - 1})},
                  1,
                  2});
  rows.push_back({"ConvInteger", "", "ConvInteger", padded, {bytes({1, 1, many}), bytes({1, 1, many - 1})}});
  rows.push_back({"ConvIntegerDeep", "", "ConvInteger", {}, {bytes({1, 60000, 5000}), bytes({512, 60000, 1})}});
  rows.push_back({"ConvIntegerDepthwise",
                  "",
                  "ConvInteger",
                  with({{"group", int64_t{2}}, {"pads", Ints{20000, 20000}}}),
                  {bytes({1, 2, 60000}), bytes({2, 1, 39999})}});
  rows.push_back({"ConvTranspose", "", "ConvTranspose", {}, {floats({1, 1, 1 << 20}), floats({1, 1, 1 << 20})}, 1, 2});
  rows.push_back({"ConvTransposeGroups",
                  "",
                  "ConvTranspose",
                  with({{"group", int64_t{2}}}),
                  {floats({1, 16, 1 << 16}), floats({16, 8, 1 << 9})},
                  1,
                  2});
  rows.push_back({"Col2Im",
                  "",
                  "Col2Im",
                  with({{"pads", Ints{0, 10000}}}),
                  {floats({1, 10001, 10000}), ints({10000}), ints({10001})},
                  1,
                  6});
  return rows;
}

// Products, recurrences, transforms.
std::vector<Row> longProducts() {
  std::vector<Row> rows;
  rows.push_back({"MatMul", "", "MatMul", {}, {floats({4, 1 << 24}), floats({1 << 24, 4})}, 1, 0});
  rows.push_back({"MatMulSquare", "", "MatMul", {}, {floats({6000, 6000}), floats({6000, 6000})}, 1, 2});
  rows.push_back(
      {"MatMulDouble", "", "MatMul", {}, {zeros(DType::Float64, {3000, 6000}), zeros(DType::Float64, {6000, 3000})}});
  rows.push_back({"MatMulTransposed",
                  kMaxDomain,
                  "MatMul",
                  with({{"transB", int64_t{1}}}),
                  {floats({2, 1 << 14}), floats({1 << 13, 1 << 14})}});
  rows.push_back({"MatMulInteger", "", "MatMulInteger", {}, {bytes({6000, 6000}), bytes({6000, 6000})}});
  rows.push_back(
      {"MatMulNBits",
       kMaxDomain,
       "MatMulNBits",
       with({{"K", int64_t{16384}}, {"N", int64_t{16384}}, {"bits", int64_t{4}}, {"block_size", int64_t{32}}}),
       {floats({8, 16384}), bytes({16384, 512, 16}), floats({16384 * 512})}});
  rows.push_back(
      {"MatMulNBitsRows",
       kMaxDomain,
       "MatMulNBits",
       with({{"K", int64_t{16384}}, {"N", int64_t{16384}}, {"bits", int64_t{4}}, {"block_size", int64_t{32}}}),
       {floats({256, 16384}), bytes({16384, 512, 16}), floats({16384 * 512})}});
  rows.push_back({"Attention",
                  kMaxDomain,
                  "Attention",
                  {},
                  {floats({1, 1, 8, 512}), floats({1, 1, 1 << 16, 512}), floats({1, 1, 1 << 16, 512})}});
  rows.push_back({"AttentionLong",
                  kMaxDomain,
                  "Attention",
                  {},
                  {floats({1, 1, 1 << 15, 64}), floats({1, 1, 1 << 15, 64}), floats({1, 1, 1 << 15, 64})}});
  rows.push_back({"Det", "", "Det", {}, {mixed({1, 3000, 3000})}});
  rows.push_back({"Inverse", kMaxDomain, "Inverse", {}, {mixed({1, 2000, 2000})}});
  const Attributes hidden = with({{"hidden_size", int64_t{2000}}});
  for (const auto& [op, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)})
    rows.push_back({op,
                    "",
                    op,
                    hidden,
                    {floats({2000, 1, 8}), floats({1, gates * 2000, 8}), floats({1, gates * 2000, 2000})},
                    1,
                    6});
  rows.push_back(
      {"LinearAttention",
       "",
       "LinearAttention",
       with({{"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}, {"update_rule", std::string("linear")}}),
       {floats({1, 4000, 2000}), floats({1, 4000, 2000}), floats({1, 4000, 2000})},
       2});
  rows.push_back({"CausalConv", "", "CausalConvWithState", {}, {floats({1, 1, 1 << 22}), floats({1, 1, 1 << 20})}, 2});
  rows.push_back({"Dft", "", "DFT", {}, {floats({1, 10000019, 1})}, 1, 0});
  rows.back().constants = 7;
  rows.push_back({"DftLines", "", "DFT", {}, {floats({2000, 4093, 1})}, 1, 7});
  rows.push_back({"Stft", "", "STFT", {}, {floats({1, 1 << 22, 1}), number(512), nullptr, number(4093)}, 1, 10});
  return rows;
}

// One long piece of plain work.
std::vector<Row> longPieces() {
  const int64_t many = 1 << 25;  // of floats: 128 MB
  std::vector<Row> rows;
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) rows.push_back({op, "", op, {}, {floats({1, many})}});
  rows.push_back({"QLinearSoftmax",
                  kMaxDomain,
                  "QLinearSoftmax",
                  {},
                  {bytes({1, 4 * many}), filled({1}, 1), bytes({1}), filled({1}, 1), bytes({1})}});
  const Attributes first = with({{"axis", int64_t{0}}});
  rows.push_back({"SoftmaxColumns", "", "Softmax", first, {floats({many / 8, 8})}});
  for (const char* op : {"ArgMax", "ArgMin"})
    rows.push_back({op, "", op, with({{"axis", int64_t{1}}}), {floats({1, 4 * many})}});
  for (const char* op : {"ReduceSum", "ReduceL2", "ReduceLogSumExp", "ReduceMean"})
    rows.push_back({op, "", op, {}, {floats({1, 4 * many}), ints({1})}, 1, 2});
  rows.push_back({"ReduceDouble", "", "ReduceProd", {}, {zeros(DType::Float64, {1, many}), ints({1})}, 1, 2});
  rows.push_back({"LayerNormalization", "", "LayerNormalization", {}, {floats({1, many}), floats({many})}});
  rows.push_back(
      {"InstanceNormalization", "", "InstanceNormalization", {}, {floats({1, 1, 2 * many}), floats({1}), floats({1})}});
  rows.push_back({"LpNormalization", "", "LpNormalization", {}, {floats({1, 2 * many})}});
  rows.push_back({"CumSum", "", "CumSum", {}, {floats({many}), number(0)}, 1, 2});
  rows.push_back({"TopK", "", "TopK", {}, {mixed({1 << 24}), ints({1 << 23})}, 2, 2});
  rows.push_back({"Unique", "", "Unique", {}, {mixed({1 << 22})}, 4});
  rows.push_back({"NonZero", "", "NonZero", {}, {mixed({1 << 25})}});
  rows.push_back({"Transpose", "", "Transpose", {}, {floats({8192, 8192})}});
  rows.push_back({"TransposeWide", "", "Transpose", {}, {bytes({3, 1 << 27})}});
  rows.push_back({"Exp", "", "Exp", {}, {floats({4 * many})}});
  rows.push_back({"Pow", "", "Pow", {}, {filled({many}, 1.5f), filled({1}, 2.5f)}});
  rows.push_back({"CastDown", "", "Cast", with({{"to", int64_t{17}}}), {floats({4 * many})}});
  rows.push_back({"Range", "", "Range", {}, {number(0), number(1 << 28), number(1)}, 1, 7});
  rows.push_back({"ConstantOfShape", "", "ConstantOfShape", {}, {ints({1 << 28})}, 1, 1});
  rows.push_back({"EyeLike", "", "EyeLike", {}, {floats({1 << 14, 1 << 14})}});
  rows.push_back({"OneHot", "", "OneHot", {}, {zeros(DType::Int64, {1 << 12}), number(1 << 16), floats({2})}, 1, 2});
  rows.push_back({"Pad", "", "Pad", {}, {floats({16}), ints({0, 1 << 28})}, 1, 2});
  rows.push_back({"Tile", "", "Tile", {}, {floats({3}), ints({1 << 26})}, 1, 2});
  rows.push_back({"Expand", "", "Expand", {}, {floats({1}), ints({1 << 28})}, 1, 2});
  rows.push_back({"GatherRow", "", "Gather", {}, {floats({1, 1 << 25}), zeros(DType::Int64, {4})}});
  rows.push_back({"GatherElements", "", "GatherElements", {}, {floats({16}), zeros(DType::Int64, {1 << 26})}});
  rows.push_back({"ScatterElements",
                  "",
                  "ScatterElements",
                  with({{"reduction", std::string("add")}}),
                  {floats({16}), zeros(DType::Int64, {many}), floats({many})}});
  rows.push_back({"ScatterND", "", "ScatterND", {}, {floats({16}), zeros(DType::Int64, {many, 1}), floats({many})}});
  rows.push_back({"ReverseSequence", "", "ReverseSequence", {}, {floats({many, 1}), ints({many})}});
  rows.push_back({"Bernoulli", "", "Bernoulli", {}, {floats({many})}});
  rows.push_back({"Multinomial", "", "Multinomial", with({{"sample_size", int64_t{1 << 24}}}), {floats({1, 100000})}});
  rows.push_back({"QuantizeLinear", "", "QuantizeLinear", {}, {floats({4 * many}), filled({1}, 1), bytes({1})}});
  rows.push_back({"ResizeLinear",
                  "",
                  "Resize",
                  with({{"mode", std::string("linear")}}),
                  {floats({1, 16}), nullptr, nullptr, ints({1, 1 << 24})},
                  1,
                  8});
  rows.push_back({"ResizeAntialias",
                  "",
                  "Resize",
                  with({{"mode", std::string("cubic")}, {"antialias", int64_t{1}}}),
                  {floats({1, 1 << 25}), nullptr, nullptr, ints({1, 2048})},
                  1,
                  8});
  return rows;
}

// Work that values or texts decide.
std::vector<Row> longValues() {
  std::vector<Row> rows;
  const Attributes dense = with({{"sampling_ratio", int64_t{256}}});
  for (const char* mode : {"avg", "max"}) {
    Attributes attributes = dense;
    attributes.set("mode", std::string(mode));
    rows.push_back({mode,
                    "",
                    "RoiAlign",
                    attributes,
                    {floats({1, 1, 8, 8}), filled({1 << 16, 4}, 1), zeros(DType::Int64, {1 << 16})}});
  }
  rows.push_back({"MaxRoiPool",
                  "",
                  "MaxRoiPool",
                  with({{"pooled_shape", Ints{64, 64}}}),
                  {floats({1, 1, 4096, 4096}), [] {
                     const float all[] = {0, -1e6f, -1e6f, 1e6f, 1e6f};
                     Ref<Tensor> regions = floats({64, 5});
                     for (int i = 0; i < 64; ++i)
                       std::memcpy(static_cast<float*>(regions->mutableData()) + 5 * i, all, sizeof all);
                     return regions;
                   }()}});
  rows.push_back({"NonMaxSuppression",
                  "",
                  "NonMaxSuppression",
                  {},
                  {floats({1, 1 << 19, 4}), mixed({1, 1, 1 << 19}), number(1 << 19), filled({1}, 0.5f)}});
  rows.push_back({"TfIdfVectorizer",
                  "",
                  "TfIdfVectorizer",
                  with({{"min_gram_length", int64_t{1}},
                        {"max_gram_length", int64_t{2}},
                        {"max_skip_count", int64_t{1} << 40},
                        {"mode", std::string("TF")},
                        {"ngram_counts", Ints{0, 1}},
                        {"ngram_indexes", Ints{0, 1}},
                        {"pool_int64s", Ints{0, 0, 0}}}),
                  {zeros(DType::Int64, {1 << 20})}});
  rows.push_back({"RegexFullMatch",
                  "",
                  "RegexFullMatch",
                  with({{"pattern", std::string("(a?){500}(a*){500}")}}),
                  {text(1 << 22)}});
  rows.push_back({"Tokenizer",
                  "com.microsoft",
                  "Tokenizer",
                  with({{"tokenexp", std::string("(a?){500}b|a")},
                        {"pad_value", std::string("")},
                        {"mark", int64_t{0}},
                        {"mincharnum", int64_t{1}}}),
                  {text(1 << 22)}});
  rows.push_back(
      {"StringNormalizer",
       "",
       "StringNormalizer",
       with({{"case_change_action", std::string("UPPER")}}),
       {stringTensor(
           Shape{1 << 21}, [](size_t) { return size_t{8}; }, [](size_t, char* to) { std::memset(to, 'b', 8); })}});
  rows.push_back({"CastToString", "", "Cast", with({{"to", int64_t{8}}}), {mixed({1 << 23})}});
  return rows;
}

// One row as a node of a graph, so that its outputs' types are inferred.
class Trial {
 public:
  explicit Trial(const Row& row) : row_(row) {
    std::vector<Value*> values;
    for (const Ref<Tensor>& input : row.inputs) values.push_back(input ? graph_->addConstant(input) : nullptr);
    node_ = graph_->addNode(row.domain, row.op, values, row.attributes, row.outputs, "n");
    for (const Ref<Tensor>& input : row.inputs) arguments_.push_back(input.get());
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      const Tensor* input = row.inputs[i].get();
      const bool isConstant = (row.constants >> i & 1) != 0;
      inputs_.push_back(input ? Operand{input->dtype(), input->shape(), isConstant ? input : nullptr} : Operand{});
    }
    if (!kernels().implementations.empty()) inferOutputs();
  }

  const OpRow& kernels() const { return *cpuOperators().find(row_.domain, row_.op); }
  bool accepts(const Implementation& one) const { return !one.accepts || one.accepts({*node_, inputs_, outputs_}); }

  void runDynamic() const { kernels().dynamic(*node_, arguments_); }

  void run(const Implementation& implementation) {
    prepare(implementation);
    const std::unique_ptr<OpKernel> kernel = implementation.create({*node_, inputs_, outputs_});
    std::vector<const void*> sources;
    std::vector<void*> targets;
    std::vector<Ref<Tensor>> results;
    for (const Tensor* input : arguments_) sources.push_back(input ? input->data() : nullptr);
    for (const Operand& output : outputs_) {
      results.push_back(Tensor::allocate(output.dtype, output.shape));
      targets.push_back(results.back()->mutableData());
    }
    const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes());
    kernel->run({sources.data(), targets.data(), static_cast<std::byte*>(scratch->data()), 1});
  }

 private:
  void inferOutputs() {
    std::vector<InputType> types(row_.inputs.size());
    for (size_t i = 0; i < types.size(); ++i)
      if (const Tensor* input = row_.inputs[i].get())
        types[i] = {true, TensorType::of(input->dtype(), symbolic(input->shape())), input, nullptr};
    for (const auto& output : inferNode(*node_, nullptr, types)) {
      const auto shape = output.type.ranked ? concrete(output.type.dims) : std::nullopt;
      require(shape.has_value(), MAX_STATUS_INVALID_ARGUMENT, "a shape is not known");
      outputs_.push_back({output.type.dtype, *shape, nullptr});
    }
  }
  void prepare(const Implementation& implementation) {
    node_->prepared = nullptr;
    if (!kernels().prepare || implementation.name == "reference") return;
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < arguments_.size(); ++i)
      constants.push_back((row_.constants >> i & 1) != 0 ? arguments_[i] : nullptr);
    node_->prepared = kernels().prepare(*node_, constants);
  }

  const Row& row_;
  Ref<Graph> graph_ = makeRef<Graph>("trial");
  Node* node_ = nullptr;
  std::vector<Operand> inputs_, outputs_;
  std::vector<const Tensor*> arguments_;
};

// The time of this thread until the work stops.
int64_t timeUntilStop(const std::function<void()>& work) {
  const PoolScope pool;
  const Interrupt interrupt(nullptr, kDeadline);
  const ActiveCall call{&interrupt};
  const ActiveCallScope scope(&call);
  const int64_t start = threadNanoseconds();
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_DEADLINE_EXCEEDED) << error.message();
  }
  return threadNanoseconds() - start;
}

// A look that is missing costs its time at each try, what the machine takes (a slow host, pages) does not.
void expectStops(const std::string& what, const std::function<void()>& work) {
  int64_t taken = timeUntilStop(work);
  for (int tries = 1; tries < 3 && taken > kDeadline + kTolerance; ++tries)
    taken = std::min(taken, timeUntilStop(work));
  EXPECT_LE(taken, kDeadline + kTolerance) << what << ": " << taken / kMillisecond << " ms";
}

class Deadlines : public testing::TestWithParam<std::vector<Row> (*)()> {};

TEST_P(Deadlines, StopInTime) {
  std::vector<Row> rows = GetParam()();
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    Trial trial(row);
    const OpRow& kernels = trial.kernels();
    if (kernels.dynamic) expectStops(row.name, [&] { trial.runDynamic(); });
    for (const Implementation& one : kernels.implementations)
      if (trial.accepts(one))
        expectStops(max::concat(row.name, " by ", std::string(one.name)), [&] { trial.run(one); });
    row.inputs.clear();
  }
}

// Rows of A, of which products with a wide B would take too much memory, are looked at by all that sums them up.
TEST(DeadlineOfPacking, LongRowsOfBytes) {
  constexpr int64_t kDepth = int64_t{1} << 31;
  const Ref<Tensor> a = bytes({kDepth});
  forEachTarget([&] {
    if (!integerGemmTable().usesBytes) return;
    for (const bool isPlain : {false, true}) {
      IntegerGemmTable table = integerGemmTable();
      if (isPlain) table.copyRows = nullptr;
      int32_t sums[2] = {};
      expectStops(isPlain ? "plain code" : "the target's", [&] {
        PackedRows packed(table, 1, 0, sums);
        packRows(table, {a->data(), false, {}, 1, kDepth}, true, 1, packed);
      });
    }
  });
}

// What is not stopped is summed up whole.
TEST(DeadlineOfPacking, LongRowsKeepTheirSums) {
  constexpr int64_t kDepth = 600'001;
  const Ref<Tensor> a = Tensor::allocate(DType::UInt8, {2, kDepth});
  auto* numbers = static_cast<uint8_t*>(a->mutableData());
  for (int64_t i = 0; i < 2 * kDepth; ++i) numbers[i] = static_cast<uint8_t>(i * 7 + i / 1000);
  const PoolScope pool;
  forEachTarget([&] {
    const IntegerGemmTable& table = integerGemmTable();
    if (!table.usesBytes) return;
    const int64_t stride = 4 * table.wordsOf(kDepth);
    for (const bool isSigned : {false, true}) {
      std::vector<std::byte> memory(PackedRows::bytes(table, 2, kDepth));
      PackedRows packed(table, 2, kDepth, memory.data());
      packRows(table, {numbers, isSigned, {}, 2, kDepth}, true, 1, packed);
      for (int64_t row = 0; row < 2; ++row) {
        uint32_t sum = 0;
        int64_t different = 0;
        for (int64_t i = 0; i < kDepth; ++i) {
          const auto byte = static_cast<uint8_t>(numbers[row * kDepth + i] ^ (isSigned ? 0x80 : 0));
          sum += byte;
          different += packed.words[row * stride + i] != byte;
        }
        EXPECT_EQ(packed.sums[row], static_cast<int32_t>(sum)) << row;
        EXPECT_EQ(different, 0) << row;
        EXPECT_EQ(packed.words[row * stride + kDepth], 0) << row;
      }
    }
  });
}

// Results that an operator counts first are copied into its outputs.
TEST(DeadlineOfCopies, CopiesOfTensorsLook) {
  const Ref<Tensor> many = floats({1 << 24});
  const std::atomic<bool> isCancelled{true};
  const Interrupt interrupt(&isCancelled, 0);
  ActiveCall call;
  call.interrupt = &interrupt;
  const ActiveCallScope scope(&call);
  EXPECT_THROW(Tensor::copyOf(DType::Float32, many->shape(), many->data()), Error);
}

INSTANTIATE_TEST_SUITE_P(Windows, Deadlines, testing::Values(longWindows));
INSTANTIATE_TEST_SUITE_P(Products, Deadlines, testing::Values(longProducts));
INSTANTIATE_TEST_SUITE_P(Pieces, Deadlines, testing::Values(longPieces));
INSTANTIATE_TEST_SUITE_P(Values, Deadlines, testing::Values(longValues));

}  // namespace
}  // namespace max::test
