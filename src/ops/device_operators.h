// SPDX-License-Identifier: Apache-2.0
// The operators that run on an accelerator. All others of a model run on the host, with the CPU's library
// (operator_library.h), between copies that the planner makes.
#pragma once

#include <memory>
#include <span>

#include "device/device.h"
#include "graph/graph.h"
#include "graph/kernel_code.h"
#include "max/model.h"
#include "ops/op_kernel.h"

namespace max {

struct PlaceOptions {
  int lanes = 1;
  MaxPrecision precision = MAX_PRECISION_HIGHEST;
  const KernelCodes* stored = nullptr;
};

class DeviceOperators {
 public:
  DeviceOperators() = default;
  DeviceOperators(const DeviceOperators&) = delete;
  DeviceOperators& operator=(const DeviceOperators&) = delete;

  // The lowest precision that the device's products can be computed in, but not below the wanted one.
  virtual MaxPrecision precisionFor(const MaxDevice& device, MaxPrecision wanted) const = 0;
  // Sets Node::placed of the nodes that the device can run, whatever the shapes of a call will be, and compiles their
  // kernels, but for those that `stored` has for this chip. Without a compiler it sets none and logs why.
  virtual void place(std::span<Node* const> nodes, MaxDevice& device, const PlaceOptions& options) const = 0;
  // The kernels of a graph's placed nodes, for the device's chip.
  virtual KernelCodes kernels(const Graph& graph, const MaxDevice& device) const = 0;
  // Bytes of the modules of the nodes that are placed on a device (Node::home).
  virtual size_t codeBytes(const Graph& graph, const RefCounted* home) const = 0;
  // Whether the op kernel of a placed node reads an input in the device's memory.
  virtual bool reads(const Node& node, size_t input) const = 0;
  // A constant input as the op kernels of all its users read it; NULL = as it is.
  virtual Ref<Tensor> packed(const Node& node, size_t input) const = 0;
  // An op kernel of a placed node. It enqueues on the stream of its place, with addresses of the device, and does not
  // wait.
  virtual std::unique_ptr<OpKernel> create(const OpRequest& request) const = 0;

 protected:
  ~DeviceOperators() = default;
};

// Those of a device; NULL for the host, which has a library of its own.
const DeviceOperators* deviceOperators(const MaxDevice& device);

// The contents of a tensor in the device's memory, copied on its default stream; the tensor must stay until the stream
// is idle.
Ref<Storage> uploaded(const Tensor& tensor, MaxDevice& device);

}  // namespace max
