// SPDX-License-Identifier: Apache-2.0
// The caching allocator against a source that is not there: streams, events and memory are numbers. Vector clocks tell
// what is known to have happened before what, so that a block handed out too early is a failure of the test.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/error.h"
#include "device/gpu/allocator.h"

namespace max::gpu {
namespace {

constexpr size_t kStreams = 256;
using Clock = std::array<uint32_t, kStreams>;

void join(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < kStreams; ++i) clock[i] = std::max(clock[i], other[i]);
}

// A driver. Work never finishes by itself: an event completes now and then, or when waited for.
class FakeGpu {
 public:
  struct Event {
    Clock clock{};
    bool done = false;
  };

  void* newStream() { return reinterpret_cast<void*>(++lastStream); }
  Clock& clockOf(void* stream) { return clocks[reinterpret_cast<size_t>(stream)]; }

  // Work on a stream that touches a range of memory, and what the allocator must have waited for.
  void use(void* stream, void* data, size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto s = reinterpret_cast<size_t>(stream);
    Clock& clock = clocks[s];
    join(clock, host);
    requireBefore(clock, data, bytes);
    uses[static_cast<char*>(data)] = {bytes, s, ++clock[s]};
  }
  void useOnHost(void* data, size_t bytes) {
    const std::lock_guard lock(mutex);
    requireBefore(host, data, bytes);
  }
  // A use that the program itself has ordered after the others: they are one use from now on.
  void useAfterAll(void* stream, void* data, size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto s = reinterpret_cast<size_t>(stream);
    for (const Clock& clock : clocks) join(clocks[s], clock);
    uses[static_cast<char*>(data)] = {bytes, s, ++clocks[s][s]};
  }
  // While the driver is called.
  void callMeanwhile() {
    if (meanwhile) meanwhile();
  }
  void countCall() {
    ++calls;
    if (failing != 0 && calls == failing) fail(MAX_STATUS_INTERNAL, "call ", calls, " fails");
  }

  std::mutex mutex;
  uint64_t capacity = UINT64_MAX;
  uint64_t allocated = 0;
  uint64_t largestAllocated = 0;
  std::map<char*, size_t> blocks;
  int events = 0;
  int allocations = 0;
  int calls = 0;
  int failing = 0;
  bool usable = true;
  int racing = 0;
  std::function<void()> meanwhile;
  std::mt19937 random{7};
  Clock host{};
  char* next = reinterpret_cast<char*>(size_t{1} << 40);

 private:
  friend class FakeBlocks;
  struct Use {
    size_t bytes;
    size_t stream;
    uint32_t time;
  };

  void requireBefore(const Clock& clock, void* data, size_t bytes) {
    auto* first = static_cast<char*>(data);
    auto use = uses.lower_bound(first - (size_t{64} << 20));
    while (use != uses.end() && use->first < first + bytes) {
      const bool overlaps = use->first + use->second.bytes > first;
      if (overlaps && clock[use->second.stream] < use->second.time) ++racing;
      use = overlaps ? uses.erase(use) : std::next(use);
    }
  }

  size_t lastStream = 0;
  std::array<Clock, kStreams> clocks{};
  std::map<char*, Use> uses;
};

class FakeBlocks final : public BlockSource {
 public:
  explicit FakeBlocks(FakeGpu& gpu) : gpu_(gpu) {}
  void* allocateBlock(size_t bytes) override {
    const std::lock_guard lock(gpu_.mutex);
    gpu_.countCall();
    ++gpu_.allocations;
    if (bytes > gpu_.capacity - gpu_.allocated) return nullptr;
    gpu_.allocated += bytes;
    gpu_.largestAllocated = std::max(gpu_.largestAllocated, gpu_.allocated);
    char* block = std::exchange(gpu_.next, gpu_.next + (bytes + 511) / 512 * 512);
    gpu_.blocks[block] = bytes;
    return block;
  }
  void freeBlock(void* block) noexcept override {
    const std::lock_guard lock(gpu_.mutex);
    const auto found = gpu_.blocks.find(static_cast<char*>(block));
    ASSERT_NE(found, gpu_.blocks.end());
    if (gpu_.usable) gpu_.requireBefore(gpu_.host, block, found->second);
    gpu_.allocated -= found->second;
    gpu_.blocks.erase(found);
  }

