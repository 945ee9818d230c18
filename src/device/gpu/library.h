// SPDX-License-Identifier: Apache-2.0
// Shared libraries of vendors, opened at run time.
#pragma once

#include <span>
#include <string>

// For functions that call into a vendor's library: our types of its handles are not the vendor's own, which calling
// conventions do not mind, but a sanitizer does.
#if defined(__clang__)
#define MAX_GPU_FOREIGN_CALL __attribute__((no_sanitize("function")))
#else
#define MAX_GPU_FOREIGN_CALL
#endif

namespace max::gpu {

// A library that was looked for once. It stays open: nothing of a driver may be unloaded.
class Library {
 public:
  // The value of the environment variable replaces the names.
  Library(const char* variable, std::span<const char* const> names);

  bool isOpen() const { return handle_ != nullptr; }
  // NULL if there is none.
  void* symbol(const char* name) const;
  // The name under which it was found.
  const std::string& name() const { return name_; }
  // "'libcuda.so.1' was not found (MAX_CUDA_LIBRARY names another)": why it is not open.
  const std::string& problem() const { return problem_; }

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string problem_;
};

}  // namespace max::gpu
