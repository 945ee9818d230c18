// SPDX-License-Identifier: Apache-2.0
// Gather and scatter operators. What an index out of range selects is zero, and what it would change stays, since a
// kernel cannot report it. Updates of one element follow each other in their order.
#include "graph/readers/indexing.h"

#include <algorithm>

#include "base/error.h"
#include "graph/readers/movement.h"
#include "graph/schema.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

using readers::ScatterReduction;

constexpr const char* kGather = R"(
extern "C" __global__ void gpu_gather(const Element* data, const Index* indices, Element* out, long long total,
                                      long long size, long long count, long long inner) {
  EACH(i, total) {
    const long long within = i % inner, which = i / inner % count, outer = i / inner / count;
    long long index = indices[which];
    if (index < 0) index += size;
    out[i] = index >= 0 && index < size ? data[(outer * size + index) * inner + within] : Element();
  }
}
)";

// GatherElements, ScatterElements: `dims` are those of the indices, strides those of the data.
constexpr const char* kElements = R"(
struct Layout {
  long long count, rank, axis, size, dims[16], strides[16];
};
// Where the data begin that an element along the axis selects.
static inline __device__ long long lineOf(const Layout& layout, long long i) {
  long long at = 0;
  for (long long d = layout.rank - 1; d >= 0; --d) {
    if (d != layout.axis) at += i % layout.dims[d] * layout.strides[d];
    i /= layout.dims[d];
  }
  return at;
}

extern "C" __global__ void gpu_gather_elements(const Layout layout, const Element* data, const Index* indices,
                                               Element* out) {
  EACH(i, layout.count) {
    long long index = indices[i];
    if (index < 0) index += layout.size;
    out[i] = index >= 0 && index < layout.size ? data[lineOf(layout, i) + index * layout.strides[layout.axis]] : Element();
  }
}
)";

struct ElementsLayout {
  int64_t count = 0, rank = 0, axis = 0, size = 0, dims[kMaxRank] = {}, strides[kMaxRank] = {};

  ElementsLayout(const OpRequest& request, const Shape& indices) {
    const Shape& data = request.inputs[0].shape;
    const Shape dense = contiguousStrides(data);
    axis = readers::readGatherAxis(*RequestInputs(request));
    count = indices.count();
    rank = data.rank();
    size = data[static_cast<int>(axis)];
    for (int i = 0; i < data.rank(); ++i) {
      dims[i] = indices[i];
      strides[i] = dense[i];
    }
  }
};

// GatherND, ScatterND: an index is a tuple of `depth` numbers, and selects a slice of `inner` elements.
constexpr const char* kTuples = R"(
struct Layout {
  long long count, inner, tuples, batchStride, depth, sizes[16], strides[16];  // tuples of one batch
};
// Where the slice begins; -1 = out of range.
static inline __device__ long long sliceOf(const Layout& layout, const long long* indices, long long tuple) {
  long long at = tuple / layout.tuples * layout.batchStride;
  for (long long k = 0; k < layout.depth; ++k) {
    long long index = indices[tuple * layout.depth + k];
    if (index < 0) index += layout.sizes[k];
    if (index < 0 || index >= layout.sizes[k]) return -1;
    at += index * layout.strides[k];
  }
  return at;
}

extern "C" __global__ void gpu_gather_nd(const Layout layout, const Element* data, const long long* indices, Element* out) {
  EACH(i, layout.count) {
    const long long from = sliceOf(layout, indices, i / layout.inner);
    out[i] = from >= 0 ? data[from + i % layout.inner] : Element();
  }
}
)";

struct TuplesLayout {
  int64_t count = 0, inner = 1, tuples = 1, batchStride = 0, depth = 0, sizes[kMaxRank] = {}, strides[kMaxRank] = {};

  TuplesLayout(const Shape& data, const Shape& indices, int batches) {
    const Shape dense = contiguousStrides(data);
    depth = indices.back();
    const int last = batches + static_cast<int>(depth);
    tuples = indices.product(batches, indices.rank() - 1);
    inner = data.product(last, data.rank());
    batchStride = data.product(batches, data.rank());
    count = indices.product(0, indices.rank() - 1) * inner;
    for (int k = 0; k < depth; ++k) {
      sizes[k] = data[batches + k];
      strides[k] = dense[batches + k];
    }
  }
};