 private:
  FakeGpu& gpu_;
};

class FakeEvents final : public EventSource {
 public:
  explicit FakeEvents(FakeGpu& gpu) : gpu_(gpu) {}
  void* createEvent() override {
    gpu_.callMeanwhile();
    const std::lock_guard lock(gpu_.mutex);
    gpu_.countCall();
    ++gpu_.events;
    return new FakeGpu::Event;
  }
  void destroyEvent(void* event) noexcept override {
    const std::lock_guard lock(gpu_.mutex);
    --gpu_.events;
    delete static_cast<FakeGpu::Event*>(event);
  }
  void recordEvent(void* event, void* stream) override {
    gpu_.callMeanwhile();
    const std::lock_guard lock(gpu_.mutex);
    gpu_.countCall();
    *static_cast<FakeGpu::Event*>(event) = {gpu_.clockOf(stream), false};
  }
  bool isEventDone(void* event) override {
    gpu_.callMeanwhile();
    const std::lock_guard lock(gpu_.mutex);
    gpu_.countCall();
    auto& mark = *static_cast<FakeGpu::Event*>(event);
    if (!mark.done && gpu_.random() % 4 != 0) return false;
    mark.done = true;
    join(gpu_.host, mark.clock);
    return true;
  }
  void waitForEvent(void* event) override {
    gpu_.callMeanwhile();
    const std::lock_guard lock(gpu_.mutex);
    gpu_.countCall();
    join(gpu_.host, static_cast<FakeGpu::Event*>(event)->clock);
  }
  void makeStreamWait(void* stream, void* event) override {
    gpu_.callMeanwhile();
    const std::lock_guard lock(gpu_.mutex);
    gpu_.countCall();
    join(gpu_.clockOf(stream), static_cast<FakeGpu::Event*>(event)->clock);
  }
  bool isUsable() const noexcept override { return gpu_.usable; }

 private:
  FakeGpu& gpu_;
};

struct Fixture {
  explicit Fixture(uint64_t limit = 0, uint64_t preallocated = 0, bool hostAccess = false, size_t granule = 0)
      : allocator(makeRef<CachingAllocator>(makeRef<FakeBlocks>(gpu), makeRef<FakeEvents>(gpu), table,
                                            options(limit, preallocated, hostAccess, granule))) {}
  ~Fixture() {
    if (allocator)
      for (const auto& stream : streams) allocator->closeStream(*stream);
    allocator.reset();
    streams.clear();
    table.reset();
    EXPECT_EQ(gpu.allocated, 0u);
    EXPECT_EQ(gpu.events, 0);
    EXPECT_EQ(gpu.racing, 0);
  }
  static AllocatorOptions options(uint64_t limit, uint64_t preallocated, bool hostAccess, size_t granule = 0) {
    AllocatorOptions made;
    made.owner = "Out of memory on gpu:0";
    made.limit = limit;
    made.preallocated = preallocated;
    made.hostAccess = hostAccess;
    made.granule = granule;
    return made;
  }
  OrderedStream& open() { return *streams.emplace_back(allocator->openStream(gpu.newStream())); }
  Ref<Storage> make(size_t bytes, OrderedStream& stream) {
    Ref<Storage> block = allocator->allocate(bytes, 0, &stream);
    if (bytes > 0) gpu.use(stream.native(), block->data(), bytes);
    return block;
  }
  void useOn(OrderedStream& stream, const Ref<Storage>& block) {
    gpu.useAfterAll(stream.native(), block->data(), block->size());
    CachedBlock::of(block.get())->noteUse(stream);
  }
  uint64_t reserved() const { return allocator->stats().reserved; }

  FakeGpu gpu;
  Ref<StreamTable> table = makeRef<StreamTable>();
  Ref<CachingAllocator> allocator;
  std::vector<Ref<OrderedStream>> streams;
};

std::string errorOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return concat(statusName(error.status()), ": ", error.message());
  }
  return "no error";
}

