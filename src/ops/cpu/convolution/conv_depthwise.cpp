// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: every channel has one filter. Vectors run along channels.
#include <algorithm>
#include <array>
#include <limits>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/narrow.h"
#include "ops/cpu/streamed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/conv_depthwise.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int kTile = kLanes < 16 ? 8 : 14;  // pixels of any kernel
constexpr int64_t kManyTaps = 12, kManyColumns = 7;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kTallRows = 5;  // of a kernel

// Where a tile is: row and pixel of the output.
struct Place {
  int64_t h, pixel;
};

#if HWY_TARGET == HWY_AVX3  // others have no products of bfloat16, which read such results

// Results of a tile as bfloat16, from memory: rounding them in every kernel would be much of its code. `pixels` of each
// row's `rowPixels` are stored.
struct TileResults {
  int64_t rows, rowPixels, pixels;
  HWY_ALIGN float sums[2 * kTile * kLanes];
};
HWY_NOINLINE void storeWords(const DepthwiseBand& band, const TileResults& results, int64_t to, int64_t count) {
  for (int64_t o = 0; o < results.rows; ++o)
    for (int64_t p = 0; p < results.pixels; ++p)
      storeNarrow(hn::Load(D(), results.sums + (o * results.rowPixels + p) * kLanes),
                  band.narrow + to + o * band.outRowStep + p * band.outStep, count);
}

template <int kRows, int kPixels>
HWY_INLINE void storeWords(const DepthwiseBand& band, V (&sums)[kRows][kPixels], Place at, int64_t to, int64_t count) {
  TileResults results;
  results.rows = kRows;
  results.rowPixels = kPixels;
  results.pixels = std::min<int64_t>(kPixels, band.outWidth - at.pixel);
  MAX_UNROLL for (int o = 0; o < kRows; ++o) MAX_UNROLL for (int p = 0; p < kPixels; ++p)
      hn::Store(sums[o][p], D(), results.sums + (o * kPixels + p) * kLanes);
  storeWords(band, results, to, count);
}

#endif

// Residuals and limits of one vector of channels of a tile, then the stores. kEdge: some pixels may lie past the row's
// end. kFull: all lanes are channels.
template <bool kEdge, bool kFull, int kRows, int kPixels>
HWY_INLINE void finish(const DepthwiseBand& band, V (&sums)[kRows][kPixels], Place at, int64_t c, int64_t count) {
  const D d;
  const int64_t step = band.outStep, rowStep = band.outRowStep, from = at.h * rowStep + at.pixel * step + c;
  const int64_t pixels = band.outWidth - at.pixel;
  const auto each = [&](auto work) HWY_ATTR {
    MAX_UNROLL for (int o = 0; o < kRows; ++o) MAX_UNROLL for (int p = 0; p < kPixels; ++p) if (!kEdge || p < pixels)
        work(sums[o][p], o * rowStep + p * step);
  };
  const auto all = [&](auto work) HWY_ATTR {
    MAX_UNROLL for (int o = 0; o < kRows; ++o) MAX_UNROLL for (int p = 0; p < kPixels; ++p) work(sums[o][p]);
  };
  if (const float* residual = band.residual) {
    residual += from;
    each([&](V& sum, int64_t i)
             HWY_ATTR { sum = hn::Add(sum, kFull ? hn::LoadU(d, residual + i) : loadFirst(d, residual + i, count)); });
  }
  // A processor that compares where it multiplies feels each of them.
  const V low = hn::Set(d, band.low), high = hn::Set(d, band.high);
  if (band.low > -kInfinity) all([&](V& sum) HWY_ATTR { sum = hn::Max(low, sum); });
  if (band.high < kInfinity) all([&](V& sum) HWY_ATTR { sum = hn::Min(high, sum); });
#if HWY_TARGET == HWY_AVX3
  if (band.narrow) return storeWords(band, sums, at, from, count);
#endif
  float* const out = band.out + from;  // vectors that are stored could change the band's
  if (band.isStreamed) return each([&](V sum, int64_t i) HWY_ATTR { hn::Stream(sum, d, out + i); });
  each([&](V sum, int64_t i) HWY_ATTR {
    if (kFull)
      hn::StoreU(sum, d, out + i);
    else
      storeFirst(d, sum, out + i, count);
  });
}

HWY_INLINE V initial(const DepthwiseBand& band, int64_t c, int64_t count) {
  const D d;
  return band.bias ? loadFirst(d, band.bias + c, count) : hn::Zero(d);
}

// What is multiplied several times: compilers would load it anew for each product, and unaligned loads cost two.
HWY_INLINE V inRegister(V v) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  __asm__("" : "+v"(v.raw));
#endif
  return v;
}

// Pixels of a row whose sums are in registers, together with those of a second row and beside what they read of one row
// and its taps; 32 registers hold more, but tiles of two taps are as fast without.
template <int kWidth, int kStride>
constexpr int kTilePixels = kLanes < 16 || kWidth == 2    ? 4
                            : kWidth == 5 && kStride == 2 ? 6
                                                          : 7;

