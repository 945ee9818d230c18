// SPDX-License-Identifier: Apache-2.0
// Memory of the CPU device.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#include "device/cpu/cpu_memory.h"

namespace max {
namespace {

// The kernel's flags of the mapping that holds an address.
std::string mappingFlags(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool isInside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &first, &last) == 2)
      isInside = first <= wanted && wanted < last;
    else if (isInside && line.starts_with("VmFlags:"))
      return line + " ";
  }
  return "";
}

TEST(CpuMemory, LargeBlocksAskForHugePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "the kernel has no huge pages";
  const auto account = makeRef<MemoryAccount>("Out of memory", uint64_t{1} << 40);
  for (const size_t bytes : {size_t{6} << 20, size_t{80} << 20}) {
    const Ref<Storage> block = allocateCpuMemory(bytes, {}, account);
    const std::string flags = mappingFlags(static_cast<const std::byte*>(block->data()) + bytes / 2);
    EXPECT_NE(flags.find(" hg "), std::string::npos) << bytes << ": " << flags;
  }
}

}  // namespace
}  // namespace max
