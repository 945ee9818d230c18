// SPDX-License-Identifier: Apache-2.0
// Loop and Scan: the body is a separate program, run once per iteration.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/active_call.h"
#include "base/checked.h"
#include "base/number_access.h"
#include "base/object.h"
#include "executor/run.h"
#include "graph/readers/control.h"

namespace max {

namespace {

// Keeps the outputs of an iteration. Reuses the memory of the iteration before the last.
class IterationOutputs final : public OutputProvider {
 public:
  explicit IterationOutputs(size_t count) : made_(count), previous_(count), spare_(count) {}

  void* provide(size_t index, DType dtype, const Shape& shape) override {
    Ref<Tensor>& spare = spare_[index];
    const bool fits = spare && !holdsPointers(dtype) && spare->referenceCount() == 1 && spare->dtype() == dtype &&
                      spare->shape() == shape;
    if (!fits) spare.reset();  // before the new one exists
    made_[index] = fits ? std::move(spare) : Tensor::allocate(dtype, shape);
    return made_[index]->mutableData();
  }
  // The data of strings and objects then outlives the iteration.
  void own() {
    for (Ref<Tensor>& tensor : made_)
      if (tensor && holdsPointers(tensor->dtype())) tensor = selfContained(*tensor);
  }
  void nextIteration() {
    for (size_t i = 0; i < made_.size(); ++i) spare_[i] = std::exchange(previous_[i], made_[i]);
  }
  const Ref<Tensor>& operator[](size_t index) const { return made_.at(index); }

 private:
  std::vector<Ref<Tensor>> made_, previous_, spare_;
};

TensorArg argOf(const Tensor& tensor) { return {tensor.dtype(), tensor.shape().dims(), tensor.data()}; }

Ref<Tensor> copyOf(const TensorArg& arg) {
  return selfContained(Tensor(arg.dtype, Shape(arg.dims), arg.data, nullptr));
}

// One iteration: its values are freed at the end, except for the outputs.
void runBody(const NodeInfo& info, std::span<const TensorArg> arguments, IterationOutputs& outputs) {
  if (!info.body->program().usesObjects()) return info.body->run(arguments, outputs);
  const PoolScope scope;
  info.body->run(arguments, outputs);
  outputs.own();
}

int64_t elementCount(const TensorArg& arg) { return Shape(arg.dims).count(); }

// The only element of an int64 or bool value.
template <class T>
T scalarOf(const NodeInfo& info, const TensorArg& arg, const char* name) {
  constexpr DType kDType = sizeof(T) == sizeof(int64_t) ? DType::Int64 : DType::Bool;
  if (arg.dtype != kDType)
    invalidArgument(info.node->description(), ": ", name, " must be ", kDType, ", not ", arg.dtype);
  if (elementCount(arg) != 1) invalidArgument(info.node->description(), ": ", name, " must have one element");
  return *static_cast<const T*>(arg.data);
}

// Of slices that are stacked.
void requireSame(const NodeInfo& info, DType dtype, const Shape& shape, DType before, const Shape& shapeBefore) {
  if (dtype != before)
    invalidArgument(info.node->description(), ": an output of the body changes from ", before, " to ", dtype,
                    " between iterations");
  if (shape != shapeBefore)
    invalidArgument(info.node->description(), ": an output of the body changes its shape from ", shapeBefore, " to ",
                    shape, " between iterations");
}

// Of carried values. An optional may become its contents, and the reverse.
void requireSameKind(const NodeInfo& info, size_t state, DType after, DType before) {
  if (after != before && after != DType::Optional && before != DType::Optional)
    invalidArgument(info.node->description(), ": state ", state, " of the body changes from ", before, " to ", after);
}

// Values carried by a Scan keep their shape, unlike those of a Loop.
void requireSameState(const NodeInfo& info, size_t state, const Tensor& after, const TensorArg& before) {
  requireSameKind(info, state, after.dtype(), before.dtype);
  if (!std::ranges::equal(after.shape().dims(), before.dims))
    invalidArgument(info.node->description(), ": state ", state, " of the body changes its shape from ",
                    Shape(before.dims), " to ", after.shape());
}

// For slices that are copied into a larger tensor.
void keepPointers(const NodeInfo& info, const Tensor& slice) {
  if (isObject(slice.dtype())) invalidArgument(info.node->description(), ": a ", slice.dtype(), " cannot be stacked");
  if (slice.dtype() == DType::String) ObjectPool::current().keep(slice.storage());
}

int normalisedAxis(const NodeInfo& info, int64_t axis, int rank) {
  const int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank)
    invalidArgument(info.node->description(), ": axis ", axis, " is outside rank ", rank);
  return static_cast<int>(positive);
}

// The outputs of zero iterations. Dimensions that depend on an iteration are 0.
Ref<Tensor> emptyStack(const NodeInfo& info, const Value& declared, int64_t axis) {
  const TensorType& type = declared.type;
  if (type.dtype == DType::Invalid || isObject(type.dtype))
    invalidArgument(info.node->description(), ": without an iteration the shape to stack is unknown for '",
                    declared.name, "', which is ", type);
  Shape shape;
  for (const Dim& dim : type.dims) shape.push(dim.isKnown() ? dim.value() : 0);
  shape.insert(normalisedAxis(info, axis, shape.rank() + 1), 0);
  return Tensor::allocate(type.dtype, shape);
}

// Slices of equal shape, one per iteration, stacked along a new first axis; their number is not known in advance.
class GrowingStack {
 public:
  void add(const NodeInfo& info, const Tensor& slice) {
    if (count_ == 0) {
      shape_ = slice.shape();
      dtype_ = slice.dtype();
    }
    requireSame(info, slice.dtype(), slice.shape(), dtype_, shape_);
    keepPointers(info, slice);
    const int64_t used = count_ * slice.count();
    reserve(bytesFor(dtype_, used), bytesFor(dtype_, checkedAdd(used, slice.count())));
    if (slice.count() > 0) copyElements(dtype_, slice.data(), 0, block_->data(), used, slice.count());
    ++count_;
  }
  Ref<Tensor> finish(const NodeInfo& info, const Value& declared) {
    if (count_ == 0) return emptyStack(info, declared, 0);
    shape_.insert(0, count_);
    if (!block_) return Tensor::allocate(dtype_, shape_);
    const void* data = block_->data();
    if (holdsPointers(dtype_)) return selfContained(Tensor(dtype_, shape_, data, nullptr));
    return makeRef<Tensor>(dtype_, shape_, data, std::move(block_));
  }

