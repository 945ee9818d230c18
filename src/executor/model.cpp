// SPDX-License-Identifier: Apache-2.0
#include "executor/model.h"

#include <array>
#include <map>
#include <utility>

#include "base/error.h"

namespace max {

ModelTensor::ModelTensor(std::string_view tensorName, const TensorType& type)
    : name(tensorName), dtype(type.dtype), ranked(type.ranked) {
  for (const Dim& dim : type.dims) {
    dims.push_back(dim.isKnown() ? dim.value() : MAX_DIMENSION_DYNAMIC);
    dimNames.emplace_back(dim.isKnown() ? std::string_view() : dim.symbolName());
  }
}

void appendTo(std::string& text, const ModelTensor& tensor) {
  if (!tensor.ranked) {
    text += concat("[(...), ", briefNameOf(tensor.dtype), "]");
    return;
  }
  text += "[(";
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (i > 0) text += ", ";
    if (tensor.dims[i] != MAX_DIMENSION_DYNAMIC)
      text += std::to_string(tensor.dims[i]);
    else
      text += tensor.dimNames[i].empty() ? "?" : tensor.dimNames[i];
  }
  text += concat("), ", briefNameOf(tensor.dtype), "]");
}

namespace {

// A few items without an allocation, more with one.
template <class T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > N) large_.resize(size);
  }
  std::span<T> span() { return {size_ > N ? large_.data() : small_.data(), size_}; }

 private:
  size_t size_;
  std::array<T, N> small_{};
  std::vector<T> large_;
};

constexpr size_t kFewTensors = 8;

bool matches(const ModelTensor& expected, const MaxBuffer& buffer) {
  if (buffer.dtype() != expected.dtype) return false;
  if (!expected.ranked) return true;
  if (buffer.rank() != expected.rank()) return false;
  for (int i = 0; i < buffer.rank(); ++i) {
    const int64_t wanted = expected.dims[static_cast<size_t>(i)];
    if (wanted != MAX_DIMENSION_DYNAMIC && wanted != buffer.shape()[i]) return false;
  }
  return true;
}

bool overlap(const MaxBuffer& a, const MaxBuffer& b) {
  const auto *beginA = static_cast<const std::byte*>(a.data()), *beginB = static_cast<const std::byte*>(b.data());
  return a.bytes() > 0 && b.bytes() > 0 && beginA < beginB + b.bytes() && beginB < beginA + a.bytes();
}

// What inputs and given outputs must fulfil alike.
void checkPlacement(const MaxBuffer& buffer, const MaxDevice& device, const char* role, size_t position) {
  if (&buffer.device() != &device)
    invalidArgument(role, " at position ", position, ": Buffer is on ", buffer.device().displayName(),
                    ", the model runs on ", device.displayName());
  if (!buffer.isContiguous())
    invalidArgument(role, " at position ", position, ": Buffer of type ", buffer.layout(), " is not contiguous");
}

}  // namespace

}  // namespace max

// Outputs of one call: given buffers, or pooled ones.
class MaxModel::CallOutputs final : public max::OutputProvider {
 public:
  CallOutputs(const MaxModel& model, MaxStream& stream, MaxBuffer* const* given)
      : model_(model), stream_(stream), given_(given), made_(model.outputs().size()) {}

  void* provide(size_t index, max::DType dtype, const max::Shape& shape) override {
    max::Ref<MaxBuffer>& buffer = made_.span()[index];
    if (given_ && given_[index]) {
      checkType(index, *given_[index], dtype, shape);
      buffer = max::Ref<MaxBuffer>(given_[index]);
    } else if (&stream_ == &model_.device().defaultStream()) {
      buffer = model_.pools_[index]->take(stream_, dtype, shape);
    } else {
      buffer = MaxBuffer::allocate(stream_, dtype, shape);
    }
    return buffer->data();
  }

  std::span<max::Ref<MaxBuffer>> buffers() { return made_.span(); }
  void handOver(std::span<MaxBuffer*> results) {
    for (size_t i = 0; i < results.size(); ++i) results[i] = made_.span()[i].detach();
  }

 private:
  static void checkType(size_t index, const MaxBuffer& buffer, max::DType dtype, const max::Shape& shape) {
    if (buffer.dtype() != dtype || !(buffer.shape() == shape))
      max::invalidArgument("Output at position ", index, ": Buffer of type ", buffer.layout(),
                           " does not match expected type ", MaxBuffer::Layout::dense(dtype, shape));
  }

  const MaxModel& model_;
  MaxStream& stream_;
  MaxBuffer* const* given_;
  max::SmallArray<max::Ref<MaxBuffer>, max::kFewTensors> made_;
};

MaxModel::MaxModel(max::Ref<MaxSession> session, Parts parts)
    : session_(std::move(session)), parts_(std::move(parts)), program_(parts_.graph, session_->lanes()) {
  for (size_t i = 0; i < parts_.outputs.size(); ++i) pools_.push_back(max::makeRef<max::OutputPool>());
  findEqualDims();
}

MaxModel::~MaxModel() {
  for (const max::Ref<max::OutputPool>& pool : pools_) pool->close();
}

