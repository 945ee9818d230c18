// SPDX-License-Identifier: Apache-2.0
// Cast between strings and numbers. Numbers are written with the fewest digits that round-trip in their type; read as
// decimal numbers with an optional exponent, or INF, INFINITY, NaN in any case.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "graph/readers/elementwise.h"
#include "ops/cpu/string/text.h"
#include "ops/families.h"
#include "ops/value_function.h"

namespace max {

namespace {

constexpr size_t kLongestNumber = 64;
using Digits = char[kLongestNumber];

template <class T>
T numberAt(const Tensor& tensor, int64_t i) {
  T number;
  loadNumbers(tensor.dtype(), tensor.data(), i, 1, &number);
  return number;
}

template <class T>
std::string_view writeInteger(T value, Digits& text) {
  const auto result = std::to_chars(text, text + kLongestNumber, value);
  return {text, static_cast<size_t>(result.ptr - text)};
}

// As Python writes floats: without exponent from 1e-4 up to 1e16, with a ".0" where it is whole.
template <class T>
std::string_view writeFloat(T value, Digits& text) {
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

// For types below 32 bits: the shortest number that converts to the same element.
double shortened(DType dtype, double value) {
  uint8_t code[2] = {}, other[2] = {};
  storeNumbers(dtype, code, 0, 1, &value);
  for (int digits = 0; std::isfinite(value) && digits < 9; ++digits) {
    Digits text;
    const auto end = std::to_chars(text, text + kLongestNumber, value, std::chars_format::scientific, digits).ptr;
    double number = 0;
    std::from_chars(text, end, number);
    storeNumbers(dtype, other, 0, 1, &number);
    if (std::memcmp(code, other, sizeof code) == 0) return number;
  }
  return value;
}

std::string_view writeElement(const Tensor& tensor, int64_t i, Digits& text) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::Bool) return tensor.as<uint8_t>()[i] ? "True" : "False";
  if (dtype == DType::UInt64) return writeInteger(numberAt<uint64_t>(tensor, i), text);
  if (!isFloat(dtype)) return writeInteger(numberAt<int64_t>(tensor, i), text);
  if (dtype == DType::Float32) return writeFloat(numberAt<float>(tensor, i), text);
  const double number = numberAt<double>(tensor, i);
  return writeFloat(dtype == DType::Float64 ? number : shortened(dtype, number), text);
}

Ref<Tensor> toString(const Tensor& input) {
  Digits text;
  return stringTensor(
      input.shape(), [&](size_t i) { return writeElement(input, static_cast<int64_t>(i), text).size(); },
      [&](size_t i, char* to) {
        const std::string_view written = writeElement(input, static_cast<int64_t>(i), text);
        std::memcpy(to, written.data(), written.size());
      });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && isSpace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// Reads the elements of one type.
class Reader {
 public:
  Reader(const Node& node, DType to) : node_(node), to_(to), rules_(readers::readSmallFloatRules(node.attributes)) {}

  Ref<Tensor> read(const Tensor& input) const {
    Ref<Tensor> result = Tensor::allocate(to_, input.shape(), true);
    WorkCounter work;
    for (int64_t i = 0; i < input.count(); ++i) {
      const std::string_view text = textAt(input, i);
      store(*result, i, text);
      work.pass(32 + static_cast<int64_t>(text.size()));
    }
    return result;
  }

 private:
  void store(Tensor& result, int64_t i, std::string_view text) const {
    if (to_ == DType::Bool) return put(result, i, boolOf(text) ? int64_t{1} : int64_t{0});
    if (to_ == DType::UInt64) return put(result, i, integerOf<uint64_t>(text));
    if (!isFloat(to_)) return put(result, i, integerOf<int64_t>(text));
    if (to_ == DType::Float32) return put(result, i, floatOf<float>(text));
    put(result, i, floatOf<double>(text));
  }

  template <class T>
  void put(Tensor& result, int64_t i, T number) const {
    storeNumbers(to_, result.mutableData(), i, 1, &number, rules_);
  }

  [[noreturn]] void fail(std::string_view text) const {
    constexpr size_t kShown = 40;
    invalidArgument(node_.description(), ": '", text.substr(0, kShown), text.size() > kShown ? "..." : "",
                    "' is not a valid ", to_);
  }

  template <class T>
  T floatOf(std::string_view whole) const {
    std::string_view text = trimmed(whole);
    if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
    T value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc::invalid_argument || result.ptr != text.data() + text.size()) fail(whole);
    if (result.ec != std::errc::result_out_of_range) return value;
    const bool isSmall = text.find("e-") != text.npos || text.find("E-") != text.npos;
    const T size = isSmall ? T{0} : std::numeric_limits<T>::infinity();
    return text.starts_with("-") ? -size : size;
  }

  // Integers exactly, others through float64, truncated.
  template <class T>
  T integerOf(std::string_view whole) const {
    std::string_view text = trimmed(whole);
    if (text.starts_with("+")) text.remove_prefix(1);
    T value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
      const double number = std::trunc(floatOf<double>(whole));
      const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (!(number >= static_cast<double>(std::numeric_limits<T>::min()) && number < end)) fail(whole);
      value = static_cast<T>(number);
    }
    requireFits(value, whole);
    return value;
  }

  void requireFits(uint64_t, std::string_view) const {}
  void requireFits(int64_t value, std::string_view text) const {
    const int bits = static_cast<int>(bitsOf(to_));
    if (bits == 64) return;
    const int64_t count = int64_t{1} << bits, least = isSigned(to_) ? -count / 2 : 0;
    if (value < least || value >= least + count) fail(text);
  }

  bool boolOf(std::string_view whole) const {
    const std::string text = lowerCase(trimmed(whole));
    if (text == "true" || text == "false") return text == "true";
    return floatOf<double>(whole) != 0;
  }

  const Node& node_;
  DType to_;
  SmallFloatRules rules_;
};

class StringCastOp final : public OpKernel {
 public:
  explicit StringCastOp(const OpRequest& request)
      : node_(request.node),
        from_(request.inputs[0].dtype),
        to_(request.outputs[0].dtype),
        shape_(request.inputs[0].shape) {}

  void run(const OpContext& context) const override {
    const Tensor input(from_, shape_, context.inputs[0], nullptr);
    const Ref<Tensor> result = to_ != DType::String     ? Reader(node_, to_).read(input)
                               : from_ != DType::String ? toString(input)
                                                        : selfContained(input);
    copyBytes(context.outputs[0], result->data(), result->bytes());
    if (to_ == DType::String) ObjectPool::current().keep(result->storage());
  }

 private:
  const Node& node_;
  DType from_, to_;
  Shape shape_;
};

bool acceptsCast(const OpRequest& request) {
  const DType from = request.inputs[0].dtype, to = request.outputs[0].dtype;
  const auto isKnown = [](DType dtype) { return dtype == DType::String || isNumeric(dtype); };
  return (from == DType::String || to == DType::String) && isKnown(from) && isKnown(to);
}

constexpr Implementation kCast[] = {
    {"function", acceptsCast,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<StringCastOp>(request); }}};

const OpRow kRows[] = {{"", "Cast", kCast}, {"", "CastLike", kCast}};

}  // namespace

std::span<const OpRow> stringCastOps() { return kRows; }

}  // namespace max
