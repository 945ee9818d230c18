// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernel/cpu_source.h"

namespace max {

namespace {

// The mask of lanes [begin, end) of a warp.
uint64_t lanes(unsigned begin, unsigned end) {
  const auto below = [](unsigned lane) { return lane < 64 ? (uint64_t{1} << lane) - 1 : ~uint64_t{0}; };
  return below(end) & ~below(begin);
}

}  // namespace

void BlockRunner::Queue::push(Fiber* fiber) {
  fiber->next = nullptr;
  (last ? last->next : first) = fiber;
  last = fiber;
}

BlockRunner::Fiber* BlockRunner::Queue::pop() {
  Fiber* fiber = first;
  first = fiber->next;
  if (!first) last = nullptr;
  return fiber;
}

void BlockRunner::Queue::take(Queue& other) {
  if (other.empty()) return;
  (last ? last->next : first) = other.first;
  last = other.last;
  other = {};
}

BlockRunner& BlockRunner::ofThread() {
  static thread_local BlockRunner runner;
  return runner;
}

BlockRunner::~BlockRunner() {
  for (const std::unique_ptr<Fiber>& fiber : fibers_) releaseFiber(fiber->context);
  if (shared_) munmap(shared_, kMaxCpuShared);
}

// Pages are allocated on use; the address is the same for all kernels that this thread runs.
void* BlockRunner::sharedMemory() {
  if (shared_) return shared_;
  void* memory =
      mmap(nullptr, kMaxCpuShared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(memory != MAP_FAILED, MAX_STATUS_RESOURCE_EXHAUSTED, "Cannot map ", kMaxCpuShared, " bytes of shared memory");
  shared_ = memory;
  return shared_;
}

void BlockRunner::run(const CpuLaunch& launch, int64_t begin, int64_t end) {
  require(!launch_, MAX_STATUS_FAILED_PRECONDITION, "Kernel '", launch.name, "' is launched by a kernel");
  MaxCpuBlock block;
  std::copy_n(launch.grid, 3, block.grid);
  std::copy_n(launch.block, 3, block.block);
  block.index[0] = static_cast<unsigned>(begin % launch.grid[0]);
  block.index[1] = static_cast<unsigned>(begin / launch.grid[0] % launch.grid[1]);
  block.index[2] = static_cast<unsigned>(begin / launch.grid[0] / launch.grid[1]);
  block.shared = launch.sharedBytes > 0 ? sharedMemory() : nullptr;
  if (free_.empty()) free_.push_back(makeFiber());
  launch_ = &launch;
  threads_ = launch.block[0] * launch.block[1] * launch.block[2];
  lanes_ = launch.lanes;
  laneBits_ = static_cast<unsigned>(std::countr_zero(lanes_));
  adoptThread(thread_);
  for (int64_t left = end - begin; left > 0 && !error_;) {
    const unsigned first = block.index[0];
    runBlocks(block, static_cast<unsigned>(std::min<int64_t>(left, block.grid[0] - first)));
    left -= block.index[0] - first + 1;
    for (int d = 0; d < 3 && ++block.index[d] == block.grid[d]; ++d) block.index[d] = 0;
  }
  launch_ = nullptr;
  if (!error_) return;
  Error error = std::move(*error_);
  error_.reset();
  throw error;
}

// Runs at least the given block, and those after it in x if no thread waits. Returns when the last thread has ended, or
// on an error, after which fibers are abandoned.
void BlockRunner::runBlocks(MaxCpuBlock& block, unsigned count) {
  block_ = &block;
  arrived_ = votes_ = ended_ = 0;
  waited_ = false;
  current_ = takeFiber(0, threads_, count);
  switchFiber(thread_, current_->context);
  if (!error_) return;
  ready_ = atBarrier_ = {};
  placesOpen_ = 0;
  for (auto& meetings : meetings_) meetings.clear();
  for (const std::unique_ptr<Fiber>& fiber : fibers_) releaseFiber(fiber->context);
  free_.clear();
  fibers_.clear();
}

BlockRunner::Fiber* BlockRunner::makeFiber() {
  auto made = std::make_unique<Fiber>();
  made->runner = this;
  const FiberStack stack = stacks_.stack(fibers_.size());
  free_.reserve(fibers_.size() + 1);
  fibers_.push_back(std::move(made));
  Fiber* fiber = fibers_.back().get();
  prepareFiber(fiber->context, stack, &fiberMain, fiber);
  return fiber;
}

BlockRunner::Fiber* BlockRunner::takeFiber(unsigned begin, unsigned end, unsigned blocks) {
  if (free_.empty()) free_.push_back(makeFiber());
  Fiber* fiber = free_.back();
  free_.pop_back();
  fiber->begin = begin;
  fiber->end = end;
  fiber->blocks = blocks;
  fiber->owned = false;
  return fiber;
}

// A fiber that has finished waits here for its next threads.
void BlockRunner::fiberMain(void* argument) {
  Fiber& fiber = *static_cast<Fiber*>(argument);
  BlockRunner& runner = *fiber.runner;
  enterFiber(runner.thread_);
  while (true) {
    runner.launch_->kernel->run(runner.block_, runner.launch_->arguments, fiber.begin, fiber.end, fiber.blocks);
    runner.finish(fiber);
  }
}

void BlockRunner::finish(Fiber& fiber) {
  free_.push_back(&fiber);
  if (!waited_) return switchFiber(fiber.context, thread_);
  markEnded(fiber.begin, fiber.end);
  if (ended_ == threads_) return switchFiber(fiber.context, thread_);
  resumeNext(fiber);
}

// Called by a thread before it waits: from now on it owns the fiber.
void BlockRunner::own(unsigned thread, unsigned end) {
  Fiber& fiber = *current_;
  if (!waited_) std::fill_n(endedMask_, kWarps, uint64_t{0});
  waited_ = true;
  if (fiber.owned) return;
  if (thread + 1 < end) ready_.push(takeFiber(thread + 1, end, 1));
  fiber.owned = true;
  const unsigned before = fiber.begin;
  fiber.begin = thread;
  fiber.end = thread + 1;
  markEnded(before, thread);
}

void BlockRunner::markEnded(unsigned begin, unsigned end) {
  if (begin == end) return;
  ended_ += end - begin;
  for (unsigned warp = begin >> laneBits_; warp << laneBits_ < end; ++warp) {
    const unsigned first = warp << laneBits_;
    endedMask_[warp] |= lanes(std::max(begin, first) - first, std::min(end - first, lanes_));
    checkMeetings(warp);
  }
  checkBarrier();
}

void BlockRunner::resumeNext(Fiber& from) {
  if (ready_.empty() && placesOpen_ > 0) completePlaces();
  if (ready_.empty()) {
    reportDeadlock();
    leaveBlock();
  }
  current_ = ready_.pop();
  if (current_ != &from) switchFiber(from.context, current_->context);
}

void BlockRunner::wait(Queue& queue) {
  Fiber& self = *current_;
  queue.push(&self);
  resumeNext(self);
}

void BlockRunner::checkBarrier() {
  if (arrived_ == 0 || arrived_ + ended_ < threads_) return;
  barrierResult_ = static_cast<unsigned long long>(arrived_) << 32 | votes_;
  arrived_ = votes_ = 0;
  ready_.take(atBarrier_);
}

// The result stays until all have left the barrier: the next one needs them all.
unsigned long long BlockRunner::barrier(unsigned thread, unsigned end, bool predicate) {
  own(thread, end);
  ++arrived_;
  votes_ += predicate;
  Fiber& self = *current_;
  atBarrier_.push(&self);
  checkBarrier();
  resumeNext(self);
  return barrierResult_;
}

// A meeting still open for this mask, or one that is no longer in use.
BlockRunner::Meeting& BlockRunner::meetingOf(unsigned warp, uint64_t mask, int place) {
  Meeting* unused = nullptr;
  for (const std::unique_ptr<Meeting>& meeting : meetings_[warp]) {
    if (meeting->readers == 0)
      unused = meeting.get();
    else if (!meeting->done && meeting->mask == mask && meeting->place == place)
      return *meeting;
  }
  if (!unused) unused = meetings_[warp].emplace_back(std::make_unique<Meeting>()).get();
  unused->mask = mask;
  unused->place = place;
  placesOpen_ += place != 0;
  unused->done = false;
  unused->warp.threads = 0;
  return *unused;
}

void BlockRunner::complete(Meeting& meeting) {
  meeting.done = true;
  placesOpen_ -= meeting.place != 0;
  ready_.take(meeting.waiting);
}

void BlockRunner::completePlaces() {
  for (const auto& meetings : meetings_)
    for (const std::unique_ptr<Meeting>& meeting : meetings)
      if (meeting->readers != 0 && !meeting->done && meeting->place != 0) complete(*meeting);
}

void BlockRunner::checkMeetings(unsigned warp) {
  const uint64_t live = liveThreads(warp << laneBits_);
  for (const std::unique_ptr<Meeting>& meeting : meetings_[warp])
    if (meeting->readers != 0 && !meeting->done && (meeting->mask & live & ~meeting->warp.threads) == 0)
      complete(*meeting);
}

const MaxCpuWarp& BlockRunner::meet(unsigned thread, uint64_t mask, int place, unsigned long long value) {
  const unsigned warp = thread >> laneBits_, lane = thread & (lanes_ - 1);
  const uint64_t own = uint64_t{1} << lane;
  Meeting& meeting = meetingOf(warp, mask | own, place);
  meeting.warp.threads |= own;
  meeting.warp.values[lane] = value;
  ++meeting.readers;
  if ((meeting.mask & liveThreads(thread) & ~meeting.warp.threads) == 0)
    complete(meeting);
  else
    wait(meeting.waiting);
  --meeting.readers;
  return meeting.warp;
}

const MaxCpuWarp* BlockRunner::exchange(unsigned thread, unsigned end, unsigned mask, unsigned long long value) {
  own(thread, end);
  return &meet(thread, mask, 0, value);
}

const MaxCpuWarp* BlockRunner::meetAtPlace(unsigned thread, unsigned end, int place, unsigned long long value) {
  own(thread, end);
  return &meet(thread, ~uint64_t{0}, place, value);
}

uint64_t BlockRunner::liveThreads(unsigned thread) const {
  const unsigned warp = thread >> laneBits_;
  const uint64_t there = lanes(0, std::min(threads_ - (warp << laneBits_), lanes_));
  return waited_ ? there & ~endedMask_[warp] : there;
}

// The fiber's frames are never unwound, so they must not contain objects with destructors: hence the separate reports.
void BlockRunner::leaveBlock() {
  switchFiber(current_->context, thread_);
  __builtin_unreachable();
}

std::string BlockRunner::blockName() const {
  return concat("block (", block_->index[0], ", ", block_->index[1], ", ", block_->index[2], ") of kernel '",
                launch_->name, "'");
}

// The only failure on a fiber is a lack of memory for another one.
void BlockRunner::reportFailure(const std::exception& error) {
  error_.emplace(MAX_STATUS_RESOURCE_EXHAUSTED, error.what());
}

[[gnu::noinline]] void BlockRunner::reportDeadlock() {
  error_.emplace(MAX_STATUS_FAILED_PRECONDITION,
                 concat("Deadlock between threads: in ", blockName(), " ", arrived_, " of ", threads_ - ended_,
                        " threads wait at a barrier, the others for threads of their warp"));
}

[[gnu::noinline]] void BlockRunner::reportTrap(unsigned thread, const char* reason, std::string_view file, int line) {
  if (file.starts_with(kCpuHeaders)) file.remove_prefix(kCpuHeaders.size());
  error_.emplace(MAX_STATUS_FAILED_PRECONDITION,
                 concat("Thread ", thread, " of ", blockName(), " stopped",
                        !file.empty() ? concat(" at ", file, ':', line) : "", ": ", reason));
}

void BlockRunner::trap(unsigned thread, const char* reason, const char* file, int line) {
  reportTrap(thread, reason, file, line);
  leaveBlock();
}

namespace {

// Calls from kernels: no exception may escape.
template <class Function>
auto guarded(Function function) {
  BlockRunner& runner = BlockRunner::ofThread();
  try {
    return function(runner);
  } catch (const std::exception& error) {
    runner.reportFailure(error);
  }
  runner.leaveBlock();
}

}  // namespace

const MaxCpuRuntime& cpuRuntime() {
  static constexpr MaxCpuRuntime runtime = {
      [](unsigned thread, unsigned end, int predicate) {
        return guarded([=](BlockRunner& runner) { return runner.barrier(thread, end, predicate != 0); });
      },
      [](unsigned thread, unsigned end, unsigned mask, unsigned long long value) {
        return guarded([=](BlockRunner& runner) { return runner.exchange(thread, end, mask, value); });
      },
      [](unsigned thread, unsigned end, int place, unsigned long long value) {
        return guarded([=](BlockRunner& runner) { return runner.meetAtPlace(thread, end, place, value); });
      },
      [] { return guarded([](BlockRunner& runner) { return runner.sharedMemory(); }); },
      [](unsigned thread, const char* reason, const char* file, int line) {
        BlockRunner::ofThread().trap(thread, reason, file, line);
      },
  };
  return runtime;
}

}  // namespace max
