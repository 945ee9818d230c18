// SPDX-License-Identifier: Apache-2.0
// Operators on sequences and optionals.
#include "graph/readers/sequence.h"

#include <cstring>
#include <map>
#include <utility>

#include "base/active_call.h"
#include "base/interrupt_point.h"
#include "ops/families.h"
#include "ops/request_inputs.h"
#include "ops/value_function.h"

namespace max {

namespace {

using Elements = std::vector<Ref<Tensor>>;

// More would be a shape like [2^40, 0] cut into pieces.
constexpr int64_t kMostElements = int64_t{1} << 21;

Results sequenceOf(Elements elements) { return {objectTensor(DType::Sequence, std::move(elements))}; }

Results numberOf(int64_t value) { return {Tensor::copyOf(DType::Int64, Shape{}, &value)}; }

// From [-size, last].
size_t positionOf(const Node& node, const Tensor& tensor, size_t count, bool withEnd) {
  const int64_t given = integerInput(node, tensor), size = static_cast<int64_t>(count);
  const int64_t last = withEnd ? size : size - 1;
  require(given >= -size && given <= last, MAX_STATUS_OUT_OF_RANGE, node.description(), ": position ", given,
          " is out of range [", -size, ", ", last, "] of a sequence of ", size);
  return static_cast<size_t>(given < 0 ? given + size : given);
}

Results sequenceConstruct(const Node&, Arguments inputs) {
  Elements elements;
  std::map<const void*, size_t> places;  // repeated strings are stored once
  for (const Tensor* input : inputs) {
    const auto [known, isNew] = places.try_emplace(input->data(), elements.size());
    const Ref<Tensor> same = isNew ? nullptr : elements[known->second];
    const bool isSame = same && same->dtype() == input->dtype() && same->shape() == input->shape();
    elements.push_back(isSame ? same : selfContained(*input));
  }
  return sequenceOf(std::move(elements));
}

Results sequenceEmpty(const Node&, Arguments) { return sequenceOf({}); }

Results sequenceAt(const Node& node, Arguments inputs) {
  const Elements& elements = partsOf(*inputs[0]);
  return {elements[positionOf(node, *inputs[1], elements.size(), false)]};
}

Results sequenceInsert(const Node& node, Arguments inputs) {
  Elements elements = partsOf(*inputs[0]);
  if (!elements.empty() && elements[0]->dtype() != inputs[1]->dtype())
    invalidArgument(node.description(), ": a tensor of ", inputs[1]->dtype(), " for a sequence of ",
                    elements[0]->dtype());
  const Tensor* position = optionalInput(inputs, 2);
  const size_t at = position ? positionOf(node, *position, elements.size(), true) : elements.size();
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), selfContained(*inputs[1]));
  return sequenceOf(std::move(elements));
}

Results sequenceErase(const Node& node, Arguments inputs) {
  Elements elements = partsOf(*inputs[0]);
  const Tensor* position = optionalInput(inputs, 1);
  require(position || !elements.empty(), MAX_STATUS_OUT_OF_RANGE, node.description(), ": the sequence is empty");
  const size_t at = position ? positionOf(node, *position, elements.size(), false) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
  return sequenceOf(std::move(elements));
}

Results sequenceLength(const Node&, Arguments inputs) {
  return numberOf(static_cast<int64_t>(partsOf(*inputs[0]).size()));
}

void requireWholeBytes(const Node& node, DType dtype) {
  require(!isPacked(dtype), MAX_STATUS_UNIMPLEMENTED, node.description(), ": elements of ", dtype,
          " are not supported");
}

// Lengths along the axis.
WorkVector<int64_t> partLengths(const Node& node, int64_t whole, const Tensor* split) {
  const bool isList = split && split->shape().rank() > 0;
  const int64_t length = split && !isList ? integerInput(node, *split) : 1;
  require(length > 0, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": split is ", length);
  require(isList || whole / length < kMostElements, MAX_STATUS_RESOURCE_EXHAUSTED, node.description(), ": more than ",
          kMostElements, " parts");
  WorkVector<int64_t> lengths;
  if (!isList) {
    for (int64_t left = whole; left > 0; left -= lengths.back()) lengths.push_back(std::min(length, left));
    return lengths;
  }
  const std::vector<int64_t> values = integerValues(*split);
  lengths.assign(values.begin(), values.end());
  int64_t sum = 0;
  for (const int64_t part : lengths) {
    require(part >= 0 && part <= whole - sum, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": the part of ", part,
            " does not fit the axis of ", whole);
    sum += part;
  }
  require(sum == whole, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": the parts sum to ", sum, ", the axis has ",
          whole);
  return lengths;
}

// Copies `count` rows of `bytes` with strides.
void copyRows(std::byte* to, int64_t toStride, const std::byte* from, int64_t fromStride, int64_t count,
              int64_t bytes) {
  if (bytes == 0) return;
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i, work.pass(8))
    copyBytes(to + i * toStride, from + i * fromStride, static_cast<size_t>(bytes));
}