 private:
  // Doubles, so that most iterations allocate nothing.
  void reserve(size_t used, size_t wanted) {
    if (block_ && block_->size() >= wanted) return;
    // Unused bits of the last byte are zero.
    Ref<Storage> larger = allocateStorage(std::max(wanted, 2 * used), isPacked(dtype_));
    if (used > 0) std::memcpy(larger->data(), block_->data(), used);
    block_ = std::move(larger);
  }

  DType dtype_ = DType::Invalid;
  Shape shape_;
  int64_t count_ = 0;
  Ref<Storage> block_;
};

// Copies between slice `index` along `axis` of a tensor and a dense tensor of the remaining shape.
struct SliceCopy {
  SliceCopy(DType dtype_, const Shape& whole, int axis)
      : dtype(dtype_),
        outer(whole.product(0, axis)),
        count(whole[axis]),
        inner(whole.product(axis + 1, whole.rank())) {}
  // Slices without elements need no copy, however many rows they have.
  void extract(const void* whole, int64_t index, void* slice) const {
    if (inner == 0) return;
    for (int64_t o = 0; o < outer; ++o)
      copyElements(dtype, whole, (o * count + index) * inner, slice, o * inner, inner);
  }
  void insert(void* whole, int64_t index, const void* slice) const {
    if (inner == 0) return;
    for (int64_t o = 0; o < outer; ++o)
      copyElements(dtype, slice, o * inner, whole, (o * count + index) * inner, inner);
  }
  DType dtype;
  int64_t outer, count, inner;  // in elements
};

class ScanRun {
 public:
  ScanRun(const NodeInfo& info, std::span<const TensorArg> inputs)
      : info_(info),
        inputs_(inputs),
        outputCount_(info.body->program().graph().outputs().size()),
        scan_(info.node->attributes, info.inputs.size(), outputCount_) {
    if (info.body->program().graph().inputs().size() != info.inputs.size() || inputs.size() < info.inputs.size())
      invalidArgument(info.node->description(), ": the body does not fit ", info.inputs.size(), " inputs");
  }

