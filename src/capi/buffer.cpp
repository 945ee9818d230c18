// SPDX-License-Identifier: Apache-2.0
// Making buffers: allocation, borrowed memory, DLPack, files.
#include "device/buffer.h"

#include <bit>

#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "device/checkpoint.h"
#include "device/dlpack.h"

using max::DType;
using max::Ref;
using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;
using max::capi::requireKindIfGiven;

namespace {

// Memory of the caller, who may want to know when it is free.
class BorrowedStorage final : public max::Storage {
 public:
  BorrowedStorage(void* data, size_t size) : Storage(data, size) {}
  ~BorrowedStorage() override {
    if (release_) release_(userData_);
  }
  // From then on the caller is told; a call that fails leaves the memory alone.
  void tell(MaxBufferReleaseFunction function, void* userData) {
    release_ = function;
    userData_ = userData;
  }

 private:
  MaxBufferReleaseFunction release_ = nullptr;
  void* userData_ = nullptr;
};

Ref<MaxBuffer> createBuffer(MaxDevice& device, MaxDType dtype, const max::Shape& shape,
                            const MaxBufferOptions& options) {
  max::AllocationOptions allocation;
  allocation.alignment = options.alignment;
  allocation.pinned = options.pinned != 0;
  allocation.zeroed = options.zeroed != 0;
  max::require(options.alignment == 0 || std::has_single_bit(options.alignment), MAX_STATUS_INVALID_ARGUMENT,
               "Alignment is not a power of two: ", options.alignment);
  return MaxBuffer::allocate(max::capi::streamFor(device, options.stream), static_cast<DType>(dtype), shape,
                             allocation);
}

Ref<MaxBuffer> wrapMemory(MaxDevice& device, void* data, DType dtype, const max::Shape& shape,
                          const MaxBufferWrapOptions& options) {
  max::require(max::isValid(dtype) && dtype != DType::String, MAX_STATUS_INVALID_ARGUMENT,
               "Memory cannot be wrapped as ", dtype, " (", static_cast<int32_t>(dtype), ")");
  max::BufferLayout layout = max::BufferLayout::dense(dtype, shape);
  layout.readOnly = options.readOnly != 0;
  if (options.strides) layout.strides = max::Shape(std::span(options.strides, static_cast<size_t>(shape.rank())));
  max::requireReach(layout);
  max::require(data || shape.count() == 0, MAX_STATUS_INVALID_ARGUMENT, "Argument 'data' is NULL for a buffer of type ",
               layout);
  max::require(max::isAlignedFor(dtype, data), MAX_STATUS_INVALID_ARGUMENT, "Argument 'data' is not aligned for ",
               dtype);
  auto storage = max::makeRef<BorrowedStorage>(data, max::bytesFor(dtype, shape.count()));
  Ref<MaxStream> stream(&max::capi::streamFor(device, options.stream));
  Ref<MaxBuffer> buffer = max::makeRef<MaxBuffer>(std::move(stream), layout, storage, data);
  max::require(buffer->isContiguous() || !max::isPacked(dtype), MAX_STATUS_UNIMPLEMENTED, "Elements of ", dtype,
               " must be contiguous");
  storage->tell(options.release, options.userData);
  return buffer;
}

template <class Managed>
MaxStatus importDlpack(Managed* tensor, const MaxDlpackOptions* options, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(tensor, "tensor");
    const MaxDlpackOptions chosen = max::capi::readOptions(options, "MaxDlpackOptions");
    max::capi::requireReserved(chosen.reserved, "MaxDlpackOptions");
    max::require(chosen.copy >= MAX_DLPACK_COPY_IF_NEEDED && chosen.copy <= MAX_DLPACK_COPY_NEVER,
                 MAX_STATUS_INVALID_ARGUMENT, "copy of MaxDlpackOptions is ", chosen.copy,
                 "; it must be a MAX_DLPACK_COPY_* value");
    requireKindIfGiven(chosen.stream, "options.stream");
    requireKindIfGiven(chosen.producer, "options.producer");
    *outBuffer = max::bufferFromDlpack(*tensor, {chosen.stream, chosen.producer, chosen.copy}).detach();
  });
}

