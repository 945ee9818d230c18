// SPDX-License-Identifier: Apache-2.0
// A separate process that tries models: it may crash or hang, which is what the test looks for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "attack/trial.h"

namespace attack {

struct Shared;  // memory that worker and watcher have in common

// A model that failed: how, in a few words that are the same for the same cause, and what was reported.
struct Finding {
  std::string cause;
  std::string report;
  std::string model;
  uint64_t number = 0;
};

class Worker {
 public:
  // Gives the model of a number; empty = none, skip it.
  using Source = std::function<std::string(uint64_t number)>;

  explicit Worker(std::string folder);
  Worker(const Worker&) = delete;
  ~Worker();

  // Tries the models of `first`, `first` + `step`, ..., in a child process; returns when it has died or `isOver` says
  // so.
  // -> the number to go on with
  uint64_t work(const Source& source, uint64_t first, uint64_t step, const std::function<bool()>& isOver,
                const std::function<void(const Finding&)>& found);

  uint64_t tried() const;
  uint64_t loaded() const;
  uint64_t ran() const;

 private:
  void serve(const Source& source, uint64_t first, uint64_t step);
  // Waits for the next thing to tell; false = the child has ended.
  bool watch(pid_t child, std::string& problem);
  std::string childReport() const;

  std::string reportPath_;
  Shared* shared_;
};

// The same for one model.
Finding tryOnce(Worker& worker, const std::string& model);

}  // namespace attack