  std::vector<Ref<Tensor>> run() {
    takeScanInputs();
    std::vector<TensorArg> arguments(inputs_.begin(), inputs_.end());
    stacks_.resize(outputCount_ - scan_.states);
    IterationOutputs outputs(outputCount_);
    for (int64_t t = 0; t < length_; ++t) {
      checkInterrupt();
      for (size_t i = 0; i < scan_.scanned; ++i) arguments[scan_.states + i] = sliceOf(i, t);
      runBody(info_, arguments, outputs);
      for (size_t i = 0; i < scan_.states; ++i) {
        requireSameState(info_, i, *outputs[i], arguments[i]);
        arguments[i] = argOf(*outputs[i]);
      }
      for (size_t i = 0; i < stacks_.size(); ++i) stack(i, t, *outputs[scan_.states + i]);
      outputs.nextIteration();
    }
    return results(arguments);
  }

 private:
  // Planning has checked that all have the same number of slices.
  void takeScanInputs() {
    for (size_t i = 0; i < scan_.scanned; ++i) {
      const TensorArg& input = inputs_[scan_.states + i];
      const Shape whole(input.dims);
      const int axis = normalisedAxis(info_, scan_.inputAxes[i], whole.rank());
      Shape slice = whole;
      slice.erase(axis);
      length_ = whole[axis];
      copies_.emplace_back(input.dtype, whole, axis);
      if (length_ > 0) slices_.push_back(Tensor::allocate(input.dtype, slice, isPacked(input.dtype)));
    }
  }

  TensorArg sliceOf(size_t i, int64_t t) {
    const int64_t index = scan_.inputDirections[i] ? length_ - 1 - t : t;
    copies_[i].extract(inputs_[scan_.states + i].data, index, slices_[i]->mutableData());
    return argOf(*slices_[i]);
  }

  int outputAxis(size_t i, int rank) const { return normalisedAxis(info_, scan_.outputAxes[i], rank); }

  void stack(size_t i, int64_t t, const Tensor& slice) {
    Shape whole = slice.shape();
    const int axis = outputAxis(i, whole.rank() + 1);
    whole.insert(axis, length_);
    if (!stacks_[i]) stacks_[i] = Tensor::allocate(slice.dtype(), whole, isPacked(slice.dtype()));
    requireSame(info_, slice.dtype(), whole, stacks_[i]->dtype(), stacks_[i]->shape());
    keepPointers(info_, slice);
    const int64_t index = scan_.outputDirections[i] ? length_ - 1 - t : t;
    SliceCopy(slice.dtype(), whole, axis).insert(stacks_[i]->mutableData(), index, slice.data());
  }

  std::vector<Ref<Tensor>> results(std::span<const TensorArg> states) {
    std::vector<Ref<Tensor>> results;
    for (size_t i = 0; i < scan_.states; ++i) results.push_back(copyOf(states[i]));
    for (size_t i = 0; i < stacks_.size(); ++i) {
      if (!stacks_[i])
        stacks_[i] = emptyStack(info_, *info_.body->program().graph().outputs()[scan_.states + i], scan_.outputAxes[i]);
      results.push_back(std::move(stacks_[i]));
    }
    return results;
  }

  const NodeInfo& info_;
  std::span<const TensorArg> inputs_;
  size_t outputCount_;
  readers::Scan scan_;
  int64_t length_ = 0;
  std::vector<SliceCopy> copies_;
  std::vector<Ref<Tensor>> slices_;
  std::vector<Ref<Tensor>> stacks_;
};

class LoopRun {
 public:
  LoopRun(const NodeInfo& info, std::span<const TensorArg> inputs)
      : info_(info), inputs_(inputs), body_(info.body->program().graph()) {
    const size_t nodeInputs = info.inputs.size();
    carried_ = nodeInputs < 2 ? 0 : nodeInputs - 2;
    if (body_.inputs().size() != carried_ + 2 || body_.outputs().size() < carried_ + 1)
      invalidArgument(info.node->description(), ": the body has ", body_.inputs().size(), " inputs and ",
                      body_.outputs().size(), " outputs, which does not fit ", carried_, " carried values");
    if (isGiven(0)) limit_ = scalarOf<int64_t>(info, inputs[0], "the trip count");
    if (isGiven(1)) condition_ = scalarOf<uint8_t>(info, inputs[1], "the condition");
  }

