// SPDX-License-Identifier: Apache-2.0
// What a recurrent layer multiplies with its weights: the input of all steps at once, and the state in each step.
#pragma once

#include <memory>
#include <span>

#include "graph/readers/recurrent.h"
#include "ops/op_kernel.h"

namespace max {

struct RecurrentSizes {
  int64_t gates, steps, batch, inputSize, hidden, directions;
  int64_t blocks;  // of items, each of which goes through all steps alone; their sizes differ by at most one

  // `weightBytes`: of one of R's elements when it is packed.
  RecurrentSizes(const OpRequest& request, const readers::Recurrent& layer, int64_t gateCount, int64_t weightBytes);
  int64_t all() const { return gates * hidden; }
  int64_t firstItem(int64_t block) const { return batch * block / blocks; }
  int64_t mostItems() const { return (batch + blocks - 1) / blocks; }
  int64_t fewestItems() const { return batch / blocks; }
};

using enum readers::RecurrentInput;

// The products with the state: of all gates, or for a GRU, whose candidate may come after the reset gate, of the first
// two; and of the candidate.
enum class StateProduct : uint8_t { Gates, Candidate };

// Some items of a direction, on their way through the steps.
struct RecurrentItems {
  int64_t direction, first, count;
  std::byte* shared;  // scratchBytes(), of the direction
  std::byte* memory;  // itemBytes()
  int64_t step = 0;
};

class RecurrentProducts {
 public:
  virtual ~RecurrentProducts() = default;

  virtual size_t scratchBytes() const = 0;  // of one direction
  virtual size_t itemBytes() const = 0;     // of one block of items
  // Before the others.
  virtual void start(const OpContext& context, int64_t direction, std::byte* scratch) const = 0;
  // W x of all steps and items plus the bias (NULL = none), [steps * batch][gates * hidden].
  virtual void multiplyInputs(const OpContext& context, int64_t direction, const float* bias, float* out,
                              std::byte* scratch) const = 0;
  // R h of these items, in rows of gates * hidden; those of candidates are rows of hidden.
  virtual void multiplyState(const OpContext& context, const RecurrentItems& items, StateProduct which,
                             const float* state, float* out) const = 0;
};

// An LSTM's, with weights of bytes: see max.DynamicQuantizeLSTM.
std::unique_ptr<RecurrentProducts> byteProducts(const OpRequest& request, const RecurrentSizes& sizes);
Ref<Prepared> prepareByteWeights(const Node& node, std::span<const Tensor* const> constants);

// Loops of a step per CPU target.
struct RecurrentTable {
  // An LSTM's cell with its usual functions: adds the input's part to the gates, and advances c and h.
  void (*lstmCell)(const float* gates, const float* input, float* c, float* h, int64_t hidden);
  // The same of a GRU. `product`: of the candidate with the state, which is reset now or, with `resets` false, was
  // before the product; NULL = no bias of that product.
  void (*gruCell)(const float* gates, const float* input, const float* product, const float* bias, bool resets,
                  float* h, int64_t hidden);
  void (*gruReset)(const float* gates, const float* input, const float* h, float* left, int64_t hidden);
  // Integer sums become real numbers in the same place: (sum + factor * columnSums[n]) * (scale * scales[n]) + bias[n].
  // NULL = no bias; with a factor of 0 columnSums are not read.
  void (*makeReal)(float* sums, int32_t factor, const int32_t* columnSums, float scale, const float* scales,
                   const float* bias, int64_t count);
};
const RecurrentTable& recurrentTable();  // of cpuTarget()

}  // namespace max
