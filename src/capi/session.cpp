// SPDX-License-Identifier: Apache-2.0
#include "executor/session.h"

#include <algorithm>

#include "base/log.h"
#include "base/new_file.h"
#include "base/thread_pool.h"
#include "capi/guard.h"
#include "capi/index.h"
#include "capi/options.h"
#include "device/device_registry.h"

using max::capi::clearOutput;
using max::capi::getValue;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

constexpr int32_t kMostThreads = 65536;

// In the order of max::PartialSums.
struct PartialSumsRow {
  MaxDType dtype;
  max::PartialSums value;
};
constexpr PartialSumsRow kPartialSums[] = {{MAX_DTYPE_FLOAT32, max::PartialSums::Float32},
                                           {MAX_DTYPE_FLOAT64, max::PartialSums::Float64},
                                           {MAX_DTYPE_FLOAT16, max::PartialSums::Float16},
                                           {MAX_DTYPE_BFLOAT16, max::PartialSums::BFloat16}};

std::vector<max::Ref<MaxDevice>> devicesOf(const MaxSessionOptions& options) {
  max::capi::requireCount(options.deviceCount, "deviceCount");
  if (options.deviceCount > static_cast<int32_t>(max::kMostDevices))
    max::invalidArgument("deviceCount is ", options.deviceCount, "; at most ", max::kMostDevices);
  std::vector<max::Ref<MaxDevice>> devices;
  if (options.deviceCount > 0) requireArgument(options.devices, "options.devices");
  for (int32_t i = 0; i < options.deviceCount; ++i) {
    if (!max::isHandle(options.devices[i]))
      max::invalidArgument("Device ", i, " ", max::wrongHandleText(options.devices[i]));
    devices.emplace_back(options.devices[i]);
  }
  if (devices.empty()) devices.push_back(max::hostDevice());
  return devices;
}

int lanesOf(const MaxSessionOptions& options) {
  max::capi::requireWithin(options.threadCount, 0, kMostThreads, "threadCount");
  return std::min(options.threadCount > 0 ? options.threadCount : max::defaultLanes(), max::kMaxLanes);
}

// Only sessions with a limit count.
MaxSessionMemory memoryOf(const max::MemoryAccount* account) {
  MaxSessionMemory memory = MAX_SESSION_MEMORY_INIT;
  if (!account) return memory;
  memory.validMask = MAX_SESSION_MEMORY_USED | MAX_SESSION_MEMORY_PEAK | MAX_SESSION_MEMORY_LIMIT;
  memory.used = account->used();
  memory.peak = account->peak();
  memory.limit = account->limit();
  return memory;
}

}  // namespace

MaxStatus maxSessionCreate(const MaxSessionOptions* options, MaxSession** outSession) {
  return guard([&] {
    clearOutput(outSession, "outSession");
    const MaxSessionOptions chosen = max::capi::readOptions(options, "MaxSessionOptions");
    *outSession =
        max::makeRef<MaxSession>(devicesOf(chosen), lanesOf(chosen), chosen.memoryLimit, chosen.weightsCacheDir)
            .detach();
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

MaxStatus maxSessionGetThreadCount(const MaxSession* session, int32_t* outCount) {
  return guard([&] {
    requireArgument(session, "session");
    requireArgument(outCount, "outCount");
    *outCount = session->lanes();
  });
}

MaxStatus maxSessionSetLogLevel(MaxSession* session, MaxLogLevel level) {
  return guard([&] {
    requireArgument(session, "session");
    max::requireLogLevel(level);
    session->setLogLevel(level == MAX_LOG_LEVEL_NOTSET ? max::kDefaultLogLevel : level);
  });
}

MaxStatus maxSessionGetLogLevel(const MaxSession* session, MaxLogLevel* outLevel) {
  return getValue(session, "session", outLevel, "outLevel", [](const MaxSession& s) { return s.logLevel(); });
}

MaxStatus maxSessionSetAssertLevel(MaxSession* session, MaxAssertLevel level) {
  return guard([&] {
    requireArgument(session, "session");
    max::capi::requireWithin(level, MAX_ASSERT_LEVEL_NONE, MAX_ASSERT_LEVEL_ALL, "Assert level");
    session->setAssertLevel(level);
  });
}

MaxStatus maxSessionGetAssertLevel(const MaxSession* session, MaxAssertLevel* outLevel) {
  return getValue(session, "session", outLevel, "outLevel", [](const MaxSession& s) { return s.assertLevel(); });
}

MaxStatus maxSessionSetSplitKReductionPrecision(MaxSession* session, MaxDType dtype) {
  return guard([&] {
    requireArgument(session, "session");
    for (const PartialSumsRow& row : kPartialSums)
      if (row.dtype == dtype) return session->setPartialSums(row.value);
    max::invalidArgument("Partial sums cannot be ", maxDTypeGetName(dtype),
                         "; they must be float32, float64, float16 or bfloat16");
  });
}

MaxStatus maxSessionGetSplitKReductionPrecision(const MaxSession* session, MaxDType* outDType) {
  return getValue(session, "session", outDType, "outDType", [](const MaxSession& s) {
    return kPartialSums[static_cast<size_t>(s.opSettings().partialSums)].dtype;
  });
}

MaxStatus maxSessionSetUseOldTopK(MaxSession* session, int32_t useOldTopK) {
  return guard([&] {
    requireArgument(session, "session");
    session->setSortsForTopK(useOldTopK != 0);
  });
}

MaxStatus maxSessionGetUseOldTopK(const MaxSession* session, int32_t* outUseOldTopK) {
  return getValue(session, "session", outUseOldTopK, "outUseOldTopK",
                  [](const MaxSession& s) { return s.opSettings().sortsForTopK; });
}

MaxStatus maxSessionSetProfiling(MaxSession* session, MaxProfilingMode mode) {
  return guard([&] {
    requireArgument(session, "session");
    max::capi::requireWithin(mode, MAX_PROFILING_MODE_OFF, MAX_PROFILING_MODE_DETAILED, "Profiling mode");
    session->setProfiling(mode);
  });
}

MaxStatus maxSessionGetProfiling(const MaxSession* session, MaxProfilingMode* outMode) {
  return getValue(session, "session", outMode, "outMode", [](const MaxSession& s) { return s.profiling(); });
}

MaxStatus maxSessionWriteProfile(const MaxSession* session, const char* path) {
  return guard([&] {
    requireArgument(session, "session");
    requireArgument(path, "path");
    max::writeFile(path, session->profile().toJson());
  });
}

MaxStatus maxSessionClearProfile(MaxSession* session) {
  return guard([&] {
    requireArgument(session, "session");
    session->profile().clear();
  });
}

MaxStatus maxSessionGetMemory(const MaxSession* session, MaxSessionMemory* outMemory) {
  return guard([&] {
    requireArgument(session, "session");
    requireArgument(outMemory, "outMemory");
    max::capi::writeReport(outMemory, memoryOf(session->memory()), "MaxSessionMemory");
  });
}
