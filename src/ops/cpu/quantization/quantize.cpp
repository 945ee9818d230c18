// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between float32 and integers of 8 or 16 bits, with one
// scale for all or one per index of an axis.
#include "ops/cpu/quantization/quantize.h"

#include <algorithm>

#include "graph/readers/quantization.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrain = 16384;

template <class Q>
constexpr DType kTypeOf = std::is_same_v<Q, uint8_t>    ? DType::UInt8
                          : std::is_same_v<Q, int8_t>   ? DType::Int8
                          : std::is_same_v<Q, uint16_t> ? DType::UInt16
                          : std::is_same_v<Q, int16_t>  ? DType::Int16
                                                        : DType::Int32;

// Runs of elements that share a scale: [outer, size, inner] with one scale per index of the middle axis. Blocks of the
// last axis are such runs of elements, too.
struct ScaleRuns {
  static constexpr int64_t kLeastBlock = 16;  // shorter ones are worth no call

  int64_t count, size = 1, inner;

  explicit ScaleRuns(const OpRequest& request) {
    const Shape& data = request.inputs[0].shape;
    count = inner = data.count();
    if (request.inputs[1].shape.count() == 1) return;
    const readers::Quantization reader(request.node.attributes);
    const int axis = reader.axis(data.rank());
    size = reader.block > 0 ? request.inputs[1].shape.count() : data[axis];
    inner = reader.block > 0 ? reader.block : data.product(axis + 1, data.rank());
  }

  static bool fits(const OpRequest& request) {
    const Shape &data = request.inputs[0].shape, &scales = request.inputs[1].shape;
    if (request.has(2) && !(request.inputs[2].shape == scales)) return false;
    if (scales.count() == 1 && scales.rank() < 2) return true;
    const readers::Quantization reader(request.node.attributes);
    const int axis = reader.axis(data.rank());
    if (reader.block > 0)
      return axis == data.rank() - 1 && scales.rank() == data.rank() && reader.block >= kLeastBlock &&
             scales.count() * reader.block == data.count() && scales[axis] * reader.block == data[axis];
    return scales.rank() == 1 && scales[0] == data[axis] && data.product(axis + 1, data.rank()) >= kLeastBlock;
  }

  // Calls body(begin, end, scale index) for stretches of equal scale within all elements.
  template <class Body>
  void run(const OpContext& context, Body body) const {
    context.parallelFor(count, kGrain, [&](int64_t begin, int64_t end, int) {
      int64_t run = begin / inner, index = run % size;
      while (begin < end) {
        const int64_t stop = std::min(end, ++run * inner);
        body(begin, stop, index);
        begin = stop;
        if (++index == size) index = 0;
      }
    });
  }
};

template <class Q>
class QuantizeOp final : public OpKernel {
 public:
  explicit QuantizeOp(const OpRequest& request) : table_(&quantizeTable()), runs_(request), hasZero_(request.has(2)) {}
  static bool accepts(const OpRequest& request) {
    return request.inputs[0].dtype == DType::Float32 && request.inputs[1].dtype == DType::Float32 &&
           request.outputs[0].dtype == kTypeOf<Q> && dividesInFloat(request) && ScaleRuns::fits(request);
  }
  void run(const OpContext& context) const override {
    const float* x = context.in<float>(0);
    Q* y = context.out<Q>();
    runs_.run(context, [&](int64_t begin, int64_t end, int64_t index) {
      const float scale = context.in<float>(1)[index];
      const float zero = hasZero_ ? static_cast<float>(context.in<Q>(2)[index]) : 0.f;
      table_->loops<Q>().quantize(x + begin, y + begin, end - begin, scale, zero);
    });
  }

 private:
  static bool dividesInFloat(const OpRequest& request) {
    const DType precision = readers::Quantization(request.node.attributes).precision;
    return precision == DType::Invalid || precision == DType::Float32;
  }

  const QuantizeTable* table_;
  ScaleRuns runs_;
  bool hasZero_;
};

