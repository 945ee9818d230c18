// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/weights_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "base/log.h"
#include "base/mapped_file.h"
#include "base/pages.h"
#include "base/scaled_storage.h"
#include "kernel/cache_file.h"
#include "kernel/compiler_record.h"
#include "ops/cpu/target.h"

namespace max {

namespace {

constexpr std::string_view kExtension = ".weights";
constexpr char kMagic[8] = {'M', 'A', 'X', 'W', 'G', 'T', 'S', 1};
constexpr int64_t kRecent = 2'000'000'000;  // nanoseconds; above what file systems' times differ by

// At the start of an entry; weights follow, as aligned as kernels want them.
struct Header {
  char magic[8];
  Digest key;
  uint64_t bytes;
  uint64_t checksum;
  uint64_t unused;
};
static_assert(sizeof(Header) == 64);

// Detects damage, not attacks: folder and file belong to this user. Several sums, for the speed of memory.
uint64_t checksum(const Storage& storage) {
  constexpr uint64_t kFactor = 0xFF51AFD7ED558CCD;
  constexpr size_t kSums = 8, kStep = kSums * sizeof(uint64_t);
  std::array<uint64_t, kSums> sums;
  for (size_t i = 0; i < kSums; ++i) sums[i] = i + 1;
  const auto add = [&](const std::byte* from, size_t count) {
    std::array<uint64_t, kSums> words{};
    std::memcpy(words.data(), from, count);
    for (size_t i = 0; i < kSums; ++i) {
      sums[i] = (sums[i] ^ words[i]) * kFactor;
      sums[i] ^= sums[i] >> 32;
    }
  };
  const auto* data = static_cast<const std::byte*>(storage.data());
  size_t at = 0;
  for (; at + kStep <= storage.size(); at += kStep) add(data + at, kStep);
  if (at < storage.size()) add(data + at, storage.size() - at);
  uint64_t result = storage.size();
  for (const uint64_t sum : sums) result = (result ^ sum ^ (result >> 32)) * kFactor;
  return result;
}

bool isRecent(const FileIdentity& file) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t latest = std::max(file.modifiedNanoseconds, file.changedNanoseconds);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - latest < kRecent;
}

}  // namespace

WeightsCache::WeightsCache(const std::string& folder, uint64_t limit)
    : folder_(concat(folder, "/weights")), limit_(limit) {}

Ref<Storage> WeightsCache::find(const Digest& key, size_t bytes) const {
  try {
    const std::optional<CacheFolder> folder = CacheFolder::find(folder_, kExtension);
    const std::optional<File> file = folder ? folder->open(key) : std::nullopt;
    if (!file || file->size() != sizeof(Header) + bytes) return nullptr;
    Header header;
    file->read(&header, sizeof header, 0);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != key || header.bytes != bytes)
      return nullptr;
    Ref<Storage> packed = MappedFile::map(*file, MapMode::Read, sizeof header, bytes);
    populateForReading(packed->data(), packed->size());
    if (checksum(*packed) != header.checksum) return nullptr;
    CacheFolder::noteUse(*file);
    return packed;
  } catch (const Error&) {
    return nullptr;
  }
}

void WeightsCache::store(const Digest& key, const Storage& packed) const {
  if (packed.size() > limit_ / 4) return;
  try {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.key = key;
    header.bytes = packed.size();
    header.checksum = checksum(packed);
    const CacheFolder folder = CacheFolder::make(folder_, kExtension);
    NewFile file = folder.create(key);
    file.write(&header, sizeof header);
    file.write(packed.data(), packed.size());
    file.keep();
    folder.trim(limit_);
  } catch (const Error& error) {
    logMessage(MAX_LOG_LEVEL_INFO, "Packed weights cannot be kept on disk: ", error.message());
  }
}

namespace {

std::optional<Hasher> fileHasher(const Tensor& weight) {
  const FileIdentity* file = weight.storage() ? weight.storage()->file() : nullptr;
  if (!file || weight.bytes() < kLargeTensorBytes || isRecent(*file)) return std::nullopt;
  const auto offset = static_cast<const std::byte*>(weight.data()) - static_cast<std::byte*>(weight.storage()->data());
  Hasher hasher;
  hasher.add(libraryIdentity());
  hasher.add(nameOf(cpuTarget()));
  for (const uint64_t number : {file->device, file->inode, file->size, static_cast<uint64_t>(file->modifiedNanoseconds),
                                static_cast<uint64_t>(file->changedNanoseconds), static_cast<uint64_t>(offset),
                                static_cast<uint64_t>(weight.bytes())})
    hasher.add(number);
  return hasher;
}

}  // namespace

std::optional<Hasher> weightHasher(const Tensor& weight) {
  const auto* scaled = dynamic_cast<const ScaledStorage*>(weight.storage().get());
  if (!scaled) return fileHasher(weight);
  if (weight.data() != scaled->data() || weight.bytes() != scaled->size()) return std::nullopt;
  std::optional<Hasher> hasher = fileHasher(scaled->source());
  if (!hasher) return std::nullopt;
  const std::vector<float>& factors = scaled->factors();
  hasher->add("scaled");
  hasher->add(std::string_view(reinterpret_cast<const char*>(factors.data()), factors.size() * sizeof(float)));
  return hasher;
}

}  // namespace max
