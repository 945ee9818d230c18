// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/active_call.h"
#include "base/error.h"
#include "base/kept_memory.h"
#include "executor/run.h"
#include "executor_helpers.h"

namespace max {
namespace {

using test::floats;
using test::ints;
using test::Outputs;
using test::run;

TEST(Executor, RunsAChain) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Value* one = graph->addConstant(Tensor::of<float>(DType::Float32, {1}, {1}));
  Value* y = graph->addNode("", "Add", {x, one})->output();
  Value* z = graph->addNode("", "Mul", {y, y})->output();
  graph->addOutput(graph->addNode("", "Sub", {z, x})->output(), "out");
  graph->sort();
  PlannedProgram program(graph, 2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run(program, {floats({3}, {1, 2, 3})}).values<float>(0), (std::vector<float>{3, 7, 13}));
    EXPECT_EQ(run(program, {floats({1}, {5})}).values<float>(0), (std::vector<float>{31}));
  }
  EXPECT_EQ(program.planCount(), 2u);
}

// Its first trim frees nothing on balance, as if another thread had taken as much at once.
class ContestedMemory final : public RefCounted, public KeptMemory {
 public:
  explicit ContestedMemory(MemoryAccount& account)
      : account_(account), held_(account.limit()), entry_(account.kept(), *this, *this) {
    account_.take(held_);
  }
  void trim(Kept) const noexcept override {
    if (++trims_ == 2) account_.giveBack(held_);
  }
  int trims() const { return trims_; }

 private:
  MemoryAccount& account_;
  const uint64_t held_;
  mutable int trims_ = 0;
  const KeptMemoryEntry entry_;
};

TEST(Executor, PlansAreTriedAgainWhenOtherThreadsTookWhatWasFreed) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {Dim(1), Dim(256)}));
  Value* weights = graph->addConstant(Tensor::allocate(DType::Float32, {256, 256}, true));  // each plan packs them
  graph->addOutput(graph->addNode("", "MatMul", {x, weights})->output(), "y");
  graph->sort();
  const PlannedProgram program(graph, 1);
  const Ref<Tensor> input = Tensor::allocate(DType::Float32, {1, 256}, true);
  const auto account = makeRef<MemoryAccount>("Test", 1 << 20);
  const auto contested = makeRef<ContestedMemory>(*account);
  ActiveCall call;
  call.memory = account.get();
  const ActiveCallScope scope(&call);
  EXPECT_EQ(run(program, {input})[0].shape(), Shape({1, 256}));
  EXPECT_EQ(contested->trims(), 2);
}

// Its trim takes all it keeps at once and frees it later, as if its thread had to wait for a processor.
class SlowlyFreedMemory final : public RefCounted, public KeptMemory {
 public:
  explicit SlowlyFreedMemory(MemoryAccount& account)
      : account_(account), kept_(account.limit()), entry_(account.kept(), *this, *this) {
    account_.take(account.limit());
  }
  void trim(Kept) const noexcept override {
    const uint64_t mine = kept_.exchange(0);
    if (mine == 0) return;
    isTrimming = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    account_.giveBack(mine);
  }

  mutable std::atomic<bool> isTrimming{false};

 private:
  MemoryAccount& account_;
  mutable std::atomic<uint64_t> kept_;
  const KeptMemoryEntry entry_;
};

TEST(Executor, RequestsWaitForWhatOtherThreadsAreFreeing) {
  const auto account = makeRef<MemoryAccount>("Test", 1 << 20);
  const auto memory = makeRef<SlowlyFreedMemory>(*account);
  std::thread other([&] { account->kept().trim(Kept::All); });
  while (!memory->isTrimming) std::this_thread::yield();
  EXPECT_NO_THROW(account->take(account->limit()));
  other.join();
}

