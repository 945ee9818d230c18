// SPDX-License-Identifier: Apache-2.0
// Declarations of operators in kernel sources: sizes, known and symbolic, and texts that are mutilated.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "extension/kernel_declaration.h"

namespace max {
namespace {

constexpr auto valueOf = [](const SizeTerm& term) -> std::optional<Dim> {
  if (term.name == "unknown") return std::nullopt;
  return term.kind == SizeTerm::Axis ? Dim(10 + term.axis) : term.kind == SizeTerm::Size ? Dim(100) : Dim(7);
};

TEST(SizeExpression, HasThePrecedenceOfArithmetic) {
  const std::pair<const char*, int64_t> cases[] = {
      {"1", 1},
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"10 - 3 - 2", 5},
      {"100 / 7 / 2", 7},
      {"100 / (7 / 2)", 33},
      {"17 % 5 * 2", 4},
      {"x.size / x.1", 9},
      {"x.rank + n", 14},
      {"min(3, 4) * max(5, min(9, 6))", 18},
      {"(x.size + 255) / 256", 1},
      {"  ( ( 2 ) )  ", 2},
      {"max((1 + 2), (3))", 3},
      {"n - 10", -3},
  };
  for (const auto& [text, expected] : cases) {
    const auto value = SizeExpression::parse(text).evaluate(valueOf);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->value(), expected) << text;
  }
  EXPECT_FALSE(SizeExpression::parse("1 + unknown").evaluate(valueOf));
}

TEST(SizeExpression, FollowsSymbols) {
  DimTable table;
  const Dim batch = table.symbol("batch");
  const auto value = SizeExpression::parse("(x.0 * 12 + 12) / 12 - 1").evaluate([&](const SizeTerm&) { return batch; });
  ASSERT_TRUE(value);
  EXPECT_EQ(value->symbolName(), "batch");
}

TEST(SizeExpression, RefusesInvalidExpressions) {
  for (const char* text : {"",       "(",       ")",        "1 +",
                           "+ 1",    "1 2",     "x y",      "x.",
                           "x.y",    "1 / / 2", "min(1)",   "min(1, 2, 3)",
                           "(1, 2)", "1, 2",    "min(1, 2", "f(2)",
                           "2(3)",   "x.17",    "1 = 2",    "99999999999999999999"})
    EXPECT_THROW(SizeExpression::parse(text), Error) << text;
  EXPECT_THROW(SizeExpression::parse("1 / 0").evaluate(valueOf), Error);
  EXPECT_THROW(SizeExpression::parse("9223372036854775807 + 1").evaluate(valueOf), Error);
  std::string deep, wide = "1";
  for (int i = 0; i < 100; ++i) deep += "1 + (";
  EXPECT_THROW(SizeExpression::parse(deep + "1" + std::string(100, ')')), Error);
  for (int i = 0; i < 1000; ++i) wide += " + 1";
  EXPECT_EQ(SizeExpression::parse(wide).evaluate(valueOf)->value(), 1001);
}

constexpr std::string_view kSource =
    "// before\n"
    "//@ operator a.b.Scale\n"
    "//@ inputs x y\n"
    "//@ outputs z\n"
    "//@ types T,T->T; T=float32\n"
    "//@ attribute factor float 1.5\n"
    "//@ attribute step int -2\n"
    "//@ shape z = [min(x.0, y.0), x.size * 2]\n"
    "//@ kernel scale float32\n"
    "//@ grid (z.size + 255) / 256, 2\n"
    "  //@ block 256\r\n"
    "//@ shared step + 10\n"
    "//@ arguments x, z, factor, max(z.0, 1), step\n"
    "void after();\n";

TEST(Declarations, AreReadWhole) {
  const std::vector<DeclaredOperator> all = parseDeclarations("k.cu", kSource);
  ASSERT_EQ(all.size(), 1u);
  const DeclaredOperator& op = all[0];
  EXPECT_EQ(op.domain + "|" + op.name, "a.b|Scale");
  EXPECT_EQ(op.line, 2);
  EXPECT_EQ(op.attributes[0].number, 1.5f);
  EXPECT_EQ(op.attributes[1].integer, -2);
  EXPECT_EQ(op.shapes[0].dimensions.size(), 2u);
  EXPECT_EQ(op.grid.size(), 2u);
  EXPECT_EQ(op.kernels[0].second, DType::Float32);
  EXPECT_EQ(op.arguments[2].kind, DeclaredArgument::Float);
  EXPECT_EQ(op.arguments[3].kind, DeclaredArgument::Size);
  EXPECT_EQ(withoutDeclarations(kSource), "// before\n" + std::string(12, '\n') + "void after();\n");
}

TEST(Declarations, MutilatedOnesAreReadOrRefused) {
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text(kSource);
    for (unsigned k = random() % 4; k < 4; ++k) {
      const size_t at = random() % text.size();
      const unsigned what = random() % 3;
      if (what == 0) text[at] = "()[],.=*/%+-@ \nx9"[random() % 17];
      if (what == 1) text.erase(at, random() % 10);
      if (what == 2) text.insert(at, text.substr(random() % text.size(), random() % 20));
      if (text.empty()) text = "x";
    }
    try {
      (void)parseDeclarations("k.cu", text);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.status(), MAX_STATUS_INVALID_ARGUMENT) << error.message();
      EXPECT_TRUE(error.message().starts_with("k.cu:")) << error.message();
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace max