// Rows of the input that the tile below reads as the first; below an image is the next one. By then they are in the
// second cache: more would not fit the first. Chips drop prefetches when many are under way, so that a tile asks for
// one of `kParts` of a row while it reads one, and for lines that follow each other, where pixels have no gaps.
template <class T, int kPixels, int kParts = 1>
class Ahead {
 public:
  Ahead(const DepthwiseBand& band, Place at, int64_t tileRows)
      : parts_{},
        step_(band.inStep == band.channels ? kVector : band.inStep),
        channelStep_(band.inStep == band.channels ? kPixels : 1) {
    if (band.farStep == 0) return;
    const int64_t own = band.kernelRows + (tileRows - 1) * band.rowStride, pixel = at.pixel * band.stride;
    for (int64_t r = 0; r < std::min<int64_t>(tileRows * band.rowStride, kMostRows); ++r)
      if (const T* row = rowBelow(band, at.h, own, own + r))
        for (int64_t part = 0; part < kParts; ++part)
          parts_[r * kParts + part] = row + pixel * band.inStep + part * kLines * step_;
  }

  // While row `r` of the tile's is read.
  HWY_INLINE void prefetch(int64_t r, int64_t c) const {
    if (r < kMostRows * kParts && parts_[r]) prefetchPart(parts_[r] + c * channelStep_);
  }
  // All at once.
  HWY_INLINE void prefetch(int64_t c) const {
    for (const T* part : parts_)
      if (part) prefetchPart(part + c * channelStep_);
  }

 private:
  static constexpr int kMostRows = 4, kVector = kLanes * sizeof(float) / sizeof(T);
  static constexpr int kLines = (kPixels + kParts - 1) / kParts;  // of a part

  // The tile has `own` rows; found from the last one above that is inside of the image.
  static const T* rowBelow(const DepthwiseBand& band, int64_t h, int64_t own, int64_t r) {
    for (int64_t steps = 0; r >= 0; r -= band.rowStride, ++steps)
      if (r < own && band.row<T>(h, r)) return band.row<T>(h, r) + steps * band.farStep;
    return nullptr;
  }

  HWY_INLINE void prefetchPart(const T* part) const {
    MAX_UNROLL for (int i = 0; i < kLines; ++i) __builtin_prefetch(part + i * step_, 0, 2);
    __asm__("" ::: "memory");  // no other loads in between: chips fetch more of what looks like a stream
  }

  const T* parts_[kMostRows * kParts];  // NULL = near, or no such row
  int64_t step_, channelStep_;
};

// The sums of one vector of channels of a tile.
template <int kWidth, int kStride, int kRows>
struct TileSums {
  static constexpr int kPixels = kTilePixels<kWidth, kStride>;
  using RowsAhead = Ahead<float, kPixels * kStride, kRows == 1 ? 1 : (kWidth + kStride) / (kRows * kStride)>;
  V of[kRows][kPixels];

  // Adds rows [begin, end) of the input, counted from the tile's first: the output's rows [kFirst, kFirst + kCount)
  // read them, each with its own row of the kernel. Each vector of the input is loaded once. kEdge: some columns may
  // lie outside the row.
  template <int kFirst, int kCount, bool kEdge, bool kFull>
  HWY_INLINE void add(const DepthwiseBand& band, const RowsAhead& ahead, Place at, int64_t begin, int64_t end,
                      int64_t c, int64_t count) {
    const D d;
    constexpr int kInputs = (kPixels - 1) * kStride + kWidth;
    const int64_t step = band.inStep, column = at.pixel * kStride - band.before;
    const auto load = [&](const float* from)
                          HWY_ATTR { return kFull ? hn::LoadU(d, from) : loadFirst(d, from, count); };
    for (int64_t r = begin; r < end; ++r) {
      const float* x = band.row<float>(at.h, r);
      ahead.prefetch(r, c);
      if (!x) continue;
      x += column * step + c;
      V taps[kCount][kWidth];
      MAX_UNROLL for (int o = 0; o < kCount; ++o) {
        const float* weights = band.weights + (r - (kFirst + o) * kStride) * band.weightsStep + c;
        MAX_UNROLL for (int w = 0; w < kWidth; ++w) taps[o][w] = load(weights + w * band.channels);
      }
      MAX_UNROLL for (int i = 0; i < kInputs; ++i, x += step) {
        if (kEdge && static_cast<uint64_t>(column + i) >= static_cast<uint64_t>(band.inWidth)) continue;
        const V in = inRegister(load(x));
        MAX_UNROLL for (int w = 0; w < kWidth; ++w) {
          const int p = (i - w) / kStride;
          if (i < w || (i - w) % kStride != 0 || p >= kPixels) continue;
          MAX_UNROLL for (int o = 0; o < kCount; ++o) of[kFirst + o][p] = hn::MulAdd(in, taps[o][w], of[kFirst + o][p]);
        }
      }
    }
  }
};

