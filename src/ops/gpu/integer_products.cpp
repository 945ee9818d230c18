// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of quantised numbers, mostly a thread for each element of the result. Sums of integers are
// exact, and what follows them is rounded as on the CPU.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "graph/readers/quantization.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"

namespace max {

namespace {

// A sum becomes an 8-bit number, without the zero point.
constexpr const char* kRequantized = R"(
#include <cmath>
static inline __device__ int requantized(float sum, float factor) {
  const float x = sum * factor;
  return (int)rintf(x > -1048576.0f ? x < 1048576.0f ? x : 1048576.0f : -1048576.0f);
}
)";

// Zero points and scales: one for all, or one for each row or column.
constexpr const char* kMatrix = R"(
struct Layout {
  long long count, rows, columns, depth;
  long long rank, dims[16], aBatch[16], bBatch[16];
  long long aZeros, bZeros, aScales, bScales;  // how many there are
};

extern "C" __global__ void gpu_integer_matmul(const Layout layout PARAMETERS) {
  EACH(i, layout.count) {
    const long long column = i % layout.columns, row = i / layout.columns % layout.rows, allRows = i / layout.columns;
    const A* left = a;
    const B* right = b;
    for (long long d = layout.rank - 1, rest = allRows / layout.rows; d >= 0; rest /= layout.dims[d--]) {
      left += rest % layout.dims[d] * layout.aBatch[d];
      right += rest % layout.dims[d] * layout.bBatch[d];
    }
    const int aZero = A_ZERO, bZero = B_ZERO;
    left += row * layout.depth;
    right += column;
    unsigned sum = 0;  // wraps
    for (long long k = 0; k < layout.depth; ++k)
      sum += (unsigned)(((int)left[k] - aZero) * ((int)right[k * layout.columns] - bZero));
    FINISH
  }
}
)";

struct MatrixLayout {
  int64_t count = 0, rows = 1, columns = 1, depth = 1;
  int64_t rank = 0, dims[kMaxRank] = {}, aBatch[kMaxRank] = {}, bBatch[kMaxRank] = {};
  int64_t aZeros = 1, bZeros = 1, aScales = 1, bScales = 1;
};

// Operands, by their numbers in the node; SIZE_MAX = none.
struct MatrixOperands {
  size_t b, aZero, bZero, aScale, bScale;

  static MatrixOperands of(const Node& node) {
    if (node.op() == "QLinearMatMul") return {3, 2, 5, 1, 4};
    return {1, 2, 3, SIZE_MAX, node.domain() == kMaxDomain ? size_t{4} : SIZE_MAX};
  }
};

int64_t countOf(const OpRequest& request, size_t input) {
  return request.has(input) ? std::max<int64_t>(request.inputs[input].shape.count(), 1) : 1;
}

std::unique_ptr<OpKernel> createMatrix(const Placed& placed, const OpRequest& request) {
  const MatrixOperands operands = MatrixOperands::of(request.node);
  Shape a = request.inputs[0].shape, b = request.inputs[operands.b].shape;
  if (a.rank() == 1) a.insert(0, 1);
  if (b.rank() == 1) b.insert(1, 1);
  MatrixLayout layout;
  layout.count = request.outputs[0].shape.count();
  layout.rows = a[a.rank() - 2];
  layout.depth = a.back();
  layout.columns = b.back();
  layout.rank = std::max(a.rank(), b.rank()) - 2;
  const Shape aStrides = contiguousStrides(a), bStrides = contiguousStrides(b);
  for (int d = 0; d < layout.rank; ++d) {
    const int inA = d - static_cast<int>(layout.rank) + a.rank() - 2, inB = inA - a.rank() + b.rank();
    const int64_t aSize = inA < 0 ? 1 : a[inA], bSize = inB < 0 ? 1 : b[inB];
    layout.dims[d] = aSize == 1 ? bSize : aSize;
    layout.aBatch[d] = aSize == 1 ? 0 : aStrides[inA];
    layout.bBatch[d] = bSize == 1 ? 0 : bStrides[inB];
  }
  layout.aZeros = countOf(request, operands.aZero);
  layout.bZeros = countOf(request, operands.bZero);
  layout.aScales = countOf(request, operands.aScale);
  layout.bScales = countOf(request, operands.bScale);
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverElements(layout.count);
  return op;
}

