// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes: a block for each element of the result.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"
#include "graph/readers/reduction.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int32_t kThreads = 128;
constexpr int64_t kMostBlocks = 65536;

// Sums are made in a fixed order, so that results are the same each time.
constexpr const char* kReduce = R"(
struct Layout {
  long long results, count, keptRank, rank;
  long long keptDims[16], keptStrides[16], dims[16], strides[16];
};

static inline __device__ long long offsetOf(long long index, long long rank, const long long* dims, const long long* strides) {
  long long offset = 0;
  for (long long d = rank - 1; d >= 0; --d) {
    const long long whole = index / dims[d];
    offset += (index - whole * dims[d]) * strides[d];
    index = whole;
  }
  return offset;
}

template <bool isMost>
static inline __device__ Sum joined(Sum mine, Sum* shared) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const Sum a = shared[threadIdx.x], b = shared[threadIdx.x + half];
      shared[threadIdx.x] = isMost ? MOST(a, b) : JOIN(a, b);
    }
    __syncthreads();
  }
  return shared[0];
}

extern "C" __global__ void gpu_reduce(const Layout layout, const Element* in, Element* out) {
  __shared__ Sum shared[128];
  for (long long result = blockIdx.x; result < layout.results; result += gridDim.x) {
    const Element* from = in + offsetOf(result, layout.keptRank, layout.keptDims, layout.keptStrides);
    Sum shift = 0;
    if (SHIFTS) {  // so that exponentials stay finite
      Sum most = LEAST;
      for (long long i = threadIdx.x; i < layout.count; i += 128) {
        const Sum x = (Sum)from[offsetOf(i, layout.rank, layout.dims, layout.strides)];
        most = MOST(most, x);
      }
      most = joined<true>(most, shared);
      shift = most - most == (Sum)0 ? most : (Sum)0;
    }
    Sum sum = START;
    for (long long i = threadIdx.x; i < layout.count; i += 128) {
      const Sum x = (Sum)from[offsetOf(i, layout.rank, layout.dims, layout.strides)];
      sum = JOIN(sum, (MAP));
    }
    sum = joined<false>(sum, shared);
    if (threadIdx.x == 0) out[result] = (Element)(FINISH);
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
constexpr const char kSum[] = "((a) + (b))";
constexpr const char kMax[] = "((a) != (a) ? (a) : (b) > (a) || (b) != (b) ? (b) : (a))";
constexpr const char kMin[] = "((a) != (a) ? (a) : (b) < (a) || (b) != (b) ? (b) : (a))";
constexpr ReduceRow kRows[] = {
    {"ReduceSum", "(Sum)0", kSum, "x", "sum", true},
    {"ReduceMean", "(Sum)0", kSum, "x", "sum / (Sum)layout.count", false},
    {"ReduceProd", "(Sum)1", "((a) * (b))", "x", "sum", true},
    {"ReduceMax", kLeast, kMax, "x", "sum", true},
    {"ReduceMin", kLargest, kMin, "x", "sum", true},
    {"ReduceSumSquare", "(Sum)0", kSum, "x * x", "sum", true},
    {"ReduceL1", "(Sum)0", kSum, "x < (Sum)0 ? -x : x", "sum", true},
    {"ReduceL2", "(Sum)0", kSum, "x * x", "sqrt(sum)", false},
    {"ReduceLogSum", "(Sum)0", kSum, "x", "log(sum)", false},
    {"ReduceLogSumExp", "(Sum)0", kSum, "exp(x - shift)", "log(sum) + shift", false},
};

std::string sourceFor(const ReduceRow& row, DType dtype) {
  const KernelType type = kernelType(dtype);
  const char* limits = isFloat(dtype) ? "#define LEAST (-(Sum)INFINITY)\n#define LARGEST ((Sum)INFINITY)\n"
                                      : "#define LEAST ((Sum)(1ULL << 63))\n#define LARGEST ((Sum)(~0ULL >> 1))\n";
  return max::concat("#include \"max_half.h\"\n#include <cmath>\ntypedef ", type.element, " Element;\ntypedef ",
                     type.accumulator, " Sum;\n", limits, "#define START ", row.start, "\n#define JOIN(a, b) ",
                     row.join, "\n#define MOST(a, b) ", kMax, "\n#define SHIFTS ",
                     row.op == "ReduceLogSumExp" ? "true" : "false", "\n#define MAP ", row.map, "\n#define FINISH ",
                     row.finish, "\n", kReduce);
}

class PlacedReduce final : public Placed {
 public:
  PlacedReduce(const ReduceRow& row, DType dtype) : Placed(sourceFor(row, dtype), "gpu_reduce") {}

  bool reads(size_t input) const override { return input == 0; }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const Shape& shape = request.inputs[0].shape;
    const std::optional<readers::Reduction> reduction = readers::readReduction(*RequestInputs(request));
    require(reduction.has_value(), MAX_STATUS_INTERNAL, request.node.description(), ": its axes are unknown");
    ReduceLayout layout;
    const Shape strides = contiguousStrides(shape);
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] != 1) layout.add(shape[i], strides[i], reduction->reduced[static_cast<size_t>(i)]);
    auto op = std::make_unique<LaunchOp>(*this);
    op->addFirst(layout);
    op->addInput(0);
    op->addOutput(0);
    op->setGrid(std::min(layout.results, kMostBlocks), 1, 1, kThreads);
    return op;
  }
};

Ref<Placed> placeReduce(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const auto* row = std::ranges::find(kRows, node.op(), &ReduceRow::op);
  if (row == std::end(kRows) || !kernelType(dtype).element || (!isFloat(dtype) && !row->takesIntegers)) return nullptr;
  const Value* axes = node.input(1);
  if (axes && !(axes->constant && axes->constant->hasContents())) return nullptr;
  return makeRef<PlacedReduce>(*row, dtype);
}

std::vector<PlaceRow> makeRows() {
  std::vector<PlaceRow> rows;
  for (const ReduceRow& row : kRows) rows.push_back({"", row.op, placeReduce});
  return rows;
}

}  // namespace

std::span<const PlaceRow> gpuReductions() {
  static const std::vector<PlaceRow> rows = makeRows();
  return rows;
}

}  // namespace max
