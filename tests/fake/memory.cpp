// SPDX-License-Identifier: Apache-2.0
// Memory of the devices: one file in memory, mapped twice. The first mapping, at the addresses that the driver gives
// out, cannot be touched; the second one is the fake's own.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake.h"

namespace fake {

namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kHostPage = 4096;
constexpr uint64_t kPoisonLimit = 1 << 20;
constexpr unsigned char kPoison = 0xa5;

struct AddressSpace {
  uint64_t base = 0;
  uint64_t size = 0;
  unsigned char* view = nullptr;
  int kernels = 0;  // that may touch it now
  std::mutex mutex;
};

AddressSpace& addressSpace() {
  static AddressSpace* one = new AddressSpace;
  return *one;
}

void* mapOrDie(uint64_t size, int protection, int file) {
  void* mapped = mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) return mapped;
  perror("fake GPU: mmap");
  exit(1);
}

uint64_t alignUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

void mapMemory(AddressSpace& space, uint64_t size) {
  const int file = memfd_create("fake-gpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    perror("fake GPU: memory");
    exit(1);
  }
  space.size = size;
  space.base = reinterpret_cast<uint64_t>(mapOrDie(size, PROT_NONE, file));
  space.view = static_cast<unsigned char*>(mapOrDie(size, PROT_READ | PROT_WRITE, file));
  close(file);
}

std::shared_ptr<Stream> makeLegacyStream(Device& device) {
  auto stream = std::make_shared<Stream>();
  stream->device = &device;
  stream->actor = state().races.addActor();
  stream->isLegacy = true;
  return stream;
}

// Where the range that contains an address begins; end() = in none.
std::map<uint64_t, uint64_t>::const_iterator findRange(const std::map<uint64_t, uint64_t>& ranges, uint64_t address,
                                                       uint64_t bytes) {
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin()) return ranges.end();
  --found;
  const uint64_t offset = address - found->first;
  return offset < found->second && bytes <= found->second - offset ? found : ranges.end();
}

void addFree(Device& device, uint64_t address, uint64_t bytes) {
  device.used -= bytes;
  auto next = device.free.lower_bound(address);
  if (next != device.free.end() && address + bytes == next->first) {
    bytes += next->second;
    next = device.free.erase(next);
  }
  if (next != device.free.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  device.free.emplace(address, bytes);
}

// Whether no work uses the range any more, as far as the host can know. The work of a lost device is over.
bool forgetOrComplain(uint64_t address, uint64_t bytes) {
  std::string text;
  if (state().races.forget(address, bytes, &text)) return true;
  const bool isLost = std::any_of(state().devices.begin(), state().devices.end(),
                                  [](const auto& device) { return device->lost != kOk; });
  if (!isLost) violation("memory is freed while in use: " + text);
  return false;
}

}  // namespace

void initialize() {
  State& s = state();
  if (s.isInitialized) return;
  s.isInitialized = true;
  const auto count = static_cast<uint64_t>(settings().deviceCount);
  if (count == 0) return;
  AddressSpace& space = addressSpace();
  mapMemory(space, count * settings().memoryBytes);
  for (uint64_t i = 0; i < count; ++i) {
    auto device = std::make_unique<Device>();
    device->id = static_cast<int>(i);
    device->size = settings().memoryBytes;
    device->base = space.base + i * device->size;
    device->free.emplace(device->base, device->size);
    device->legacy = makeLegacyStream(*device);
    s.devices.push_back(std::move(device));
  }
}

Device* deviceOfAddress(uint64_t address) {
  const AddressSpace& space = addressSpace();
  if (address < space.base || address - space.base >= space.size) return nullptr;
  return findDevice(static_cast<int>((address - space.base) / settings().memoryBytes));
}

unsigned char* hostView(uint64_t address) {
  const AddressSpace& space = addressSpace();
  if (deviceOfAddress(address)) return space.view + (address - space.base);
  return reinterpret_cast<unsigned char*>(address);
}

bool isPinned(uint64_t address, uint64_t bytes) {
  const State& s = state();
  return findRange(s.hostMemory, address, bytes) != s.hostMemory.end() ||
         findRange(s.registeredMemory, address, bytes) != s.registeredMemory.end();
}

bool isKnownRange(uint64_t address, uint64_t bytes) {
  const Device* device = deviceOfAddress(address);
  if (!device) return isPinned(address, bytes);
  return findRange(device->allocated, address, bytes) != device->allocated.end();
}

uint64_t knownBytes(uint64_t address) {
  constexpr uint64_t kUnit = 512;
  const State& s = state();
  const Device* device = deviceOfAddress(address);
  for (const auto* ranges : {device ? &device->allocated : &s.hostMemory, &s.registeredMemory})
    if (const auto found = findRange(*ranges, address, 1); found != ranges->end())
      return std::min(found->first + found->second, address / kUnit * kUnit + kUnit) - address;
  return 0;
}

