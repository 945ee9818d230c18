// SPDX-License-Identifier: Apache-2.0
// Settings of a session that take effect while its models run.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/device_registry.h"
#include "max/log.h"
#include "ops/device_operators.h"
#include "ops/operator_library.h"

namespace max {

// Settings that plans depend on, packed in one word, so that a run can cheaply compare them with its plan's.
struct PlanSettings {
  OpSettings kernels;
  bool guards = false;  // guard bytes after each value, including outputs

  uint32_t word() const {
    return static_cast<uint32_t>(kernels.partialSums) | (kernels.sortsForTopK ? 4u : 0u) | (guards ? 8u : 0u);
  }
  static PlanSettings of(uint32_t word) {
    return {{static_cast<PartialSums>(word & 3u), (word & 4u) != 0}, (word & 8u) != 0};
  }
};

// Shared by all models of a session; changes take effect from the next call on.
struct LiveSettings {
  std::atomic<uint32_t> plan{0};  // PlanSettings::word()
  std::atomic<MaxLogLevel> logLevel{MAX_LOG_LEVEL_INFO};
};

// Where a value lies or a step runs: on the host, or on the accelerator with this number less one among the session's
// devices. The first device is the model's.
using Memory = uint8_t;
inline constexpr Memory kHostMemory = 0;
inline constexpr Memory kMainMemory = 1;  // of a model's accelerator
inline constexpr size_t kMostDevices = 64;

// How and where a program is planned and run. `live` is NULL outside of sessions.
struct RunSettings {
  RunSettings(int lanes_, const LiveSettings* live_ = nullptr, std::vector<Ref<MaxDevice>> devices_ = {hostDevice()})
      : lanes(lanes_),
        live(live_),
        devices(std::move(devices_)),
        device(devices.front()),
        host(device->isHost() ? device : hostDevice()),
        operators(&cpuOperators()),
        accelerator(deviceOperators(*device)) {}

  // The default stream, which on the host is the calling thread's.
  OpPlace place() const { return {device.get(), &device->defaultStream()}; }
  OpPlace hostPlace() const { return {host.get(), &host->defaultStream()}; }
  // For programs of which everything runs on the host.
  RunSettings onHost() const {
    RunSettings settings = *this;
    settings.devices = {host};
    settings.device = host;
    settings.accelerator = nullptr;
    return settings;
  }
  // Of what is placed on a device of the session; NULL = the first.
  Memory memoryOf(const RefCounted* placed) const {
    size_t i = 0;
    while (placed && i < devices.size() && devices[i].get() != placed) ++i;
    return i < devices.size() && !devices[i]->isHost() ? static_cast<Memory>(i + 1) : kHostMemory;
  }
  MaxDevice& deviceOf(Memory memory) const { return memory == kHostMemory ? *host : *devices[memory - 1u]; }
  // As graphs name it (Node::home).
  const RefCounted* homeOf(Memory memory) const { return memory == kMainMemory ? nullptr : devices[memory - 1u].get(); }

  uint32_t planWord() const { return live ? live->plan.load(std::memory_order_relaxed) : 0; }

  int lanes;
  const LiveSettings* live;
  std::vector<Ref<MaxDevice>> devices;  // of the session
  Ref<MaxDevice> device;                // the first of them
  Ref<MaxDevice> host;
  const OperatorLibrary* operators;    // of the host
  const DeviceOperators* accelerator;  // of the device, NULL = it is the host
};

}  // namespace max
