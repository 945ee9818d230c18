// SPDX-License-Identifier: Apache-2.0
// The names of accelerators' APIs, for programs that have only the C API: in the order of device/gpu/apis.cpp.
#pragma once

#include "max/module.h"

namespace max {

struct ApiName {
  const char* api;
  const char* chip;      // for example
  MaxArtifactKind code;  // what runs there
};

inline constexpr ApiName kApiNames[] = {
    {"cuda", "sm_90", MAX_ARTIFACT_KIND_CUBIN},
    {"hip", "gfx90a", MAX_ARTIFACT_KIND_CODE_OBJECT},
};

}  // namespace max
