// SPDX-License-Identifier: Apache-2.0
#include "attack/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "attack/onnx_model.h"
#include "base/error.h"

namespace attack {

constexpr size_t kMostBytes = 4 << 20;
constexpr size_t kMostText = 4096;

struct Shared {
  std::atomic<uint64_t> number, tried, loaded, ran;
  std::atomic<double> began;  // processor time of the child
  std::atomic<Phase> phase;
  std::atomic<bool> hasVerdict;
  char kind[64];
  char text[kMostText];
  size_t size;
  char model[kMostBytes];
};

namespace {

// A trial loads, runs and saves several times; what hangs takes longer than all limits together.
constexpr double kMostSeconds = 3 * kLoadSeconds + 6 * kRunSeconds;

double processorSecondsOf(pid_t child) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

const char* nameOf(Phase phase) {
  switch (phase) {
    case Phase::Load:
      return "load";
    case Phase::Run:
      return "run";
    case Phase::Save:
      return "save";
    default:
      return "idle";
  }
}

// The operators of a model, a few of them.
std::string operatorsOf(const std::string& bytes) {
  std::set<std::string> names;
  try {
    ModelData model = readModel(bytes);
    for (GraphData* graph : graphsOf(model))
      for (const NodeData& node : graph->nodes) names.insert(node.op);
    for (const FunctionData& function : model.functions)
      for (const NodeData& node : function.nodes) names.insert(node.op);
  } catch (const max::Error&) {
    return "?";
  }
  std::string text;
  size_t count = 0;
  for (const std::string& name : names)
    if (++count <= 4) text += " " + name;
  return text;
}

// "#3 0x.. in max::f(..) /path/file.cpp:12:3" -> "file.cpp:12"
std::string placeIn(const std::string& line) {
  const std::string place = line.substr(line.rfind('/') + 1);
  const size_t colon = place.find(':');
  return colon == place.npos ? place : place.substr(0, place.find(':', colon + 1));
}

// Kind and place of a sanitizer's report: the first frame in the library, except in general helpers.
std::string causeIn(const std::string& report) {
  std::istringstream lines(report);
  std::string line, kind, place;
  while (std::getline(lines, line)) {
    const size_t address = line.find("ERROR: AddressSanitizer: "), undefined = line.find("runtime error: ");
    if (kind.empty() && address != line.npos) {
      const std::string rest = line.substr(address + 25);
      kind = rest.substr(0, rest.find(' '));
    }
    if (kind.empty() && undefined != line.npos) {
      kind = line.substr(undefined + 15);
      kind.erase(std::remove_if(kind.begin(), kind.end(), [](char c) { return (c >= '0' && c <= '9') || c == '-'; }),
                 kind.end());
      kind = "undefined: " + kind.substr(0, 60);
      if (line.find("/src/") < undefined) place = placeIn(line.substr(0, undefined));
    }
    const bool isOurs = line.find("/src/") != line.npos && line.find("/src/base/") == line.npos;
    if (!kind.empty() && place.empty() && line.find("    #") == 0 && isOurs) place = placeIn(line);
  }
  if (kind.empty()) return {};
  return kind + " " + place;
}

}  // namespace

Worker::Worker(std::string folder) : reportPath_(folder + "/report-" + std::to_string(getpid())) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared_ = memory == MAP_FAILED ? nullptr : new (memory) Shared();
}

Worker::~Worker() {
  unlink(reportPath_.c_str());
  if (shared_) munmap(shared_, sizeof(Shared));
}

uint64_t Worker::tried() const { return shared_->tried; }
uint64_t Worker::loaded() const { return shared_->loaded; }
uint64_t Worker::ran() const { return shared_->ran; }

void Worker::serve(const Source& source, uint64_t first, uint64_t step) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int report = open(reportPath_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(report, STDERR_FILENO);
  const rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
#ifndef __SANITIZE_ADDRESS__
  const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  for (uint64_t number = first;; number += step) {
    shared_->number = number;
    const std::string model = source(number);
    if (model.empty() || model.size() > kMostBytes) {
      if (model.empty() && step == 0) _exit(0);
      continue;
    }
    shared_->size = model.size();
    model.copy(shared_->model, model.size());
    shared_->began = processorSeconds();
    const Verdict verdict = tryModel(model, shared_->phase);
    shared_->tried += 1;
    if (verdict.isLoaded) shared_->loaded += 1;
    if (verdict.hasRun) shared_->ran += 1;
    if (!verdict.kind.empty()) {
      std::snprintf(shared_->kind, sizeof shared_->kind, "%s", verdict.kind.c_str());
      std::snprintf(shared_->text, sizeof shared_->text, "%s", verdict.text.c_str());
      shared_->hasVerdict = true;
      while (shared_->hasVerdict) usleep(1000);
    }
    if (step == 0) _exit(0);
  }
}

std::string Worker::childReport() const {
  std::ifstream file(reportPath_);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool Worker::watch(pid_t child, std::string& problem) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) == child) {
    if (WIFSIGNALED(status)) problem = "signal " + std::to_string(WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) problem = "exit " + std::to_string(WEXITSTATUS(status));
    return false;
  }
  const bool isBusy = shared_->phase != Phase::Idle;
  if (isBusy && processorSecondsOf(child) - shared_->began > kMostSeconds) {
    problem = std::string("hangs: ") + nameOf(shared_->phase);
    kill(child, SIGABRT);  // tells where
    for (int i = 0; i < 100 && waitpid(child, &status, WNOHANG) != child; ++i) usleep(100000);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return false;
  }
  return true;
}

uint64_t Worker::work(const Source& source, uint64_t first, uint64_t step, const std::function<bool()>& isOver,
                      const std::function<void(const Finding&)>& found) {
  shared_->phase = Phase::Idle;
  shared_->hasVerdict = false;
  shared_->number = first;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) serve(source, first, step);
  std::string problem;
  while (watch(child, problem)) {
    if (shared_->hasVerdict) {
      const std::string model(shared_->model, shared_->size);
      found({std::string(shared_->kind) + ":" + operatorsOf(model), shared_->text, model, shared_->number});
      shared_->hasVerdict = false;
    }
    if (isOver()) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      return shared_->number + step;
    }
    usleep(2000);
  }
  if (!problem.empty()) {
    const std::string model(shared_->model, shared_->size), report = childReport();
    std::string cause = causeIn(report);
    if (shared_->phase == Phase::Idle) cause = "outside of a trial: " + problem + cause;
    if (cause.empty() || problem.starts_with("hangs"))
      cause = problem + ": " + (cause.empty() ? operatorsOf(model) : cause);
    found({cause, report, model, shared_->number});
  }
  return shared_->number + step;
}

Finding tryOnce(Worker& worker, const std::string& model) {
  Finding result;
  worker.work([&](uint64_t) { return model; }, 0, 0, [] { return false; },
              [&](const Finding& finding) { result = finding; });
  return result;
}

}  // namespace attack
