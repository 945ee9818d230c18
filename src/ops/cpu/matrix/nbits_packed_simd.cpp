// SPDX-License-Identifier: Apache-2.0
// Kernels that unpack weights of few bits to floats.
#include <utility>

#include "ops/cpu/matrix/nbits_packed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/nbits_packed_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using D32 = hn::Rebind<uint32_t, D>;
using V32 = hn::Vec<D32>;

constexpr int64_t kLanes = hn::MaxLanes(D());
#if HWY_TARGET == HWY_AVX3
constexpr int kMostRows = 8;
#else
constexpr int kMostRows = 4;
#endif
static_assert(kMostRows <= kMaxNBitsRows);

// Elements of words as floats, less the middle of their range.
template <int kBits>
class Decoder {
 public:
  static constexpr int kElements = 32 / kBits;
  static constexpr float kMiddle = 1 << (kBits - 1);

  Decoder() {
#if HWY_TARGET == HWY_AVX3
    HWY_ALIGN float values[kLanes];
    for (int i = 0; i < kLanes; ++i) values[i] = static_cast<float>(i % (1 << kBits)) - kMiddle;
    table_ = hn::Load(D(), values);
#endif
  }

  template <int kElement>
  HWY_INLINE V element(V32 words) const {
    constexpr int kShift = kElement % 4 * 8 + kElement / 4 * kBits;
    if constexpr (kShift > 0) words = hn::ShiftRight<kShift>(words);
#if HWY_TARGET == HWY_AVX3
    // An index is the low four bits.
    if constexpr (kBits <= 4) return V{_mm512_permutexvar_ps(words.raw, table_.raw)};
#endif
    if constexpr (kShift + kBits < 32) words = hn::And(words, hn::Set(D32(), (1 << kBits) - 1));
    const hn::Rebind<int32_t, D> signedTag;
    return hn::Sub(hn::ConvertTo(D(), hn::BitCast(signedTag, words)), hn::Set(D(), kMiddle));
  }

 private:
  V table_ = hn::Zero(D());
};

template <class Function, int... kElement>
HWY_INLINE void forElements(Function& function, std::integer_sequence<int, kElement...>) {
  (function.template at<kElement>(), ...);
}

// The zero points of a block, less the middle of the range.
template <int kBits>
HWY_INLINE V zerosOf(const NBitsColumns& weights, int64_t block) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::Rebind<int32_t, D> signedTag;
  const V zeros = weights.zeros
                      ? hn::ConvertTo(D(), hn::PromoteTo(signedTag, hn::LoadU(bytes, weights.zeros + block * kLanes)))
                      : hn::LoadU(D(), weights.realZeros + block * kLanes);
  return hn::Sub(zeros, hn::Set(D(), Decoder<kBits>::kMiddle));
}

// A single row has more sums, so that they need not wait for each other.
template <int kRows, int kBits>
struct BlockProduct {
  static constexpr int kSums = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  const Decoder<kBits>& decoder;
  const float* const* rows;
  int64_t k;
  V32 words;
  V sums[kRows][kSums];

  template <int kElement>
  HWY_INLINE void at() {
    const V value = decoder.template element<kElement>(words);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      V& sum = sums[i][kElement % kSums];
      sum = hn::MulAdd(value, hn::Set(D(), rows[i][k + kElement]), sum);
    }
  }
  HWY_INLINE V sumOf(int row) const {
    V sum = sums[row][0];
    MAX_UNROLL for (int i = 1; i < kSums; ++i) sum = hn::Add(sum, sums[row][i]);
    return sum;
  }
};

template <int kRows, int kBits>
void multiplyRows(const NBitsColumns& weights, const NBitsRows& from, int64_t columns, float* out, int64_t stride) {
  const D d;
  const Decoder<kBits> decoder;
  const float* rows[kRows];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) rows[i] = from.rows[i];
  V sums[kRows];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) sums[i] = hn::Zero(d);
  const uint32_t* words = weights.words;
  int64_t k = 0;
  for (int64_t block = 0; block < weights.blocks; ++block) {
    BlockProduct<kRows, kBits> product{decoder, rows, k, hn::Zero(D32()), {}};
    MAX_UNROLL for (auto& row : product.sums) MAX_UNROLL for (V& sum : row) sum = hn::Zero(d);
    for (int64_t word = 0; word < weights.blockWords; ++word, words += kLanes) {
      product.words = hn::LoadU(D32(), words);
      forElements(product, std::make_integer_sequence<int, 32 / kBits>());
      product.k += 32 / kBits;
    }
    k = product.k;
    const V scale = hn::LoadU(d, weights.scales + block * kLanes);
    const V zeros = weights.hasZeros() ? zerosOf<kBits>(weights, block) : hn::Zero(d);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      V sum = product.sumOf(i);
      if (weights.hasZeros()) sum = hn::NegMulAdd(zeros, hn::Set(d, from.sums[i * from.sumStride + block]), sum);
      sums[i] = hn::MulAdd(sum, scale, sums[i]);
    }
  }
  MAX_UNROLL for (int i = 0; i < kRows; ++i) storeFirst(d, sums[i], out + i * stride, columns);
}

