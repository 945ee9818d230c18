// SPDX-License-Identifier: Apache-2.0
// Weights in files next to the model.
#pragma once

#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace max::onnx {

// Maps `location`, a relative path inside `folder`; one mapping for all models that use the file. Absolute paths, "..",
// symbolic and hard links and anything but regular files are PERMISSION_DENIED; the path is resolved from the folder's
// descriptor, so that it cannot be replaced between check and use.
Ref<MappedFile> openExternalData(const std::string& folder, std::string_view location, std::string_view tensor);

}  // namespace max::onnx
