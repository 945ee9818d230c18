// SPDX-License-Identifier: Apache-2.0
#include "executor/profile.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/fork_lock.h"
#include "base/printable.h"
#include "device/stream.h"
#include "executor/run.h"
#include "ops/work.h"

namespace max {

namespace {

constexpr size_t kEventsAtOnce = 4096;
constexpr int32_t kFirstTrack = 1 << 30;  // beyond the numbers of threads

// "float32[1,3], int64[]"
std::string typesOf(const Plan& plan, uint32_t begin, uint32_t end) {
  std::string text;
  for (uint32_t entry = begin; entry < end; ++entry) {
    if (entry > begin) text += ", ";
    if (plan.types[entry].dtype == DType::Invalid)
      text += "-";
    else
      text += concat(plan.types[entry].dtype, plan.shapeOf(entry));
  }
  return text;
}

// Nodes without a name have their place and their output's name instead.
std::string nameOf(const Node& node, std::string_view op, size_t place) {
  if (!node.name.empty()) return node.name;
  const Value* output = node.outputs.empty() ? nullptr : node.outputs.front();
  return concat(op, " ", place, output && !output->name.empty() ? " -> " : "", output ? output->name : std::string());
}

std::vector<Operand> operandsOf(const Plan& plan, uint32_t begin, uint32_t end) {
  std::vector<Operand> operands;
  for (uint32_t entry = begin; entry < end; ++entry)
    operands.push_back(
        {plan.types[entry].dtype, plan.types[entry].dtype == DType::Invalid ? Shape() : plan.shapeOf(entry)});
  return operands;
}

std::string operatorOf(const Node& node) {
  return node.domain().empty() ? std::string(node.op()) : concat(node.domain(), ".", node.op());
}

}  // namespace

Profile::Label describeStep(const Plan& plan, size_t index) {
  const Step& step = plan.steps[index];
  Profile::Label label;
  label.op = step.node ? operatorOf(*step.node) : "Copy";
  label.place = step.place;
  if (step.node)
    label.name = nameOf(*step.node, label.op, step.place);
  else
    label.name = step.memory != kHostMemory ? step.kernel->implementation : "copy to output";
  if (step.node) label.sources = step.node->sources;
  const std::vector<Operand> inputs = operandsOf(plan, step.inputs, step.outputs);
  const std::vector<Operand> outputs = operandsOf(plan, step.outputs, step.end);
  if (step.node) label.multiplications = countMultiplications(*step.node, inputs, outputs);
  if (step.node) label.bytes = countBytes(*step.node, inputs, outputs);
  label.implementation = step.kernel->implementation;
  label.inputs = typesOf(plan, step.inputs, step.outputs);
  label.outputs = typesOf(plan, step.outputs, step.end);
  return label;
}

namespace {

Profile::Label describeBoundary(const Plan& plan) {
  const Boundary& boundary = plan.boundary;
  Profile::Label label;
  const Node& node = *boundary.node->node;
  label.op = operatorOf(node);
  label.place = boundary.node->place;
  label.name = nameOf(node, label.op, label.place);
  label.sources = node.sources;
  label.implementation = "dynamic";
  label.inputs = typesOf(plan, boundary.table, static_cast<uint32_t>(plan.table.size()));
  return label;
}

void appendJson(std::string& text, std::string_view value) {
  text += '"';
  for (const char c : printable(value)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  text += '"';
}

void appendField(std::string& text, const char* name, std::string_view value) {
  text += concat(text.back() == '{' ? "\"" : ",\"", name, "\":");
  appendJson(text, value);
}

void appendMicroseconds(std::string& text, const char* name, int64_t nanoseconds) {
  char number[64];
  std::snprintf(number, sizeof number, ",\"%s\":%lld.%03d", name, static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  text += number;
}

void appendArguments(std::string& text, const Profile::Label& label) {
  text += ",\"args\":{";
  if (!label.isCall) {
    appendField(text, "operator", label.op);
    appendField(text, "implementation", label.implementation);
    appendField(text, "inputs", label.inputs);
    appendField(text, "outputs", label.outputs);
    text += concat(",\"position\":", label.place);
    if (label.multiplications) text += concat(",\"multiplications\":", label.multiplications);
    if (label.bytes) text += concat(",\"bytes\":", label.bytes);
  }
  if (!label.sources.empty()) {
    text += text.back() == '{' ? "\"nodes\":[" : ",\"nodes\":[";
    for (size_t i = 0; i < label.sources.size(); ++i) {
      if (i) text += ',';
      appendJson(text, label.sources[i]);
    }
    text += ']';
  }
  text += '}';
}

}  // namespace

uint32_t Profile::labelsOf(const Plan& plan) {
  const std::lock_guard lock(forkSafeMutex(this));
  const auto [entry, isNew] = plans_.try_emplace(plan.id, static_cast<uint32_t>(labels_.size()));
  if (!isNew) return entry->second;
  for (size_t i = 0; i < plan.steps.size(); ++i) labels_.push_back(describeStep(plan, i));
  if (plan.boundary.kind == Boundary::Node) labels_.push_back(describeBoundary(plan));
  return entry->second;
}

uint32_t Profile::labelOfCall(const std::string& model) {
  const std::lock_guard lock(forkSafeMutex(this));
  const auto [entry, isNew] = calls_.try_emplace(model, static_cast<uint32_t>(labels_.size()));
  if (!isNew) return entry->second;
  Label label;
  label.name = model;
  label.isCall = true;
  labels_.push_back(std::move(label));
  return entry->second;
}

// Labels stay where they are.
const std::string& Profile::nameOf(uint32_t label) const {
  const std::lock_guard lock(forkSafeMutex(this));
  return labels_[label].name;
}

int32_t Profile::trackOf(const MaxDevice& device) {
  const std::lock_guard lock(forkSafeMutex(this));
  const std::string name = device.displayName();
  auto track = std::ranges::find(tracks_, name);
  if (track == tracks_.end()) track = tracks_.insert(track, name);
  return kFirstTrack + static_cast<int32_t>(track - tracks_.begin());
}

void Profile::add(const std::vector<Event>& events) {
  const std::lock_guard lock(forkSafeMutex(this));
  const size_t kept = std::min(events.size(), kMaxEvents - events_.size());
  events_.insert(events_.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(kept));
  dropped_ += events.size() - kept;
}

void Profile::clear() {
  const std::lock_guard lock(forkSafeMutex(this));
  events_.clear();
  dropped_ = 0;
}

std::string Profile::toJson() const {
  const std::lock_guard lock(forkSafeMutex(this));
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const std::string process = concat(",\"pid\":", static_cast<int64_t>(getpid()), ",\"tid\":");
  std::set<int32_t> threads;
  for (const Event& event : events_) {
    const Label& label = labels_[event.label];
    text += '{';
    appendField(text, "name", label.name);
    appendField(text, "cat", label.isCall ? "model" : label.op);
    text += concat(",\"ph\":\"X\"", process, event.thread);
    appendMicroseconds(text, "ts", event.start);
    appendMicroseconds(text, "dur", event.duration);
    appendArguments(text, label);
    text += "},\n";
    threads.insert(event.thread);
  }
  for (const int32_t thread : threads)
    text +=
        concat("{\"name\":\"thread_name\",\"ph\":\"M\"", process, thread, ",\"args\":{\"name\":\"",
               thread < kFirstTrack ? concat("thread ", thread) : tracks_[static_cast<size_t>(thread - kFirstTrack)],
               "\"}},\n");
  text += concat("{\"name\":\"process_name\",\"ph\":\"M\"", process, 0, ",\"args\":{\"name\":\"max\"}}\n],");
  text += concat("\"otherData\":{\"droppedEvents\":", dropped_, "}}\n");
  return text;
}

ProfileMonitor::ProfileMonitor(Profile& profile, MaxDevice& device, const std::string& model, bool isDetailed)
    : profile_(profile),
      device_(device),
      isDetailed_(isDetailed),
      thread_(static_cast<int32_t>(syscall(SYS_gettid))),
      call_(profile.labelOfCall(model)) {
  begin(model.c_str());
}

// A failing call is recorded up to the failure.
ProfileMonitor::~ProfileMonitor() {
  try {
    while (starts_.size() > 1) dropStart();
    addDeviceSteps();
    finish(call_);
    profile_.add(events_);
  } catch (...) {
    // Without memory the profile lacks this call.
  }
}

uint32_t ProfileMonitor::firstLabel(const RunContext& context) {
  if (plan_ != context.plan->id) {
    label_ = profile_.labelsOf(*context.plan);
    plan_ = context.plan->id;
  }
  return label_;
}

namespace {

MaxStream& streamOf(const RunContext& context, size_t step) { return *context.steps[step].context.place->stream; }

// Waits of the host are its own steps, as are copies of a stream whose work is being kept for later.
bool runsOnDevice(const RunContext& context, size_t index) {
  const Step& step = context.plan->steps[index];
  return step.memory != kHostMemory && step.inputs < step.end && !streamOf(context, index).isCaptured();
}

Ref<MaxEvent> markOn(MaxStream& stream) {
  Ref<MaxEvent> mark = stream.device().createEvent(true);
  stream.record(*mark);
  return mark;
}

}  // namespace

// Looks up the labels before the clock of the first step starts.
void ProfileMonitor::planBegins(const RunContext& context) { firstLabel(context); }
void ProfileMonitor::nodeBegins(const RunContext& context) {
  begin(profile_.nameOf(firstLabel(context) + static_cast<uint32_t>(context.plan->steps.size())).c_str());
}

void ProfileMonitor::begin(const char* name) {
  device_.beginRange(name);
  starts_.push_back(steadyNanoseconds());
}

int64_t ProfileMonitor::dropStart() {
  const int64_t start = starts_.back();
  starts_.pop_back();
  device_.endRange();
  return start;
}

void ProfileMonitor::stepBegins(const RunContext& context, size_t step) {
  begin(profile_.nameOf(firstLabel(context) + static_cast<uint32_t>(step)).c_str());
  if (runsOnDevice(context, step)) begin_ = markOn(streamOf(context, step));
}

void ProfileMonitor::stepEnds(const RunContext& context, size_t step) {
  const uint32_t label = firstLabel(context) + static_cast<uint32_t>(step);
  if (!begin_) return finish(label);
  dropStart();
  MaxStream& stream = streamOf(context, step);
  Ref<MaxEvent> end = markOn(stream);
  deviceSteps_.push_back({label, profile_.trackOf(stream.device()), std::move(begin_), std::move(end)});
}

void ProfileMonitor::nodeEnds(const RunContext& context, std::span<const Ref<Tensor>>) {
  finish(firstLabel(context) + static_cast<uint32_t>(context.plan->steps.size()));
}

void ProfileMonitor::finish(uint32_t label) {
  const int64_t end = steadyNanoseconds(), start = dropStart();
  if (starts_.size() > 1 && !isDetailed_) return;  // within a step
  keep({label, thread_, start, end - start});
}

// Each device's clock is read against the host's when its last step is done.
void ProfileMonitor::addDeviceSteps() {
  const ActiveCallScope uninterrupted(nullptr);
  while (!deviceSteps_.empty()) {
    const auto track = deviceSteps_.back().track;
    const Ref<MaxEvent> last = deviceSteps_.back().end;
    last->synchronize();
    const int64_t now = steadyNanoseconds();
    for (const DeviceStep& step : deviceSteps_)
      if (step.track == track)
        keep({step.label, track, now - last->elapsedSince(*step.begin), step.end->elapsedSince(*step.begin)});
    std::erase_if(deviceSteps_, [track](const DeviceStep& step) { return step.track == track; });
  }
}

void ProfileMonitor::keep(const Profile::Event& event) {
  events_.push_back(event);
  if (events_.size() < kEventsAtOnce) return;
  profile_.add(events_);
  events_.clear();
}

}  // namespace max
