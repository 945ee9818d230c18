// SPDX-License-Identifier: Apache-2.0
// Kernels compiled for the host: loading them. Knows nothing of devices and streams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "kernel/headers/max_cpu_abi.h"

namespace max {

struct CpuVariable {
  void* address = nullptr;  // NULL = there is none
  size_t size = 0;
};

// A loaded shared object from cpuCompiler().
class CpuLibrary final : public RefCounted {
 public:
  // INVALID_ARGUMENT if the bytes are not such a shared object.
  static Ref<CpuLibrary> load(std::string_view code);
  ~CpuLibrary() override;

  // By name.
  const std::vector<std::pair<std::string, const MaxCpuKernel*>>& kernels() const { return kernels_; }
  // NULL if there is none.
  const MaxCpuKernel* find(std::string_view name) const;
  CpuVariable variable(const std::string& name) const;

 private:
  CpuLibrary() = default;
  void readTable();

  void* handle_ = nullptr;
  const void* base_ = nullptr;
  std::vector<std::pair<std::string, const MaxCpuKernel*>> kernels_;
};

}  // namespace max
