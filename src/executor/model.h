// SPDX-License-Identifier: Apache-2.0
// A model that is ready to run: metadata, the planned program, pools of output buffers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "device/buffer.h"
#include "executor/model_info.h"
#include "executor/output_pool.h"
#include "executor/run.h"
#include "executor/session.h"
#include "max/model.h"

namespace max {

// One input or output as callers see it.
struct ModelTensor {
  ModelTensor(std::string_view tensorName, const TensorType& tensorType);

  std::string name;
  DType dtype = DType::Invalid;
  bool ranked = false;
  std::vector<int64_t> dims;          // MAX_DIMENSION_DYNAMIC = any
  std::vector<std::string> dimNames;  // empty = none
  int rank() const { return ranked ? static_cast<int>(dims.size()) : MAX_RANK_DYNAMIC; }
};
// "[(batch, 3), f32]"
void appendTo(std::string& text, const ModelTensor& tensor);

}  // namespace max

struct MaxModel : max::Handle {
 public:
  // What a loader hands over. The graph is compiled and does not change any more.
  struct Parts {
    max::Ref<const max::Graph> graph;
    std::vector<max::ModelTensor> inputs, outputs;
    max::Ref<MaxModelInfo> info;
    MaxPrecision precision = MAX_PRECISION_HIGHEST;
  };

  MaxModel(max::Ref<MaxSession> session, Parts parts);
  ~MaxModel() override;

  MaxSession& session() const { return *session_; }
  MaxDevice& device() const { return session_->mainDevice(); }
  MaxModelInfo& info() const { return *parts_.info; }
  MaxPrecision precision() const { return parts_.precision; }
  const std::vector<max::ModelTensor>& inputs() const { return parts_.inputs; }
  const std::vector<max::ModelTensor>& outputs() const { return parts_.outputs; }
  const max::PlannedProgram& program() const { return program_; }

  // `given`: NULL, or one entry per output (NULL = make one). Each entry of `results` becomes a new reference.
  // Nothing is written if it throws.
  void execute(std::span<MaxBuffer* const> inputs, MaxStream* stream, MaxBuffer* const* given,
               std::span<MaxBuffer*> results) const;

 private:
  class CallOutputs;
  // Two dimensions of inputs that carry the same symbol.
  struct EqualDims {
    size_t inputA, inputB;
    int dimA, dimB;
  };

  void findEqualDims();
  void checkInputs(std::span<MaxBuffer* const> inputs) const;
  void checkGiven(std::span<MaxBuffer* const> inputs, std::span<MaxBuffer* const> given) const;
  void runQueued(MaxStream& stream, std::span<MaxBuffer* const> inputs, std::span<const max::TensorArg> arguments,
                 CallOutputs& outputs) const;

  max::Ref<MaxSession> session_;
  Parts parts_;
  max::PlannedProgram program_;
  std::vector<max::Ref<max::OutputPool>> pools_;  // one per output
  std::vector<EqualDims> equalDims_;
};
