// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/api.h"

namespace max::gpu {

extern const Api kCuda;
extern const Api kHip;

namespace {

constexpr const Api* kApis[] = {&kCuda, &kHip};

}  // namespace

std::span<const Api* const> apis() { return kApis; }

}  // namespace max::gpu
