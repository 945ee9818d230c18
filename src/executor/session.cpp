// SPDX-License-Identifier: Apache-2.0
#include "executor/session.h"

#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/new_file.h"

namespace {

MaxProfilingMode modeNamed(const char* text) {
  if (!text) return MAX_PROFILING_MODE_OFF;
  const std::string_view value = text;
  if (value == "detailed") return MAX_PROFILING_MODE_DETAILED;
  if (value == "on" || value == "1" || value == "true") return MAX_PROFILING_MODE_ON;
  return MAX_PROFILING_MODE_OFF;
}

// What new sessions profile; read once.
MaxProfilingMode defaultProfiling() {
  static const MaxProfilingMode mode = [] {
    const char* own = secure_getenv("MAX_ENABLE_PROFILING");
    return modeNamed(own ? own : secure_getenv("MODULAR_ENABLE_PROFILING"));
  }();
  return mode;
}

// Where sessions that profile because of the environment write their traces; NULL = nowhere. Read once.
const char* profileFile() {
  static const std::string path = [] {
    const char* text = secure_getenv("MAX_PROFILE_FILE");
    return std::string(text ? text : "");
  }();
  return path.empty() ? nullptr : path.c_str();
}

// Where packed weights are kept for sessions that do not say so. Read once.
const char* defaultWeightsFolder() {
  static const std::string path = [] {
    const char* text = secure_getenv("MAX_WEIGHTS_CACHE_DIR");
    return std::string(text ? text : "");
  }();
  return path.c_str();
}

}  // namespace

MaxSession::MaxSession(std::vector<max::Ref<MaxDevice>> devices, int lanes, uint64_t memoryLimit,
                       const char* weightsFolder)
    : devices_(std::move(devices)),
      lanes_(lanes),
      weightsFolder_(weightsFolder ? weightsFolder : defaultWeightsFolder()),
      memory_(memoryLimit == 0 ? nullptr
                               : max::makeRef<max::MemoryAccount>("Memory limit of the session", memoryLimit)),
      profile_(max::makeRef<max::Profile>()),
      profiling_(defaultProfiling()) {}

MaxSession::~MaxSession() {
  const char* path = profileFile();
  if (!path || defaultProfiling() == MAX_PROFILING_MODE_OFF) return;
  try {
    max::writeFile(path, profile_->toJson());
  } catch (const std::exception& error) {
    if (max::isLogged(MAX_LOG_LEVEL_WARNING, logLevel()))
      max::sendLog(MAX_LOG_LEVEL_WARNING, max::concat("Cannot write the profile: ", error.what()));
  }
}

template <class Change>
void MaxSession::changePlanSettings(Change change) {
  uint32_t before = live_.plan.load(std::memory_order_relaxed), after;
  do {
    max::PlanSettings settings = max::PlanSettings::of(before);
    change(settings);
    after = settings.word();
  } while (!live_.plan.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

void MaxSession::setAssertLevel(MaxAssertLevel level) {
  changePlanSettings([&](max::PlanSettings& settings) { settings.guards = level != MAX_ASSERT_LEVEL_NONE; });
  assertLevel_.store(level, std::memory_order_relaxed);
}

void MaxSession::setPartialSums(max::PartialSums type) {
  changePlanSettings([&](max::PlanSettings& settings) { settings.kernels.partialSums = type; });
}

void MaxSession::setSortsForTopK(bool sorts) {
  changePlanSettings([&](max::PlanSettings& settings) { settings.kernels.sortsForTopK = sorts; });
}

namespace max {

RunSetup::RunSetup(const MaxSession& session, const std::string& model, const Interrupt& interrupt, bool isRun) {
  const MaxProfilingMode profiling = isRun ? session.profiling() : MAX_PROFILING_MODE_OFF;
  const MaxAssertLevel asserts = isRun ? session.assertLevel() : MAX_ASSERT_LEVEL_NONE;
  isNeeded_ = !interrupt.isEmpty() || session.memory() || profiling != MAX_PROFILING_MODE_OFF ||
              asserts != MAX_ASSERT_LEVEL_NONE;
  if (!isNeeded_) return;
  if (!interrupt.isEmpty()) call_.interrupt = &interrupt;
  call_.memory = session.memory();
  call_.logLevel = session.logLevel();
  if (asserts != MAX_ASSERT_LEVEL_NONE) add(checks_.emplace(asserts));
  if (profiling != MAX_PROFILING_MODE_OFF)
    add(profile_.emplace(session.profile(), session.mainDevice(), model, profiling == MAX_PROFILING_MODE_DETAILED));
}

void RunSetup::add(RunMonitor& monitor) {
  monitor.next = call_.monitor;
  call_.monitor = &monitor;
  isNeeded_ = true;
}

}  // namespace max
