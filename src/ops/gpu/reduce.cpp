// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes: a block for each element of the result.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"
#include "graph/readers/normalization.h"
#include "graph/readers/reduction.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr const char* kLayout = R"(
struct Layout {
  long long results, count, keptRank, rank;
  long long keptDims[16], keptStrides[16], dims[16], strides[16];
};

static inline __device__ long long offsetOf(long long index, long long rank, const long long* dims, const long long* strides) {
  if (rank == 1) return index * strides[0];
  long long offset = 0;
  for (long long d = rank - 1; d >= 0; --d) {
    const long long whole = index / dims[d];
    offset += (index - whole * dims[d]) * strides[d];
    index = whole;
  }
  return offset;
}

)";

constexpr const char* kReduce = R"(
extern "C" __global__ void gpu_reduce(const Layout layout, const Element* in, Element* out) {
  __shared__ Sum shared[128];
  EACH_ROW(result, layout.results) {
    const Element* from = in + offsetOf(result, layout.keptRank, layout.keptDims, layout.keptStrides);
    Sum shift = 0;
    if (SHIFTS) {  // so that exponentials stay finite
      Sum most = LEAST;
      for (long long i = threadIdx.x; i < layout.count; i += 128) {
        const Sum x = (Sum)from[offsetOf(i, layout.rank, layout.dims, layout.strides)];
        most = Largest::of(most, x);
      }
      most = joined<Largest>(most, shared);
      shift = most - most == (Sum)0 ? most : (Sum)0;
    }
    Sum sum = START;
    for (long long i = threadIdx.x; i < layout.count; i += 128) {
      const Sum x = (Sum)from[offsetOf(i, layout.rank, layout.dims, layout.strides)];
      sum = Join::of(sum, (MAP));
    }
    sum = joined<Join>(sum, shared);
    if (threadIdx.x == 0) out[result] = (Element)(FINISH);
  }
}
)";

// Elements of one result lie apart, those of neighbouring results together: eight of these, 32 bytes of float32, by
// a part of the elements for each thread.
constexpr const char* kReduceAcross = R"(
template <class Combine>
static inline __device__ Sum joinedAcross(Sum mine, Sum* shared) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  for (int half = blockDim.x / 2; half >= 8; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] = Combine::of(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  __syncthreads();
  return shared[threadIdx.x % 8];
}
extern "C" __global__ void __launch_bounds__(1024)
    gpu_reduce_across(const Layout layout, const Element* in, Element* out) {
  __shared__ Sum shared[1024];
  const long long groups = (layout.results + 7) / 8, step = layout.strides[0];
  EACH_ROW(group, groups) {
    const long long result = group * 8 + threadIdx.x % 8;
    const bool isThere = result < layout.results;
    const Element* from = in + offsetOf(isThere ? result : 0, layout.keptRank, layout.keptDims, layout.keptStrides);
    const long long count = isThere ? layout.count : 0;
    Sum shift = 0;
    if (SHIFTS) {
      Sum most = LEAST;
      for (long long i = threadIdx.x / 8; i < count; i += blockDim.x / 8) most = Largest::of(most, (Sum)from[i * step]);
      most = joinedAcross<Largest>(most, shared);
      shift = most - most == (Sum)0 ? most : (Sum)0;
    }
    Sum sum = START;
#pragma unroll 8
    for (long long i = threadIdx.x / 8; i < count; i += blockDim.x / 8) {
      const Sum x = (Sum)from[i * step];
      sum = Join::of(sum, (MAP));
    }
    sum = joinedAcross<Join>(sum, shared);
    if (isThere && threadIdx.x < 8) out[result] = (Element)(FINISH);
  }
}
)";

struct ReduceLayout {
  int64_t results = 1, count = 1, keptRank = 0, rank = 0;
  int64_t keptDims[kMaxRank] = {}, keptStrides[kMaxRank] = {}, dims[kMaxRank] = {}, strides[kMaxRank] = {};

  void add(int64_t size, int64_t stride, bool isReduced) {
    (isReduced ? count : results) *= size;
    int64_t& axes = isReduced ? rank : keptRank;
    int64_t *sizes = isReduced ? dims : keptDims, *steps = isReduced ? strides : keptStrides;
    const bool joins = axes > 0 && steps[axes - 1] == stride * size;
    if (!joins) ++axes;
    sizes[axes - 1] = (joins ? sizes[axes - 1] : 1) * size;
    steps[axes - 1] = stride;
  }
};

