// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/generator/random.h"

#include <sys/random.h>
#include <time.h>

#include <atomic>
#include <bit>
#include <cmath>

#include "graph/readers/generator.h"

namespace max {

namespace {

constexpr uint32_t kMultipliers[] = {0xD2511F53u, 0xCD9E8D57u};
constexpr uint32_t kWeyl[] = {0x9E3779B9u, 0xBB67AE85u};

double uniformOf(uint32_t high, uint32_t low) {
  const uint64_t bits = (static_cast<uint64_t>(high) << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

// The functions below replace those of libm, which differ in the last place between machines.

// For x in (0, 1].
double logarithm(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

struct Point {
  double cosine, sine;
};

// The point at t turns of the unit circle, t in [0, 1).
Point onCircle(double t) {
  const int quarter = static_cast<int>(t * 4 + 0.5);
  const double x = (t - quarter * 0.25) * 6.28318530717958648, square = x * x;
  double sine = 0, cosine = 0;
  for (int k = 19; k >= 3; k -= 2) sine = (1 + sine) * -square / (k * (k - 1));
  for (int k = 18; k >= 2; k -= 2) cosine = (1 + cosine) * -square / (k * (k - 1));
  sine = x * (1 + sine);
  cosine = 1 + cosine;
  switch (quarter % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

uint64_t systemRandom() {
  uint64_t key = 0;
  if (getrandom(&key, sizeof key, GRND_NONBLOCK) == sizeof key) return key;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'007u ^ static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

std::array<uint32_t, 4> RandomSequence::block(uint64_t index) const {
  std::array<uint32_t, 4> x{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                            static_cast<uint32_t>(sequence_), static_cast<uint32_t>(sequence_ >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(kMultipliers[0]) * x[0];
    const uint64_t b = static_cast<uint64_t>(kMultipliers[1]) * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += kWeyl[0];
    k1 += kWeyl[1];
  }
  return x;
}

std::array<double, 2> RandomSequence::uniforms(uint64_t index) const {
  const std::array<uint32_t, 4> bits = block(index);
  return {uniformOf(bits[0], bits[1]), uniformOf(bits[2], bits[3])};
}

// The Box-Muller transform.
std::array<double, 2> RandomSequence::normals(uint64_t index) const {
  const std::array<double, 2> u = uniforms(index);
  const double radius = std::sqrt(-2 * logarithm(1 - u[0]));
  const Point point = onCircle(u[1]);
  return {radius * point.cosine, radius * point.sine};
}

RandomSource::RandomSource(const Attributes& attributes) : seed_(readers::readSeed(attributes)) {}

RandomSequence RandomSource::sequence() const {
  if (seed_) return {*seed_, 0};
  static const uint64_t key = systemRandom();
  static std::atomic<uint64_t> next{1};
  return {key, next.fetch_add(1, std::memory_order_relaxed)};
}

}  // namespace max
