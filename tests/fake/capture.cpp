// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

namespace fake {

struct CapturedWork {
  Operation operation;
  std::vector<Access> accesses;
};

struct Graph {
  std::vector<CapturedWork> work;
  mutable std::vector<Position> launches;  // what they queued last, by stream
};

// What a stream has added to a capture, and whether another stream of it waits for all of that.
struct Branch {
  uint64_t steps = 0;
  bool isAwaited = false;
};

struct Capture {
  int mode = 0;
  std::thread::id thread;
  Stream* origin = nullptr;
  bool isSpoiled = false;
  std::map<Stream*, Branch> branches;
  Graph graph;
};

namespace {

enum Mode { kGlobal, kThreadLocal, kRelaxed };

thread_local int threadMode = kGlobal;

// Functions of all APIs, without the letters in front.
constexpr std::string_view kUnsafe[] = {
    "MemAlloc_v2",    "MemFree_v2",         "MemHostAlloc",
    "MemFreeHost",    "MemHostRegister_v2", "Malloc",
    "Free",           "HostMalloc",         "HostFree",
    "HostRegister",   "EventQuery",         "EventSynchronize",
    "StreamQuery",    "ModuleUnload",       "ModuleLoadDataEx",
    "CtxSynchronize", "DeviceSynchronize",  "StreamSynchronize",
    "HostUnregister", "MemHostUnregister",
};

bool isUnsafe(std::string_view function) {
  const auto* capital = std::find_if(function.begin(), function.end(), [](char c) { return std::isupper(c) != 0; });
  function.remove_prefix(static_cast<size_t>(capital - function.begin()));
  return std::find(std::begin(kUnsafe), std::end(kUnsafe), function) != std::end(kUnsafe);
}

bool refusesThisThread(const Capture& capture) {
  if (threadMode == kRelaxed || capture.mode == kRelaxed) return false;
  return capture.thread == std::this_thread::get_id() || (capture.mode == kGlobal && threadMode == kGlobal);
}

int spoil(Capture& capture, int code) {
  capture.isSpoiled = true;
  return code;
}

int stateOf(const Capture& capture) { return capture.isSpoiled ? kCaptureInvalidated : kOk; }

bool isLive(const Graph* graph) {
  if (state().graphs.contains(graph)) return true;
  violation("a graph is used that does not exist");
  return false;
}

int keepGraph(Graph made, Graph** graph) {
  auto kept = std::make_shared<Graph>(std::move(made));
  *graph = kept.get();
  state().graphs.emplace(*graph, std::move(kept));
  return kOk;
}

bool isJoined(const Capture& capture) {
  return std::all_of(capture.branches.begin(), capture.branches.end(),
                     [&](const auto& entry) { return entry.first == capture.origin || entry.second.isAwaited; });
}

}  // namespace

int beginCapture(const std::shared_ptr<Stream>& stream, int mode) {
  if (!stream || stream->isLegacy || stream->capture) return kCaptureUnsupported;
  if (mode < kGlobal || mode > kRelaxed) return kInvalidValue;
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->origin = stream.get();
  stream->capture->branches[stream.get()] = {};
  return kOk;
}

int endCapture(const std::shared_ptr<Stream>& stream, Graph** graph) {
  *graph = nullptr;
  if (!stream || !stream->capture) return kInvalidValue;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream.get()) return spoil(*capture, kCaptureUnmatched);
  if (capture->mode != kRelaxed && capture->thread != std::this_thread::get_id())
    return spoil(*capture, kCaptureWrongThread);
  for (const auto& [branch, steps] : capture->branches) branch->capture = nullptr;
  if (const int error = stateOf(*capture)) return error;
  if (!isJoined(*capture)) return kCaptureUnjoined;
  return keepGraph(std::move(capture->graph), graph);
}

int captureStatus(const std::shared_ptr<Stream>& stream, int* status) {
  if (!stream) return kInvalidHandle;
  if (const int error = refuseOnLegacy(*stream)) return error;
  *status = !stream->capture ? 0 : stream->capture->isSpoiled ? 2 : 1;
  return kOk;
}

int exchangeCaptureMode(int* mode) {
  if (!mode || *mode < kGlobal || *mode > kRelaxed) return kInvalidValue;
  std::swap(*mode, threadMode);
  return kOk;
}

