// SPDX-License-Identifier: Apache-2.0
// Cast between strings and numbers. Numbers are written with the fewest digits that give them back, in their own type;
// read as decimal numbers with an optional exponent, or INF, INFINITY, NaN in any case.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "ops/cpu/text.h"
#include "ops/families.h"
#include "ops/value_function.h"

namespace max {

namespace {

constexpr size_t kLongestNumber = 400;  // a float64 without exponent

template <class T>
std::string_view writeNumber(T value, char* text) {
  const auto result = std::to_chars(text, text + kLongestNumber, value);
  return {text, static_cast<size_t>(result.ptr - text)};
}

// As Python writes floats: without exponent from 1e-4 up to 1e16, with a ".0" where it is whole.
template <class T>
std::string_view writeFloat(T value, char* text) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  const T size = std::abs(value);
  const bool isPlain = size == 0 || (size >= T(1e-4) && size < T(1e16));
  const auto format = isPlain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto result = std::to_chars(text, text + kLongestNumber - 2, value, format);
  std::string_view written(text, static_cast<size_t>(result.ptr - text));
  if (!isPlain || written.find('.') != written.npos) return written;
  std::memcpy(text + written.size(), ".0", 2);
  return {text, written.size() + 2};
}

std::string_view writeElement(const Tensor& tensor, int64_t i, char* text) {
  switch (tensor.dtype()) {
    case DType::Bool:
      return tensor.as<bool>()[i] ? "True" : "False";
    case DType::Int8:
      return writeNumber(tensor.as<int8_t>()[i], text);
    case DType::Int16:
      return writeNumber(tensor.as<int16_t>()[i], text);
    case DType::Int32:
      return writeNumber(tensor.as<int32_t>()[i], text);
    case DType::Int64:
      return writeNumber(tensor.as<int64_t>()[i], text);
    case DType::UInt8:
      return writeNumber(tensor.as<uint8_t>()[i], text);
    case DType::UInt16:
      return writeNumber(tensor.as<uint16_t>()[i], text);
    case DType::UInt32:
      return writeNumber(tensor.as<uint32_t>()[i], text);
    case DType::UInt64:
      return writeNumber(tensor.as<uint64_t>()[i], text);
    case DType::Float16:
      return writeFloat(floatFromHalf(tensor.as<uint16_t>()[i]), text);
    case DType::BFloat16:
      return writeFloat(floatFromBFloat16(tensor.as<uint16_t>()[i]), text);
    case DType::Float32:
      return writeFloat(tensor.as<float>()[i], text);
    default:
      return writeFloat(tensor.as<double>()[i], text);
  }
}

Results toString(const Tensor& input) {
  char text[kLongestNumber];
  return {stringTensor(
      input.shape(), [&](size_t i) { return writeElement(input, static_cast<int64_t>(i), text).size(); },
      [&](size_t i, char* to) {
        const std::string_view written = writeElement(input, static_cast<int64_t>(i), text);
        std::memcpy(to, written.data(), written.size());
      })};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && isSpace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

[[noreturn]] void failNumber(const Node& node, std::string_view text, DType dtype) {
  constexpr size_t kShown = 40;
  invalidArgument(node.description(), ": '", text.substr(0, kShown), text.size() > kShown ? "..." : "", "' is no ",
                  dtype);
}

double readDouble(const Node& node, std::string_view whole, DType dtype) {
  std::string_view text = trimmed(whole);
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::invalid_argument || result.ptr != text.data() + text.size())
    failNumber(node, whole, dtype);
  if (result.ec != std::errc::result_out_of_range) return value;
  const double size = text.find("e-") != text.npos || text.find("E-") != text.npos ? 0 : INFINITY;
  return text.starts_with("-") ? -size : size;
}

// Whole numbers exactly, others by way of a float64, without what follows the point.
template <class T>
T readInteger(const Node& node, std::string_view whole, DType dtype) {
  std::string_view text = trimmed(whole);
  if (text.starts_with("+")) text.remove_prefix(1);
  T value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc() && result.ptr == text.data() + text.size()) return value;
  const double number = std::trunc(readDouble(node, whole, dtype));
  constexpr double kFirst = static_cast<double>(std::numeric_limits<T>::min());
  const double kEnd = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(number >= kFirst && number < kEnd)) failNumber(node, whole, dtype);
  return static_cast<T>(number);
}