TEST(Executor, OutputsNeverAlias) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {Dim(2), Dim(2)}));
  Value* constant = graph->addConstant(Tensor::of<float>(DType::Float32, {1}, {9}));
  Value* shape = graph->addConstant(Tensor::of<int64_t>(DType::Int64, {1}, {4}));
  Value* y = graph->addNode("", "Neg", {x})->output();
  Value* view = graph->addNode("", "Reshape", {y, shape})->output();
  graph->addOutput(x, "input itself");
  graph->addOutput(y, "y");
  graph->addOutput(y, "y again");
  graph->addOutput(view, "view of y");
  graph->addOutput(constant, "constant");
  graph->addOutput(graph->addNode("", "Abs", {y})->output(), "after y");
  graph->sort();
  PlannedProgram program(graph, 1);
  const Ref<Tensor> input = floats({2, 2}, {1, -2, 3, -4});
  Outputs outputs = run(program, {input});
  EXPECT_EQ(outputs.values<float>(0), (std::vector<float>{1, -2, 3, -4}));
  EXPECT_EQ(outputs.values<float>(1), (std::vector<float>{-1, 2, -3, 4}));
  EXPECT_EQ(outputs.values<float>(2), (std::vector<float>{-1, 2, -3, 4}));
  EXPECT_EQ(outputs.values<float>(3), (std::vector<float>{-1, 2, -3, 4}));
  EXPECT_EQ(outputs[3].shape(), Shape({4}));
  EXPECT_EQ(outputs.values<float>(4), (std::vector<float>{9}));
  EXPECT_EQ(outputs.values<float>(5), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Executor, ShapesOfUnknownContentsContinueThePlan) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Value* target = graph->addInput("target", TensorType::of(DType::Int64, {Dim(2)}));
  Value* y = graph->addNode("", "Neg", {x})->output();
  Value* two = graph->addConstant(Tensor::of<int64_t>(DType::Int64, {1}, {2}));
  Value* doubled = graph->addNode("", "Mul", {target, two})->output();
  Value* halved = graph->addNode("", "Div", {doubled, two})->output();
  Value* reshaped = graph->addNode("", "Reshape", {y, halved})->output();
  graph->addOutput(graph->addNode("", "Abs", {reshaped})->output(), "out");
  graph->addOutput(y, "y");
  graph->sort();
  PlannedProgram program(graph, 1);
  for (int round = 0; round < 3; ++round)
    for (int64_t rows : {1, 2, 3, 6}) {
      Outputs outputs = run(program, {floats({6}, {1, 2, 3, 4, 5, 6}), ints({2}, {rows, 6 / rows})});
      EXPECT_EQ(outputs[0].shape(), Shape({rows, 6 / rows}));
      EXPECT_EQ(outputs.values<float>(0), (std::vector<float>{1, 2, 3, 4, 5, 6}));
      EXPECT_EQ(outputs.values<float>(1), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
    }
  EXPECT_EQ(program.planCount(), 1u);
  EXPECT_THROW(run(program, {floats({6}, {1, 2, 3, 4, 5, 6}), ints({2}, {4, 4})}), Error);
}

// If with `then` = x + y, `else` = x - y, where x and y are outer values.
Ref<Graph> graphWithIf() {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Value* limit = graph->addInput("limit", TensorType::of(DType::Float32, {}));
  Value* zero = graph->addConstant(Tensor::of<float>(DType::Float32, {}, {0}));
  Value* condition = graph->addNode("", "Greater", {limit, zero})->output();
  Value* y = graph->addNode("", "Neg", {x})->output();
  Attributes attributes;
  for (const char* branch : {"then_branch", "else_branch"}) {
    Ref<Graph> body = makeRef<Graph>(*graph, branch);
    const char* op = branch[0] == 't' ? "Add" : "Sub";
    body->addOutput(body->addNode("", op, {x, y})->output(), "result");
    body->sort();
    attributes.set(branch, body);
  }
  Value* chosen = graph->addNode("", "If", {condition}, attributes)->output();
  graph->addOutput(graph->addNode("", "Abs", {chosen})->output(), "out");
  graph->sort();
  return graph;
}

TEST(Executor, BranchesOfIfBecomePartOfThePlan) {
  PlannedProgram program(graphWithIf(), 1);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run(program, {floats({2}, {1, -2}), floats({}, {1})}).values<float>(0), (std::vector<float>{0, 0}));
    EXPECT_EQ(run(program, {floats({2}, {1, -2}), floats({}, {-1})}).values<float>(0), (std::vector<float>{2, 4}));
  }
}

