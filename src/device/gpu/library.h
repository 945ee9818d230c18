// SPDX-License-Identifier: Apache-2.0
// Shared libraries of vendors, opened at run time.
#pragma once

#include <span>
#include <string>

// For functions that call a vendor's library: our handle types differ from the vendor's, which is fine for calling
// conventions but not for a sanitizer.
#if defined(__clang__)
#define MAX_GPU_FOREIGN_CALL __attribute__((no_sanitize("function")))
#else
#define MAX_GPU_FOREIGN_CALL
#endif

namespace max::gpu {

// A library that is searched for once. It stays open, because drivers must not be unloaded.
class Library {
 public:
  // The value of the environment variable replaces the names. Without it a version that the process has loaded already
  // (a framework brings its own) comes before the first name: two in one process do not share their state.
  Library(const char* variable, std::span<const char* const> names);

  bool isOpen() const { return handle_ != nullptr; }
  // NULL if there is none.
  void* symbol(const char* name) const;
  // The function of a name; NULL if there is none.
  template <class Function>
  void bind(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }
  // The name under which it was found.
  const std::string& name() const { return name_; }
  // Why it is not open: "libcuda.so.1: cannot open shared object file: No such file or directory".
  const std::string& reason() const { return reason_; }
  // What may help: "; MAX_CUDA_LIBRARY can name another library".
  const std::string& advice() const { return advice_; }
  // All of it.
  std::string problem() const { return "tried " + reason_ + advice_; }

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string reason_;
  std::string advice_;
};

}  // namespace max::gpu
