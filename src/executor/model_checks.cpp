// SPDX-License-Identifier: Apache-2.0
// Checks a caller's arguments against the model's inputs and outputs. All messages have one form: Input 0 ('x'): dtype
// is float64, expected float32; given float64[2, 4], the model takes float32[batch, 4]
#include "base/error.h"
#include "executor/model.h"

namespace max {

namespace {

constexpr size_t kListed = 8;

bool overlap(const void* a, size_t bytesA, const void* b, size_t bytesB) {
  const auto *beginA = static_cast<const std::byte*>(a), *beginB = static_cast<const std::byte*>(b);
  return bytesA > 0 && bytesB > 0 && beginA < beginB + bytesB && beginB < beginA + bytesA;
}

bool overlap(const MaxBuffer& a, const MaxBuffer& b) { return overlap(a.data(), a.bytes(), b.data(), b.bytes()); }

bool overlap(const MaxBuffer& a, const TensorArg& b) {
  return !holdsPointers(b.dtype) && overlap(a.data(), a.bytes(), b.data, bytesFor(b.dtype, Shape(b.dims).count()));
}

// "expected 2: 'a' float32[n, 3], 'b' float32[n, 3]"
void checkCount(const char* what, size_t count, const std::vector<TensorInfo>& expected) {
  if (count == expected.size()) return;
  std::string list;
  for (size_t i = 0; i < expected.size() && i < kListed; ++i)
    list += concat(i ? ", '" : ": '", expected[i].name(), "' ", expected[i].typeName());
  invalidArgument("Number of ", what, " is ", count, ", expected ", expected.size(), list,
                  expected.size() > kListed ? ", ..." : "");
}

// The problem with a buffer's device or layout; empty if there is none.
std::string misplacement(const MaxBuffer& buffer, const MaxDevice& device) {
  if (&buffer.device() != &device)
    return concat("is on ", buffer.device().displayName(), ", expected ", device.displayName(),
                  "; maxBufferTo copies it there");
  if (!buffer.isContiguous()) return "is not contiguous; maxBufferContiguous makes a contiguous copy";
  return "";
}

std::string typeText(const MaxBuffer& buffer) { return concat(buffer.dtype(), buffer.shape()); }

}  // namespace

void failOutput(const TensorInfo& output, size_t index, const std::string& problem, const std::string& given,
                const std::string& expected) {
  invalidArgument("Output ", index, " ('", output.name(), "'): ", problem, "; given ", given, ", the model makes ",
                  expected);
}

void checkOutputType(const TensorInfo& output, size_t index, const MaxBuffer& buffer, DType dtype, const Shape& shape) {
  if (buffer.dtype() == dtype && buffer.shape() == shape) return;
  const TensorInfo expected("", TensorType::of(dtype, symbolic(shape)));
  failOutput(output, index, expected.mismatch(buffer.dtype(), buffer.shape().dims()), typeText(buffer),
             expected.typeName());
}

}  // namespace max

void MaxModel::failInput(size_t index, const std::string& problem, const std::string& given) const {
  max::invalidArgument("Input ", index, " ('", inputs()[index].name(), "'): ", problem, "; given ", given,
                       ", the model takes ", inputs()[index].typeName());
}

void MaxModel::checkInputCount(size_t count) const { max::checkCount("inputs", count, inputs()); }

void MaxModel::checkOutputCount(size_t count) const { max::checkCount("outputs", count, outputs()); }

void MaxModel::checkInput(size_t index, const max::TensorArg& input) const {
  const max::TensorInfo& expected = inputs()[index];
  if (expected.fits(input.dtype, input.dims)) return;
  const std::string given = max::concat(input.dtype, max::Shape(input.dims));
  if (expected.isTensor()) failInput(index, expected.mismatch(input.dtype, input.dims), given);
  failInput(index, max::concat("is a tensor, expected a ", expected.dtype(), ", which maxModelExecuteValues takes"),
            given);
}

const MaxDevice& MaxModel::deviceFor(const MaxBuffer& buffer, const max::TensorInfo& info,
                                     const MaxDevice& declared) const {
  if (max::holdsPointers(buffer.dtype())) return *host_;
  return info.isTensor() && !max::holdsPointers(info.dtype()) ? declared : device();
}

void MaxModel::checkPlacement(size_t index, const MaxBuffer& buffer) const {
  const std::string problem = max::misplacement(buffer, deviceFor(buffer, inputs()[index], inputDevice(index)));
  if (!problem.empty()) failInput(index, problem, max::typeText(buffer));
}