constexpr const char* kCopyData = R"(
extern "C" __global__ void gpu_copy_data(const Element* data, Element* out, long long count) {
  EACH(i, count) out[i] = data[i];
}
)";

// A thread for each line along the axis: only its updates meet.
constexpr const char* kScatterElements = R"(
extern "C" __global__ void gpu_scatter_elements(const Layout layout, const Index* indices, const Element* updates,
                                                Element* out) {
  long long inner = 1;  // from one element along the axis to the next, among the updates
  for (long long d = layout.axis + 1; d < layout.rank; ++d) inner *= layout.dims[d];
  const long long length = layout.dims[layout.axis];
  EACH(line, layout.count / length) {
    const long long first = line / inner * length * inner + line % inner;
    Element* target = out + lineOf(layout, first);
    for (long long k = 0; k < length; ++k) {
      long long index = indices[first + k * inner];
      if (index < 0) index += layout.size;
      if (index < 0 || index >= layout.size) continue;
      Element* place = target + index * layout.strides[layout.axis];
      *place = combined(*place, updates[first + k * inner]);
    }
  }
}
)";

// Of the tuples that replace one slice, the last one does; the others combine in their order.
constexpr const char* kScatterTuples = R"(
extern "C" __global__ void gpu_claim_slices(const Layout layout, const long long* indices, unsigned long long* owners,
                                            long long tuples) {
  EACH(tuple, tuples) {
    const long long to = sliceOf(layout, indices, tuple);
    if (to >= 0) atomicMax(owners + to / layout.inner, (unsigned long long)tuple + 1);
  }
}
extern "C" __global__ void gpu_clear(unsigned long long* owners, long long slices) {
  EACH(i, slices) owners[i] = 0;
}

extern "C" __global__ void gpu_replace_slices(const Layout layout, const long long* indices, const Element* updates,
                                              const unsigned long long* owners, Element* out) {
  EACH(i, layout.count) {
    const long long tuple = i / layout.inner, to = sliceOf(layout, indices, tuple);
    if (to >= 0 && owners[to / layout.inner] == (unsigned long long)tuple + 1) out[to + i % layout.inner] = updates[i];
  }
}

extern "C" __global__ void gpu_combine_slices(const Layout layout, const long long* indices, const Element* updates,
                                              Element* out) {
  EACH(within, layout.inner) {
    for (long long tuple = 0; tuple < layout.tuples; ++tuple) {
      const long long to = sliceOf(layout, indices, tuple);
      if (to >= 0) out[to + within] = combined(out[to + within], updates[tuple * layout.inner + within]);
    }
  }
}
)";

// Integers wrap as unsigned ones do.
const char* combinationOf(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::Add:
      return "(Element)((Wrapped)a + (Wrapped)b)";
    case ScatterReduction::Multiply:
      return "(Element)((Wrapped)a * (Wrapped)b)";
    case ScatterReduction::Max:
      return "b > a || b != b ? b : a";
    case ScatterReduction::Min:
      return "b < a || b != b ? b : a";
    case ScatterReduction::None:
      break;
  }
  return "b";
}

ScatterReduction reductionOf(const Node& node) {
  const std::vector<InputType> types = inputTypes(node);
  return readers::readScatterReduction(NodeInputs(node, types));
}

// What `combined` makes of an element and an update; empty where kernels cannot.
std::string combiningSource(DType dtype, ScatterReduction reduction) {
  const char* function = "static inline __device__ Element combined(Element a, Element b) {\n  (void)a;\n  return ";
  if (reduction == ScatterReduction::None) return concat(movedSource(dtype), function, "b;\n}\n");
  if (dtype == DType::Bool) dtype = DType::UInt8;
  if (!kernelType(dtype).element) return "";
  return concat(typesSource(dtype), "typedef ", isFloat(dtype) ? "Sum" : "unsigned long long", " Wrapped;\n", function,
                combinationOf(reduction), ";\n}\n");
}

