// SPDX-License-Identifier: Apache-2.0
// What the functions of extensions see: nodes, shapes, calls.
#include "base/thread_pool.h"
#include "capi/guard.h"
#include "capi/index.h"
#include "extension/extension.h"

using max::capi::clearOutput;
using max::capi::getValue;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

// NULL if there is no such attribute.
template <class T>
const T* findAttribute(const MaxOperatorNode* node, const char* name, const char* type) {
  requireArgument(node, "node");
  requireArgument(name, "name");
  const max::Attribute* attribute = node->node.attributes.find(name);
  const T* value = attribute ? std::get_if<T>(attribute) : nullptr;
  if (attribute && !value) max::invalidArgument("Attribute '", name, "' is not of type ", type);
  return value;
}

template <class T, class Out>
MaxStatus getAttribute(const MaxOperatorNode* node, const char* name, const char* type, Out fallback, Out* out,
                       auto&& read) {
  return guard([&] {
    requireArgument(out, "outValue");
    const T* value = findAttribute<T>(node, name, type);
    *out = value ? read(*value) : fallback;
  });
}

template <class T>
MaxStatus getList(const MaxOperatorNode* node, const char* name, const char* type, const T** outValues,
                  int32_t* outCount) {
  return guard([&] {
    requireArgument(outValues, "outValues");
    requireArgument(outCount, "outCount");
    const auto* list = findAttribute<std::vector<T>>(node, name, type);
    *outValues = list ? list->data() : nullptr;
    *outCount = list ? static_cast<int32_t>(list->size()) : 0;
  });
}

struct TensorView {
  MaxDType* dtype;
  int32_t* rank;
  const int64_t** shape;
  const void** data;

  void set(const max::Tensor* tensor) const {
    requireArgument(dtype, "outDType");
    requireArgument(rank, "outRank");
    requireArgument(shape, "outShape");
    requireArgument(data, "outData");
    *dtype = tensor ? static_cast<MaxDType>(tensor->dtype()) : MAX_DTYPE_INVALID;
    *rank = tensor ? tensor->shape().rank() : 0;
    *shape = tensor ? tensor->shape().data() : nullptr;
    *data = tensor ? tensor->data() : nullptr;
  }
};

size_t checkedIndex(int32_t index, size_t count, const char* what) {
  max::require(index >= 0 && static_cast<size_t>(index) < count, MAX_STATUS_OUT_OF_RANGE, what, " ", index,
               " does not exist; there are ", count);
  return static_cast<size_t>(index);
}

const max::InputType& inputOf(const MaxShapeContext* context, int32_t input) {
  requireArgument(context, "context");
  return context->infer.input(checkedIndex(input, context->infer.inputCount(), "Input"));
}

max::Dim inputDimension(const MaxShapeContext* context, int32_t input, int32_t axis) {
  const max::InputType& type = inputOf(context, input);
  return type.type.dims[checkedIndex(axis, type.type.ranked ? type.type.dims.size() : 0, "Dimension")];
}

size_t outputOf(const MaxShapeContext* context, int32_t output) {
  requireArgument(context, "context");
  return checkedIndex(output, context->maxOutputs, "Output");
}

max::Shape checkedShape(int32_t rank, const int64_t* shape, int64_t least) {
  if (rank < 0 || rank > max::kMaxRank) max::invalidArgument("There cannot be ", rank, " dimensions");
  if (rank > 0) requireArgument(shape, "shape");
  const max::Shape result(std::span<const int64_t>(shape, static_cast<size_t>(rank)));
  for (int64_t dimension : result)
    if (dimension < least) max::invalidArgument("Dimensions cannot be ", result);
  return result;
}

bool isNumber(MaxDType dtype) {
  const auto type = static_cast<max::DType>(dtype);
  return max::isValid(type) && !max::holdsPointers(type);
}

const void* alignedContents(MaxShapeContext& context, const max::Tensor& tensor) {
  if (tensor.isAligned()) return tensor.data();
  return context.copies.emplace_back(tensor.aligned())->data();
}

}  // namespace

MaxStatus maxOperatorNodeGetName(const MaxOperatorNode* node, const char** outName) {
  return getValue(node, "node", outName, "outName", [](const MaxOperatorNode& n) { return n.node.name.c_str(); });
}

MaxStatus maxOperatorNodeGetInputCount(const MaxOperatorNode* node, int32_t* outCount) {
  return getValue(node, "node", outCount, "outCount",
                  [](const MaxOperatorNode& n) { return static_cast<int32_t>(n.node.inputs.size()); });
}

