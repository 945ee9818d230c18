// SPDX-License-Identifier: Apache-2.0
// Operators that a kernel source declares, compiled for the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "extension/extension.h"

namespace max {

class KernelOperator;

// A compiled source. Registered operators keep it until the process ends.
class KernelExtension {
 public:
  // Errors start with the file and the line. UNAVAILABLE without a compiler.
  KernelExtension(const std::string& path, const std::string& source);
  ~KernelExtension();

  const std::string& path() const { return path_; }
  const std::string& source() const { return source_; }
  std::vector<ExtensionOperator> operators() const;

 private:
  std::string path_, source_;
  std::vector<std::unique_ptr<KernelOperator>> operators_;
};

// Compiles the source and registers its operators; the same file with the same contents only once. Thread-safe.
void addKernelExtension(const std::string& path, const std::string& source);

}  // namespace max
