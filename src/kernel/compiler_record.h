// SPDX-License-Identifier: Apache-2.0
// Facts about a compiler's libraries from the last time they were opened, so that cached code is found without opening
// them, the slowest part.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace max {

// What is remembered under, and the environment variables that name other libraries of the compiler.
struct CompilerName {
  const char* name;
  std::vector<const char*> variables;
};

struct CompilerFacts {
  std::string identity = {};
  std::vector<int> chips = {};
  std::vector<std::string> files = {};  // of the libraries
  int version = 0;                      // 1000 * major + 10 * minor; 0 = of no interest
  bool operator==(const CompilerFacts&) const = default;
};

// None if there is no record for this program, or a file has changed.
std::optional<CompilerFacts> recallCompiler(const CompilerName& name);
void rememberCompiler(const CompilerName& name, const CompilerFacts& facts);

// A compiler that is opened only when needed. `Compiler` has `facts`, and opens in its constructor, which takes a
// CompilerName.
template <class Compiler>
class LazyCompiler {
 public:
  explicit LazyCompiler(CompilerName name) : name_(std::move(name)) {}

  const Compiler& open() {
    if (const Compiler* opened = opened_.load(std::memory_order_acquire)) return *opened;
    const std::optional<CompilerFacts>& before = recalled();
    const std::lock_guard lock(mutex_);
    if (const Compiler* opened = opened_.load(std::memory_order_relaxed)) return *opened;
    auto opened = std::make_unique<const Compiler>(name_);
    if (!before || *before != opened->facts) rememberCompiler(name_, opened->facts);
    opened_.store(opened.get(), std::memory_order_release);
    return *opened.release();
  }
  // Facts about the compiler; until it is open, those recorded last time.
  const CompilerFacts& facts() {
    if (const Compiler* opened = opened_.load(std::memory_order_acquire)) return opened->facts;
    const std::optional<CompilerFacts>& before = recalled();
    return before ? *before : open().facts;
  }

 private:
  const std::optional<CompilerFacts>& recalled() {
    std::call_once(asked_, [&] { recalled_ = recallCompiler(name_); });
    return recalled_;
  }

  const CompilerName name_;
  std::once_flag asked_;
  std::optional<CompilerFacts> recalled_;
  std::mutex mutex_;
  std::atomic<const Compiler*> opened_{nullptr};
};

// The file that contains a function; empty if unknown.
std::string fileOfSymbol(const void* symbol);
// Distinguishes builds with the same version; empty if there is no such file.
std::string stampOfFile(const std::string& path);
// Identifies this build of the library: what it adds to sources, how it calls compilers, how it packs weights.
const std::string& libraryIdentity();

}  // namespace max