MaxStatus maxOperatorNodeGetOutputCount(const MaxOperatorNode* node, int32_t* outCount) {
  return getValue(node, "node", outCount, "outCount",
                  [](const MaxOperatorNode& n) { return static_cast<int32_t>(n.outputCount); });
}

MaxStatus maxOperatorNodeHasAttribute(const MaxOperatorNode* node, const char* name, int32_t* outHas) {
  return guard([&] {
    requireArgument(outHas, "outHas");
    requireArgument(node, "node");
    requireArgument(name, "name");
    *outHas = node->node.attributes.has(name);
  });
}

MaxStatus maxOperatorNodeGetInt(const MaxOperatorNode* node, const char* name, int64_t fallback, int64_t* outValue) {
  return getAttribute<int64_t>(node, name, "int", fallback, outValue, [](int64_t value) { return value; });
}

MaxStatus maxOperatorNodeGetFloat(const MaxOperatorNode* node, const char* name, float fallback, float* outValue) {
  return getAttribute<float>(node, name, "float", fallback, outValue, [](float value) { return value; });
}

MaxStatus maxOperatorNodeGetString(const MaxOperatorNode* node, const char* name, const char* fallback,
                                   const char** outValue) {
  return getAttribute<std::string>(node, name, "string", fallback, outValue,
                                   [](const std::string& value) { return value.c_str(); });
}

MaxStatus maxOperatorNodeGetInts(const MaxOperatorNode* node, const char* name, const int64_t** outValues,
                                 int32_t* outCount) {
  return getList(node, name, "ints", outValues, outCount);
}

MaxStatus maxOperatorNodeGetFloats(const MaxOperatorNode* node, const char* name, const float** outValues,
                                   int32_t* outCount) {
  return getList(node, name, "floats", outValues, outCount);
}

MaxStatus maxOperatorNodeGetStringCount(const MaxOperatorNode* node, const char* name, int32_t* outCount) {
  return getAttribute<std::vector<std::string>>(node, name, "strings", 0, outCount,
                                                [](const auto& list) { return static_cast<int32_t>(list.size()); });
}

MaxStatus maxOperatorNodeGetStringAt(const MaxOperatorNode* node, const char* name, int32_t index,
                                     const char** outValue) {
  return guard([&] {
    requireArgument(outValue, "outValue");
    const auto* list = findAttribute<std::vector<std::string>>(node, name, "strings");
    const size_t at = checkedIndex(index, list ? list->size() : 0, "Text");
    *outValue = (*list)[at].c_str();
  });
}

MaxStatus maxOperatorNodeGetTensor(const MaxOperatorNode* node, const char* name, MaxDType* outDType, int32_t* outRank,
                                   const int64_t** outShape, const void** outData) {
  return guard([&] {
    const auto* tensor = findAttribute<max::Ref<max::Tensor>>(node, name, "tensor");
    if (tensor && *tensor && max::holdsPointers((*tensor)->dtype()))
      max::invalidArgument("Attribute '", name, "' is a tensor of strings");
    TensorView{outDType, outRank, outShape, outData}.set(tensor ? tensor->get() : nullptr);
  });
}

MaxStatus maxOperatorNodeGetConstant(const MaxOperatorNode* node, int32_t input, MaxDType* outDType, int32_t* outRank,
                                     const int64_t** outShape, const void** outData) {
  return guard([&] {
    requireArgument(node, "node");
    const size_t index = checkedIndex(input, node->node.inputs.size(), "Input");
    const max::Tensor* tensor = index < node->constants.size() ? node->constants[index] : nullptr;
    TensorView{outDType, outRank, outShape, outData}.set(tensor);
  });
}

MaxStatus maxOperatorNodeGetDevice(const MaxOperatorNode* node, MaxDevice** outDevice) {
  return guard([&] {
    requireArgument(node, "node");
    requireArgument(outDevice, "outDevice");
    *outDevice = node->device;
  });
}

MaxStatus maxShapeContextGetInputDType(const MaxShapeContext* context, int32_t input, MaxDType* outDType) {
  return guard([&] {
    requireArgument(outDType, "outDType");
    *outDType = static_cast<MaxDType>(inputOf(context, input).type.dtype);
  });
}

MaxStatus maxShapeContextGetInputRank(const MaxShapeContext* context, int32_t input, int32_t* outRank) {
  return guard([&] {
    requireArgument(outRank, "outRank");
    const max::InputType& type = inputOf(context, input);
    *outRank = type.present && type.type.ranked ? type.type.rank() : MAX_RANK_DYNAMIC;
  });
}

