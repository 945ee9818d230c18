// SPDX-License-Identifier: Apache-2.0
#include "executor/capture.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "device/device.h"
#include "executor/profile.h"

namespace max {

namespace {

// One replay at a time, from here to the end of the scope.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& isBusy) : isBusy_(isBusy) {
    require(!isBusy_.exchange(true, std::memory_order_acquire), MAX_STATUS_FAILED_PRECONDITION,
            "The captured graph is being replayed by another thread");
  }
  ~Turn() { isBusy_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& isBusy_;
};

bool isSame(const MaxBuffer& a, const MaxBuffer& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape();
}

}  // namespace

std::string TraceMonitor::textOf(const Plan& plan, size_t step) {
  const Profile::Label label = describeStep(plan, step);
  return concat("'", label.name, "' (", label.op, ", ", label.implementation, ", ", label.inputs, " -> ", label.outputs,
                ")");
}

CapturedGraph::CapturedGraph(const PlannedProgram& program, std::unique_ptr<RunContext> context,
                             std::vector<Ref<MaxBuffer>> inputs, std::vector<Ref<MaxBuffer>> outputs)
    : context_(std::move(context)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  requireRepeatable();
  std::vector<TensorArg> arguments;
  for (const Ref<MaxBuffer>& input : inputs_)
    arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
  std::vector<void*> memory;
  for (const Ref<MaxBuffer>& output : outputs_) memory.push_back(output->data());
  program.bind(*context_, arguments, memory);
  for (size_t i = 0; i < plan().steps.size(); ++i) trace_.push_back(TraceMonitor::textOf(plan(), i));
  if (!context_->device->isHost()) graph_ = PlannedProgram::record(*context_);
}

void CapturedGraph::requireRepeatable() const {
  const Boundary& boundary = plan().boundary;
  require(boundary.kind == Boundary::End, MAX_STATUS_FAILED_PRECONDITION,
          boundary.node ? boundary.node->node->description() : std::string("Model"),
          ": the call cannot be captured, since the following steps depend on values");
  const Step* step = context_->device->isHost() ? nullptr : plan().firstUnrepeatable();
  require(!step, MAX_STATUS_FAILED_PRECONDITION, step && step->node ? step->node->description() : std::string("Model"),
          ": the call cannot be captured, since ",
          !step || step->memory == kHostMemory         ? "this runs on the host, not on the model's device"
          : step->memory == kMainMemory && !step->node ? "this reads the host's memory"
          : step->memory == kMainMemory                ? "each one has other random numbers"
                                                       : "this runs on another device than the model's first");
}

void CapturedGraph::checkInputs(std::span<MaxBuffer* const> inputs, MaxStatus status, uint64_t key) const {
  require(inputs.size() == inputs_.size(), status, "Graph ", key, " was captured with ", inputs_.size(),
          " inputs, not ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!isHandle(inputs[i])) invalidArgument("Input ", i, " ", wrongHandleText(inputs[i]));
    require(isSame(*inputs[i], *inputs_[i]), status, "Graph ", key, " was captured with another buffer as input ", i);
  }
}

void CapturedGraph::replay() {
  const Turn turn(isBusy_);
  PlannedProgram::runPlan(*context_);
}

void CapturedGraph::launch(MaxStream& stream) {
  const Turn turn(isBusy_);
  try {
    context_->begin(stream);
    graph_->launch(stream);
  } catch (...) {
    context_->end(false);
    throw;
  }
  context_->end(true);
  keepMemory(stream);
}

// The graph may be forgotten while its work is queued.
void CapturedGraph::keepMemory(MaxStream& stream) const {
  for (const Ref<MaxBuffer>& input : inputs_) stream.noteUse(input->memory());
  for (const Ref<MaxBuffer>& output : outputs_) stream.noteUse(output->memory());
}

void CapturedGraph::compare(const std::vector<std::string>& ran, uint64_t key) const {
  const size_t steps = std::min(ran.size(), trace_.size());
  for (size_t i = 0; i < steps; ++i)
    require(ran[i] == trace_[i], MAX_STATUS_FAILED_PRECONDITION, "Graph ", key,
            " differs from the current run at step ", i, ": captured ", trace_[i], ", ran ", ran[i]);
  require(ran.size() == trace_.size(), MAX_STATUS_FAILED_PRECONDITION, "Graph ", key, " has ", trace_.size(),
          " steps, the current run has ", ran.size());
}

}  // namespace max
