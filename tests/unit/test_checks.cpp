// SPDX-License-Identifier: Apache-2.0
// Checks between steps, on plans with faults.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.h"
#include "executor/checks.h"
#include "executor/run.h"
#include "graph/schema.h"

namespace max {
namespace {

// Fills its output and so many bytes more, and as many of its scratch memory.
class FillOp : public OpKernel {
 public:
  FillOp(size_t bytes, size_t more, size_t scratchMore) : bytes_(bytes), more_(more), scratchMore_(scratchMore) {}
  void run(const OpContext& context) const override {
    std::memset(context.outputs[0], 0, bytes_ + more_);
    std::memset(context.scratch, 0, scratchBytes() + scratchMore_);
  }
  size_t scratchBytes() const override { return 64; }

 private:
  size_t bytes_, more_, scratchMore_;
};

constexpr size_t kBytes = 16;
constexpr size_t kScratch = 2 * kGuardBytes;  // where scratch memory begins
constexpr char kBehindOutput[] = "node 'faulty' (Neg): wrote past the end of output 0 ('Neg')";

// One step that makes four floats at the start of the arena; scratch memory comes after them.
Ref<Plan> planOf(const Node& node, size_t more, size_t scratchMore) {
  Ref<Plan> plan = makeRef<Plan>();
  plan->settings = PlanSettings{{}, true}.word();
  plan->table = {{Location::Arena, 0, 0, nullptr}};
  plan->types = {{DType::Float32, 1, 0}};
  plan->typeDims = {4};
  plan->arenaBytes = 2 * kScratch;
  plan->steps.push_back({std::make_unique<FillOp>(kBytes, more, scratchMore), &node, 0, 0, 1, kScratch});
  return plan;
}

// The message of the failure, empty if there is none.
std::string messageOf(MaxAssertLevel level, size_t more, size_t scratchMore) {
  Graph graph;
  Value* x = graph.addInput("x", TensorType::of(DType::Float32, {Dim(4)}));
  const Node& node = *graph.addNode("", "Neg", {x}, {}, 1, "faulty");
  RunContext context(planOf(node, more, scratchMore), nullptr, 1);
  CheckMonitor monitor(level);
  ActiveCall call;
  call.monitor = &monitor;
  const ActiveCallScope scope(&call);
  try {
    PlannedProgram::runPlan(context);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_INTERNAL);
    return error.message();
  }
  return "";
}

TEST(Checks, BytesBehindAValueAreNoticed) {
  EXPECT_EQ(messageOf(MAX_ASSERT_LEVEL_SAFE, 0, 0), "");
  EXPECT_EQ(messageOf(MAX_ASSERT_LEVEL_SAFE, 1, 0), kBehindOutput);
  EXPECT_EQ(messageOf(MAX_ASSERT_LEVEL_ALL, kGuardBytes, 0), kBehindOutput);
  EXPECT_EQ(messageOf(MAX_ASSERT_LEVEL_SAFE, 0, 1), "node 'faulty' (Neg): wrote past its scratch memory");
  EXPECT_EQ(messageOf(MAX_ASSERT_LEVEL_WARN, 1, 1), "");  // logged
}

TEST(Checks, GuardsTakeMemoryOnlyWhereTheyAreAskedFor) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* value = graph->addInput("x", TensorType::of(DType::Float32, {Dim(16), Dim(16)}));
  for (int i = 0; i < 4; ++i) value = graph->addNode("", "Transpose", {value})->output();
  graph->addOutput(value);
  graph->sort();
  const Ref<const Program> program = makeRef<Program>(graph, 1, 0);
  const int64_t dims[] = {16, 16};
  const TensorArg input = {DType::Float32, dims, nullptr};
  const Ref<Plan> plain = makePlan(*program, {&input, 1});
  const Ref<Plan> guarded = makePlan(*program, {&input, 1}, PlanSettings{{}, true}.word());
  EXPECT_GE(guarded->arenaBytes, plain->arenaBytes + kGuardBytes);
}

}  // namespace
}  // namespace max
