// SPDX-License-Identifier: Apache-2.0
// Op kernels, which implement operators, and the rows that a target's library (operator_library.h) finds them by.
//
// An op kernel is created once per plan, for concrete shapes, and then runs many times, from many threads at once,
// without allocating. The implementations of an operator are a list, best first, with the plain reference last.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "graph/graph.h"
#include "max/device.h"
#include "max/stream.h"

namespace max {

// One input or output when a plan is made.
struct Operand {
  DType dtype = DType::Invalid;  // Invalid = omitted
  Shape shape;
  const Tensor* constant = nullptr;  // contents, if known now (weights, folded values)

  bool present() const { return dtype != DType::Invalid; }
};

// The type in which partial sums of a long matrix product are accumulated.
enum class PartialSums : uint8_t { Float32, Float64, Float16, BFloat16 };

// A session's settings for op kernels; plans are made for one set of them.
struct OpSettings {
  PartialSums partialSums = PartialSums::Float32;
  bool sortsForTopK = false;  // a full stable sort instead of selection

  friend bool operator==(const OpSettings&, const OpSettings&) = default;
};

struct OpRequest {
  const Node& node;  // attributes, prepared state
  std::span<const Operand> inputs;
  std::span<const Operand> outputs;
  int lanes = 1;  // maximum number of threads that run it
  OpSettings settings = {};

  bool has(size_t i) const { return i < inputs.size() && inputs[i].present(); }
};

// Where a model runs: what its kernels enqueue goes to this stream of the device.
struct OpPlace {
  MaxDevice* device;
  MaxStream* stream;
};

// One run. Pointers of omitted operands and of operands without elements may be NULL.
// Tensors are dense, but for OpKernel::setPitch, row-major, aligned to at least 16 bytes if the library allocated
// them, to their element size otherwise.
struct OpContext {
  const void* const* inputs;
  void* const* outputs;
  std::byte* scratch;  // scratchBytes(), 64-byte aligned
  int lanes;
  const OpPlace* place = nullptr;   // NULL = the host, outside of a model's run
  const OpPlace* source = nullptr;  // of a copy between accelerators: where its input is

  template <class T>
  const T* in(size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out(size_t i = 0) const {
    return static_cast<T*>(outputs[i]);
  }
  void parallelFor(int64_t count, int64_t grain, LoopBody body) const { max::parallelFor(lanes, count, grain, body); }
};

// Bytes of an input that become bytes of an output, unchanged.
struct CopiedPart {
  size_t input = 0;
  size_t output = 0;
  size_t inputOffset = 0;
  size_t outputOffset = 0;
  size_t bytes = 0;
  // Whether it is not one block, but some of each row of the last axis: the same of all rows of one of the two, and all
  // of the other.
  bool isOfRows = false;
};

// An operand of a kernel, by number.
struct OperandPlace {
  enum Side : uint8_t { Input, Output } side;
  size_t number;
};

class OpKernel {
 public:
  virtual ~OpKernel() = default;
  virtual void run(const OpContext& context) const = 0;
  virtual size_t scratchBytes() const { return 0; }
  // The input whose memory output 0 may reuse (same size, read before it is written); -1 = none.
  virtual int inPlaceInput() const { return -1; }
  // What it copies as one block, or some of each row. A part may lie in the memory of both already; then it is left
  // alone.
  virtual std::span<const CopiedPart> parts() const { return {}; }
  // Whether the rows of the operand's last axis may lie apart, at any multiple of the element's size.
  virtual bool takesPitch(OperandPlace) const { return false; }
  // How many bytes apart they lie, before it runs for the first time.
  virtual void setPitch(OperandPlace, size_t /*bytes*/) {}

  // Of kernels, of one that runs on an accelerator.
  virtual size_t launchCount() const { return 1; }

  std::string_view implementation;  // its name in the row, set by the library
};

// For outputs whose shapes are known only after running (kTraitDataDependent).
using DynamicFunction = std::vector<Ref<Tensor>> (*)(const Node& node, std::span<const Tensor* const> inputs);

struct Implementation {
  std::string_view name;                      // "gemm_f32", "reference"
  bool (*accepts)(const OpRequest& request);  // NULL = always
  std::unique_ptr<OpKernel> (*create)(const OpRequest& request);
};

// Operands of a float32 node, by number, that its kernels also take as bfloat16 in memory: factors of products, what is
// added to them, and results.
struct NarrowOperands {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  bool together = false;   // all of them or none: the node moves or compares elements, whatever they are
  double conversions = 0;  // of each element of input 0, where that is floats
  bool hasInput(size_t i) const { return i < 32 && (inputs >> i & 1); }
  bool hasOutput(size_t i) const { return i < 32 && (outputs >> i & 1); }
};

struct OpRow {
  std::string_view domain;
  std::string_view op;
  std::span<const Implementation> implementations;  // best first
  // Packs weights at load; NULL = nothing to prepare. `constants[i]` is NULL if input i is not constant.
  Ref<Prepared> (*prepare)(const Node& node, std::span<const Tensor* const> constants) = nullptr;
  DynamicFunction dynamic = nullptr;
  // Of a node whose weights are prepared; NULL = none.
  NarrowOperands (*narrow)(const Node& node) = nullptr;
};

// Runs one node on host tensors (constant folding, tests): infers shapes, allocates the outputs, runs.
// `inputs[i]` is NULL for omitted inputs. RESOURCE_EXHAUSTED if the kernel needs more than `maxScratch` bytes of
// scratch memory.
std::vector<Ref<Tensor>> evaluate(const Node& node, std::span<const Tensor* const> inputs,
                                  size_t maxScratch = SIZE_MAX);

}  // namespace max
