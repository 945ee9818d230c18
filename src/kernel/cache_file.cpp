// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/file.h"

namespace max {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic("MAXKRNL\1", 8);
constexpr size_t kHeaderSize = 8 + sizeof(Digest) + 8 + 8;  // magic, key, payload's bytes, checksum
constexpr std::string_view kExtension = ".kernel", kTemporary = ".tmp-";
constexpr uint64_t kLargestFile = uint64_t{1} << 30;
constexpr time_t kAbandonedSeconds = 3600;

// Finds damage, not malice: the folder is this user's.
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

// Takes fields off the front; nothing where the bytes end too early.
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

// The folder with its parents; the last one is for this user alone.
void makeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) failErrno(errno, "Cannot make the folder", folder);
  require(isPrivateFolder(folder), MAX_STATUS_PERMISSION_DENIED, "Folder '", folder,
          "' is not this user's alone to write in");
}

// A new file that vanishes unless it is moved to its place; its name is unlike that of any other writer, threads of
// this process included.
class PendingFile {
 public:
  explicit PendingFile(const std::string& folder) : path_(concat(folder, "/", kTemporary, "XXXXXX")) {
    descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
    if (descriptor_ < 0) failErrno(errno, "Cannot make a file in", folder);
  }
  ~PendingFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!moved_) unlink(path_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) failErrno(errno, "Cannot write", path_);
      bytes.remove_prefix(static_cast<size_t>(done));
    }
  }
  // Some file systems tell of a full disk only when the file is closed.
  void moveTo(const std::string& target) {
    if (close(std::exchange(descriptor_, -1)) != 0) failErrno(errno, "Cannot write", path_);
    if (std::rename(path_.c_str(), target.c_str()) != 0) failErrno(errno, "Cannot write", target);
    moved_ = true;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool moved_ = false;
};

struct CachedFile {
  std::string path;
  uint64_t bytes;
  timespec used;
};

std::vector<CachedFile> listFolder(const std::string& folder) {
  std::vector<CachedFile> files;
  const time_t now = time(nullptr);
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename();
    struct stat info;
    if (lstat(each->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (name.starts_with(kTemporary) && now - info.st_mtim.tv_sec > kAbandonedSeconds)
      unlink(each->path().c_str());
    else if (name.ends_with(kExtension))
      files.push_back({each->path(), static_cast<uint64_t>(info.st_size), info.st_mtim});
  }
  return files;
}

}  // namespace

bool isPrivateFolder(const std::string& folder) {
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  return (info.st_uid == geteuid() || info.st_uid == 0) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Ref<const CacheEntry> readCacheFile(const std::string& path, const Digest& key) {
  try {
    const File file = File::openForRead(path);
    if (file.size() > kLargestFile) return nullptr;
    std::string bytes(static_cast<size_t>(file.size()), '\0');
    file.read(bytes.data(), bytes.size(), 0);
    Ref<const CacheEntry> entry = decode(bytes, key);
    if (entry) futimens(file.descriptor(), nullptr);  // fails where the folder is read-only, and need not succeed
    return entry;
  } catch (const Error&) {
    return nullptr;
  }
}

void writeCacheFile(const std::string& folder, const std::string& path, const Digest& key, const CacheEntry& entry) {
  makeFolder(folder);
  PendingFile file(folder);
  file.write(encode(key, entry));
  file.moveTo(path);
}

void trimCacheFolder(const std::string& folder, uint64_t limit) {
  std::vector<CachedFile> files = listFolder(folder);
  uint64_t total = 0;
  for (const CachedFile& file : files) total += file.bytes;
  if (total <= limit) return;
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const CachedFile& file : files) {
    if (total <= limit / 4 * 3) break;
    unlink(file.path.c_str());
    total -= file.bytes;
  }
}

}  // namespace max
