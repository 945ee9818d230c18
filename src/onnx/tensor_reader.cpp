// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_reader.h"

#include <charconv>
#include <cstring>

#include "onnx/external_data.h"

namespace max::onnx {

namespace {

[[noreturn]] void failAt(const TensorProto& proto, MaxStatus status, const std::string& text) {
  fail(status, "tensor '", proto.name, "': ", text);
}

void checkCount(const TensorProto& proto, size_t found, size_t expected, const char* unit) {
  if (found != expected)
    failAt(proto, MAX_STATUS_DATA_LOSS, concat("holds ", found, " ", unit, ", its shape and dtype need ", expected));
}

template <class T, class Source>
void convert(const std::vector<Source>& from, void* to) {
  T* out = static_cast<T*>(to);
  for (size_t i = 0; i < from.size(); ++i) out[i] = static_cast<T>(from[i]);
}

// Elements of int32_data, int64_data or uint64_data, narrowed to the tensor's own width. Types below
// 8 bits arrive packed, one byte of packed elements in each number.
void storeInts(const TensorProto& proto, Tensor& tensor) {
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
  // A tensor of a huge shape with little data must fail before its memory is taken.
  const Field field = fieldOf(dtype);
  const size_t bytes = bytesFor(dtype, shape.count());
  const size_t perNumber = field == Field::Floats    ? sizeof(float)
                           : field == Field::Doubles ? sizeof(double)
                                                     : std::max<size_t>(sizeOf(dtype), 1);
  checkCount(proto, numbersIn(proto, field), bytes / perNumber, "numbers");
  Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
  if (field == Field::Floats)
    storeFloats(proto, proto.floats, *tensor);
  else if (field == Field::Doubles)
    storeFloats(proto, proto.doubles, *tensor);
  else
    storeInts(proto, *tensor);
  return tensor;
}

size_t numberOf(const TensorProto& proto, std::string_view key, std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    failAt(proto, MAX_STATUS_INVALID_ARGUMENT, concat("external data has the ", key, " '", text, "'"));
  return value;
}

Shape shapeOf(const TensorProto& proto) {
  for (int64_t dim : proto.dims)
    if (dim < 0) failAt(proto, MAX_STATUS_INVALID_ARGUMENT, concat("has the negative dimension ", dim));
  return Shape(proto.dims);
}

}  // namespace

TensorReader::TensorReader(Ref<Storage> file, std::string folder)
    : file_(std::move(file)), folder_(std::move(folder)) {}

Ref<Tensor> TensorReader::read(const TensorProto& proto) {
  const std::optional<DType> dtype = dtypeFromOnnx(proto.dataType);
  if (!dtype) failAt(proto, MAX_STATUS_UNIMPLEMENTED, concat("has the unknown data type number ", proto.dataType));
  if (*dtype == DType::String) failAt(proto, MAX_STATUS_UNIMPLEMENTED, "string tensors are not supported");
  const Shape shape = shapeOf(proto);
  if (proto.isExternal) return readExternal(proto, *dtype, shape);
  if (!proto.hasRaw) return fromTypedData(proto, *dtype, shape);
  checkCount(proto, proto.raw.size(), bytesFor(*dtype, shape.count()), "bytes");
  return viewOrCopy(*dtype, shape, proto.raw.data(), file_);
}

// Kernels rely on elements that are aligned to their size; a protobuf file aligns nothing.
Ref<Tensor> TensorReader::viewOrCopy(DType dtype, const Shape& shape, const char* data, const Ref<Storage>& owner) {
  const size_t alignment = std::min<size_t>(std::max<size_t>(sizeOf(dtype), 1), 8);
  if (reinterpret_cast<uintptr_t>(data) % alignment == 0) return makeRef<Tensor>(dtype, shape, data, owner);
  return Tensor::copyOf(dtype, shape, data);
}

Ref<Tensor> TensorReader::readExternal(const TensorProto& proto, DType dtype, const Shape& shape) {
  std::string_view location;
  size_t offset = 0;
  const size_t needed = bytesFor(dtype, shape.count());
  size_t length = needed;
  for (const auto& [key, value] : proto.external) {
    if (key == "location") location = value;
    if (key == "offset") offset = numberOf(proto, key, value);
    if (key == "length") length = numberOf(proto, key, value);
  }
  checkCount(proto, length, needed, "bytes of external data");
  auto file = externalFiles_.find(location);
  if (file == externalFiles_.end())
    file = externalFiles_.emplace(location, openExternalData(folder_, location, proto.name)).first;
  const Storage& storage = *file->second;
  if (offset > storage.size() || length > storage.size() - offset)
    failAt(proto, MAX_STATUS_DATA_LOSS,
           concat("external data [", offset, ", ", offset, " + ", length, ") ends past the ", storage.size(),
                  " bytes of '", location, "'"));
  return viewOrCopy(dtype, shape, static_cast<const char*>(storage.data()) + offset, file->second);
}

}  // namespace max::onnx
