// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear between float32 and bytes where neighbours have different scales: one for each
// index of an axis with few or no elements behind it, or one for each block.
#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "base/interrupt_point.h"
#include "graph/readers/quantization.h"
#include "ops/cpu/quantization/quantize.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrain = 16384;
constexpr int64_t kLeastRow = 256;   // of scales: shorter rows are repeated first
constexpr int64_t kMostBehind = 16;  // elements that share a scale, of which more are worth a call
constexpr int64_t kLeastBlock = 16;  // the longest vector

// Where elements find their scales. Units are elements, or whole blocks of the last axis.
struct ScaleRows {
  int64_t unit = 1;                         // elements that share a scale
  int64_t width = 1;                        // units of a row, which has as many scales
  int64_t size = 1, block = 1, blocks = 0;  // of an axis of rows: every `block` of its `size` rows have the same scales
  int64_t repeated = 1, times = 1;          // scales become a row of this many of each, so many times

  explicit ScaleRows(const OpRequest& request) {
    const Shape& data = request.inputs[0].shape;
    const readers::Quantization reader(request.node.attributes);
    const int axis = reader.axis(data.rank());
    const int64_t behind = data.product(axis + 1, data.rank());
    if (reader.block == 0) {
      width = data[axis] * behind;
      repeated = behind;
      times = std::max<int64_t>(1, std::min(kLeastRow, data.count()) / width);
      width *= times;
    } else if (axis == data.rank() - 1) {
      unit = reader.block;
      width = request.inputs[1].shape.count();
    } else {
      width = behind;
      size = data[axis];
      block = reader.block;
      blocks = size / block;
    }
  }

  static bool fits(const OpRequest& request) {
    const Shape &data = request.inputs[0].shape, &scales = request.inputs[1].shape;
    if (data.count() == 0 || scales.count() < 2) return false;
    if (request.has(2) && !(request.inputs[2].shape == scales)) return false;
    const readers::Quantization reader(request.node.attributes);
    const int axis = reader.axis(data.rank());
    const int64_t behind = data.product(axis + 1, data.rank());
    if (reader.block == 0) return scales.rank() == 1 && scales[0] == data[axis] && behind < kMostBehind;
    Shape blocked = data;
    blocked[axis] = data[axis] / reader.block;
    const bool isPower = std::has_single_bit(static_cast<uint64_t>(reader.block));
    const bool isInVectors = axis < data.rank() - 1 ? behind >= kMostBehind : isPower && reader.block >= kLeastBlock;
    return scales == blocked && data[axis] % reader.block == 0 && isInVectors;
  }

  bool isSpread() const { return repeated > 1 || times > 1; }
  // The first scale of a row.
  int64_t scaleOf(int64_t row) const { return (row / size * blocks + row % size / block) * width; }

  template <class T>
  void spread(const T* from, T* to) const {
    const int64_t some = width / times;
    WorkCounter work;
    for (int64_t i = 0; i < some; i += repeated, work.pass(repeated)) std::fill_n(to + i, repeated, *from++);
    for (int64_t i = some; i < width; i += some) std::copy_n(to, some, to + i);
  }
};

class EachOp final : public OpKernel {
 public:
  explicit EachOp(const OpRequest& request)
      : rows_(request),
        units_(request.inputs[0].shape.count() / rows_.unit),
        xBytes_(rows_.unit * static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        yBytes_(rows_.unit * static_cast<int64_t>(sizeOf(request.outputs[0].dtype))),
        hasZero_(request.has(2)),
        flip_(isSigned(bytesOf(request)) ? 0x80 : 0),
        function_(functionOf(request)) {}

  static bool accepts(const OpRequest& request) {
    const DType precision = readers::Quantization(request.node.attributes).precision;
    return request.inputs[1].dtype == DType::Float32 && (precision == DType::Invalid || precision == DType::Float32) &&
           functionOf(request) && ScaleRows::fits(request);
  }

  size_t scratchBytes() const override {
    return rows_.isSpread() ? checkedMultiply(static_cast<size_t>(rows_.width), sizeof(float) + 1) : 0;
  }

  void run(const OpContext& context) const override {
    const EachScale scale = scales(context);
    context.parallelFor(units_, std::max<int64_t>(1, kGrain / rows_.unit), [&](int64_t begin, int64_t end, int) {
      for (int64_t stop; begin < end; begin = stop) {
        const int64_t row = begin / rows_.width, at = rows_.scaleOf(row) + begin - row * rows_.width;
        stop = std::min(end, (row + 1) * rows_.width);
        function_(context.in<std::byte>(0) + begin * xBytes_, context.out<std::byte>() + begin * yBytes_,
                  (stop - begin) * rows_.unit,
                  {scale.scales + at, scale.zeros ? scale.zeros + at : nullptr, scale.shift, flip_});
      }
    });
  }

 private:
  static bool quantizes(const OpRequest& request) { return request.inputs[0].dtype == DType::Float32; }
  static DType bytesOf(const OpRequest& request) {
    return (quantizes(request) ? request.outputs : request.inputs)[0].dtype;
  }
  // NULL if there is none for these types.
  static EachFunction functionOf(const OpRequest& request) {
    const DType bytes = bytesOf(request);
    const DType number = (quantizes(request) ? request.inputs : request.outputs)[0].dtype;
    if (number != DType::Float32 || (bytes != DType::UInt8 && bytes != DType::Int8)) return nullptr;
    return quantizes(request) ? quantizeTable().quantizeEach : quantizeTable().dequantizeEach;
  }

  // Those of all rows.
  EachScale scales(const OpContext& context) const {
    const int shift = std::countr_zero(static_cast<uint64_t>(rows_.unit));
    const EachScale given{context.in<float>(1), hasZero_ ? context.in<uint8_t>(2) : nullptr, shift, flip_};
    if (!rows_.isSpread()) return given;
    float* scales = reinterpret_cast<float*>(context.scratch);
    auto* zeros = reinterpret_cast<uint8_t*>(scales + rows_.width);
    rows_.spread(given.scales, scales);
    if (hasZero_) rows_.spread(given.zeros, zeros);
    return {scales, hasZero_ ? zeros : nullptr, shift, flip_};
  }

  ScaleRows rows_;
  int64_t units_, xBytes_, yBytes_;  // bytes of a unit
  bool hasZero_;
  uint8_t flip_;
  EachFunction function_;
};

constexpr Implementation kEach[] = {
    {"each", EachOp::accepts,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<EachOp>(request); }}};
const OpRow kRows[] = {{"", "QuantizeLinear", kEach}, {"", "DequantizeLinear", kEach}};

}  // namespace

std::span<const OpRow> eachQuantizeOps() { return kRows; }

}  // namespace max
