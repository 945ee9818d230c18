// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "handle.h"

namespace max::cli {

void loadExtensions(const std::vector<std::string>& files) {
  for (const std::string& file : files) check(maxExtensionLoad(file.c_str()));
}

}  // namespace max::cli
