// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>

#include "base/absent_lanes.h"
#include "base/clock.h"
#include "base/detached_thread.h"
#include "base/futex.h"
#include "base/worker_sleep.h"

namespace max {

namespace {

constexpr int kSlots = 64;  // loops that can get help at the same time; further ones run in their callers alone
constexpr auto kSpinTime = std::chrono::microseconds(100);  // longer than the host takes to run a halted processor
constexpr size_t kStackBytes = 1 << 20;

// Spins until done() or the end of the spin time. Returns done().
template <class Done>
bool spinUntil(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pauseCpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// The contiguous part of a loop that one lane owns, in chunks. Not initialised, so that a pool uses no memory for
// unused lanes.
struct alignas(64) Part {
  int64_t next;
  int64_t end;

  std::atomic_ref<int64_t> cursor() { return std::atomic_ref<int64_t>(next); }
};

// Shared by the lanes of one loop; lives on the caller's stack.
struct Loop {
  LoopBody body;
  int64_t count;
  int64_t grain;
  int lanes;
  const ActiveCall* call;
  std::atomic<bool> failed{false};
  std::atomic<bool> isHeldUp{false};  // a worker is, in this loop
  std::exception_ptr error;

  void keepError() noexcept {
    if (!failed.exchange(true)) error = std::current_exception();
  }
};

// A slot where a loop is offered to workers. `state` holds the number of open lanes (high half) and of workers in the
// loop (low half), under a generation that makes joining safe: a worker that read an old state fails to join.
struct alignas(64) Slot {
  static constexpr uint64_t kOpenUnit = 1u << 16;
  static constexpr uint64_t kActiveMask = 0xffff;
  static constexpr uint64_t kOpenMask = 0xffff0000;
  static constexpr uint64_t kGenerationUnit = uint64_t{1} << 32;

  std::atomic<uint64_t> state{0};
  std::atomic<uint32_t> callerWaits{0};
  std::atomic<bool> taken{false};
  Loop* loop = nullptr;
  Part parts[kMaxLanes];

  static uint64_t openLanes(uint64_t state) { return (state & kOpenMask) / kOpenUnit; }
  bool idle() const { return (state.load(std::memory_order_seq_cst) & kActiveMask) == 0; }
};

thread_local bool insideLoop = false;

void runChunks(Loop& loop, Part& part, int lane) {
  while (!loop.failed.load(std::memory_order_relaxed)) {
    if (part.cursor().load(std::memory_order_relaxed) >= part.end) return;
    const int64_t chunk = part.cursor().fetch_add(1, std::memory_order_relaxed);
    if (chunk >= part.end) return;
    const int64_t begin = chunk * loop.grain;
    if (loop.call && loop.call->interrupt) loop.call->interrupt->check();
    loop.body(begin, std::min(loop.count, begin + loop.grain), lane);
  }
}

// Its own part first, then the rest of the others'.
void runLane(Slot& slot, int lane) noexcept {
  Loop& loop = *slot.loop;
  const ActiveCallScope scope(loop.call);
  insideLoop = true;
  try {
    for (int i = 0; i < loop.lanes; ++i) runChunks(loop, slot.parts[(lane + i) % loop.lanes], lane);
  } catch (...) {
    loop.keepError();
  }
  insideLoop = false;
}

class Pool {
 public:
  explicit Pool(int processors) : processors_(processors) {}

  // In a forked child, whose other threads are gone.
  void restart() { new (this) Pool(processors_); }

  // How many of these lanes a loop of this thread gets.
  int shareOf(int lanes) const {
    const int share = lanesOfRun(processors_, lanes, RunScope::countThis());
    return absentLanes.areResting() && isOfRun() ? absentLanes.leaves(share, steadyNanoseconds()) : share;
  }

  // False if the loop was not run because all slots are taken.
  bool run(Loop& loop) {
    ensureWorkers(loop.lanes - 1);
    const int index = takeSlot();
    if (index < 0) return false;
    Slot& slot = slots_[index];
    open(slot, loop);
    offer(index, loop.lanes - 1);
    runLane(slot, 0);
    close(index);
    waitForWorkers(slot);
    slot.taken.store(false, std::memory_order_release);
    return true;
  }

 private:
  static bool isOfRun() { return threadWork().run != ThreadWork::Run::None; }

  struct Worker {
    Pool* pool;
    WorkerSleep sleep{};
    RunClock clock{};
  };

  static void* workerMain(void* argument) {
    pthread_setname_np(pthread_self(), "max-worker");
    Worker& worker = *static_cast<Worker*>(argument);
    worker.sleep.setThread();
    worker.clock.start();
    worker.pool->work(worker);
    return nullptr;
  }

  int takeSlot() {
    for (int i = 0; i < kSlots; ++i)
      if (!slots_[i].taken.load(std::memory_order_relaxed) &&
          !slots_[i].taken.exchange(true, std::memory_order_acquire))
        return i;
    return -1;
  }

  void open(Slot& slot, Loop& loop) {
    const int64_t chunks = (loop.count - 1) / loop.grain + 1;
    const int64_t each = chunks / loop.lanes, rest = chunks % loop.lanes;
    int64_t begin = 0;
    for (int i = 0; i < loop.lanes; ++i) {
      slot.parts[i].cursor().store(begin, std::memory_order_relaxed);
      begin += each + (i < rest ? 1 : 0);
      slot.parts[i].end = begin;
    }
    slot.loop = &loop;
    const uint64_t generation = slot.state.load(std::memory_order_relaxed) & ~(Slot::kOpenMask | Slot::kActiveMask);
    const uint64_t lanes = static_cast<uint64_t>(loop.lanes - 1) * Slot::kOpenUnit;
    slot.state.store((generation + Slot::kGenerationUnit) | lanes, std::memory_order_release);
  }

  void offer(int index, int lanes) {
    offered_.fetch_or(uint64_t{1} << index, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    const int64_t now = steadyNanoseconds();
    const int count = workerCount_.load(std::memory_order_acquire);
    for (int i = 0; i < count && lanes > 0; ++i)
      if (workers_[i].sleep.wake(now)) --lanes;
  }

  void close(int index) {
    slots_[index].state.fetch_and(~Slot::kOpenMask, std::memory_order_acq_rel);
    offered_.fetch_and(~(uint64_t{1} << index), std::memory_order_relaxed);
  }

  void waitForWorkers(Slot& slot) {
    if (slot.idle() || spinUntil([&] { return slot.idle(); })) return;
    const int64_t begin = steadyNanoseconds();
    while (true) {
      slot.callerWaits.store(1, std::memory_order_seq_cst);
      if (slot.idle()) break;
      futexWait(slot.callerWaits, 1);
    }
    slot.callerWaits.store(0, std::memory_order_relaxed);
    threadWork().clock.addWait(steadyNanoseconds() - begin, slot.loop->isHeldUp.load(std::memory_order_relaxed));
  }

  // This worker's lane in the slot's loop, 0 if all are taken.
  int join(int index) {
    Slot& slot = slots_[index];
    uint64_t state = slot.state.load(std::memory_order_acquire);
    while (Slot::openLanes(state) > 0) {
      const uint64_t joined = state - Slot::kOpenUnit + 1;
      if (!slot.state.compare_exchange_weak(state, joined, std::memory_order_acq_rel)) continue;
      if (Slot::openLanes(joined) == 0) offered_.fetch_and(~(uint64_t{1} << index), std::memory_order_relaxed);
      return slot.loop->lanes - static_cast<int>(Slot::openLanes(state));
    }
    return 0;
  }

  void leave(Slot& slot) {
    const uint64_t before = slot.state.fetch_sub(1, std::memory_order_seq_cst);
    if ((before & Slot::kActiveMask) != 1) return;
    // The caller may be gone already: slots are never freed, and a spurious wake is harmless.
    uint32_t waits = 1;
    if (slot.callerWaits.compare_exchange_strong(waits, 2)) futexWake(slot.callerWaits, 1);
  }

  void help(Worker& worker) {
    for (uint64_t offered = offered_.load(std::memory_order_acquire); offered != 0; offered &= offered - 1) {
      const int index = __builtin_ctzll(offered);
      const int lane = join(index);
      if (lane == 0) continue;
      Slot& slot = slots_[index];
      runLane(slot, lane);
      if (slot.callerWaits.load(std::memory_order_relaxed) != 0) noticeHoldUp(*slot.loop, worker);
      leave(slot);
    }
  }

  // The caller has slept for a while until this worker leaves.
  static void noticeHoldUp(Loop& loop, Worker& worker) {
    if (worker.clock.isHeldUp()) loop.isHeldUp.store(true, std::memory_order_relaxed);
    worker.clock.start();
  }

  [[noreturn]] void work(Worker& worker) {
    while (true) {
      if (spinUntil([&] { return offered_.load(std::memory_order_relaxed) != 0; }))
        help(worker);
      else
        sleep(worker);
    }
  }

  void sleep(Worker& worker) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    worker.sleep.sleep([&] { return offered_.load(std::memory_order_seq_cst) != 0; });
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    worker.clock.start();
  }

  void ensureWorkers(int wanted) {
    if (workerCount_.load(std::memory_order_relaxed) >= wanted) return;
    if (starting_.exchange(true, std::memory_order_acquire)) return;  // another caller is starting them
    int count = workerCount_.load(std::memory_order_relaxed);
    while (count < wanted && startDetachedThread(workerMain, new (&workers_[count]) Worker{this}, kStackBytes)) ++count;
    workerCount_.store(count, std::memory_order_release);
    starting_.store(false, std::memory_order_release);
  }

  std::atomic<uint64_t> offered_{0};  // bit i: slot i has open lanes
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  alignas(64) std::atomic<int> workerCount_{0};
  std::atomic<bool> starting_{false};
  const int processors_;
  Slot slots_[kSlots];
  // Not initialised, so that memory for unused ones is not touched.
  union {
    Worker workers_[kMaxLanes];
  };
};

// Never destroyed: workers may run until the process ends.
alignas(Pool) std::byte poolMemory[sizeof(Pool)];

Pool& pool() {
  static Pool* const instance = [] {
    pthread_atfork(nullptr, nullptr, [] {
      RunScope::forgetOthers();
      std::launder(reinterpret_cast<Pool*>(poolMemory))->restart();
    });
    return new (poolMemory) Pool(defaultLanes());
  }();
  return *instance;
}

void runInterruptibly(const Interrupt& interrupt, int64_t count, int64_t grain, LoopBody body) {
  for (int64_t begin = 0; begin < count; begin += std::min(grain, count - begin)) {
    interrupt.check();
    body(begin, begin + std::min(grain, count - begin), 0);
  }
}

}  // namespace

int lanesOfRun(int processors, int lanes, const RunRank& rank) {
  if (rank.runs * lanes <= processors) return lanes;
  const int rest = rank.before < processors % rank.runs ? 1 : 0;
  return std::clamp(processors / rank.runs + rest, 1, lanes);
}

void parallelFor(int lanes, int64_t count, int64_t grain, LoopBody body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const ActiveCall* call = activeCall();
  if (call) lanes = std::min(lanes, call->lanes);
  if (lanes > 1 && count > grain && !insideLoop) {
    const int64_t chunks = (count - 1) / grain + 1;
    const int used = static_cast<int>(std::min<int64_t>({pool().shareOf(lanes), chunks, kMaxLanes}));
    Loop loop{body, count, grain, used, call, {}, {}, {}};
    if (used > 1 && pool().run(loop)) {
      if (loop.failed.load(std::memory_order_relaxed)) std::rethrow_exception(loop.error);
      return;
    }
  }
  if (call && call->interrupt) return runInterruptibly(*call->interrupt, count, grain, body);
  body(0, count, 0);
}

}  // namespace max
