// SPDX-License-Identifier: Apache-2.0
// Operators that work on each line along an axis: a block for each line.
#include <algorithm>
#include <bit>

#include "base/error.h"
#include "graph/readers/normalization.h"
#include "graph/readers/reduction.h"
#include "graph/schema.h"
#include "ops/cpu/reduction/line.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

// A line's elements are `inner` apart.
constexpr const char* kFirst = R"(
static inline __device__ long long firstOf(long long line, long long size, long long inner) {
  return line / inner * size * inner + line % inner;
}
)";

// The first of the greatest elements, or the last one. NaN does not count.
constexpr const char* kExtreme = R"(
static inline __device__ bool isBetter(const Element* from, long long inner, long long i, long long j) {
  if (i < 0 || from[i * inner] != from[i * inner]) return false;
  if (j < 0) return true;
  const Element x = from[i * inner], y = from[j * inner];
  return x == y ? (TAKES_LAST ? i > j : i < j) : x SIGN y;
}
static inline __device__ long long extremeOf(const Element* from, long long size, long long inner, long long* shared) {
  long long mine = -1;
  for (long long i = threadIdx.x; i < size; i += 128)
    if (isBetter(from, inner, i, mine)) mine = i;
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half && isBetter(from, inner, shared[threadIdx.x + half], shared[threadIdx.x]))
      shared[threadIdx.x] = shared[threadIdx.x + half];
    __syncthreads();
  }
  return shared[0] < 0 ? 0 : shared[0];
}

extern "C" __global__ void gpu_arg(const Element* in, long long* out, long long lines, long long size, long long inner) {
  __shared__ long long shared[128];
  EACH_ROW(line, lines) {
    const long long best = extremeOf(in + firstOf(line, size, inner), size, inner, shared);
    if (threadIdx.x == 0) out[line] = best;
  }
}

extern "C" __global__ void gpu_hardmax(const Element* in, Element* out, long long lines, long long size, long long inner) {
  __shared__ long long shared[128];
  EACH_ROW(line, lines) {
    const long long first = firstOf(line, size, inner), best = extremeOf(in + first, size, inner, shared);
    for (long long i = threadIdx.x; i < size; i += 128) out[first + i * inner] = (Element)(i == best ? 1 : 0);
  }
}
)";

std::unique_ptr<OpKernel> lineLaunch(const Placed& placed, const OpRequest& request, int axis) {
  const Shape& shape = request.inputs[0].shape;
  const Line line(shape.rank() ? shape : Shape{1}, axis);
  return rowLaunch(placed, request, line.outer * line.inner, line.size, line.inner);
}

std::unique_ptr<OpKernel> createArg(const Placed& placed, const OpRequest& request) {
  const int axis = readers::readArgSearch(*RequestInputs(request)).axis;
  const Shape& shape = request.inputs[0].shape;
  require(Line(shape, axis).size > 0, MAX_STATUS_INVALID_ARGUMENT, request.node.description(),
          ": axis of size 0 in shape ", shape);
  return lineLaunch(placed, request, axis);
}

std::string extremeSource(DType dtype, bool isLargest, bool takesLast) {
  return concat(typesSource(dtype), kFirst,
                filledIn(kExtreme, {{"TAKES_LAST", takesLast ? "true" : "false"}, {"SIGN", isLargest ? ">" : "<"}}));
}

Ref<Placed> placeArg(const Node& node) {
  const TensorType& type = node.input(0)->type;
  if (!kernelType(type.dtype).element || !type.ranked) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  const bool takesLast = readers::readArgSearch(NodeInputs(node, types)).takesLast;
  return placedAs(extremeSource(type.dtype, node.is("ArgMax"), takesLast), {"gpu_arg"}, createArg);
}

// Of the softmax family, for which a scalar is a line, too.
std::unique_ptr<OpKernel> createAlongAxis(const Placed& placed, const OpRequest& request) {
  return lineLaunch(placed, request, readers::readAxis(request.node.attributes, -1, request.inputs[0].shape.rank()));
}

Ref<Placed> placeHardmax(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  return kernelType(dtype).element ? placedAs(extremeSource(dtype, true, false), {"gpu_hardmax"}, createAlongAxis)
                                   : nullptr;
}

