// SPDX-License-Identifier: Apache-2.0
// Operators made of others: the table, what an expansion leaves behind, and expansions of nodes that make no sense.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/error.h"
#include "graph/composite.h"

namespace max {
namespace {

TEST(Composite, NoOperatorIsDefinedTwice) {
  EXPECT_GT(allComposites().size(), 30u);
  for (const Composite* composite : allComposites()) {
    EXPECT_EQ(findSchema(composite->schema.domain, composite->schema.name), nullptr) << composite->schema.name;
    EXPECT_EQ(findComposite(composite->schema.domain, composite->schema.name), composite);
  }
}

TEST(Composite, PartsCarryTheNameOfTheNode) {
  const Ref<Graph> graph = makeRef<Graph>("g");
  Value* a = graph->addInput("a", TensorType::of(DType::Float32, {2, 3}));
  const std::string names[] = {"y"};
  const Values made = addOperator(*graph, "", "SwiGLU", {a, a}, {}, names, "gate");
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0]->name, "y");
  EXPECT_EQ(concat(made[0]->type), "float32[2, 3]");
  for (const Node* node : graph->nodes()) {
    EXPECT_TRUE(node->name.starts_with("gate/")) << node->name;
    EXPECT_EQ(node->sources, std::vector<std::string>{"gate"});
  }
}

TEST(Composite, WeightsOfQuantisedLayersStayBytes) {
  for (const SymbolicShape& scales : {SymbolicShape{1}, SymbolicShape{1, 24}}) {
    const Ref<Graph> graph = makeRef<Graph>("g");
    const auto input = [&](DType dtype, SymbolicShape dims) {
      return graph->addInput(concat("i", graph->inputs().size()), TensorType::of(dtype, std::move(dims)));
    };
    Value *x = input(DType::Float32, {4, 2, 8}), *w = input(DType::Int8, {1, 8, 24});
    Value *r = input(DType::Int8, {1, 6, 24}), *scale = input(DType::Float32, scales),
          *zero = input(DType::Int8, scales);
    const std::string names[] = {"y"};
    addOperator(*graph, "com.microsoft", "DynamicQuantizeLSTM",
                {x, w, r, nullptr, nullptr, nullptr, nullptr, nullptr, scale, zero, scale, zero},
                attributesOf({{"hidden_size", int64_t{6}}}), names, "lstm");
    const Node& layer = *graph->nodes()[0];
    EXPECT_TRUE(layer.isOwn("DynamicQuantizeLSTM"));
    EXPECT_EQ(layer.inputs[1], w);
    EXPECT_EQ(concat(layer.outputs[0]->type), "float32[4, 1, 2, 6]");
  }
}

// Only its elements are read, whatever lies between its axes.
TEST(Composite, DiagonalsAreSlices) {
  for (const auto& [equation, shape] : {std::pair("bii->bi", "float32[5, 4]"), std::pair("iji->ij", "float32[4, 5]"),
                                        std::pair("iji->j", "float32[5]")}) {
    const Ref<Graph> graph = makeRef<Graph>("g");
    const bool isLast = equation[0] == 'b';
    Value* x =
        graph->addInput("x", TensorType::of(DType::Float32, isLast ? SymbolicShape{5, 4, 4} : SymbolicShape{4, 5, 4}));
    const std::string names[] = {"y"};
    const Values made =
        addOperator(*graph, "", "Einsum", {x}, attributesOf({{"equation", std::string(equation)}}), names);
    EXPECT_EQ(concat(made[0]->type), shape);
    size_t slices = 0;
    for (const Node* node : graph->nodes()) {
      slices += node->op() == "Slice";
      EXPECT_NE(node->op(), "Where") << equation;
    }
    EXPECT_EQ(slices, 1u) << equation;
  }
}

void expectFailure(Graph& graph, std::string_view op, Values inputs, Attributes attributes, const std::string& text) {
  const size_t nodes = graph.nodes().size();
  const std::string names[] = {""};
  try {
    addOperator(graph, "", op, std::move(inputs), std::move(attributes), names, "n");
    ADD_FAILURE() << "no error; expected one with: " << text;
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
    EXPECT_TRUE(error.message().starts_with(concat("node 'n' (", op, ")"))) << error.message();
  }
  EXPECT_EQ(graph.nodes().size(), nodes);
}

