// SPDX-License-Identifier: Apache-2.0
#include "attack/outputs.h"

#include "attack/chance.h"
#include "base/dtype.h"

namespace attack {

namespace {

constexpr int64_t kMostElements = 4096;

MaxBuffer* stringsOf(MaxDevice* device, const TensorData& tensor) {
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (const std::string& text : tensor.strings) {
    texts.push_back(text.data());
    lengths.push_back(text.size());
  }
  MaxBuffer* buffer = nullptr;
  if (static_cast<int64_t>(texts.size()) != countOf(tensor.dims)) return nullptr;
  if (maxBufferCreateStrings(device, texts.data(), lengths.data(), static_cast<int32_t>(tensor.dims.size()),
                             tensor.dims.data(), &buffer) != MAX_STATUS_OK)
    return nullptr;
  return buffer;
}

// NULL if the tensor is none.
MaxBuffer* bufferOf(MaxDevice* device, const TensorData& tensor) {
  const auto dtype = max::dtypeFromOnnx(tensor.type);
  if (!dtype || countOf(tensor.dims) < 0 || tensor.dims.size() > 16) return nullptr;
  if (*dtype == max::DType::String) return stringsOf(device, tensor);
  MaxBuffer* buffer = nullptr;
  void* data = nullptr;
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  if (max::bytesFor(*dtype, countOf(tensor.dims)) != tensor.raw.size() ||
      maxBufferCreate(device, static_cast<MaxDType>(*dtype), static_cast<int32_t>(tensor.dims.size()),
                      tensor.dims.data(), &options, &buffer) != MAX_STATUS_OK)
    return nullptr;
  if (maxBufferGetMutableData(buffer, &data) == MAX_STATUS_OK && !tensor.raw.empty())
    tensor.raw.copy(static_cast<char*>(data), tensor.raw.size());
  return buffer;
}

TensorData randomTensor(const MaxTensorInfo& info, Chance& chance) {
  TensorData tensor;
  tensor.type = max::onnxFromDType(static_cast<max::DType>(info.dtype));
  if (info.kind == MAX_VALUE_KIND_TENSOR && info.rank >= 0)
    for (int32_t i = 0; i < info.rank; ++i)
      tensor.dims.push_back(info.shape[i] < 0 ? chance.within(1, 3) : info.shape[i]);
  else
    tensor.dims = chance.shape(chance.below(3));
  if (countOf(tensor.dims) > kMostElements) tensor.dims = {-1};
  fill(tensor, chance);
  return tensor;
}

MaxValue* valueOf(MaxBuffer* buffer) {
  MaxValue* value = nullptr;
  if (!buffer || maxValueCreateTensor(buffer, &value) != MAX_STATUS_OK) value = nullptr;
  maxBufferRelease(buffer);
  return value;
}

MaxValue* randomMap(const MaxTensorInfo& info, Chance& chance) {
  TensorData keys{"", chance.of({int64_t{7}, int64_t{8}}), {3}, {}, {}}, values = keys;
  values.type = max::onnxFromDType(static_cast<max::DType>(info.dtype));
  fill(keys, chance);
  fill(values, chance);
  MaxBuffer* const both[] = {bufferOf(info.device, keys), bufferOf(info.device, values)};
  MaxValue* value = nullptr;
  if (both[0] && both[1] && maxValueCreateMap(both[0], both[1], &value) != MAX_STATUS_OK) value = nullptr;
  for (MaxBuffer* buffer : both) maxBufferRelease(buffer);
  return value;
}

MaxValue* randomHolder(const MaxTensorInfo& info, Chance& chance) {
  MaxValue *parts[3] = {}, *value = nullptr;
  const auto count = static_cast<int32_t>(chance.below(info.kind == MAX_VALUE_KIND_SEQUENCE ? 4 : 2));
  bool isComplete = true;
  for (int32_t i = 0; i < count; ++i) {
    parts[i] = valueOf(bufferOf(info.device, randomTensor(info, chance)));
    isComplete = isComplete && parts[i];
  }
  MaxStatus status = MAX_STATUS_INVALID_ARGUMENT;
  if (isComplete && info.kind == MAX_VALUE_KIND_SEQUENCE) status = maxValueCreateSequence(parts, count, &value);
  if (isComplete && info.kind == MAX_VALUE_KIND_OPTIONAL) status = maxValueCreateOptional(parts[0], &value);
  for (MaxValue* part : parts) maxValueRelease(part);
  return status == MAX_STATUS_OK ? value : nullptr;
}

MaxValue* inputOf(const MaxTensorInfo& info, const std::vector<TensorData>& feeds, Chance& chance) {
  if (info.kind == MAX_VALUE_KIND_MAP) return randomMap(info, chance);
  if (info.kind != MAX_VALUE_KIND_TENSOR) return randomHolder(info, chance);
  for (const TensorData& feed : feeds)
    if (feed.name == info.name)
      if (MaxValue* value = valueOf(bufferOf(info.device, feed))) return value;
  return valueOf(bufferOf(info.device, randomTensor(info, chance)));
}

void describe(const MaxBuffer* buffer, std::string& text) {
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  if (maxBufferGetInfo(buffer, &info) != MAX_STATUS_OK) return;
  text += std::to_string(info.dtype) + "[";
  for (int32_t i = 0; i < info.rank; ++i) text += std::to_string(info.shape[i]) + ",";
  text += "]";
  if (info.dtype == MAX_DTYPE_STRING) {
    for (int64_t i = 0; i < info.elementCount; ++i) {
      const char* string = nullptr;
      size_t length = 0;
      if (maxBufferGetStrings(buffer, i, 1, &string, &length) == MAX_STATUS_OK)
        text += "'" + std::string(string, length) + "'";
    }
    return;
  }
  const void* data = nullptr;
  if (info.byteCount == 0 || maxBufferGetData(buffer, &data) != MAX_STATUS_OK) return;
  constexpr char kDigits[] = "0123456789abcdef";
  for (size_t i = 0; i < std::min<size_t>(info.byteCount, 1 << 16); ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
}

void describe(const MaxValue* value, std::string& text) {
  MaxValueKind kind = 0;
  int32_t count = 0;
  MaxBuffer* buffer = nullptr;
  if (!value || maxValueGetKind(value, &kind) != MAX_STATUS_OK) return;
  if (kind == MAX_VALUE_KIND_TENSOR) {
    if (maxValueGetBuffer(value, &buffer) == MAX_STATUS_OK) describe(buffer, text);
    return;
  }
  if (kind == MAX_VALUE_KIND_MAP) {
    if (maxValueGetMapKeys(value, &buffer) == MAX_STATUS_OK) describe(buffer, text);
    if (maxValueGetMapValues(value, &buffer) == MAX_STATUS_OK) describe(buffer, text);
    return;
  }
  if (maxValueGetCount(value, &count) != MAX_STATUS_OK) return;
  text += "{";
  for (int32_t i = 0; i < std::min(count, 64); ++i) {
    MaxValue* element = nullptr;
    if (maxValueGetElements(value, i, 1, &element) == MAX_STATUS_OK) describe(element, text);
  }
  text += "}";
}

}  // namespace

Values::Values(const MaxModel* model, const std::vector<TensorData>& feeds, uint64_t seed) {
  constexpr int32_t kMostInputs = 64;
  int32_t count = 0;
  if (maxModelGetInputCount(model, &count) != MAX_STATUS_OK || count > kMostInputs) {
    isComplete_ = false;
    return;
  }
  for (int32_t i = 0; i < count && isComplete_; ++i) {
    MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
    Chance chance(seed, static_cast<uint64_t>(i));
    isComplete_ = maxModelGetInput(model, i, &info) == MAX_STATUS_OK;
    if (isComplete_) values_.push_back(inputOf(info, feeds, chance));
    isComplete_ = isComplete_ && values_.back();
  }
}

Values::~Values() {
  for (MaxValue* value : values_) maxValueRelease(value);
}

Outputs::~Outputs() {
  for (MaxValue* value : values_) maxValueRelease(value);
}

std::string Outputs::describe() const {
  std::string text;
  for (size_t i = 0; i < values_.size(); ++i) {
    text += " output " + std::to_string(i) + " ";
    attack::describe(values_[i], text);
  }
  return text;
}

}  // namespace attack