void MaxModel::checkEqualDims(std::span<const max::TensorArg> arguments) const {
  for (const EqualDims& equal : equalDims_) {
    const max::TensorArg& input = arguments[equal.inputB];
    const int64_t a = arguments[equal.inputA].dims[equal.dimA], b = input.dims[equal.dimB];
    if (a != b)
      failInput(equal.inputB,
                max::concat("dimension ", equal.dimB, " is ", b, ", but '", inputs()[equal.inputB].dimName(equal.dimB),
                            "' is ", a, " in input ", equal.inputA, " ('", inputs()[equal.inputA].name(), "')"),
                max::concat(input.dtype, max::Shape(input.dims)));
  }
}

void MaxModel::readInputs(std::span<MaxBuffer* const> buffers, std::span<max::TensorArg> arguments) const {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!max::isHandle(buffers[i])) [[unlikely]]
      max::invalidArgument("Input ", i, " ('", inputs()[i].name(), "') ", max::wrongHandleText(buffers[i]),
                           ", expected ", inputs()[i].typeName());
    checkPlacement(i, *buffers[i]);
    arguments[i] = {buffers[i]->dtype(), buffers[i]->shape().dims(), buffers[i]->data()};
    checkInput(i, arguments[i]);
  }
  checkEqualDims(arguments);
}

void MaxModel::readHost(const max::HostInputs& host, std::span<max::TensorArg> arguments) const {
  for (size_t i = 0; i < host.count; ++i) {
    const int32_t rank = host.ranks[i];
    const auto fail = [&](const auto&... problem) {
      max::invalidArgument("Input ", i, " ('", inputs()[i].name(), "'): ", problem..., ", the model takes ",
                           inputs()[i].typeName());
    };
    const auto dtype = static_cast<max::DType>(host.dtypes[i]);
    if (!max::isValid(dtype)) fail("there is no dtype with number ", host.dtypes[i]);
    if (max::holdsPointers(dtype))
      fail("strings are not arrays of bytes; use maxModelExecute with a buffer of strings");
    if (rank < 0 || rank > max::kMaxRank) fail("rank is ", rank, ", expected 0 to ", max::kMaxRank);
    if (rank > 0 && !host.shapes[i]) fail("its shape is NULL");
    arguments[i] = {dtype, {host.shapes[i], static_cast<size_t>(rank)}, host.data[i]};
    const size_t bytes = max::bytesFor(dtype, max::Shape(arguments[i].dims).count());
    if (bytes > 0 && !host.data[i]) fail("its data is NULL");
    checkInput(i, arguments[i]);
  }
  checkEqualDims(arguments);
}

void MaxModel::readValues(std::span<MaxValue* const> values, std::span<max::TensorArg> arguments) const {
  for (size_t i = 0; i < values.size(); ++i) {
    const max::TensorInfo& expected = inputs()[i];
    if (!max::isHandle(values[i]))
      max::invalidArgument("Input ", i, " ('", expected.name(), "') ", max::wrongHandleText(values[i]), ", expected ",
                           expected.typeName());
    const bool isTensor = values[i]->kind() == MAX_VALUE_KIND_TENSOR;
    arguments[i] = values[i]->argument();
    if (isTensor) checkPlacement(i, *values[i]->buffer());
    if (isTensor && expected.isTensor())
      checkInput(i, arguments[i]);
    else if (!max::fits(expected.valueType(), *values[i]))
      failInput(i, "is of another type", values[i]->typeText());
  }
  checkEqualDims(arguments);
}

void MaxModel::requireTensorOutputs() const {
  for (size_t i = 0; i < outputs().size(); ++i)
    if (!outputs()[i].isTensor())
      max::invalidArgument("Output ", i, " ('", outputs()[i].name(), "') is a ", outputs()[i].typeName(),
                           ", which maxModelExecuteValues returns");
}

void MaxModel::checkGiven(std::span<const max::TensorArg> arguments, std::span<MaxBuffer* const> given) const {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    if (!max::isHandle(given[i]))
      max::invalidArgument("Output ", i, " ('", outputs()[i].name(), "') ", max::wrongHandleText(given[i]));
    std::string problem = max::misplacement(*given[i], deviceFor(*given[i], outputs()[i], outputDevice(i)));
    if (given[i]->isReadOnly()) problem = "is read-only";
    for (size_t k = 0; k < arguments.size(); ++k)
      if (max::overlap(*given[i], arguments[k]))
        problem = max::concat("shares memory with input ", k, " ('", inputs()[k].name(), "')");
    for (size_t k = 0; k < i; ++k)
      if (given[k] && max::overlap(*given[i], *given[k]))
        problem = max::concat("shares memory with output ", k, " ('", outputs()[k].name(), "')");
    if (!problem.empty()) max::failOutput(outputs()[i], i, problem, max::typeText(*given[i]), outputs()[i].typeName());
  }
}
