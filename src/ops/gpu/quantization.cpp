// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear, DynamicQuantizeLinear, max.MapBytes. Rounding is that of the CPU, so that
// integers are the same.
#include "graph/readers/quantization.h"

#include <algorithm>

#include "base/error.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// Which of the scales an element has: there is one for all, one for each index of an axis, or one for each block.
constexpr const char* kScales = R"(
struct Layout {
  long long count, inner, size, blocks, block, isBlocked;
};
static inline __device__ long long scaleOf(const Layout& layout, long long i) {
  const long long at = i / layout.inner % layout.size / layout.block;
  return layout.isBlocked ? (i / (layout.inner * layout.size) * layout.blocks + at) * layout.inner + i % layout.inner : at;
}
)";

struct ScaleLayout {
  int64_t count, inner = 1, size = 1, blocks = 1, block = 1, isBlocked = 0;

  explicit ScaleLayout(const OpRequest& request) : count(request.inputs[0].shape.count()) {
    const Shape &data = request.inputs[0].shape, &scales = request.inputs[1].shape;
    if (request.has(2))
      require(request.inputs[2].shape.count() == scales.count(), MAX_STATUS_INVALID_ARGUMENT,
              request.node.description(), ": zero points ", request.inputs[2].shape, " for scales ", scales);
    if (scales.count() == 1) return;
    const readers::Quantization reader(request.node.attributes);
    const int axis = reader.axis(data.rank());
    inner = data.product(axis + 1, data.rank());
    size = data[axis];
    isBlocked = reader.block > 0 && scales.rank() == data.rank();
    if (isBlocked) {
      block = reader.block;
      blocks = scales[axis];
    }
    require(isBlocked ? blocks == size / block + (size % block != 0) : scales.count() == size,
            MAX_STATUS_INVALID_ARGUMENT, request.node.description(), ": scales ", scales, " do not fit axis ", axis,
            " of ", data);
  }
};

std::unique_ptr<OpKernel> createScaled(const Placed& placed, const OpRequest& request) {
  const ScaleLayout layout(request);
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverElements(layout.count);
  return op;
}

// The division rounds as its type does. NaN becomes the lower end.
constexpr const char* kQuantize = R"(
extern "C" __global__ void gpu_quantize(const Layout layout, const Element* x, const Scale* scales ZEROS, Result* out) {
  EACH(i, layout.count) {
    const long long at = scaleOf(layout, i);
    const double value = rint((double)DIVIDED(x[i], scales[at])) + (double)ZERO;
    out[i] = (Result)(value > LEAST ? value < MOST ? value : MOST : LEAST);
  }
}
)";

std::string divisionSource(DType precision) {
  const KernelType type = kernelType(precision);
  return concat("typedef ", type.element, " Precise;\ntypedef ", type.accumulator,
                " Wide;\n#define DIVIDED(a, b) (Wide)(Precise)((Wide)(Precise)(Wide)(a) / (Wide)(Precise)(Wide)(b))\n");
}

Ref<Placed> placeQuantize(const Node& node) {
  const DType x = node.input(0)->type.dtype, scale = node.input(1)->type.dtype, y = node.output(0)->type.dtype;
  const readers::Quantization reader(node.attributes);
  const DType precision = reader.precision != DType::Invalid ? reader.precision : scale;
  if (!kernelType(x).element || !kernelType(scale).element || !kernelType(y).element || isFloat(y) ||
      !isFloat(precision) || !kernelType(precision).element)
    return nullptr;
  const int64_t all = int64_t{1} << bitsOf(y), least = isSigned(y) ? -all / 2 : 0;
  const bool hasZeros = node.input(2);
  return placedAs(concat(typesSource(x), "typedef ", kernelType(scale).element, " Scale;\ntypedef ",
                         kernelType(y).element, " Result;\n", divisionSource(precision), "#define LEAST ", least,
                         ".0\n#define MOST ", least + all - 1, ".0\n", kScales,
                         filledIn(kQuantize, {{"ZEROS", hasZeros ? ", const Result* zeros" : ""},
                                              {"ZERO", hasZeros ? "zeros[at]" : "0"}})),
                  {"gpu_quantize"}, createScaled);
}

// Numbers of fewer than 8 bits lie in bytes, the first one in the low bits.
constexpr const char* kDequantize = R"(
static inline __device__ long long numberAt(const Code* x, long long i) {
#if BITS < 8
  const int code = x[i * BITS / 8] >> (i * BITS % 8) & ((1 << BITS) - 1);
  return IS_SIGNED && code >> (BITS - 1) ? code - (1 << BITS) : code;
#else
  return x[i];
#endif
}

extern "C" __global__ void gpu_dequantize(const Layout layout, const Code* x, const Element* scales ZEROS, Result* out) {
  EACH(i, layout.count) {
    const long long at = scaleOf(layout, i), difference = numberAt(x, i) - ZERO;
    out[i] = (Result)((Product)difference * (Product)scales[at]);
  }
}
)";

Ref<Placed> placeDequantize(const Node& node) {
  const DType x = node.input(0)->type.dtype, scale = node.input(1)->type.dtype, y = node.output(0)->type.dtype;
  const size_t bits = bitsOf(x);
  const bool isNarrow = bits == 2 || bits == 4, hasZeros = node.input(2);
  if (!isInteger(x) || (bits < 8 && !isNarrow) || !isFloat(scale) || !isFloat(y)) return nullptr;
  const char* element = isNarrow ? "unsigned char" : kernelType(x).element;
  if (!element || !kernelType(scale).element || !kernelType(y).element) return nullptr;
  const bool isExact = bits <= 16 && scale != DType::Float64 && y != DType::Float64;
  return placedAs(concat(typesSource(scale), "typedef ", element, " Code;\ntypedef ", kernelType(y).element,
                         " Result;\ntypedef ", isExact ? "float" : "double", " Product;\n#define BITS ", bits,
                         "\n#define IS_SIGNED ", isSigned(x) ? "true" : "false", "\n", kScales,
                         filledIn(kDequantize, {{"ZEROS", hasZeros ? ", const Code* zeros" : ""},
                                                {"ZERO", hasZeros ? "numberAt(zeros, at)" : "0"}})),
                  {"gpu_dequantize"}, createScaled);
}

