// SPDX-License-Identifier: Apache-2.0
// Pad: constant, edge, reflect, wrap; negative pads crop.
#include <cstring>
#include <memory>
#include <optional>

#include "base/interrupt_point.h"
#include "graph/readers/movement.h"
#include "ops/cpu/movement/indexed_copy.h"
#include "ops/cpu/movement/movement.h"
#include "ops/cpu/narrow.h"
#include "ops/families.h"

namespace max {

namespace {

using readers::PadMode;

// Where index i of the endlessly padded axis comes from.
int64_t sourceIndex(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  if (mode == PadMode::Constant || size == 0) return IndexedCopy::kFill;
  if (mode == PadMode::Edge) return i < 0 ? 0 : size - 1;
  const int64_t period = mode == PadMode::Wrap ? size : 2 * (size - 1);
  if (period == 0) return 0;
  const int64_t phase = (i % period + period) % period;
  return phase < size ? phase : period - phase;
}

IndexTables padTables(const MovementCall& call) {
  const Shape &in = call.in(), &out = call.out();
  const readers::Padding padding = readers::readPadding(call.read()).value();
  IndexTables tables(static_cast<size_t>(in.rank()));
  WorkCounter work;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t before = padding.before[i].value(), after = padding.after[i].value();
    if (in[axis] + before + after != out[axis])
      call.fail(MAX_STATUS_INVALID_ARGUMENT, "pads ", before, " and ", after, " do not turn ", in, " into ", out);
    for (int64_t k = 0; k < out[axis]; ++k, work.pass(4))
      tables[i].push_back(sourceIndex(padding.mode, k - before, in[axis]));
  }
  return tables;
}

class PadOp final : public OpKernel {
 public:
  explicit PadOp(const OpRequest& request)
      : saved_(request), bytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))), hasValue_(request.has(2)) {
    for (const size_t i : {size_t{1}, size_t{3}})
      if (request.has(i) && !request.inputs[i].constant) return;
    copy_.emplace(bytes_, request.inputs[0].shape, padTables(MovementCall(request, nullptr)));
  }

  void run(const OpContext& context) const override {
    if (copy_) return run(*copy_, context);
    const OpRequest request = saved_.request();
    run(IndexedCopy(bytes_, request.inputs[0].shape, padTables(MovementCall(request, context.inputs))), context);
  }

 private:
  void run(const IndexedCopy& copy, const OpContext& context) const {
    static constexpr std::byte kZero[16] = {};
    copy.run(context.in<std::byte>(0), context.out<std::byte>(), hasValue_ ? context.in<std::byte>(2) : kZero,
             context.lanes);
  }
  SavedRequest saved_;
  int64_t bytes_;
  bool hasValue_;
  std::optional<IndexedCopy> copy_;
};

// The oracle: every output element finds its own source.
class PlainPadOp final : public OpKernel {
 public:
  explicit PlainPadOp(const OpRequest& request) : saved_(request) {}

  void run(const OpContext& context) const override {
    const OpRequest request = saved_.request();
    const MovementCall call(request, context.inputs);
    const IndexTables tables = padTables(call);
    const size_t bytes = sizeOf(request.inputs[0].dtype);
    const Shape dense = contiguousStrides(call.in());
    const std::byte zero[16] = {};
    const std::byte* fill = call.has(2) ? context.in<std::byte>(2) : zero;
    WorkCounter work;
    for (int64_t k = 0; k < call.out().count(); ++k, work.pass(16)) {
      int64_t offset = 0, rest = k;
      for (int axis = call.out().rank() - 1; axis >= 0; --axis) {
        const int64_t index = tables[static_cast<size_t>(axis)][static_cast<size_t>(rest % call.out()[axis])];
        rest /= call.out()[axis];
        offset = index == IndexedCopy::kFill || offset < 0 ? -1 : offset + index * dense[axis];
      }
      std::memcpy(context.out<std::byte>() + static_cast<size_t>(k) * bytes,
                  offset < 0 ? fill : context.in<std::byte>(0) + static_cast<size_t>(offset) * bytes, bytes);
    }
  }

 private:
  SavedRequest saved_;
};

bool acceptsPad(const OpRequest& request) {
  return hasByteElements(request) && request.outputs[0].dtype == request.inputs[0].dtype;
}

constexpr Implementation kPad[] = {
    {"indexed_copy", acceptsPad,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<PadOp>(request); }},
    {"reference", acceptsPad,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<PlainPadOp>(request); }},
};

// Zero is all that looks alike in both types.
NarrowOperands narrowPad(const Node& node) {
  const Value* fill = node.inputs.size() > 2 ? node.inputs[2] : nullptr;
  if (node.inputs[0]->type.dtype != DType::Float32) return {};
  const bool isZero = !fill || (fill->constant && fill->constant->count() == 1 && fill->constant->as<float>()[0] == 0);
  return isZero ? narrowTogether(node, 1) : NarrowOperands();
}

const OpRow kRows[] = {{"", "Pad", kPad, nullptr, nullptr, narrowPad}};

}  // namespace

std::span<const OpRow> padOps() { return kRows; }

}  // namespace max
