// SPDX-License-Identifier: Apache-2.0
// The report on an entry of a list of inputs, outputs or weights.
#pragma once

#include <vector>

#include "capi/guard.h"
#include "capi/index.h"
#include "capi/options.h"
#include "graph/tensor_info.h"

namespace max::capi {

inline void writeInfo(const std::vector<TensorInfo>& list, int32_t index, const char* what, MaxDevice* device,
                      MaxTensorInfo* outInfo) {
  requireArgument(outInfo, "outInfo");
  writeReport(outInfo, elementAt(list, index, what).report(device), "MaxTensorInfo");
}

}  // namespace max::capi
