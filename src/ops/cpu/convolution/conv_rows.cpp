// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_rows.h"

#include <cstring>

#include "base/align.h"
#include "graph/readers/windows.h"
#include "ops/cpu/movement/transpose_tile.h"

namespace max {

namespace {

constexpr int64_t kCopyBytes = 64 << 10;  // of a row; then it is still in a cache when it is read
constexpr int64_t kFewestPixels = 64;     // of a segment
constexpr int64_t kSegmentsPerLane = 4;

}  // namespace

BorderedRows::BorderedRows(const ConvShape& shape, Elements elements, int64_t overread)
    : shape_(shape),
      rounds_(elements == Elements::RoundedFloats),
      copies_(rounds_ || shape.before[2] > 0 || shape.after[2] > 0 || overread > 0),
      inputFloats_(elements == Elements::Words ? shape.channels / 2 : shape.channels),
      fewestSegments_(1) {
  if (elements != Elements::Floats) shape_.channels /= 2;
  const int64_t pixelBytes = checkedMultiply<int64_t>(4 * shape.stride[2], shape_.channels);
  const int64_t most = std::max(kFewestPixels, kCopyBytes / std::max<int64_t>(pixelBytes, 1));
  if (copies_) fewestSegments_ = std::max<int64_t>(ceilDiv(shape.out[2], most), 1);
  const int64_t pixels = ceilDiv(shape.out[2], fewestSegments_);
  const int64_t rows = checkedMultiply(shape.kernel[0], reach(1)), width = checkedMultiply(pixels, shape.stride[2]);
  copyFloats_ = checkedMultiply(checkedAdd(width, reach(2)), shape_.channels);
  const int64_t roundedFloats = rounds_ && overread > 0 ? copyFloats_ : 0;
  if (overread > 0) {
    planeFloats_ = checkedAdd(pixels, ceilDiv(shape.kernel[2], shape.stride[2]) + overread);
    copyFloats_ = checkedMultiply(checkedMultiply(shape_.channels, shape.stride[2]), planeFloats_);
  }
  roundedAt_ = checkedMultiply(rows, copyFloats_);
  scratchBytes_ = copies_ ? alignUp(checkedMultiply<int64_t>(4, checkedAdd(roundedAt_, roundedFloats))) : 0;
}

int64_t BorderedRows::segmentsFor(int64_t rows, int lanes) const {
  const int64_t wanted = lanes > 1 && rows > 0 ? ceilDiv(lanes * kSegmentsPerLane, rows) : 1;
  return std::max(fewestSegments_, std::clamp<int64_t>(wanted, 1, std::max<int64_t>(shape_.out[2] / kFewestPixels, 1)));
}

// `count` pixels from `first` on, which may lie outside.
void BorderedRows::copyRow(const float* from, int64_t first, int64_t count, float* to) const {
  const int64_t before = std::clamp<int64_t>(-first, 0, count);
  const int64_t inside = std::clamp<int64_t>(shape_.in[2] - std::max<int64_t>(first, 0), 0, count - before);
  std::fill_n(to, before * shape_.channels, 0.f);
  to += before * shape_.channels;
  from += (first + before) * inputFloats_;
  if (inside > 0 && rounds_)
    bfloat16GemmTable()->narrow(from, inside * inputFloats_, reinterpret_cast<uint16_t*>(to));
  else if (inside > 0)
    std::memcpy(to, from, static_cast<size_t>(inside * shape_.channels) * sizeof(float));
  std::fill_n(to + inside * shape_.channels, (count - before - inside) * shape_.channels, 0.f);
}

// The same as planes: [channel][pixel % stride][pixel / stride].
void BorderedRows::copyPlanes(const float* from, int64_t first, int64_t count, float* rounded, float* to) const {
  const int64_t stride = shape_.stride[2], channels = shape_.channels, step = stride * channels;
  const int64_t start = std::clamp<int64_t>(first, 0, shape_.in[2]);
  const int64_t inside = std::clamp<int64_t>(first + count, start, shape_.in[2]) - start;
  from += start * inputFloats_;
  if (rounds_ && inside > 0) {
    bfloat16GemmTable()->narrow(from, inside * inputFloats_, reinterpret_cast<uint16_t*>(rounded));
    from = rounded;
  }
  for (int64_t phase = 0; phase < stride; ++phase, to += planeFloats_) {
    const int64_t all = ceilDiv(count - phase, stride), column = first + phase;
    const int64_t before = std::clamp<int64_t>(ceilDiv(std::max<int64_t>(-column, 0), stride), 0, all);
    const int64_t end = std::clamp<int64_t>(ceilDiv(std::max<int64_t>(shape_.in[2] - column, 0), stride), before, all);
    const float* x = from + (column + before * stride - start) * channels;
    if (step == 1)
      std::copy_n(x, end - before, to + before);
    else if (end > before)
      transposeFloats(x, step, to + before, stride * planeFloats_, end - before, channels);
    for (int64_t c = 0; c < channels; ++c) {
      float* plane = to + c * stride * planeFloats_;
      std::fill_n(plane, before, 0.f);
      std::fill(plane + end, plane + planeFloats_, 0.f);
    }
  }
}

std::vector<int64_t> BorderedRows::planeOffsets() const {
  std::vector<int64_t> offsets;
  const int64_t stride = shape_.stride[2];
  for (int64_t w = 0; w < shape_.kernel[2]; ++w)
    for (int64_t c = 0; c < shape_.channels; ++c)
      offsets.push_back((c * stride + w % stride) * planeFloats_ + w / stride);
  return offsets;
}

// The rows of one tap of the first axis. `first`: the pixel of the input where the segment begins.
void BorderedRows::addSlice(const float* x, int64_t slice, int64_t top, int64_t tap, int64_t first, Copies& copies,
                            Segment& segment) const {
  const int64_t last = std::min(top + reach(1), shape_.in[1]), held = reach(1), dilation = shape_.dilation[1];
  int64_t& next = copies.next[static_cast<size_t>(tap)];
  int64_t h = std::max<int64_t>(top, 0);
  // Those between taps are copied with them, as the next segments read them.
  for (int64_t place = h % held, beyond = (h - top) % dilation; h < last;
       ++h, place = place + 1 < held ? place + 1 : 0, beyond = beyond + 1 < dilation ? beyond + 1 : 0) {
    const int64_t number = slice * shape_.in[1] + h;
    const float* from = x + number * shape_.in[2] * inputFloats_;
    float* copy = copies.memory + (tap * held + place) * copyFloats_;
    if (copies_ && number >= next) {
      const int64_t count = (segment.pixels - 1) * shape_.stride[2] + reach(2);
      planeFloats_ > 0 ? copyPlanes(from, first, count, copies.memory + roundedAt_, copy)
                       : copyRow(from, first, count, copy);
      next = number + 1;
    }
    if (beyond > 0) continue;
    segment.x[segment.count] = copies_ ? copy : from + first * inputFloats_;
    segment.numbers[segment.count++] = tap * shape_.kernel[1] + (h - top) / dilation;
  }
}

BorderedRows::Strip BorderedRows::stripAt(int64_t index, int64_t segments) const {
  const int64_t slice = index / segments, column = index % segments, width = shape_.out[2];
  const int64_t begin = column * width / segments, end = (column + 1) * width / segments;
  const int64_t front = slice % shape_.out[0] * shape_.stride[0] - shape_.before[0];
  return {begin, end - begin, slice, slice / shape_.out[0] * shape_.in[0], front};
}

BorderedRows::Segment BorderedRows::find(const float* x, const Strip& strip, int64_t h, Copies& copies) const {
  const int64_t top = h * shape_.stride[1] - shape_.before[1];
  const int64_t first = strip.begin * shape_.stride[2] - shape_.before[2];
  Segment segment;
  segment.begin = (strip.slice * shape_.out[1] + h) * shape_.out[2] + strip.begin;
  segment.pixels = strip.pixels;
  for (int64_t tap = 0; tap < shape_.kernel[0]; ++tap) {
    const int64_t slice = strip.front + tap;
    if (slice < 0 || slice >= shape_.in[0]) continue;
    addSlice(x, strip.image + slice, top, tap, first, copies, segment);
  }
  return segment;
}

BorderedRowsOp::BorderedRowsOp(const OpRequest& request, bool hasFloats, BorderedRows::Elements elements,
                               int64_t overread)
    : shape_(request.node, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape),
      activation_(fusedActivation(request.node)),
      hasBias_(request.has(2)),
      rows_(shape_, elements, overread),
      inStep_(shape_.channels),
      outStep_(shape_.filters),
      outFloats_(checkedMultiply(shape_.out[2], shape_.filters)),
      laneBytes_(checkedAdd(rows_.scratchBytes(), hasFloats ? alignUp(checkedMultiply<int64_t>(4, outFloats_)) : 0)),
      lanes_(std::max(request.lanes, 1)) {}

void BorderedRowsOp::run(const OpContext& context) const {
  const int64_t steps = shape_.taps() * shape_.groupChannels() * outFloats_ / 8;
  rows_.forEach(context, laneBytes_, steps, [&](const BorderedRows::Segment& segment, std::byte* memory) {
    runSegment(context, segment, reinterpret_cast<float*>(memory + rows_.scratchBytes()));
  });
}

void BorderedRowsOp::setPitch(OperandPlace place, size_t bytes) {
  const auto floats = static_cast<int64_t>(bytes / sizeof(float));
  if (place.side == OperandPlace::Output) {
    outStep_ = floats;
  } else {
    inStep_ = floats;
    rows_.setInStep(floats);
  }
}

void BorderedRowsOp::applyFunction(float* pixels, int64_t count) const {
  if (outStep_ == shape_.filters) return applyActivation(activation_, pixels, count * shape_.filters);
  for (int64_t i = 0; i < count; ++i) applyActivation(activation_, pixels + i * outStep_, shape_.filters);
}

bool hasBorderedRows(const Node& node, const Shape& weights, int64_t dilatedGroups) {
  if (weights.product(2, weights.rank() - 1) > BorderedRows::kMost) return false;
  const std::vector<readers::Window> axes = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes;
  // Else segments would copy more beside their pixels than these, or more rows than a near cache holds.
  const int64_t mostFloats = kCopyBytes / 8, floats = std::max<int64_t>(checkedMultiply(weights[1], dilatedGroups), 1);
  constexpr int64_t kMostRows = 16;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].dilation == 1) continue;
    const size_t behind = axes.size() - 1 - i;
    const int64_t most = behind == 0 ? mostFloats / floats : kMostRows;
    if (dilatedGroups == 0 || behind > 1 || axes[i].size - 1 > most / axes[i].dilation) return false;
  }
  return true;
}

bool hasShortRows(const Node& node) {
  constexpr int64_t kShort = 14;
  const Value* output = node.outputs.empty() ? nullptr : node.outputs[0];
  if (!output || output->type.dims.size() < 2) return false;
  const Dim& width = output->type.dims[output->type.dims.size() - 2];
  return width.isKnown() && width.value() < kShort;
}

}  // namespace max
