// SPDX-License-Identifier: Apache-2.0
// The timeline of a session's calls, step by step, for people and trace viewers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/event.h"
#include "executor/monitor.h"
#include "max/session.h"

namespace max {

class Profile : public RefCounted {
 public:
  // One step of one plan, or a call of a model.
  struct Label {
    std::string name, op, implementation;
    std::vector<std::string> sources;  // the model's nodes it comes from
    std::string inputs, outputs;       // types and shapes
    size_t place = 0;                  // of the node in the order of all nodes
    uint64_t multiplications = 0;      // of a product of matrices or convolution
    uint64_t bytes = 0;                // read and written; 0 = unknown
    bool isCall = false;
  };
  struct Event {
    uint32_t label;
    int32_t thread;           // or the track of a device
    int64_t start, duration;  // nanoseconds
  };

  // The first of the labels of a plan's steps; that of the node that ends it follows them.
  uint32_t labelsOf(const Plan& plan);
  uint32_t labelOfCall(const std::string& model);
  const std::string& nameOf(uint32_t label) const;
  // What runs on an accelerator has a track of its own, beside those of the threads.
  int32_t trackOf(const MaxDevice& device);
  // Events beyond a limit are counted but not kept.
  void add(const std::vector<Event>& events);
  void clear();

  // In Chrome's format, which Perfetto reads too.
  std::string toJson() const;

 private:
  static constexpr size_t kMaxEvents = size_t{1} << 20;

  // Guarded by the fork-safe lock of this object.
  std::deque<Label> labels_;
  std::map<uint64_t, uint32_t> plans_;     // by their ids
  std::map<std::string, uint32_t> calls_;  // by their models
  std::vector<std::string> tracks_;        // names of devices
  std::vector<Event> events_;
  uint64_t dropped_ = 0;
};

// The profile's description of a plan's step.
Profile::Label describeStep(const Plan& plan, size_t step);

// Records one call; nested steps (the body of a loop) only in detailed mode. Steps on an accelerator get the times of
// the device, so that the call waits for it at the end. The vendor's profiler gets a range for the call and one for
// each step.
class ProfileMonitor final : public RunMonitor {
 public:
  ProfileMonitor(Profile& profile, MaxDevice& device, const std::string& model, bool isDetailed);
  ~ProfileMonitor() override;

  void planBegins(const RunContext& context) override;
  void stepBegins(const RunContext& context, size_t step) override;
  void stepEnds(const RunContext& context, size_t step) override;
  void nodeBegins(const RunContext& context) override;
  void nodeEnds(const RunContext& context, std::span<const Ref<Tensor>> results) override;

 private:
  // A step on an accelerator between two marks on its stream.
  struct DeviceStep {
    uint32_t label;
    int32_t track;
    Ref<MaxEvent> begin, end;
  };

  uint32_t firstLabel(const RunContext& context);
  void finish(uint32_t label);
  void keep(const Profile::Event& event);
  void addDeviceSteps();

  void begin(const char* name);
  int64_t dropStart();

  Profile& profile_;
  MaxDevice& device_;  // whose tools are told of the steps, on whatever they run
  const bool isDetailed_;
  const int32_t thread_;
  const uint32_t call_;
  std::vector<int64_t> starts_;  // of the call and of the steps that nest, for each of which a range is open
  std::vector<DeviceStep> deviceSteps_;
  Ref<MaxEvent> begin_;  // of the step that an accelerator is given now
  std::vector<Profile::Event> events_;
  uint64_t plan_ = 0;  // of the last lookup of labels
  uint32_t label_ = 0;
};

}  // namespace max
