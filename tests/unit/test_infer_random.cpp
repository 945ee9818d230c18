// SPDX-License-Identifier: Apache-2.0
// Shape rules on nonsense: an error or a result, quickly, whatever strangers write into a model.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "graph/graph.h"
#include "graph/schema.h"
#include "graph/signature.h"
#include "random_numbers.h"

namespace max {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRounds = 100;  // per operator
#else
constexpr int kRounds = 300;
#endif

constexpr int64_t kNumbers[] = {0,  1,  2,  3,   4,         7,         64,        -1,        -2,
                                -5, 16, 17, 100, INT32_MAX, INT64_MAX, INT64_MIN, 1LL << 40, -(1LL << 40),
                                1,  2,  3,  4,   5,         6,         10,        INT32_MIN, INT64_MAX - 1};

class Fuzzer {
 public:
  explicit Fuzzer(const OpSchema& schema) : schema_(schema), random_(1) {}

  void round() {
    Ref<Graph> graph = makeRef<Graph>("random");
    std::vector<Value*> inputs;
    common_ = below(2) ? shape(*graph) : SymbolicShape();
    const int most = schema_.has(kTraitVariadic) ? 5 : schema_.maxInputs;
    const int count = schema_.minInputs + below(std::max(most - schema_.minInputs, 0) + 1);
    for (int i = 0; i < count; ++i) inputs.push_back(below(12) == 0 ? nullptr : addInput(*graph, i));
    const size_t outputs = static_cast<size_t>(schema_.minOutputs + below(3));
    try {
      graph->addNode(schema_, std::move(inputs), attributes(), std::vector<std::string>(outputs), "n");
      ++accepted;
      graph->inferTypes();
      graph->clone();
    } catch (const Error& error) {
      EXPECT_NE(error.status(), MAX_STATUS_INTERNAL) << schema_.name << ": " << error.message();
      EXPECT_LT(error.message().size(), 20000u);
    }
  }

  int accepted = 0;

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }
  int64_t number() { return kNumbers[static_cast<size_t>(below(std::size(kNumbers)))]; }
  int64_t smallNumber() { return below(3) ? 1 + below(6) : number(); }

  DType dtypeFor(int input) {
    const TypeSlot* slot = schema_.signature()->input(static_cast<size_t>(input));
    for (int attempt = 0; slot && attempt < 40; ++attempt) {
      const DType dtypes[] = {DType::Float32, DType::Int64, DType::Bool,   DType::UInt8,
                              DType::Int32,   DType::Int8,  DType::UInt32, DType::Float16};
      const DType dtype = dtypes[below(4) ? attempt % 8 : below(8)];
      if (slot->allowed & setOf(dtype)) return dtype;
    }
    return DType::Float32;
  }

  Value* addInput(Graph& graph, int i) {
    const DType dtype = dtypeFor(i);
    if (below(2)) return graph.addConstant(constant(dtype));
    if (below(10) == 0) return graph.addInput(concat("i", i), TensorType::unranked(dtype));
    return graph.addInput(concat("i", i), TensorType::of(dtype, common_.empty() ? shape(graph) : common_));
  }

  SymbolicShape shape(Graph& graph) {
    SymbolicShape dims;
    const int rank = below(8) ? below(5) : below(kMaxRank + 1);
    for (int k = 0; k < rank; ++k) dims.push_back(dim(graph));
    return dims;
  }

  Dim dim(Graph& graph) {
    switch (below(4)) {
      case 0:
        return graph.dimTable().symbol(concat("s", below(3)));
      case 1:
        return graph.dimTable().unknown();
      case 2:
        return std::max<int64_t>(number(), 0);
      default:
        return 1 + below(6);
    }
  }

  Ref<Tensor> constant(DType dtype) {
    const int rank = below(4) ? 1 : below(3);
    Shape shape;
    for (int k = 0; k < rank; ++k) shape.push(below(5));
    Ref<Tensor> tensor = Tensor::allocate(dtype, shape, true);
    for (int64_t i = 0; i < tensor->count(); ++i) {
      if (dtype == DType::Int64) static_cast<int64_t*>(tensor->mutableData())[i] = smallNumber();
      if (dtype == DType::Int32) static_cast<int32_t*>(tensor->mutableData())[i] = static_cast<int32_t>(smallNumber());
      if (dtype == DType::Bool) static_cast<uint8_t*>(tensor->mutableData())[i] = static_cast<uint8_t>(below(2));
      if (dtype == DType::Float32) static_cast<float*>(tensor->mutableData())[i] = real();
    }
    return tensor;
  }

  float real() {
    constexpr float kReals[] = {0, 1, -1, 2, 0.5f, 1e30f, -1e30f, NAN, INFINITY, 1e-30f, 3.3f};
    return kReals[static_cast<size_t>(below(std::size(kReals)))];
  }

  std::vector<int64_t> numbers(const AttributeRule& rule) {
    std::vector<int64_t> list(static_cast<size_t>(below(9)));
    for (int64_t& entry : list) entry = within(rule, smallNumber());
    return list;
  }

  int64_t within(const AttributeRule& rule, int64_t value) {
    return below(8) ? std::clamp(value, rule.least, rule.most) : value;
  }

  std::string word(const AttributeRule& rule) {
    if (rule.words.empty() || below(8) == 0) return below(2) ? "" : "nonsense";
    return std::string(rule.words[static_cast<size_t>(below(static_cast<int>(rule.words.size())))]);
  }

  // Of the right type, mostly with a value that there is.
  Attribute attribute(const AttributeRule& rule) {
    switch (rule.type) {
      case 'f':
        return real();
      case 's':
        return word(rule);
      case 't':
        return constant(DType::Int64);
      case 'I':
        return numbers(rule);
      case 'F':
        return std::vector<float>(static_cast<size_t>(below(5)), real());
      case 'S':
        return std::vector<std::string>(static_cast<size_t>(below(5)), word(rule));
      default:
        return within(rule, smallNumber());
    }
  }

  Attributes attributes() {
    Attributes result;
    const int rarity = below(2) ? 2 : 8;
    for (const AttributeRule& rule : schema_.attributeRules()->all())
      if (below(rarity) == 0) result.set(rule.name, attribute(rule));
    if (below(20) == 0) result.set("axis", real());
    if (below(20) == 0) result.set("unheard_of", smallNumber());
    return result;
  }

  const OpSchema& schema_;
  Random random_;
  SymbolicShape common_;  // of all inputs in every second round, so that many nodes are accepted
};

TEST(InferRandom, NonsenseGivesErrorsNotCrashes) {
  const auto start = std::chrono::steady_clock::now();
  int accepted = 0, rounds = 0;
  for (const OpSchema* schema : allSchemas()) {
    Fuzzer fuzzer(*schema);
    for (int i = 0; i < kRounds; ++i) fuzzer.round();
    accepted += fuzzer.accepted;
    rounds += kRounds;
  }
  EXPECT_GT(accepted * 10, rounds) << "the rules are hardly reached";
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace max
