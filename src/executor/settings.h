// SPDX-License-Identifier: Apache-2.0
// Settings of a session that take effect while its models run.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

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

// How and where a program is planned and run. `live` is NULL outside of sessions.
struct RunSettings {
  RunSettings(int lanes_, const LiveSettings* live_ = nullptr, Ref<MaxDevice> device_ = hostDevice())
      : lanes(lanes_),
        live(live_),
        device(std::move(device_)),
        host(device->isHost() ? device : hostDevice()),
        operators(&cpuOperators()),
        accelerator(deviceOperators(*device)) {}

  // The default stream, which on the host is the calling thread's.
  OpPlace place() const { return {device.get(), &device->defaultStream()}; }
  OpPlace hostPlace() const { return {host.get(), &host->defaultStream()}; }
  // For programs of which everything runs on the host.
  RunSettings onHost() const {
    RunSettings settings = *this;
    settings.device = host;
    settings.accelerator = nullptr;
    return settings;
  }

  uint32_t planWord() const { return live ? live->plan.load(std::memory_order_relaxed) : 0; }

  int lanes;
  const LiveSettings* live;
  Ref<MaxDevice> device;
  Ref<MaxDevice> host;
  const OperatorLibrary* operators;    // of the host
  const DeviceOperators* accelerator;  // of the device, NULL = it is the host
};

}  // namespace max
