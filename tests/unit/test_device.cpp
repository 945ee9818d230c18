// SPDX-License-Identifier: Apache-2.0
// Code above the device interface, on an accelerator whose memory the host must not touch: its buffers live at
// addresses that are shifted from the real ones, and only its own stream knows how to reach them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "device/buffer.h"
#include "device/cpu/cpu_memory.h"
#include "device/device_registry.h"
#include "device/dlpack.h"
#include "device/dlpack_abi.h"
#include "device/event.h"

namespace max {
namespace {

constexpr ptrdiff_t kShift = ptrdiff_t{1} << 46;

char* shifted(void* data) { return static_cast<char*>(data) + kShift; }
char* real(void* data) { return static_cast<char*>(data) - kShift; }

class ShiftedMemory final : public Storage {
 public:
  explicit ShiftedMemory(size_t bytes) : block_(allocateStorage(bytes)) {
    data_ = shifted(block_->data());
    size_ = bytes;
  }

 private:
  Ref<Storage> block_;
};

class FakeStream final : public MaxStream {
 public:
  explicit FakeStream(MaxDevice& device) : MaxStream(device, true, false) {}
  void check() override {}
  void requireWaitable() override {}
  void waitUntilIdle() override { ++waits; }
  void synchronize() override { ++waits; }
  void* native() override { return this; }
  void copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind kind) override {
    kinds.push_back(kind);
    const bool toDevice = kind == MAX_COPY_KIND_HOST_TO_DEVICE || kind == MAX_COPY_KIND_DEVICE_TO_DEVICE;
    const bool fromDevice = kind == MAX_COPY_KIND_DEVICE_TO_HOST || kind == MAX_COPY_KIND_DEVICE_TO_DEVICE;
    std::memcpy(toDevice ? real(target.data) : target.data, fromDevice ? real(source.data) : source.data, bytes);
  }
  void copyStrided(const StridedCopy& copy) override {
    StridedCopy reachable = copy;
    reachable.target.data = real(copy.target.data);
    reachable.source.data = real(copy.source.data);
    copyStridedOnHost(reachable);
  }
  void fill(MemoryRange target, const FillPattern& pattern, size_t count) override {
    fillOnHost(real(target.data), pattern, count);
  }
  void enqueue(std::unique_ptr<StreamTask> task) override { task->run(nullptr); }
  void record(MaxEvent&) override {}
  void wait(MaxEvent&) override {}
  StreamWork* work() const override { return nullptr; }
  void awaitWork(StreamWork&, uint64_t) override {}

  std::vector<MaxCopyKind> kinds;
  int waits = 0;
};

class FakeEvent final : public MaxEvent {
 public:
  explicit FakeEvent(Ref<MaxDevice> device) : MaxEvent(std::move(device), false) {}
  void synchronize() const override {}
  bool isReady() const override { return true; }
  int64_t elapsedSince(const MaxEvent&) const override { return 0; }
  std::unique_ptr<StreamTask> waitTask() const override {
    const auto nothing = [] {};
    return std::make_unique<FunctionTask<decltype(nothing)>>(nothing);
  }
};

class FakeDevice final : public MaxDevice {
 public:
  FakeDevice() : MaxDevice("cuda", "gpu", 3, false), stream(*this) {}
  const char* name() const override { return "fake"; }
  const char* architectureName() const override { return "sm_1"; }
  bool isCompatible() const override { return true; }
  bool canAccess(const MaxDevice&) const override { return false; }
  void enablePeerAccess(const MaxDevice&) override {}
  int64_t attribute(MaxDeviceAttribute) const override { return 0; }
  int64_t driverVersion() const override { return 0; }
  MemoryInfo memoryInfo() const override { return {}; }
  MaxDeviceStats stats() const override { return MAX_DEVICE_STATS_INIT; }
  Ref<Storage> allocate(size_t bytes, const AllocationOptions& options, MaxStream&) override {
    if (options.pinned) return allocateStorage(bytes);
    return makeRef<ShiftedMemory>(bytes);
  }
  void* allocateHost(size_t) override { return nullptr; }
  void freeHost(void*) override {}
  void trim() override {}
  MaxStream& defaultStream() override { return stream; }
  Ref<MaxStream> createStream(int32_t) override { return nullptr; }
  Ref<MaxStream> wrapStream(void*) override { return nullptr; }
  Ref<MaxEvent> createEvent(bool) override { return makeRef<FakeEvent>(Ref<MaxDevice>(this)); }
  void synchronize() override {}

