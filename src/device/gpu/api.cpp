// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/api.h"

#include "base/error.h"

namespace max::gpu {

const Api* findApi(std::string_view name) {
  for (const Api* api : apis())
    if (api->name == name) return api;
  return nullptr;
}

std::string apiNames(std::string_view beforeLast) {
  std::string names;
  for (const Api* api : apis()) {
    const bool isLast = api == apis().back();
    names += concat(names.empty() ? std::string_view() : isLast ? beforeLast : ", ", "'", api->name, "'");
  }
  return names;
}

}  // namespace max::gpu
