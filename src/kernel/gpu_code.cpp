// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_code.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/detached_thread.h"

namespace max {

namespace {

// The compiler is newer than the driver.
constexpr int kTooNew = 222;
// Answers to code that is none, or none for this device; drivers share them.
constexpr int kCodeErrors[] = {1, 200, 209, 218, kTooNew, 301, 302};
constexpr size_t kLogBytes = 8192;

bool isCodeError(int error) {
  return std::find(std::begin(kCodeErrors), std::end(kCodeErrors), error) != std::end(kCodeErrors);
}

void requireModules(const gpu::Context& context) {
  const gpu::Driver& driver = context.driver();
  require(driver.moduleLoad && driver.moduleUnload && driver.moduleGetFunction && driver.launch,
          MAX_STATUS_UNIMPLEMENTED, "The driver of ", context.displayName(), " cannot load kernels");
}

std::string versionText(int version) { return concat(version / 1000, ".", version % 1000 / 10); }

// A driver rejects the output of a newer compiler.
std::string versionsOf(const gpu::Context& context, const std::string& compiler) {
  const char* toolkit = context.api().toolkit;
  if (compiler.empty() || !toolkit) return {};
  return concat(" (compiled by ", compiler, "; the driver is for ", toolkit, " ", versionText(context.driver().version),
                ")");
}

std::string advice(const gpu::Context& context) {
  const char* toolkit = context.api().toolkit;
  if (!toolkit) return "; a newer driver or an older compiler would do";
  return concat("; a newer driver would do, or a compiler of ", toolkit, " ", versionText(context.driver().version),
                " or older");
}

[[noreturn]] void failLoading(const gpu::Context& context, const std::string& name, const std::string& compiler,
                              int error, const char* log) {
  const bool isTooNew = error == kTooNew;
  fail(isTooNew ? MAX_STATUS_UNAVAILABLE : MAX_STATUS_INVALID_ARGUMENT, "The code of ", name, " cannot be loaded on ",
       context.displayName(), ": ", context.driver().moduleLoad.name, ": ", context.driver().errorName(error),
       versionsOf(context, compiler), isTooNew ? advice(context) : "", *log ? "\n" : "", log);
}

struct LoadedCode {
  Ref<gpu::Context> context;
  void* handle;

  void unload() const { context->tryCallAlone(context->driver().moduleUnload, handle); }
  static void* unloadLater(void* code) {
    pthread_setname_np(pthread_self(), "max-unload");
    std::unique_ptr<LoadedCode>(static_cast<LoadedCode*>(code))->unload();
    return nullptr;
  }
};

}  // namespace

// The destructor unloads what was loaded before a failure.
GpuCode::GpuCode(Ref<gpu::Context> context, const std::string& name, const std::string& code,
                 const std::string& compiler)
    : GpuCode(std::move(context)) {
  requireModules(*context_);
  std::string log(kLogBytes, '\0');
  int error = load(code, log);
  if (error == gpu::kSuccess) error = loadFunctions();
  if (error == gpu::kSuccess) return;
  if (isCodeError(error)) failLoading(*context_, name, compiler, error, log.c_str());
  context_->fail(context_->driver().moduleLoad.name, error);
}

int GpuCode::load(const std::string& code, std::string& log) {
  const gpu::Api& api = context_->api();
  int options[] = {api.errorLogOption, api.errorLogSizeOption};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const unsigned optionCount = api.errorLogOption != 0 ? 2 : 0;
  void* handle = nullptr;
  const int error = context_->query(context_->driver().moduleLoad, &handle, code.data(), optionCount, options, values);
  if (error == gpu::kSuccess) handle_ = handle;
  return error;
}

// Drivers that load a function when it is first asked for may wait for the device then, even for host functions. Those
// too old to list functions are left to do so.
int GpuCode::loadFunctions() const {
  const gpu::Driver& driver = context_->driver();
  if (!driver.moduleGetFunctionCount || !driver.moduleListFunctions || !driver.functionLoad) return gpu::kSuccess;
  unsigned count = 0;
  int error = context_->query(driver.moduleGetFunctionCount, &count, handle_);
  if (error != gpu::kSuccess || count == 0) return error;
  std::vector<void*> functions(count);
  error = context_->query(driver.moduleListFunctions, functions.data(), count, handle_);
  for (unsigned i = 0; i < count && error == gpu::kSuccess; ++i)
    error = context_->query(driver.functionLoad, functions[i]);
  return error;
}

// Unloading waits for host functions, which may wait for this thread, or be what it runs: then another thread unloads.
GpuCode::~GpuCode() {
  if (!handle_ || gpu::isCutOffByFork()) return;
  const LoadedCode loaded{context_, handle_};
  if (context_->driver().hostGate->isBusy()) {
    auto* later = new (std::nothrow) LoadedCode(loaded);
    if (later && startDetachedThread(LoadedCode::unloadLater, later)) return;
    delete later;
  }
  loaded.unload();
}

}  // namespace max