TEST(Composite, FailuresNameTheNodeAndLeaveTheGraphAsItWas) {
  const Ref<Graph> graph = makeRef<Graph>("g");
  Value* a = graph->addInput("a", TensorType::of(DType::Float32, {2, 3}));
  Value* b = graph->addInput("b", TensorType::of(DType::Float32, {4, 5}));
  Value* unranked = graph->addInput("u", TensorType::unranked(DType::Float32));
  Value* integers = graph->addInput("i", TensorType::of(DType::Int64, {2}));
  expectFailure(*graph, "SwiGLU", {a, b}, {}, "input 1 has the shape [4, 5], needs [2, 3]");
  expectFailure(*graph, "SwiGLU", {a}, {}, "has 1 inputs, needs 2");
  expectFailure(*graph, "SwiGLU", {integers, integers}, {}, "input 0 cannot be int64");
  expectFailure(*graph, "SwiGLU", {a, a}, attributesOf({{"beta", 1.f}}), "unknown attribute 'beta'; known are alpha");
  expectFailure(*graph, "Einsum", {a, b}, attributesOf({{"equation", std::string("ij,jk->ik")}}), "disagree: 3 and 4");
  expectFailure(*graph, "Einsum", {unranked}, attributesOf({{"equation", std::string("ij")}}),
                "the number of dimensions of 'u' is not known");
  expectFailure(*graph, "Attention", {a, a, a}, {}, "'a' has 2 dimensions, not 3 or 4");
  expectFailure(*graph, "NegativeLogLikelihoodLoss", {a, integers}, attributesOf({{"reduction", std::string("max")}}),
                "attribute 'reduction' is 'max'");
}

using Random = std::mt19937_64;

int64_t pick(Random& random, std::initializer_list<int64_t> values) { return values.begin()[random() % values.size()]; }

constexpr DType kTypes[] = {DType::Float32, DType::Float32, DType::Float32, DType::Float16, DType::Int32, DType::Int64,
                            DType::UInt8,   DType::Int8,    DType::Bool,    DType::Float64, DType::String};

Value* randomInput(Graph& graph, Random& random) {
  const uint64_t kind = random() % 16;
  if (kind == 0) return nullptr;
  const DType dtype = kTypes[random() % std::size(kTypes)];
  if (kind == 1) return graph.addInput(concat("x", graph.inputs().size()), TensorType::unranked(dtype));
  SymbolicShape dims;
  const int64_t rank = pick(random, {0, 1, 2, 2, 3, 3, 3, 4, 4, 5});
  for (int64_t i = 0; i < rank; ++i)
    dims.push_back(random() % 5 ? Dim(pick(random, {0, 1, 2, 2, 4, 4, 8, 8, 16, int64_t{1} << 40}))
                                : graph.dimTable().unknown());
  return graph.addInput(concat("x", graph.inputs().size()), TensorType::of(dtype, std::move(dims)));
}

Attribute randomAttribute(char letter, Random& random) {
  const auto integer = [&] { return pick(random, {0, 1, 1, 2, 2, 4, 8, 16, 32, -1, -7, INT64_MAX, INT64_MIN}); };
  const char* texts[] = {"",     "mean", "sum",  "none", "ij,jk->ik", "...i,...i->i", "ii->i",
                         "a,,b", "->",   "i...", "Relu", "Clip",      "ab,ab,ab->ba"};
  switch (letter) {
    case 'i':
      return integer();
    case 'f':
      return static_cast<float>(integer());
    case 's':
      return std::string(texts[random() % std::size(texts)]);
    case 'I':
      return std::vector<int64_t>{integer(), integer(), integer()};
    case 'F':
      return std::vector<float>{1, static_cast<float>(integer())};
    default:
      return std::vector<std::string>{"Tanh"};
  }
}

// Some of the attributes that the row knows: "axis=i perm=I".
Attributes randomAttributes(std::string_view known, Random& random) {
  Attributes attributes;
  while (!known.empty()) {
    const std::string_view one = known.substr(0, known.find(' '));
    known.remove_prefix(std::min(one.size() + 1, known.size()));
    const size_t equals = one.find('=');
    if (random() % 3) attributes.set(one.substr(0, equals), randomAttribute(one[equals + 1], random));
  }
  return attributes;
}

// An expansion of nonsense is an error or a graph, never a crash.
TEST(Composite, ExpandsOrRefusesRandomNodes) {
  size_t expanded = 0;
  for (const Composite* composite : allComposites())
    for (uint64_t seed = 0; seed < 300; ++seed) {
      Random random(seed);
      const Ref<Graph> graph = makeRef<Graph>("g");
      const OpSchema& schema = composite->schema;
      Values inputs;
      const auto most = static_cast<uint64_t>(schema.has(kTraitVariadic) ? schema.minInputs + 3 : schema.maxInputs);
      const uint64_t count = std::max<uint64_t>(static_cast<uint64_t>(schema.minInputs), random() % (most + 1));
      for (uint64_t i = 0; i < count; ++i) inputs.push_back(randomInput(*graph, random));
      const std::vector<std::string> names(1 + random() % static_cast<uint64_t>(schema.maxOutputs));
      const size_t before = graph->nodes().size();
      try {
        addOperator(*graph, schema.domain, schema.name, inputs, randomAttributes(schema.attributes, random), names,
                    "n");
        graph->sort();
        graph->inferTypes();
        ++expanded;
      } catch (const Error& error) {
        EXPECT_NE(error.status(), MAX_STATUS_INTERNAL) << schema.name << ", seed " << seed << ": " << error.message();
        EXPECT_TRUE(error.message().starts_with("node 'n"))
            << schema.name << ", seed " << seed << ": " << error.message();
        EXPECT_EQ(graph->nodes().size(), before);
      }
    }
  EXPECT_GT(expanded, 100u);
}

}  // namespace
}  // namespace max