// The ends of the numbers and zero: parts[0] has those of all, after it come those of the parts that blocks go through.
constexpr const char* kDynamic = R"(
struct Ends {
  float low, high;
};
static inline __device__ Ends joinedEnds(Ends mine, Sum* shared) {
  mine.low = joined<Smallest>(mine.low, shared);
  mine.high = joined<Largest>(mine.high, shared);
  return mine;
}
extern "C" __global__ void gpu_find_ends(const float* x, Ends* parts, long long count) {
  __shared__ Sum shared[128];
  Ends mine = {0, 0};
  EACH(i, count) {
    mine.low = x[i] < mine.low ? x[i] : mine.low;
    mine.high = x[i] > mine.high ? x[i] : mine.high;
  }
  mine = joinedEnds(mine, shared);
  if (threadIdx.x == 0) parts[1 + blockIdx.x] = mine;
}

struct Scaling {
  float scale, zero;
};
static inline __device__ Scaling scalingOf(Ends ends) {
  const float range = (ends.high - ends.low) / 255.0f, scale = range == 0 ? 1 : range, zero = rintf((0 - ends.low) / scale);
  return {scale, zero > 0 ? zero < 255 ? zero : 255 : 0};
}
extern "C" __global__ void gpu_join_ends(Ends* parts OUTPUTS, long long count) {
  __shared__ Sum shared[128];
  Ends mine = {0, 0};
  for (long long i = 1 + threadIdx.x; i <= count; i += 128) {
    mine.low = parts[i].low < mine.low ? parts[i].low : mine.low;
    mine.high = parts[i].high > mine.high ? parts[i].high : mine.high;
  }
  mine = joinedEnds(mine, shared);
  if (threadIdx.x > 0) return;
  const Scaling scaling = scalingOf(mine);
  parts[0] = mine;
  STORE
}

extern "C" __global__ void gpu_quantize_dynamically(const float* x, const Ends* ends, unsigned char* y, long long count) {
  const Scaling scaling = scalingOf(*ends);
  EACH(i, count) {
    const double value = rint((double)(x[i] / scaling.scale)) + (double)scaling.zero;
    y[i] = (unsigned char)(value > 0 ? value < 255 ? value : 255 : 0);
  }
}
)";

std::unique_ptr<OpKernel> createDynamic(const Placed& placed, const OpRequest& request) {
  constexpr int64_t kEndsBytes = 2 * sizeof(float), kMostParts = 256;
  const int64_t count = request.inputs[0].shape.count();
  const int64_t parts = std::clamp<int64_t>(count / (16 * kRowThreads), 1, kMostParts);
  auto ops = std::make_unique<SeveralOps>(placed, static_cast<size_t>((parts + 1) * kEndsBytes));
  LaunchOp& find = ops->add(0);
  find.addInput(0);
  find.addOutput(LaunchOp::kScratch);
  find.addValue(count);
  find.setGrid(parts, 1, 1, kRowThreads);
  LaunchOp& join = ops->add(1);
  join.addOutput(LaunchOp::kScratch);
  for (const size_t output : {1, 2})
    if (request.outputs[output].present()) join.addOutput(output);
  join.addValue(parts);
  join.setGrid(1, 1, 1, kRowThreads);
  if (!request.outputs[0].present() || count == 0) return ops;
  LaunchOp& quantize = ops->add(2);
  quantize.addInput(0);
  quantize.addInput(LaunchOp::kScratch);
  quantize.addOutput(0);
  quantize.addValue(count);
  quantize.coverElements(count);
  return ops;
}

Ref<Placed> placeDynamic(const Node& node) {
  const bool hasScale = node.output(1), hasZero = node.output(2);
  return placedAs(
      concat(typesSource(DType::Float32), rowSource(),
             filledIn(kDynamic,
                      {{"OUTPUTS", concat(hasScale ? ", float* scale" : "", hasZero ? ", unsigned char* zero" : "")},
                       {"STORE", concat(hasScale ? "*scale = scaling.scale;\n" : "",
                                        hasZero ? "*zero = (unsigned char)scaling.zero;\n" : "")}})),
      {"gpu_find_ends", "gpu_join_ends", "gpu_quantize_dynamically"}, createDynamic);
}

constexpr const char* kMapBytes = R"(
extern "C" __global__ void gpu_map_bytes(const Element* x, const Element* table, Element* y, long long count) {
  EACH(i, count) y[i] = table[x[i]];
}
)";

std::unique_ptr<OpKernel> createMapBytes(const Placed& placed, const OpRequest& request) {
  return elementLaunch(placed, request, request.inputs[0].shape.count());
}

Ref<Placed> placeMapBytes(const Node&) {
  return placedAs(movedSource(DType::UInt8) + kMapBytes, {"gpu_map_bytes"}, createMapBytes);
}

constexpr PlaceRow kRows[] = {{"", "QuantizeLinear", placeQuantize},
                              {"", "DequantizeLinear", placeDequantize},
                              {"", "DynamicQuantizeLinear", placeDynamic},
                              {kMaxDomain, "MapBytes", placeMapBytes}};

}  // namespace

std::span<const PlaceRow> gpuQuantization() { return kRows; }

}  // namespace max
