// SPDX-License-Identifier: Apache-2.0
// A model that is ready to run: metadata, the planned program, pools of output buffers.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/ref.h"
#include "device/memory_use.h"
#include "executor/cancellation.h"
#include "executor/capture.h"
#include "executor/model_info.h"
#include "executor/output_pool.h"
#include "executor/run.h"
#include "executor/session.h"
#include "executor/value.h"
#include "max/model.h"

namespace max {

// How a call runs. `given`: NULL, or one entry per output (NULL = make one).
struct CallOptions {
  MaxStream* stream = nullptr;  // NULL = the default one
  MaxBuffer* const* given = nullptr;
  const MaxCancellation* cancellation = nullptr;
  int64_t timeoutNs = 0;  // 0 = none
};

// Contiguous arrays in parallel lists.
struct HostInputs {
  const void* const* data;
  const MaxDType* dtypes;
  const int32_t* ranks;
  const int64_t* const* shapes;
  size_t count;
};

struct NamedInputs {
  std::span<const char* const> names;
  std::span<MaxBuffer* const> buffers;
};

// The index of an input or output; NOT_FOUND lists the existing ones.
size_t findByName(const std::vector<TensorInfo>& list, const char* name, const char* what);
void checkOutputType(const TensorInfo& output, size_t index, const MaxBuffer& buffer, DType dtype, const Shape& shape);

}  // namespace max

struct MaxModel : max::HandleOf<MaxModel>, max::KeptMemory {
 public:
  // Result of a loader. The graph is compiled and does not change any more.
  struct Parts {
    max::Ref<const max::Graph> graph;     // moved into the program
    max::Ref<max::RefCounted> source;     // what the loader needs to rebuild the graph
    max::Ref<MaxModelInfo> info;          // also describes the inputs and outputs
    max::Ref<const max::Graph> original;  // of a graph built in code: its constants are kept for saving
    MaxPrecision precision = MAX_PRECISION_HIGHEST;
  };

  MaxModel(max::Ref<MaxSession> session, Parts parts);
  ~MaxModel() override;

  MaxSession& session() const { return *session_; }
  MaxDevice& device() const { return session_->mainDevice(); }
  // Where an input or output lies: what is not made of numbers is on the host.
  MaxDevice& inputDevice(size_t index) const { return *inputDevices_[index]; }
  MaxDevice& outputDevice(size_t index) const { return *outputDevices_[index]; }
  MaxModelInfo& info() const { return *parts_.info; }
  MaxPrecision precision() const { return parts_.precision; }
  const std::vector<max::TensorInfo>& inputs() const { return parts_.info->inputs; }
  const std::vector<max::TensorInfo>& outputs() const { return parts_.info->outputs; }
  const max::PlannedProgram& program() const { return program_; }
  max::RefCounted* source() const { return parts_.source.get(); }
  // Later calls run this graph, which has the same inputs and outputs. Thread-safe.
  void replaceGraph(max::Ref<const max::Graph> graph) { program_.replace(std::move(graph)); }

  // If the shapes of all inputs are known, makes for the first call what it would make for itself: the plan and memory
  // with its pages, unless that is far more than the weights. Failures are left to that call, except that the load is
  // stopped.
  void makeReady() const;

  // Each entry of `results` becomes a new reference; nothing is written if it throws.
  void execute(std::span<MaxBuffer* const> inputs, const max::CallOptions& options,
               std::span<MaxBuffer*> results) const;

  // Like execute, on the caller's memory, which is read before the call returns.
  void executeHost(const max::HostInputs& inputs, const max::CallOptions& options, std::span<MaxBuffer*> results) const;

  // Like execute; inputs in any order, and only the requested outputs, in that order.
  void executeByName(const max::NamedInputs& inputs, const max::CallOptions& options,
                     std::span<const char* const> outputNames, std::span<MaxBuffer*> results) const;

  // Like execute, also for values that are not tensors.
  void executeValues(std::span<MaxValue* const> inputs, const max::CallOptions& options,
                     std::span<MaxValue*> results) const;

  // Like execute; the call is kept under the key and can be replayed.
  void capture(uint64_t key, std::span<MaxBuffer* const> inputs, const max::CallOptions& options,
               std::span<MaxBuffer*> results) const;
  void replay(uint64_t key, std::span<MaxBuffer* const> inputs, const max::CallOptions& options) const;
  // Runs the call again and compares its steps with the captured ones.
  void verifyReplay(uint64_t key, std::span<MaxBuffer* const> inputs, const max::CallOptions& options) const;
  void forgetCaptured(uint64_t key) const;