// ", const T* name" for each input that the node has.
std::string parametersOf(const Node& node, std::initializer_list<const char*> names) {
  std::string text;
  size_t input = 0;
  for (const char* name : names) {
    if (const Value* value = node.input(input++))
      text += concat(", const ", kernelType(value->type.dtype).element, "* ", name);
  }
  return text;
}

bool haveTypes(const Node& node) {
  return std::ranges::all_of(node.inputs, [](const Value* value) {
    return !value || (kernelType(value->type.dtype).element && value->type.dtype != DType::Float64);
  });
}

std::string matrixSource(const Node& node, const std::string& parameters, const std::string& finish) {
  const MatrixOperands operands = MatrixOperands::of(node);
  return concat(kRequantized, typesSource(DType::Float32), "typedef ", kernelType(node.input(0)->type.dtype).element,
                " A;\ntypedef ", kernelType(node.input(operands.b)->type.dtype).element, " B;\n",
                filledIn(kMatrix, {{"PARAMETERS", parameters},
                                   {"A_ZERO", node.input(operands.aZero) ? "aZero_[allRows % layout.aZeros]" : "0"},
                                   {"B_ZERO", node.input(operands.bZero) ? "bZero_[column % layout.bZeros]" : "0"},
                                   {"FINISH", finish}}));
}

Ref<Placed> placeMatMulInteger(const Node& node) {
  const bool isScaled = node.domain() == kMaxDomain;
  std::string finish = "y[i] = (int)sum;";
  if (isScaled) {
    finish = "y[i] = __fmul_rn((float)(int)sum, factors[i % layout.bScales])";
    finish += node.input(5) ? " + addends[column];" : ";";
  }
  return placedAs(matrixSource(node,
                               parametersOf(node, {"a", "b", "aZero_", "bZero_", "factors", "addends"}) +
                                   (isScaled ? ", float* y" : ", int* y"),
                               finish),
                  {"gpu_integer_matmul"}, createMatrix);
}

Ref<Placed> placeQLinearMatMul(const Node& node) {
  const DType y = node.output(0)->type.dtype;
  if (!haveTypes(node) || isFloat(node.input(0)->type.dtype) || isFloat(node.input(3)->type.dtype) || isFloat(y))
    return nullptr;
  const int least = isSigned(y) ? -128 : 0;
  const std::string finish = concat(
      "const float factor = (float)aScale[allRows % layout.aScales] * (float)bScale[column % layout.bScales] / "
      "(float)yScale[0];\n    const int value = requantized((float)(int)sum, factor) + yZero[0];\n    y[i] = value > ",
      least, " ? value < ", least + 255, " ? value : ", least + 255, " : ", least, ";");
  return placedAs(
      matrixSource(node,
                   concat(parametersOf(node, {"a", "aScale", "aZero_", "b", "bScale", "bZero_", "yScale", "yZero"}),
                          ", ", kernelType(y).element, "* y"),
                   finish),
      {"gpu_integer_matmul"}, createMatrix);
}

// Pads add nothing.
constexpr const char* kConvolution = R"(
struct Layout {
  Windows windows;
  long long filters, channels, groups, wZeros, wScales;  // channels of a group
};

extern "C" __global__ void gpu_integer_conv(const Layout layout PARAMETERS) {
  const Windows& windows = layout.windows;
  const int xZero = X_ZERO;
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, layout.filters);
    const long long filter = place.channel, group = filter / (layout.filters / layout.groups);
    const X* from = x + place.image * windows.xBatch + group * layout.channels * windows.xChannel;
    const W* with = w + filter * layout.channels * windows.taps;
    const int wZero = W_ZERO;
    unsigned sum = 0;  // wraps
    for (long long k = 0; k < windows.taps; ++k) {
      const Tap tap = tapOf(windows, place, k);
      if (!tap.isInside) continue;
      for (long long c = 0; c < layout.channels; ++c)
        sum += (unsigned)(((int)from[tap.pixel * windows.xPixel + c * windows.xChannel] - xZero) *
                          ((int)with[c * windows.taps + k] - wZero));
    }
    FINISH
  }
}
)";

