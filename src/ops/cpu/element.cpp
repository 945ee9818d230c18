// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/element.h"

#include <algorithm>

#include "graph/readers/indexing.h"

namespace max {

ElementWalk::ElementWalk(const OpRequest& request, size_t indexInput)
    : indexShape_(request.inputs[indexInput].shape),
      strides_(contiguousStrides(request.inputs[0].shape)),
      is64_(request.inputs[indexInput].dtype == DType::Int64) {
  const MovementCall call(request, nullptr);
  const Shape& data = request.inputs[0].shape;
  axis_ = readers::readGatherAxis(call.read());
  size_ = data[axis_];
  if (indexShape_.rank() != data.rank())
    call.fail(MAX_STATUS_INVALID_ARGUMENT, "indices of shape ", indexShape_, " for data of shape ", data);
  for (int i = 0; i < data.rank(); ++i)
    if (i != axis_ && indexShape_[i] > data[i])
      call.fail(MAX_STATUS_INVALID_ARGUMENT, "indices of shape ", indexShape_, " exceed data of shape ", data);
  columns_ = indexShape_.back();
  rows_ = columns_ == 0 ? 0 : indexShape_.product(0, indexShape_.rank() - 1);
}

SliceWalk::SliceWalk(const OpRequest& request, int batchDims)
    : data_(request.inputs[0].shape),
      strides_(contiguousStrides(data_)),
      batchDims_(batchDims),
      is64_(request.inputs[1].dtype == DType::Int64) {
  const MovementCall call(request, nullptr);
  const Shape& indices = request.inputs[1].shape;
  if (indices.rank() == 0 || batchDims < 0 || batchDims >= indices.rank() || batchDims > data_.rank() ||
      indices.back() > data_.rank() - batchDims)
    call.fail(MAX_STATUS_INVALID_ARGUMENT, "indices of shape ", indices, " with batch_dims ", batchDims,
              " do not fit data of shape ", data_);
  for (int i = 0; i < batchDims; ++i)
    if (indices[i] != data_[i])
      call.fail(MAX_STATUS_INVALID_ARGUMENT, "batch dimensions of ", indices, " and ", data_, " disagree");
  tupleSize_ = static_cast<int>(indices.back());
  count_ = indices.product(0, indices.rank() - 1);
  perBatch_ = std::max<int64_t>(1, indices.product(batchDims, indices.rank() - 1));
  batchStride_ = data_.product(batchDims, data_.rank());
  sliceElements_ = data_.product(batchDims + tupleSize_, data_.rank());
}

}  // namespace max