TEST(GpuAllocator, BlocksReturnToTheirStreamAtOnce) {
  Fixture f;
  OrderedStream& stream = f.open();
  void* first = f.make(1000, stream)->data();
  const Ref<Storage> second = f.make(1000, stream);
  EXPECT_EQ(second->data(), first);
  EXPECT_EQ(second->size(), 1000u);
  EXPECT_EQ(f.gpu.allocations, 1);
  EXPECT_EQ(f.allocator->stats().live, 1000u);
  EXPECT_EQ(f.allocator->stats().peakLive, 1000u);
  EXPECT_EQ(f.reserved(), 1024u);
}

TEST(GpuAllocator, BlocksOfOtherSizesAreReusedIfLittleIsWasted) {
  Fixture f;
  OrderedStream& stream = f.open();
  void* first = f.make(1 << 20, stream)->data();
  EXPECT_EQ(f.make((1 << 20) - 50000, stream)->data(), first);
  EXPECT_NE(f.make(500000, stream)->data(), first);
  EXPECT_NE(f.make((1 << 20) + 1, stream)->data(), first);
}

TEST(GpuAllocator, AlignmentBeyondTheGranularity) {
  Fixture f;
  OrderedStream& stream = f.open();
  const Ref<Storage> odd = f.allocator->allocate(512, 0, &stream);
  for (const size_t alignment : {size_t{1}, size_t{64}, size_t{4096}, size_t{1} << 21}) {
    const Ref<Storage> block = f.allocator->allocate(100, alignment, &stream);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % alignment, 0u);
    const auto above = f.gpu.blocks.upper_bound(static_cast<char*>(block->data()));
    const auto& [base, size] = *std::prev(above);
    EXPECT_LE(static_cast<char*>(block->data()) + 100, base + size);
  }
}

TEST(GpuAllocator, NoBytes) {
  Fixture f;
  OrderedStream& stream = f.open();
  const Ref<Storage> block = f.allocator->allocate(0, 0, &stream);
  EXPECT_EQ(block->size(), 0u);
  EXPECT_NE(block->data(), nullptr);
}

TEST(GpuAllocator, SizesThatOverflow) {
  Fixture f;
  OrderedStream& stream = f.open();
  EXPECT_EQ(errorOf([&] { f.allocator->allocate(SIZE_MAX - 5, 0, &stream); }).substr(0, 12), "OUT_OF_RANGE");
  EXPECT_EQ(errorOf([&] { f.allocator->allocate(SIZE_MAX - 5, 4096, &stream); }).substr(0, 12), "OUT_OF_RANGE");
  EXPECT_EQ(errorOf([&] { f.allocator->allocate(100, 48, &stream); }),
            "INVALID_ARGUMENT: Alignment is not a power of two: 48");
}

TEST(GpuAllocator, ABlockUsedElsewhereWaits) {
  Fixture f;
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  Ref<Storage> block = f.make(4096, first);
  f.useOn(second, block);
  f.useOn(second, block);
  void* data = block->data();
  block.reset();
  bool reused = false;
  std::vector<Ref<Storage>> others;
  for (int i = 0; i < 100 && !reused; ++i) reused = others.emplace_back(f.make(4096, first))->data() == data;
  EXPECT_TRUE(reused);
}

// Or else the other tests would prove nothing.
TEST(GpuAllocator, UsesThatNobodyNotedAreRaces) {
  Fixture f;
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  Ref<Storage> block = f.make(4096, first);
  f.gpu.useAfterAll(second.native(), block->data(), block->size());
  block.reset();
  f.make(4096, first);
  EXPECT_EQ(std::exchange(f.gpu.racing, 0), 1);
}

// Used elsewhere and then on its own stream again: both are waited for.
TEST(GpuAllocator, WorkOfTheOwnStreamCountsToo) {
  for (const bool trims : {false, true}) {
    Fixture f(4096);
    OrderedStream& first = f.open();
    OrderedStream& second = f.open();
    OrderedStream& third = f.open();
    Ref<Storage> block = f.make(4096, first);
    f.useOn(second, block);
    f.useOn(first, block);
    block.reset();
    if (trims)
      f.allocator->trim();
    else
      f.make(4096, third);
    EXPECT_EQ(f.gpu.allocations, 1);
  }
}

TEST(GpuAllocator, StreamsThatAreGoneWereUsers) {
  Fixture f;
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  Ref<Storage> block = f.make(4096, first);
  f.useOn(second, block);
  f.allocator->closeStream(second);
  block.reset();
  f.allocator->trim();
  EXPECT_EQ(f.reserved(), 0u);
  f.streams.pop_back();
}

