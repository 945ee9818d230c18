// SPDX-License-Identifier: Apache-2.0
// How many threads a loop uses unless a session says otherwise.
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/thread_pool.h"

namespace max {

namespace {

std::vector<int> allowedCpus() {
  std::vector<int> cpus;
  for (size_t count = CPU_SETSIZE; count <= 65536; count *= 4) {
    std::vector<cpu_set_t> sets(count / CPU_SETSIZE);
    const size_t bytes = sets.size() * sizeof(cpu_set_t);
    const bool known = sched_getaffinity(0, bytes, sets.data()) == 0;
    for (size_t cpu = 0; known && cpu < count; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, sets.data())) cpus.push_back(static_cast<int>(cpu));
    if (known) break;
  }
  return cpus;
}

// Hardware threads of one core count once.
int physicalCores(const std::vector<int>& cpus) {
  std::set<std::string> cores;
  for (int cpu : cpus) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const std::string siblings = readSmallTextFile((folder + "thread_siblings_list").c_str());
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  return static_cast<int>(cores.size());
}

int processors(double quota, double period) {
  if (!(quota > 0) || !(period > 0) || quota / period > 65536) return INT32_MAX;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

// cgroup v2: "max 100000" or "150000 100000"; the tightest limit on the path to the root applies.
int quotaVersion2(std::string group) {
  int limit = INT32_MAX;
  while (true) {
    double quota = 0, period = 0;
    if (sscanf(readSmallTextFile(("/sys/fs/cgroup" + group + "/cpu.max").c_str()).c_str(), "%lf %lf", &quota,
               &period) == 2)
      limit = std::min(limit, processors(quota, period));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return limit;
    group.resize(slash);
  }
}

int quotaVersion1(const std::string& group) {
  int limit = INT32_MAX;
  const auto apply = [&](const std::string& folder) {
    const double quota = atof(readSmallTextFile((folder + "/cpu.cfs_quota_us").c_str()).c_str());
    if (!(quota > 0)) return;
    const double period = atof(readSmallTextFile((folder + "/cpu.cfs_period_us").c_str()).c_str());
    limit = std::min(limit, processors(quota, period));
  };
  for (const char* root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
    apply(root);
    if (!group.empty()) apply(root + group);
  }
  return limit;
}

// Lines "0::/group" (version 2) and "4:cpu,cpuacct:/group" (version 1).
int quotaLimit() {
  int limit = INT32_MAX;
  const std::string groups = readSmallTextFile("/proc/self/cgroup");
  for (size_t at = 0; at < groups.size();) {
    const size_t end = std::min(groups.find('\n', at), groups.size());
    const std::string line = groups.substr(at, end - at);
    at = end + 1;
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") limit = std::min(limit, quotaVersion2(group));
    if (controllers.find(",cpu,") != std::string::npos) limit = std::min(limit, quotaVersion1(group));
  }
  return limit;
}

int requestedLanes() {
  const char* text = secure_getenv("MAX_NUM_THREADS");
  return text ? std::clamp(atoi(text), 0, 1024) : 0;
}

// The system's answer is cached for a second, for these processors: a load asks once for each of its weights.
uint64_t memoKey(const std::vector<int>& cpus) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  uint64_t key = static_cast<uint64_t>(now.tv_sec);
  for (int cpu : cpus) key = (key ^ static_cast<uint64_t>(cpu)) * 0x9e3779b97f4a7c15 + 1;
  return key >> 16;
}

}  // namespace

int defaultLanes() {
  static const int requested = requestedLanes();
  if (requested > 0) return requested;
  static std::atomic<uint64_t> memo{0};  // a key, with the count in the lowest 16 bits
  const std::vector<int> cpus = allowedCpus();
  const uint64_t key = memoKey(cpus), known = memo.load(std::memory_order_relaxed);
  if (known >> 16 == key && (known & 0xffff) != 0) return static_cast<int>(known & 0xffff);
  const int lanes = std::clamp(std::min(physicalCores(cpus), quotaLimit()), 1, 0xffff);
  memo.store(key << 16 | static_cast<uint64_t>(lanes), std::memory_order_relaxed);
  return lanes;
}

}  // namespace max
