// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/active_call.h"
#include "base/checked.h"
#include "base/forbid.h"
#include "base/huge_pages.h"

namespace max {

namespace {

constexpr size_t kDefaultAlignment = 64;
constexpr size_t kPage = 4096;
// Blocks of these sizes come directly from the kernel, which zeroes pages on first access.
constexpr size_t kMapZeroedFrom = size_t{1} << 20;
constexpr size_t kMapFrom = size_t{64} << 20;

bool isNearLimit(const MemoryAccount* account, size_t bytes) {
  return account && account->limit() != 0 && bytes > account->limit() - std::min(account->used(), account->limit());
}

// Near a limit each byte counts.
size_t takenFor(size_t bytes, const MemoryAccount& account) {
  const size_t whole = inHugePages(bytes);
  return !isNearLimit(&account, 2 * whole) && !isNearLimit(activeMemory(), 2 * whole) ? whole : bytes;
}

class CpuBlock : public Storage {
 public:
  // `taken` bytes count.
  CpuBlock(size_t bytes, size_t taken, const Ref<MemoryAccount>& account)
      : lease_(activeMemory(), taken), account_(account), taken_(taken) {
    account_->reserve(taken);
    size_ = bytes;
  }
  ~CpuBlock() override { account_->giveBack(taken_); }

 protected:
  size_t taken() const { return taken_; }
  void place(void* data) noexcept {
    data_ = data;
    account_->notePeak();
  }

 private:
  MemoryLease lease_;  // of the call that allocates the memory
  Ref<MemoryAccount> account_;
  const size_t taken_;
};

class HeapBlock final : public CpuBlock {
 public:
  HeapBlock(size_t bytes, size_t alignment, bool zeroed, const Ref<MemoryAccount>& account)
      : CpuBlock(bytes, takenFor(bytes, *account), account) {
    if (bytes == 0) return;
    if (taken() >= kHugePage) alignment = std::max(alignment, kHugePage);
    const size_t rounded = checkedAlignUp(bytes, alignment);
    void* block = std::aligned_alloc(alignment, rounded);
    if (!block) account->fail(bytes, taken());
    adviseHugePages(block, taken());
    if (zeroed) std::memset(block, 0, bytes);
    permitFirst(block, bytes, rounded);
    place(block);
  }
  ~HeapBlock() override { std::free(data_); }
};

class PageBlock final : public CpuBlock {
 public:
  PageBlock(size_t bytes, bool pinned, const Ref<MemoryAccount>& account)
      : CpuBlock(bytes, bytes, account), mapped_(checkedAlignUp(std::max<size_t>(bytes, 1), kPage)) {
    void* block = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) account->fail(bytes, bytes);
    adviseHugePages(block, mapped_);
    if (pinned && mlock(block, mapped_) != 0) {
      munmap(block, mapped_);
      failLock(bytes);
    }
    place(block);
  }
  ~PageBlock() override {
    permit(data_, mapped_);  // the next mapping at this address is somebody else's
    munmap(data_, mapped_);
  }

 private:
  [[noreturn]] static void failLock(size_t bytes) {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    fail(MAX_STATUS_RESOURCE_EXHAUSTED, "Cannot page-lock ", bytes, " bytes of host memory: the process may lock ",
         static_cast<uint64_t>(limit.rlim_cur), " bytes in total (RLIMIT_MEMLOCK)");
  }

  size_t mapped_;
};

struct Dimension {
  int64_t size;
  int64_t target;
  int64_t source;
};

template <size_t Size>
void copyRow(char* target, const char* source, const Dimension& row) {
  for (int64_t i = 0; i < row.size; ++i) std::memcpy(target + i * row.target, source + i * row.source, Size);
}

void copyRowOf(size_t elementSize, char* target, const char* source, const Dimension& row) {
  const auto step = static_cast<int64_t>(elementSize);
  if (row.target == step && row.source == step) {
    std::memcpy(target, source, static_cast<size_t>(row.size) * elementSize);
    return;
  }
  switch (elementSize) {
    case 1:
      return copyRow<1>(target, source, row);
    case 2:
      return copyRow<2>(target, source, row);
    case 4:
      return copyRow<4>(target, source, row);
    case 8:
      return copyRow<8>(target, source, row);
    default:
      return copyRow<16>(target, source, row);
  }
}

// Dimensions without size 1, with neighbours merged if both sides allow it.
std::vector<Dimension> mergedDimensions(const StridedCopy& copy) {
  std::vector<Dimension> merged;
  for (int i = 0; i < copy.shape.rank(); ++i) {
    const Dimension inner{copy.shape[i], copy.targetStrides[i], copy.sourceStrides[i]};
    if (inner.size == 1) continue;
    if (!merged.empty() && merged.back().target == inner.size * inner.target &&
        merged.back().source == inner.size * inner.source)
      merged.back() = {merged.back().size * inner.size, inner.target, inner.source};
    else
      merged.push_back(inner);
  }
  if (merged.empty()) merged.push_back({1, 0, 0});
  return merged;
}

}  // namespace

Ref<Storage> allocateCpuMemory(size_t bytes, const AllocationOptions& options, const Ref<MemoryAccount>& account) {
  const size_t alignment = options.alignment == 0 ? kDefaultAlignment : options.alignment;
  require(std::has_single_bit(alignment), MAX_STATUS_INVALID_ARGUMENT, "Alignment is not a power of two: ", alignment);
  const bool isLarge = bytes >= (options.zeroed ? kMapZeroedFrom : kMapFrom);
  const bool pages = options.pinned || (isLarge && alignment <= kPage);
  require(!pages || alignment <= kPage, MAX_STATUS_UNIMPLEMENTED, "Page-locked memory is aligned to ", kPage,
          " bytes, not to ", alignment);
  if (pages) return makeRef<PageBlock>(bytes, options.pinned, account);
  return makeRef<HeapBlock>(bytes, std::max(alignment, kDefaultAlignment), options.zeroed, account);
}

void copyStridedOnHost(const StridedCopy& copy) {
  if (copy.shape.count() == 0) return;
  const std::vector<Dimension> dims = mergedDimensions(copy);
  const size_t outer = dims.size() - 1;
  std::vector<int64_t> index(outer, 0);
  auto* target = static_cast<char*>(copy.target.data);
  const auto* source = static_cast<const char*>(copy.source.data);
  while (true) {
    copyRowOf(copy.elementSize, target, source, dims[outer]);
    size_t d = outer;
    while (d > 0) {
      const Dimension& dim = dims[--d];
      target += dim.target;
      source += dim.source;
      if (++index[d] < dim.size) break;
      target -= dim.size * dim.target;
      source -= dim.size * dim.source;
      index[d] = 0;
      if (d == 0) return;
    }
    if (outer == 0) return;
  }
}

void fillOnHost(void* target, const FillPattern& pattern, size_t count) {
  if (count == 0) return;
  const size_t total = count * pattern.size;
  const bool uniform = std::all_of(pattern.bytes, pattern.bytes + pattern.size,
                                   [&](unsigned char byte) { return byte == pattern.bytes[0]; });
  if (uniform) {
    std::memset(target, pattern.bytes[0], total);
    return;
  }
  // Copies the filled part, in blocks that fit in the cache.
  constexpr size_t kBlock = 4096;
  auto* bytes = static_cast<char*>(target);
  std::memcpy(bytes, pattern.bytes, pattern.size);
  size_t done = pattern.size;
  while (done < total) {
    const size_t step = std::min({done, kBlock, total - done});
    std::memcpy(bytes + done, bytes, step);
    done += step;
  }
}

}  // namespace max
