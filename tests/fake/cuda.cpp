// SPDX-License-Identifier: Apache-2.0
// The fake driver's face as libcuda.so.1.
#include <iterator>

#include "capture.h"
#include "fake.h"
#include "kernels.h"
#include "names.h"

using fake::Device;
using fake::Event;
using fake::Lock;
using fake::state;
using fake::Stream;

namespace fake {

const Personality kPersonality = {false, false, true, [](int code) { return resultName(code, &ResultName::cuda); }};

}  // namespace fake

namespace {

constexpr unsigned kEventWithoutTiming = 2;

// CUDA_MEMCPY2D.
struct Copy2d {
  size_t sourceX, sourceY;
  int sourceType;
  const void* sourceHost;
  uint64_t sourceDevice;
  void* sourceArray;
  size_t sourcePitch;
  size_t targetX, targetY;
  int targetType;
  void* targetHost;
  uint64_t targetDevice;
  void* targetArray;
  size_t targetPitch;
  size_t width, height;
};
constexpr int kMemoryTypeHost = 1;
constexpr int kMemoryTypeArray = 3;

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

int give(int value, int* target) {
  if (!target) return fake::kInvalidValue;
  *target = value;
  return fake::kOk;
}

}  // namespace

FAKE_API int cuInit(unsigned flags) {
  if (const int failed = fake::enterWithoutDevice(__func__); failed && failed != fake::kNotInitialized) return failed;
  if (flags) return fake::kInvalidValue;
  const Lock lock(state().mutex);
  fake::initialize();
  return state().devices.empty() ? fake::kNoDevice : fake::kOk;
}

FAKE_API int cuDriverGetVersion(int* version) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return give(fake::settings().cudaVersion, version);
}

FAKE_API int cuGetErrorName(int error, const char** name) {
  *name = fake::kPersonality.resultName(error);
  return *name ? fake::kOk : fake::kInvalidValue;
}

FAKE_API int cuDeviceGetCount(int* count) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return give(fake::settings().deviceCount, count);
}

FAKE_API int cuDeviceGet(int* device, int ordinal) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return fake::findDevice(ordinal) ? give(ordinal, device) : fake::kInvalidDevice;
}

FAKE_API int cuDeviceGetName(char* name, int size, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  return fake::copyText("Fake CUDA device " + std::to_string(device), name, size);
}

FAKE_API int cuDeviceGetPCIBusId(char* text, int size, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  return fake::copyText("0000:0" + std::to_string(device + 1) + ":00.0", text, size);
}

FAKE_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return fake::findDevice(device) ? fake::deviceAttribute(attribute, value) : fake::kInvalidDevice;
}

FAKE_API int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  *bytes = fake::findDevice(device)->size;
  return fake::kOk;
}

FAKE_API int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device) || !fake::findDevice(peer)) return fake::kInvalidDevice;
  return give(device != peer && fake::settings().peerAccess, can);
}

FAKE_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  Device* found = fake::findDevice(device);
  if (!found) return fake::kInvalidDevice;
  ++found->contextReferences;
  *context = found;
  return fake::kOk;
}

FAKE_API int cuDevicePrimaryCtxRelease_v2(int device) {
  const int failed = fake::enterWithoutDevice(__func__);
  const int result = fake::releaseContext(device);
  return failed ? failed : result;
}

FAKE_API int cuCtxGetCurrent(void** context) {
  if (fake::launchesDoNothing()) {  // nor does what every one of them asks for
    *context = fake::currentDevice();
    return fake::kOk;
  }
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  *context = fake::currentDevice();
  return fake::kOk;
}

FAKE_API int cuCtxSetCurrent(void* context) {
  if (fake::launchesDoNothing()) {
    fake::setCurrentDevice(static_cast<Device*>(context));
    return fake::kOk;
  }
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  fake::setCurrentDevice(static_cast<Device*>(context));
  return fake::kOk;
}

FAKE_API int cuCtxSynchronize(void) {
  FAKE_ENTER();
  Lock lock(state().mutex);
  return fake::synchronize(lock, *fake::currentDevice());
}

FAKE_API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_ENTER();
  *least = 0;
  *greatest = fake::kGreatestPriority;
  return fake::kOk;
}