struct ReduceRow {
  std::string_view op;
  const char *start, *join, *map, *finish;
  bool takesIntegers;
};
constexpr const char kLeast[] = "LEAST", kLargest[] = "LARGEST";
constexpr ReduceRow kRows[] = {
    {"ReduceSum", "(Sum)0", "Total", "x", "sum", true},
    {"ReduceMean", "(Sum)0", "Total", "x", "sum / (Sum)layout.count", false},
    {"ReduceProd", "(Sum)1", "Product", "x", "sum", true},
    {"ReduceMax", kLeast, "Largest", "x", "sum", true},
    {"ReduceMin", kLargest, "Smallest", "x", "sum", true},
    {"ReduceSumSquare", "(Sum)0", "Total", "x * x", "sum", true},
    {"ReduceL1", "(Sum)0", "Total", "x < (Sum)0 ? -x : x", "sum", true},
    {"ReduceL2", "(Sum)0", "Total", "x * x", "sqrt(sum)", false},
    {"ReduceLogSum", "(Sum)0", "Total", "x", "log(sum)", false},
    {"ReduceLogSumExp", "(Sum)0", "Total", "exp(x - shift)", "log(sum) + shift", false},
};

std::string sourceFor(const ReduceRow& row, DType dtype) {
  return max::concat(typesSource(dtype == DType::Bool ? DType::UInt8 : dtype), rowSource(), limitsSource(dtype),
                     "#define START ", row.start, "\ntypedef ", row.join, " Join;\n#define SHIFTS ",
                     row.op == "ReduceLogSumExp" ? "true" : "false", "\n#define MAP ", row.map, "\n#define FINISH ",
                     row.finish, "\n", kLayout, kReduce, kReduceAcross);
}

std::unique_ptr<OpKernel> createReduce(const Placed& placed, const OpRequest& request) {
  const Shape &shape = request.inputs[0].shape, strides = contiguousStrides(shape);
  const std::optional<readers::Reduction> reduction = readers::readReduction(*RequestInputs(request));
  require(reduction.has_value(), MAX_STATUS_INTERNAL, request.node.description(), ": its axes are unknown");
  ReduceLayout layout;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) layout.add(shape[i], strides[i], reduction->reduced[static_cast<size_t>(i)]);
  const bool isAcross = layout.rank == 1 && layout.strides[0] > 1 && layout.keptRank > 0 &&
                        layout.keptStrides[layout.keptRank - 1] == 1 && layout.results >= 8;
  auto op = std::make_unique<LaunchOp>(placed, isAcross);
  op->addInput(0);
  op->addOutput(0);
  op->addFirst(layout);
  if (isAcross)
    op->setGrid(std::min<int64_t>((layout.results + 7) / 8, 65536), 1, 1, layout.count >= 1024 ? 1024 : 256);
  else
    op->coverRows(layout.results);
  return op;
}

Ref<Placed> placeReduce(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const auto* row = std::ranges::find(kRows, node.op(), &ReduceRow::op);
  if (row == std::end(kRows) || !(kernelType(dtype).element || dtype == DType::Bool) ||
      (!isFloat(dtype) && !row->takesIntegers))
    return nullptr;
  if (!isKnownToPlan(node, 1)) return nullptr;
  return placedAs(sourceFor(*row, dtype), {"gpu_reduce", "gpu_reduce_across"}, createReduce, 1);
}

// MeanVarianceNormalization, a block for the elements that share a mean.
constexpr const char* kMoments = R"(
#define PLACE first + offsetOf(i, layout.rank, layout.dims, layout.strides)
extern "C" __global__ void gpu_mean_variance(const Layout layout, const Element* in, Element* out) {
  __shared__ Sum shared[128];
  EACH_ROW(group, layout.results) {
    const long long first = offsetOf(group, layout.keptRank, layout.keptDims, layout.keptStrides);
    Sum mean = 0, squares = 0;
    for (long long i = threadIdx.x; i < layout.count; i += 128) mean += (Sum)in[PLACE];
    mean = joined<Total>(mean, shared) / (Sum)layout.count;
    for (long long i = threadIdx.x; i < layout.count; i += 128) {
      const Sum x = (Sum)in[PLACE] - mean;
      squares += x * x;
    }
    const Sum deviation = sqrt(joined<Total>(squares, shared) / (Sum)layout.count) + (Sum)1e-9;
    for (long long i = threadIdx.x; i < layout.count; i += 128) out[PLACE] = (Element)(((Sum)in[PLACE] - mean) / deviation);
  }
}
)";

std::unique_ptr<OpKernel> createMeanVariance(const Placed& placed, const OpRequest& request) {
  const Shape &shape = request.inputs[0].shape, strides = contiguousStrides(shape);
  const std::vector<int> axes = readers::readNormalisedAxes(request.node.attributes, shape.rank());
  ReduceLayout layout;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) layout.add(shape[i], strides[i], std::ranges::find(axes, i) != axes.end());
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverRows(layout.results);
  return op;
}

Ref<Placed> placeMeanVariance(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  return placedAs(max::concat(typesSource(dtype), rowSource(), kLayout, kMoments), {"gpu_mean_variance"},
                  createMeanVariance);
}

std::vector<PlaceRow> makeRows() {
  std::vector<PlaceRow> rows{{"", "MeanVarianceNormalization", placeMeanVariance}};
  for (const ReduceRow& row : kRows) rows.push_back({"", row.op, placeReduce});
  return rows;
}

}  // namespace

std::span<const PlaceRow> gpuReductions() {
  static const std::vector<PlaceRow> rows = makeRows();
  return rows;
}

}  // namespace max
