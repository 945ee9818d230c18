// SPDX-License-Identifier: Apache-2.0
// Strided copies and fills on streams of accelerators.
#include <algorithm>
#include <cstring>

#include "device/gpu/gpu_device.h"
#include "device/gpu/gpu_stream.h"
#include "device/gpu/strided_kernel.h"
#include "device/gpu/strided_plan.h"

namespace max::gpu {

namespace {

constexpr int kUnifiedMemory = 4;  // CU_MEMORYTYPE_UNIFIED: the driver determines the location of an address
constexpr int kCopyDefault = 4;    // hipMemcpyDefault: likewise

// What takes more copies of the driver is for the kernel.
constexpr uint64_t kFewCalls = 3;
constexpr unsigned kThreads = 256;      // of a block
constexpr uint64_t kMostBlocks = 4096;  // enough for any device; each thread copies several units if need be

void copyBlock(const Context& context, const StridedPlan& plan, char* target, const char* source, void* stream) {
  const Driver& driver = context.driver();
  if (plan.height == 1) return context.call(driver.copyDeviceToDevice, target, source, plan.width, stream);
  if (driver.copy2d)
    return context.call(driver.copy2d, target, plan.targetPitch, source, plan.sourcePitch, plan.width, plan.height,
                        kCopyDefault, stream);
  Copy2d copy{};
  copy.sourceMemoryType = copy.targetMemoryType = kUnifiedMemory;
  copy.sourceDevice = source;
  copy.sourcePitch = plan.sourcePitch;
  copy.targetDevice = target;
  copy.targetPitch = plan.targetPitch;
  copy.width = plan.width;
  copy.height = plan.height;
  context.call(driver.copyRectangle, &copy, stream);
}

template <class T>
T valueOf(const FillPattern& pattern) {
  T value;
  std::memcpy(&value, pattern.bytes, sizeof value);
  return value;
}

// The shortest pattern with the same result.
FillPattern shortened(FillPattern pattern) {
  while (pattern.size > 1 && std::memcmp(pattern.bytes, pattern.bytes + pattern.size / 2, pattern.size / 2) == 0)
    pattern.size /= 2;
  return pattern;
}

}  // namespace

void GpuStream::copyStrided(const StridedCopy& copy) {
  check();
  if (copy.shape.count() == 0) return;
  const StridedPlan plan = StridedPlan::of(copy);
  auto* target = static_cast<char*>(copy.target.data);
  const auto* source = static_cast<const char*>(copy.source.data);
  queue(copy.target.owner, copy.source.owner, [&] {
    if (plan.calls() > kFewCalls && copyByKernel(plan, target, source)) return;
    plan.forEach([&](int64_t targetOffset, int64_t sourceOffset) {
      copyBlock(context(), plan, target + targetOffset, source + sourceOffset, native_->handle());
    });
  });
}

// Whether the device has the kernel.
bool GpuStream::copyByKernel(const StridedPlan& plan, char* target, const char* source) {
  const Ref<StridedKernel> kernel = static_cast<GpuDevice&>(device()).stridedKernel();
  if (!kernel) return false;
  target += plan.targetStart;
  source += plan.sourceStart;
  StridedLayout layout = StridedLayout::of(plan, target, source);
  void* arguments[] = {&target, &source, &layout};
  const uint64_t blocks = std::min<uint64_t>((layout.count + kThreads - 1) / kThreads, kMostBlocks);
  context().call(context().driver().launch, kernel->function(), static_cast<unsigned>(blocks), 1u, 1u, kThreads, 1u, 1u,
                 0u, native_->handle(), static_cast<void**>(arguments), static_cast<void**>(nullptr));
  return true;
}

void GpuStream::fill(MemoryRange target, const FillPattern& given, size_t count) {
  check();
  if (count == 0) return;
  const FillPattern pattern = shortened(given);
  queue(target.owner, nullptr, [&] { fillElements(target.data, pattern, count * (given.size / pattern.size)); });
}

// Drivers fill aligned elements of up to four bytes.
void GpuStream::fillElements(void* target, const FillPattern& pattern, size_t count) {
  const Driver& driver = context().driver();
  const bool isAligned = reinterpret_cast<uintptr_t>(target) % pattern.size == 0;
  if (pattern.size == 1)
    context().call(driver.fill8, target, pattern.bytes[0], count, native_->handle());
  else if (pattern.size == 2 && isAligned)
    context().call(driver.fill16, target, valueOf<unsigned short>(pattern), count, native_->handle());
  else if (pattern.size == 4 && isAligned)
    context().call(driver.fill32, target, valueOf<unsigned>(pattern), count, native_->handle());
  else
    repeatPattern(static_cast<char*>(target), pattern, count);
}

// The first element byte by byte; then the filled part is copied after itself.
void GpuStream::repeatPattern(char* target, const FillPattern& pattern, size_t count) {
  const Driver& driver = context().driver();
  for (size_t i = 0; i < pattern.size; ++i)
    context().call(driver.fill8, target + i, pattern.bytes[i], size_t{1}, native_->handle());
  const size_t total = count * pattern.size;
  for (size_t done = pattern.size; done < total;) {
    const size_t step = std::min(done, total - done);
    context().call(driver.copyDeviceToDevice, target + done, target, step, native_->handle());
    done += step;
  }
}

}  // namespace max::gpu
