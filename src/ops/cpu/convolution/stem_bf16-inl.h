// SPDX-License-Identifier: Apache-2.0
// Planes of words of bfloat16 with AVX-512 BF16: words of 16 pixels, of two channels each, are multiplied by a word of
// each filter. The end of conv_stem.cpp.
#if HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace {

struct ProductOfWords {
  // Not the compiler's own function, which a function without these instructions could not have in line.
  static HWY_INLINE V add(V sum, V pixels, V weight) {
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(pixels.raw), "v"(weight.raw));
    return sum;
  }
};

// Rows are divided into as few tiles as they fit.
template <int kFilters, int kCount>
void runPixelsOfWords(const StemRow& row, int64_t pixel) {
  constexpr int64_t kTile = kCount * kLanes, kFewer = kTile - kLanes;
  for (; row.pixels - pixel > kFewer; pixel += kTile)
    planeTile<ProductOfWords, kFilters, kCount>(row, pixel, std::min(kTile, row.pixels - pixel));
  if constexpr (kCount > 1) {
    if (pixel < row.pixels) runPixelsOfWords<kFilters, kCount - 1>(row, pixel);
  }
}

void runPlanesOfWords(const StemRow& row) {
  if (row.filters > kPlaneFilters) return runPixelsOfWords<2 * kPlaneFilters, kPlaneVectors<2 * kPlaneFilters>>(row, 0);
  runPixelsOfWords<kPlaneFilters, kPlaneVectors<kPlaneFilters>>(row, 0);
}

}  // namespace

extern const StemTable kStemOfWords;
constexpr StemTable kStemOfWords = {kMostOfPlanes, kPlaneFilters, runPlanesOfWords, kLanes, kMostOfPlanes, 2};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
