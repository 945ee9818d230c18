// SPDX-License-Identifier: Apache-2.0
// The address sanitizer detects accesses past a value, even within a block of many.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "executor/run.h"

namespace max {
namespace {

constexpr size_t kBytes = 20;
constexpr size_t kScratch = 12;

class FaultyOp : public OpKernel {
 public:
  explicit FaultyOp(std::function<void(const OpContext&)> function) : function_(std::move(function)) {}
  void run(const OpContext& context) const override { function_(context); }
  size_t scratchBytes() const override { return kScratch; }

 private:
  std::function<void(const OpContext&)> function_;
};

// A step with one input, one output and scratch memory, in one block.
void runStep(std::function<void(const OpContext&)> function) {
  Ref<Plan> plan = makeRef<Plan>();
  plan->table = {{Location::Arena, 0, 0, nullptr}, {Location::Arena, 0, 1024, nullptr}};
  plan->types = {{DType::Float32, 1, 0}, {DType::Float32, 1, 0}};
  plan->typeDims = {static_cast<int64_t>(kBytes / sizeof(float))};
  plan->arenaBytes = 4096;
  plan->steps.push_back({std::make_unique<FaultyOp>(std::move(function)), nullptr, 0, 1, 2, 2048});
  const RunContext context(std::move(plan), nullptr, 1);
  PlannedProgram::runPlan(context);
}

std::byte* outputOf(const OpContext& context) { return static_cast<std::byte*>(context.outputs[0]); }
std::byte* scratchOf(const OpContext& context) { return static_cast<std::byte*>(static_cast<void*>(context.scratch)); }

TEST(ForbiddenMemory, WhatIsTheStepsOwnMayBeUsed) {
  runStep([](const OpContext& context) {
    std::memset(const_cast<void*>(context.inputs[0]), 1, kBytes);
    std::memcpy(outputOf(context), context.inputs[0], kBytes);
    std::memset(scratchOf(context), 1, kScratch);
  });
}

TEST(ForbiddenMemory, WhatIsNotIsSeen) {
  if (!kForbidsMemory) GTEST_SKIP() << "only the address sanitizer sees it";
  EXPECT_DEATH(runStep([](const OpContext& context) { std::memset(outputOf(context), 0, kBytes + 1); }), "poison");
  EXPECT_DEATH(runStep([](const OpContext& context) { outputOf(context)[-1] = std::byte{0}; }), "poison");
  EXPECT_DEATH(runStep([](const OpContext& context) { std::memset(scratchOf(context), 0, kScratch + 1); }), "poison");
  EXPECT_DEATH(
      runStep([](const OpContext& context) { std::memcpy(outputOf(context), context.in<std::byte>(0) + 4, kBytes); }),
      "poison");
}

// Nor may the padding at the end of a block be accessed.
TEST(ForbiddenMemory, TensorsEndWhereTheirElementsDo) {
  if (!kForbidsMemory) GTEST_SKIP() << "only the address sanitizer sees it";
  const Ref<Tensor> tensor = Tensor::allocate(DType::UInt8, Shape{5}, true);
  EXPECT_DEATH(static_cast<char*>(tensor->mutableData())[5] = 1, "poison");
}

}  // namespace
}  // namespace max