TEST(GpuAllocator, AtTheLimitStreamsTakeBlocksOfOthersAndWait) {
  Fixture f(8192);
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  void* data = f.make(4096, first)->data();
  const Ref<Storage> kept = f.make(4096, first);
  EXPECT_EQ(kept->data(), data);
  Ref<Storage> shared = f.make(4096, second);
  f.useOn(first, shared);
  shared.reset();
  f.make(4096, second);
  f.make(4096, first);
  EXPECT_EQ(f.gpu.allocations, 2);
}

TEST(GpuAllocator, MoreStreamsThanBits) {
  Fixture f;
  for (int i = 0; i < 200; ++i) f.open();
  Ref<Storage> block = f.make(4096, *f.streams[0]);
  for (int i = 0; i < 200; ++i) f.useOn(*f.streams[static_cast<size_t>(i)], block);
  block.reset();
  for (const auto& stream : f.streams) f.make(4096, *stream);
  for (const auto& stream : f.streams) f.allocator->closeStream(*stream);
  f.streams.clear();
  OrderedStream& last = f.open();
  for (int i = 0; i < 300; ++i) f.make(4096, last);
}

TEST(GpuAllocator, ClosedStreamsLeaveTheirBlocks) {
  Fixture f(16384);
  OrderedStream& first = f.open();
  Ref<Storage> live = f.make(4096, first);
  f.make(8192, first);
  f.allocator->closeStream(first);
  f.streams.clear();
  OrderedStream& second = f.open();
  live.reset();
  f.make(8192, second);
  f.make(4096, second);
  EXPECT_EQ(f.gpu.allocations, 2);
}

TEST(GpuAllocator, TrimGivesBackWhatIsNotInUse) {
  Fixture f;
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  const Ref<Storage> live = f.make(100000, first);
  f.make(200000, first);
  f.make(300000, second);
  Ref<Storage> both = f.make(400000, second);
  f.useOn(first, both);
  both.reset();
  f.allocator->trim();
  EXPECT_EQ(f.gpu.blocks.size(), 1u);
  EXPECT_EQ(f.reserved(), f.gpu.allocated);
  EXPECT_LE(f.reserved(), 106000u);
}

TEST(GpuAllocator, OutOfMemoryNamesWhatWasAskedForUsedAndAllowed) {
  Fixture f(10000);
  OrderedStream& stream = f.open();
  const Ref<Storage> live = f.make(4000, stream);
  EXPECT_EQ(errorOf([&] { f.make(6000, stream); }),
            "RESOURCE_EXHAUSTED: Out of memory on gpu:0: requested 6000 bytes, 4000 are in use, the limit is 10000");
  f.make(5000, stream);
  f.make(3000, stream);  // makes room first
  EXPECT_LE(f.gpu.largestAllocated, 10000u);
  f.gpu.capacity = 9000;
  EXPECT_EQ(errorOf([&] { f.make(5500, stream); }),
            "RESOURCE_EXHAUSTED: Out of memory on gpu:0: requested 5500 bytes, 4000 are in use, the limit is 10000; "
            "the driver is out of memory");
  f.make(4500, stream);
}

TEST(GpuAllocator, WhatCannotBeKeepsWhatIsCached) {
  Fixture f(10000);
  OrderedStream& stream = f.open();
  f.make(4000, stream);
  EXPECT_EQ(errorOf([&] { f.make(20000, stream); }).substr(0, 18), "RESOURCE_EXHAUSTED");
  f.make(4000, stream);
  EXPECT_EQ(f.gpu.allocations, 1);
}

TEST(GpuAllocator, PreallocatedMemoryIsCutAndJoined) {
  Fixture f(1 << 20, 1 << 20);
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  EXPECT_EQ(f.reserved(), 1u << 20);
  {
    std::vector<Ref<Storage>> parts;
    for (int i = 0; i < 8; ++i) parts.push_back(f.make(128 << 10, i < 4 ? first : second));
    EXPECT_EQ(errorOf([&] { f.make(1, first); }).substr(0, 18), "RESOURCE_EXHAUSTED");
  }
  f.make(512 << 10, first);
  f.make(1 << 20, second);  // over what the other stream left
  EXPECT_EQ(f.gpu.allocations, 1);
  {
    const Ref<Storage> live = f.make(100, first);
    f.allocator->trim();
    EXPECT_EQ(f.reserved(), 1u << 20);
  }
  f.allocator->trim();
  EXPECT_EQ(f.reserved(), 0u);
  f.make(1000, first);
}

