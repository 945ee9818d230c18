// SPDX-License-Identifier: Apache-2.0
// Kernels compiled for the host: loading them and running them. Knows nothing of devices and streams.
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

// A shared object that cpuCompiler() made, loaded.
class CpuLibrary final : public RefCounted {
 public:
  // INVALID_ARGUMENT if the bytes are not such a shared object.
  static Ref<CpuLibrary> load(std::string_view code);
  ~CpuLibrary() override;

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

// What compilers put before the names of a source's headers.
inline constexpr std::string_view kCpuHeaders = "../include/";

struct CpuLaunch {
  const MaxCpuKernel* kernel = nullptr;
  const char* name = "";             // as errors call the kernel
  void* const* arguments = nullptr;  // addresses of the values
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};  // at most kMaxCpuThreads in all
  size_t sharedBytes = 0;         // at most kMaxCpuShared
};

inline constexpr uint32_t kMaxCpuThreads = 1024;
inline constexpr size_t kMaxCpuShared = 227 << 10;

// Runs all blocks, on at most `lanes` threads of the process, and returns when they are done.
// FAILED_PRECONDITION if threads wait for each other for ever, or a thread traps.
void runOnCpu(const CpuLaunch& launch, int lanes);

}  // namespace max
