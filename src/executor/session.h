// SPDX-License-Identifier: Apache-2.0
// A session: devices and settings that models are loaded with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/memory_account.h"
#include "base/ref.h"
#include "device/device.h"
#include "executor/checks.h"
#include "executor/profile.h"
#include "executor/settings.h"
#include "max/session.h"

struct MaxSession : max::HandleOf<MaxSession> {
 public:
  // `devices` is not empty; lanes is at least 1; a limit of 0 means none; a folder that is NULL means that of the
  // environment.
  MaxSession(std::vector<max::Ref<MaxDevice>> devices, int lanes, uint64_t memoryLimit = 0,
             const char* weightsFolder = nullptr);
  // Writes the profile if an environment variable asks for it.
  ~MaxSession() override;

  const std::vector<max::Ref<MaxDevice>>& devices() const { return devices_; }
  MaxDevice& mainDevice() const { return *devices_.front(); }
  int lanes() const { return lanes_; }
  const std::string& weightsFolder() const { return weightsFolder_; }  // of the cache on disk; empty = none
  // NULL without a limit.
  max::MemoryAccount* memory() const { return memory_.get(); }
  max::Profile& profile() const { return *profile_; }
  max::RunSettings runSettings() const { return {lanes_, &live_, devices_}; }

  MaxLogLevel logLevel() const { return live_.logLevel.load(std::memory_order_relaxed); }
  void setLogLevel(MaxLogLevel level) { live_.logLevel.store(level, std::memory_order_relaxed); }
  MaxAssertLevel assertLevel() const { return assertLevel_.load(std::memory_order_relaxed); }
  void setAssertLevel(MaxAssertLevel level);
  MaxProfilingMode profiling() const { return profiling_.load(std::memory_order_relaxed); }
  void setProfiling(MaxProfilingMode mode) { profiling_.store(mode, std::memory_order_relaxed); }
  max::OpSettings opSettings() const { return planSettings().kernels; }
  void setPartialSums(max::PartialSums type);
  void setSortsForTopK(bool sorts);

 private:
  max::PlanSettings planSettings() const { return max::PlanSettings::of(live_.plan.load(std::memory_order_relaxed)); }
  template <class Change>
  void changePlanSettings(Change change);

  std::vector<max::Ref<MaxDevice>> devices_;
  int lanes_;
  std::string weightsFolder_;
  max::Ref<max::MemoryAccount> memory_;
  max::Ref<max::Profile> profile_;
  max::LiveSettings live_;
  std::atomic<MaxAssertLevel> assertLevel_{MAX_ASSERT_LEVEL_NONE};
  std::atomic<MaxProfilingMode> profiling_;
};

namespace max {

// The active call of one run; lives in the working thread. Most runs need none.
class RunSetup {
 public:
  // `isRun` false: nothing runs yet, so there is nothing to watch.
  RunSetup(const MaxSession& session, const std::string& model, const Interrupt& interrupt, bool isRun = true);
  RunSetup(const RunSetup&) = delete;
  // NULL if nothing is set.
  const ActiveCall* call() const { return isNeeded_ ? &call_ : nullptr; }
  void add(RunMonitor& monitor);

 private:
  ActiveCall call_;
  bool isNeeded_;
  std::optional<ProfileMonitor> profile_;
  std::optional<CheckMonitor> checks_;
};

}  // namespace max
