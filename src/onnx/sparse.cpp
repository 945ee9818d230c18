// SPDX-License-Identifier: Apache-2.0
#include "onnx/sparse.h"

#include <cstring>

#include "base/checked.h"
#include "base/load_budget.h"

namespace max::onnx {

namespace {

constexpr size_t kMaxZeros = 16 << 20;  // bytes of a dense tensor beyond 256 times its values' bytes

// Total for all sparse tensors of a file.
void takeZeros(std::string_view name, size_t bytes) {
  try {
    if (LoadBudget* budget = activeLoadBudget()) budget->takeMemory(bytes);
  } catch (const Error& error) {
    fail(error.status(), "Sparse tensor '", name, "': ", error.message());
  }
}

Shape shapeOf(const SparseTensorProto& proto) { return Shape(std::span<const int64_t>(proto.dims)); }

// Positions of the values in the dense tensor: flat indices, or a row of coordinates per value.
int64_t placeOf(std::span<const int64_t> indices, int64_t i, const Shape& shape, bool coordinates) {
  if (!coordinates) return indices[static_cast<size_t>(i)];
  int64_t place = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t at = indices[static_cast<size_t>(i * shape.rank() + axis)];
    if (at < 0 || at >= shape[axis]) return -1;
    place = place * shape[axis] + at;
  }
  return place;
}

}  // namespace

Ref<Tensor> readSparse(TensorReader& reader, const SparseTensorProto& proto) {
  const TensorProto valuesProto = parseTensor(proto.values);
  const Ref<Tensor> values = reader.read(valuesProto), indices = reader.read(parseTensor(proto.indices));
  const Shape shape = shapeOf(proto);
  const int64_t count = values->count();
  const size_t size = sizeOf(values->dtype());
  const std::string_view name = valuesProto.name;
  require(size > 0 && !isPacked(values->dtype()) && values->dtype() != DType::String, MAX_STATUS_UNIMPLEMENTED,
          "Sparse tensor '", name, "': values of type ", values->dtype(), " are not supported");
  require(indices->dtype() == DType::Int64, MAX_STATUS_INVALID_ARGUMENT, "Sparse tensor '", name, "': indices are ",
          indices->dtype(), ", not int64");
  const bool coordinates = indices->shape().rank() == 2;
  const int64_t needed = coordinates ? checkedMultiply<int64_t>(count, shape.rank()) : count;
  require(indices->count() == needed, MAX_STATUS_INVALID_ARGUMENT, "Sparse tensor '", name, "': has ", indices->count(),
          " indices, needs ", needed);
  const size_t bytes = bytesFor(values->dtype(), shape.count());
  require(bytes <= kMaxZeros + 256 * values->bytes(), MAX_STATUS_RESOURCE_EXHAUSTED, "Sparse tensor '", name,
          "': the dense tensor of shape ", shape, " is too large for ", count, " values");
  takeZeros(name, bytes);
  Ref<Tensor> dense = Tensor::allocate(values->dtype(), shape, true);
  auto* to = static_cast<std::byte*>(dense->mutableData());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = placeOf(indices->values<int64_t>(), i, shape, coordinates);
    require(place >= 0 && place < dense->count(), MAX_STATUS_INVALID_ARGUMENT, "Sparse tensor '", name, "': index ", i,
            " is outside the shape ", shape);
    std::memcpy(to + static_cast<size_t>(place) * size, values->as<std::byte>() + static_cast<size_t>(i) * size, size);
  }
  return dense;
}

}  // namespace max::onnx
