// SPDX-License-Identifier: Apache-2.0
// The fake driver's face as libamdhip64.so.
#include <cstring>
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

const Personality kPersonality = {true, true, false, [](int code) { return resultName(code, &ResultName::hip); }};

}  // namespace fake

namespace {

#ifdef FAKE_HIP_6
constexpr int kVersion = 60342134;  // 6.3
#else
constexpr int kVersion = 50221153;  // 5.2
#endif
constexpr unsigned kEventWithoutTiming = 2;

// hipDeviceAttribute_t -> CUDA's number.
struct Attribute {
  int hip;
  int cuda;
};
constexpr Attribute kAttributes[] = {
    {2, 40},  {3, 19},  {5, 13}, {8, 31},  {10, 95}, {16, 18}, {18, 17}, {19, 38}, {23, 75}, {24, 83},  {26, 2},
    {27, 3},  {28, 4},  {29, 5}, {30, 6},  {31, 7},  {56, 1},  {57, 39}, {59, 37}, {60, 36}, {61, 76},  {63, 16},
    {71, 12}, {72, 82}, {74, 8}, {75, 97}, {76, 81}, {78, 78}, {81, 14}, {83, 9},  {85, 41}, {88, 115}, {10002, 81},
};

// Offsets in hipDeviceProp_t: HIP 6 gave it a new layout, under a new name of the function.
struct Layout {
  size_t memory;
  size_t architecture;
};
constexpr Layout kLayout5 = {256, 396};
[[maybe_unused]] constexpr Layout kLayout6 = {288, 1160};
constexpr int kWavefrontSize = 87;

std::string architecture() { return fake::settings().lanes == 32 ? "gfx1030" : "gfx90a"; }

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

int give(int value, int* target) {
  if (!target) return fake::kInvalidValue;
  *target = value;
  return fake::kOk;
}

thread_local int lastError = fake::kOk;

int remembered(int result) {
  if (result) lastError = result;
  return result;
}

std::string nameOf(int device) { return "Fake HIP device " + std::to_string(device); }

int giveProperties(const char* function, const Layout& layout, void* properties, int device) {
  if (const int failed = fake::enterWithoutDevice(function)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  auto* bytes = static_cast<char*>(properties);
  memcpy(bytes, nameOf(device).c_str(), nameOf(device).size() + 1);
  const size_t memory = fake::findDevice(device)->size;
  memcpy(bytes + layout.memory, &memory, sizeof memory);
  memcpy(bytes + layout.architecture, architecture().c_str(), architecture().size() + 1);
  return fake::kOk;
}

}  // namespace

FAKE_API const char* hipGetErrorName(int error) {
  const char* name = fake::kPersonality.resultName(error);
  return name ? name : "hipErrorUnknown";
}

FAKE_API int hipGetLastError(void) {
  const int error = lastError;
  lastError = fake::kOk;
  return error;
}

FAKE_API int hipInit(unsigned flags) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (flags) return fake::kInvalidValue;
  return state().devices.empty() ? fake::kNoDevice : fake::kOk;
}

FAKE_API int hipDriverGetVersion(int* version) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return give(kVersion, version);
}

FAKE_API int hipRuntimeGetVersion(int* version) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return give(kVersion, version);
}

FAKE_API int hipGetDeviceCount(int* count) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (give(fake::settings().deviceCount, count)) return fake::kInvalidValue;
  return *count > 0 ? fake::kOk : fake::kNoDevice;
}

FAKE_API int hipDeviceGet(int* device, int ordinal) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return fake::findDevice(ordinal) ? give(ordinal, device) : fake::kInvalidDevice;
}

FAKE_API int hipDeviceGetName(char* name, int size, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return fake::findDevice(device) ? fake::copyText(nameOf(device), name, size) : fake::kInvalidDevice;
}

FAKE_API int hipDeviceGetPCIBusId(char* text, int size, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  return fake::copyText("0000:0" + std::to_string(device + 1) + ":00.0", text, size);
}

FAKE_API int hipDeviceGetAttribute(int* value, int attribute, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  if (attribute == kWavefrontSize) return give(static_cast<int>(fake::settings().lanes), value);
  for (const Attribute& row : kAttributes)
    if (row.hip == attribute) return remembered(fake::deviceAttribute(row.cuda, value));
  return remembered(fake::kInvalidValue);
}

FAKE_API int hipGetDeviceProperties(void* properties, int device) {
  return giveProperties(__func__, kLayout5, properties, device);
}

#ifdef FAKE_HIP_6
FAKE_API int hipGetDevicePropertiesR0600(void* properties, int device) {
  return giveProperties(__func__, kLayout6, properties, device);
}
#endif

