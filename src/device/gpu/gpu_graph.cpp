// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_graph.h"

#include <utility>

namespace max::gpu {

namespace {

constexpr int kThreadLocalMode = 1;

void requireGraphs(const Context& context) {
  const Driver& driver = context.driver();
  require(driver.streamBeginCapture && driver.streamEndCapture && driver.streamIsCapturing && driver.graphLaunch &&
              driver.graphExecutableDestroy && driver.graphDestroy &&
              (driver.graphInstantiate || driver.graphInstantiateWithLog),
          MAX_STATUS_UNIMPLEMENTED, "The driver of ", context.displayName(), " has no graphs");
}

// The capture of a stream that nobody else has, and what it gives.
class Capture {
 public:
  explicit Capture(GpuStream& stream) : context_(stream.context()), stream_(stream.handle()) {
    context_.call(context_.driver().streamBeginCapture, stream_, kThreadLocalMode);
    isOpen_ = true;
  }
  ~Capture() {
    if (isOpen_) context_.tryCall(context_.driver().streamEndCapture, stream_, &graph_);
    if (graph_) context_.tryCall(context_.driver().graphDestroy, graph_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void* end() {
    context_.call(context_.driver().streamEndCapture, stream_, &graph_);
    isOpen_ = false;
    return graph_;
  }

 private:
  const Context& context_;
  void* const stream_;
  bool isOpen_ = false;
  void* graph_ = nullptr;
};

Ref<ExecutableGraph> recorded(const DeviceParts& parts, GpuStream& stream, FunctionRef<void(MaxStream&)> queue) {
  requireGraphs(*parts.context);
  std::vector<Ref<const RefCounted>> uses;
  stream.setGraphUses(&uses);
  Capture capture(stream);
  queue(stream);
  void* graph = capture.end();
  stream.setGraphUses(nullptr);
  return makeRef<ExecutableGraph>(parts.context, graph, std::move(uses));
}

}  // namespace

ExecutableGraph::ExecutableGraph(Ref<Context> context, void* graph, std::vector<Ref<const RefCounted>> uses)
    : context_(std::move(context)), uses_(std::move(uses)) {
  const Driver& driver = context_->driver();
  if (driver.graphInstantiate)
    context_->call(driver.graphInstantiate, &handle_, graph, 0ULL);
  else
    context_->call(driver.graphInstantiateWithLog, &handle_, graph, static_cast<void**>(nullptr),
                   static_cast<char*>(nullptr), size_t{0});
}

ExecutableGraph::~ExecutableGraph() { context_->tryCall(context_->driver().graphExecutableDestroy, handle_); }

void ExecutableGraph::launch(GpuStream& stream) {
  stream.check();
  context_->callChecked(context_->driver().graphLaunch, handle_, stream.handle());
  stream.noteQueued();
  if (const uint64_t bit = stream.ordered().bit(); !(streams_.load(std::memory_order_relaxed) & bit))
    streams_.fetch_or(bit, std::memory_order_relaxed);
}

GpuGraph::GpuGraph(const DeviceParts& parts, GpuStream& stream, FunctionRef<void(MaxStream&)> queue)
    : device_(&stream.device()), parts_(parts), executable_(recorded(parts, stream, queue)) {}

void GpuGraph::launch(MaxStream& stream) { executable_->launch(static_cast<GpuStream&>(stream)); }

// Launches may still be queued: the device destroys the graph when they are done.
GpuGraph::~GpuGraph() { parts_.keepUntilDone(executable_, executable_->streams()); }

}  // namespace max::gpu
