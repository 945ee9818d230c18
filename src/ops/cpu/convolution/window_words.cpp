// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/window_words.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/gemm_int.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))
#define MAX_GATHERS_WORDS true
// GCC 12 takes the undefined operands of these intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#else
#define MAX_GATHERS_WORDS false
#endif

namespace max {

namespace {

constexpr int64_t kVector = 64;     // bytes that are gathered at once
constexpr int64_t kMostRows = 128;  // of a window
constexpr int64_t kMostFilterBytes = 64 << 10;
constexpr int64_t kKeptBytes = 32 << 10;  // of a lane's rows of the input, which stay in the first cache
constexpr int64_t kFewestInSegment = 64;  // pixels
constexpr int64_t kSegmentsPerLane = 4;

// Bytes of several rows, 64 at a time: those that the masks of each say, and zeros.
struct GatheredRow {
  const std::byte* from;
  const uint64_t* masks;  // one for each phase
};

#if MAX_GATHERS_WORDS
__attribute__((target("avx512f,avx512bw"))) void gather(const GatheredRow* rows, int64_t count, int64_t first,
                                                        int64_t last, int64_t step, std::byte* to) {
  const auto narrow = static_cast<uint32_t>(step);
  const int64_t turn = kVector % narrow;
  int64_t phase = static_cast<uint32_t>(first * kVector) % narrow;
  for (int64_t at = first * kVector; at < last * kVector; at += kVector) {
    __m512i bytes = _mm512_maskz_loadu_epi8(rows[0].masks[phase], rows[0].from + at);
    for (int64_t i = 1; i < count; ++i) bytes = _mm512_mask_loadu_epi8(bytes, rows[i].masks[phase], rows[i].from + at);
    _mm512_storeu_si512(to + at, bytes);
    phase += turn;
    if (phase >= step) phase -= step;
  }
}
#else
void gather(const GatheredRow*, int64_t, int64_t, int64_t, int64_t, std::byte*) {}
#endif

void copyFlipped(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  if (flip == 0) return static_cast<void>(std::memcpy(to, from, static_cast<size_t>(count)));
  constexpr int64_t kAtOnce = 8;
  int64_t i = 0;
  for (uint64_t bytes; i + kAtOnce <= count; i += kAtOnce) {
    std::memcpy(&bytes, from + i, kAtOnce);
    bytes ^= flip * uint64_t{0x0101010101010101};
    std::memcpy(to + i, &bytes, kAtOnce);
  }
  for (; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
}

}  // namespace

WindowOrder::WindowOrder(int64_t rows, int64_t width, int64_t step, int64_t wordElements)
    : rows_(rows),
      width_(width),
      wordElements_(wordElements),
      rowWords_(width / wordElements),
      rest_(width % wordElements) {
  if (rest_ == 0) return;
  places_ = std::min(wordElements, step);
  gathered_ = ceilDiv(rows * rest_, places_);
  if (gathered_ < rows && step * 4 / wordElements <= kVector) return;
  ++rowWords_;
  rest_ = gathered_ = 0;
}

WindowOrder WindowOrder::of(const Attributes& attributes, const Shape& weights, int64_t wordElements) {
  const readers::Window last = readers::readWindows(attributes, weights.dims().subspan(2)).axes.back();
  const int64_t channels = weights[1];
  return {weights.product(2, weights.rank() - 1), last.size * channels, last.stride * channels, wordElements};
}

int64_t WindowOrder::element(int64_t word, int64_t place) const {
  if (word < rows_ * rowWords_) {
    const int64_t at = word % rowWords_ * wordElements_ + place;
    return at < width_ ? word / rowWords_ * width_ + at : -1;
  }
  const int64_t number = (word - rows_ * rowWords_) * places_ + place;
  if (place >= places_ || number >= rows_ * rest_) return -1;
  return number / rest_ * width_ + rowWords_ * wordElements_ + number % rest_;
}

bool hasWindowWords(const Attributes& attributes, const Shape& weights, int64_t wordElements) {
  const int last = weights.rank() - 1;
  if (!MAX_GATHERS_WORDS || last < 2 || weights.product(2, last) > kMostRows) return false;
  if (weights.product(2, last + 1) == 1 || readers::readGroups(attributes) != 1) return false;
  const readers::Windows windows = readers::readWindows(attributes, weights.dims().subspan(2));
  const bool isDense = std::all_of(windows.axes.begin(), windows.axes.end(),
                                   [](const readers::Window& window) { return window.dilation == 1; });
  if (!isDense || weights.product(1, last + 1) > kMostFilterBytes) return false;
  return 4 * WindowOrder::of(attributes, weights, wordElements).words() * weights[0] <= kMostFilterBytes;
}

WindowWords::WindowWords(const ConvShape& shape, const WindowOrder& order)
    : shape_(shape),
      elementBytes_(4 / order.wordElements()),
      words_(order.words()),
      rowWords_(order.rowWords()),
      gathered_(order.gathered()),
      stepBytes_(checkedMultiply(shape.stride[2], shape.channels * elementBytes_)),
      advance_(std::min(shape.stride[1], shape.kernel[1])),
      ring_(shape.kernel[1] + advance_) {
  const int64_t rows = shape.kernel[0] * ring_;
  const int64_t longest = checkedMultiply(rows, checkedMultiply(shape.out[2], stepBytes_));
  fewestSegments_ =
      std::clamp<int64_t>(ceilDiv(longest, kKeptBytes), 1, std::max<int64_t>(shape.out[2] / kFewestInSegment, 1));
  mostPixels_ = std::max(ceilDiv(shape.out[2], fewestSegments_), kFewestPixels);
  planeBytes_ = alignUp(checkedMultiply(mostPixels_, stepBytes_));
  rowBytes_ = checkedAdd(planeBytes_, alignUp(shape.kernel[2] * shape.channels * elementBytes_) + kVector);
  planesAt_ = checkedAdd(kFront, checkedMultiply(rows, rowBytes_));
  offsetsAt_ = checkedAdd(planesAt_, checkedMultiply(2 * gathered_, planeBytes_) + kVector);
  pixelsAt_ = checkedAdd(offsetsAt_, alignUp(checkedMultiply<int64_t>(2 * sizeof(int32_t), words_)));
  scratchBytes_ = checkedAdd(pixelsAt_, alignUp(checkedMultiply<int64_t>(sizeof(std::byte*), mostPixels_)));
  require(scratchBytes_ < INT32_MAX, MAX_STATUS_UNIMPLEMENTED, "the windows of a convolution are too long");
  addPieces(order);
}

void WindowWords::addPieces(const WindowOrder& order) {
  const int64_t width = shape_.kernel[2] * shape_.channels, wordElements = order.wordElements();
  for (int64_t word = words_ - gathered_; word < words_; ++word) {
    std::vector<Piece>& pieces = pieces_.emplace_back();
    for (int64_t place = 0, end; place < wordElements; place = end) {
      const int64_t element = order.element(word, place);
      end = place + 1;
      if (element < 0) continue;
      while (end < wordElements && order.element(word, end) == element + end - place && (element + end - place) % width)
        ++end;
      const size_t masks = masks_.size();
      for (int64_t phase = 0; phase < stepBytes_; ++phase) {
        uint64_t mask = 0;
        for (int64_t i = 0; i < kVector; ++i) {
          const int64_t at = (phase + i) % stepBytes_;
          if (at >= place * elementBytes_ && at < end * elementBytes_) mask |= uint64_t{1} << i;
        }
        masks_.push_back(mask);
      }
      const int64_t row = element / width;
      pieces.push_back(
          {row / shape_.kernel[1], row % shape_.kernel[1], (element % width - place) * elementBytes_, masks});
    }
  }
}

void WindowWords::forEach(const OpContext& context, const Source& source, int64_t laneBytes, int64_t stepsPerRow,
                          FunctionRef<void(const Row&, Lane&, std::byte*)> body) const {
  const int64_t rows = shape_.out[2] > 0 ? shape_.images * shape_.out[0] * shape_.out[1] : 0;
  const int lanes = rows * stepsPerRow < 50'000 ? 1 : context.lanes;
  const int64_t wanted = lanes > 1 && rows > 0 ? ceilDiv(lanes * kSegmentsPerLane, rows) : 1;
  const int64_t segments =
      std::max(fewestSegments_, std::clamp<int64_t>(wanted, 1, std::max<int64_t>(shape_.out[2] / kFewestInSegment, 1)));
  const int64_t tasks = rows * segments, grain = lanes == 1 ? tasks : tasks / (lanes * 8);
  context.parallelFor(tasks, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end, int at) {
    std::byte* memory = context.scratch + at * laneBytes;
    Lane lane(*this, source, memory, segments);
    for (int64_t task = begin; task < end; ++task) {
      body(lane.start(task, end), lane, memory);
      passWork(stepsPerRow / segments);
    }
  });
}

WindowWords::Place WindowWords::placeOf(int64_t task, int64_t segments) const {
  const int64_t strip = task / shape_.out[1], h = task % shape_.out[1], column = strip % segments;
  const int64_t begin = column * shape_.out[2] / segments, end = (column + 1) * shape_.out[2] / segments;
  return {strip, strip / segments, h, begin, end, h * advance_ % ring_};
}

void WindowWords::fillBorder(const Source& source, std::byte* to, int64_t pixels) const {
  std::memset(to, source.border, static_cast<size_t>(pixels * shape_.channels * elementBytes_));
}

// Pixels [first, last) of those that a strip reads of a row.
void WindowWords::copyPart(const Source& source, const Place& place, int64_t tap, int64_t row, int64_t first,
                           int64_t last, std::byte* to) const {
  const int64_t pixelBytes = shape_.channels * elementBytes_;
  const int64_t d = place.slice % shape_.out[0] * shape_.stride[0] - shape_.before[0] + tap, h = row - shape_.before[1];
  to += first * pixelBytes;
  if (d < 0 || d >= shape_.in[0] || h < 0 || h >= shape_.in[1]) return fillBorder(source, to, last - first);
  const int64_t column = place.begin * shape_.stride[2] - shape_.before[2] + first;
  const int64_t before = std::clamp<int64_t>(-column, 0, last - first);
  const int64_t inside =
      std::clamp<int64_t>(shape_.in[2] - std::max<int64_t>(column, 0), 0, last - first - before) * shape_.channels;
  fillBorder(source, to, before);
  to += before * pixelBytes;
  const int64_t line = (place.slice / shape_.out[0] * shape_.in[0] + d) * shape_.in[1] + h;
  const int64_t from = (line * shape_.in[2] + column + before) * shape_.channels;
  if (inside > 0 && elementBytes_ == 1)
    copyFlipped(static_cast<const uint8_t*>(source.x) + from, inside, source.flip, reinterpret_cast<uint8_t*>(to));
  else if (inside > 0 && source.isNarrow)
    std::memcpy(to, static_cast<const uint16_t*>(source.x) + from, static_cast<size_t>(inside) * sizeof(uint16_t));
  else if (inside > 0)
    bfloat16VectorTable()->narrow(static_cast<const float*>(source.x) + from, inside, reinterpret_cast<uint16_t*>(to));
  fillBorder(source, to + inside * elementBytes_, last - first - before - inside / shape_.channels);
}

// Vectors [first, last) of the gathered words of all pixels.
void WindowWords::gatherPart(const std::byte* memory, const Place& place, int64_t first, int64_t last,
                             std::byte* to) const {
  for (const std::vector<Piece>& pieces : pieces_) {
    GatheredRow rows[4];
    int64_t count = 0;
    for (const Piece& piece : pieces)
      rows[count++] = {memory + rowAt(place, piece.slice, piece.row) + piece.offset, masks_.data() + piece.masks};
    gather(rows, count, first, last, stepBytes_, to);
    to += planeBytes_;
  }
}

WindowWords::Lane::Lane(const WindowWords& words, const Source& source, std::byte* memory, int64_t segments)
    : words_(words), source_(source), memory_(memory), segments_(segments) {
  auto* pixels = reinterpret_cast<const std::byte**>(memory + words.pixelsAt_);
  for (int64_t i = 0; i < words.mostPixels_; ++i) pixels[i] = memory + i * words.stepBytes_;
}

int32_t* WindowWords::Lane::offsetsOf(const Place& place) const {
  return reinterpret_cast<int32_t*>(memory_ + words_.offsetsAt_) + place.h % 2 * words_.words_;
}

WindowWords::Row WindowWords::Lane::start(int64_t task, int64_t end) {
  Place place = words_.placeOf(task, segments_);
  if (!hasNext_) {
    copied_ = place.h * words_.advance_;
    prepare(place, 0, 1);
  }
  next_ = words_.placeOf(task + 1, segments_);
  hasNext_ = task + 1 < end && next_.strip == place.strip;
  return {place.slice * words_.shape_.out[1] * words_.shape_.out[2] + place.h * words_.shape_.out[2] + place.begin,
          place.end - place.begin, reinterpret_cast<const std::byte* const*>(memory_ + words_.pixelsAt_),
          offsetsOf(place)};
}

// The rows of the input that are new come first, and then what is gathered of them.
void WindowWords::Lane::prepare(const Place& place, int64_t part, int64_t parts) {
  const ConvShape& shape = words_.shape_;
  const int64_t copies = std::max<int64_t>(parts / 2, 1), gathers = std::max<int64_t>(parts - copies, 1);
  const int64_t pixels = place.end - place.begin, begin = place.h * words_.advance_, end = begin + shape.kernel[1];
  if (part < copies) {
    const int64_t read = (pixels - 1) * shape.stride[2] + shape.kernel[2];
    for (int64_t tap = 0; tap < shape.kernel[0]; ++tap)
      for (int64_t row = std::max(copied_, begin); row < end; ++row)
        words_.copyPart(source_, place, tap, place.h * shape.stride[1] + row - begin, part * read / copies,
                        (part + 1) * read / copies, memory_ + words_.rowAt(place, tap, row - begin));
  }
  const int64_t planes = words_.planesAt_ + place.h % 2 * words_.gathered_ * words_.planeBytes_;
  if (part >= copies || parts == 1) {
    const int64_t vectors = ceilDiv(pixels * words_.stepBytes_, kVector), at = part - (parts - gathers);
    words_.gatherPart(memory_, place, at * vectors / gathers, (at + 1) * vectors / gathers, memory_ + planes);
  }
  if (part + 1 < parts) return;
  copied_ = end;
  int32_t* to = offsetsOf(place);
  for (int64_t tap = 0; tap < shape.kernel[0]; ++tap)
    for (int64_t row = 0; row < shape.kernel[1]; ++row) {
      const auto first = static_cast<int32_t>(words_.rowAt(place, tap, row) / 4);
      for (int32_t word = 0; word < words_.rowWords_; ++word) *to++ = first + word;
    }
  for (int64_t word = 0; word < words_.gathered_; ++word)
    *to++ = static_cast<int32_t>((planes + word * words_.planeBytes_) / 4);
}

}  // namespace max
