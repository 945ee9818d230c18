// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "base/align.h"

namespace max {
namespace {

TEST(Quotient, IsThatOfTheLanguage) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kWord = int64_t{1} << 32;
  const int64_t numbers[] = {0, 1, 2, 7, kWord / 2, kWord - 1, kWord, kWord + 1, kMost - 1, kMost};
  for (const int64_t a : numbers)
    for (const int64_t b : numbers) {
      if (b == 0) continue;
      EXPECT_EQ(quotient(a, b), a / b) << a << " / " << b;
      EXPECT_EQ(quotient(-a, b), -a / b) << -a << " / " << b;
      EXPECT_EQ(ceilDiv(a, b), a / b + (a % b != 0)) << a << " / " << b;
      EXPECT_EQ(ceilDiv(-a, b), -a / b) << -a << " / " << b;
    }
}

}  // namespace
}  // namespace max