bool readBool(const Node& node, std::string_view whole) {
  const std::string text = lowerCase(trimmed(whole));
  if (text == "true" || text == "false") return text == "true";
  return readDouble(node, whole, DType::Bool) != 0;
}

template <class T, class Read>
void readAll(const Tensor& input, Tensor& result, Read read) {
  T* out = static_cast<T*>(result.mutableData());
  for (int64_t i = 0; i < input.count(); ++i) out[i] = read(textAt(input, i));
}

template <class T>
void readIntegers(const Node& node, const Tensor& input, Tensor& result) {
  readAll<T>(input, result, [&](std::string_view text) { return readInteger<T>(node, text, result.dtype()); });
}

void readFloats(const Node& node, const Tensor& input, Tensor& result) {
  const DType dtype = result.dtype();
  const auto read = [&](std::string_view text) { return readDouble(node, text, dtype); };
  if (dtype == DType::Float64) return readAll<double>(input, result, read);
  if (dtype == DType::Float32)
    return readAll<float>(input, result, [&](std::string_view text) { return static_cast<float>(read(text)); });
  const auto narrow = dtype == DType::Float16 ? halfFromFloat : bfloat16FromFloat;
  readAll<uint16_t>(input, result, [&](std::string_view text) { return narrow(static_cast<float>(read(text))); });
}

Results fromString(const Node& node, const Tensor& input, DType to) {
  Ref<Tensor> result = Tensor::allocate(to, input.shape());
  switch (to) {
    case DType::Bool:
      readAll<bool>(input, *result, [&](std::string_view text) { return readBool(node, text); });
      break;
    case DType::Int8:
      readIntegers<int8_t>(node, input, *result);
      break;
    case DType::Int16:
      readIntegers<int16_t>(node, input, *result);
      break;
    case DType::Int32:
      readIntegers<int32_t>(node, input, *result);
      break;
    case DType::Int64:
      readIntegers<int64_t>(node, input, *result);
      break;
    case DType::UInt8:
      readIntegers<uint8_t>(node, input, *result);
      break;
    case DType::UInt16:
      readIntegers<uint16_t>(node, input, *result);
      break;
    case DType::UInt32:
      readIntegers<uint32_t>(node, input, *result);
      break;
    case DType::UInt64:
      readIntegers<uint64_t>(node, input, *result);
      break;
    default:
      readFloats(node, input, *result);
  }
  return {std::move(result)};
}

// The dtype of the output is the attribute of Cast, the second input of CastLike.
DType targetOf(const Node& node, Arguments inputs) {
  if (inputs.size() > 1) return inputs[1]->dtype();
  return dtypeFromOnnx(node.attributes.getInt("to", 0)).value_or(DType::Invalid);
}

Results castStrings(const Node& node, Arguments inputs) {
  const DType to = targetOf(node, inputs);
  if (to == inputs[0]->dtype()) return {selfContained(*inputs[0])};
  return to == DType::String ? toString(*inputs[0]) : fromString(node, *inputs[0], to);
}

bool isReadable(DType dtype) {
  if (dtype == DType::Bool || dtype == DType::String || isInteger(dtype)) return !isPacked(dtype);
  return isFloat(dtype) && bitsOf(dtype) >= 16;
}

bool acceptsCast(const KernelRequest& request) {
  const DType from = request.inputs[0].dtype, to = request.outputs[0].dtype;
  return (from == DType::String || to == DType::String) && isReadable(from) && isReadable(to);
}

const OpKernels kRows[] = {
    {"", "Cast", kFunction<castStrings, acceptsCast>},
    {"", "CastLike", kFunction<castStrings, acceptsCast>},
};

}  // namespace

std::span<const OpKernels> stringCastKernels() { return kRows; }

}  // namespace max
