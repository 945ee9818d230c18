// SPDX-License-Identifier: Apache-2.0
// Memory of the CPU device.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "base/tensor.h"
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

void expectHugePages(const Storage& block) {
  const std::string flags = mappingFlags(static_cast<const std::byte*>(block.data()) + block.size() / 2);
  EXPECT_NE(flags.find(" hg "), std::string::npos) << block.size() << ": " << flags;
}

bool hasHugePages() { return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good(); }

TEST(CpuMemory, LargeBlocksAskForHugePages) {
  if (!hasHugePages()) GTEST_SKIP() << "the kernel has no huge pages";
  const auto account = makeRef<MemoryAccount>("Out of memory", uint64_t{1} << 40);
  for (const size_t megabytes : {6, 80}) expectHugePages(*allocateCpuMemory(megabytes << 20, {}, account));
  expectHugePages(*allocateStorage(size_t{6} << 20));
  expectHugePages(*allocateLastingStorage(size_t{6} << 20));
}

// Outputs and arenas of this size are common, and small pages would take most of the time of a first call.
TEST(CpuMemory, BlocksThatNearlyFillHugePagesTakeThemWhole) {
  constexpr size_t kHuge = size_t{2} << 20;
  for (const auto& [bytes, taken] : {std::pair(kHuge / 4 * 3 - 64, kHuge / 4 * 3 - 64),
                                     {kHuge / 4 * 3, kHuge},
                                     {kHuge, kHuge},
                                     {kHuge + 64, kHuge + 64},
                                     {3 * kHuge - 64, 3 * kHuge}}) {
    const auto account = makeRef<MemoryAccount>("Out of memory", uint64_t{1} << 40);
    const Ref<Storage> block = allocateCpuMemory(bytes, {}, account);
    EXPECT_EQ(block->size(), bytes);
    EXPECT_EQ(account->used(), taken) << bytes;
    if (hasHugePages() && taken >= kHuge) expectHugePages(*block);
  }
}

TEST(CpuMemory, BlocksTakeNoMoreThanTheirBytesNearALimit) {
  constexpr size_t kBytes = (size_t{6} << 20) - 64;
  const auto account = makeRef<MemoryAccount>("Out of memory", kBytes);
  const Ref<Storage> block = allocateCpuMemory(kBytes, {}, account);
  EXPECT_EQ(account->used(), kBytes);
}

}  // namespace
}  // namespace max
