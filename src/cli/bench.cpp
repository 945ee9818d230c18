// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "model.h"
#include "output.h"

namespace max::cli {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Inputs are bound once; outputs are released immediately, so that the library can reuse their memory.
class Runner {
 public:
  Runner(const OpenModel& open, const std::vector<Buffer>& inputs)
      : open_(open), bound_(inputs), inputs_(inputs.begin(), inputs.end()), outputs_(open.outputs.size()) {
    int32_t isHost = 1;
    check(maxDeviceIsHost(open.device, &isHost));
    isQueued_ = !isHost;
    for (const Port& output : open.outputs) hasValues_ = hasValues_ || output.kind != MAX_VALUE_KIND_TENSOR;
  }

  double run() {
    if (hasValues_) return runValues();
    const auto start = Clock::now();
    check(maxModelExecute(open_.model, inputs_.data(), static_cast<int32_t>(inputs_.size()), nullptr, outputs_.data(),
                          static_cast<int32_t>(outputs_.size())));
    if (isQueued_) check(maxDeviceSynchronize(open_.device, 0));
    const double time = millisecondsSince(start);
    for (MaxBuffer* output : outputs_) maxBufferRelease(output);
    return time;
  }

 private:
  double runValues() {
    const auto start = Clock::now();
    const std::vector<Value> outputs = executeValues(open_, bound_);
    return millisecondsSince(start);
  }

  const OpenModel& open_;
  const std::vector<Buffer>& bound_;
  bool hasValues_ = false;
  bool isQueued_ = false;  // on accelerators, where calls return before their work is done
  std::vector<MaxBuffer*> inputs_;
  std::vector<MaxBuffer*> outputs_;
};

// VmHWM, this process's own peak.
double peakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + std::strlen("VmHWM:"), nullptr) / 1e3;
  return 0;
}

std::vector<double> measure(Runner& runner, const BenchOptions& options) {
  for (int i = 0; i < options.warmup; ++i) runner.run();
  Progress progress("measuring");
  std::vector<double> times;
  times.reserve(1 << 16);
  const auto start = Clock::now();
  const double limit = options.seconds * 1e3;
  double shown = 0;
  for (double elapsed = 0; elapsed < limit || times.empty(); elapsed = millisecondsSince(start)) {
    times.push_back(runner.run());
    if (elapsed - shown > 100) progress.update((shown = elapsed) / limit);
  }
  std::sort(times.begin(), times.end());
  return times;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

void printText(const Json& result) {
  const auto number = [&](const char* key) { return result[key].get<double>(); };
  const auto text = [&](const char* key) { return result[key].get<std::string>(); };
  printLine(text("model") + "  on " + text("device") +
            format(", %d threads, precision ", result["threads"].get<int>()) + text("precision"));
  printLine(format("load %.3f ms  first call %.3f ms  peak memory %.1f MB", number("load_ms"), number("first_ms"),
                   number("peak_rss_mb")));
  printLine(format("%zu calls  min %.4g  p50 %.4g  p90 %.4g  p99 %.4g ms", result["iterations"].get<size_t>(),
                   number("min_ms"), number("p50_ms"), number("p90_ms"), number("p99_ms")));
}

}  // namespace

void benchModel(const BenchOptions& options) {
  const OpenModel open = openModel(options);
  const std::vector<Buffer> inputs = makeInputs(open, options);
  Runner runner(open, inputs);
  const double firstMs = runner.run();
  const std::vector<double> times = measure(runner, options);
  const Json result = {
      {"model", options.model},         {"device", options.device},        {"threads", open.threads},
      {"precision", open.precision},    {"load_ms", open.loadMs},          {"first_ms", firstMs},
      {"iterations", times.size()},     {"min_ms", times.front()},         {"p50_ms", quantile(times, 0.5)},
      {"p90_ms", quantile(times, 0.9)}, {"p99_ms", quantile(times, 0.99)}, {"peak_rss_mb", peakMegabytes()}};
  options.json ? printJson(result) : printText(result);
}

}  // namespace max::cli
