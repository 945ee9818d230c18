// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "fake.h"

namespace fake {

namespace {

thread_local Device* current = nullptr;

uint64_t fromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text ? strtoull(text, nullptr, 10) : otherwise;
}

struct Attribute {
  int number;
  int value;
};

// Of a made-up device.
constexpr Attribute kAttributes[] = {
    {1, 1024},   {2, 1024},      {3, 1024},     {4, 64},       {5, 2147483647}, {6, 65535}, {7, 65535}, {8, 49152},
    {9, 65536},  {10, 32},       {11, 1 << 30}, {12, 65536},   {13, 1500000},   {14, 512},  {15, 1},    {16, 4},
    {17, 0},     {18, 0},        {19, 1},       {20, 0},       {31, 1},         {32, 0},    {33, 1},    {34, 0},
    {35, 0},     {36, 1000000},  {37, 4096},    {38, 4 << 20}, {39, 2048},      {40, 2},    {41, 1},    {50, 0},
    {75, 9},     {76, 0},        {78, 1},       {81, 233472},  {82, 65536},     {83, 1},    {84, 0},    {85, 0},
    {88, 0},     {89, 0},        {91, 1},       {95, 1},       {97, 232448},    {98, 0},    {99, 1},    {100, 0},
    {108, 4096}, {109, 1 << 20}, {111, 1024},   {115, 1},      {120, 1},
};

// What a context had when it went; returns how much that was.
size_t dropObjects(Device& device) {
  State& s = state();
  const auto isHere = [&](const auto& entry) { return entry.second->device == &device; };
  for (const auto& [pointer, stream] : s.streams) {
    if (stream->device != &device) continue;
    stream->isClosed = true;
    stream->wake.notify_one();
    if (!stream->isStarted) s.races.removeActor(stream->actor);
  }
  size_t count = std::erase_if(s.streams, isHere) + std::erase_if(s.events, isHere);
  while (!device.allocated.empty()) {
    static_cast<void>(freeDevice(device.allocated.begin()->first));
    ++count;
  }
  return count;
}

}  // namespace

const Settings& settings() {
  static const Settings one = {
      static_cast<int>(std::min<uint64_t>(fromEnvironment("FAKE_GPU_COUNT", 2), 16)),
      std::max<uint64_t>(fromEnvironment("FAKE_GPU_MEMORY", 256u << 20) & ~uint64_t{0x1fffff}, 2 << 20),
      std::max<uint64_t>(fromEnvironment("FAKE_GPU_GRANULE", 2u << 20), 256),
      static_cast<uint32_t>(fromEnvironment("FAKE_GPU_SEED", 1)),
      static_cast<uint32_t>(fromEnvironment("FAKE_GPU_DELAY", 200)),
      fromEnvironment("FAKE_GPU_PEER", 1) != 0,
      static_cast<int>(fromEnvironment("FAKE_GPU_CUDA", 12040)),
      fromEnvironment("FAKE_GPU_LANES", 64) == 32 ? 32u : 64u,
  };
  return one;
}

State& state() {
  static State* one = new State;
  return *one;
}

Device* findDevice(int id) {
  const auto& devices = state().devices;
  return id >= 0 && static_cast<size_t>(id) < devices.size() ? devices[static_cast<size_t>(id)].get() : nullptr;
}

Device* currentDevice() {
  if (!current && kPersonality.startsByItself) {
    const Lock lock(state().mutex);
    current = findDevice(0);
  }
  return current;
}

void setCurrentDevice(Device* device) { current = device; }

int releaseContext(int id) {
  Lock lock(state().mutex);
  Device* device = findDevice(id);
  if (!device || device->contextReferences == 0) {
    violation("a context is released that is not held");
    return kInvalidContext;
  }
  if (--device->contextReferences > 0) return kOk;
  static_cast<void>(synchronize(lock, *device));
  if (device->contextReferences > 0) return kOk;  // retained again meanwhile
  const size_t count = dropObjects(*device);
  if (count > 0 && !device->lost) violation("a context goes with " + std::to_string(count) + " objects in it");
  device->lost = kOk;
  device->peers.clear();
  return kOk;
}

int enablePeer(Device* peer) {
  const Lock lock(state().mutex);
  Device* device = currentDevice();
  if (!peer || peer == device) return kInvalidDevice;
  if (!settings().peerAccess) return kPeerAccessUnsupported;
  return device->peers.insert(peer->id).second ? kOk : kPeerAccessAlreadyEnabled;
}

int memoryInfo(size_t* free, size_t* total) {
  const Device* device = currentDevice();
  const Lock lock(state().mutex);
  *free = device->size - takenMemory(*device);
  *total = device->size;
  return kOk;
}

int deviceAttribute(int number, int* value) {
  const auto* found = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                   [&](const Attribute& attribute) { return attribute.number == number; });
  if (found == std::end(kAttributes)) return kInvalidValue;
  *value = found->value;
  return kOk;
}

int copyText(const std::string& text, char* target, int size) {
  if (!target || size <= 0) return kInvalidValue;
  snprintf(target, static_cast<size_t>(size), "%s", text.c_str());
  return kOk;
}

}  // namespace fake
