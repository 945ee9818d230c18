// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <max/model.h>

#include <string>

namespace max::cli {

// "Conv 3, Gemm 2, ...", most frequent first.
std::string operatorsText(const MaxModel* model);

}  // namespace max::cli
