// SPDX-License-Identifier: Apache-2.0
// Kernels of products and of what is computed as one: tiles of results, multiplied by max_mma.h.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "max/model.h"

namespace max {

// The types Element, Sum and Kind of a product, and the device functions that its kernels share. They come after
// kernelFunctions(), if that is there. kFloat32Kind is a macro that fixes the precision of float32.
std::string productFunctions(DType dtype);
std::string productFunctions(std::string_view element, std::string_view sum, std::string_view kind);
inline constexpr const char* kFloat32Kind = "MAX_FLOAT32_KIND";
// What it is defined as.
const char* float32Kind(MaxPrecision precision);

// What the chip's matrix instructions round float32 to.
struct MmaFormats {
  bool hasTf32 = false;
  bool hasBfloat16 = false;
};
MmaFormats mmaFormatsOf(std::string_view architecture);

// Each `what` of a kernel's text.
void replaceAll(std::string& text, std::string_view what, std::string_view with);

// How a product is cut into the work of blocks. Of the shape alone, so that a result does not depend on the chip.
struct ProductPlan {
  enum class Form : uint8_t { Small, Row, Large, Skinny, Tall };
  Form form = Form::Small;
  int64_t tiles = 0;     // of all matrices and parts
  int64_t splits = 1;    // parts of the depth, summed separately
  int64_t perSplit = 0;  // elements of the depth

  // `forms`: those that there are kernels for, besides small tiles.
  ProductPlan(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth,
              std::initializer_list<Form> forms);
  int32_t threads() const;
};

// Whether a type has kernels for large and for skinny tiles.
bool hasTensorForms(DType dtype);

}  // namespace max
