// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin of float32.
#include <algorithm>
#include <limits>

#include "ops/cpu/reduce.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kColumns = 1024;           // worked on side by side
constexpr int64_t kElementsPerPart = 16384;  // worth handing to a thread

int axisOf(const KernelRequest& request) {
  const int64_t axis = request.node.attributes.getInt("axis", 0);
  return static_cast<int>(axis < 0 ? axis + request.inputs[0].shape.rank() : axis);
}

class ArgKernel final : public Kernel {
 public:
  ArgKernel(const KernelRequest& request, bool least)
      : table_(reduceTable()),
        outer_(request.inputs[0].shape.product(0, axisOf(request))),
        size_(request.inputs[0].shape[axisOf(request)]),
        inner_(request.inputs[0].shape.product(axisOf(request) + 1, request.inputs[0].shape.rank())),
        least_(least),
        lastIndex_(request.node.attributes.getInt("select_last_index", 0) != 0) {}

  void run(const KernelContext& context) const override {
    if (outer_ * inner_ == 0) return;
    const int64_t parts = (inner_ + kColumns - 1) / kColumns;
    const int64_t grain = std::max<int64_t>(1, kElementsPerPart / (size_ * std::min(inner_, kColumns)));
    context.parallelFor(outer_ * parts, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) line(context, i / parts, i % parts * kColumns);
    });
  }

 private:
  void line(const KernelContext& context, int64_t outer, int64_t first) const {
    const float* x = context.in<float>(0) + outer * size_ * inner_ + first;
    int64_t* y = context.out<int64_t>() + outer * inner_ + first;
    if (inner_ == 1)
      *y = table_.argRow(x, size_, least_, lastIndex_);
    else
      table_.argColumns(x, size_, inner_, std::min(inner_ - first, kColumns), least_, lastIndex_, y);
  }

  const ReduceTable& table_;
  int64_t outer_, size_, inner_;
  bool least_, lastIndex_;
};

bool accepts(const KernelRequest& request) {
  const Operand& input = request.inputs[0];
  if (input.dtype != DType::Float32 || input.shape.rank() == 0) return false;
  const int64_t size = input.shape[axisOf(request)];
  return size > 0 && size < std::numeric_limits<int32_t>::max();
}

template <bool kLeast>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<ArgKernel>(request, kLeast);
}

constexpr Implementation kMax[] = {{"arg", accepts, create<false>}};
constexpr Implementation kMin[] = {{"arg", accepts, create<true>}};
constexpr OpKernels kRows[] = {{"", "ArgMax", kMax}, {"", "ArgMin", kMin}};

}  // namespace

std::span<const OpKernels> argKernels() { return kRows; }

}  // namespace max