// One vector of channels of a tile; two rows are those of a square kernel. kEdge: also, some pixels may lie past the
// row's end.
template <int kWidth, int kStride, int kRows, bool kEdge, bool kFull>
HWY_INLINE void tileVector(const DepthwiseBand& band, const typename TileSums<kWidth, kStride, kRows>::RowsAhead& ahead,
                           Place at, int64_t c, int64_t count) {
  constexpr int kPixels = kTilePixels<kWidth, kStride>;
  TileSums<kWidth, kStride, kRows> sums;
  const V start = initial(band, c, count);
  MAX_UNROLL for (int o = 0; o < kRows; ++o) MAX_UNROLL for (int p = 0; p < kPixels; ++p) sums.of[o][p] = start;
  if constexpr (kRows == 1) {
    sums.template add<0, 1, kEdge, kFull>(band, ahead, at, 0, band.kernelRows, c, count);
  } else {
    sums.template add<0, 1, kEdge, kFull>(band, ahead, at, 0, kStride, c, count);
    sums.template add<0, 2, kEdge, kFull>(band, ahead, at, kStride, kWidth, c, count);
    sums.template add<1, 1, kEdge, kFull>(band, ahead, at, kWidth, kWidth + kStride, c, count);
  }
  finish<kEdge, kFull>(band, sums.of, at, c, count);
}

// For any kernel width, stride and dilation: the columns of the input that the taps of a tile's pixels read. Taps
// [firstWhole, lastWhole) are inside the row for all pixels.
template <int kPixels>
struct AnyColumns {
  int64_t first, pixelStep, tapStep, width, firstWhole, lastWhole;

  AnyColumns(const DepthwiseBand& band, int64_t pixel)
      : first(pixel * band.stride - band.before), pixelStep(band.stride), tapStep(band.dilation), width(band.inWidth) {
    const int64_t last = first + (kPixels - 1) * pixelStep, fit = width - 1 - last;
    firstWhole = std::min(first < 0 ? (-first + tapStep - 1) / tapStep : 0, band.kernelWidth);
    lastWhole = fit < 0 ? firstWhole : std::clamp(fit / tapStep + 1, firstWhole, band.kernelWidth);
  }
  bool areNeighbours() const { return pixelStep == 1 && tapStep == 1; }
  bool isInside(int64_t p, int64_t w) const {
    return static_cast<uint64_t>(first + p * pixelStep + w * tapStep) < static_cast<uint64_t>(width);
  }
};

#if HWY_TARGET <= HWY_AVX2  // the better, the smaller; others take the shorter code
// Adds three neighbouring taps of neighbouring pixels, whose columns of the input are loaded once. `in`: the first.
template <int kPixels, bool kEdge, class Load>
HWY_INLINE void addThree(const DepthwiseBand& band, const float* x, int64_t in, const float* weights, const Load& load,
                         V (&sum)[kPixels]) {
  constexpr int kTaps = 3;
  V taps[kTaps];
  MAX_UNROLL for (int w = 0; w < kTaps; ++w) taps[w] = load(weights + w * band.channels);
  MAX_UNROLL for (int i = 0; i < kPixels + kTaps - 1; ++i, x += band.inStep) {
    if (kEdge && static_cast<uint64_t>(in + i) >= static_cast<uint64_t>(band.inWidth)) continue;
    const V column = inRegister(load(x));
    MAX_UNROLL for (int w = 0; w < kTaps; ++w) if (i >= w && i - w < kPixels) sum[i - w] =
        hn::MulAdd(column, taps[w], sum[i - w]);
  }
}
#endif

// One vector of channels of a tile. kEdge: some columns may lie outside the row, some pixels past its end.
template <int kPixels, bool kEdge, bool kFull>
HWY_INLINE void anyVector(const DepthwiseBand& band, Place at, const AnyColumns<kPixels>& columns, int64_t c,
                          int64_t count) {
  const D d;
  const auto load = [&](const float* from) HWY_ATTR { return kFull ? hn::LoadU(d, from) : loadFirst(d, from, count); };
  const int64_t next = columns.pixelStep * band.inStep;
  V sum[1][kPixels];
  const V start = initial(band, c, count);
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) sum[0][p] = start;
  for (int64_t r = 0; r < band.kernelRows; ++r) {
    const float *row = band.row<float>(at.h, r), *weights = band.weights + r * band.weightsStep + c;
    if (!row) continue;
    row += columns.first * band.inStep + c;
    const auto add = [&](int64_t begin, int64_t end, auto isInside) HWY_ATTR {
      for (int64_t w = begin; w < end; ++w) {
        const V weight = load(weights + w * band.channels);
        const float* x = row + w * columns.tapStep * band.inStep;
        MAX_UNROLL for (int p = 0; p < kPixels; ++p) if (isInside(p, w)) sum[0][p] =
            hn::MulAdd(load(x + p * next), weight, sum[0][p]);
      }
    };
    const auto isInside = [&](int64_t p, int64_t w) HWY_ATTR { return columns.isInside(p, w); };
    int64_t added = 0;
#if HWY_TARGET <= HWY_AVX2
    if constexpr (kPixels == kTile)
      for (; columns.areNeighbours() && added + 3 <= band.kernelWidth; added += 3)
        addThree<kPixels, kEdge>(band, row + added * band.inStep, columns.first + added,
                                 weights + added * band.channels, load, sum[0]);
#endif
    const int64_t firstWhole = std::max(columns.firstWhole, added), lastWhole = std::max(columns.lastWhole, added);
    if (kEdge) add(added, firstWhole, isInside);
    add(firstWhole, lastWhole, [](int64_t, int64_t) HWY_ATTR { return true; });
    if (kEdge) add(lastWhole, band.kernelWidth, isInside);
  }
  finish<kEdge, kFull>(band, sum, at, c, count);
}

