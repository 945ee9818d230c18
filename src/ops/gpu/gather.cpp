// SPDX-License-Identifier: Apache-2.0
// Gather: a thread for each element. What an index out of range selects is zero, since a kernel cannot report it.
#include "base/error.h"
#include "graph/readers/indexing.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr const char* kGather = R"(
extern "C" __global__ void gpu_gather(const Element* data, const Index* indices, Element* out, long long total,
                                      long long size, long long count, long long inner) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
    const long long within = i % inner, which = i / inner % count, outer = i / inner / count;
    long long index = indices[which];
    if (index < 0) index += size;
    out[i] = index >= 0 && index < size ? data[(outer * size + index) * inner + within] : Element();
  }
}
)";

class PlacedGather final : public Placed {
 public:
  PlacedGather(DType dtype, DType index)
      : Placed(concat("typedef ", movedType(sizeOf(dtype)), " Element;\ntypedef ", kernelType(index).element,
                      " Index;\n", kGather),
               "gpu_gather") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const Shape& data = request.inputs[0].shape;
    const int axis = readers::readGatherAxis(*RequestInputs(request));
    auto op = std::make_unique<LaunchOp>(*this);
    op->addInput(0);
    op->addInput(1);
    op->addOutput(0);
    const int64_t total = request.outputs[0].shape.count();
    for (const int64_t value :
         {total, data[axis], request.inputs[1].shape.count(), data.product(axis + 1, data.rank())})
      op->addValue(value);
    op->coverElements(total);
    return op;
  }
};

Ref<Placed> placeGather(const Node& node) {
  const DType dtype = node.input(0)->type.dtype, index = node.input(1)->type.dtype;
  if (holdsPointers(dtype) || bitsOf(dtype) < 8 || (index != DType::Int64 && index != DType::Int32)) return nullptr;
  return makeRef<PlacedGather>(dtype, index);
}

constexpr PlaceRow kRows[] = {{"", "Gather", placeGather}};

}  // namespace

std::span<const PlaceRow> gpuGather() { return kRows; }

}  // namespace max
