// SPDX-License-Identifier: Apache-2.0
// The operators of one target: what implements each, and what runs fused chains of them. The compiler, the planner and
// the executor work for a target through its library alone.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/device.h"
#include "graph/expression.h"
#include "max/model.h"
#include "ops/op_kernel.h"

namespace max {

class OperatorLibrary {
 public:
  OperatorLibrary(const OperatorLibrary&) = delete;
  OperatorLibrary& operator=(const OperatorLibrary&) = delete;

  std::string_view target() const { return target_; }  // "cpu", as devices name their API

  // NULL if the target has nothing for the operator.
  const OpRow* find(std::string_view domain, std::string_view op) const;

  // Makes the kernel of the first implementation that accepts the request. UNIMPLEMENTED naming node, operator and
  // dtypes if there is none.
  std::unique_ptr<OpKernel> create(const OpRequest& request) const;
  // As above, but only implementations with this name ("reference"), for tests.
  std::unique_ptr<OpKernel> create(const OpRequest& request, std::string_view implementation) const;

  // Whether create() would not take the plain reference.
  bool isFast(const OpRequest& request) const;

  // Adds a row for an operator that an extension brings; what it points at must stay. Does nothing if the operator is
  // there. Thread-safe.
  void add(const OpRow& row) const;

  // May an expression contain this node's operator, on its dtypes?
  virtual bool canFuse(const Node& node) const = 0;
  // Inputs that an expression may have at most.
  virtual size_t maxFusedInputs() const = 0;
  // The lowest precision that its products can be computed in, but not below the wanted one.
  virtual MaxPrecision precisionFor(MaxPrecision) const { return MAX_PRECISION_HIGHEST; }
  // Weights that row->prepare() packed for such a node before, kept in a folder; NULL if there are none, or if nothing
  // is kept. `constants` as for prepare(), but of any alignment.
  virtual Ref<Prepared> recallWeights(const std::string& /*folder*/, const Node&,
                                      std::span<const Tensor* const>) const {
    return nullptr;
  }
  virtual void keepWeights(const std::string& /*folder*/, const Node&, std::span<const Tensor* const>,
                           const Prepared&) const {}
  // What nodes with this expression run; NULL if it is more than the target takes.
  virtual Ref<Prepared> lower(const Expression& expression) const = 0;
  // Whether row->prepare() reads the constants of such a node wherever they lie; else they are aligned for it.
  virtual bool packsUnaligned(const Node&, std::span<const Tensor* const>) const { return false; }

 protected:
  // `families`: lists of rows; earlier ones come first where several implement the same operator.
  OperatorLibrary(std::string_view target, std::span<const std::span<const OpRow>> families);
  ~OperatorLibrary();

  // For requests that no implementation accepts; NULL if there is no way.
  virtual std::unique_ptr<OpKernel> createFallback(const OpRequest&) const { return nullptr; }

 private:
  struct Tables;

  std::string_view target_;
  std::unique_ptr<Tables> tables_;
};

// The host's. Constants are folded with it, and what an accelerator has no operator for (device_operators.h) runs with
// it. Never destroyed.
const OperatorLibrary& cpuOperators();

}  // namespace max