  FakeStream stream;
};

class DeviceTest : public testing::Test {
 protected:
  Ref<MaxBuffer> counting() {
    const Ref<MaxBuffer> host = MaxBuffer::allocate(cpu->defaultStream(), DType::Int32, {3, 4});
    for (int i = 0; i < 12; ++i) static_cast<int32_t*>(host->data())[i] = i;
    return host->clone(fake->stream);
  }
  static std::vector<int32_t> values(const MaxBuffer& host) {
    const auto* data = static_cast<const int32_t*>(host.data());
    return {data, data + host.count()};
  }

  Ref<MaxDevice> cpu = hostDevice();
  Ref<FakeDevice> fake = makeRef<FakeDevice>();
};

TEST_F(DeviceTest, ClonesGoThereAndBack) {
  const Ref<MaxBuffer> there = counting();
  EXPECT_EQ(&there->device(), fake.get());
  EXPECT_FALSE(there->isHostAccessible());
  const Ref<MaxBuffer> copy = there->clone(fake->stream);
  // The host's stream cannot read from the accelerator, so the accelerator's carries the copy.
  const Ref<MaxBuffer> back = copy->clone(cpu->defaultStream());
  EXPECT_EQ(&back->device(), cpu.get());
  EXPECT_EQ(values(*back), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(fake->stream.kinds, (std::vector<MaxCopyKind>{MAX_COPY_KIND_HOST_TO_DEVICE, MAX_COPY_KIND_DEVICE_TO_DEVICE,
                                                          MAX_COPY_KIND_DEVICE_TO_HOST}));
}

TEST_F(DeviceTest, SlicesAreMadeDenseBeforeTheyLeave) {
  const Ref<MaxBuffer> there = counting();
  const MaxSliceKind kinds[] = {MAX_SLICE_KIND_ELLIPSIS, MAX_SLICE_KIND_INDEX};
  const int64_t starts[] = {0, 2};
  const Ref<MaxBuffer> column = sliceBuffer(*there, kinds, starts, nullptr, nullptr, 2);
  EXPECT_FALSE(column->isContiguous());
  const Ref<MaxBuffer> back = column->clone(cpu->defaultStream());
  EXPECT_EQ(values(*back), (std::vector<int32_t>{2, 6, 10}));
}

TEST_F(DeviceTest, QueuesOfTheHostTakePart) {
  const Ref<MaxBuffer> there = counting();
  const Ref<MaxStream> queue = cpu->createStream(0);
  const Ref<MaxBuffer> back = there->clone(*queue);
  queue->synchronize();
  EXPECT_EQ(values(*back).back(), 11);
}

TEST_F(DeviceTest, MappingGoesThroughAStagingBlock) {
  const Ref<MaxBuffer> there = counting();
  auto* data = static_cast<int32_t*>(there->mapToHost(MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE));
  EXPECT_GT(fake->stream.waits, 0);
  EXPECT_EQ(data[5], 5);
  data[5] = 50;
  there->unmapFromHost();
  const auto* again = static_cast<const int32_t*>(there->mapToHost(MAX_HOST_ACCESS_READ));
  EXPECT_EQ(again[5], 50);
  fake->stream.kinds.clear();
  there->unmapFromHost();
  EXPECT_TRUE(fake->stream.kinds.empty());  // nothing was written
}

TEST_F(DeviceTest, DlpackNamesTheDevice) {
  const Ref<MaxBuffer> there = counting();
  DLManagedTensorVersioned* tensor = bufferToDlpack(*there, {});
  EXPECT_EQ(tensor->dl_tensor.device.device_type, dlpack::kDeviceCuda);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, 3);
  tensor->deleter(tensor);
}

TEST_F(DeviceTest, ATensorNeedsHostMemory) {
  try {
    static_cast<void>(counting()->toTensor());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_FAILED_PRECONDITION);
  }
}

TEST_F(DeviceTest, TensorsAndBuffersShareMemory) {
  const auto tensor = Tensor::of<float>(DType::Float32, {2}, {1.5f, 2.5f});
  const Ref<MaxBuffer> buffer = MaxBuffer::fromTensor(cpu->defaultStream(), *tensor);
  EXPECT_EQ(buffer->data(), tensor->data());
  EXPECT_TRUE(buffer->isReadOnly());
  EXPECT_EQ(buffer->toTensor()->data(), tensor->data());
}

}  // namespace
}  // namespace max
