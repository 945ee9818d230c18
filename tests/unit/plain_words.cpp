// SPDX-License-Identifier: Apache-2.0
#include "plain_words.h"

namespace max::test {

namespace {

float elementOf(const float* words, int64_t word, int half) {
  uint16_t elements[2];
  std::memcpy(elements, words + word, sizeof(elements));
  return floatFromBFloat16(elements[half]);
}

float finished(const GemmTile& t, int64_t m, int64_t n, float sum) {
  sum *= t.epilogue->alpha;
  if (t.bias && t.epilogue->alpha != 1) sum += t.bias[n];
  float residual = t.residual ? t.residual[m * t.ldr + n] : 0;
  if (t.narrowResidual) residual = floatFromBFloat16(t.narrowResidual[m * t.ldr + n]);
  if (!t.epilogue->addsResidualLast) sum += residual;
  applyActivation(t.epilogue->activation, &sum, 1);
  return t.epilogue->addsResidualLast ? sum + residual : sum;
}

}  // namespace

void plainTile(const GemmTile& t, int64_t rows) {
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < t.columns; ++n) {
      float sum = t.bias && !t.accumulate && t.epilogue->alpha == 1 ? t.bias[n] : 0;
      if (t.sums) sum += t.sums[m * t.sumStride + n];
      if (t.accumulate) sum += t.c[m * t.ldc + n];
      for (int64_t k = 0; k < t.taps * t.depth; ++k) {
        const float* const* tap = t.rows + k / t.depth * gemmTable().tileRows;
        for (int half : {0, 1})
          if (tap[0])
            sum += elementOf(tap[m] + t.rowOffset, k % t.depth, half) * elementOf(t.b + n, k * t.bStride, half);
      }
      if (t.finish) sum = finished(t, m, n, sum);
      t.c[m * t.ldc + n] = sum;
      if (t.finish && t.narrow) t.narrow[m * t.ldn + n] = bfloat16FromFloat(sum);
    }
}

void plainIntegerTile(const IntegerTile& t, int64_t rows) {
  constexpr int64_t kWidth = kMaxIntegerPanelColumns;
  for (int64_t m = 0; m < rows; ++m) {
    int32_t sums[kWidth] = {};
    for (int64_t n = 0; n < t.columns; ++n) {
      uint32_t sum = t.sums ? static_cast<uint32_t>(t.sums[m * kWidth + n]) : 0;
      for (int64_t k = 0; k < 4 * t.pieces * t.words; ++k) {
        const uint8_t* row = t.rows[k / 4 / t.words * t.pieceStride + m];
        const int a = row ? row[k % (4 * t.words)] : 0;
        sum += static_cast<uint32_t>(a * static_cast<int8_t>(t.b[k / 4 * kWidth + n] >> k % 4 * 8));
      }
      if (t.rowFactors) sum += static_cast<uint32_t>(t.rowFactors[m]) * static_cast<uint32_t>(t.columnSums[n]);
      if (t.columnFactors) sum += static_cast<uint32_t>(t.columnFactors[n]) * static_cast<uint32_t>(t.rowSums[m]);
      sums[n] = static_cast<int32_t>(sum);
      if (!t.how) t.c[m * t.ldc + n] = sums[n];
      if (!t.reals) continue;
      const int32_t biased = static_cast<int32_t>(sum + (t.how->bias ? static_cast<uint32_t>(t.how->bias[n]) : 0));
      t.reals[m * t.outStride + n] =
          static_cast<float>(biased) * t.how->factors[n] + (t.how->addends ? t.how->addends[n] : 0);
    }
    const uint8_t* other = t.other ? t.other + m * t.outStride : nullptr;
    if (t.how && !t.reals) integerVectorTable().requantize(sums, t.columns, *t.how, other, t.out + m * t.outStride);
  }
}

}  // namespace max::test