// Some channels of a tile. The last ones are a whole vector, some of which is computed twice; fewer channels than that
// take the way of the edges: another copy for them would be large.
template <int kWidth, int kStride, int kRows, bool kEdge>
HWY_NOINLINE void tile(const DepthwiseBand& band, Place at, int64_t first, int64_t last) {
  const typename TileSums<kWidth, kStride, kRows>::RowsAhead ahead(band, at, kRows);
  int64_t c = first;
  for (; last >= kLanes && c < last; c += kLanes) {
    c = std::min(c, last - kLanes);
    tileVector<kWidth, kStride, kRows, kEdge, true>(band, ahead, at, c, kLanes);
  }
  if (kLanes > 1 && c < last) tileVector<kWidth, kStride, kRows, true, false>(band, ahead, at, c, last - c);
}

template <int kPixels, bool kEdge>
void anyTile(const DepthwiseBand& band, Place at) {
  const Ahead<float, kPixels> ahead(band, at, 1);
  const AnyColumns<kPixels> columns(band, at.pixel);
  int64_t c = 0;
  for (; band.channels >= kLanes && c < band.channels; c += kLanes) {
    c = std::min(c, band.channels - kLanes);
    ahead.prefetch(c);
    anyVector<kPixels, kEdge, true>(band, at, columns, c, kLanes);
  }
  if (kLanes > 1 && c < band.channels) anyVector<kPixels, kEdge, false>(band, at, columns, c, band.channels - c);
}

// The output pixels of a row: those in [begin, end) have all their taps inside the input.
struct Inside {
  int64_t begin, end;
  explicit Inside(const DepthwiseBand& band) {
    begin = std::clamp<int64_t>((band.before + band.stride - 1) / band.stride, 0, band.outWidth);
    const int64_t room = band.inWidth + band.before - (band.kernelWidth - 1) * band.dilation - 1;
    end = std::clamp<int64_t>(room < 0 ? 0 : room / band.stride + 1, begin, band.outWidth);
  }
};

int64_t stepsOf(const DepthwiseBand& band, int64_t channels) {
  return band.kernelRows * band.kernelWidth * (channels / kLanes + 1);
}

// Calls runRows(first, last) for rows of the output: all together, or each before the next one.
template <class RunRows>
void inOrder(const DepthwiseBand& band, RunRows runRows) {
  if (band.isTurned) return runRows(0, band.rows);
  for (int64_t h = 0; h < band.rows; ++h) runRows(h, h + 1);
}

// Any kernel of many taps: sums have to be many, at the edges, too, since each waits for its last one.
void runManyTaps(const DepthwiseBand& band) {
  constexpr int kFew = kTile / 4;
  const Inside inside(band);
  const int64_t steps = stepsOf(band, band.channels);
  WorkCounter work;
  const auto runRows = [&](int64_t first, int64_t last) {
    for (int64_t pixel = 0, count; pixel < band.outWidth; pixel += count) {
      const bool isInside = pixel >= inside.begin && pixel + kTile <= inside.end;
      const bool isTile = isInside || band.outWidth - pixel > kTile / 2;
      count = isTile ? kTile : kFew;
      const auto run = isInside ? anyTile<kTile, false> : isTile ? anyTile<kTile, true> : anyTile<kFew, true>;
      for (int64_t h = first; h < last; ++h, work.pass((1 + count / 2) * steps)) run(band, {h, pixel});
    }
  };
  inOrder(band, runRows);
}

// The end of the pixels, from one on, of which each has the same taps inside the row.
int64_t endOfEqual(const DepthwiseBand& band, int64_t pixel) {
  const int64_t first = pixel * band.stride - band.before, dilation = band.dilation;
  const int64_t missing = first < 0 ? (-first - 1) % dilation + 1 : band.outWidth * band.stride;
  const int64_t room = band.inWidth - 1 - first, reach = (band.kernelWidth - 1) * dilation;
  const int64_t left = room < 0 ? band.outWidth * band.stride : (room <= reach ? room % dilation : room - reach) + 1;
  return std::min(pixel + ceilDiv(std::min(missing, left), band.stride), band.outWidth);
}

// Any kernel of few taps: tiles are small, which read fewer lines that share a place in the first cache, and have the
// same taps for all pixels. The last ones of a row that have them are computed twice, or alone.
void runFewTaps(const DepthwiseBand& band) {
  constexpr int kPixels = 4;
  const int64_t steps = stepsOf(band, band.channels);
  WorkCounter work;
  inOrder(band, [&](int64_t first, int64_t last) {
    for (int64_t pixel = 0, end; pixel < band.outWidth; pixel = end) {
      end = endOfEqual(band, pixel);
      const bool isTile = end - pixel >= kPixels;
      const auto run = isTile ? anyTile<kPixels, false> : anyTile<1, false>;
      for (int64_t at = pixel; at < end; at += isTile ? kPixels : 1)
        for (int64_t h = first; h < last; ++h, work.pass(3 * steps))
          run(band, {h, isTile ? std::min(at, end - kPixels) : at});
    }
  });
}

void runAny(const DepthwiseBand& band) {
  if (band.kernelRows * band.kernelWidth > kManyTaps ||
      (band.stride == 1 && band.dilation == 1 && band.kernelWidth > kManyColumns))
    runManyTaps(band);
  else
    runFewTaps(band);
}

