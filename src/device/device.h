// SPDX-License-Identifier: Apache-2.0
// The device interface. A backend (cpu, gpu) derives MaxDevice, MaxStream and MaxEvent; code outside this folder does
// not know which one it uses. device/device_registry.h opens devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "base/handle.h"
#include "base/kept_memory.h"
#include "base/ref.h"
#include "device/device_product.h"
#include "device/memory.h"
#include "device/work_graph.h"
#include "max/device.h"

struct MaxEvent;
struct MaxStream;

struct MaxDevice : max::HandleOf<MaxDevice> {
 public:
  const char* api() const { return api_; }
  const char* label() const { return label_; }
  int32_t id() const { return id_; }
  bool isHost() const { return isHost_; }
  // "cpu:0", "cuda:1": the device's name in messages.
  std::string displayName() const;

  virtual const char* name() const = 0;
  virtual const char* architectureName() const = 0;
  virtual bool isCompatible() const = 0;
  virtual bool isVirtual() const { return false; }  // declared, to compile for it: nothing runs there
  virtual bool canAccess(const MaxDevice& peer) const = 0;
  virtual void enablePeerAccess(const MaxDevice& peer) = 0;
  virtual int64_t attribute(MaxDeviceAttribute attribute) const = 0;
  virtual int64_t driverVersion() const = 0;
  virtual max::MemoryInfo memoryInfo() const = 0;
  // All fields except structSize.
  virtual MaxDeviceStats stats() const = 0;

  // Allocates memory in the order of `stream`; the last reference frees it in stream order.
  virtual max::Ref<max::Storage> allocate(size_t bytes, const max::AllocationOptions& options, MaxStream& stream) = 0;
  virtual void* allocateHost(size_t bytes) = 0;
  virtual void freeHost(void* pointer) = 0;
  virtual void trim() = 0;

  virtual MaxStream& defaultStream() = 0;
  virtual max::Ref<MaxStream> createStream(int32_t priority) = 0;
  virtual max::Ref<MaxStream> wrapStream(void* native) = 0;
  virtual max::Ref<MaxEvent> createEvent(bool timing) = 0;
  virtual void synchronize() = 0;
  // Records what `queue` puts on the stream that it is given: kernels, copies between memory that stays, fills.
  // UNIMPLEMENTED if the driver cannot.
  virtual max::Ref<max::WorkGraph> record(max::FunctionRef<void(MaxStream&)> queue);

  // The product by the library of the device's vendor; NULL = there is none, or it lacks the product.
  virtual max::Ref<max::DeviceProduct> product(const max::DeviceProductShape&) { return nullptr; }
  // Makes the library load its code before the first product of these factors.
  virtual void loadProducts(max::DType, MaxPrecision) {}

  // Names what this thread calls until the end of the range, for the vendor's profiler. Ranges nest.
  virtual void beginRange(const char*) {}
  virtual void endRange() {}

  // Memory to free when the device is trimmed.
  max::KeptMemoryList& kept() { return kept_; }

 protected:
  // The strings are static.
  MaxDevice(const char* api, const char* label, int32_t id, bool isHost)
      : api_(api), label_(label), id_(id), isHost_(isHost) {}

 private:
  const char* api_;
  const char* label_;
  int32_t id_;
  bool isHost_;
  max::KeptMemoryList kept_;
};
