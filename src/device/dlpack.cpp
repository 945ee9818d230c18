// SPDX-License-Identifier: Apache-2.0
#include "device/dlpack.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/checked.h"
#include "device/device_registry.h"
#include "device/dlpack_abi.h"
#include "device/gpu/api.h"
#include "device/memory_use.h"

namespace max {

namespace {

struct TypeRow {
  DType dtype;
  uint8_t code;
};

constexpr TypeRow kTypes[] = {
    {DType::Bool, dlpack::kBool},
    {DType::Float4E2M1FN, dlpack::kFloat4E2M1FN},
    {DType::Float6E2M3FN, dlpack::kFloat6E2M3FN},
    {DType::Float6E3M2FN, dlpack::kFloat6E3M2FN},
    {DType::Float8E8M0FNU, dlpack::kFloat8E8M0FNU},
    {DType::Float8E4M3FN, dlpack::kFloat8E4M3FN},
    {DType::Float8E4M3FNUZ, dlpack::kFloat8E4M3FNUZ},
    {DType::Float8E5M2, dlpack::kFloat8E5M2},
    {DType::Float8E5M2FNUZ, dlpack::kFloat8E5M2FNUZ},
    {DType::Float16, dlpack::kFloat},
    {DType::BFloat16, dlpack::kBfloat},
    {DType::Float32, dlpack::kFloat},
    {DType::Float64, dlpack::kFloat},
    {DType::Complex64, dlpack::kComplex},
    {DType::Complex128, dlpack::kComplex},
    {DType::UInt2, dlpack::kUInt},
    {DType::Int2, dlpack::kInt},
    {DType::UInt4, dlpack::kUInt},
    {DType::Int4, dlpack::kInt},
    {DType::UInt8, dlpack::kUInt},
    {DType::Int8, dlpack::kInt},
    {DType::UInt16, dlpack::kUInt},
    {DType::Int16, dlpack::kInt},
    {DType::UInt32, dlpack::kUInt},
    {DType::Int32, dlpack::kInt},
    {DType::UInt64, dlpack::kUInt},
    {DType::Int64, dlpack::kInt},
};

DType dtypeOf(const DLDataType& type) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const TypeRow& r) { return r.code == type.code && bitsOf(r.dtype) == type.bits; });
  require(row != std::end(kTypes) && type.lanes == 1, MAX_STATUS_UNIMPLEMENTED, "DLPack type with code ", type.code,
          ", ", type.bits, " bits and ", type.lanes, " lanes is not supported");
  return row->dtype;
}

DLDataType typeOf(DType dtype) {
  const auto* row =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& r) { return r.dtype == dtype; });
  require(row != std::end(kTypes), MAX_STATUS_UNIMPLEMENTED, "DLPack has no type for ", dtype);
  return {row->code, static_cast<uint8_t>(bitsOf(dtype)), 1};
}

// 0 means none.
bool isOneOf(int32_t type, int32_t a, int32_t b) { return type != 0 && (type == a || type == b); }

bool isPinned(const DLDevice& device) {
  return std::ranges::any_of(gpu::apis(),
                             [&](const gpu::Api* api) { return isOneOf(device.device_type, api->dlpack.host, 0); });
}

Ref<MaxDevice> deviceOf(const DLDevice& device) {
  require(device.device_id >= 0 || device.device_type == dlpack::kDeviceCpu, MAX_STATUS_INVALID_ARGUMENT,
          "DLPack tensor is on device ", device.device_id, "; device numbers must not be negative");
  if (device.device_type == dlpack::kDeviceCpu || isPinned(device)) return hostDevice();
  for (const gpu::Api* api : gpu::apis())
    if (isOneOf(device.device_type, api->dlpack.device, api->dlpack.managed))
      return openDevice(api->name, device.device_id);
  fail(MAX_STATUS_UNIMPLEMENTED, "DLPack device type ", device.device_type, " is not supported");
}

DLDevice deviceOf(const MaxBuffer& buffer) {
  if (buffer.isHost()) return {dlpack::kDeviceCpu, 0};
  const gpu::Api* api = gpu::findApi(buffer.device().api());
  const int32_t type = !api ? 0 : buffer.isPinned() ? api->dlpack.host : api->dlpack.device;
  require(type != 0, MAX_STATUS_UNIMPLEMENTED, "DLPack has no number for memory of ", buffer.device().displayName());
  return {type, buffer.device().id()};
}

// Calls the tensor's deleter when the memory is no longer in use.
template <class Managed>
class DlpackStorage final : public Storage {
 public:
  explicit DlpackStorage(void* data, size_t size) : Storage(data, size) {}
  ~DlpackStorage() override {
    if (tensor_ && tensor_->deleter) tensor_->deleter(tensor_);
  }
  // Until then the caller owns the tensor.
  void own(Managed& tensor) { tensor_ = &tensor; }

 private:
  Managed* tensor_ = nullptr;
};

void requireSound(const DLTensor& tensor) {
  require(tensor.ndim >= 0 && tensor.ndim <= kMaxRank, MAX_STATUS_INVALID_ARGUMENT, "DLPack tensor has ", tensor.ndim,
          " dimensions; 0 to ", kMaxRank, " are supported");
  require(tensor.ndim == 0 || tensor.shape, MAX_STATUS_INVALID_ARGUMENT, "DLPack tensor has no shape");
}

BufferLayout layoutOf(const DLTensor& tensor) {
  requireSound(tensor);
  const auto rank = static_cast<size_t>(tensor.ndim);
  const Shape shape(std::span<const int64_t>(tensor.shape, rank));
  BufferLayout layout = BufferLayout::dense(dtypeOf(tensor.dtype), shape);
  if (tensor.strides) layout.strides = Shape(std::span<const int64_t>(tensor.strides, rank));
  requireReach(layout);
  return layout;
}