FAKE_API int hipDeviceTotalMem(size_t* bytes, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  *bytes = fake::findDevice(device)->size;
  return fake::kOk;
}

FAKE_API int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device) || !fake::findDevice(peer)) return fake::kInvalidDevice;
  return give(device != peer && fake::settings().peerAccess, can);
}

FAKE_API int hipDevicePrimaryCtxRetain(void** context, int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  Device* found = fake::findDevice(device);
  if (!found) return fake::kInvalidDevice;
  ++found->contextReferences;
  *context = found;
  return fake::kOk;
}

FAKE_API int hipDevicePrimaryCtxRelease(int device) {
  const int failed = fake::enterWithoutDevice(__func__);
  const int result = fake::releaseContext(device);
  return failed ? failed : result;
}

FAKE_API int hipGetDevice(int* device) {
  if (fake::launchesDoNothing()) return give(fake::currentDevice()->id, device);  // nor does what they ask for
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  return fake::currentDevice() ? give(fake::currentDevice()->id, device) : fake::kNoDevice;
}

FAKE_API int hipSetDevice(int device) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  if (!fake::findDevice(device)) return fake::kInvalidDevice;
  fake::setCurrentDevice(fake::findDevice(device));
  return fake::kOk;
}

FAKE_API int hipDeviceSynchronize(void) {
  FAKE_ENTER();
  Lock lock(state().mutex);
  return fake::synchronize(lock, *fake::currentDevice());
}

FAKE_API int hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_ENTER();
  *least = 1;
  *greatest = fake::kGreatestPriority;
  return fake::kOk;
}

FAKE_API int hipDeviceEnablePeerAccess(int peer, unsigned) {
  FAKE_ENTER();
  return fake::enablePeer(fake::findDevice(peer));
}

FAKE_API int hipMemGetInfo(size_t* free, size_t* total) {
  FAKE_ENTER();
  return fake::memoryInfo(free, total);
}

FAKE_API int hipMalloc(uint64_t* address, size_t bytes) {
  FAKE_ENTER();
  *address = 0;
  if (bytes == 0) return fake::kOk;
  Device* device = fake::currentDevice();
  const Lock lock(state().mutex);
  return remembered(fake::allocateDevice(*device, bytes, address));
}

// Waits for the device first. That it has to is a violation all the same: CUDA does not promise it.
FAKE_API int hipFree(uint64_t address) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning() || address == 0) return failed;
  Lock lock(state().mutex);
  const int result = fake::freeDevice(address);
  fake::waitForAll(lock, fake::currentDevice());
  return failed ? failed : result;
}

FAKE_API int hipHostMalloc(void** pointer, size_t bytes, unsigned) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::allocateHost(bytes, pointer);
}

FAKE_API int hipHostFree(void* pointer) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning() || !pointer) return failed;
  Lock lock(state().mutex);
  const int result = fake::freeHost(pointer);
  fake::waitForAll(lock, fake::currentDevice());
  return failed ? failed : result;
}

FAKE_API int hipHostRegister(void* pointer, size_t bytes, unsigned) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::registerHost(pointer, bytes);
}

FAKE_API int hipHostUnregister(void* pointer) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const Lock lock(state().mutex);
  const int result = fake::unregisterHost(pointer);
  return failed ? failed : result;
}

FAKE_API int hipMemcpyAsync(void* target, const void* source, size_t bytes, int, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, addressOf(target), addressOf(source), bytes);
}

FAKE_API int hipMemcpyHtoDAsync(void* target, void* source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, addressOf(target), addressOf(source), bytes);
}

FAKE_API int hipMemcpyDtoHAsync(void* target, void* source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, addressOf(target), addressOf(source), bytes);
}

FAKE_API int hipMemcpyDtoDAsync(void* target, void* source, size_t bytes, void* stream) {
  FAKE_ENTER();
  return fake::copyAsync(stream, addressOf(target), addressOf(source), bytes);
}

FAKE_API int hipMemcpyPeerAsync(void* target, int targetDevice, const void* source, int sourceDevice, size_t bytes,
                                void* stream) {
  FAKE_ENTER();
  if (fake::deviceOfAddress(addressOf(target)) != fake::findDevice(targetDevice) ||
      fake::deviceOfAddress(addressOf(source)) != fake::findDevice(sourceDevice))
    return fake::kInvalidValue;
  return fake::copyPeerAsync(stream, addressOf(target), addressOf(source), bytes);
}

FAKE_API int hipMemcpy2DAsync(void* target, size_t targetPitch, const void* source, size_t sourcePitch, size_t width,
                              size_t height, int, void* stream) {
  FAKE_ENTER();
  return fake::copy2DAsync(stream, {addressOf(target), targetPitch, addressOf(source), sourcePitch, width, height});
}

