// SPDX-License-Identifier: Apache-2.0
#include "executor/session.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "capi/guard.h"
#include "capi/index.h"
#include "capi/options.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

std::vector<max::Ref<MaxDevice>> devicesOf(const MaxSessionOptions& options) {
  max::require(options.deviceCount >= 0, MAX_STATUS_INVALID_ARGUMENT, "deviceCount is ", options.deviceCount);
  std::vector<max::Ref<MaxDevice>> devices;
  if (options.deviceCount > 0) requireArgument(options.devices, "options.devices");
  for (int32_t i = 0; i < options.deviceCount; ++i) {
    max::require(options.devices[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Device ", i, " is NULL");
    devices.emplace_back(options.devices[i]);
  }
  if (devices.empty()) devices.push_back(max::hostDevice());
  max::require(devices.front()->isHost(), MAX_STATUS_UNIMPLEMENTED, "Models do not run on ",
               devices.front()->displayName(), " yet; the first device must be the host");
  return devices;
}

int lanesOf(const MaxSessionOptions& options) {
  max::require(options.numThreads >= 0 && options.numThreads <= 65536, MAX_STATUS_INVALID_ARGUMENT, "numThreads is ",
               options.numThreads);
  return std::min(options.numThreads > 0 ? options.numThreads : max::defaultLanes(), max::kMaxLanes);
}

}  // namespace

MaxStatus maxSessionCreate(const MaxSessionOptions* options, MaxSession** outSession) {
  return guard([&] {
    clearOutput(outSession, "outSession");
    const MaxSessionOptions chosen = max::capi::readOptions(options, "MaxSessionOptions");
    *outSession = max::makeRef<MaxSession>(devicesOf(chosen), lanesOf(chosen)).detach();
  });
}

void maxSessionRetain(const MaxSession* session) {
  if (session) session->retain();
}

void maxSessionRelease(const MaxSession* session) {
  if (session) session->release();
}

MaxStatus maxSessionGetDeviceCount(const MaxSession* session, int32_t* outCount) {
  return guard([&] {
    requireArgument(session, "session");
    requireArgument(outCount, "outCount");
    *outCount = static_cast<int32_t>(session->devices().size());
  });
}

MaxStatus maxSessionGetDevice(const MaxSession* session, int32_t index, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    requireArgument(session, "session");
    *outDevice = max::capi::elementAt(session->devices(), index, "Device").get();
  });
}

MaxStatus maxSessionGetNumThreads(const MaxSession* session, int32_t* outNumThreads) {
  return guard([&] {
    requireArgument(session, "session");
    requireArgument(outNumThreads, "outNumThreads");
    *outNumThreads = session->lanes();
  });
}
