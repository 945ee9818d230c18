// SPDX-License-Identifier: Apache-2.0
#include "base/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "base/error.h"

namespace max {

namespace {

enum class Specials {
  None,          // finite numbers only
  LastIsNan,     // NaN: all ones
  Ieee,          // the largest exponent: infinities and NaN
  NegativeZero,  // the code of -0 is the only NaN
};

struct Format {
  DType dtype;
  int exponentBits, mantissaBits, bias;
  Specials specials;

  unsigned sign() const { return 1u << (exponentBits + mantissaBits); }
  unsigned largest() const {
    const unsigned last = sign() - 1;
    if (specials == Specials::Ieee) return last - (1u << mantissaBits);
    return specials == Specials::LastIsNan ? last - 1 : last;
  }
  unsigned notANumber() const {
    if (specials == Specials::None) return 0;
    return specials == Specials::NegativeZero ? sign() : specials == Specials::Ieee ? largest() + 3 : largest() + 1;
  }
  unsigned overflow() const {
    if (specials == Specials::Ieee) return largest() + 1;
    return specials == Specials::None ? largest() : notANumber();
  }
};

constexpr Format kFormats[] = {
    {DType::Float4E2M1FN, 2, 1, 1, Specials::None},
    {DType::Float6E2M3FN, 2, 3, 1, Specials::None},
    {DType::Float6E3M2FN, 3, 2, 3, Specials::None},
    {DType::Float8E4M3FN, 4, 3, 7, Specials::LastIsNan},
    {DType::Float8E4M3FNUZ, 4, 3, 8, Specials::NegativeZero},
    {DType::Float8E5M2, 5, 2, 15, Specials::Ieee},
    {DType::Float8E5M2FNUZ, 5, 2, 16, Specials::NegativeZero},
};

const Format& formatOf(DType dtype) {
  const auto* row = std::find_if(std::begin(kFormats), std::end(kFormats),
                                 [&](const Format& candidate) { return candidate.dtype == dtype; });
  require(row != std::end(kFormats), MAX_STATUS_INTERNAL, dtype, " is not a small floating-point type");
  return *row;
}

// 2^exponent, for exponents of normal floats.
float powerOfTwo(int exponent) { return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23); }

constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
constexpr int kDoubleBias = 1023;

// Exponent and fraction of a nonzero number; subnormal doubles just have small exponents.
struct Parts {
  explicit Parts(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    fraction = bits & kFraction;
    exponent = static_cast<int>(bits >> 52 & 0x7ff) - kDoubleBias;
  }
  uint64_t fraction;
  int exponent;
};

uint8_t scaleFromDouble(double value, const SmallFloatRules& rules) {
  constexpr int kNan = 255, kLargest = 254;
  if (std::isnan(value)) return kNan;
  if (value == 0) return rules.saturate ? 0 : kNan;
  const Parts parts(value);
  int code = parts.exponent + 127;
  if (rules.scaleRounding == ScaleRounding::Up) code += parts.fraction != 0;
  if (rules.scaleRounding == ScaleRounding::Nearest) code += parts.fraction > kFraction / 2;
  if (code >= 0 && code <= kLargest) return static_cast<uint8_t>(code);
  return static_cast<uint8_t>(!rules.saturate ? kNan : code < 0 ? 0 : kLargest);
}

// The code of a number without its sign; may exceed the largest. Its lowest bit is worth 2^(exponent - mantissa bits),
// with the exponent at least that of subnormals.
unsigned roundedCode(const Format& format, double value) {
  if (value == 0) return 0;
  if (std::isinf(value)) return format.sign();
  const Parts parts(value);
  const int exponent = std::max(parts.exponent, 1 - format.bias);
  const int shift = 52 - format.mantissaBits + exponent - parts.exponent;
  if (shift > 53) return 0;  // less than half the smallest number
  const uint64_t significand = parts.fraction | (kFraction + 1), half = uint64_t{1} << (shift - 1);
  const uint64_t rest = significand & (2 * half - 1);
  uint64_t steps = significand >> shift;
  if (rest > half || (rest == half && steps & 1)) ++steps;
  const int64_t code =
      (static_cast<int64_t>(exponent + format.bias - 1) << format.mantissaBits) + static_cast<int64_t>(steps);
  return static_cast<unsigned>(std::min<int64_t>(code, format.sign()));
}

}  // namespace

float floatFromSmall(DType dtype, uint8_t code) {
  if (dtype == DType::Float8E8M0FNU)
    return code == 255 ? NAN : std::bit_cast<float>(code == 0 ? 0x00400000u : static_cast<uint32_t>(code) << 23);
  const Format& format = formatOf(dtype);
  const unsigned magnitude = code & (format.sign() - 1);
  const float sign = code & format.sign() ? -1.f : 1.f;
  if (format.specials == Specials::NegativeZero && (code & (2 * format.sign() - 1)) == format.sign()) return NAN;
  if (magnitude > format.largest())
    return format.specials == Specials::Ieee && magnitude == format.largest() + 1 ? sign * HUGE_VALF : NAN;
  const int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  const unsigned mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  const unsigned implicit = exponent > 0 ? 1u << format.mantissaBits : 0;
  return sign * static_cast<float>(mantissa | implicit) *
         powerOfTwo(std::max(exponent, 1) - format.bias - format.mantissaBits);
}

uint8_t smallFromDouble(DType dtype, double value, SmallFloatRules rules) {
  if (dtype == DType::Float8E8M0FNU) return scaleFromDouble(value, rules);
  const Format& format = formatOf(dtype);
  unsigned code = format.notANumber();
  if (!std::isnan(value)) {
    code = roundedCode(format, std::abs(value));
    if (code > format.largest()) code = rules.saturate ? format.largest() : format.overflow();
  }
  const bool dropsSign = format.specials == Specials::NegativeZero && (code == 0 || code == format.sign());
  if (std::signbit(value) && !dropsSign) code |= format.sign();
  return static_cast<uint8_t>(code);
}

}  // namespace max