bool isIndex(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

// Of the data's and the indices' types.
std::string sourceFor(const Node& node, const char* text) {
  return concat(movedSource(node.input(0)->type.dtype), "typedef ", kernelType(node.input(1)->type.dtype).element,
                " Index;\n", text);
}

bool canGather(const Node& node) { return isMovable(node.input(0)->type.dtype) && isIndex(node.input(1)->type.dtype); }

std::unique_ptr<OpKernel> createGather(const Placed& placed, const OpRequest& request) {
  const Shape& data = request.inputs[0].shape;
  const int axis = readers::readGatherAxis(*RequestInputs(request));
  return elementLaunch(placed, request, request.outputs[0].shape.count(), data[axis], request.inputs[1].shape.count(),
                       data.product(axis + 1, data.rank()));
}

Ref<Placed> placeGather(const Node& node) {
  return canGather(node) ? placedAs(sourceFor(node, kGather), {"gpu_gather"}, createGather) : nullptr;
}

std::unique_ptr<OpKernel> createGatherElements(const Placed& placed, const OpRequest& request) {
  auto op = launchOf(placed, request);
  op->addFirst(ElementsLayout(request, request.inputs[1].shape));
  op->coverElements(request.outputs[0].shape.count());
  return op;
}

Ref<Placed> placeGatherElements(const Node& node) {
  return canGather(node) ? placedAs(sourceFor(node, kElements), {"gpu_gather_elements"}, createGatherElements)
                         : nullptr;
}

std::unique_ptr<OpKernel> createGatherND(const Placed& placed, const OpRequest& request) {
  auto op = launchOf(placed, request);
  op->addFirst(
      TuplesLayout(request.inputs[0].shape, request.inputs[1].shape, readers::readBatchDims(*RequestInputs(request))));
  op->coverElements(request.outputs[0].shape.count());
  return op;
}

Ref<Placed> placeGatherND(const Node& node) {
  return canGather(node) ? placedAs(sourceFor(node, kTuples), {"gpu_gather_nd"}, createGatherND) : nullptr;
}

void addCopy(SeveralOps& ops, int64_t count) {
  LaunchOp& copy = ops.add(0);
  copy.addInput(0);
  copy.addOutput(0);
  copy.addValue(count);
  copy.coverElements(count);
}

LaunchOp& addUpdates(SeveralOps& ops, size_t kernel, const auto& layout, bool hasOwners) {
  LaunchOp& op = ops.add(kernel);
  op.addFirst(layout);
  op.addInput(1);
  op.addInput(2);
  if (hasOwners) op.addInput(LaunchOp::kScratch);
  op.addOutput(0);
  return op;
}

std::unique_ptr<OpKernel> createScatterElements(const Placed& placed, const OpRequest& request) {
  auto ops = std::make_unique<SeveralOps>(placed);
  addCopy(*ops, request.outputs[0].shape.count());
  const ElementsLayout layout(request, request.inputs[1].shape);
  if (layout.count == 0) return ops;
  addUpdates(*ops, 1, layout, false).coverElements(layout.count / layout.dims[layout.axis]);
  return ops;
}

Ref<Placed> placeScatterElements(const Node& node) {
  const std::string combining = combiningSource(node.input(0)->type.dtype, reductionOf(node));
  if (!canGather(node) || combining.empty()) return nullptr;
  return placedAs(concat(combining, "typedef ", kernelType(node.input(1)->type.dtype).element, " Index;\n", kCopyData,
                         kElements, kScatterElements),
                  {"gpu_copy_data", "gpu_scatter_elements"}, createScatterElements);
}

// One owner for each slice.
std::unique_ptr<OpKernel> createScatterND(const Placed& placed, const OpRequest& request) {
  const bool replaces = readers::readScatterReduction(*RequestInputs(request)) == ScatterReduction::None;
  const TuplesLayout layout(request.inputs[0].shape, request.inputs[1].shape, 0);
  const int64_t count = request.outputs[0].shape.count(), slices = count / std::max<int64_t>(layout.inner, 1);
  auto ops = std::make_unique<SeveralOps>(placed, replaces ? static_cast<size_t>(slices) * sizeof(uint64_t) : 0);
  addCopy(*ops, count);
  if (layout.count == 0) return ops;
  if (!replaces) {
    addUpdates(*ops, 4, layout, false).coverElements(layout.inner);
    return ops;
  }
  LaunchOp& clear = ops->add(1);
  clear.addOutput(LaunchOp::kScratch);
  clear.addValue(slices);
  clear.coverElements(slices);
  LaunchOp& claim = ops->add(2);
  claim.addFirst(layout);
  claim.addInput(1);
  claim.addOutput(LaunchOp::kScratch);
  claim.addValue(layout.tuples);
  claim.coverElements(layout.tuples);
  addUpdates(*ops, 3, layout, true).coverElements(layout.count);
  return ops;
}

Ref<Placed> placeScatterND(const Node& node) {
  const std::string combining = combiningSource(node.input(0)->type.dtype, reductionOf(node));
  if (!canGather(node) || combining.empty()) return nullptr;
  return placedAs(concat(combining, kCopyData, kTuples, kScatterTuples),
                  {"gpu_copy_data", "gpu_clear", "gpu_claim_slices", "gpu_replace_slices", "gpu_combine_slices"},
                  createScatterND);
}

// Rows of each block of a cache are replaced, from the block's own first row on.
constexpr const char* kTensorScatter = R"(
extern "C" __global__ void gpu_tensor_scatter(const Element* cache, const Element* updates INDICES, Element* out,
                                              long long count, long long rows, long long updated, long long inner,
                                              long long blocksPerItem) {
  EACH(i, count) {
    const long long block = i / inner / rows;
    long long row = i / inner % rows - FIRST;
    if (CIRCULAR) row = (row % rows + rows) % rows;
    out[i] = row >= 0 && row < updated ? updates[(block * updated + row) * inner + i % inner] : cache[i];
  }
}
)";

