// SPDX-License-Identifier: Apache-2.0
// ONNX's convolutions where the compiler could not choose the layout, as filters that come with the call: channels move
// last for a kernel, and back.
#pragma once

#include <memory>

#include "ops/op_kernel.h"

namespace max {

using CreateKernel = std::unique_ptr<OpKernel> (*)(const OpRequest& request);

// `createInner` gets a request whose pixels have the channels last. `rounds`: it reads them as bfloat16.
std::unique_ptr<OpKernel> createChannelsFirst(const OpRequest& request, CreateKernel createInner, bool rounds = false);

}  // namespace max