FAKE_API int cuCtxEnablePeerAccess(void* peerContext, unsigned) {
  FAKE_ENTER();
  return fake::enablePeer(static_cast<Device*>(peerContext));
}

FAKE_API int cuMemGetInfo_v2(size_t* free, size_t* total) {
  FAKE_ENTER();
  return fake::memoryInfo(free, total);
}

FAKE_API int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::allocateDevice(*fake::currentDevice(), bytes, address);
}

FAKE_API int cuMemFree_v2(uint64_t address) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning() || address == 0) return failed;
  Lock lock(state().mutex);
  const int result = fake::freeDevice(address);
  fake::waitForAll(lock, fake::currentDevice());
  return failed ? failed : result;
}

FAKE_API int cuMemAllocAsync(uint64_t* address, size_t bytes, void* handle) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? fake::allocateDevice(*stream->device, bytes, address) : fake::kInvalidHandle;
}

FAKE_API int cuMemFreeAsync(uint64_t address, void* handle) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  const int result = stream ? fake::freeDeviceAsync(stream, address) : fake::kInvalidHandle;
  return failed ? failed : result;
}

FAKE_API int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::allocateHost(bytes, pointer);
}

FAKE_API int cuMemFreeHost(void* pointer) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  Lock lock(state().mutex);
  const int result = fake::freeHost(pointer);
  fake::waitForAll(lock, fake::currentDevice());
  return failed ? failed : result;
}

FAKE_API int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::registerHost(pointer, bytes);
}

FAKE_API int cuMemHostUnregister(void* pointer) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const Lock lock(state().mutex);
  const int result = fake::unregisterHost(pointer);
  return failed ? failed : result;
}

FAKE_API int cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, target, source, bytes);
}

FAKE_API int cuMemcpyHtoDAsync_v2(uint64_t target, const void* source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, target, addressOf(source), bytes);
}

FAKE_API int cuMemcpyDtoHAsync_v2(void* target, uint64_t source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, addressOf(target), source, bytes);
}

FAKE_API int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, target, source, bytes);
}

FAKE_API int cuMemcpyHtoD_v2(uint64_t target, const void* source, size_t bytes) {
  FAKE_ENTER();
  return fake::copySync(target, addressOf(source), bytes);
}

FAKE_API int cuMemcpyDtoH_v2(void* target, uint64_t source, size_t bytes) {
  FAKE_ENTER();
  return fake::copySync(addressOf(target), source, bytes);
}

FAKE_API int cuMemcpyPeerAsync(uint64_t target, void* targetContext, uint64_t source, void* sourceContext, size_t bytes,
                               void* stream) {
  FAKE_ENTER();
  if (fake::deviceOfAddress(target) != targetContext || fake::deviceOfAddress(source) != sourceContext)
    return fake::kInvalidValue;
  return fake::copyPeerAsync(stream, target, source, bytes);
}

FAKE_API int cuMemcpy2DAsync_v2(const Copy2d* copy, void* stream) {
  FAKE_ENTER();
  if (!copy || copy->sourceType == kMemoryTypeArray || copy->targetType == kMemoryTypeArray) return fake::kInvalidValue;
  const uint64_t source = copy->sourceType == kMemoryTypeHost ? addressOf(copy->sourceHost) : copy->sourceDevice;
  const uint64_t target = copy->targetType == kMemoryTypeHost ? addressOf(copy->targetHost) : copy->targetDevice;
  return fake::copy2DAsync(stream, {target + copy->targetY * copy->targetPitch + copy->targetX, copy->targetPitch,
                                    source + copy->sourceY * copy->sourcePitch + copy->sourceX, copy->sourcePitch,
                                    copy->width, copy->height});
}

FAKE_API int cuMemsetD8Async(uint64_t target, unsigned char value, size_t count, void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, target, count, value, 1, count, 1);
}

FAKE_API int cuMemsetD16Async(uint64_t target, unsigned short value, size_t count, void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, target, count * 2, value, 2, count, 1);
}

FAKE_API int cuMemsetD32Async(uint64_t target, unsigned value, size_t count, void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, target, count * 4, value, 4, count, 1);
}

