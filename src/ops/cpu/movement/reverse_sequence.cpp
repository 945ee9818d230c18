// SPDX-License-Identifier: Apache-2.0
// ReverseSequence.
#include <cstring>

#include "base/interrupt_point.h"
#include "graph/readers/movement.h"
#include "ops/cpu/movement/movement.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

// The first sequence_lens[b] steps of every batch item are reversed, the rest stays.
class ReverseSequenceOp final : public OpKernel {
 public:
  explicit ReverseSequenceOp(const OpRequest& request)
      : node_(request.node), isBatchFirst_(readers::readReversal(*RequestInputs(request)).batchAxis == 0) {
    const Shape& shape = request.inputs[0].shape;
    batch_ = shape[isBatchFirst_ ? 0 : 1];
    steps_ = shape[isBatchFirst_ ? 1 : 0];
    bytes_ = shape.product(2, shape.rank()) * static_cast<int64_t>(sizeOf(request.inputs[0].dtype));
  }

  void run(const OpContext& context) const override {
    const int64_t* lengths = context.in<int64_t>(1);
    WorkCounter work;
    for (int64_t item = 0; item < batch_; ++item, work.pass(8)) {
      const int64_t length = lengths[item];
      require(length >= 0 && length <= steps_, MAX_STATUS_OUT_OF_RANGE, node_.description(), ": sequence length ",
              length, " is not in [0, ", steps_, "]");
      for (int64_t step = 0; step < steps_; ++step, work.pass(8 + bytes_ / 4))
        std::memcpy(context.out<std::byte>() + offset(item, step),
                    context.in<std::byte>(0) + offset(item, step < length ? length - 1 - step : step),
                    static_cast<size_t>(bytes_));
    }
  }

 private:
  int64_t offset(int64_t item, int64_t step) const {
    return (isBatchFirst_ ? item * steps_ + step : step * batch_ + item) * bytes_;
  }
  const Node& node_;
  bool isBatchFirst_;
  int64_t batch_, steps_, bytes_;
};

constexpr Implementation kReverseSequence[] = {{"copy", hasByteElements, make<ReverseSequenceOp>}};

const OpRow kRows[] = {
    {"", "ReverseSequence", kReverseSequence},
};

}  // namespace

std::span<const OpRow> sequenceOps() { return kRows; }

}  // namespace max