  std::vector<Ref<Tensor>> run() {
    bindArguments();
    stacks_.resize(body_.outputs().size() - 1 - carried_);
    IterationOutputs outputs(body_.outputs().size());
    for (; iteration_ < limit_ && condition_; ++iteration_) {
      checkInterrupt();
      runBody(info_, arguments_, outputs);
      condition_ = scalarOf<uint8_t>(info_, argOf(*outputs[0]), "the body's condition");
      for (size_t i = 0; i < carried_; ++i) {
        requireSameKind(info_, i, outputs[i + 1]->dtype(), arguments_[i + 2].dtype);
        arguments_[i + 2] = argOf(*outputs[i + 1]);
      }
      for (size_t i = 0; i < stacks_.size(); ++i) stacks_[i].add(info_, *outputs[1 + carried_ + i]);
      outputs.nextIteration();
    }
    return results();
  }

 private:
  bool isGiven(size_t i) const { return i < info_.inputs.size() && inputs_[i].dtype != DType::Invalid; }

  // Of the body: iteration number, condition, carried values, captured values.
  void bindArguments() {
    arguments_ = {{DType::Int64, scalarDims(0), &iteration_}, {DType::Bool, scalarDims(1), &condition_}};
    const size_t skipped = info_.inputs.size() - carried_;
    arguments_.insert(arguments_.end(), inputs_.begin() + static_cast<std::ptrdiff_t>(skipped), inputs_.end());
  }

  // Some exporters declare scalars as tensors of one element.
  std::span<const int64_t> scalarDims(size_t i) const {
    static constexpr int64_t kOne[1] = {1};
    const TensorType& type = body_.inputs()[i]->type;
    return {kOne, type.ranked && type.rank() == 1 ? size_t{1} : size_t{0}};
  }

  std::vector<Ref<Tensor>> results() {
    std::vector<Ref<Tensor>> results;
    for (size_t i = 0; i < carried_; ++i) results.push_back(copyOf(arguments_[i + 2]));
    for (size_t i = 0; i < stacks_.size(); ++i)
      results.push_back(stacks_[i].finish(info_, *body_.outputs()[1 + carried_ + i]));
    return results;
  }

  const NodeInfo& info_;
  std::span<const TensorArg> inputs_;
  const Graph& body_;
  size_t carried_ = 0;
  int64_t limit_ = INT64_MAX, iteration_ = 0;
  uint8_t condition_ = 1;
  std::vector<TensorArg> arguments_;
  std::vector<GrowingStack> stacks_;
};

std::vector<Ref<Tensor>> runFunction(DynamicFunction function, const Node& node, std::span<const TensorArg> inputs) {
  std::vector<Ref<Tensor>> tensors;
  std::vector<const Tensor*> arguments;
  for (const TensorArg& input : inputs) {
    if (input.dtype == DType::Invalid)
      tensors.emplace_back();
    else
      tensors.push_back(makeRef<Tensor>(input.dtype, Shape(input.dims), input.data, nullptr));
    arguments.push_back(tensors.back().get());
  }
  return function(node, arguments);
}

}  // namespace

std::vector<Ref<Tensor>> runLoop(const NodeInfo& info, std::span<const TensorArg> inputs) {
  return LoopRun(info, inputs).run();
}

std::vector<Ref<Tensor>> runScan(const NodeInfo& info, std::span<const TensorArg> inputs) {
  return ScanRun(info, inputs).run();
}

std::vector<Ref<Tensor>> runDynamicNode(const Boundary& boundary, std::span<const TensorArg> inputs) {
  const NodeInfo& info = *boundary.node;
  std::vector<Ref<Tensor>> results = boundary.dynamic        ? runFunction(boundary.dynamic, *info.node, inputs)
                                     : info.node->is("Loop") ? runLoop(info, inputs)
                                     : info.node->is("Scan") ? runScan(info, inputs)
                                                             : runSequenceMap(info, inputs);
  results.resize(info.outputs.size());
  for (const Ref<Tensor>& result : results)
    if (result && holdsPointers(result->dtype())) ObjectPool::current().keep(result->storage());
  return results;
}

}  // namespace max
