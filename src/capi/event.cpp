// SPDX-License-Identifier: Apache-2.0
#include "max/event.h"

#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "capi/wait.h"
#include "device/device.h"
#include "device/event.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

MaxStatus maxEventCreate(const MaxDevice* device, const MaxEventOptions* options, MaxEvent** outEvent) {
  return guard([&] {
    clearOutput(outEvent, "outEvent");
    const MaxEventOptions chosen = max::capi::readOptions(options, "MaxEventOptions");
    max::capi::requireReserved(chosen.reserved, "MaxEventOptions");
    *outEvent = max::capi::deviceFor(const_cast<MaxDevice*>(device))->createEvent(chosen.timing != 0).detach();
  });
}

void maxEventRetain(const MaxEvent* event) {
  if (event) event->retain();
}

void maxEventRelease(const MaxEvent* event) {
  if (event) event->release();
}

MaxStatus maxEventGetDevice(const MaxEvent* event, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    requireArgument(event, "event");
    *outDevice = &event->device();
  });
}

MaxStatus maxEventSynchronize(const MaxEvent* event, int64_t timeoutNs) {
  return guard([&] {
    requireArgument(event, "event");
    max::capi::waitAtMost(timeoutNs, [&] { event->synchronize(); });
  });
}

MaxStatus maxEventQuery(const MaxEvent* event, int32_t* outIsReady) {
  return guard([&] {
    requireArgument(event, "event");
    requireArgument(outIsReady, "outIsReady");
    *outIsReady = event->isReady();
  });
}

MaxStatus maxEventGetElapsedTime(const MaxEvent* start, const MaxEvent* end, int64_t* outNanoseconds) {
  return guard([&] {
    requireArgument(start, "start");
    requireArgument(end, "end");
    requireArgument(outNanoseconds, "outNanoseconds");
    max::require(&start->device() == &end->device(), MAX_STATUS_INVALID_ARGUMENT, "Events belong to ",
                 start->device().displayName(), " and ", end->device().displayName());
    *outNanoseconds = end->elapsedSince(*start);
  });
}
