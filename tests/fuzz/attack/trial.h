// SPDX-License-Identifier: Apache-2.0
// One model, loaded, run, saved and compared with itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace attack {

// The progress of a trial, for the watcher of the process.
enum class Phase : int { Idle, Load, Run, Save };

// What was wrong: a word for its kind, and a line; both empty if nothing was. Crashes do not come back.
struct Verdict {
  std::string kind;
  std::string text;
  bool isLoaded = false;
  bool hasRun = false;
};

// Loads and runs the model in a thread of little stack, twice with different contents of fresh memory.
Verdict tryModel(std::string_view bytes, std::atomic<Phase>& phase);

// Seconds of the processor that this process has had.
double processorSeconds();

// Under sanitizers all takes longer.
#ifdef __SANITIZE_ADDRESS__
inline constexpr double kSlower = 8;
#else
inline constexpr double kSlower = 1;
#endif
inline constexpr double kLoadSeconds = 5 * kSlower;
inline constexpr double kDeadlineSeconds = 1;
// A run looks at the deadline at least every 20 ms.
inline constexpr double kRunSeconds = kDeadlineSeconds + 0.1 * kSlower;

}  // namespace attack
