// SPDX-License-Identifier: Apache-2.0
// Registers operators from a shared library or a table in C.
#pragma once

#include <string>

#include "max/extension.h"

namespace max::capi {

void loadExtension(const std::string& path);
void addExtension(const std::string& name, const MaxExtensionTable& table);

}  // namespace max::capi
