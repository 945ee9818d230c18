// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace max::gpu {

Library::Library(const char* variable, std::span<const char* const> names) {
  const char* chosen = secure_getenv(variable);
  if (chosen) names = std::span(&chosen, 1);
  std::string tried;
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      return;
    }
    const char* reason = dlerror();
    tried += concat(tried.empty() ? "tried " : ", ", reason ? reason : name);
  }
  problem_ =
      chosen ? concat(tried, " (named by ", variable, ")") : concat(tried, "; ", variable, " can name another library");
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace max::gpu
