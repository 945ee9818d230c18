// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/host_info.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/file.h"

namespace max {

namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The first processor's entry; on large machines the whole file is long and slow to produce.
std::string firstProcessor() { return readSmallTextFile("/proc/cpuinfo", 4096); }

// The text after `key` on its line, without blanks and the colon; empty if no line starts with the key.
std::string valueOf(const std::string& text, std::string_view key) {
  size_t line = 0;
  while (line < text.size()) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (text.compare(line, key.size(), key) == 0) {
      const size_t start = text.find_first_not_of(" \t:", line + key.size());
      return start < end ? text.substr(start, end - start) : std::string();
    }
    line = end + 1;
  }
  return {};
}

uint64_t number(const std::string& text, uint64_t otherwise) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  return end == text.c_str() ? otherwise : value;
}

uint64_t numberIn(const std::string& path, uint64_t otherwise) {
  return number(readSmallTextFile(path.c_str()), otherwise);
}

// Files of one kind of control group: where it is mounted and what its files are called.
struct GroupKind {
  const char* entry;  // in /proc/self/cgroup, before the path
  const char* root;
  const char* limit;
  const char* usage;
  const char* cache;
};

constexpr GroupKind kGroupKinds[] = {
    {"0::", "/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "},
};

std::string groupPath(const std::string& groups, const GroupKind& kind) {
  const size_t at = groups.find(kind.entry);
  if (at == std::string::npos) return {};
  const size_t start = groups.find('/', at);
  return start == std::string::npos ? std::string() : groups.substr(start, groups.find('\n', start) - start);
}

// A group's limit includes page cache that the kernel frees when needed.
void limitToGroup(MemoryInfo& info, const GroupKind& kind, const std::string& folder) {
  const uint64_t limit = numberIn(folder + kind.limit, kUnlimited);
  if (limit >= info.total) return;
  const uint64_t usage = numberIn(folder + kind.usage, 0);
  const uint64_t cache = number(valueOf(readSmallTextFile((folder + "/memory.stat").c_str()), kind.cache), 0);
  const uint64_t used = usage - std::min(usage, cache);
  info.total = limit;
  info.free = std::min(info.free, limit - std::min(limit, used));
}

}  // namespace

std::string processorName() {
  std::string name = valueOf(firstProcessor(), "model name");
  utsname system{};
  if (name.empty() && uname(&system) == 0) name = system.machine;
  return name.empty() ? "CPU" : name;
}

MemoryInfo hostMemory() {
  const std::string text = readSmallTextFile("/proc/meminfo");
  MemoryInfo info{number(valueOf(text, "MemAvailable"), 0) * 1024, number(valueOf(text, "MemTotal"), 0) * 1024};
  const std::string groups = readSmallTextFile("/proc/self/cgroup");
  for (const GroupKind& kind : kGroupKinds) {
    std::string path = groupPath(groups, kind);
    while (path.size() > 1) {
      limitToGroup(info, kind, kind.root + path);
      path.erase(path.rfind('/'));
    }
    limitToGroup(info, kind, kind.root);
  }
  return info;
}

uint64_t processMemory() { return number(valueOf(readSmallTextFile("/proc/self/status"), "VmRSS"), 0) * 1024; }

int64_t processorClockRate() {
  const uint64_t kilohertz = numberIn("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", 0);
  if (kilohertz != 0) return static_cast<int64_t>(kilohertz);
  return static_cast<int64_t>(number(valueOf(firstProcessor(), "cpu MHz"), 0)) * 1000;
}

int64_t usableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max<int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

int64_t lastLevelCacheSize() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const int64_t size = sysconf(level);
    if (size > 0) return size;
  }
  return 0;
}

int64_t kernelVersion() {
  utsname system{};
  uname(&system);
  char* end = nullptr;
  const int64_t major = std::strtoll(system.release, &end, 10);
  const int64_t minor = *end == '.' ? std::strtoll(end + 1, nullptr, 10) : 0;
  return 1000 * major + 10 * minor;
}

}  // namespace max