// Four bits are the usual ones: others have fewer kernels.
template <int kBits>
void multiplySome(const NBitsColumns& weights, NBitsRows rows, int64_t columns, float* out, int64_t stride) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kBits == 4) {
    using Function = void (*)(const NBitsColumns&, const NBitsRows&, int64_t, float*, int64_t);
    static constexpr Function kFunctions[] = {multiplyRows<1, 4>, multiplyRows<2, 4>, multiplyRows<3, 4>,
                                              multiplyRows<4, 4>, multiplyRows<5, 4>, multiplyRows<6, 4>,
                                              multiplyRows<7, 4>, multiplyRows<8, 4>};
    return kFunctions[rows.count - 1](weights, rows, columns, out, stride);
  }
#endif
  for (int64_t some; rows.count > 0; rows.count -= some, rows.rows += some, out += some * stride) {
    some = rows.count >= 4 ? 4 : 1;
    (some == 4 ? multiplyRows<4, kBits> : multiplyRows<1, kBits>)(weights, rows, columns, out, stride);
    if (rows.sums) rows.sums += some * rows.sumStride;
  }
}

void multiply(const NBitsColumns& weights, const NBitsRows& rows, int64_t columns, float* out, int64_t stride) {
  if (weights.bits == 4) return multiplySome<4>(weights, rows, columns, out, stride);
  if (weights.bits == 8) return multiplySome<8>(weights, rows, columns, out, stride);
  multiplySome<2>(weights, rows, columns, out, stride);
}

template <int kBits, bool kZeros>
struct Expansion {
  Decoder<kBits> decoder;
  V32 words;
  V scale, zeros;
  float* to;
  int64_t width;

  template <int kElement>
  HWY_INLINE void at() {
    V value = decoder.template element<kElement>(words);
    if constexpr (kZeros) value = hn::Sub(value, zeros);
    hn::StoreU(hn::Mul(value, scale), D(), to + kElement * width);
  }
};

template <int kBits, bool kZeros>
void expandBlocks(const NBitsColumns& weights, int64_t width, float* to) {
  const D d;
  Expansion<kBits, kZeros> expansion{{}, hn::Zero(D32()), hn::Zero(d), hn::Zero(d), to, width};
  const uint32_t* words = weights.words;
  for (int64_t block = 0; block < weights.blocks; ++block) {
    expansion.scale = hn::LoadU(d, weights.scales + block * kLanes);
    if constexpr (kZeros) expansion.zeros = zerosOf<kBits>(weights, block);
    for (int64_t word = 0; word < weights.blockWords; ++word, words += kLanes) {
      expansion.words = hn::LoadU(D32(), words);
      forElements(expansion, std::make_integer_sequence<int, 32 / kBits>());
      expansion.to += 32 / kBits * width;
    }
  }
}

template <int kBits>
void expandBits(const NBitsColumns& weights, int64_t width, float* to) {
  weights.hasZeros() ? expandBlocks<kBits, true>(weights, width, to) : expandBlocks<kBits, false>(weights, width, to);
}

void expand(const NBitsColumns& weights, int64_t width, float* to) {
  if (weights.bits == 4) return expandBits<4>(weights, width, to);
  if (weights.bits == 8) return expandBits<8>(weights, width, to);
  expandBits<2>(weights, width, to);
}

}  // namespace

extern const NBitsFloatTable kNBitsFloatTable;
constexpr NBitsFloatTable kNBitsFloatTable = {kLanes, kMostRows, multiply, expand};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const NBitsFloatTable& nBitsFloatTable() { return MAX_CHOOSE_TARGET(kNBitsFloatTable); }

}  // namespace max
#endif
