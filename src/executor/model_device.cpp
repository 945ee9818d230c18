// SPDX-License-Identifier: Apache-2.0
// Calls of models on accelerators. The calling thread queues the work on the call's stream, and runs what stays on the
// host in between; the call returns when all is queued.
#include "device/memory_use.h"
#include "executor/model_call.h"

namespace {

// What the call's work reads or writes stays until it is done, even if only part of it was queued.
class Kept {
 public:
  Kept(MaxStream& stream, std::span<MaxBuffer* const> inputs, std::span<max::Ref<MaxBuffer>> outputs)
      : stream_(stream), inputs_(inputs), outputs_(outputs) {}
  void keep() const {
    for (const MaxBuffer* input : inputs_) keep(input);
    for (const max::Ref<MaxBuffer>& output : outputs_) keep(output.get());
  }

 private:
  void keep(const MaxBuffer* buffer) const {
    if (buffer && !max::holdsPointers(buffer->dtype())) stream_.noteUse(buffer->memory());
  }

  MaxStream& stream_;
  std::span<MaxBuffer* const> inputs_;
  std::span<max::Ref<MaxBuffer>> outputs_;
};

}  // namespace

void MaxModel::runQueuing(std::span<MaxBuffer* const> buffers, std::span<const max::TensorArg> arguments,
                          CallOutputs& outputs, const max::Interrupt& interrupt) const {
  MaxStream& stream = outputs.stream();
  stream.check();
  for (const MaxBuffer* buffer : buffers)
    if (buffer->isHost()) max::awaitContents(*buffer);
  try {
    runHere(interrupt, arguments, outputs);
  } catch (...) {
    Kept(stream, buffers, outputs.buffers()).keep();
    throw;
  }
  Kept(stream, buffers, outputs.buffers()).keep();
}

void MaxModel::runWaiting(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments,
                          CallOutputs& outputs, max::RunMonitor* monitor) const {
  try {
    runHere(interrupt, arguments, outputs, monitor);
    max::waitFor(outputs.stream(), interrupt);
  } catch (...) {
    max::finishQuietly(outputs.stream());
    throw;
  }
}

std::vector<max::Ref<MaxBuffer>> MaxModel::uploaded(std::span<max::TensorArg> arguments, MaxStream& stream) const {
  std::vector<max::Ref<MaxBuffer>> buffers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    max::TensorArg& argument = arguments[i];
    const max::Shape shape(argument.dims);
    MaxStream& own = &inputDevice(i) == &stream.device() ? stream : inputDevice(i).defaultStream();
    buffers.push_back(MaxBuffer::allocate(own, argument.dtype, shape));
    max::copyFromHost(*buffers.back(), 0, argument.data, buffers.back()->bytes(), own);
    argument.data = buffers.back()->data();
  }
  return buffers;
}
