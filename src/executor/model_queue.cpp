// SPDX-License-Identifier: Apache-2.0
// Calls on streams that do not run in the calling thread.
#include <memory>

#include "executor/model_call.h"

namespace {

// A call queued in a stream: holds everything it needs until it is done.
struct QueuedCall final : max::OutputProvider {
  QueuedCall(const MaxModel& callee, const std::string& name, const max::CallOptions& options,
             const max::Interrupt& stop)
      : model(&callee), modelName(name), cancellation(options.cancellation), interrupt(stop) {}
  ~QueuedCall() {
    if (context) model->program().giveBack(std::move(context));
  }

  void* provide(size_t index, max::DType, const max::Shape&) override { return outputs[index]->data(); }
  void run() {
    std::vector<max::TensorArg> arguments;
    for (const max::Ref<MaxBuffer>& input : inputs)
      arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
    interrupt.check();
    const max::RunSetup setup(model->session(), modelName, interrupt);
    const max::RunScope scope(setup.call());
    model->program().execute(*context, arguments, *this);
  }

  max::Ref<const MaxModel> model;
  const std::string& modelName;
  max::Ref<const MaxCancellation> cancellation;  // read by the interrupt
  const max::Interrupt interrupt;
  std::vector<max::Ref<MaxBuffer>> inputs, outputs;
  std::unique_ptr<max::RunContext> context;
};

}  // namespace

void MaxModel::runQueued(MaxStream& stream, std::span<MaxBuffer* const> buffers,
                         std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                         const max::CallOptions& options, const max::Interrupt& interrupt) const {
  stream.check();
  const max::RunSetup setup(*session_, name_, interrupt, false);
  const max::RunScope scope(setup.call());
  auto call = std::make_shared<QueuedCall>(*this, name_, options, interrupt);
  bool runsLater = false;
  withinLimit(outputs, [&] {
    call->context.reset();
    call->context = program_.acquire(arguments);
    const max::Plan& plan = *call->context->plan;
    runsLater = plan.boundary.kind == max::Boundary::End && !usesObjects();
    if (!runsLater) return;
    for (const max::PlannedOutput& output : plan.outputs) outputs.provide(output.index, output.dtype, output.shape);
  });
  if (!runsLater) {
    max::waitFor(stream, interrupt);
    call.reset();
    return runHere(interrupt, arguments, outputs);
  }
  for (MaxBuffer* buffer : buffers) call->inputs.emplace_back(buffer);
  for (const max::Ref<MaxBuffer>& buffer : outputs.buffers()) call->outputs.push_back(buffer);
  stream.submit([call] { call->run(); });
}
