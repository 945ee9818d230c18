// SPDX-License-Identifier: Apache-2.0
// Chips to compile for, which need not be here.
#pragma once

#include <string>

#include "device/api_names.h"
#include "handle.h"

namespace max::cli {

struct Target {
  std::string api;
  std::string architecture;  // empty = the host's own
};

// NULL if there is no accelerator API of this name.
const ApiName* findApi(const std::string& name);
// Of "cpu", "cpu:x86-64-v3", "cuda:sm_90", ...
Target parseTarget(const std::string& text);
// The host, or a virtual device of the named architecture.
Device openTarget(const Target& target);

}  // namespace max::cli