int allocateDevice(Device& device, uint64_t bytes, uint64_t* address) {
  ++state().counts[FAKE_GPU_ALLOCATIONS];
  if (bytes == 0) return kInvalidValue;
  if (bytes > device.size) return kOutOfMemory;
  // What is larger than half a piece has pieces of its own.
  const uint64_t unit = bytes > settings().granule / 2 ? settings().granule : kAlignment;
  const uint64_t size = (bytes + unit - 1) / unit * unit;
  const auto placeIn = [&](const auto& range) { return device.base + alignUp(range.first - device.base, unit); };
  const auto found = std::find_if(device.free.begin(), device.free.end(), [&](const auto& range) {
    const uint64_t skipped = placeIn(range) - range.first;
    return range.second >= skipped && range.second - skipped >= size;
  });
  if (found == device.free.end()) return kOutOfMemory;
  const uint64_t begin = placeIn(*found), end = found->first + found->second;
  const uint64_t first = found->first;
  device.free.erase(found);
  if (begin > first) device.free.emplace(first, begin - first);
  if (end > begin + size) device.free.emplace(begin + size, end - begin - size);
  device.used += size;
  device.allocated.emplace(begin, size);
  memset(hostView(begin), kPoison, std::min(size, kPoisonLimit));
  *address = begin;
  return kOk;
}

uint64_t takenMemory(const Device& device) {
  const uint64_t granule = settings().granule;
  uint64_t taken = 0, counted = 0;  // pieces before `counted` are
  for (const auto& [address, bytes] : device.allocated) {
    const uint64_t first = std::max((address - device.base) / granule, counted);
    const uint64_t end = (address - device.base + bytes + granule - 1) / granule;
    if (end > first) taken += end - first;
    counted = std::max(counted, end);
  }
  return std::min(taken * granule, device.size);
}

int freeDevice(uint64_t address) {
  Device* device = deviceOfAddress(address);
  const auto found = device ? device->allocated.find(address) : decltype(device->allocated.find(0)){};
  if (!device || found == device->allocated.end()) {
    violation("memory is freed that is not allocated");
    return kInvalidValue;
  }
  const uint64_t bytes = found->second;
  forgetOrComplain(address, bytes);
  device->allocated.erase(found);
  addFree(*device, address, bytes);
  return kOk;
}

// The range cannot be named from now on, and is given out again once the stream has come so far.
int freeDeviceAsync(const std::shared_ptr<Stream>& stream, uint64_t address) {
  Device* device = deviceOfAddress(address);
  if (!device || !device->allocated.contains(address)) {
    violation("memory is freed that is not allocated");
    return kInvalidValue;
  }
  const uint64_t bytes = device->allocated[address];
  const auto giveBack = [device, address, bytes] {
    const Lock lock(state().mutex);
    std::string text;
    static_cast<void>(state().races.forget(address, bytes, &text));  // was checked when it was enqueued
    addFree(*device, address, bytes);
    return static_cast<int>(kOk);
  };
  const int result = enqueue(stream, giveBack, {{address, bytes, true}});
  device->allocated.erase(address);
  return result;
}

// Behind others of the driver's own in the same page.
int allocateHost(uint64_t bytes, void** pointer) {
  ++state().counts[FAKE_GPU_ALLOCATIONS];
  if (bytes == 0) return kInvalidValue;
  void* page = nullptr;
  if (bytes > (uint64_t{1} << 40) || posix_memalign(&page, kHostPage, bytes + kAlignment) != 0) return kOutOfMemory;
  *pointer = static_cast<char*>(page) + kAlignment;
  state().hostMemory.emplace(reinterpret_cast<uint64_t>(*pointer), bytes);
  return kOk;
}

int freeHost(void* pointer) {
  const auto found = state().hostMemory.find(reinterpret_cast<uint64_t>(pointer));
  if (found == state().hostMemory.end()) {
    violation("host memory is freed that is not allocated");
    return kInvalidValue;
  }
  // A stream that is in the middle of a copy may still write there.
  if (forgetOrComplain(found->first, found->second))
    free(static_cast<char*>(pointer) - kAlignment);
  else
    state().abandonedMemory.push_back(pointer);
  state().hostMemory.erase(found);
  return kOk;
}

int registerHost(void* pointer, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!pointer || bytes == 0) return kInvalidValue;
  if (isPinned(address, 1)) return kHostMemoryAlreadyRegistered;
  state().registeredMemory.emplace(address, bytes);
  return kOk;
}

int unregisterHost(void* pointer) {
  const auto found = state().registeredMemory.find(reinterpret_cast<uint64_t>(pointer));
  if (found == state().registeredMemory.end()) return kHostMemoryNotRegistered;
  forgetOrComplain(found->first, found->second);
  state().registeredMemory.erase(found);
  return kOk;
}

KernelAccess::KernelAccess() {
  AddressSpace& space = addressSpace();
  const std::lock_guard lock(space.mutex);
  if (space.kernels++ == 0) mprotect(reinterpret_cast<void*>(space.base), space.size, PROT_READ | PROT_WRITE);
}

KernelAccess::~KernelAccess() {
  AddressSpace& space = addressSpace();
  const std::lock_guard lock(space.mutex);
  if (--space.kernels == 0) mprotect(reinterpret_cast<void*>(space.base), space.size, PROT_NONE);
}

}  // namespace fake