Results splitToSequence(const Node& node, Arguments inputs) {
  const Tensor& whole = *inputs[0];
  requireWholeBytes(node, whole.dtype());
  const RequestInputs types(node, inputs);
  const readers::SequenceSplit read = readers::readSequenceSplit(*types);
  const int axis = read.axis;
  const Tensor* split = optionalInput(inputs, 1);
  const int64_t outer = whole.shape().product(0, axis);
  const int64_t inner =
      whole.shape().product(axis + 1, whole.shape().rank()) * static_cast<int64_t>(sizeOf(whole.dtype()));
  const WorkVector<int64_t> lengths = partLengths(node, whole.shape()[axis], split);
  const MemoryLease room(activeMemory(), lengths.size() * kPartBytes);
  Elements elements;
  int64_t at = 0;
  for (const int64_t length : lengths) {
    Shape shape = whole.shape();
    shape[axis] = length;
    if (read.dropsAxis) shape.erase(axis);
    const Ref<Tensor> part = Tensor::allocate(whole.dtype(), shape);
    copyRows(static_cast<std::byte*>(part->mutableData()), length * inner, whole.as<std::byte>() + at * inner,
             whole.shape()[axis] * inner, outer, length * inner);
    elements.push_back(holdsPointers(part->dtype()) ? selfContained(*part) : part);
    at += length;
    passWork(256);
  }
  return sequenceOf(std::move(elements));
}

// The shape of the whole; elements agree beside the axis.
Shape concatenated(const Node& node, const Elements& elements, int axis, bool isNew) {
  Shape whole = elements[0]->shape();
  if (isNew) whole.insert(axis, 1);
  whole[axis] = 0;
  for (const Ref<Tensor>& element : elements) {
    Shape shape = element->shape();
    if (isNew && shape.rank() < whole.rank()) shape.insert(axis, 1);
    const int64_t length = shape.rank() == whole.rank() ? shape[axis] : 0;
    if (shape.rank() == whole.rank()) shape[axis] = whole[axis];
    if (element->dtype() != elements[0]->dtype() || !(shape == whole))
      invalidArgument(node.description(), ": the elements ", elements[0]->dtype(), elements[0]->shape(), " and ",
                      element->dtype(), element->shape(), " do not fit along axis ", axis);
    whole[axis] = checkedAdd(whole[axis], length);
  }
  return whole;
}

Results concatFromSequence(const Node& node, Arguments inputs) {
  const Elements& elements = partsOf(*inputs[0]);
  require(!elements.empty(), MAX_STATUS_INVALID_ARGUMENT, node.description(), ": the sequence is empty");
  const DType dtype = elements[0]->dtype();
  if (isObject(dtype)) invalidArgument(node.description(), ": a ", dtype, " cannot be concatenated");
  requireWholeBytes(node, dtype);
  const RequestInputs types(node, inputs);
  const readers::SequenceJoin join(*types);
  const int axis = join.axis(elements[0]->shape().rank());
  const Shape shape = concatenated(node, elements, axis, join.isNew);
  const Ref<Tensor> whole = Tensor::allocate(dtype, shape);
  const int64_t outer = shape.product(0, axis);
  const int64_t row = shape.product(axis, shape.rank()) * static_cast<int64_t>(sizeOf(dtype));
  auto* to = static_cast<std::byte*>(whole->mutableData());
  for (const Ref<Tensor>& element : elements) {
    if (element->bytes() == 0) continue;  // so `outer` is not 0
    const int64_t bytes = static_cast<int64_t>(element->bytes()) / outer;
    copyRows(to, row, element->as<std::byte>(), bytes, outer, bytes);
    to += bytes;
  }
  return {holdsPointers(dtype) ? selfContained(*whole) : whole};
}

Results optional(const Node&, Arguments inputs) {
  Elements value;
  if (const Tensor* input = optionalInput(inputs, 0)) value.push_back(selfContained(*input));
  return {objectTensor(DType::Optional, std::move(value))};
}

Results optionalHasElement(const Node&, Arguments inputs) {
  const Tensor* input = optionalInput(inputs, 0);
  const bool has = input && (input->dtype() != DType::Optional || !partsOf(*input).empty());
  return {Tensor::copyOf(DType::Bool, Shape{}, &has)};
}

Results optionalGetElement(const Node& node, Arguments inputs) {
  if (inputs[0]->dtype() != DType::Optional) return {selfContained(*inputs[0])};
  const Elements& value = partsOf(*inputs[0]);
  require(!value.empty(), MAX_STATUS_INVALID_ARGUMENT, node.description(), ": the optional has no element");
  return value;
}

const OpRow kRows[] = {
    {"", "SequenceConstruct", kFunction<sequenceConstruct>},
    {"", "SequenceEmpty", kFunction<sequenceEmpty>},
    {"", "SequenceAt", {}, nullptr, sequenceAt},
    {"", "SequenceInsert", kFunction<sequenceInsert>},
    {"", "SequenceErase", kFunction<sequenceErase>},
    {"", "SequenceLength", kFunction<sequenceLength>},
    {"", "SplitToSequence", kFunction<splitToSequence>},
    {"", "ConcatFromSequence", {}, nullptr, concatFromSequence},
    {"", "Optional", kFunction<optional>},
    {"", "OptionalHasElement", kFunction<optionalHasElement>},
    {"", "OptionalGetElement", kFunction<optionalGetElement>, nullptr, optionalGetElement},
};

}  // namespace

std::span<const OpRow> sequenceValueOps() { return kRows; }

}  // namespace max
