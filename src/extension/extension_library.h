// SPDX-License-Identifier: Apache-2.0
// Files that hold extensions: shared libraries with a table, and sources of kernels.
#pragma once

#include <string>

#include "max/extension.h"

namespace max {

// By the file's name.
bool isKernelSource(const std::string& path);
std::string readKernelSource(const std::string& path);

// A shared library, closed again unless its operators are used.
class ExtensionLibrary {
 public:
  explicit ExtensionLibrary(const std::string& path);
  ExtensionLibrary(const ExtensionLibrary&) = delete;
  ~ExtensionLibrary();

  // The library's exports, unchanged.
  const MaxExtensionTable& table() const;

  bool isUsed = false;

 private:
  void requireThisLibrary() const;

  const std::string& path_;
  void* handle_ = nullptr;
};

}  // namespace max
