// SPDX-License-Identifier: Apache-2.0
// The text of an operator's row that lists its attributes, and what it refuses.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "base/error.h"
#include "graph/attribute_rules.h"
#include "graph/composite.h"
#include "graph/graph.h"
#include "graph/schema.h"

namespace max {
namespace {

using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

TEST(AttributeRules, NamesTypesWordsAndRanges) {
  const AttributeRules rules("axis=i mode=s{linear,cubic,} size=i[1..] lag=I[-1..1] most=i[..9] names=S{a,b}");
  EXPECT_EQ(rules.names(), "known are axis, mode, size, lag, most, names");
  EXPECT_EQ(wrongAttribute(rules, "axis", INT64_MIN), "");
  EXPECT_EQ(wrongAttribute(rules, "axis", 1.f), "attribute 'axis' has type float, not int");
  EXPECT_EQ(wrongAttribute(rules, "ax", int64_t{1}),
            "unknown attribute 'ax'; known are axis, mode, size, lag, most, names");
  EXPECT_EQ(wrongAttribute(rules, "mode", std::string("cubic")), "");
  EXPECT_EQ(wrongAttribute(rules, "mode", std::string()), "");
  EXPECT_EQ(wrongAttribute(rules, "mode", std::string("cub")),
            "attribute 'mode' is 'cub'; allowed are linear, cubic, ''");
  EXPECT_EQ(wrongAttribute(rules, "size", int64_t{0}), "attribute 'size' is 0; allowed are 1 or more");
  EXPECT_EQ(wrongAttribute(rules, "size", INT64_MAX), "");
  EXPECT_EQ(wrongAttribute(rules, "lag", Ints{-1, 0, 1}), "");
  EXPECT_EQ(wrongAttribute(rules, "lag", Ints{0, 2}), "attribute 'lag' contains 2; allowed are -1 to 1");
  EXPECT_EQ(wrongAttribute(rules, "most", int64_t{10}), "attribute 'most' is 10; allowed are 9 or less");
  EXPECT_EQ(wrongAttribute(rules, "names", Texts{"a", "c"}), "attribute 'names' contains 'c'; allowed are a, b");
  EXPECT_EQ(wrongAttribute(AttributeRules(""), "axis", int64_t{1}), "unknown attribute 'axis'; there are none");
  EXPECT_EQ(wrongAttribute(AttributeRules("*"), "axis", 1.f), "");
}

TEST(AttributeRules, TextsThatMeanNothingAreRefused) {
  for (const char* text : {"axis", "=i", "axis=", "axis=x", "axis=-", "axis=i[1]", "axis=i{a}", "mode=s[1..2]",
                           "mode=s{a", "axis=i[a..]", "axis=f[0..1]", "axis=i axis"})
    EXPECT_THROW(AttributeRules{text}, Error) << text;
}

// A row that allows everything would let unread attributes pass.
TEST(AttributeRules, EveryOperatorListsItsAttributes) {
  for (const OpSchema* schema : allSchemas()) EXPECT_NE(schema->attributes, "*") << schema->name;
  for (const Composite* composite : allComposites())
    EXPECT_NE(composite->schema.attributes, "*") << composite->schema.name;
}

// Rows are parsed when they are first used, which no model has to be for.
TEST(AttributeRules, TextsOfEveryOperatorMeanSomething) {
  const auto check = [](const OpSchema& schema) {
    EXPECT_NO_THROW(schema.signature()) << schema.name << ": " << schema.types;
    EXPECT_NO_THROW(schema.attributeRules()) << schema.name << ": " << schema.attributes;
  };
  for (const OpSchema* schema : allSchemas()) check(*schema);
  for (const Composite* composite : allComposites()) check(composite->schema);
}

TEST(AttributeRules, RowsThatMeanNothingAreNotRegistered) {
  const auto row = [](std::string_view name, std::string_view types, std::string_view attributes) {
    return OpSchema{"test", name, 1, 1, 1, 1, types, [](InferContext&) {}, kTraitNone, 0, attributes};
  };
  EXPECT_THROW(registerSchema(row("Types", "T->T; T=nothing", "")), Error);
  EXPECT_THROW(registerSchema(row("Attributes", "T->T; T=any", "axis")), Error);
  EXPECT_THROW(registerSchema(row("Ranges", "T->T; T=any", "axis=i[a..]")), Error);
  for (const char* name : {"Types", "Attributes", "Ranges"}) EXPECT_EQ(findSchema("test", name), nullptr) << name;
  registerSchema(row("Good", "T->T; T=any", "axis=i"));
  EXPECT_NE(findSchema("test", "Good"), nullptr);
}

TEST(AttributeRules, ThreadsParseARowOnce) {
  for (const char* op : {"Conv", "Softmax", "TreeEnsembleClassifier", "LSTM", "Resize", "TopK"}) {
    const OpSchema* schema = findSchema(op == std::string_view("TreeEnsembleClassifier") ? "ai.onnx.ml" : "", op);
    ASSERT_NE(schema, nullptr) << op;
    std::array<const AttributeRules*, 8> seen{};
    std::vector<std::thread> threads;
    for (const AttributeRules*& rules : seen)
      threads.emplace_back([&rules, schema] { rules = schema->attributeRules(); });
    for (std::thread& thread : threads) thread.join();
    for (const AttributeRules* rules : seen) EXPECT_EQ(rules, seen[0]) << op;
    EXPECT_FALSE(seen[0]->all().empty()) << op;
  }
}

}  // namespace
}  // namespace max