struct ConvolutionLayout {
  WindowLayout windows;
  int64_t filters, channels, groups, wZeros, wScales;
};

bool isPlainConv(const Node& node) { return node.op() == "ConvInteger"; }

std::unique_ptr<OpKernel> createConvolution(const Placed& placed, const OpRequest& request) {
  const bool isLast = isChannelsLast(request.node), isPlain = isPlainConv(request.node);
  const Shape &x = request.inputs[0].shape, &w = request.inputs[isPlain ? 1 : 3].shape, &y = request.outputs[0].shape;
  const auto windows = readers::readWindows(request.node.attributes, w.dims().subspan(2))
                           .between(imageAxes(x, isLast), imageAxes(y, isLast));
  auto op = launchOf(placed, request);
  op->addFirst(ConvolutionLayout{windowLayout(x, y, windows, isLast), w[0], w[1],
                                 readers::readGroups(request.node.attributes), countOf(request, isPlain ? 3 : 5),
                                 countOf(request, isPlain ? SIZE_MAX : 4)});
  op->coverElements(y.count());
  return op;
}

// What follows the sum of a QLinearConv; of the compiler's, perhaps another number is added and the sum quantised
// again.
std::string finishOf(const Node& node) {
  const DType y = node.output(0)->type.dtype, middle = node.input(7)->type.dtype;
  const readers::QuantizedRange range(node.attributes, y), whole(Attributes(), middle);
  std::string text = concat(node.input(8) ? "sum += (unsigned)bias[filter];\n" : "",
                            "const float factor = *xScale * wScale[filter % layout.wScales] / *yScale;\n"
                            "int value = requantized((float)(int)sum, factor) + *yZero;\n");
  if (node.input(9) || node.input(14)) {
    const bool isResidual = node.input(9);
    text += concat("value = value > ", whole.low, " ? value < ", whole.high, " ? value : ", whole.high, " : ",
                   whole.low, ";\nconst float own = __fmul_rn((float)value - (float)*yZero, *yScale / *sumScale);\n",
                   "const float other = ",
                   isResidual ? "__fmul_rn((float)residual[i] - (float)*residualZero, *residualScale / *sumScale);\n"
                              : "addends[filter] / *sumScale;\n",
                   "value = requantized(1.0f, own + other) + *sumZero;\n");
  }
  return text + concat("y[i] = value > ", range.low, " ? value < ", range.high, " ? value : ", range.high, " : ",
                       range.low, ";");
}

Ref<Placed> placeConvolution(const Node& node) {
  const bool isPlain = isPlainConv(node);
  const Value *w = node.input(isPlain ? 1 : 3), *y = node.output(0);
  if (!haveTypes(node) || !w->type.ranked || w->type.rank() < 3 || w->type.rank() > 2 + kMostWindowAxes) return nullptr;
  const bool hasXZero = node.input(2), hasWZero = node.input(isPlain ? 3 : 5);
  std::string parameters =
      isPlain ? parametersOf(node, {"x", "w", "xZero_", "wZero_"})
              : parametersOf(node, {"x", "xScale", "xZero_", "w", "wScale", "wZero_", "yScale", "yZero", "bias",
                                    "residual", "residualScale", "residualZero", "sumScale", "sumZero", "addends"});
  parameters += concat(", ", kernelType(y->type.dtype).element, "* y");
  return placedAs(
      concat(kRequantized, typesSource(DType::Float32), "typedef ", kernelType(node.input(0)->type.dtype).element,
             " X;\ntypedef ", kernelType(w->type.dtype).element, " W;\n", windowSource(isChannelsLast(node), false),
             filledIn(kConvolution, {{"PARAMETERS", parameters},
                                     {"X_ZERO", hasXZero ? "*xZero_" : "0"},
                                     {"W_ZERO", hasWZero ? "wZero_[filter % layout.wZeros]" : "0"},
                                     {"FINISH", isPlain ? "y[i] = (int)sum;" : finishOf(node)}})),
      {"gpu_integer_conv"}, createConvolution);
}

