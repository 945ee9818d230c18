// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Memory of the host that the driver does not know is staged when it is read, and waited for when it
// is written, as drivers do.
#include <cstring>

#include "fake.h"

namespace fake {

namespace {

bool isForeign(uint64_t address, uint64_t bytes) { return !deviceOfAddress(address) && !isPinned(address, bytes); }

uint64_t extent(uint64_t pitch, uint64_t width, uint64_t height) { return (height - 1) * pitch + width; }

void addRows(std::vector<Access>& accesses, uint64_t address, uint64_t pitch, uint64_t width, uint64_t height,
             bool writes) {
  if (pitch == width) return accesses.push_back({address, width * height, writes});
  for (uint64_t row = 0; row < height; ++row) accesses.push_back({address + row * pitch, width, writes});
}

using Staged = std::shared_ptr<std::vector<unsigned char>>;

Staged stage(uint64_t address, uint64_t bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(address);
  return std::make_shared<std::vector<unsigned char>>(data, data + bytes);
}

int copyRows(const Copy2D& copy, const Staged& staged) {
  unsigned char* target = hostView(copy.target);
  const unsigned char* source = staged ? staged->data() : hostView(copy.source);
  for (uint64_t row = 0; row < copy.height; ++row)
    memmove(target + row * copy.targetPitch, source + row * copy.sourcePitch, copy.width);
  ++state().counts[FAKE_GPU_COPIES_DONE];
  return kOk;
}

int copyWithLock(Lock& lock, const std::shared_ptr<Stream>& stream, const Copy2D& copy) {
  if (!stream) return kInvalidHandle;
  if (copy.width == 0 || copy.height == 0) return kOk;
  if (!copy.target || !copy.source || copy.targetPitch < copy.width || copy.sourcePitch < copy.width)
    return kInvalidValue;
  const bool targetIsForeign = isForeign(copy.target, extent(copy.targetPitch, copy.width, copy.height));
  const bool sourceIsForeign = isForeign(copy.source, extent(copy.sourcePitch, copy.width, copy.height));
  if (targetIsForeign || sourceIsForeign) ++state().counts[FAKE_GPU_PAGEABLE_COPIES];
  std::vector<Access> accesses;
  if (!sourceIsForeign) addRows(accesses, copy.source, copy.sourcePitch, copy.width, copy.height, false);
  if (!targetIsForeign) addRows(accesses, copy.target, copy.targetPitch, copy.width, copy.height, true);
  Staged staged;
  if (sourceIsForeign && !stream->capture)
    staged = stage(copy.source, extent(copy.sourcePitch, copy.width, copy.height));
  const int result = enqueue(
      stream, [copy, staged] { return copyRows(copy, staged); }, accesses);
  if (result || !targetIsForeign || stream->capture) return result;
  return synchronize(lock, stream);
}

void fillRow(unsigned char* target, uint32_t value, unsigned size, uint64_t count) {
  if (size == 1) {
    memset(target, static_cast<int>(value & 0xff), count);
    return;
  }
  for (uint64_t i = 0; i < count; ++i) memcpy(target + i * size, &value, size);  // little-endian, as all GPUs are
}

}  // namespace

int copyAsync(void* stream, uint64_t target, uint64_t source, uint64_t bytes) {
  return copy2DAsync(stream, {target, bytes, source, bytes, bytes, 1});
}

int copyPeerAsync(void* handle, uint64_t target, uint64_t source, uint64_t bytes) {
  Lock lock(state().mutex);
  const auto stream = findStream(handle);
  if (!stream) return kInvalidHandle;
  const Device* other = deviceOfAddress(target) == stream->device ? deviceOfAddress(source) : deviceOfAddress(target);
  const bool isDirect = stream->device->peers.contains(other->id);
  ++state().counts[isDirect ? FAKE_GPU_DIRECT_PEER_COPIES : FAKE_GPU_STAGED_PEER_COPIES];
  return copyWithLock(lock, stream, {target, bytes, source, bytes, bytes, 1});
}

int copySync(uint64_t target, uint64_t source, uint64_t bytes) {
  Lock lock(state().mutex);
  const auto stream = findStream(nullptr);
  const int result = copyWithLock(lock, stream, {target, bytes, source, bytes, bytes, 1});
  return result ? result : synchronize(lock, stream);
}

int copy2DAsync(void* stream, const Copy2D& copy) {
  Lock lock(state().mutex);
  return copyWithLock(lock, findStream(stream), copy);
}

int fillAsync(void* handle, uint64_t target, uint64_t pitch, uint32_t value, unsigned size, uint64_t count,
              uint64_t height) {
  const Lock lock(state().mutex);
  const auto stream = findStream(handle);
  if (!stream) return kInvalidHandle;
  if (count == 0 || height == 0) return kOk;
  if (target % size || (height > 1 && (pitch % size || pitch < count * size))) return kInvalidValue;
  std::vector<Access> accesses;
  addRows(accesses, target, pitch, count * size, height, true);
  const auto fill = [=] {
    for (uint64_t row = 0; row < height; ++row) fillRow(hostView(target + row * pitch), value, size, count);
    return static_cast<int>(kOk);
  };
  return enqueue(stream, fill, accesses);
}

}  // namespace fake
