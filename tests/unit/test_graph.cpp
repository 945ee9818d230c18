// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "graph/schema.h"

namespace max {
namespace {

std::string messageOf(auto&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

class GraphTest : public testing::Test {
 protected:
  Value* input(std::string_view name, SymbolicShape dims = {4}, DType dtype = DType::Float32) {
    return graph->addInput(name, TensorType::of(dtype, std::move(dims)));
  }
  Value* add(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}) {
    return graph->addNode("", op, std::move(inputs), std::move(attributes))->output();
  }
  Value* number(float value) { return graph->addConstant(Tensor::of<float>(DType::Float32, {}, {value})); }

  Ref<Graph> graph = makeRef<Graph>("g");
};

// Beside a plain list, by every way to take uses away.
TEST(UseListTest, KeepsTheOrderWhateverIsTakenAway) {
  const auto nodes = std::make_unique<Node[]>(8);
  UseList uses;
  std::vector<std::pair<const Node*, int>> expected;
  uint32_t state = 1;
  for (int step = 0; step < 20000; ++step) {
    state = state * 1664525 + 1013904223;
    const size_t random = state >> 8;
    if (random % 16 < (step / 1000 % 2 == 0 ? 8u : 9u)) {
      uses.add({&nodes[random % 8], step});
      expected.emplace_back(&nodes[random % 8], step);
    } else if (!expected.empty()) {
      const size_t last = expected.size() - 1, places[] = {0, last, random / 64 % (last + 1)};
      const size_t at = places[random / 16 % 3];
      uses.remove(expected[at].first, static_cast<size_t>(expected[at].second));
      uses.remove(&nodes[0], 1u << 30);  // is not there
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ASSERT_EQ(uses.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_TRUE(uses[i].node == expected[i].first && uses[i].index == expected[i].second);
  }
  uses.clear();
  EXPECT_TRUE(uses.empty());
}

TEST_F(GraphTest, NodesKnowTheirValuesAndUses) {
  Value *x = input("x"), *y = add("Relu", {x});
  ASSERT_EQ(x->uses.size(), 1u);
  EXPECT_EQ(x->uses[0].node, y->producer);
  EXPECT_EQ(y->producer->op(), "Relu");
  EXPECT_TRUE(y->producer->is("Relu"));
  EXPECT_FALSE(y->producer->isOwn("Relu"));
  EXPECT_EQ(graph->findValue("x"), x);
  EXPECT_FALSE(y->isOutput());
  graph->addOutput(y, "out");
  EXPECT_TRUE(y->isOutput());
  EXPECT_EQ(graph->outputNames()[0], "out");
}

TEST_F(GraphTest, ValuesKnowHowManyOutputsTheyAre) {
  Value *x = input("x"), *a = add("Relu", {x}), *b = add("Abs", {x});
  graph->addOutput(a, "first");
  graph->addOutput(a, "second");
  graph->addOutput(b, "third");
  EXPECT_EQ(a->outputs, 2u);
  graph->replaceAllUses(a, b);
  EXPECT_FALSE(a->isOutput());
  EXPECT_EQ(b->outputs, 3u);
  EXPECT_EQ(graph->outputs(), (std::vector<Value*>{b, b, b}));
  EXPECT_EQ(graph->clone()->outputs()[0]->outputs, 3u);
}

TEST_F(GraphTest, NamesAreUnique) {
  input("x");
  EXPECT_NE(messageOf([&] { input("x"); }), "");
  Value* a = add("Relu", {graph->findValue("x")});
  Value* b = add("Relu", {graph->findValue("x")});
  EXPECT_NE(a->name, b->name);
  EXPECT_NE(graph->addValue("x", a->type)->name, "x");
  graph->addOutput(a, "o");
  EXPECT_NE(messageOf([&] { graph->addOutput(b, "o"); }), "");
}

TEST_F(GraphTest, ReplacingUsesReachesNodesAndOutputs) {
  Value *x = input("x"), *a = add("Relu", {x}), *b = add("Add", {a, a});
  graph->addOutput(a);
  graph->replaceAllUses(a, x);
  EXPECT_EQ(b->producer->inputs[0], x);
  EXPECT_EQ(b->producer->inputs[1], x);
  EXPECT_EQ(graph->outputs()[0], x);
  EXPECT_TRUE(a->uses.empty());
  EXPECT_EQ(x->uses.size(), 3u);
  graph->replaceInput(*b->producer, 1, a);
  EXPECT_EQ(x->uses.size(), 2u);
  EXPECT_EQ(a->uses.size(), 1u);
}

TEST_F(GraphTest, EraseDeadRemovesChainsAndConstants) {
  Value *x = input("x"), *one = number(1);
  Value* kept = add("Relu", {x});
  add("Neg", {add("Add", {x, one})});
  graph->addOutput(kept);
  EXPECT_EQ(graph->eraseDead(), 2u);
  EXPECT_EQ(graph->nodes().size(), 1u);
  EXPECT_FALSE(one->constant);
  EXPECT_EQ(x->uses.size(), 1u);
  EXPECT_EQ(graph->eraseDead(), 0u);
}

TEST_F(GraphTest, UnusedOptionalOutputsBecomeNull) {
  Value* x = input("x", {2, 3, 8, 8});
  Attributes attributes;
  attributes.set("kernel_shape", std::vector<int64_t>{2, 2});
  Node* pool = graph->addNode("", "MaxPool", {x}, attributes, 2);
  graph->addOutput(pool->output());
  graph->eraseDead();
  EXPECT_EQ(pool->outputs[1], nullptr);
  ASSERT_NE(pool->output(), nullptr);
}

TEST_F(GraphTest, ErasedNodesStayReadableAndUsedOnesAreRefused) {
  Value *x = input("x"), *a = add("Relu", {x}), *b = add("Neg", {a});
  Node *first = a->producer, *second = b->producer;
  EXPECT_NE(messageOf([&] { graph->erase(first); }), "");
  graph->erase(second);
  EXPECT_EQ(second->graph, nullptr);
  EXPECT_EQ(second->op(), "Neg");
  EXPECT_TRUE(a->uses.empty());
}

TEST_F(GraphTest, SortPutsNodesAfterTheirInputs) {
  Value *x = input("x"), *a = add("Relu", {x}), *b = add("Neg", {x}), *c = add("Abs", {x});
  graph->replaceInput(*a->producer, 0, c);
  graph->sort();
  const std::vector<Node*> expected = {c->producer, a->producer, b->producer};
  EXPECT_EQ(graph->nodes(), expected);
  graph->replaceInput(*c->producer, 0, a);
  EXPECT_NE(messageOf([&] { graph->sort(); }).find("cycle"), std::string::npos);
}

TEST_F(GraphTest, SortsLongChainsWithoutRecursion) {
  Value* x = input("x");
  std::vector<Node*> nodes;
  for (int i = 0; i < 20000; ++i) {
    x = add("Relu", {x});
    nodes.push_back(x->producer);
  }
  graph->sort();
  EXPECT_EQ(graph->nodes(), nodes);
}

TEST_F(GraphTest, InferTypesRefines) {
  Value *x = input("x", {graph->dimTable().unknown(), 3}), *y = add("Relu", {x});
  EXPECT_FALSE(y->type.dims[0].isKnown());
  x->type.dims[0] = 5;
  graph->inferTypes();
  EXPECT_EQ(y->type.dims[0], Dim(5));
  x->type.dims[0] = graph->dimTable().unknown();
  graph->inferTypes();
  EXPECT_EQ(y->type.dims[0], Dim(5)) << "knowledge does not get lost";
}

// A graph with an If whose branches use an outer value.
class SubgraphTest : public GraphTest {
 protected:
  void SetUp() override {
    condition = input("c", {}, DType::Bool);
    x = input("x");
    inner = add("Neg", {x});
    Ref<Graph> thenGraph = makeRef<Graph>(*graph, "then"), elseGraph = makeRef<Graph>(*graph, "else");
    thenGraph->addOutput(thenGraph->addNode("", "Relu", {inner})->output(), "t");
    elseGraph->addOutput(x, "e");
    Attributes attributes;
    attributes.set("then_branch", thenGraph);
    attributes.set("else_branch", elseGraph);
    node = graph->addNode("", "If", {condition}, attributes);
    graph->addOutput(node->output(), "y");
  }

  Value *condition, *x, *inner;
  Node* node;
};

TEST_F(SubgraphTest, CapturesOuterValues) {
  const Ref<Graph> thenGraph = node->attributes.getGraph("then_branch");
  EXPECT_EQ(thenGraph->capturedValues(), std::vector<Value*>{inner});
  EXPECT_EQ(node->attributes.getGraph("else_branch")->capturedValues(), std::vector<Value*>{x});
  EXPECT_EQ(inner->uses.size(), 1u);
  EXPECT_EQ(graph->eraseDead(), 0u);
}

TEST_F(SubgraphTest, SortCountsCapturedValues) {
  Value* late = add("Abs", {x});
  graph->replaceAllUses(inner, late);
  graph->sort();
  EXPECT_EQ(graph->nodes().back(), node);
}

TEST_F(SubgraphTest, ErasingTheNodeFreesWhatItCaptured) {
  graph->replaceAllUses(node->output(), x);
  EXPECT_EQ(graph->eraseDead(), 2u);
  EXPECT_TRUE(inner->uses.empty());
}

TEST_F(SubgraphTest, ClonesAreIndependent) {
  const Ref<Graph> copy = graph->clone();
  ASSERT_EQ(copy->nodes().size(), 2u);
  Node* copied = copy->nodes()[1];
  const Ref<Graph> branch = copied->attributes.getGraph("then_branch");
  EXPECT_EQ(branch->parent(), copy.get());
  EXPECT_EQ(branch->capturedValues()[0]->graph, copy.get());
  EXPECT_EQ(copy->inputs()[1]->name, "x");
  graph.reset();
  copy->sort();
  copy->inferTypes();
  EXPECT_EQ(concat(copy->outputs()[0]->type), "float32[4]");
}

TEST_F(SubgraphTest, SubgraphsMoveIntoTheirParent) {
  const Ref<Graph> branch = node->attributes.getGraph("then_branch");
  const std::vector<Value*> results = graph->inlineSubgraph(*branch, {});
  graph->replaceAllUses(node->output(), results[0]);
  graph->eraseDead();
  graph->sort();
  ASSERT_EQ(graph->nodes().size(), 2u);
  EXPECT_TRUE(graph->outputs()[0]->producer->is("Relu"));
  EXPECT_EQ(graph->outputs()[0]->producer->input(0), inner);
}

TEST_F(SubgraphTest, OtherGraphsAreRefused) {
  Ref<Graph> other = makeRef<Graph>("other");
  EXPECT_NE(messageOf([&] { other->addNode("", "Relu", {x}); }).find("belongs to another graph"), std::string::npos);
  EXPECT_NE(messageOf([&] {
              other->addNode("", "If", {other->addInput("c", condition->type)}, node->attributes);
            }).find("is not a subgraph of graph 'other'"),
            std::string::npos);
}

TEST_F(GraphTest, DepthIsBounded) {
  std::vector<Ref<Graph>> graphs = {graph};
  const auto nest = [&] {
    for (int i = 0; i < 2 * kMaxGraphDepth; ++i) graphs.push_back(makeRef<Graph>(*graphs.back(), "deeper"));
  };
  EXPECT_NE(messageOf(nest).find("levels of subgraphs"), std::string::npos);
  while (!graphs.empty()) graphs.pop_back();
}

TEST_F(GraphTest, AttributesTellTheirTypes) {
  Attributes attributes;
  attributes.set("b", int64_t{1});
  attributes.set("a", 2.0f);
  attributes.set("b", int64_t{3});
  EXPECT_EQ(attributes.getInt("b", 0), 3);
  EXPECT_EQ(attributes.getInt("c", 7), 7);
  EXPECT_EQ(attributes.entries().size(), 2u);
  EXPECT_EQ(messageOf([&] { attributes.getInt("a", 0); }), "Attribute 'a' has type float, not int");
  attributes.erase("a");
  EXPECT_FALSE(attributes.has("a"));
}

}  // namespace
}  // namespace max