// Weights of 2, 4 or 8 bits, in blocks along the depth that share a scale and a zero point: a block of threads for a
// column and a few rows, so that each weight is unpacked once for them.
constexpr const char* kNBits = R"(
struct Layout {
  long long rows, columns, depth, block, blocks, zeroBits;
};
extern "C" __global__ void gpu_matmul_nbits(const Layout layout, const Element* a, const unsigned char* weights,
                                            const Element* scales ZEROS, Element* y) {
  __shared__ Sum shared[128];
  const long long tiles = (layout.rows + 3) / 4, blockBytes = layout.block * BITS / 8;
  EACH_ROW(task, layout.columns * tiles) {
    const long long column = task / tiles, row = task % tiles * 4;
    Sum sums[4] = {0, 0, 0, 0};
    for (long long k = threadIdx.x; k < layout.depth; k += 128) {
      const long long at = column * layout.blocks + k / layout.block, within = k % layout.block;
      const int code = weights[at * blockBytes + within * BITS / 8] >> (within * BITS % 8) & ((1 << BITS) - 1);
      const Sum weight = ((Sum)code - (Sum)(ZERO)) * (Sum)scales[at];
      for (int i = 0; i < 4; ++i)
        if (row + i < layout.rows) sums[i] += (Sum)a[(row + i) * layout.depth + k] * weight;
    }
    for (int i = 0; i < 4; ++i) {
      const Sum sum = joined<Total>(sums[i], shared);
      if (threadIdx.x == 0 && row + i < layout.rows) y[(row + i) * layout.columns + column] = (Element)sum;
    }
  }
}
)";

struct NBitsLayout {
  int64_t rows, columns, depth, block, blocks, zeroBits;
};

std::unique_ptr<OpKernel> createNBits(const Placed& placed, const OpRequest& request) {
  const readers::PackedProduct product(request.node.attributes);
  const int64_t rows = request.inputs[0].shape.count() / product.depth;
  auto op = launchOf(placed, request);
  op->addFirst(NBitsLayout{rows, product.columns, product.depth, product.block, product.blocks(),
                           (product.blocks() * product.bits + 7) / 8 * 8});
  op->coverRows(product.columns * ((rows + 3) / 4));
  return op;
}

Ref<Placed> placeNBits(const Node& node) {
  const readers::PackedProduct product(node.attributes);
  const Value* zeros = node.input(3);
  const bool isPacked = zeros && zeros->type.dtype == DType::UInt8;
  const std::string zero =
      !zeros ? std::to_string(1 << (product.bits - 1))
      : isPacked
          ? "zeros[(column * layout.zeroBits + k / layout.block * BITS) / 8] >> ((column * layout.zeroBits + k / "
            "layout.block * BITS) % 8) & ((1 << BITS) - 1)"
          : "zeros[at]";
  return placedAs(concat(typesSource(DType::Float32), rowSource(), "#define BITS ", product.bits, "\n",
                         filledIn(kNBits, {{"ZEROS", !zeros     ? ""
                                                     : isPacked ? ", const unsigned char* zeros"
                                                                : ", const Element* zeros"},
                                           {"ZERO", zero}})),
                  {"gpu_matmul_nbits"}, createNBits);
}

constexpr PlaceRow kRows[] = {
    {"", "MatMulInteger", placeMatMulInteger}, {kMaxDomain, "MatMulInteger", placeMatMulInteger},
    {"", "QLinearMatMul", placeQLinearMatMul}, {kMaxDomain, "MatMulNBits", placeNBits},
    {"", "ConvInteger", placeConvolution},     {kMaxDomain, "ConvInteger", placeConvolution},
    {"", "QLinearConv", placeConvolution},     {kMaxDomain, "QLinearConv", placeConvolution}};

}  // namespace

std::span<const PlaceRow> gpuIntegerProducts() { return kRows; }

}  // namespace max
