// SPDX-License-Identifier: Apache-2.0
// The operators of accelerators of all APIs: kernels in CUDA's dialect, compiled at load.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/module.h"
#include "ops/device_operators.h"

namespace max {

// What a node runs on an accelerator. Its source fixes the types of the operands; their shapes are arguments.
class Placed : public Prepared {
 public:
  // `kernels`: those of the source that run, static texts; the first one names the implementation.
  Placed(std::string source, std::initializer_list<const char*> kernels)
      : source_(std::move(source)), kernels_(kernels) {}
  Placed(std::string source, const char* kernel) : Placed(std::move(source), {kernel}) {}

  virtual std::unique_ptr<OpKernel> create(const OpRequest& request) const = 0;
  // Whether the kernel reads the input's contents, rather than create() its shape or its constant.
  virtual bool reads(size_t) const { return true; }

  // A constant as the kernel reads it; NULL = as it is. All nodes that read the constant want it so.
  virtual Ref<Tensor> packed(size_t, const Tensor&) const { return nullptr; }

  const std::string& source() const { return source_; }
  const std::vector<const char*>& kernels() const { return kernels_; }
  // `key`: the hash of what the module is compiled from.
  void setModule(Ref<MaxModule> module, std::string key) {
    module_ = std::move(module);
    key_ = std::move(key);
  }
  // Of products of float32.
  void setPrecision(MaxPrecision precision) { precision_ = precision; }
  MaxPrecision precision() const { return precision_; }
  const std::string& key() const { return key_; }
  const Ref<MaxModule>& module() const { return module_; }

 private:
  std::string source_;
  std::vector<const char*> kernels_;
  Ref<MaxModule> module_;
  MaxPrecision precision_ = MAX_PRECISION_HIGHEST;
  std::string key_;
};

// One whose op kernel depends on its request alone. `contents`: a bit for each input that kernels read.
using CreateFunction = std::unique_ptr<OpKernel> (*)(const Placed& placed, const OpRequest& request);
Ref<Placed> placedAs(std::string source, std::initializer_list<const char*> kernels, CreateFunction create,
                     uint64_t contents = ~uint64_t{0});

// Whether create() will know the input's contents, or that it is omitted.
bool isKnownToPlan(const Node& node, size_t input);

// How an operator gets onto an accelerator: NULL for a node that has to run on the host.
struct PlaceRow {
  std::string_view domain;
  std::string_view op;
  Ref<Placed> (*place)(const Node& node);
};

// X(function): a function std::span<const PlaceRow> function().
#define MAX_FOR_EACH_GPU_FAMILY(X) \
  X(gpuElementwise)                \
  X(gpuMovement)                   \
  X(gpuReductions)                 \
  X(gpuRows)                       \
  X(gpuProducts)                   \
  X(gpuConvolutions)               \
  X(gpuTransposed)                 \
  X(gpuPools)                      \
  X(gpuResize)                     \
  X(gpuIndexing)                   \
  X(gpuGenerators)                 \
  X(gpuLines)                      \
  X(gpuQuantization)               \
  X(gpuIntegerProducts)            \
  X(gpuIntegerConvolutions)        \
  X(gpuPackedProducts)             \
  X(gpuRecurrent)                  \
  X(gpuImages)                     \
  X(gpuElimination)                \
  X(gpuSignals)                    \
  X(gpuStates)                     \
  X(gpuRandom)                     \
  X(gpuPad)                        \
  X(gpuAttention)

#define MAX_DECLARE_GPU_FAMILY(function) std::span<const PlaceRow> function();
MAX_FOR_EACH_GPU_FAMILY(MAX_DECLARE_GPU_FAMILY)
#undef MAX_DECLARE_GPU_FAMILY

}  // namespace max