void MaxModel::findEqualDims() {
  std::map<std::string, std::pair<size_t, int>> first;
  for (size_t i = 0; i < inputs().size(); ++i)
    for (size_t d = 0; d < inputs()[i].dims.size(); ++d) {
      const std::string& name = inputs()[i].dimNames[d];
      if (name.empty()) continue;
      const auto [entry, isNew] = first.try_emplace(name, i, static_cast<int>(d));
      if (!isNew) equalDims_.push_back({entry->second.first, i, entry->second.second, static_cast<int>(d)});
    }
}

void MaxModel::checkInputs(std::span<MaxBuffer* const> buffers) const {
  if (buffers.size() != inputs().size())
    max::invalidArgument("Number of inputs (", buffers.size(), ") does not match expected number (", inputs().size(),
                         ") for model");
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i]) max::invalidArgument("Input at position ", i, " ('", inputs()[i].name, "') is NULL");
    max::checkPlacement(*buffers[i], device(), "Input", i);
    if (!max::matches(inputs()[i], *buffers[i]))
      max::invalidArgument("Input at position ", i, ": Buffer of type ", buffers[i]->layout(),
                           " does not match expected type ", inputs()[i]);
  }
  for (const EqualDims& equal : equalDims_) {
    const int64_t a = buffers[equal.inputA]->shape()[equal.dimA], b = buffers[equal.inputB]->shape()[equal.dimB];
    if (a != b)
      max::invalidArgument("Input at position ", equal.inputB, ": dimension ", equal.dimB, " is ", b, ", but '",
                           inputs()[equal.inputB].dimNames[static_cast<size_t>(equal.dimB)], "' is ", a,
                           " in the input at position ", equal.inputA);
  }
}

void MaxModel::checkGiven(std::span<MaxBuffer* const> buffers, std::span<MaxBuffer* const> given) const {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    max::checkPlacement(*given[i], device(), "Output", i);
    if (given[i]->isReadOnly()) max::invalidArgument("Output at position ", i, ": Buffer is read-only");
    for (size_t k = 0; k < buffers.size(); ++k)
      if (max::overlap(*given[i], *buffers[k]))
        max::invalidArgument("Output at position ", i, ": Buffer shares memory with the input at position ", k);
    for (size_t k = 0; k < i; ++k)
      if (given[k] && max::overlap(*given[i], *given[k]))
        max::invalidArgument("Output at position ", i, ": Buffer shares memory with the output at position ", k);
  }
}

void MaxModel::execute(std::span<MaxBuffer* const> buffers, MaxStream* stream, MaxBuffer* const* given,
                       std::span<MaxBuffer*> results) const {
  checkInputs(buffers);
  if (results.size() != outputs().size())
    max::invalidArgument("Number of outputs (", results.size(), ") does not match expected number (", outputs().size(),
                         ") for model");
  if (given) checkGiven(buffers, {given, outputs().size()});
  MaxStream& used = stream ? *stream : device().defaultStream();
  if (&used.device() != &device())
    max::invalidArgument("Stream belongs to ", used.device().displayName(), ", the model runs on ",
                         device().displayName());
  max::SmallArray<max::TensorArg, max::kFewTensors> arguments(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    arguments.span()[i] = {buffers[i]->dtype(), buffers[i]->shape().dims(), buffers[i]->data()};
  CallOutputs made(*this, used, given);
  if (used.runsInline())
    program_.run(arguments.span(), made);
  else
    runQueued(used, buffers, arguments.span(), made);
  made.handOver(results);
}

namespace {

// A call that waits in a stream: everything it needs, held until it is done.
struct QueuedCall final : max::OutputProvider {
  explicit QueuedCall(const MaxModel& callee) : model(&callee) {}
  ~QueuedCall() {
    if (context) model->program().giveBack(std::move(context));
  }

  void* provide(size_t index, max::DType, const max::Shape&) override { return outputs[index]->data(); }
  void run() {
    std::vector<max::TensorArg> arguments;
    for (const max::Ref<MaxBuffer>& input : inputs)
      arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
    model->program().execute(*context, arguments, *this);
  }

  max::Ref<const MaxModel> model;
  std::vector<max::Ref<MaxBuffer>> inputs, outputs;
  std::unique_ptr<max::RunContext> context;
};

}  // namespace

void MaxModel::runQueued(MaxStream& stream, std::span<MaxBuffer* const> buffers,
                         std::span<const max::TensorArg> arguments, CallOutputs& outputs) const {
  stream.check();
  auto call = std::make_shared<QueuedCall>(*this);
  call->context = program_.acquire(arguments);
  const max::Plan& plan = *call->context->plan;
  if (plan.boundary.kind != max::Boundary::End) {
    stream.waitUntilIdle();
    return program_.execute(*call->context, arguments, outputs);
  }
  for (const max::PlannedOutput& output : plan.outputs) outputs.provide(output.index, output.dtype, output.shape);
  for (MaxBuffer* buffer : buffers) call->inputs.emplace_back(buffer);
  for (const max::Ref<MaxBuffer>& buffer : outputs.buffers()) call->outputs.push_back(buffer);
  stream.submit([call] { call->run(); });
}
