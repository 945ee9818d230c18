// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace max::gpu {

namespace {

std::string_view withoutVersion(std::string_view name) { return name.substr(0, name.find(".so")); }

// The version that the process has loaded already, if there is one among the names of the first's library.
std::span<const char* const> preferLoaded(std::span<const char* const> names) {
  for (const char* const& name : names) {
    if (withoutVersion(name) != withoutVersion(names.front())) continue;
    void* loaded = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (!loaded) continue;
    dlclose(loaded);
    return std::span(&name, 1);
  }
  return names;
}

}  // namespace

Library::Library(const char* variable, std::span<const char* const> names) {
  const char* chosen = secure_getenv(variable);
  names = chosen ? std::span(&chosen, 1) : preferLoaded(names);
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      return;
    }
    const char* reason = dlerror();
    reason_ += concat(reason_.empty() ? "" : ", ", reason ? reason : name);
  }
  advice_ = chosen ? concat(" (named by ", variable, ")") : concat("; ", variable, " can name another library");
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace max::gpu