TEST(GpuAllocator, PreallocationBeyondTheLimit) {
  EXPECT_EQ(errorOf([] { Fixture f(1000, 2000); }),
            "RESOURCE_EXHAUSTED: Out of memory on gpu:0: requested 2000 bytes, 0 are in use, the limit is 1000");
}

TEST(GpuAllocator, ClosedStreamsLeaveTheirHoles) {
  Fixture f(1 << 20, 1 << 20);
  f.make(1 << 20, f.open());
  f.allocator->closeStream(*f.streams[0]);
  f.streams.clear();
  f.make(1 << 20, f.open());
  EXPECT_EQ(f.gpu.allocations, 1);
}

TEST(GpuAllocator, MemoryOfTheHostIsReusedWhenItsWorkIsDone) {
  Fixture device;
  OrderedStream& stream = device.open();
  const auto pool = makeRef<CachingAllocator>(makeRef<FakeBlocks>(device.gpu), makeRef<FakeEvents>(device.gpu),
                                              device.table, Fixture::options(0, 0, true));
  std::set<void*> seen;
  for (int i = 0; i < 200; ++i) {
    const Ref<Storage> block = pool->allocate(4096, 0, nullptr);
    device.gpu.useOnHost(block->data(), 4096);
    seen.insert(block->data());
    if (i % 3 == 0) continue;
    device.gpu.use(stream.native(), block->data(), 4096);
    CachedBlock::of(block.get())->noteUse(stream);
  }
  EXPECT_LT(seen.size(), 60u);
  EXPECT_EQ(pool->stats().live, 0u);
}

TEST(GpuAllocator, OtherMemoryIsNotABlock) {
  EXPECT_EQ(CachedBlock::of(nullptr), nullptr);
  EXPECT_EQ(CachedBlock::of(allocateStorage(8).get()), nullptr);
}

TEST(GpuAllocator, LostDevicesAreCleanedUpWithoutWaiting) {
  Fixture f;
  OrderedStream& first = f.open();
  OrderedStream& second = f.open();
  Ref<Storage> block = f.make(4096, first);
  f.useOn(second, block);
  f.gpu.usable = false;
  f.gpu.failing = f.gpu.calls + 1;
}

TEST(GpuAllocator, AStreamIsClosedThoughTheDriverRefusesOnce) {
  for (int n = 1; n <= 2; ++n) {
    Fixture f(4096);
    f.make(4096, f.open());
    f.gpu.failing = f.gpu.calls + n;
    f.allocator->closeStream(*f.streams[0]);
    EXPECT_GE(f.gpu.calls, f.gpu.failing);
    f.streams.clear();
    f.make(4096, f.open());
  }
}