  // All fields except structSize.
  MaxModelMemory memory() const;
  // The same, of one device of the session or of the host.
  MaxModelDeviceMemory deviceMemory(const MaxDevice& device) const;
  // A drawing of the graph in the DOT language; created on first use.
  const std::string& drawing() const;
  // Frees what idle contexts and pools hold, including plans.
  void trim(max::Kept which) const noexcept override;

 private:
  class CallOutputs;
  // Two dimensions of inputs with the same symbol.
  struct EqualDims {
    size_t inputA, inputB;
    int dimA, dimB;
  };

  void findEqualDims();
  // Orders a call after other uses of its buffers; the waits end with the call.
  template <class Inputs>
  void order(max::AccessScope& access, const Inputs& inputs, const max::CallOptions& options,
             const max::Interrupt& interrupt) const;
  bool usesObjects() const { return usesObjects_; }
  void makeOutputsReady(const max::Plan& plan, uint64_t most) const;
  // Checks the inputs and their number, and converts them to arguments.
  void readInputs(std::span<MaxBuffer* const> inputs, std::span<max::TensorArg> arguments) const;
  void readValues(std::span<MaxValue* const> inputs, std::span<max::TensorArg> arguments) const;
  void readHost(const max::HostInputs& inputs, std::span<max::TensorArg> arguments) const;
  void checkInputCount(size_t count) const;
  void checkInput(size_t index, const max::TensorArg& input) const;
  // Strings are on the host, all else on the model's device.
  const MaxDevice& deviceFor(const MaxBuffer& buffer, const max::TensorInfo& info, const MaxDevice& declared) const;
  MaxDevice& deviceOf(const max::TensorInfo& info, const max::RefCounted* home) const;
  void checkPlacement(size_t index, const MaxBuffer& buffer) const;
  void checkEqualDims(std::span<const max::TensorArg> arguments) const;
  [[noreturn]] void failInput(size_t index, const std::string& problem, const std::string& given) const;
  void requireTensorOutputs() const;
  void checkOutputCount(size_t count) const;
  void checkGiven(std::span<const max::TensorArg> arguments, std::span<MaxBuffer* const> given) const;
  // Checks everything except the inputs; returns the stream.
  MaxStream& prepare(std::span<const max::TensorArg> arguments, const max::CallOptions& options,
                     size_t outputCount) const;
  MaxStream& streamOf(const max::CallOptions& options) const;
  // Tries again without kept memory if the session's memory limit is reached.
  template <class Work>
  void withinLimit(CallOutputs& outputs, Work&& work) const;
  void runPlain(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                max::RunMonitor* monitor) const;
  void runHere(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments, CallOutputs& outputs,
               max::RunMonitor* monitor = nullptr) const;
  void runQueued(MaxStream& stream, std::span<MaxBuffer* const> inputs, std::span<const max::TensorArg> arguments,
                 CallOutputs& outputs, const max::CallOptions& options, const max::Interrupt& interrupt) const;
  // On an accelerator.
  void runQueuing(std::span<MaxBuffer* const> inputs, std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                  const max::Interrupt& interrupt) const;
  // The same, until all is done.
  void runWaiting(const max::Interrupt& interrupt, std::span<const max::TensorArg> arguments, CallOutputs& outputs,
                  max::RunMonitor* monitor = nullptr) const;
  // Arrays of the host as buffers on the inputs' devices; the arguments then name those.
  std::vector<max::Ref<MaxBuffer>> uploaded(std::span<max::TensorArg> arguments, MaxStream& stream) const;
  max::Ref<max::CapturedGraph> findCaptured(uint64_t key) const;
  max::Ref<max::CapturedGraph> requireCaptured(uint64_t key, std::span<MaxBuffer* const> inputs) const;
  max::Ref<max::CapturedGraph> captureNew(std::span<MaxBuffer* const> inputs, const max::CallOptions& options,
                                          MaxStream& stream) const;

  max::Ref<MaxSession> session_;
  Parts parts_;
  const std::string name_;  // of the graph
  max::PlannedProgram program_;
  const bool usesObjects_;  // replaced weights do not change it
  const bool onHost_;
  const max::Ref<MaxDevice> host_;  // of values that are not numbers
  std::vector<MaxDevice*> inputDevices_, outputDevices_;
  std::vector<max::Ref<max::OutputPool>> pools_;  // one per output
  std::vector<EqualDims> equalDims_;
  // Guarded by the fork-safe lock of this object.
  mutable std::map<uint64_t, max::Ref<max::CapturedGraph>> captured_;
  mutable std::string drawing_;
  std::list<max::KeptMemoryEntry> kept_;  // of the devices and the session
};
