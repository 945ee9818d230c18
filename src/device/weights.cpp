// SPDX-License-Identifier: Apache-2.0
#include "device/weights.h"

#include <algorithm>
#include <limits>

#include "base/file_format.h"
#include "base/nearest_name.h"
#include "device/checkpoint.h"
#include "device/device_registry.h"
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
    const Ref<MaxBuffer> buffer = max::loadCheckpoint(file, &key);
    weights->entries_.push_back({std::move(key), MaxBuffer::fromTensor(buffer->stream(), *buffer->toTensor())});
    return weights;
  }
  const std::string format = max::describeFormat(file, max::FileFormat::Safetensors);
  if (!format.empty())
    max::fail(MAX_STATUS_DATA_LOSS, "File '", path, "' is not a weights file (.safetensors or .max): ", format);
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

const MaxWeights::Entry& MaxWeights::at(std::string_view name) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), name,
                                      [](const Entry& entry, std::string_view key) { return entry.name < key; });
  if (found != entries_.end() && found->name == name) return *found;
  max::NearestName nearest(name);
  for (const Entry& entry : entries_) nearest.offer(entry.name);
  max::fail(MAX_STATUS_NOT_FOUND, "The file has no tensor '", name, "'", nearest.hintOrList());
}