template <class Q>
class DequantizeOp final : public OpKernel {
 public:
  explicit DequantizeOp(const OpRequest& request)
      : table_(&quantizeTable()), runs_(request), hasZero_(request.has(2)) {}
  static bool accepts(const OpRequest& request) {
    return request.inputs[0].dtype == kTypeOf<Q> && request.inputs[1].dtype == DType::Float32 &&
           request.outputs[0].dtype == DType::Float32 && ScaleRuns::fits(request);
  }
  void run(const OpContext& context) const override {
    const Q* x = context.in<Q>(0);
    float* y = context.out<float>();
    runs_.run(context, [&](int64_t begin, int64_t end, int64_t index) {
      const float scale = context.in<float>(1)[index];
      const float zero = hasZero_ ? static_cast<float>(context.in<Q>(2)[index]) : 0.f;
      if constexpr (std::is_same_v<Q, int32_t>)
        for (int64_t i = begin; i < end; ++i) y[i] = (static_cast<float>(x[i]) - zero) * scale;
      else
        table_->loops<Q>().dequantize(x + begin, y + begin, end - begin, scale, zero);
    });
  }

 private:
  const QuantizeTable* table_;
  ScaleRuns runs_;
  bool hasZero_;
};

class DynamicQuantizeOp final : public OpKernel {
 public:
  explicit DynamicQuantizeOp(const OpRequest& request)
      : table_(&quantizeTable()), count_(request.inputs[0].shape.count()), lanes_(std::max(request.lanes, 1)) {}
  static bool accepts(const OpRequest& request) {
    return request.outputs.size() == 3 && request.outputs[0].present() && request.outputs[1].present() &&
           request.outputs[2].present();
  }
  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * sizeof(Range); }
  void run(const OpContext& context) const override {
    const float* x = context.in<float>(0);
    const auto [low, high] = rangeOf(context);
    const float range = (high - low) / 255, scale = range == 0 ? 1 : range;
    const uint8_t zero = quantized<uint8_t>(0 - low, scale, 0);
    *context.out<float>(1) = scale;
    *context.out<uint8_t>(2) = zero;
    uint8_t* y = context.out<uint8_t>(0);
    context.parallelFor(count_, kGrain, [&](int64_t begin, int64_t end, int) {
      table_->loops<uint8_t>().quantize(x + begin, y + begin, end - begin, scale, zero);
    });
  }

 private:
  struct Range {
    float low = 0, high = 0;
  };

  Range rangeOf(const OpContext& context) const {
    auto* ranges = reinterpret_cast<Range*>(context.scratch);
    std::fill_n(ranges, lanes_, Range{});
    context.parallelFor(count_, kGrain, [&](int64_t begin, int64_t end, int lane) {
      table_->range(context.in<float>(0) + begin, end - begin, ranges[lane].low, ranges[lane].high);
    });
    Range all;
    for (int lane = 0; lane < lanes_; ++lane)
      all = {std::min(all.low, ranges[lane].low), std::max(all.high, ranges[lane].high)};
    return all;
  }

  const QuantizeTable* table_;
  int64_t count_;
  int lanes_;
};

template <class K>
constexpr Implementation row() {
  return {"f32", K::accepts,
          [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }};
}

constexpr Implementation kQuantize[] = {row<QuantizeOp<uint8_t>>(), row<QuantizeOp<int8_t>>(),
                                        row<QuantizeOp<uint16_t>>(), row<QuantizeOp<int16_t>>()};
constexpr Implementation kDequantize[] = {row<DequantizeOp<uint8_t>>(), row<DequantizeOp<int8_t>>(),
                                          row<DequantizeOp<uint16_t>>(), row<DequantizeOp<int16_t>>(),
                                          row<DequantizeOp<int32_t>>()};
constexpr Implementation kDynamicQuantize[] = {row<DynamicQuantizeOp>()};

const OpRow kRows[] = {
    {"", "QuantizeLinear", kQuantize},
    {"", "DequantizeLinear", kDequantize},
    {"", "DynamicQuantizeLinear", kDynamicQuantize},
};

}  // namespace

std::span<const OpRow> quantizeOps() { return kRows; }

}  // namespace max
