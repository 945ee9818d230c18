// SPDX-License-Identifier: Apache-2.0
#include "max/stream.h"

#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "capi/wait.h"
#include "device/device.h"
#include "device/event.h"
#include "device/stream.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

// Called exactly once, whatever happened before, so that its owner can free userData. The message of an earlier failure
// is this thread's by then, as that of a failing call is its caller's.
class HostFunctionTask final : public max::StreamTask {
 public:
  HostFunctionTask(MaxHostFunction function, void* userData) : function_(function), userData_(userData) {}
  void run(const max::Error* earlier) override {
    function_(userData_,
              earlier ? max::capi::reportError(earlier->status(), earlier->message().c_str()) : MAX_STATUS_OK);
  }
  bool runsAfterFailure() const override { return true; }

 private:
  MaxHostFunction function_;
  void* userData_;
};

void requireSameDevice(const MaxStream& stream, const MaxEvent& event) {
  max::require(&stream.device() == &event.device(), MAX_STATUS_INVALID_ARGUMENT, "Event belongs to ",
               event.device().displayName(), ", the stream to ", stream.device().displayName());
}

}  // namespace

MaxStatus maxStreamCreate(const MaxDevice* device, const MaxStreamOptions* options, MaxStream** outStream) {
  return guard([&] {
    clearOutput(outStream, "outStream");
    const MaxStreamOptions chosen = max::capi::readOptions(options, "MaxStreamOptions");
    max::capi::requireReserved(chosen.reserved, "MaxStreamOptions");
    *outStream = max::capi::deviceFor(const_cast<MaxDevice*>(device))->createStream(chosen.priority).detach();
  });
}

MaxStatus maxStreamWrap(const MaxDevice* device, void* native, MaxStream** outStream) {
  return guard([&] {
    clearOutput(outStream, "outStream");
    *outStream = max::capi::deviceFor(const_cast<MaxDevice*>(device))->wrapStream(native).detach();
  });
}

void maxStreamRetain(const MaxStream* stream) {
  if (stream) stream->retain();
}

void maxStreamRelease(const MaxStream* stream) {
  if (stream) stream->release();
}

MaxStatus maxStreamGetDevice(const MaxStream* stream, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    requireArgument(stream, "stream");
    *outDevice = &stream->device();
  });
}

MaxStatus maxStreamIsDefault(const MaxStream* stream, int32_t* outIsDefault) {
  return guard([&] {
    requireArgument(stream, "stream");
    requireArgument(outIsDefault, "outIsDefault");
    *outIsDefault = stream->isDefault();
  });
}

MaxStatus maxStreamGetNative(const MaxStream* stream, void** outNative) {
  return guard([&] {
    clearOutput(outNative, "outNative");
    requireArgument(stream, "stream");
    *outNative = const_cast<MaxStream*>(stream)->native();
  });
}

MaxStatus maxStreamSynchronize(MaxStream* stream, int64_t timeoutNs) {
  return guard([&] {
    requireArgument(stream, "stream");
    max::capi::waitAtMost(timeoutNs, [&] { stream->synchronize(); });
  });
}

MaxStatus maxStreamWaitForStream(MaxStream* stream, MaxStream* other) {
  return guard([&] {
    requireArgument(stream, "stream");
    requireArgument(other, "other");
    stream->waitFor(*other);
  });
}

MaxStatus maxStreamWaitForDevice(MaxStream* stream, const MaxDevice* device) {
  return guard([&] {
    requireArgument(stream, "stream");
    requireArgument(device, "device");
    stream->waitFor(const_cast<MaxDevice*>(device)->defaultStream());
  });
}

MaxStatus maxStreamWaitForEvent(MaxStream* stream, const MaxEvent* event) {
  return guard([&] {
    requireArgument(stream, "stream");
    requireArgument(event, "event");
    stream->wait(const_cast<MaxEvent&>(*event));
  });
}

MaxStatus maxStreamRecordEvent(MaxStream* stream, MaxEvent* event) {
  return guard([&] {
    requireArgument(stream, "stream");
    requireArgument(event, "event");
    requireSameDevice(*stream, *event);
    stream->record(*event);
  });
}

MaxStatus maxStreamEnqueueHostFunction(MaxStream* stream, MaxHostFunction function, void* userData) {
  return guard([&] {
    requireArgument(stream, "stream");
    requireArgument(reinterpret_cast<const void*>(function), "function");
    stream->enqueue(std::make_unique<HostFunctionTask>(function, userData));
  });
}