FAKE_API int hipMemsetD8Async(void* target, unsigned char value, size_t count, void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, addressOf(target), count, value, 1, count, 1);
}

FAKE_API int hipMemsetD16Async(void* target, unsigned short value, size_t count, void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, addressOf(target), count * 2, value, 2, count, 1);
}

FAKE_API int hipMemsetD32Async(void* target, int value, size_t count, void* stream) {
  FAKE_ENTER();
  return fake::fillAsync(stream, addressOf(target), count * 4, static_cast<uint32_t>(value), 4, count, 1);
}

FAKE_API int hipStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  FAKE_ENTER();
  Device* device = fake::currentDevice();
  const Lock lock(state().mutex);
  return fake::createStream(*device, flags, priority, stream);
}

FAKE_API int hipStreamDestroy(Stream* stream) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  Lock lock(state().mutex);
  const auto found = state().streams.find(stream);
  const fake::Position last = found == state().streams.end() ? fake::Position() : fake::lastPosition(found->second);
  const int result = fake::destroyStream(stream);
  fake::waitFor(lock, last);  // as AMD's runtime does
  return failed ? failed : result;
}

FAKE_API int hipStreamSynchronize(void* handle) {
  FAKE_ENTER();
  Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? fake::synchronize(lock, stream) : fake::kInvalidHandle;
}

FAKE_API int hipStreamQuery(void* handle) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return remembered(stream ? fake::query(stream) : fake::kInvalidHandle);
}

FAKE_API int hipStreamWaitEvent(void* stream, void* event, unsigned) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::waitForEvent(fake::findStream(stream), event);
}

FAKE_API int hipStreamGetDevice(void* handle, int* device) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? give(stream->device->id, device) : fake::kInvalidHandle;
}

FAKE_API int hipStreamGetPriority(void* handle, int* priority) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  const auto stream = fake::findStream(handle);
  return stream ? give(stream->priority, priority) : fake::kInvalidHandle;
}

FAKE_API int hipLaunchHostFunc(void* handle, void (*function)(void*), void* userData) {
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

FAKE_API int hipEventCreateWithFlags(Event** event, unsigned flags) {
  FAKE_ENTER();
  Device* device = fake::currentDevice();
  const Lock lock(state().mutex);
  return fake::createEvent(*device, !(flags & kEventWithoutTiming), event);
}

FAKE_API int hipEventDestroy(Event* event) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const Lock lock(state().mutex);
  const int result = fake::destroyEvent(event);
  return failed ? failed : result;
}

FAKE_API int hipEventRecord(void* event, void* stream) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::recordEvent(event, fake::findStream(stream));
}

FAKE_API int hipEventQuery(void* event) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return remembered(fake::queryEvent(event));
}

FAKE_API int hipEventSynchronize(void* event) {
  FAKE_ENTER();
  Lock lock(state().mutex);
  return fake::synchronizeEvent(lock, event);
}

FAKE_API int hipEventElapsedTime(float* milliseconds, void* start, void* end) {
  FAKE_ENTER();
  const Lock lock(state().mutex);
  return fake::elapsedTime(milliseconds, start, end);
}

FAKE_API int hipStreamBeginCapture(void* stream, int mode) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::beginCapture(fake::findStream(stream), mode);
}

FAKE_API int hipStreamEndCapture(void* stream, fake::Graph** graph) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::endCapture(fake::findStream(stream), graph);
}

FAKE_API int hipStreamIsCapturing(void* stream, int* status) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::captureStatus(fake::findStream(stream), status);
}

// It cannot fail, and so does not count as a call that can.
FAKE_API int hipThreadExchangeStreamCaptureMode(int* mode) { return fake::exchangeCaptureMode(mode); }

FAKE_API int hipGraphInstantiate(fake::Graph** executable, fake::Graph* graph, void**, char*, size_t) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::copyGraph(graph, executable);
}

FAKE_API int hipGraphLaunch(fake::Graph* executable, void* stream) {
  if (const int failed = fake::enterWithoutDevice(__func__)) return failed;
  const Lock lock(state().mutex);
  return fake::launchGraph(executable, fake::findStream(stream));
}

FAKE_API int hipGraphExecDestroy(fake::Graph* executable) {
  const int failed = fake::enterWithoutDevice(__func__);
  const Lock lock(state().mutex);
  const int result = fake::destroyGraph(executable);
  return failed ? failed : result;
}

FAKE_API int hipGraphDestroy(fake::Graph* graph) {
  const int failed = fake::enterWithoutDevice(__func__);
  const Lock lock(state().mutex);
  const int result = fake::destroyGraph(graph);
  return failed ? failed : result;
}
