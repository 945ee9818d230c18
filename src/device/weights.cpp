// SPDX-License-Identifier: Apache-2.0
#include "device/weights.h"

#include <algorithm>
#include <limits>

#include "device/checkpoint.h"
#include "device/safetensors.h"

namespace {

using max::Ref;

Ref<MaxBuffer> bufferOf(const max::SafetensorsEntry& entry, const Ref<max::Storage>& file, MaxStream& stream) {
  const void* data = static_cast<const std::byte*>(file->data()) + entry.begin;
  const auto view = max::makeRef<max::Tensor>(entry.dtype, entry.shape, data, file);
  return MaxBuffer::fromTensor(stream, *view->aligned());
}

}  // namespace

Ref<MaxWeights> MaxWeights::load(const std::string& path) {
  const max::File file = max::File::openForRead(path);
  auto weights = max::makeRef<MaxWeights>();
  if (max::isCheckpoint(file)) {
    std::string key;
    const Ref<MaxBuffer> buffer = max::loadCheckpoint(path, &key);
    weights->entries_.push_back({std::move(key), MaxBuffer::fromTensor(buffer->stream(), *buffer->toTensor())});
    return weights;
  }
  const Ref<max::Storage> bytes = max::loadFile(file);
  const Ref<MaxDevice> host = max::hostDevice();
  for (const max::SafetensorsEntry& entry :
       max::parseSafetensors({static_cast<const std::byte*>(bytes->data()), bytes->size()}, path))
    weights->entries_.push_back({entry.name, bufferOf(entry, bytes, host->defaultStream())});
  max::require(weights->entries_.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
               MAX_STATUS_DATA_LOSS, "File '", path, "' has too many tensors");
  std::sort(weights->entries_.begin(), weights->entries_.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return weights;
}
