// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/dim.h"

namespace max {
namespace {

class DimTest : public testing::Test {
 protected:
  DimTable table;
  Dim batch = table.symbol("batch");
  Dim seq = table.symbol("seq");
};

std::string text(Dim dim) { return concat(dim); }

TEST_F(DimTest, KnownDimensionsCompute) {
  EXPECT_EQ(Dim(3) + Dim(4), Dim(7));
  EXPECT_EQ(Dim(3) - Dim(4), Dim(-1));
  EXPECT_EQ(floorDivide(Dim(-7), Dim(2)), Dim(-4));
  EXPECT_EQ(ceilDivide(Dim(7), Dim(2)), Dim(4));
  EXPECT_THROW(Dim(INT64_MAX) * Dim(2), Error);
  EXPECT_THROW(floorDivide(Dim(1), Dim(0)), Error);
}

TEST_F(DimTest, EqualExpressionsAreOneExpression) {
  EXPECT_EQ(table.symbol("batch"), batch);
  EXPECT_NE(batch, seq);
  EXPECT_EQ(batch + seq, seq + batch);
  EXPECT_EQ((batch + Dim(1)) * (batch - Dim(1)), batch * batch - Dim(1));
  EXPECT_EQ(batch - batch, Dim(0));
  EXPECT_NE(table.unknown(), table.unknown());
}

TEST_F(DimTest, DivisionCancels) {
  EXPECT_EQ(floorDivide(batch * Dim(12 * 64), Dim(12 * 64)), batch);
  EXPECT_EQ(floorDivide(batch * seq * Dim(768), batch * Dim(12)), seq * Dim(64));
  EXPECT_EQ(floorDivide(batch * (seq + Dim(1)), seq + Dim(1)), batch);
  EXPECT_EQ(floorDivide(seq * Dim(4) + Dim(5), Dim(4)), seq + Dim(1));
  EXPECT_EQ(text(floorDivide(seq + Dim(1), Dim(2))), "floordiv(seq + 1, 2)");
  EXPECT_EQ(floorDivide(seq - Dim(1), Dim(2)) + Dim(1), floorDivide(seq + Dim(1), Dim(2)));
  EXPECT_EQ(floorDivide(seq * Dim(5) - Dim(1), Dim(4)), seq - Dim(1) + floorDivide(seq + Dim(3), Dim(4)));
  EXPECT_EQ(floorDivide(seq + Dim(3), Dim(2)), floorDivide(seq + Dim(3), Dim(2)));
}

TEST_F(DimTest, ExtremaSimplify) {
  EXPECT_EQ(maximum(seq, Dim(0)), seq);
  EXPECT_EQ(minimum(seq, seq + Dim(2)), seq);
  EXPECT_EQ(maximum(seq, minimum(seq, Dim(512))), seq);
  EXPECT_EQ(minimum(minimum(seq, Dim(512)), seq), minimum(Dim(512), seq));
}

TEST_F(DimTest, Text) {
  EXPECT_EQ(text(batch * Dim(2) + Dim(1)), "2*batch + 1");
  EXPECT_EQ(text(Dim(0) - seq), "-seq");
  EXPECT_EQ(text(table.unknown()), "?");
  EXPECT_EQ(text(DimTable::anonymous()), "?");
  EXPECT_EQ(concat(SymbolicShape{batch, 3}), "[batch, 3]");
  EXPECT_EQ(batch.symbolName(), "batch");
  EXPECT_EQ((batch + Dim(1)).symbolName(), "");
}

TEST_F(DimTest, LowerBounds) {
  EXPECT_TRUE((batch * seq + Dim(2)).isAtLeast(2));
  EXPECT_FALSE((batch - Dim(1)).isAtLeast(0));
  EXPECT_TRUE(floorDivide(batch, seq).isAtLeast(0));
}

TEST_F(DimTest, EvaluatesWithBoundSymbols) {
  const Dim dim = maximum(floorDivide(batch * seq + Dim(1), Dim(2)), batch) + Dim(3);
  const auto value =
      DimTable::evaluate(dim, [&](Dim symbol) { return std::optional<int64_t>(symbol == batch ? 5 : 4); });
  EXPECT_EQ(value, 13);
  EXPECT_FALSE(DimTable::evaluate(seq, [](Dim) { return std::nullopt; }));
}

// The anonymous dimension needs no table and swallows everything.
TEST_F(DimTest, AnonymousWithoutTable) {
  const Dim unknown = DimTable::anonymous();
  EXPECT_FALSE(unknown.isKnown());
  EXPECT_EQ(unknown + Dim(1), unknown);
  EXPECT_EQ(minimum(unknown, Dim(4)), unknown);
  EXPECT_TRUE((unknown * seq).isAnonymous());
  EXPECT_FALSE(DimTable::evaluate(unknown, [](Dim) { return std::optional<int64_t>(1); }));
}

// Expressions are bounded, so that outside data cannot make them grow without end.
TEST_F(DimTest, LargeExpressionsBecomeUnknown) {
  Dim sum = 0, power = 1, nested = seq;
  for (int i = 0; i < 200; ++i) {
    sum = sum + table.symbol(concat("s", i));
    power = power * seq;
    nested = floorDivide(nested * batch + Dim(1), Dim(3));
  }
  for (Dim dim : {sum, power, nested}) EXPECT_LT(text(dim).size(), 1000u);
  Dim large = seq * Dim(INT64_MAX);
  EXPECT_TRUE((large * Dim(2)).isAnonymous());
}

TEST_F(DimTest, CopiesKeepEquality) {
  DimTable other;
  DimCopier copier(other);
  const Dim unknown = table.unknown();
  EXPECT_EQ(copier.copy(unknown), copier.copy(unknown));
  EXPECT_EQ(copier.copy(batch * Dim(2)), other.symbol("batch") * Dim(2));
  EXPECT_EQ(text(copier.copy(minimum(seq, Dim(512)) + unknown)), text(minimum(seq, Dim(512)) + unknown));
}

}  // namespace
}  // namespace max