// Calls tile.run<rows>(band, at, isEdge, first, last) for all tiles of a band. They follow each other downwards, kRows
// at once, some channels at a time: what the next one reads again is in the first cache. Single rows that read few
// others are better off in the order of memory, and so are those of an image that comes from memory: in strips that
// leave in the second cache what the next rows read again. Turned rows are so in strips of one tile.
template <int kPixels, int kRows, class Tile>
HWY_INLINE void forTiles(const DepthwiseBand& band, Tile tile) {
  const Inside inside(band);
  const bool isStrip = kRows > 1 || band.kernelRows >= kTallRows || band.isTurned;
  const int64_t pixels = isStrip ? std::max(band.stripPixels / kPixels, int64_t{1}) * kPixels : band.outWidth;
  const int64_t channels = isStrip ? band.blockChannels : band.channels;
  WorkCounter work;
  for (int64_t strip = 0; strip < band.outWidth; strip += pixels)
    for (int64_t first = 0; first < band.channels; first += channels) {
      const int64_t last = std::min(first + channels, band.channels), end = std::min(strip + pixels, band.outWidth);
      const int64_t steps = 3 * stepsOf(band, last - first);
      for (int64_t h = 0, next = 0; h < band.rows; h = next) {
        const bool isWhole = h + kRows <= band.rows;
        next = h + (isWhole ? kRows : 1);
        for (int64_t pixel = strip; pixel < end; pixel += kPixels, work.pass(kRows * steps)) {
          const bool isEdge = pixel < inside.begin || pixel + kPixels > inside.end;
          if (isWhole)
            tile.template run<kRows>(band, {h, pixel}, isEdge, first, last);
          else
            tile.template run<1>(band, {h, pixel}, isEdge, first, last);
        }
      }
    }
}

template <int kWidth, int kStride>
struct FloatTile {
  template <int kRows>
  static void run(const DepthwiseBand& band, Place at, bool isEdge, int64_t first, int64_t last) {
    if (isEdge)
      tile<kWidth, kStride, kRows, true>(band, at, first, last);
    else
      tile<kWidth, kStride, kRows, false>(band, at, first, last);
  }
};

template <int kWidth, int kStride>
void runTiles(const DepthwiseBand& band) {
  constexpr int kPixels = kTilePixels<kWidth, kStride>;
  const FloatTile<kWidth, kStride> tile;
  if (band.kernelRows == kWidth && band.rowStride == kStride)
    forTiles<kPixels, kDepthwiseRowsAtOnce>(band, tile);
  else
    forTiles<kPixels, 1>(band, tile);
}

struct Kernel {
  int64_t width, stride;
  void (*run)(const DepthwiseBand& band);
};
constexpr Kernel kKernels[] = {{3, 1, runTiles<3, 1>}, {3, 2, runTiles<3, 2>},
#if HWY_TARGET <= HWY_AVX2  // the better, the smaller; others have too few registers for wide kernels
                               {2, 1, runTiles<2, 1>}, {5, 1, runTiles<5, 1>}, {5, 2, runTiles<5, 2>},
                               {7, 1, runTiles<7, 1>}
#endif
};

void runBand(const DepthwiseBand& band) {
  for (const Kernel& kernel : kKernels)
    if (band.dilation == 1 && band.kernelWidth == kernel.width && band.stride == kernel.stride) return kernel.run(band);
  runAny(band);
}

}  // namespace

extern const DepthwiseFunction kDepthwise;
constexpr DepthwiseFunction kDepthwise = runBand;

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#include "ops/cpu/convolution/depthwise_bf16-inl.h"

#if HWY_ONCE
#include <hwy/cache_control.h>

#include "base/half.h"

