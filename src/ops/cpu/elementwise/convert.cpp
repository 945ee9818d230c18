// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike of types that elementwise programs do not compute with (float8, float6, float4, packed
// integers), and BitCast.
#include <algorithm>
#include <cstring>

#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "graph/readers/elementwise.h"
#include "ops/families.h"

namespace max {

namespace {

class ConvertOp final : public OpKernel {
 public:
  explicit ConvertOp(const OpRequest& request)
      : from_(request.inputs[0].dtype),
        to_(request.outputs[0].dtype),
        count_(request.outputs[0].shape.count()),
        rules_(readers::readSmallFloatRules(request.node.attributes)) {}

  static bool accepts(const OpRequest& request) {
    return isNumeric(request.inputs[0].dtype) && isNumeric(request.outputs[0].dtype);
  }

  void run(const OpContext& context) const override {
    const auto convert = [&]<class D>(D) {
      // Work is split by tiles, not elements: each begins at a whole byte.
      context.parallelFor((count_ + kNumberTile - 1) / kNumberTile, 16, [&](int64_t begin, int64_t end, int) {
        D tile[kNumberTile];
        for (int64_t i = begin * kNumberTile; i < std::min(count_, end * kNumberTile); i += kNumberTile) {
          const int64_t part = std::min(kNumberTile, count_ - i);
          loadNumbers(from_, context.inputs[0], i, part, tile);
          storeNumbers(to_, context.outputs[0], i, part, tile, rules_);
        }
      });
    };
    if (isFloat(from_))
      convert(double{});
    else if (from_ == DType::UInt64)
      convert(uint64_t{});
    else
      convert(int64_t{});
  }

 private:
  DType from_, to_;
  int64_t count_;
  SmallFloatRules rules_;
};

// Same bytes, different type.
class BitCastOp final : public OpKernel {
 public:
  explicit BitCastOp(const OpRequest& request)
      : bytes_(bytesFor(request.inputs[0].dtype, request.inputs[0].shape.count())) {}
  void run(const OpContext& context) const override {
    if (bytes_ > 0 && context.outputs[0] != context.inputs[0]) copyBytes(context.outputs[0], context.inputs[0], bytes_);
  }
  int inPlaceInput() const override { return 0; }

 private:
  size_t bytes_;
};

template <class K, bool (*Accepts)(const OpRequest&) = nullptr>
inline constexpr Implementation kConvert[] = {
    {"convert", Accepts,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

const OpRow kRows[] = {
    {"", "Cast", kConvert<ConvertOp, ConvertOp::accepts>},
    {"", "CastLike", kConvert<ConvertOp, ConvertOp::accepts>},
    {"", "BitCast", kConvert<BitCastOp>},
};

}  // namespace

std::span<const OpRow> convertOps() { return kRows; }

}  // namespace max