std::unique_ptr<OpKernel> createTensorScatter(const Placed& placed, const OpRequest& request) {
  const Shape& cache = request.inputs[0].shape;
  const int axis = readers::readTensorScatter(*RequestInputs(request)).axis;
  return elementLaunch(placed, request, cache.count(), cache[axis], request.inputs[1].shape[axis],
                       cache.product(axis + 1, cache.rank()), cache.product(1, axis));
}

Ref<Placed> placeTensorScatter(const Node& node) {
  const TensorType& cache = node.input(0)->type;
  if (!isMovable(cache.dtype) || !cache.ranked) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  const bool isCircular = readers::readTensorScatter(NodeInputs(node, types)).isCircular, hasIndices = node.input(2);
  return placedAs(
      movedSource(cache.dtype) + filledIn(kTensorScatter, {{"INDICES", hasIndices ? ", const long long* first" : ""},
                                                           {"FIRST", hasIndices ? "first[block / blocksPerItem]" : "0"},
                                                           {"CIRCULAR", isCircular ? "true" : "false"}}),
      {"gpu_tensor_scatter"}, createTensorScatter);
}

// Blocks of threads count what is not zero in parts of 1024 elements, one block adds the numbers up, and the places are
// written in order.
constexpr const char* kNonZero = R"(
struct Layout {
  long long count, parts, rank, dims[16];
};
static inline __device__ Sum countOf(const Layout& layout, const Number* x, long long first) {
  Sum count = 0;
  for (long long i = first; i < first + 8 && i < layout.count; ++i) count += x[i] != (Number)0;
  return count;
}
extern "C" __global__ void gpu_count_parts(const Layout layout, const Number* x, Sum* counts) {
  __shared__ Sum shared[128];
  EACH_ROW(part, layout.parts) {
    const Sum count = joined<Total>(countOf(layout, x, part * 1024 + threadIdx.x * 8), shared);
    if (threadIdx.x == 0) counts[part] = count;
  }
}

// What threads before this one have.
static inline __device__ Sum before(Sum mine, Sum* shared) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  Sum sum = 0;
  for (int k = 0; k < threadIdx.x; ++k) sum += shared[k];
  return sum;
}
extern "C" __global__ void gpu_add_counts(const Layout layout, Sum* counts, Sum* total) {
  __shared__ Sum shared[128];
  const long long each = (layout.parts + 127) / 128, begin = threadIdx.x * each;
  const long long end = begin + each < layout.parts ? begin + each : layout.parts;
  Sum sum = 0;
  for (long long i = begin; i < end; ++i) sum += counts[i];
  sum = before(sum, shared);
  for (long long i = begin; i < end; ++i) {
    const Sum count = counts[i];
    counts[i] = sum;
    sum += count;
  }
  if (threadIdx.x == 127) *total = sum;
}