// A thread takes a part of the line, twice: the second time it knows what the parts before it make.
constexpr const char* kCumulation = R"(
struct Layout {
  long long count, rank, axis, dims[16];
};

extern "C" __global__ void gpu_cumulate(const Layout layout, const Element* in AXIS, Element* out) {
  __shared__ Wrapped shared[128];
  long long axis = WHICH;
  if (axis < 0) axis += layout.rank;
  if (axis < 0 || axis >= layout.rank) axis = 0;
  const long long size = layout.dims[axis];
  long long inner = 1;
  for (long long d = axis + 1; d < layout.rank; ++d) inner *= layout.dims[d];
  const long long part = (size + 127) / 128, begin = threadIdx.x * part;
  const long long end = begin + part < size ? begin + part : size;
  EACH_ROW(line, layout.count / size) {
    const long long first = firstOf(line, size, inner);
    Wrapped sum = START;
    for (long long i = begin; i < end; ++i) sum = sum SIGN (Wrapped)in[first + PLACE * inner];
    __syncthreads();
    shared[threadIdx.x] = sum;
    __syncthreads();
    sum = START;
    for (int k = 0; k < threadIdx.x; ++k) sum = sum SIGN shared[k];
    for (long long i = begin; i < end; ++i) {
      const Wrapped next = sum SIGN (Wrapped)in[first + PLACE * inner];
      out[first + PLACE * inner] = (Element)(IS_EXCLUSIVE ? sum : next);
      sum = next;
    }
  }
}
)";

struct CumulationLayout {
  int64_t count, rank, axis, dims[kMaxRank];
};

std::unique_ptr<OpKernel> createCumulation(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const std::optional<int> axis = readers::readCumulation(*RequestInputs(request)).axis;
  CumulationLayout layout{shape.count(), shape.rank(), axis.value_or(0), {}};
  std::copy(shape.begin(), shape.end(), layout.dims);
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverRows(axis ? layout.count / shape[*axis] : layout.count);
  return op;
}

Ref<Placed> placeCumulation(const Node& node) {
  const TensorType& type = node.input(0)->type;
  if (!kernelType(type.dtype).element || !type.ranked || type.rank() == 0) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  const readers::Cumulation cumulation = readers::readCumulation(NodeInputs(node, types));
  const bool isSum = node.is("CumSum"), isKnown = isKnownToPlan(node, 1);
  return placedAs(
      concat(typesSource(type.dtype), "typedef ", isFloat(type.dtype) ? "Sum" : "unsigned long long", " Wrapped;\n",
             kFirst,
             filledIn(
                 kCumulation,
                 {{"AXIS", isKnown ? "" : concat(", const ", kernelType(node.input(1)->type.dtype).element, "* axis_")},
                  {"WHICH", isKnown ? "layout.axis" : "*axis_"},
                  {"START", isSum ? "(Wrapped)0" : "(Wrapped)1"},
                  {"SIGN", isSum ? "+" : "*"},
                  {"PLACE", cumulation.isReverse ? "(size - 1 - i)" : "i"},
                  {"IS_EXCLUSIVE", cumulation.isExclusive ? "true" : "false"}})),
      {"gpu_cumulate"}, createCumulation, isKnown ? 1 : 3);
}

// Sorts the numbers of the line's elements, as many as a power of two; those beyond the line come last. Of equal
// elements the first comes first, and NaN is greater than all numbers.
constexpr const char* kSort = R"(
static inline __device__ bool comesBefore(const Element* from, long long size, long long inner, long long a, long long b) {
  if (a >= size || b >= size) return a < b;
  const Element x = from[a * inner], y = from[b * inner];
  const bool xIsNan = x != x, yIsNan = y != y;
  if (xIsNan || yIsNan) return xIsNan != yIsNan ? xIsNan == TAKES_LARGEST : a < b;
  return x == y ? a < b : TAKES_LARGEST ? x > y : x < y;
}
static inline __device__ void sortLine(const Element* from, long long size, long long inner, long long* order,
                                       long long padded) {
  __syncthreads();
  for (long long i = threadIdx.x; i < padded; i += 128) order[i] = i;
  for (long long width = 2; width <= padded; width *= 2)
    for (long long distance = width / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (long long k = threadIdx.x; k < padded / 2; k += 128) {
        const long long i = k / distance * distance * 2 + k % distance, j = i + distance;
        const long long a = order[i], b = order[j];
        if (comesBefore(from, size, inner, b, a) == ((i & width) == 0)) order[i] = b, order[j] = a;
      }
    }
  __syncthreads();
}