namespace max {

namespace {

constexpr int64_t kMaxKernelRows = 64;
constexpr int64_t kMaxInputRows = 256;      // of a band
constexpr int64_t kWordLanes = 16;          // of a vector of words
constexpr int64_t kColumnsOfTile = 7;       // of the output
constexpr int64_t kPartsPerLane = 2;        // of a row that several lanes compute
constexpr int64_t kFewestColumns = 32;      // of such a part
constexpr int64_t kFewestApart = 3;         // columns of a row that lie a dilation apart,
constexpr int64_t kPageBytes = 4 << 10;     // in the same page as the next ones,
constexpr int64_t kNearRow = 128 << 10;     // or in a row of so many bytes
constexpr int64_t kBlockBytes = 28 << 10;   // of what a tile reads, for a first cache
constexpr int64_t kStripBytes = 256 << 10;  // of what the tiles of a strip's rows read and prefetch, for a second cache

// Of rows of bfloat16; NULL if cpuTarget() has no products of them.
DepthwiseFunction wordFunction() {
#if HWY_TARGETS & HWY_AVX3
  if (cpuTarget() >= CpuTarget::Avx512Bf16) return N_AVX3::kDepthwiseWords;
#endif
  return nullptr;
}

// Columns that lie a dilation apart are a convolution without dilation. `x`: the band's `count` rows of the input.
void runApart(DepthwiseFunction function, const DepthwiseBand& band, const void** x, int64_t count,
              int64_t pixelBytes) {
  const int64_t apart = band.dilation;
  for (int64_t column = 0; column < apart; ++column) {  // the first of the input
    const int64_t remainder = (column + band.before) % apart;
    const int64_t first = remainder < 0 ? remainder + apart : remainder, offset = first * band.outStep;
    DepthwiseBand part = band;
    part.dilation = 1;
    part.inStep *= apart;
    part.outStep *= apart;
    part.before = (column + band.before - first) / apart;
    part.inWidth = ceilDiv(std::max<int64_t>(band.inWidth - column, 0), apart);
    part.outWidth = ceilDiv(band.outWidth - first, apart);
    part.out += offset;
    if (band.residual) part.residual += offset;
    if (band.narrow) part.narrow += offset;
    function(part);
    for (int64_t i = 0; i < count; ++i)
      if (x[i]) x[i] = static_cast<const std::byte*>(x[i]) + pixelBytes;
  }
}

// Results that go past the caches.
bool isLarge(const ConvShape& shape, bool isFar) {
  const int64_t rows = shape.images * shape.channels * static_cast<int64_t>(sizeof(float));
  const int64_t written = rows * shape.pixels(), read = rows * shape.in[0] * shape.in[1] * shape.in[2];
  return written >= kStreamedBytes || (isFar && read + written >= kStreamedTraffic);
}

}  // namespace

bool isFar(const ConvShape& shape) {
  constexpr int64_t kNearElements = 256 << 10;
  return shape.images * shape.in[0] * shape.in[1] * shape.in[2] * shape.channels > kNearElements;
}

DepthwiseWeights::DepthwiseWeights(const Tensor& weights, bool hasWords)
    : channels_(weights.shape()[0]), width_(weights.shape().back()) {
  const Shape& shape = weights.shape();
  const int64_t taps = shape.product(2, shape.rank()), rows = taps / std::max<int64_t>(width_, 1);
  values_ = Tensor::allocate(DType::Float32, shape);
  auto* to = static_cast<float*>(values_->mutableData());
  for (int64_t c = 0; c < channels_; ++c)
    for (int64_t t = 0; t < taps; ++t) to[t * channels_ + c] = weights.as<float>()[c * taps + t];
  if (!hasWords) return;
  words_ = Tensor::allocate(DType::UInt32, Shape({2 * rows, checkedMultiply(width_, alignUp(channels_, kWordLanes))}));
  auto* words = static_cast<uint32_t*>(words_->mutableData());
  std::fill_n(words, words_->count(), 0u);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t w = 0; w < width_; ++w)
      for (int64_t c = 0; c < channels_; ++c) {
        const float* tap = weights.as<float>() + c * taps + r * width_ + w;
        const uint32_t above = bfloat16FromFloat(*tap);
        const uint32_t below = r + 1 < rows ? bfloat16FromFloat(tap[width_]) : 0;
        words[2 * r * words_->shape()[1] + placeOf(w, c)] = above | below << 16;
        words[(2 * r + 1) * words_->shape()[1] + placeOf(w, c)] = above;
      }
}

// Two vectors of 32 channels have four of each eight; the last channels are in order.
int64_t DepthwiseWeights::placeOf(int64_t tap, int64_t c) const {
  constexpr int64_t kPair = 2 * kWordLanes;
  if (c / kPair * kPair + kPair > channels_)
    return c / kWordLanes * kWordLanes * width_ + tap * kWordLanes + c % kWordLanes;
  const int64_t vector = c / 4 % 2, lane = c % kPair / 8 * 4 + c % 4;
  return c / kPair * kPair * width_ + (2 * tap + vector) * kWordLanes + lane;
}

DepthwiseRows::DepthwiseRows(const Node& node, const ConvShape& shape, Ref<DepthwiseWeights> weights, bool readsNarrow,
                             bool writesNarrow, bool isFar)
    : shape_(shape),
      weights_(std::move(weights)),
      readsNarrow_(readsNarrow),
      writesNarrow_(writesNarrow),
      isFar_(false),
      isLarge_(isLarge(shape, isFar)),
      activation_(fusedActivation(node)),
      roundedFunction_(activation_.function ? gemmTableFor(node).narrowFunction : nullptr),
      function_(readsNarrow ? wordFunction() : MAX_CHOOSE_TARGET(kDepthwise)),
      bandAxis_(shape.kernel[0] > 1 && shape.out[0] > 1 ? 0 : 1),
      rowsApart_(1),
      rowStride_(bandAxis_ == 0 ? shape.stride[0] * shape.kernel[1] : shape.stride[1]),
      mostRows_(1),
      stripPixels_(1),
      blockChannels_(shape.channels),
      inStep_(shape.channels),
      out_(denseSteps(shape.channels)) {
  const int64_t kernelRows = shape.taps() / shape.kernel[2];
  const bool hasFrames = shape.kernel[0] > 1;
  // Others' rows of the input are not next to each other.
  const auto axis = static_cast<size_t>(bandAxis_);
  if ((hasFrames && bandAxis_ == 1) || (shape.dilation[axis] > 1 && shape.stride[axis] > 1)) return;
  rowsApart_ = shape.dilation[axis];
  isFar_ = isFar && rowStride_ <= kernelRows;
  const int64_t fitting = std::max<int64_t>((kMaxInputRows - kernelRows) / rowStride_, 1);
  mostRows_ = std::min(fitting, kDepthwiseRowsAtOnce);
  if (activation_.function) {  // soon after the sums, while they are near; of rows without gaps between them
    if (hasFrames) mostRows_ = 1;
    return;
  }
  mostRows_ = fitting;
  const int64_t pixelBytes = checkedMultiply<int64_t>(readsNarrow ? 2 : 4, shape.channels);
  const int64_t rows = kernelRows + (kDepthwiseRowsAtOnce - 1) * rowStride_;
  if (isFar_) {
    const int64_t ahead = kDepthwiseRowsAtOnce * rowStride_;
    stripPixels_ = kStripBytes / checkedMultiply((rows + ahead) * shape.stride[2], pixelBytes);
    return;
  }
  const int64_t columns = (kColumnsOfTile - 1) * shape.stride[2] + shape.kernel[2];
  const int64_t blocks = checkedMultiply(rows * columns, pixelBytes) / kBlockBytes + 1;
  blockChannels_ = alignUp((shape.channels + blocks - 1) / blocks, 2 * kWordLanes);
}

