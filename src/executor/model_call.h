// SPDX-License-Identifier: Apache-2.0
// One call of a model: what stops it, what it waits for, where its outputs go.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/active_call.h"
#include "base/error.h"
#include "base/log.h"
#include "base/object.h"
#include "executor/model.h"
#include "executor/small_array.h"

namespace max {

Interrupt interruptOf(const CallOptions& options);

// Until the work of the stream is done; the wait ends with the call.
void waitFor(MaxStream& stream, const Interrupt& interrupt);

inline void addReads(AccessScope& access, const MaxBuffer& buffer) { access.reads(buffer); }
inline void addReads(AccessScope& access, const MaxValue& value) { value.addReads(access); }

}  // namespace max

// Outputs of one call: given buffers, or pooled ones.
class MaxModel::CallOutputs final : public max::OutputProvider {
 public:
  CallOutputs(const MaxModel& model, MaxStream& stream, MaxBuffer* const* given)
      : model_(model), stream_(stream), given_(given), made_(model.outputs().size()) {}

  void* provide(size_t index, max::DType dtype, const max::Shape& shape) override {
    if (max::holdsPointers(dtype)) return provideObject(index, dtype, shape);
    max::Ref<MaxBuffer>& buffer = made_.span()[index];
    if (given_ && given_[index]) {
      max::checkOutputType(model_.outputs()[index], index, *given_[index], dtype, shape);
      buffer = max::Ref<MaxBuffer>(given_[index]);
    } else {
      buffer = allocate(index, dtype, shape);
    }
    return buffer->data();
  }

  MaxStream& stream() const { return stream_; }
  std::span<max::Ref<MaxBuffer>> buffers() { return made_.span(); }
  void release() noexcept {
    for (max::Ref<MaxBuffer>& buffer : made_.span()) buffer.reset();
  }
  // The data of strings and objects then outlives the call.
  void own() {
    for (size_t i = 0; i < objects_.size(); ++i) {
      if (!objects_[i]) continue;
      objects_[i] = max::selfContained(*objects_[i]);
      if (objects_[i]->dtype() == max::DType::String)
        made_.span()[i] = MaxBuffer::fromTensor(objectStream(), *objects_[i]);
    }
  }
  void handOver(std::span<MaxBuffer*> results) {
    for (size_t i = 0; i < objects_.size(); ++i)
      if (objects_[i] && max::isObject(objects_[i]->dtype()))
        max::invalidArgument("Output ", i, " ('", model_.outputs()[i].name(), "') is a ", objects_[i]->dtype(),
                             ", which maxModelExecuteValues returns");
    for (size_t i = 0; i < results.size(); ++i) results[i] = made_.span()[i].detach();
  }
  void handOver(std::span<MaxValue*> results) {
    std::vector<max::Ref<MaxValue>> values;
    for (size_t i = 0; i < results.size(); ++i) {
      const bool isObject = i < objects_.size() && objects_[i];
      values.push_back(isObject ? MaxValue::of(objectStream(), *objects_[i]) : max::makeRef<MaxValue>(made_.span()[i]));
    }
    for (size_t i = 0; i < results.size(); ++i) results[i] = values[i].detach();
  }

 private:
  MaxStream& objectStream() const { return model_.onHost_ ? stream_ : model_.host_->defaultStream(); }

  // A failure names the output.
  max::Ref<MaxBuffer> allocate(size_t index, max::DType dtype, const max::Shape& shape) {
    try {
      MaxDevice& device = model_.outputDevice(index);
      MaxStream& stream = &device == &stream_.device() ? stream_ : device.defaultStream();
      if (stream.runsInline()) return model_.pools_[index]->take(stream, dtype, shape);
      return MaxBuffer::allocate(stream, dtype, shape);
    } catch (const max::Error& error) {
      max::fail(error.status(), "Output '", model_.outputs()[index].name(), "' (", dtype, shape,
                "): ", error.message());
    }
  }

  void* provideObject(size_t index, max::DType dtype, const max::Shape& shape) {
    if (given_ && given_[index])
      max::invalidArgument("Output ", index, " ('", model_.outputs()[index].name(), "') is ", dtype,
                           ", which cannot be written to a given buffer");
    objects_.resize(made_.span().size());
    objects_[index] = max::Tensor::allocate(dtype, shape);
    return objects_[index]->mutableData();
  }

  const MaxModel& model_;
  MaxStream& stream_;
  MaxBuffer* const* given_;
  max::SmallArray<max::Ref<MaxBuffer>> made_;
  std::vector<max::Ref<max::Tensor>> objects_;  // outputs that hold pointers, by position
};

template <class Inputs>
void MaxModel::order(max::AccessScope& access, const Inputs& inputs, const max::CallOptions& options,
                     const max::Interrupt& interrupt) const {
  std::optional<max::ActiveCallScope> scope;
  max::ActiveCall call;
  if (!interrupt.isEmpty()) {
    call.interrupt = &interrupt;
    scope.emplace(&call);
  }
  for (const auto* input : inputs) addReads(access, *input);
  for (size_t i = 0; options.given && i < outputs().size(); ++i)
    if (options.given[i]) access.writes(*options.given[i]);
}

template <class Work>
void MaxModel::withinLimit(CallOutputs& outputs, Work&& work) const {
  if (!session_->memory()) return work();
  try {
    return work();
  } catch (const max::Error& error) {
    if (error.status() != MAX_STATUS_RESOURCE_EXHAUSTED) throw;
    max::logMessage(MAX_LOG_LEVEL_WARNING, "Model '", name_, "': ", error.message(),
                    "; trying again without the plans for other shapes");
  }
  outputs.release();
  trim(max::Kept::All);
  work();
}