extern "C" __global__ void gpu_top(const Element* in OUTPUTS, long long* orders, long long lines, long long size,
                                   long long inner, long long kept, long long padded) {
  long long* order = orders + blockIdx.x * padded;
  EACH_ROW(line, lines) {
    const Element* from = in + firstOf(line, size, inner);
    sortLine(from, size, inner, order, padded);
    for (long long k = threadIdx.x; k < kept; k += 128) {
      const long long to = firstOf(line, kept, inner) + k * inner;
      STORE
    }
  }
}
)";

constexpr int64_t kMostSortingBlocks = 1024;  // each with an order of its own

std::unique_ptr<OpKernel> createTop(const Placed& placed, const OpRequest& request) {
  const readers::TopK top = readers::readTopK(*RequestInputs(request));
  const Line line(request.inputs[0].shape, top.axis);
  const Operand& result = request.outputs[request.outputs[0].present() ? 0 : 1];
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(line.size, 2))));
  const int64_t lines = line.outer * line.inner, blocks = std::min(lines, kMostSortingBlocks);
  auto op = launchOf(placed, request, lines, line.size, line.inner, result.shape[top.axis], padded);
  op->useScratch(static_cast<size_t>(blocks * padded) * sizeof(int64_t));
  op->setGrid(blocks, 1, 1, kRowThreads);
  return op;
}

Ref<Placed> placeTop(const Node& node) {
  const TensorType& type = node.input(0)->type;
  if (!kernelType(type.dtype).element || !type.ranked || type.rank() == 0) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  const bool takesLargest = readers::readTopK(NodeInputs(node, types)).takesLargest;
  const bool hasValues = node.output(0), hasIndices = node.output(1);
  return placedAs(concat(typesSource(type.dtype), kFirst,
                         filledIn(kSort, {{"OUTPUTS", concat(hasValues ? ", Element* values" : "",
                                                             hasIndices ? ", long long* indices" : "")},
                                          {"STORE", concat(hasValues ? "values[to] = from[order[k] * inner];\n" : "",
                                                           hasIndices ? "indices[to] = order[k];\n" : "")},
                                          {"TAKES_LARGEST", takesLargest ? "true" : "false"}})),
                  {"gpu_top"}, createTop, 1);
}

constexpr const char* kLpNorm = R"(
extern "C" __global__ void gpu_lp_norm(const Element* in, Element* out, long long lines, long long size, long long inner) {
  __shared__ Sum shared[128];
  EACH_ROW(line, lines) {
    const long long first = firstOf(line, size, inner);
    Sum sum = 0;
    for (long long i = threadIdx.x; i < size; i += 128) {
      const Sum x = (Sum)in[first + i * inner];
      sum += IS_FIRST ? fabs(x) : x * x;
    }
    sum = joined<Total>(sum, shared);
    const Sum norm = IS_FIRST ? sum : sqrt(sum);
    for (long long i = threadIdx.x; i < size; i += 128)
      out[first + i * inner] = (Element)(norm == (Sum)0 ? (Sum)0 : (Sum)in[first + i * inner] / norm);
  }
}
)";

Ref<Placed> placeLpNorm(const Node& node) {
  const TensorType& type = node.input(0)->type;
  if (!isFloat(type.dtype) || !kernelType(type.dtype).element || !type.ranked) return nullptr;
  const bool isFirst = readers::LpNorm(node.attributes, type.rank()).p == 1;
  return placedAs(concat(typesSource(type.dtype), rowSource(), kFirst,
                         filledIn(kLpNorm, {{"IS_FIRST", isFirst ? "true" : "false"}})),
                  {"gpu_lp_norm"}, createAlongAxis);
}

constexpr PlaceRow kRows[] = {{"", "ArgMax", placeArg},
                              {"", "ArgMin", placeArg},
                              {"", "Hardmax", placeHardmax},
                              {"", "CumSum", placeCumulation},
                              {"", "CumProd", placeCumulation},
                              {"", "TopK", placeTop},
                              {"", "LpNormalization", placeLpNorm}};

}  // namespace

std::span<const PlaceRow> gpuLines() { return kRows; }

}  // namespace max
