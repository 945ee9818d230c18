// SPDX-License-Identifier: Apache-2.0
// Floating-point types of 8 bits and less, and packed elements.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "base/number_access.h"
#include "base/small_float.h"

namespace max {
namespace {

constexpr DType kSmallFloats[] = {DType::Float4E2M1FN,   DType::Float6E2M3FN, DType::Float6E3M2FN,
                                  DType::Float8E4M3FN,   DType::Float8E5M2,   DType::Float8E4M3FNUZ,
                                  DType::Float8E5M2FNUZ, DType::Float8E8M0FNU};
constexpr DType kPacked[] = {DType::Int2,         DType::UInt2,        DType::Int4,        DType::UInt4,
                             DType::Float4E2M1FN, DType::Float6E2M3FN, DType::Float6E3M2FN};

unsigned codeCount(DType dtype) { return 1u << bitsOf(dtype); }

TEST(SmallFloat, LargestNumbers) {
  struct Row {
    DType dtype;
    double largest, smallest;
  };
  for (const Row& row : {Row{DType::Float4E2M1FN, 6, 0.5}, Row{DType::Float6E2M3FN, 7.5, 0.125},
                         Row{DType::Float6E3M2FN, 28, 0.0625}, Row{DType::Float8E4M3FN, 448, 0x1p-9},
                         Row{DType::Float8E4M3FNUZ, 240, 0x1p-10}, Row{DType::Float8E5M2, 57344, 0x1p-16},
                         Row{DType::Float8E5M2FNUZ, 57344, 0x1p-17}, Row{DType::Float8E8M0FNU, 0x1p127, 0x1p-127}}) {
    EXPECT_EQ(floatFromSmall(row.dtype, smallFromDouble(row.dtype, 1e300)), row.largest) << nameOf(row.dtype);
    EXPECT_EQ(floatFromSmall(row.dtype, smallFromDouble(row.dtype, INFINITY)), row.largest) << nameOf(row.dtype);
    EXPECT_EQ(floatFromSmall(row.dtype, smallFromDouble(row.dtype, row.smallest)), row.smallest) << nameOf(row.dtype);
    EXPECT_EQ(floatFromSmall(row.dtype, smallFromDouble(row.dtype, 1)), 1) << nameOf(row.dtype);
  }
}

TEST(SmallFloat, EveryCodeComesBack) {
  for (DType dtype : kSmallFloats)
    for (unsigned code = 0; code < codeCount(dtype); ++code) {
      const float value = floatFromSmall(dtype, static_cast<uint8_t>(code));
      const unsigned back = smallFromDouble(dtype, value, {false, ScaleRounding::Up});
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(floatFromSmall(dtype, static_cast<uint8_t>(back)))) << nameOf(dtype) << " " << code;
      else
        EXPECT_EQ(back, code) << nameOf(dtype) << " " << value;
    }
}

// Between neighbours the nearer one, in the middle the even one.
TEST(SmallFloat, RoundsToNearestEven) {
  for (DType dtype : kSmallFloats) {
    if (dtype == DType::Float8E8M0FNU) continue;
    for (unsigned code = 0; code + 1 < codeCount(dtype) / 2; ++code) {
      const double low = floatFromSmall(dtype, static_cast<uint8_t>(code));
      const double high = floatFromSmall(dtype, static_cast<uint8_t>(code + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      EXPECT_EQ(smallFromDouble(dtype, middle), code % 2 ? code + 1 : code) << nameOf(dtype) << " " << middle;
      EXPECT_EQ(smallFromDouble(dtype, std::nextafter(middle, 0)), code) << nameOf(dtype);
      EXPECT_EQ(smallFromDouble(dtype, std::nextafter(middle, 1e9)), code + 1) << nameOf(dtype);
    }
  }
}

TEST(SmallFloat, SaturationIsAChoice) {
  const SmallFloatRules open{false, ScaleRounding::Up};
  const auto value = [](DType dtype, double x, SmallFloatRules rules) {
    return floatFromSmall(dtype, smallFromDouble(dtype, x, rules));
  };
  for (DType dtype : {DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ}) {
    EXPECT_TRUE(std::isnan(value(dtype, INFINITY, open))) << nameOf(dtype);
    EXPECT_TRUE(std::isnan(value(dtype, -1e9, open))) << nameOf(dtype);
  }
  EXPECT_EQ(value(DType::Float8E5M2, 1e9, open), INFINITY);
  EXPECT_EQ(value(DType::Float8E5M2, -INFINITY, open), -INFINITY);
  for (DType dtype : kSmallFloats)
    if (bitsOf(dtype) == 8) {
      EXPECT_TRUE(std::isnan(value(dtype, NAN, {}))) << nameOf(dtype);
    }
  EXPECT_EQ(value(DType::Float4E2M1FN, NAN, {}), 0);
  EXPECT_EQ(value(DType::Float4E2M1FN, -INFINITY, open), -6);
  EXPECT_FALSE(std::signbit(value(DType::Float8E4M3FNUZ, -0.0, {})));
  EXPECT_TRUE(std::signbit(value(DType::Float8E4M3FN, -1e-30, {})));
}

TEST(SmallFloat, ScalesRoundAsAsked) {
  const auto code = [](double x, ScaleRounding rounding, bool saturate = true) {
    return static_cast<int>(smallFromDouble(DType::Float8E8M0FNU, x, {saturate, rounding}));
  };
  EXPECT_EQ(code(5, ScaleRounding::Up), 127 + 3);
  EXPECT_EQ(code(5, ScaleRounding::Down), 127 + 2);
  EXPECT_EQ(code(5, ScaleRounding::Nearest), 127 + 2);
  EXPECT_EQ(code(6, ScaleRounding::Nearest), 127 + 3) << "ties go up";
  EXPECT_EQ(code(8, ScaleRounding::Up), 127 + 3);
  EXPECT_EQ(code(0, ScaleRounding::Up), 0);
  EXPECT_EQ(code(0, ScaleRounding::Nearest, false), 255);
  EXPECT_EQ(code(INFINITY, ScaleRounding::Up), 254);
  EXPECT_EQ(code(INFINITY, ScaleRounding::Up, false), 255);
  EXPECT_EQ(code(1e-300, ScaleRounding::Up), 0);
  EXPECT_EQ(code(NAN, ScaleRounding::Up), 255);
}

TEST(NumberAccess, PackedElementsComeBack) {
  std::mt19937 random(1);
  for (DType dtype : kPacked)
    for (int64_t count = 0; count < 40; ++count) {
      std::vector<double> table(codeCount(dtype)), values(static_cast<size_t>(count)), back(values.size());
      std::vector<uint8_t> all(codeCount(dtype)), packed(bytesFor(dtype, count) + 1, 0xAA);
      for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
      std::vector<uint8_t> codes(bytesFor(dtype, static_cast<int64_t>(all.size())));
      packCodes(dtype, codes.data(), 0, static_cast<int64_t>(all.size()), all.data());
      loadNumbers(dtype, codes.data(), 0, static_cast<int64_t>(all.size()), table.data());
      for (double& value : values) value = table[random() % table.size()];
      storeNumbers(dtype, packed.data(), 0, count, values.data());
      loadNumbers(dtype, packed.data(), 0, count, back.data());
      EXPECT_EQ(values, back) << nameOf(dtype);
      EXPECT_EQ(packed.back(), 0xAA) << "wrote past the end";
      const int64_t begin = count / 3;
      std::vector<double> rest(static_cast<size_t>(count - begin));
      loadNumbers(dtype, packed.data(), begin, count - begin, rest.data());
      EXPECT_TRUE(std::equal(rest.begin(), rest.end(), back.begin() + begin)) << nameOf(dtype);
    }
}

TEST(NumberAccess, SignedElementsAreExtended) {
  const uint8_t bytes[] = {0x8F, 0x70};
  int64_t values[4];
  loadNumbers(DType::Int4, bytes, 0, 4, values);
  EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{-1, -8, 0, 7}));
  loadNumbers(DType::UInt4, bytes, 0, 4, values);
  EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{15, 8, 0, 7}));
  const uint8_t twoBits[] = {0b11100100};
  loadNumbers(DType::Int2, twoBits, 0, 4, values);
  EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{0, 1, -2, -1}));
}

