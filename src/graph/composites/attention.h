// SPDX-License-Identifier: Apache-2.0
// Shared by the attention operators of ONNX and com.microsoft.
#pragma once

#include <optional>
#include <string>

#include "graph/composite.h"

namespace max::attention {

// A tensor with the axes batch, heads, sequence, depth in the order that `layout` names.
struct Heads {
  Value* value = nullptr;
  std::string layout = "BHSD";

  int axis(char letter) const { return static_cast<int>(layout.find(letter)); }
};

// [B, S, heads * D] as [B, S, heads, D]; a tensor of rank 4 is [B, H, S, D] already.
Heads splitHeads(Expansion& e, Value* value, int64_t heads);
// In the order [B, H, S, D].
Value* headsFirst(Expansion& e, const Heads& heads);
// [B, S, H, D] or [B, H, S, D] as [B, S, H * D].
Value* joinHeads(Expansion& e, const Heads& heads);
Extent sizeOf(Expansion& e, const Heads& heads, char letter);
// [B, heads, S, D] with each head repeated `times` times.
Value* repeatHeads(Expansion& e, Value* value, Extent times);

// softmax(softcap(scale Q K') + bias) V. Rows whose bias is all -infinity give 0.
struct Request {
  Heads q, k, v;
  Value* bias = nullptr;  // of Q's type; broadcasts to [B, H, Sq, Skv]
  Value* sink = nullptr;  // [H]: a score per head that counts in the softmax sum but has no value
  double scale = 1;
  int64_t group = 0;  // query heads per key head; 0 = from the shapes
  double softcap = 0;
  DType softmaxType = DType::Invalid;  // if not Q's
  std::string layout = "BHSD";         // of the result
  bool wantsScores = false;
};

struct Result {
  Value* output = nullptr;
  // If requested: Q K', after the cap, with bias, after softmax.
  Value* scores[4] = {};
};

// The scale if `given`, else 1 / sqrt(head size).
void setScale(Expansion& e, Request& request, std::optional<double> given);

// Query heads per key head.
Extent groupSize(Expansion& e, const Request& request);
// scale Q K', [B, H, Sq, Skv].
Value* scoresOf(Expansion& e, const Request& request, const Extent& group);

Result attend(Expansion& e, const Request& request);

// Limits on the keys that a query sees. By default there are none: every query sees all keys.
struct Visibility {
  Value* allowed = nullptr;  // bool, broadcasts to [B, H, Sq, Skv]

  void restrict(Expansion& e, Value* condition) { allowed = allowed ? e.op("And", {allowed, condition}) : condition; }
};

// 0 or `bias` for allowed keys, else -infinity (or `masked`); NULL if all are allowed.
Value* biasOf(Expansion& e, Value* allowed, Value* bias, DType dtype, double masked);

// Rotates pairs along the depth of x by the angles of cos and sin [B or 1, S, D / 2].
struct Rotation {
  Value* cos = nullptr;
  Value* sin = nullptr;
  bool interleaved = false;
  int64_t size = 0;  // rotated elements of D, the first ones; 0 = all
};
Heads rotate(Expansion& e, const Heads& heads, const Rotation& rotation);

}  // namespace max::attention
