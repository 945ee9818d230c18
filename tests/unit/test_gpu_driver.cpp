// SPDX-License-Identifier: Apache-2.0
// Parts of the device layer for accelerators that need no driver; and what is said of drivers that are of no use.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "device/api_names.h"
#include "device/cpu/cpu_memory.h"
#include "device/device_registry.h"
#include "device/gpu/driver.h"
#include "device/gpu/host_gate.h"
#include "device/gpu/host_queue.h"
#include "device/gpu/library.h"
#include "device/gpu/strided_kernel.h"
#include "device/gpu/strided_plan.h"

namespace max::gpu {
namespace {

constexpr int64_t kSpace = 4096;  // bytes on each side of the middle that copies may reach

struct RandomCopy {
  std::vector<unsigned char> target = std::vector<unsigned char>(2 * kSpace, 0);
  std::vector<unsigned char> source = std::vector<unsigned char>(2 * kSpace);
  StridedCopy copy;
};

// Strides of a dense array with its dimensions in any order, some of them backwards, with gaps.
Shape randomStrides(const Shape& shape, size_t elementSize, std::mt19937& random) {
  std::vector<int> order;
  for (int i = 0; i < shape.rank(); ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), random);
  Shape strides = shape;
  auto step = static_cast<int64_t>(elementSize);
  for (const int axis : order) {
    strides[axis] = random() % 4 == 0 ? -step : step;
    step *= shape[axis] + static_cast<int64_t>(random() % 3 == 0);
  }
  return strides;
}

RandomCopy randomCopy(std::mt19937& random) {
  RandomCopy made;
  constexpr size_t kSizes[] = {1, 2, 4, 8, 16};
  made.copy.elementSize = kSizes[random() % 5];
  for (auto rank = random() % 5; rank > 0; --rank) made.copy.shape.push(1 + static_cast<int64_t>(random() % 3));
  made.copy.targetStrides = randomStrides(made.copy.shape, made.copy.elementSize, random);
  made.copy.sourceStrides = randomStrides(made.copy.shape, made.copy.elementSize, random);
  for (unsigned char& byte : made.source) byte = static_cast<unsigned char>(random());
  made.copy.source.data = made.source.data() + kSpace;
  return made;
}

void runPlan(const StridedPlan& plan, unsigned char* target, const unsigned char* source) {
  plan.forEach([&](int64_t to, int64_t from) {
    for (size_t row = 0; row < plan.height; ++row)
      std::memcpy(target + to + static_cast<int64_t>(row * plan.targetPitch),
                  source + from + static_cast<int64_t>(row * plan.sourcePitch), plan.width);
  });
}

TEST(Api, TheListForProgramsHasTheRowsNames) {
  std::vector<std::string> names, listed;
  for (const Api* api : apis()) names.push_back(api->name);
  for (const ApiName& row : kApiNames) listed.push_back(row.api);
  EXPECT_EQ(listed, names);
}

// A framework in the same process may have opened an older version, which has the state of its contexts.
TEST(Library, IsTheVersionThatTheProcessHasLoaded) {
  std::string folder = std::filesystem::temp_directory_path() / "max-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string newer = folder + "/libprobe.so.2", older = folder + "/libprobe.so.1";
  for (const std::string& file : {newer, older}) std::filesystem::copy_file(MAX_PROBE_LIBRARY, file);
  const char* const names[] = {newer.c_str(), older.c_str()};
  void* loaded = dlopen(older.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(loaded, nullptr) << dlerror();
  EXPECT_EQ(Library("MAX_NO_SUCH_VARIABLE", names).name(), older);
  // What has another name is another library, which may lack functions.
  const std::string other = folder + "/libother.so.1";
  std::filesystem::copy_file(MAX_PROBE_LIBRARY, other);
  const char* const others[] = {other.c_str(), older.c_str()};
  EXPECT_EQ(Library("MAX_NO_SUCH_VARIABLE", others).name(), other);
  std::filesystem::remove_all(folder);
}

TEST(StatusOf, SaysWhatACallerCanDo) {
  EXPECT_EQ(statusOf(9), MAX_STATUS_INVALID_ARGUMENT);       // too many threads for AMD's chips
  EXPECT_EQ(statusOf(720), MAX_STATUS_INVALID_ARGUMENT);     // too many blocks to run at the same time
  EXPECT_EQ(statusOf(912), MAX_STATUS_INVALID_ARGUMENT);     // a cluster that is too large
  EXPECT_EQ(statusOf(711), MAX_STATUS_RESOURCE_EXHAUSTED);   // peers
  EXPECT_EQ(statusOf(900), MAX_STATUS_FAILED_PRECONDITION);  // a stream that is captured
  EXPECT_EQ(statusOf(908), MAX_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(statusOf(909), MAX_STATUS_INTERNAL);
}

TEST(StridedPlan, CopiesWhatTheHostCopies) {
  std::mt19937 random(20);
  for (int i = 0; i < 1000; ++i) {
    RandomCopy made = randomCopy(random);
    std::vector<unsigned char> expected = made.target;
    made.copy.target.data = expected.data() + kSpace;
    copyStridedOnHost(made.copy);
    const StridedPlan plan = StridedPlan::of(made.copy);
    if (plan.height > 1) {
      EXPECT_GE(plan.targetPitch, plan.width);
      EXPECT_GE(plan.sourcePitch, plan.width);
    }
    runPlan(plan, made.target.data() + kSpace, made.source.data() + kSpace);
    ASSERT_EQ(made.target, expected) << "copy " << i;
  }
}

// What the kernel does, unit by unit.
void runLayout(const StridedLayout& layout, unsigned char* target, const unsigned char* source) {
  for (uint64_t i = 0; i < layout.count; ++i) {
    uint64_t left = i;
    int64_t to = 0, from = 0;
    for (int d = 0; d < layout.rank; ++d) {
      const auto at = static_cast<int64_t>(left % layout.dims[d].size);
      left /= layout.dims[d].size;
      to += at * layout.dims[d].target;
      from += at * layout.dims[d].source;
    }
    ASSERT_EQ(reinterpret_cast<uintptr_t>(target + to) % static_cast<size_t>(layout.unit), 0u);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(source + from) % static_cast<size_t>(layout.unit), 0u);
    std::memcpy(target + to, source + from, static_cast<size_t>(layout.unit));
  }
}

TEST(StridedLayout, CopiesWhatTheHostCopies) {
  std::mt19937 random(21);
  for (int i = 0; i < 1000; ++i) {
    RandomCopy made = randomCopy(random);
    std::vector<unsigned char> expected = made.target;
    made.copy.target.data = expected.data() + kSpace;
    copyStridedOnHost(made.copy);
    const StridedPlan plan = StridedPlan::of(made.copy);
    unsigned char* target = made.target.data() + kSpace + plan.targetStart;
    const unsigned char* source = made.source.data() + kSpace + plan.sourceStart;
    runLayout(StridedLayout::of(plan, target, source), target, source);
    ASSERT_EQ(made.target, expected) << "copy " << i;
  }
}

StridedCopy copyOf(const Shape& shape, const Shape& target, const Shape& source) {
  StridedCopy copy;
  copy.elementSize = 4;
  copy.shape = shape;
  copy.targetStrides = target;
  copy.sourceStrides = source;
  return copy;
}

TEST(StridedPlan, AnInnerWindowIsOneRectangle) {
  const StridedPlan plan = StridedPlan::of(copyOf(Shape({2, 3, 5}), Shape({60, 20, 4}), Shape({120, 40, 4})));
  EXPECT_EQ(plan.width, 20u);
  EXPECT_EQ(plan.height, 6u);
  EXPECT_EQ(plan.sourcePitch, 40u);
  EXPECT_TRUE(plan.outer.empty());
}

TEST(StridedPlan, BothSidesBackwardsAreOneRow) {
  const StridedPlan plan = StridedPlan::of(copyOf(Shape({1000}), Shape({-4}), Shape({-4})));
  EXPECT_EQ(plan.width, 4000u);
  EXPECT_EQ(plan.height, 1u);
  EXPECT_EQ(plan.targetStart, -3996);
}

TEST(Library, SaysWhatWasTried) {
  const char* const names[] = {"libmax-not-there.so.1", "libmax-not-there.so"};
  const Library library("MAX_TEST_LIBRARY", names);
  EXPECT_FALSE(library.isOpen());
  EXPECT_EQ(library.symbol("cuInit"), nullptr);
  for (const char* name : names) EXPECT_NE(library.problem().find(name), std::string::npos) << library.problem();
  EXPECT_NE(library.problem().find("MAX_TEST_LIBRARY"), std::string::npos);
}

template <class Function>
std::string errorOf(MaxStatus status, Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Driver, UnusableLibrariesAreNamed) {
  EXPECT_EQ(deviceCount("gpu"), 0);
  const std::string missing = errorOf(MAX_STATUS_UNAVAILABLE, [] { openDevice("cuda", 0); });
  EXPECT_NE(missing.find("/nowhere/libcuda.so"), std::string::npos) << missing;
  EXPECT_NE(missing.find("MAX_CUDA_LIBRARY"), std::string::npos) << missing;
  // The C library is not a driver.
  const std::string other = errorOf(MAX_STATUS_UNAVAILABLE, [] { openDevice("hip", 1); });
  EXPECT_NE(other.find("'libc.so.6' lacks hipInit"), std::string::npos) << other;
  EXPECT_NE(other.find("a newer driver, or a complete one, would do"), std::string::npos) << other;
  const std::string any = errorOf(MAX_STATUS_UNAVAILABLE, [] { openDevice("gpu", -1); });
  EXPECT_NE(any.find("cuda: "), std::string::npos) << any;
  EXPECT_NE(any.find("hip: "), std::string::npos) << any;
}

// What a driver does with host functions.
void callAsDriver(HostQueue& queue, std::unique_ptr<StreamTask> task) { HostQueue::run(queue.add(std::move(task))); }

class StatusTask final : public StreamTask {
 public:
  explicit StatusTask(MaxStatus& seen) : seen_(seen) {}
  void run(const Error* earlier) override { seen_ = earlier ? earlier->status() : MAX_STATUS_OK; }
  bool runsAfterFailure() const override { return true; }

 private:
  MaxStatus& seen_;
};

template <class Function>
std::unique_ptr<StreamTask> taskOf(Function function) {
  return std::make_unique<FunctionTask<Function>>(std::move(function));
}

Ref<HostQueue> newQueue() { return makeRef<HostQueue>(makeRef<GatedDevice>(makeRef<HostGate>())); }

TEST(HostQueue, AFailureStaysUntilItIsReturnedOnce) {
  const Ref<HostQueue> queue = newQueue();
  callAsDriver(*queue, taskOf([] { fail(MAX_STATUS_DATA_LOSS, "lost it"); }));
  bool ran = false;
  callAsDriver(*queue, taskOf([&] { ran = true; }));
  EXPECT_FALSE(ran);
  MaxStatus seen = MAX_STATUS_OK;
  callAsDriver(*queue, std::make_unique<StatusTask>(seen));
  EXPECT_EQ(seen, MAX_STATUS_DATA_LOSS);
  EXPECT_EQ(errorOf(MAX_STATUS_DATA_LOSS, [&] { queue->check(); }), "lost it");
  EXPECT_EQ(errorOf(MAX_STATUS_DATA_LOSS, [&] { queue->throwFailureOnce(); }), "lost it");
  queue->check();
}

TEST(HostQueue, WorkOfALostDeviceIsStillDone) {
  const Ref<HostQueue> queue = newQueue();
  MaxStatus seen = MAX_STATUS_OK;
  void* late = queue->add(std::make_unique<StatusTask>(seen));
  void* refused = queue->add(taskOf([] { ADD_FAILURE() << "the driver has refused this"; }));
  queue->cancel(refused);
  queue->abandon();
  EXPECT_EQ(seen, MAX_STATUS_UNAVAILABLE);
  seen = MAX_STATUS_OK;
  HostQueue::run(late);  // a driver that calls after all
  EXPECT_EQ(seen, MAX_STATUS_OK);
  EXPECT_TRUE(queue->isEmpty());
}

TEST(HostQueue, WhatWaitsForTheDriverComesAfterTheFunction) {
  const Ref<HostQueue> queue = newQueue();
  std::atomic<int> calls{0};
  callAsDriver(*queue, taskOf([&] {
    EXPECT_TRUE(queue->isRunningHere());
    afterHostFunction([](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls);
    EXPECT_EQ(calls, 0);
  }));
  while (calls == 0) std::this_thread::yield();
  EXPECT_FALSE(queue->isRunningHere());
  afterHostFunction([](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls);
  EXPECT_EQ(calls, 2);  // at once: no function is running here
}

// Whether a thread has come past its gate.
class Passing {
 public:
  template <class Function>
  explicit Passing(Function pass)
      : thread_([this, pass] {
          pass();
          hasPassed_ = true;
        }) {}
  ~Passing() { thread_.join(); }
  bool hasPassed() const { return hasPassed_; }
  bool passesSoon() const {
    for (int i = 0; i < 10000 && !hasPassed_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return hasPassed_;
  }
  bool isHeldUp() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return !hasPassed_;
  }

 private:
  std::atomic<bool> hasPassed_{false};
  std::thread thread_;
};

TEST(HostGate, ClosesWhenNoHostFunctionIsQueued) {
  const Ref<HostGate> gate = makeRef<HostGate>();
  const Ref<GatedDevice> device = makeRef<GatedDevice>(gate), other = makeRef<GatedDevice>(gate);
  { const HostGate::Closed twice(*gate), closed(*gate); }
  device->enter();
  other->enter();
  EXPECT_TRUE(gate->isBusy());
  const Passing free([&] { const HostGate::Closed closed(*gate); });
  EXPECT_TRUE(free.isHeldUp());
  device->leave();
  EXPECT_TRUE(free.isHeldUp());
  other->enter();  // it makes way for a while only
  other->leave();
  other->leave();
  EXPECT_TRUE(free.passesSoon());
  EXPECT_FALSE(gate->isBusy());
}

TEST(HostGate, NoHostFunctionIsQueuedWhileItIsClosed) {
  const Ref<HostGate> gate = makeRef<HostGate>();
  const Ref<GatedDevice> device = makeRef<GatedDevice>(gate);
  auto closed = std::make_unique<HostGate::Closed>(*gate);
  const Passing function([&] { device->enter(); });
  EXPECT_TRUE(function.isHeldUp());
  closed.reset();
  EXPECT_TRUE(function.passesSoon());
  device->leave();
}

TEST(HostGate, NeitherLostDevicesNorHostFunctionsAreWaitedFor) {
  const Ref<HostGate> gate = makeRef<HostGate>();
  const Ref<GatedDevice> device = makeRef<GatedDevice>(gate);
  device->enter();
  {
    const HostFunctionScope function;
    const HostGate::Closed closed(*gate);
  }
  const Passing free([&] { const HostGate::Closed closed(*gate); });
  EXPECT_TRUE(free.isHeldUp());
  device->noteLost();
  EXPECT_TRUE(free.passesSoon());
}

}  // namespace
}  // namespace max::gpu

int main(int argc, char** argv) {
  setenv("MAX_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  setenv("MAX_HIP_LIBRARY", "libc.so.6", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