void DepthwiseRows::setOutPitch(int64_t bytes) { out_ = denseSteps(bytes / (writesNarrow_ ? 2 : 4)); }

DepthwiseRows::OutSteps DepthwiseRows::denseSteps(int64_t pixel) const {
  const int64_t row = shape_.out[2] * pixel, frame = shape_.out[1] * row;
  return {pixel, row, frame, shape_.out[0] * frame};
}

int64_t DepthwiseRows::scratchBytes() const {
  if (!activation_.function || !writesNarrow_) return 0;
  return alignUp(checkedMultiply<int64_t>(4 * mostRows_, shape_.out[2] * shape_.channels));
}

// Neighbouring rows are better off together.
int64_t DepthwiseRows::grain(int64_t rows, int lanes) const {
  return alignUp(std::max<int64_t>(1, rows / (4 * lanes)), kDepthwiseRowsAtOnce);
}

void DepthwiseRows::keepOrder() {
  if (rowsApart_ == 1) return;
  rowsApart_ = mostRows_ = 1;
  isFar_ = false;
}

void DepthwiseRows::setTurned() {
  isTurned_ = true;
  isFar_ = false;
  stripPixels_ = 1;
  blockChannels_ = shape_.channels;
}

// A kernel over several frames reads most of what it read for the frame before: bands go along them. Rows that lie a
// dilation apart follow each other: they read the same ones.
DepthwiseRows::RowPlace DepthwiseRows::placeOf(int64_t index) const {
  const auto inner = static_cast<size_t>(bandAxis_), outer = 1 - inner;
  const int64_t side = shape_.out[inner], rest = index / side, few = side / rowsApart_, longer = side % rowsApart_;
  const int64_t inLonger = longer * (few + 1), at = index % side, then = at - inLonger;
  const int64_t first =
      at < inLonger ? at / (few + 1) + at % (few + 1) * rowsApart_ : longer + then / few + then % few * rowsApart_;
  const int64_t image = rest / shape_.out[outer], second = rest % shape_.out[outer];
  return bandAxis_ == 0 ? RowPlace{image, first, second} : RowPlace{image, second, first};
}

// The rows of the input that `rows` of a band read from the first one on. Returns how many.
int64_t DepthwiseRows::findRows(const RowPlace& at, int64_t rows, Input input, const void** x) const {
  Spatial count{shape_.kernel[0], shape_.kernel[1], 1};
  const auto axis = static_cast<size_t>(bandAxis_);
  count[axis] += (rows - 1) * shape_.stride[axis];
  for (int64_t kd = 0; kd < count[0]; ++kd)
    for (int64_t i = 0; i < count[1]; ++i) {
      const int64_t id = at.d * shape_.stride[0] - shape_.before[0] + kd * shape_.dilation[0];
      const int64_t ih = at.h * shape_.stride[1] - shape_.before[1] + i * shape_.dilation[1];
      const bool isInside = id >= 0 && id < shape_.in[0] && ih >= 0 && ih < shape_.in[1];
      *x++ = isInside ? input(at.image, id, ih) : nullptr;
    }
  return count[0] * count[1];
}

void DepthwiseRows::run(int64_t begin, int64_t end, Input input, const Operands& operands, std::byte* scratch) const {
  const int64_t side = shape_.out[static_cast<size_t>(bandAxis_)];
  for (int64_t row = begin; row < end;) {
    const RowPlace place = placeOf(row);
    const int64_t following = (side - 1 - (bandAxis_ == 0 ? place.d : place.h)) / rowsApart_ + 1;
    const int64_t rows = std::min({mostRows_, end - row, following});
    runBand(row, rows, {0, shape_.out[2]}, input, operands, scratch);
    row += rows;
    passWork(rows * shape_.taps() * shape_.out[2] * shape_.channels / 4);
  }
}

void DepthwiseRows::runAll(int lanes, Input input, const Operands& operands, std::byte* scratch) const {
  const int64_t width = shape_.out[2], rows = width > 0 ? shape_.images * shape_.out[0] * shape_.out[1] : 0;
  const int64_t wanted = rows > 0 && rows < lanes ? kPartsPerLane * lanes / rows : 1;
  const int64_t parts = std::clamp<int64_t>(width / kFewestColumns, 1, wanted);
  const auto memory = [&](int lane) { return scratch + lane * scratchBytes(); };
  if (parts == 1)
    return parallelFor(lanes, rows, grain(rows, lanes),
                       [&](int64_t begin, int64_t end, int lane) { run(begin, end, input, operands, memory(lane)); });
  parallelFor(lanes, rows * parts, 1, [&](int64_t begin, int64_t end, int lane) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t part = task % parts;
      runBand(task / parts, 1, {part * width / parts, (part + 1) * width / parts}, input, operands, memory(lane));
      passWork(shape_.taps() * width / parts * shape_.channels / 4);
    }
  });
}