// The host's default stream has no later work that could wait, so the host waits.
void awaitProducer(MaxStream& bound, MaxStream& producer) {
  if (bound.runsInline())
    producer.waitUntilIdle();
  else
    bound.waitFor(producer);
}

template <class Managed>
Ref<MaxBuffer> importTensor(Managed& managed, const DlpackImport& import, bool readOnly) {
  const DLTensor& tensor = managed.dl_tensor;
  BufferLayout layout = layoutOf(tensor);
  layout.readOnly = readOnly;
  layout.pinned = isPinned(tensor.device);
  Ref<MaxDevice> device = deviceOf(tensor.device);
  require(!import.stream || &import.stream->device() == device.get(), MAX_STATUS_INVALID_ARGUMENT,
          "DLPack tensor is on ", device->displayName(), ", the stream on another device");
  MaxStream& bound = import.stream ? *import.stream : device->defaultStream();
  void* data = tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr;
  require(data || layout.shape.count() == 0, MAX_STATUS_INVALID_ARGUMENT, "DLPack tensor has no data");
  auto storage = makeRef<DlpackStorage<Managed>>(data, bytesFor(layout.dtype, layout.shape.count()));
  Ref<MaxBuffer> buffer = makeRef<MaxBuffer>(Ref<MaxStream>(&bound), layout, storage, data);
  require(buffer->isContiguous() || !isPacked(layout.dtype), MAX_STATUS_UNIMPLEMENTED, "DLPack tensor of type ", layout,
          " is not contiguous");
  require(import.copy != MAX_DLPACK_COPY_NEVER || isAlignedFor(layout.dtype, data), MAX_STATUS_FAILED_PRECONDITION,
          "DLPack tensor of type ", layout, " is not aligned for its elements and needs a copy");
  if (import.producer) awaitProducer(bound, *import.producer);
  if (import.copy != MAX_DLPACK_COPY_ALWAYS && isAlignedFor(layout.dtype, data)) {
    storage->own(managed);
    return buffer;
  }
  buffer = buffer->clone(bound);
  bound.waitUntilIdle();
  if (managed.deleter) managed.deleter(&managed);
  return buffer;
}

// A consumer may write anything that is not read-only.
AccessKind accessOf(const MaxBuffer& buffer) { return buffer.isReadOnly() ? AccessKind::Read : AccessKind::Write; }

void order(const MaxBuffer& buffer, const DlpackExport& options) {
  requireUnmapped(buffer, accessOf(buffer));
  if (!options.waits) return;
  if (!options.consumer) return awaitContents(buffer);
  AccessScope access(*options.consumer);
  access.add(buffer, accessOf(buffer));
}

// State of an exported tensor: the buffer, the stream that uses it, and the arrays that DLPack points to.
template <class Managed>
struct Export {
  Managed managed{};
  Ref<MaxStream> consumer;
  Ref<MaxBuffer> buffer;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];

  // The consumer is done with the tensor, but its queued work may not be.
  ~Export() {
    if (!consumer || !buffer) return;
    try {
      noteAccess(*buffer, accessOf(*buffer), *consumer);
      consumer->noteUse(buffer->memory());
    } catch (const std::exception&) {  // a failed stream runs nothing any more
    }
  }
};

template <class Managed>
Managed* exportTensor(const MaxBuffer& buffer, const DlpackExport& options) {
  auto exported = std::make_unique<Export<Managed>>();
  std::copy(buffer.shape().begin(), buffer.shape().end(), exported->shape);
  std::copy(buffer.strides().begin(), buffer.strides().end(), exported->strides);
  DLTensor& tensor = exported->managed.dl_tensor;
  tensor.data = buffer.data();
  tensor.device = deviceOf(buffer);
  tensor.ndim = buffer.rank();
  tensor.dtype = typeOf(buffer.dtype());
  tensor.shape = exported->shape;
  tensor.strides = exported->strides;
  order(buffer, options);
  exported->consumer = Ref<MaxStream>(options.consumer);
  exported->buffer = Ref<MaxBuffer>(const_cast<MaxBuffer*>(&buffer));
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  return &exported.release()->managed;
}

}  // namespace

Ref<MaxBuffer> bufferFromDlpack(DLManagedTensorVersioned& tensor, const DlpackImport& import) {
  require(tensor.version.major == dlpack::kMajorVersion, MAX_STATUS_UNIMPLEMENTED, "DLPack version ",
          tensor.version.major, ".", tensor.version.minor, " is not supported; 1.x is");
  require((tensor.flags & dlpack::kFlagSubbytePadded) == 0, MAX_STATUS_UNIMPLEMENTED,
          "DLPack tensors with padded elements below 8 bits are not supported");
  return importTensor(tensor, import, (tensor.flags & dlpack::kFlagReadOnly) != 0);
}

Ref<MaxBuffer> bufferFromDlpack(DLManagedTensor& tensor, const DlpackImport& import) {
  return importTensor(tensor, import, false);
}

DLManagedTensorVersioned* bufferToDlpack(const MaxBuffer& buffer, const DlpackExport& options) {
  auto* tensor = exportTensor<DLManagedTensorVersioned>(buffer, options);
  tensor->version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  tensor->flags = buffer.isReadOnly() ? dlpack::kFlagReadOnly : 0;
  return tensor;
}

DLManagedTensor* bufferToDlpackUnversioned(const MaxBuffer& buffer, const DlpackExport& options) {
  require(!buffer.isReadOnly(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", buffer.layout(),
          " is read-only, which an unversioned DLPack tensor cannot express");
  return exportTensor<DLManagedTensor>(buffer, options);
}

}  // namespace max
