// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/object.h"
#include "onnx/external_data.h"

namespace max::onnx {

namespace {

[[noreturn]] void failAt(const TensorProto& proto, MaxStatus status, const std::string& text) {
  fail(status, "tensor '", proto.name, "': ", text);
}

void checkCount(const TensorProto& proto, size_t found, size_t expected, const char* unit) {
  if (found != expected)
    failAt(proto, MAX_STATUS_DATA_LOSS, concat("holds ", found, " ", unit, "; its shape and dtype need ", expected));
}

template <class T, class Source>
void convert(const std::vector<Source>& from, void* to) {
  T* out = static_cast<T*>(to);
  for (size_t i = 0; i < from.size(); ++i) out[i] = static_cast<T>(from[i]);
}

// Packs 6-bit elements, one per number, into a bit stream.
void storeSixBits(const TensorProto& proto, Tensor& tensor) {
  auto* bytes = static_cast<uint8_t*>(tensor.mutableData());
  if (tensor.bytes() > 0) std::memset(bytes, 0, tensor.bytes());
  for (size_t i = 0; i < proto.ints.size(); ++i) {
    const unsigned value = static_cast<unsigned>(proto.ints[i] & 63) << (i * 6 % 8);
    bytes[i * 6 / 8] = static_cast<uint8_t>(bytes[i * 6 / 8] | value);
    if (value > 255) bytes[i * 6 / 8 + 1] = static_cast<uint8_t>(value >> 8);
  }
}

// Elements of int32_data, int64_data or uint64_data, narrowed to the tensor's own width. Types below
// 6 bits arrive packed, one byte of packed elements in each number.
void storeInts(const TensorProto& proto, Tensor& tensor) {
  if (bitsOf(tensor.dtype()) == 6) return storeSixBits(proto, tensor);
  const size_t width = isPacked(tensor.dtype()) ? 1 : sizeOf(tensor.dtype());
  checkCount(proto, proto.ints.size(), tensor.bytes() / width, "numbers");
  switch (width) {
    case 1:
      return convert<uint8_t>(proto.ints, tensor.mutableData());
    case 2:
      return convert<uint16_t>(proto.ints, tensor.mutableData());
    case 4:
      return convert<uint32_t>(proto.ints, tensor.mutableData());
    default:
      return convert<uint64_t>(proto.ints, tensor.mutableData());
  }
}

template <class T>
void storeFloats(const TensorProto& proto, const std::vector<T>& values, Tensor& tensor) {
  checkCount(proto, values.size(), tensor.bytes() / sizeof(T), "numbers");
  if (!values.empty()) std::memcpy(tensor.mutableData(), values.data(), tensor.bytes());
}

enum class Field { Floats, Doubles, Ints };

Field fieldOf(DType dtype) {
  switch (dtype) {
    case DType::Float32:
    case DType::Complex64:
      return Field::Floats;
    case DType::Float64:
    case DType::Complex128:
      return Field::Doubles;
    default:
      return Field::Ints;
  }
}

size_t numbersIn(const TensorProto& proto, Field field) {
  if (field == Field::Floats) return proto.floats.size();
  return field == Field::Doubles ? proto.doubles.size() : proto.ints.size();
}

Ref<Tensor> fromTypedData(const TensorProto& proto, DType dtype, const Shape& shape) {
  // A tensor with a huge shape and little data must fail before its memory is allocated.
  const Field field = fieldOf(dtype);
  const size_t bytes = bytesFor(dtype, shape.count());
  const size_t perNumber = field == Field::Floats    ? sizeof(float)
                           : field == Field::Doubles ? sizeof(double)
                                                     : std::max<size_t>(sizeOf(dtype), 1);
  const bool sixBits = bitsOf(dtype) == 6;
  checkCount(proto, numbersIn(proto, field), sixBits ? static_cast<size_t>(shape.count()) : bytes / perNumber,
             "numbers");
  Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
  if (field == Field::Floats)
    storeFloats(proto, proto.floats, *tensor);
  else if (field == Field::Doubles)
    storeFloats(proto, proto.doubles, *tensor);
  else
    storeInts(proto, *tensor);
  return tensor;
}

Ref<Tensor> fromStrings(const TensorProto& proto, const Shape& shape) {
  if (proto.isExternal || proto.hasRaw) failAt(proto, MAX_STATUS_INVALID_ARGUMENT, "holds strings as raw bytes");
  checkCount(proto, proto.strings.size(), static_cast<size_t>(shape.count()), "strings");
  return stringTensor(shape, proto.strings);
}

size_t numberOf(const TensorProto& proto, std::string_view key, std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    failAt(proto, MAX_STATUS_INVALID_ARGUMENT, concat("external data has the ", key, " '", text, "'"));
  return value;
}

// Fails if the size in bytes overflows.
Shape shapeOf(const TensorProto& proto) {
  for (int64_t dim : proto.dims)
    if (dim < 0) failAt(proto, MAX_STATUS_INVALID_ARGUMENT, concat("has the negative dimension ", dim));
  try {
    const Shape shape(proto.dims);
    (void)bytesFor(dtypeFromOnnx(proto.dataType).value_or(DType::UInt8), shape.count());
    return shape;
  } catch (const Error& error) {
    failAt(proto, error.status(), error.message());
  }
}

// In a file a bool may be any byte; after this it is 0 or 1.
Ref<Tensor> plainBools(Ref<Tensor> tensor) {
  const std::span<const uint8_t> bytes = tensor->values<uint8_t>();
  if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte <= 1; })) return tensor;
  Ref<Tensor> plain = Tensor::allocate(DType::Bool, tensor->shape());
  std::transform(bytes.begin(), bytes.end(), static_cast<uint8_t*>(plain->mutableData()),
                 [](uint8_t byte) { return static_cast<uint8_t>(byte != 0); });
  return plain;
}

}  // namespace

