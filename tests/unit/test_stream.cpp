// SPDX-License-Identifier: Apache-2.0
// Failures of queued work: they stay with the stream until Synchronize has told them once.
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "device/buffer.h"
#include "device/device_registry.h"
#include "device/event.h"
#include "device/stream.h"

namespace max {
namespace {

class StreamTest : public testing::Test {
 protected:
  void TearDown() override {
    stream = nullptr;
    device = nullptr;
    EXPECT_EQ(liveObjectCount(), 0);
  }
  template <class Function>
  static Error errorOf(Function function) {
    try {
      function();
    } catch (const Error& error) {
      return error;
    }
    return Error(MAX_STATUS_OK, "");
  }
  void failLater(MaxStatus status, const char* message) {
    stream->submit([=] { throw Error(status, message); });
  }
  // Waits without telling or forgetting the failure.
  void waitForFailure() {
    while (errorOf([&] { stream->check(); }).status() == MAX_STATUS_OK) {
    }
  }

  Ref<MaxDevice> device = hostDevice();
  Ref<MaxStream> stream = device->createStream(0);
};

TEST_F(StreamTest, EveryCallReturnsTheFailureUntilSynchronizeHasReturnedItOnce) {
  Ref<MaxBuffer> buffer = MaxBuffer::allocate(*stream, DType::Int32, {4});
  failLater(MAX_STATUS_OUT_OF_RANGE, "Index 9 is out of range");
  waitForFailure();
  const Ref<MaxEvent> event = device->createEvent(false);
  int32_t value = 0;
  const Error errors[] = {
      errorOf([&] {
        stream->fill({buffer->data(), buffer->memory()}, {}, 16);
      }),
      errorOf([&] {
        stream->copy({&value, nullptr}, {buffer->data(), nullptr}, 4, MAX_COPY_KIND_HOST_TO_HOST);
      }),
      errorOf([&] { stream->record(*event); }),
      errorOf([&] { stream->wait(*event); }),
      errorOf([&] { stream->waitFor(device->defaultStream()); }),
      errorOf([&] { device->defaultStream().waitFor(*stream); }),
      errorOf([&] { stream->waitUntilIdle(); }),
      errorOf([&] { buffer->mapToHost(MAX_HOST_ACCESS_READ); }),
      errorOf([&] { stream->synchronize(); }),
  };
  for (const Error& error : errors) {
    EXPECT_EQ(error.status(), MAX_STATUS_OUT_OF_RANGE);
    EXPECT_EQ(error.message(), "Index 9 is out of range");
  }
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_OK);
  stream->fill({buffer->data(), buffer->memory()}, {}, 16);
  stream->synchronize();
}

TEST_F(StreamTest, WorkBehindAFailureIsDroppedAndTheFirstFailureWins) {
  std::atomic<int> runs{0};
  std::atomic<bool> go{false};
  stream->submit([&] {
    while (!go) go.wait(false);
  });
  failLater(MAX_STATUS_DATA_LOSS, "first");
  stream->submit([&] { ++runs; });
  failLater(MAX_STATUS_INTERNAL, "second");
  go = true;
  go.notify_all();
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).message(), "first");
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_OK);
}

TEST_F(StreamTest, HostFunctionsAndEventsComeThroughAllTheSame) {
  class StatusTask final : public StreamTask {
   public:
    explicit StatusTask(std::atomic<int>& seen) : seen_(seen) {}
    void run(const Error* earlier) override { seen_ = earlier ? earlier->status() : MAX_STATUS_OK; }
    bool runsAfterFailure() const override { return true; }

   private:
    std::atomic<int>& seen_;
  };
  std::atomic<int> seen{-1};
  std::atomic<bool> go{false};
  const Ref<MaxEvent> event = device->createEvent(false);
  stream->submit([&] {
    while (!go) go.wait(false);
  });
  failLater(MAX_STATUS_ABORTED, "aborted");
  stream->enqueue(std::make_unique<StatusTask>(seen));
  stream->record(*event);
  go = true;
  go.notify_all();
  event->synchronize();  // a waiter is not left behind
  EXPECT_EQ(seen, MAX_STATUS_ABORTED);
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_ABORTED);
}

TEST_F(StreamTest, DeviceSynchronizeTellsTheFailureToo) {
  failLater(MAX_STATUS_ABORTED, "aborted");
  EXPECT_EQ(errorOf([&] { device->synchronize(); }).message(), "aborted");
  EXPECT_EQ(errorOf([&] { device->synchronize(); }).status(), MAX_STATUS_OK);
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_OK);
}

TEST_F(StreamTest, OtherExceptionsBecomeStatuses) {
  stream->submit([] { throw std::bad_alloc(); });
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_RESOURCE_EXHAUSTED);
  stream->submit([] { throw std::runtime_error("x"); });
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_INTERNAL);
}

TEST_F(StreamTest, TheDefaultStreamThrowsAtOnce) {
  MaxStream& inlined = device->defaultStream();
  EXPECT_EQ(errorOf([&] { inlined.submit([] { fail(MAX_STATUS_ABORTED, "now"); }); }).message(), "now");
  inlined.synchronize();
}

TEST_F(StreamTest, AFailureOfOneStreamLeavesOthersAlone) {
  const Ref<MaxStream> other = device->createStream(0);
  failLater(MAX_STATUS_ABORTED, "aborted");
  waitForFailure();
  other->submit([] {});
  other->synchronize();
  EXPECT_EQ(errorOf([&] { stream->synchronize(); }).status(), MAX_STATUS_ABORTED);
}

}  // namespace
}  // namespace max
