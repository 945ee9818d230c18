// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/quantization.h"

#include <algorithm>

#include "base/error.h"

namespace max::readers {

namespace {

// ONNX's number of a type; 0 = none.
DType readType(const Attributes& attributes, std::string_view name) {
  const int64_t number = attributes.getInt(name, 0);
  if (number == 0) return DType::Invalid;
  const std::optional<DType> dtype = dtypeFromOnnx(number);
  if (!dtype) invalidArgument("attribute '", name, "' is ", number, ", which is not a data type");
  return *dtype;
}

}  // namespace

Quantization::Quantization(const Attributes& attributes)
    : block(attributes.getInt("block_size", 0)),
      precision(readType(attributes, "precision")),
      output(readType(attributes, "output_dtype")),
      saturates(attributes.getInt("saturate", 1) != 0),
      axis_(attributes.getInt("axis", 1)) {
  if (block < 0) invalidArgument("attribute 'block_size' is ", block);
}

int Quantization::axis(int rank) const {
  if (axis_ < -rank || axis_ >= rank) invalidArgument("axis ", axis_, " is out of range for rank ", rank);
  return static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
}

QuantizedRange::QuantizedRange(const Attributes& attributes, DType dtype) {
  const int64_t least = isSigned(dtype) ? -128 : 0, most = least + 255;
  low = static_cast<int32_t>(std::clamp(attributes.getInt("low", least), least, most));
  high = static_cast<int32_t>(std::clamp<int64_t>(attributes.getInt("high", most), low, most));
}

GatheredBlocks::GatheredBlocks(const NodeInputs& inputs)
    : isPacked(inputs.dtype(0) == DType::UInt8),
      bits(isPacked ? inputs.attributes().getInt("bits", 4) : static_cast<int64_t>(bitsOf(inputs.dtype(0)))),
      block(inputs.attributes().getInt("block_size", 128)),
      inputs_(inputs) {
  if (isPacked && bits != 2 && bits != 4 && bits != 8) inputs.fail("numbers of ", bits, " bits");
  const bool isPower = block >= 16 && block <= (1 << 20) && (block & (block - 1)) == 0;
  if (!isPower && !(isFloat(inputs.dtype(0)) && block == 0)) inputs.fail("blocks of ", block, " numbers");
}

int GatheredBlocks::gatheredAxis() const { return inputs_.axisAttribute("gather_axis", 0, inputs_.rank(0)); }
int GatheredBlocks::quantizedAxis() const { return inputs_.axisAttribute("quantize_axis", 1, inputs_.rank(0)); }

}  // namespace max::readers
