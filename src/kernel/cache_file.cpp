// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"

namespace max {

namespace {

constexpr std::string_view kMagic("MAXKRNL\1", 8);
constexpr size_t kHeaderSize = 8 + sizeof(Digest) + 8 + 8;  // magic, key, payload's bytes, checksum
constexpr uint64_t kLargestFile = uint64_t{1} << 30;
constexpr time_t kAbandonedSeconds = 3600;

// Detects damage, not attacks: folder and file belong to this user.
uint64_t checksum(std::string_view bytes) {
  uint64_t sum = 0x9E3779B97F4A7C15 ^ bytes.size();
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    sum = (sum ^ word) * 0xFF51AFD7ED558CCD;
    sum ^= sum >> 32;
  }
  return sum;
}

void appendNumber(std::string& out, uint64_t number) {
  char bytes[8];
  std::memcpy(bytes, &number, sizeof bytes);
  out.append(bytes, sizeof bytes);
}

void appendField(std::string& out, std::string_view field) {
  appendNumber(out, field.size());
  out += field;
}

// Reads fields from the start; nothing if the bytes end too early.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool atEnd() const { return rest_.empty(); }
  std::optional<std::string_view> bytes(size_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::optional<uint64_t> number() {
    const auto taken = bytes(8);
    if (!taken) return std::nullopt;
    uint64_t value;
    std::memcpy(&value, taken->data(), sizeof value);
    return value;
  }
  std::optional<std::string_view> field() {
    const auto count = number();
    return count ? bytes(*count) : std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::string encode(const Digest& key, const CacheEntry& entry) {
  std::string payload;
  for (const auto& [name, bytes] : entry.parts) {
    appendField(payload, name);
    appendField(payload, bytes);
  }
  std::string file(kMagic);
  file.append(reinterpret_cast<const char*>(key.data()), key.size());
  appendNumber(file, payload.size());
  appendNumber(file, checksum(payload));
  return file + payload;
}

Ref<const CacheEntry> decode(std::string_view file, const Digest& key) {
  Reader reader(file);
  const auto magic = reader.bytes(kMagic.size()), name = reader.bytes(key.size());
  const auto size = reader.number(), sum = reader.number();
  if (!magic || !name || !size || !sum || *magic != kMagic || std::memcmp(name->data(), key.data(), key.size()) != 0)
    return nullptr;
  if (*size != file.size() - kHeaderSize || *sum != checksum(file.substr(kHeaderSize))) return nullptr;
  auto entry = makeRef<CacheEntry>();
  while (!reader.atEnd()) {
    const auto part = reader.field(), bytes = reader.field();
    if (!part || !bytes) return nullptr;
    entry->add(std::string(*part), std::string(*bytes));
  }
  return entry;
}

// Whether only this user and root can have created it or can change it.
bool isTrusted(const struct stat& info) {
  return (info.st_uid == geteuid() || info.st_uid == 0) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

struct CachedFile {
  std::string name;
  uint64_t bytes;
  timespec used;
};

struct CloseStream {
  void operator()(DIR* stream) const { closedir(stream); }
};

std::vector<CachedFile> listFolder(int folder, std::string_view extension) {
  std::vector<CachedFile> files;
  const time_t now = time(nullptr);
  Descriptor own(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseStream> stream(own ? fdopendir(own.number()) : nullptr);
  if (!stream) return files;
  own.release();  // now owned by the stream
  while (const dirent* each = readdir(stream.get())) {
    const std::string_view name = each->d_name;
    struct stat info;
    if (fstatat(folder, each->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    if (name.starts_with(kTemporaryPrefix) && now - info.st_mtim.tv_sec > kAbandonedSeconds)
      unlinkat(folder, each->d_name, 0);
    else if (name.ends_with(extension))
      files.push_back({std::string(name), static_cast<uint64_t>(info.st_size), info.st_mtim});
  }
  return files;
}

}  // namespace

std::optional<CacheFolder> CacheFolder::find(const std::string& path, std::string_view extension) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (!folder || fstat(folder.number(), &info) != 0 || !isTrusted(info)) return std::nullopt;
  return CacheFolder(std::move(folder), path, extension);
}

CacheFolder CacheFolder::make(const std::string& path, std::string_view extension) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) failErrno(errno, "Cannot create the folder", path);
  std::optional<CacheFolder> folder = find(path, extension);
  require(folder.has_value(), MAX_STATUS_PERMISSION_DENIED, "Folder '", path,
          "' is a link, or other users can write to it");
  return std::move(*folder);
}

std::optional<File> CacheFolder::open(const Digest& key) const {
  const std::string name = concat(hexText(key), extension_);
  Descriptor descriptor(openat(folder_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info;
  if (!descriptor || fstat(descriptor.number(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || !isTrusted(info)) return std::nullopt;
  return File::adopt(std::move(descriptor), concat(path_, "/", name));
}

NewFile CacheFolder::create(const Digest& key) const {
  const std::string name = concat(hexText(key), extension_);
  return NewFile(folder_, name, concat(path_, "/", name));
}

// Fails if the folder is read-only, which does not matter.
void CacheFolder::noteUse(const File& file) noexcept { futimens(file.descriptor(), nullptr); }

Ref<const CacheEntry> CacheFolder::read(const Digest& key) const {
  try {
    const std::optional<File> file = open(key);
    if (!file || file->size() > kLargestFile) return nullptr;
    std::string bytes(static_cast<size_t>(file->size()), '\0');
    file->read(bytes.data(), bytes.size(), 0);
    Ref<const CacheEntry> entry = decode(bytes, key);
    if (entry) noteUse(*file);
    return entry;
  } catch (const Error&) {
    return nullptr;
  }
}

void CacheFolder::write(const Digest& key, const CacheEntry& entry) const {
  NewFile file = create(key);
  file.write(encode(key, entry));
  file.keep();
}

void CacheFolder::trim(uint64_t limit) const {
  std::vector<CachedFile> files = listFolder(folder_.number(), extension_);
  uint64_t total = 0;
  for (const CachedFile& file : files) total += file.bytes;
  if (total <= limit) return;
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const CachedFile& file : files) {
    if (total <= limit / 4 * 3) break;
    unlinkat(folder_.number(), file.name.c_str(), 0);
    total -= file.bytes;
  }
}

}  // namespace max