// Every call of the driver fails in turn: nothing leaks, and what follows works.
TEST(GpuAllocator, FailuresOfTheDriver) {
  const auto program = [](Fixture& f, int failing, int& failures) {
    const auto attempt = [&](const std::function<void()>& function) {
      try {
        function();
      } catch (const Error&) {
        ++failures;
      }
    };
    OrderedStream& first = f.open();
    OrderedStream& second = f.open();
    f.gpu.failing = failing;
    for (int i = 0; i < 6; ++i) {
      attempt([&] {
        Ref<Storage> block = f.make(4096 + static_cast<size_t>(i) * 700, first);
        f.useOn(second, block);
      });
      attempt([&] { f.make(9000, second); });
      attempt([&] { f.make(9000, first); });
    }
    attempt([&] { f.allocator->trim(); });
    const int used = f.gpu.calls;
    f.gpu.failing = 0;
    f.make(4096, first);
    return used;
  };
  int failures = 0;
  Fixture whole(20000, 5000);
  const int calls = program(whole, 0, failures);
  EXPECT_EQ(failures, 0);
  for (int n = 2; n <= calls; ++n) {
    Fixture f(20000, 5000);
    program(f, n, failures);
  }
  EXPECT_GT(failures, calls / 2);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kAllocations = 2000;
#else
constexpr int kAllocations = 10000;
#endif

TEST(GpuAllocator, RandomAllocations) {
  constexpr uint64_t kLimit = uint64_t{256} << 20;
  Fixture f(kLimit);
  std::mt19937 random(42);
  for (int i = 0; i < 5; ++i) f.open();
  struct Live {
    Ref<Storage> block;
    uint64_t bytes;
  };
  std::vector<Live> live;
  uint64_t used = 0;
  int refused = 0;
  const auto drop = [&] {
    const size_t i = random() % live.size();
    used -= live[i].bytes;
    live[i] = std::move(live.back());
    live.pop_back();
  };
  const auto trim = [&] {
    const uint64_t unused = f.reserved() - std::min(f.reserved(), used);
    const uint64_t before = f.reserved();
    f.allocator->trim();
    // Rounding of blocks in use is not unused; it is in the second bound.
    const uint64_t rounding = f.reserved() - used;
    EXPECT_GE(static_cast<double>(before - f.reserved()) + static_cast<double>(rounding),
              0.95 * static_cast<double>(unused));
    EXPECT_EQ(f.gpu.blocks.size(), live.size());
    if (used > (1 << 20)) {
      EXPECT_LE(static_cast<double>(f.reserved()) / static_cast<double>(used), 1.2);
    }
  };
  for (int i = 0; i < kAllocations; ++i) {
    const size_t bytes = (size_t{1} << (random() % 24)) + random() % 5000;
    const size_t number = random() % f.streams.size();
    try {
      Live made{f.make(bytes, *f.streams[number]), bytes};
      for (uint32_t uses = random() % 3; uses > 0; --uses) f.useOn(*f.streams[random() % f.streams.size()], made.block);
      used += bytes;
      live.push_back(std::move(made));
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), MAX_STATUS_RESOURCE_EXHAUSTED);
      // Nothing unused is left then.
      EXPECT_GT(static_cast<double>(f.reserved()) + static_cast<double>(bytes) * 1.07, static_cast<double>(kLimit));
      ++refused;
    }
    while (!live.empty() && random() % 100 < 45) drop();
    if (i % 1000 == 999) trim();
    if (i % 300 == 299) {
      f.allocator->closeStream(*f.streams[number]);
      f.streams.erase(f.streams.begin() + static_cast<ptrdiff_t>(number));
      if (f.gpu.newStream() < reinterpret_cast<void*>(kStreams - 1)) f.open();
    }
    ASSERT_EQ(f.allocator->stats().live, used);
    ASSERT_EQ(f.reserved(), f.gpu.allocated);
  }
  trim();
  EXPECT_GT(refused, 0);
  EXPECT_LE(f.gpu.largestAllocated, kLimit);
}