max::DlpackExport exportOf(const MaxDlpackExportOptions* options) {
  const MaxDlpackExportOptions chosen = max::capi::readOptions(options, "MaxDlpackExportOptions");
  max::capi::requireReserved(chosen.reserved, "MaxDlpackExportOptions");
  requireKindIfGiven(chosen.stream, "options.stream");
  return {chosen.stream, chosen.noWait == 0};
}

max::MapMode mapModeOf(MaxMapMode mode) {
  max::capi::requireWithin(mode, MAX_MAP_MODE_READ, MAX_MAP_MODE_COPY_ON_WRITE, "Map mode");
  return static_cast<max::MapMode>(mode);
}

}  // namespace

MaxStatus maxBufferCreate(MaxDevice* device, MaxDType dtype, int32_t rank, const int64_t* shape,
                          const MaxBufferOptions* options, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    const MaxBufferOptions chosen = max::capi::readOptions(options, "MaxBufferOptions");
    const Ref<MaxDevice> place = max::capi::deviceFor(device, chosen.stream);
    *outBuffer = createBuffer(*place, dtype, max::capi::readShape(rank, shape), chosen).detach();
  });
}

MaxStatus maxBufferWrap(MaxDevice* device, void* data, MaxDType dtype, int32_t rank, const int64_t* shape,
                        const MaxBufferWrapOptions* options, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    const MaxBufferWrapOptions chosen = max::capi::readOptions(options, "MaxBufferWrapOptions");
    max::capi::requireReserved(chosen.reserved, "MaxBufferWrapOptions");
    const Ref<MaxDevice> place = max::capi::deviceFor(device, chosen.stream);
    *outBuffer =
        wrapMemory(*place, data, static_cast<DType>(dtype), max::capi::readShape(rank, shape), chosen).detach();
  });
}

MaxStatus maxBufferFromDlpack(struct DLManagedTensorVersioned* tensor, const MaxDlpackOptions* options,
                              MaxBuffer** outBuffer) {
  return importDlpack(tensor, options, outBuffer);
}

MaxStatus maxBufferFromDlpackUnversioned(struct DLManagedTensor* tensor, const MaxDlpackOptions* options,
                                         MaxBuffer** outBuffer) {
  return importDlpack(tensor, options, outBuffer);
}

MaxStatus maxBufferToDlpack(const MaxBuffer* buffer, const MaxDlpackExportOptions* options,
                            struct DLManagedTensorVersioned** outTensor) {
  return guard([&] {
    clearOutput(outTensor, "outTensor");
    requireArgument(buffer, "buffer");
    *outTensor = max::bufferToDlpack(*buffer, exportOf(options));
  });
}

MaxStatus maxBufferToDlpackUnversioned(const MaxBuffer* buffer, const MaxDlpackExportOptions* options,
                                       struct DLManagedTensor** outTensor) {
  return guard([&] {
    clearOutput(outTensor, "outTensor");
    requireArgument(buffer, "buffer");
    *outTensor = max::bufferToDlpackUnversioned(*buffer, exportOf(options));
  });
}

MaxStatus maxBufferMap(const char* path, MaxDType dtype, int32_t rank, const int64_t* shape, MaxMapMode mode,
                       uint64_t offset, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(path, "path");
    *outBuffer =
        max::mapBuffer(path, static_cast<DType>(dtype), max::capi::readShape(rank, shape), mapModeOf(mode), offset)
            .detach();
  });
}

MaxStatus maxBufferLoad(const char* path, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(path, "path");
    *outBuffer = max::loadCheckpoint(max::File::openForRead(path)).detach();
  });
}

MaxStatus maxBufferSave(const MaxBuffer* buffer, const char* path, const char* key) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(path, "path");
    max::saveCheckpoint(*buffer, path, key ? key : "tensor");
  });
}

void maxBufferRetain(const MaxBuffer* buffer) {
  if (buffer) buffer->retain();
}

void maxBufferRelease(const MaxBuffer* buffer) {
  if (buffer) buffer->release();
}