// state = state * factor for as long as it is below a bound; the states are stacked.
Ref<Graph> graphWithLoop() {
  Ref<Graph> graph = makeRef<Graph>();
  Value* trips = graph->addInput("trips", TensorType::of(DType::Int64, {}));
  Value* start = graph->addInput("start", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Value* factor = graph->addInput("factor", TensorType::of(DType::Float32, {}));
  Ref<Graph> body = makeRef<Graph>(*graph, "body");
  body->addInput("i", TensorType::of(DType::Int64, {}));
  Value* condition = body->addInput("condition", TensorType::of(DType::Bool, {}));
  Value* state = body->addInput("state", TensorType::unranked(DType::Float32));
  Value* next = body->addNode("", "Mul", {state, factor})->output();
  body->addOutput(body->addNode("", "Identity", {condition})->output(), "again");
  body->addOutput(next, "next");
  body->addOutput(body->addNode("", "Neg", {next})->output(), "stacked");
  body->sort();
  Attributes attributes;
  attributes.set("body", body);
  Node* loop = graph->addNode("", "Loop", {trips, nullptr, start}, attributes, 2);
  graph->addOutput(loop->output(0), "final");
  graph->addOutput(loop->output(1), "stack");
  graph->sort();
  return graph;
}

TEST(Executor, RunsLoops) {
  PlannedProgram program(graphWithLoop(), 1);
  for (int round = 0; round < 2; ++round) {
    Outputs outputs = run(program, {ints({}, {3}), floats({2}, {1, 10}), floats({}, {2})});
    EXPECT_EQ(outputs.values<float>(0), (std::vector<float>{8, 80}));
    EXPECT_EQ(outputs.values<float>(1), (std::vector<float>{-2, -20, -4, -40, -8, -80}));
    EXPECT_EQ(outputs[1].shape(), Shape({3, 2}));
    outputs = run(program, {ints({}, {0}), floats({2}, {1, 10}), floats({}, {2})});
    EXPECT_EQ(outputs.values<float>(0), (std::vector<float>{1, 10}));
    EXPECT_EQ(outputs[1].shape()[0], 0);
  }
}

// Doubles its state in each of `trips` iterations; the body takes states of this type.
Ref<Graph> graphWithDoubling(int64_t trips, const std::function<SymbolicShape(DimTable&)>& shape) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* count = graph->addConstant(Tensor::of<int64_t>(DType::Int64, {}, {trips}));
  Value* start = graph->addInput("start", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Ref<Graph> body = makeRef<Graph>(*graph, "body");
  body->addInput("i", TensorType::of(DType::Int64, {}));
  Value* condition = body->addInput("condition", TensorType::of(DType::Bool, {}));
  Value* state = body->addInput("state", TensorType::of(DType::Float32, shape(graph->dimTable())));
  Value* other = body->addNode("", "Neg", {start})->output();
  Attributes axis;
  axis.set("axis", int64_t{0});
  body->addOutput(body->addNode("", "Identity", {condition})->output(), "again");
  body->addOutput(body->addNode("", "Concat", {state, other}, axis)->output(), "next");
  body->sort();
  Attributes attributes;
  attributes.set("body", body);
  graph->addOutput(graph->addNode("", "Loop", {count, nullptr, start}, attributes)->output(), "final");
  graph->sort();
  return graph;
}

// What is known of a body's inputs is relied on: shapes that do not hold are errors, never wrong results.
TEST(Executor, BodiesAreHeldToTheShapesOfTheirInputs) {
  const auto fails = [](int64_t trips, const std::function<SymbolicShape(DimTable&)>& shape) {
    PlannedProgram program(graphWithDoubling(trips, shape), 1);
    try {
      run(program, {floats({2}, {1, 2})});
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MAX_STATUS_INVALID_ARGUMENT);
      return error.message();
    }
    return std::string();
  };
  const auto named = [](DimTable& dims) { return SymbolicShape{dims.symbol("n")}; };
  const auto unknown = [](DimTable& dims) { return SymbolicShape{dims.unknown()}; };
  const std::string taken = "Input 'state' of graph 'body' has the shape ";
  EXPECT_NE(fails(1, [](DimTable&) { return SymbolicShape{Dim(3)}; }).find(taken + "[2], the graph takes float32[3]"),
            std::string::npos);
  EXPECT_EQ(fails(1, named), "");
  EXPECT_NE(fails(2, named).find(taken + "[4], the graph takes float32[n]"), std::string::npos);
  EXPECT_EQ(fails(3, unknown), "");
}