extern "C" __global__ void gpu_counted_non_zero(const Layout layout, const Number* x, const Sum* starts, Sum* places) {
  __shared__ Sum shared[128];
  EACH_ROW(part, layout.parts) {
    const long long first = part * 1024 + threadIdx.x * 8;
    Sum at = starts[part] + before(countOf(layout, x, first), shared);
    for (long long i = first; i < first + 8 && i < layout.count; ++i) {
      if (!(x[i] != (Number)0)) continue;
      for (long long d = layout.rank - 1, rest = i; d >= 0; rest /= layout.dims[d--])
        places[d * layout.count + at] = rest % layout.dims[d];
      ++at;
    }
  }
}
)";

struct NonZeroLayout {
  int64_t count, parts, rank, dims[kMaxRank];
};

std::unique_ptr<OpKernel> createNonZero(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  NonZeroLayout layout{shape.count(), (shape.count() + 1023) / 1024, std::max(shape.rank(), 1), {1}};
  std::copy(shape.begin(), shape.end(), layout.dims);
  auto ops = std::make_unique<SeveralOps>(placed, static_cast<size_t>(layout.parts) * sizeof(int64_t));
  LaunchOp &count = ops->add(1), &add = ops->add(2), &store = ops->add(0);
  for (LaunchOp* op : {&count, &add, &store}) op->addFirst(layout);
  count.addInput(0);
  count.addOutput(LaunchOp::kScratch);
  count.coverRows(layout.parts);
  add.addOutput(LaunchOp::kScratch);
  add.addOutput(1);
  add.setGrid(1, 1, 1, kRowThreads);
  store.addInput(0);
  store.addInput(LaunchOp::kScratch);
  store.addOutput(0);
  store.coverRows(layout.parts);
  return ops;
}

Ref<Placed> placeNonZero(const Node& node) {
  const DType dtype = node.input(0)->type.dtype == DType::Bool ? DType::UInt8 : node.input(0)->type.dtype;
  if (!kernelType(dtype).element || !node.output(0) || !node.output(1)) return nullptr;
  return placedAs(
      concat(typesSource(DType::Int64), rowSource(), "typedef ", kernelType(dtype).element, " Number;\n", kNonZero),
      {"gpu_counted_non_zero", "gpu_count_parts", "gpu_add_counts"}, createNonZero);
}

// The first `length` steps of each sequence turn around.
constexpr const char* kReverse = R"(
extern "C" __global__ void gpu_reverse(const Element* in, const long long* lengths, Element* out, long long count,
                                       long long first, long long second, long long inner) {
  EACH(i, count) {
    const long long a = i / inner / second, b = i / inner % second;
    const long long item = IS_BATCH_FIRST ? a : b, step = IS_BATCH_FIRST ? b : a;
    const long long from = step < lengths[item] && lengths[item] <= (IS_BATCH_FIRST ? second : first) ? lengths[item] - 1 - step : step;
    out[i] = in[((IS_BATCH_FIRST ? a : from) * second + (IS_BATCH_FIRST ? from : b)) * inner + i % inner];
  }
}
)";

std::unique_ptr<OpKernel> createReverse(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  return elementLaunch(placed, request, shape.count(), shape[0], shape[1], shape.product(2, shape.rank()));
}

Ref<Placed> placeReverse(const Node& node) {
  const TensorType& type = node.input(0)->type;
  if (!isMovable(type.dtype) || !type.ranked) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  const bool isBatchFirst = readers::readReversal(NodeInputs(node, types)).batchAxis == 0;
  return placedAs(movedSource(type.dtype) + filledIn(kReverse, {{"IS_BATCH_FIRST", isBatchFirst ? "true" : "false"}}),
                  {"gpu_reverse"}, createReverse);
}

constexpr PlaceRow kRows[] = {{"", "Gather", placeGather},           {"", "GatherElements", placeGatherElements},
                              {"", "GatherND", placeGatherND},       {"", "ScatterElements", placeScatterElements},
                              {"", "ScatterND", placeScatterND},     {"", "TensorScatter", placeTensorScatter},
                              {"", "ReverseSequence", placeReverse}, {kMaxDomain, "CountedNonZero", placeNonZero}};

}  // namespace

std::span<const PlaceRow> gpuIndexing() { return kRows; }

}  // namespace max