Ref<Tensor> TensorReader::read(const TensorProto& proto, bool isWeight) {
  Ref<Tensor> tensor = readAsStored(proto, isWeight);
  return tensor->dtype() == DType::Bool ? plainBools(std::move(tensor)) : tensor;
}

Ref<Tensor> TensorReader::readAsStored(const TensorProto& proto, bool isWeight) {
  const std::optional<DType> dtype = dtypeFromOnnx(proto.dataType);
  if (!dtype) failAt(proto, MAX_STATUS_UNIMPLEMENTED, concat("has the unknown data type number ", proto.dataType));
  const Shape shape = shapeOf(proto);
  if (*dtype == DType::String) return fromStrings(proto, shape);
  if (proto.isExternal) return viewOrCopy(*dtype, shape, external(proto, bytesFor(*dtype, shape.count())), isWeight);
  if (!proto.hasRaw) return fromTypedData(proto, *dtype, shape);
  checkCount(proto, proto.raw.size(), bytesFor(*dtype, shape.count()), "bytes");
  return viewOrCopy(*dtype, shape, {proto.raw.data(), file_}, isWeight);
}

Ref<Tensor> TensorReader::read(const TensorProto& proto) { return read(proto, false); }

Ref<Tensor> TensorReader::readWeight(const TensorProto& proto) {
  if (options_.weights) {
    const auto entry = options_.weights->entries.find(proto.name);
    if (entry != options_.weights->entries.end()) return given(proto, entry->second);
  }
  return read(proto, true);
}

Ref<Tensor> TensorReader::given(const TensorProto& proto, const WeightTable::Entry& entry) const {
  entry.used = true;
  const DType dtype = dtypeFromOnnx(proto.dataType).value_or(DType::Invalid);
  const Shape shape = shapeOf(proto);
  if (dtype != entry.tensor->dtype() || !(shape == entry.tensor->shape()))
    failWeightType(proto.name, *entry.tensor, TensorType::of(dtype, symbolic(shape)));
  return entry.tensor;
}

// Kernels rely on elements being aligned to their size; protobuf files do not align anything.
Ref<Tensor> TensorReader::viewOrCopy(DType dtype, const Shape& shape, const Bytes& bytes, bool isWeight) const {
  const auto view = makeRef<Tensor>(dtype, shape, bytes.data, bytes.owner);
  const bool isExternal = !(bytes.owner == file_ || bytes.owner == options_.compiledData);
  const bool stays = isWeight && shape.rank() >= 2 && view->bytes() >= kLargeTensorBytes;
  const bool copies = isExternal ? options_.copyExternal : options_.copyFile;
  if (copies && !(stays && bytes.owner->isTransient())) return view->copied();
  return stays ? view : view->aligned();
}

TensorReader::Bytes TensorReader::external(const TensorProto& proto, size_t size) {
  std::string_view location;
  size_t offset = 0, length = size;
  for (const auto& [key, value] : proto.external) {
    if (key == "location") location = value;
    if (key == "offset") offset = numberOf(proto, key, value);
    if (key == "length") length = numberOf(proto, key, value);
  }
  checkCount(proto, length, size, "bytes of external data");
  if (options_.compiledData && location.empty()) return ownData(proto, offset, length);
  auto file = externalFiles_.find(location);
  if (file == externalFiles_.end())
    file = externalFiles_.emplace(location, openExternalData(options_.folder, location, proto.name)).first;
  const Storage& storage = *file->second;
  if (offset > storage.size() || length > storage.size() - offset)
    failAt(proto, MAX_STATUS_DATA_LOSS,
           concat("external data [", offset, ", ", offset, " + ", length, ") ends past the ", storage.size(),
                  " bytes of '", location, "'"));
  return {static_cast<const char*>(storage.data()) + offset, file->second};
}

// In a compiled model, tensors are in the file itself.
TensorReader::Bytes TensorReader::ownData(const TensorProto& proto, size_t offset, size_t length) const {
  const Storage& storage = *options_.compiledData;
  const size_t size = storage.size() - options_.compiledDataOffset;
  if (offset > size || length > size - offset)
    failAt(proto, MAX_STATUS_DATA_LOSS,
           concat("data [", offset, ", ", offset, " + ", length, ") ends past the ", size, " bytes of weights"));
  const char* data = static_cast<const char*>(storage.data()) + options_.compiledDataOffset;
  return {data + offset, options_.compiledData};
}

}  // namespace max::onnx