MaxStatus maxShapeContextGetInputDimension(const MaxShapeContext* context, int32_t input, int32_t axis,
                                           int64_t* outDimension) {
  return guard([&] {
    requireArgument(outDimension, "outDimension");
    const max::Dim dim = inputDimension(context, input, axis);
    *outDimension = dim.isKnown() ? dim.value() : MAX_DIMENSION_DYNAMIC;
  });
}

MaxStatus maxShapeContextGetInputData(const MaxShapeContext* context, int32_t input, const void** outData) {
  return guard([&] {
    requireArgument(outData, "outData");
    const max::Tensor* contents = inputOf(context, input).constant;
    const bool isKnown = contents && contents->hasContents();
    *outData = isKnown ? alignedContents(const_cast<MaxShapeContext&>(*context), *contents) : nullptr;
  });
}

MaxStatus maxShapeContextSetOutputDType(MaxShapeContext* context, int32_t output, MaxDType dtype) {
  return guard([&] {
    const size_t index = outputOf(context, output);
    if (!isNumber(dtype)) max::invalidArgument("Output ", output, " cannot have the data type ", dtype);
    context->infer.setDType(index, static_cast<max::DType>(dtype));
  });
}

MaxStatus maxShapeContextSetOutputShape(MaxShapeContext* context, int32_t output, int32_t rank, const int64_t* shape) {
  return guard([&] {
    const size_t index = outputOf(context, output);
    max::SymbolicShape dims;
    for (int64_t dimension : checkedShape(rank, shape, MAX_DIMENSION_DYNAMIC))
      dims.push_back(dimension < 0 ? context->infer.unknownDim() : max::Dim(dimension));
    context->infer.setShape(index, std::move(dims));
  });
}

MaxStatus maxShapeContextSetOutputDimension(MaxShapeContext* context, int32_t output, int32_t axis, int32_t input,
                                            int32_t inputAxis) {
  return guard([&] {
    const size_t index = outputOf(context, output);
    const max::Dim dim = inputDimension(context, input, inputAxis);
    if (index >= context->infer.outputCount()) return;
    max::SymbolicShape dims = context->infer.outputs()[index].type.dims;
    dims[checkedIndex(axis, dims.size(), "Dimension")] = dim;
    context->infer.setShape(index, std::move(dims));
  });
}

MaxStatus maxShapeContextSetOutputLike(MaxShapeContext* context, int32_t output, int32_t input) {
  return guard([&] {
    const size_t index = outputOf(context, output);
    (void)inputOf(context, input);
    context->infer.setOutputLike(index, static_cast<size_t>(input));
  });
}

MaxStatus maxShapeContextSetOutputBroadcast(MaxShapeContext* context, int32_t output, int32_t inputA, int32_t inputB) {
  return guard([&] {
    const size_t index = outputOf(context, output);
    const max::TensorType &a = inputOf(context, inputA).type, &b = inputOf(context, inputB).type;
    if (a.ranked && b.ranked) context->infer.setShape(index, context->infer.broadcast(a.dims, b.dims));
  });
}

MaxStatus maxShapeContextSetScratchSize(MaxShapeContext* context, size_t byteCount) {
  return guard([&] {
    requireArgument(context, "context");
    max::require(byteCount <= size_t{1} << 60, MAX_STATUS_OUT_OF_RANGE, "Scratch memory cannot be ", byteCount,
                 " bytes");
    context->scratch = byteCount;
  });
}

MaxStatus maxOperatorCallParallelFor(const MaxOperatorCall* call, int64_t count, int64_t grain,
                                     MaxOperatorLoopFunction body, void* userData) {
  return guard([&] {
    requireArgument(call, "call");
    max::require(body != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Argument 'body' is NULL");
    max::capi::requireCount(count, "count");
    if (grain < 1) max::invalidArgument("grain is ", grain, "; it must be at least 1");
    max::parallelFor(call->lanes, count, grain,
                     [&](int64_t begin, int64_t end, int lane) { body(userData, begin, end, lane); });
  });
}

MaxStatus maxOperatorCallAllocateOutput(const MaxOperatorCall* call, int32_t output, int32_t rank, const int64_t* shape,
                                        void** outData) {
  return guard([&] {
    requireArgument(outData, "outData");
    *outData = nullptr;
    requireArgument(call, "call");
    max::OutputMaker* maker = max::outputMakerOf(call);
    max::require(maker != nullptr, MAX_STATUS_FAILED_PRECONDITION,
                 "The call does not allocate its outputs, or runs in another thread");
    max::require(output >= 0, MAX_STATUS_OUT_OF_RANGE, "Output ", output, " does not exist");
    *outData = maker->make(static_cast<size_t>(output), checkedShape(rank, shape, 0));
  });
}