TEST(GpuAllocator, ManyThreads) {
  constexpr uint64_t kLimit = 1 << 20;
  Fixture f(kLimit);
  for (int i = 0; i < 4; ++i) f.open();
  std::vector<std::thread> threads;
  std::atomic<int> made{0};
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      std::vector<Ref<Storage>> live;
      for (int i = 0; i < 1000; ++i) {
        OrderedStream& stream = *f.streams[t];
        try {
          live.push_back(f.make(1 + random() % 100000, stream));
          CachedBlock::of(live.back().get())->noteUse(*f.streams[random() % 4]);
          ++made;
        } catch (const Error&) {
        }
        if (i % 100 == 99) f.allocator->trim();
        while (live.size() > random() % 4) live.erase(live.begin());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(made, 3000);
  EXPECT_LE(f.gpu.largestAllocated, kLimit);
  EXPECT_EQ(f.allocator->stats().live, 0u);
}

constexpr size_t kPiece = 64 << 10;

TEST(GpuAllocator, SmallBlocksSharePieces) {
  Fixture f(0, 0, false, kPiece);
  OrderedStream& stream = f.open();
  {
    std::vector<Ref<Storage>> blocks;
    for (size_t i = 0; i < kPiece / 512; ++i) blocks.push_back(f.make(512, stream));
    EXPECT_EQ(f.gpu.blocks.size(), 1u);
    blocks.push_back(f.make(512, stream));
    EXPECT_EQ(f.gpu.blocks.size(), 2u);
    blocks.push_back(f.make(kPiece / 2 + 1, stream));  // has a piece of its own
    EXPECT_EQ(f.gpu.blocks.size(), 3u);
    EXPECT_EQ(f.reserved(), 3 * kPiece);
    blocks.erase(blocks.begin());
    f.allocator->trim();  // a piece goes back as a whole
    EXPECT_EQ(f.gpu.blocks.size(), 3u);
  }
  f.allocator->trim();
  EXPECT_EQ(f.reserved(), 0u);
  EXPECT_EQ(f.gpu.allocated, 0u);
}

TEST(GpuAllocator, TheLimitCountsPieces) {
  constexpr uint64_t kLimit = 16 * kPiece;
  Fixture f(kLimit, 0, false, kPiece);
  for (int i = 0; i < 3; ++i) f.open();
  std::mt19937 random(7);
  std::vector<Ref<Storage>> live;
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    try {
      const size_t bytes = 1 + random() % (size_t{1} << (9 + random() % 9));
      live.push_back(f.make(bytes, *f.streams[random() % 3]));
      f.useOn(*f.streams[random() % 3], live.back());
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), MAX_STATUS_RESOURCE_EXHAUSTED);
      ++refused;
    }
    while (!live.empty() && random() % 100 < 45) live.erase(live.begin() + random() % live.size());
    if (i % 500 == 499) f.allocator->trim();
    ASSERT_EQ(f.reserved(), f.gpu.allocated);
    ASSERT_EQ(f.reserved() % kPiece, 0u);
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(f.gpu.largestAllocated, kLimit);
}

// Nothing bounds what a driver takes for the first byte.
TEST(GpuAllocator, ALimitBelowAPieceBoundsWhatIsAskedFor) {
  Fixture f(kPiece / 2, 0, false, kPiece);
  OrderedStream& stream = f.open();
  const Ref<Storage> block = f.make(1000, stream);
  EXPECT_EQ(f.reserved(), 1024u);
  EXPECT_NE(errorOf([&] { f.make(kPiece / 2, stream); }), "no error");
}

// A child has the parent's objects, but must leave the driver alone.
// A driver may wait for a host function, which may want memory that needs no driver.
TEST(GpuAllocator, TheDriverIsCalledWithoutALock) {
  static thread_local bool isOther = false;
  Fixture f(8 << 20);
  OrderedStream &a = f.open(), &b = f.open(), &c = f.open();
  f.make(5000, c);  // is kept for it
  int calls = 0, held = 0;
  std::vector<std::thread> others;
  f.gpu.meanwhile = [&] {
    if (isOther) return;
    auto isDone = std::make_shared<std::promise<void>>();
    others.emplace_back([&f, &c, isDone] {
      isOther = true;
      f.allocator->allocate(5000, 0, &c);
      std::vector<Ref<StreamMark>> marks;
      f.table->mark(c.bit(), marks);
      isDone->set_value();
    });
    ++calls;
    if (held == 0) held += isDone->get_future().wait_for(std::chrono::seconds(5)) == std::future_status::timeout;
  };
  for (int round = 0; round < 8; ++round) {
    const Ref<Storage> shared = f.make(3 << 20, a);  // now and then one that waits, or is taken from the other stream
    f.useOn(b, shared);
    const Ref<Storage> other = f.make(3 << 20, b);
  }
  f.allocator->trim();
  OrderedStream& last = f.open();
  f.make(1000, last);
  f.allocator->closeStream(last);
  for (std::thread& other : others) other.join();
  f.gpu.meanwhile = nullptr;
  EXPECT_GT(calls, 20);
  EXPECT_EQ(held, 0);
  f.streams.pop_back();
}

TEST(GpuAllocator, AfterAFork) {
  Fixture f;
  OrderedStream& stream = f.open();
  Ref<Storage> block = f.make(4096, stream);
  const int calls = f.gpu.calls;
  const pid_t child = fork();
  if (child == 0) {
    const bool refuses = errorOf([&] { f.make(8, stream); }).substr(0, 19) == "FAILED_PRECONDITION";
    block.reset();
    f.allocator->closeStream(stream);
    f.allocator.reset();
    _exit(refuses && f.gpu.calls == calls ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace max::gpu