// What does not fit: the nearest limit from floats, the low bits from integers and in types below 8 bits.
TEST(NumberAccess, NumbersThatDoNotFit) {
  const double values[] = {300, -300, NAN, INFINITY, -INFINITY, 1e30};
  int8_t narrow[6];
  storeNumbers(DType::Int8, narrow, 0, 6, values);
  EXPECT_EQ(std::vector<int>(narrow, narrow + 6), (std::vector<int>{127, -128, 0, 127, -128, 127}));
  int64_t wide[6];
  storeNumbers(DType::Int64, wide, 0, 6, values);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(std::vector<int64_t>(wide, wide + 6), (std::vector<int64_t>{300, -300, 0, kMax, kMin, kMax}));
  const int64_t integers[] = {200, -129};
  storeNumbers(DType::Int8, narrow, 0, 2, integers);
  EXPECT_EQ(std::vector<int>(narrow, narrow + 2), (std::vector<int>{-56, 127}));
  const float floats[] = {-9, 20};
  uint8_t packed;
  storeNumbers(DType::Int4, &packed, 0, 2, floats);
  EXPECT_EQ(packed, 0x47);
}

TEST(NumberAccess, SixBitElementsAreAStreamOfBits) {
  const uint8_t codes[] = {0x21, 0x03, 0x3C, 0x15};
  uint8_t bytes[3] = {};
  packCodes(DType::Float6E2M3FN, bytes, 0, 4, codes);
  EXPECT_EQ(bytes[0], 0x21 | (0x03 & 3) << 6);
  EXPECT_EQ(bytes[1], 0x03 >> 2 | (0x3C & 15) << 4);
  EXPECT_EQ(bytes[2], 0x3C >> 4 | 0x15 << 2);
  EXPECT_EQ(bytesFor(DType::Float6E2M3FN, 5), 4u);
}

}  // namespace
}  // namespace max