int64_t DepthwiseRows::farStep() const {
  const int64_t row = shape_.in[2] * inStep_, step = bandAxis_ == 0 ? shape_.in[1] * row : row;
  return isFar_ ? rowsApart_ * shape_.stride[static_cast<size_t>(bandAxis_)] * step : 0;
}

void DepthwiseRows::runBand(int64_t index, int64_t rows, Columns columns, Input input, const Operands& operands,
                            std::byte* scratch) const {
  const int64_t width = columns.end - columns.begin;
  const RowPlace place = placeOf(index);
  const int64_t at = place.image * out_.image + place.d * out_.frame + place.h * out_.row + columns.begin * out_.pixel;
  const int64_t pixelBytes = out_.pixel * static_cast<int64_t>(sizeof(float));
  const void* x[kMaxInputRows + kMaxKernelRows];
  const int64_t inputRows = findRows(place, rows, input, x);
  auto* narrow = writesNarrow_ ? reinterpret_cast<uint16_t*>(operands.output) + at : nullptr;
  const bool isKept = writesNarrow_ && activation_.function;
  const int64_t outStep = isKept ? shape_.channels : out_.pixel;
  const int64_t nextRow = rowsApart_ * (bandAxis_ == 0 ? out_.frame : out_.row);
  const int64_t outRowStep = isKept ? width * outStep : nextRow;
  float* out = reinterpret_cast<float*>(writesNarrow_ ? scratch : operands.output) + (writesNarrow_ ? 0 : at);
  const DepthwiseBand band{x,
                           rows,
                           shape_.taps() / shape_.kernel[2],
                           rowStride_,
                           operands.weights ? operands.weights
                           : readsNarrow_   ? weights_->words()
                                            : weights_->values(),
                           readsNarrow_ ? weights_->wordsStep() : shape_.kernel[2] * shape_.channels,
                           shape_.channels,
                           stripPixels_,
                           rows > kDepthwiseRowsAtOnce ? blockChannels_ : shape_.channels,
                           inStep_,
                           outStep,
                           shape_.in[2],
                           width,
                           outRowStep,
                           shape_.kernel[2],
                           shape_.stride[2],
                           shape_.dilation[2],
                           shape_.before[2] - columns.begin * shape_.stride[2],
                           operands.bias,
                           operands.residual ? operands.residual + at : nullptr,
                           out,
                           activation_.function ? nullptr : narrow,
                           farStep(),
                           !narrow && !activation_.function && isLarge_ && canStream(out, pixelBytes, nullptr) &&
                               (outStep == shape_.channels || shape_.channels % kWordLanes == 0) &&
                               (rows == 1 || outRowStep % kWordLanes == 0),
                           isTurned_,
                           activation_.low,
                           activation_.high};
  const int64_t inBytes = inStep_ * (readsNarrow_ ? 2 : 4);
  const bool isNear = band.dilation < kPageBytes / inBytes || band.inWidth <= kNearRow / inBytes;
  if (band.stride == 1 && band.dilation > 1 && band.dilation <= width / kFewestApart && isNear)
    runApart(function_, band, x, inputRows, inBytes);
  else
    function_(band);
  if (band.isStreamed) hwy::FlushStream();
  if (!activation_.function) return;
  const int64_t joined = nextRow == width * out_.pixel ? rows : 1;  // rows that follow each other
  for (int64_t i = 0; i < rows; i += joined)
    applyFunction(out + i * outRowStep, joined * width, narrow ? narrow + i * nextRow : nullptr);
}

void DepthwiseRows::applyFunction(float* values, int64_t pixels, uint16_t* narrow) const {
  const bool isDense = out_.pixel == shape_.channels;
  const int64_t rows = isDense ? 1 : pixels, count = isDense ? pixels * shape_.channels : shape_.channels;
  const int64_t step = narrow ? count : out_.pixel;
  if (roundedFunction_) return roundedFunction_(activation_, {values, step, rows, count, narrow, out_.pixel, {}, 0});
  for (int64_t row = 0; row < rows; ++row) applyActivation(activation_, values + row * step, count);
}

bool isDepthwise(const Shape& weights, int64_t groups) {
  return groups > 1 && groups == weights[0] && weights[1] == 1 &&
         weights.product(2, weights.rank() - 1) <= kMaxKernelRows;
}

bool depthwiseTakesNarrow(const Node& node, const Shape& weights) {
  const readers::Window window = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes.back();
  const bool isKnown = window.stride == 1   ? window.size == 3 || window.size == 5 || window.size == 7
                       : window.stride == 2 ? window.size == 3 || window.size == 5
                                            : false;
  return isKnown && window.dilation == 1 && mayBeNarrow(node) && wordFunction();
}

Ref<Prepared> prepareDepthwise(const Node& node, const Tensor& weights) {
  return makeRef<DepthwiseWeights>(weights, depthwiseTakesNarrow(node, weights.shape()));
}

}  // namespace max
#endif