// Running sums over axis 1, read and written backwards.
TEST(Executor, RunsScans) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* start = graph->addInput("start", TensorType::of(DType::Float32, {Dim(2)}));
  Value* rows = graph->addInput("rows", TensorType::of(DType::Float32, {Dim(2), graph->dimTable().symbol("n")}));
  Ref<Graph> body = makeRef<Graph>(*graph, "body");
  Value* sum = body->addInput("sum", TensorType::of(DType::Float32, {Dim(2)}));
  Value* row = body->addInput("row", TensorType::of(DType::Float32, {Dim(2)}));
  Value* next = body->addNode("", "Add", {sum, row})->output();
  body->addOutput(next, "next");
  body->addOutput(body->addNode("", "Identity", {next})->output(), "stacked");
  body->sort();
  Attributes attributes;
  attributes.set("body", body);
  attributes.set("num_scan_inputs", int64_t{1});
  for (const char* name : {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"})
    attributes.set(name, std::vector<int64_t>{1});
  Node* scan = graph->addNode("", "Scan", {start, rows}, attributes, 2);
  graph->addOutput(scan->output(0), "sum");
  graph->addOutput(scan->output(1), "sums");
  graph->sort();
  PlannedProgram program(graph, 1);
  Outputs outputs = run(program, {floats({2}, {0, 100}), floats({2, 3}, {1, 2, 3, 10, 20, 30})});
  EXPECT_EQ(outputs.values<float>(0), (std::vector<float>{6, 160}));
  EXPECT_EQ(outputs.values<float>(1), (std::vector<float>{6, 5, 3, 160, 150, 130}));
}

TEST(Executor, ContinuesAfterNodesOfUnknownOutputShape) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Value* y = graph->addNode("", "Abs", {x})->output();
  Value* where = graph->addNode("", "NonZero", {y})->output();
  graph->addOutput(graph->addNode("", "Add", {where, where})->output(), "twice");
  graph->addOutput(graph->addNode("", "Neg", {y})->output(), "y");
  graph->sort();
  PlannedProgram program(graph, 1);
  for (int round = 0; round < 3; ++round) {
    Outputs outputs = run(program, {floats({4}, {0, 1, 0, -3})});
    EXPECT_EQ(outputs.values<int64_t>(0), (std::vector<int64_t>{2, 6}));
    EXPECT_EQ(outputs.values<float>(1), (std::vector<float>{-0.0f, -1, -0.0f, -3}));
    outputs = run(program, {floats({4}, {0, 0, 0, 0})});
    EXPECT_EQ(outputs[0].shape(), Shape({1, 0}));
  }
}

TEST(Executor, RunsFromManyThreads) {
  PlannedProgram program(graphWithIf(), 2);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const float sign = i % 3 ? 1.0f : -1.0f;
        const int64_t n = 1 + (i + t) % 5;
        const Ref<Tensor> x = Tensor::allocate(DType::Float32, {n});
        std::fill_n(static_cast<float*>(x->mutableData()), n, 2.0f);
        for (float value : run(program, {x, floats({}, {sign})}).values<float>(0))
          if (value != (sign > 0 ? 0.0f : 4.0f)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Executor, PlansAreBounded) {
  PlannedProgram program(graphWithIf(), 1);
  for (int64_t n = 1; n < 300; ++n) {
    const Ref<Tensor> x = Tensor::allocate(DType::Float32, {n}, true);
    EXPECT_EQ(run(program, {x, floats({}, {1})})[0].count(), n);
  }
  EXPECT_LE(program.planCount(), 64u);
}

TEST(Executor, ErrorsNameTheNode) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {graph->dimTable().symbol("n")}));
  Value* y = graph->addInput("y", TensorType::of(DType::Float32, {graph->dimTable().symbol("m")}));
  graph->addOutput(graph->addNode("", "Add", {x, y}, {}, 1, "the sum")->output(), "out");
  graph->sort();
  PlannedProgram program(graph, 1);
  try {
    run(program, {floats({2}, {1, 2}), floats({3}, {1, 2, 3})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("the sum"), std::string::npos) << error.message();
  }
  EXPECT_EQ(run(program, {floats({1}, {1}), floats({2}, {1, 2})}).values<float>(0), (std::vector<float>{2, 3}));
}

}  // namespace
}  // namespace max
