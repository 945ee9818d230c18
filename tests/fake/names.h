// SPDX-License-Identifier: Apache-2.0
// What the drivers call their results.
#pragma once

namespace fake {

struct ResultName {
  int code;
  const char* cuda;
  const char* hip;
};

// Of a code in one column; null = it has none.
const char* resultName(int code, const char* ResultName::*column);

}  // namespace fake
