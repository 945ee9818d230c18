// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and, of float32, Hardmax.
#include <algorithm>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/normalization.h"
#include "graph/readers/reduction.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/reduction/reduce.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;                            // worth a thread
constexpr int64_t kShortRow = 32, kFewRows = 16, kRowsTogether = 256;  // short ones become columns

class ArgOp final : public OpKernel {
 public:
  ArgOp(const Operand& input, const readers::ArgSearch& search, bool least, int lanes)
      : functions_(findArgFunctions(input.dtype)),
        bytes_(static_cast<int64_t>(sizeOf(input.dtype))),
        outer_(input.shape.product(0, search.axis)),
        size_(input.shape[search.axis]),
        inner_(input.shape.product(search.axis + 1, input.shape.rank())),
        turn_(functions_.turns[least]),
        lastIndex_(search.takesLast),
        lanes_(std::max(lanes, 1)) {}

  size_t scratchBytes() const override {
    return isShort() ? static_cast<size_t>(lanes_ * size_ * kRowsTogether * bytes_) : 0;
  }
  void run(const OpContext& context) const override {
    if (outer_ * inner_ == 0) return;
    if (isShort()) return runShortRows(context);
    const int64_t parts = (inner_ + kArgColumns - 1) / kArgColumns;
    const int64_t grain = std::max<int64_t>(1, kElementsPerPart / (size_ * std::min(inner_, kArgColumns)));
    context.parallelFor(outer_ * parts, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) line(context, i / parts, i % parts * kArgColumns);
    });
  }

 private:
  bool isShort() const { return inner_ == 1 && size_ <= kShortRow && outer_ >= kFewRows; }
  void runShortRows(const OpContext& context) const {
    const int64_t grain = std::max<int64_t>(1, kElementsPerPart / (size_ * kRowsTogether));
    context.parallelFor(ceilDiv(outer_, kRowsTogether), grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* columns = context.scratch + lane * size_ * kRowsTogether * bytes_;
      for (int64_t first = begin * kRowsTogether; first < std::min(end * kRowsTogether, outer_);
           first += kRowsTogether) {
        const int64_t rows = std::min(kRowsTogether, outer_ - first);
        const std::byte* x = context.in<std::byte>(0) + first * size_ * bytes_;
        transposeTiles(bytes_, x, size_ * bytes_, columns, rows * bytes_, rows, size_);
        functions_.columns(columns, size_, rows, rows, turn_, lastIndex_, context.out<int64_t>() + first);
      }
    });
  }

  void line(const OpContext& context, int64_t outer, int64_t first) const {
    const std::byte* x = context.in<std::byte>(0) + (outer * size_ * inner_ + first) * bytes_;
    int64_t* y = context.out<int64_t>() + outer * inner_ + first;
    if (inner_ == 1)
      *y = functions_.row(x, size_, turn_, lastIndex_);
    else
      functions_.columns(x, size_, inner_, std::min(inner_ - first, kArgColumns), turn_, lastIndex_, y);
  }

  ArgFunctions functions_;
  int64_t bytes_, outer_, size_, inner_;
  int64_t turn_;
  bool lastIndex_;
  int lanes_;
};

// Whether lines along the axis can be searched.
bool fits(const ArgFunctions& functions, const Shape& shape, int axis) {
  const int64_t size = shape[axis];
  return size > 0 && (size <= functions.longestColumn || shape.product(axis + 1, shape.rank()) == 1);
}

bool accepts(const OpRequest& request) {
  const Operand& input = request.inputs[0];
  const ArgFunctions functions = findArgFunctions(input.dtype);
  return functions.row && input.shape.rank() > 0 &&
         fits(functions, input.shape, readers::readArgSearch(*RequestInputs(request)).axis);
}

// The first greatest element becomes 1, all others 0.
class HardmaxOp final : public OpKernel {
 public:
  HardmaxOp(const Shape& shape, int axis)
      : functions_(findArgFunctions(DType::Float32)),
        size_(shape[axis]),
        inner_(shape.product(axis + 1, shape.rank())),
        outer_(shape.product(0, axis)) {}

  void run(const OpContext& context) const override {
    const int64_t grain = std::max<int64_t>(1, kElementsPerPart / std::max<int64_t>(size_ * inner_, 1));
    context.parallelFor(outer_, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i)
        line(context.in<float>(0) + i * size_ * inner_, context.out<float>() + i * size_ * inner_);
    });
  }

 private:
  void line(const float* x, float* y) const {
    int64_t best[kWidth];
    fillParts(y, size_ * inner_, 0.f);
    for (int64_t first = 0; first < inner_; first += kWidth) {
      const int64_t width = std::min(inner_ - first, kWidth);
      if (inner_ == 1)
        *best = functions_.row(x, size_, functions_.turns[0], false);
      else
        functions_.columns(x + first, size_, inner_, width, functions_.turns[0], false, best);
      for (int64_t i = 0; i < width; ++i) y[best[i] * inner_ + first + i] = 1;
    }
  }

  static constexpr int64_t kWidth = 256;
  ArgFunctions functions_;
  int64_t size_, inner_, outer_;
};

int hardmaxAxis(const OpRequest& request) {
  return readers::readAxis(request.node.attributes, -1, request.inputs[0].shape.rank());
}

bool acceptsHardmax(const OpRequest& request) {
  const Operand& input = request.inputs[0];
  return input.dtype == DType::Float32 && input.shape.rank() > 0 &&
         fits(findArgFunctions(DType::Float32), input.shape, hardmaxAxis(request));
}

std::unique_ptr<OpKernel> createHardmax(const OpRequest& request) {
  return std::make_unique<HardmaxOp>(request.inputs[0].shape, hardmaxAxis(request));
}

template <bool kLeast>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  const RequestInputs inputs(request);
  return std::make_unique<ArgOp>(request.inputs[0], readers::readArgSearch(*inputs), kLeast, request.lanes);
}

constexpr Implementation kMax[] = {{"arg", accepts, create<false>}};
constexpr Implementation kMin[] = {{"arg", accepts, create<true>}};
constexpr Implementation kHardmax[] = {{"arg", acceptsHardmax, createHardmax}};
constexpr OpRow kRows[] = {{"", "ArgMax", kMax}, {"", "ArgMin", kMin}, {"", "Hardmax", kHardmax}};

}  // namespace

std::span<const OpRow> argOps() { return kRows; }

}  // namespace max