int copyGraph(const Graph* graph, Graph** copy) {
  return isLive(graph) ? keepGraph(Graph(*graph), copy) : int{kInvalidHandle};
}

int destroyGraph(const Graph* graph) {
  if (!isLive(graph)) return kInvalidHandle;
  if (!std::all_of(graph->launches.begin(), graph->launches.end(), isDone))
    violation("a graph is destroyed while its work is queued");
  state().graphs.erase(graph);
  return kOk;
}

int launchGraph(const Graph* graph, const std::shared_ptr<Stream>& stream) {
  if (!stream || !isLive(graph)) return kInvalidHandle;
  ++state().counts[FAKE_GPU_GRAPH_LAUNCHES];
  for (const CapturedWork& work : graph->work) {
    const Operation& each = work.operation;
    const int error = each.isHostFunction ? enqueueHostFunction(stream, each.run, each.runsWhenLost)
                                          : enqueue(stream, each.run, work.accesses);
    if (error) return error;
  }
  std::erase_if(graph->launches, [&](const Position& last) { return last.stream == stream; });
  graph->launches.push_back(lastPosition(stream));
  return kOk;
}

int refuseInCapture(const char* function) {
  if (!isUnsafe(function)) return kOk;
  int result = kOk;
  for (const auto& [pointer, stream] : state().streams)
    if (stream->capture && refusesThisThread(*stream->capture)) result = spoil(*stream->capture, kCaptureUnsupported);
  return result;
}

int refuseOnStream(Stream& stream, int code) {
  if (!stream.capture) return kOk;
  if (const int error = stateOf(*stream.capture)) return error;
  return spoil(*stream.capture, code);
}

int refuseOnDevice(const Device& device) {
  int result = kOk;
  for (const auto& [pointer, stream] : state().streams)
    if (stream->device == &device && stream->capture) result = spoil(*stream->capture, kCaptureUnsupported);
  return result;
}

int refuseOnLegacy(const Stream& stream) {
  if (!stream.isLegacy) return kOk;
  const bool isUnusable = std::any_of(state().streams.begin(), state().streams.end(), [&](const auto& entry) {
    return entry.second->device == stream.device && entry.second->isBlocking && entry.second->capture;
  });
  return isUnusable ? kCaptureImplicit : kOk;
}

int addToCapture(Stream& stream, Operation operation, std::vector<Access> accesses) {
  Capture& capture = *stream.capture;
  if (const int error = stateOf(capture)) return error;
  Branch& branch = capture.branches[&stream];
  ++branch.steps;
  branch.isAwaited = false;
  capture.graph.work.push_back({std::move(operation), std::move(accesses)});
  return kOk;
}

int recordInCapture(Event& event, const std::shared_ptr<Stream>& stream) {
  if (const int error = stateOf(*stream->capture)) return error;
  event.mark = nullptr;
  event.capture = stream->capture;
  event.branch = stream;
  event.steps = stream->capture->branches[stream.get()].steps;
  return kOk;
}

int waitInCapture(const std::shared_ptr<Stream>& stream, const Event& event) {
  if (!event.capture) return event.mark ? refuseOnStream(*stream, kCaptureIsolation) : kOk;
  if (event.branch->capture != event.capture) return kCapturedEvent;  // it is over
  if (const int error = stateOf(*event.capture)) return error;
  if (stream->capture && stream->capture != event.capture) {
    spoil(*stream->capture, kCaptureMerge);
    return spoil(*event.capture, kCaptureMerge);
  }
  stream->capture = event.capture;
  event.capture->branches.try_emplace(stream.get());
  Branch& awaited = event.capture->branches[event.branch.get()];
  if (stream != event.branch && awaited.steps == event.steps) awaited.isAwaited = true;
  return kOk;
}

int refuseCapturedEvent(const Event& event) {
  if (!event.capture) return kOk;
  return event.branch->capture == event.capture ? spoil(*event.capture, kCapturedEvent) : int{kCapturedEvent};
}

void leaveCapture(Stream& stream) {
  if (!stream.capture) return;
  stream.capture->isSpoiled = true;
  const std::shared_ptr<Capture> capture = std::move(stream.capture);
  capture->branches.erase(&stream);
  if (capture->origin != &stream) return;
  for (const auto& [branch, steps] : capture->branches) branch->capture = nullptr;
}

}  // namespace fake
