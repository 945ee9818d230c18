// SPDX-License-Identifier: Apache-2.0
// The active call of a load, from its options.
#pragma once

#include <thread>

#include "base/active_call.h"
#include "base/error.h"
#include "base/log.h"
#include "executor/model.h"
#include "max/model.h"

namespace max {

// Reports increasing progress in visible steps, in the loading thread.
class LoadProgress final : public ProgressReceiver {
 public:
  LoadProgress(MaxProgressCallback callback, void* userData) : callback_(callback), userData_(userData) {}

  void report(double fraction, const char* phase) override {
    constexpr double kStep = 0.005;
    if (std::this_thread::get_id() != thread_ || (fraction < shown_ + kStep && fraction < 1)) return;
    shown_ = fraction;
    // Calls from the callback are not part of the load.
    const ActiveCallScope none(nullptr);
    callback_(userData_, fraction, phase);
  }

 private:
  MaxProgressCallback callback_;
  void* userData_;
  const std::thread::id thread_ = std::this_thread::get_id();
  double shown_ = -1;
};

class LoadScope {
 public:
  LoadScope(const MaxSession& session, const MaxModelLoadOptions& options)
      : interrupt_(options.cancellation ? &options.cancellation->flag() : nullptr, options.timeoutNs),
        progress_(options.progress, options.progressUserData),
        call_{interrupt_.isEmpty() ? nullptr : &interrupt_, session.memory(), nullptr,
              options.progress ? &progress_ : nullptr, session.logLevel()},
        scope_(&call_) {
    call_.lanes = session.lanes();
    checkInterrupt();
    reportProgress(0, "read");
  }

  template <class Load>
  Ref<MaxModel> run(const char* what, Load&& load) {
    const int64_t start = steadyNanoseconds();
    try {
      Ref<MaxModel> model = load();
      reportProgress(1, "done");
      logMessage(MAX_LOG_LEVEL_INFO, "Loaded ", what, " in ", (steadyNanoseconds() - start) / 1000000, " ms");
      return model;
    } catch (const Error& error) {
      logMessage(MAX_LOG_LEVEL_ERROR, "Cannot load ", what, ": ", error.message());
      throw;
    }
  }

 private:
  Interrupt interrupt_;
  LoadProgress progress_;
  ActiveCall call_;
  ActiveCallScope scope_;
};

}  // namespace max