FAKE_API int cuMemsetD2D8Async(uint64_t target, size_t pitch, unsigned char value, size_t width, size_t height,
                               void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, target, pitch, value, 1, width, height);
}

FAKE_API int cuMemsetD2D16Async(uint64_t target, size_t pitch, unsigned short value, size_t width, size_t height,
                                void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, target, pitch, value, 2, width, height);
}

FAKE_API int cuMemsetD2D32Async(uint64_t target, size_t pitch, unsigned value, size_t width, size_t height,
                                void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, target, pitch, value, 4, width, height);
}

FAKE_API int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::createStream(*fake::currentDevice(), flags, priority, stream);
}

FAKE_API int cuStreamCreate(Stream** stream, unsigned flags) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::createStream(*fake::currentDevice(), flags, 0, stream);
}

FAKE_API int cuStreamDestroy_v2(Stream* stream) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const Lock lock(state().mutex);
  const int result = fake::destroyStream(stream);
  return failed ? failed : result;
}

FAKE_API int cuStreamSynchronize(void* handle) {
  FAKE_ENTER();
  Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? fake::synchronize(lock, stream) : fake::kInvalidHandle;
}

FAKE_API int cuStreamQuery(void* handle) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? fake::query(stream) : fake::kInvalidHandle;
}

FAKE_API int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::waitForEvent(fake::findStream(stream), event);
}

FAKE_API int cuStreamGetCtx(void* handle, void** context) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  if (!stream) return fake::kInvalidHandle;
  *context = stream->device;
  return fake::kOk;
}

FAKE_API int cuStreamGetPriority(void* handle, int* priority) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? give(stream->priority, priority) : fake::kInvalidHandle;
}

FAKE_API int cuLaunchHostFunc(void* handle, void (*function)(void*), void* userData) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  if (!stream || !function) return fake::kInvalidHandle;
  const auto call = [function, userData] {
    function(userData);
    return static_cast<int>(fake::kOk);
  };
  return fake::enqueueHostFunction(stream, call, false);
}

FAKE_API int cuEventCreate(Event** event, unsigned flags) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::createEvent(*fake::currentDevice(), !(flags & kEventWithoutTiming), event);
}

FAKE_API int cuEventDestroy_v2(Event* event) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const Lock lock(state().mutex);
  const int result = fake::destroyEvent(event);
  return failed ? failed : result;
}

FAKE_API int cuEventRecord(void* event, void* stream) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::recordEvent(event, fake::findStream(stream));
}

FAKE_API int cuEventQuery(void* event) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::queryEvent(event);
}

FAKE_API int cuEventSynchronize(void* event) {
  FAKE_ENTER();
  Lock lock(state().mutex);
  return fake::synchronizeEvent(lock, event);
}

FAKE_API int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::elapsedTime(milliseconds, start, end);
}

FAKE_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::beginCapture(fake::findStream(stream), mode);
}

FAKE_API int cuStreamEndCapture(void* stream, fake::Graph** graph) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::endCapture(fake::findStream(stream), graph);
}

FAKE_API int cuStreamIsCapturing(void* stream, int* status) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::captureStatus(fake::findStream(stream), status);
}

// It cannot fail, and so does not count as a call that can.
FAKE_API int cuThreadExchangeStreamCaptureMode(int* mode) { return fake::exchangeCaptureMode(mode); }

FAKE_API int cuGraphInstantiateWithFlags(fake::Graph** executable, fake::Graph* graph, unsigned long long) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::copyGraph(graph, executable);
}

FAKE_API int cuGraphLaunch(fake::Graph* executable, void* stream) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::launchGraph(executable, fake::findStream(stream));
}

FAKE_API int cuGraphExecDestroy(fake::Graph* executable) {
  const int failed = fake::enterWithoutDevice(__func__);
  const Lock lock(state().mutex);
  const int result = fake::destroyGraph(executable);
  return failed ? failed : result;
}

FAKE_API int cuGraphDestroy(fake::Graph* graph) {
  const int failed = fake::enterWithoutDevice(__func__);
  const Lock lock(state().mutex);
  const int result = fake::destroyGraph(graph);
  return failed ? failed : result;
}
