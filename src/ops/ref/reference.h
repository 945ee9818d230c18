// SPDX-License-Identifier: Apache-2.0
// Plain reference kernels: the oracle of the fast ones and the fallback for every
// dtype. Floating-point types compute in double, integers in 64 bits (wrapping),
// so that an operator is written once for all dtypes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/interrupt_point.h"
#include "base/memory_account.h"
#include "base/number_access.h"
#include "ops/op_kernel.h"
#include "ops/request_inputs.h"

namespace max::reference {

struct Argument {
  DType dtype = DType::Invalid;  // Invalid = omitted
  Shape shape;
  void* data = nullptr;  // of inputs: not written

  bool present() const { return dtype != DType::Invalid; }
  int64_t count() const { return shape.product(0, shape.rank()); }
};

// One run of a node on concrete arguments.
struct Call {
  const Node& node;
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;

  bool has(size_t i) const { return i < inputs.size() && inputs[i].present(); }
  bool hasOutput(size_t i) const { return i < outputs.size() && outputs[i].present(); }
  const Argument& in(size_t i = 0) const { return inputs[i]; }
  const Argument& out(size_t i = 0) const { return outputs[i]; }
  // The view for readers: the contents of inputs are available.
  RequestInputs read() const;

  template <class... Parts>
  [[noreturn]] void fail(MaxStatus status, const Parts&... parts) const {
    max::fail(status, node.description(), ": ", parts...);
  }
};

using Function = void (*)(const Call& call);

std::unique_ptr<OpKernel> createReferenceOp(const OpRequest& request, Function function);
// True if load and store support the dtypes of all operands: all except strings and complex numbers.
bool hasBasicDTypes(const OpRequest& request);

template <Function F>
std::unique_ptr<OpKernel> createReference(const OpRequest& request) {
  return createReferenceOp(request, F);
}
template <Function F, bool (*Accepts)(const OpRequest&) = hasBasicDTypes>
inline constexpr Implementation kReference[] = {{"reference", Accepts, &createReference<F>}};

// The arithmetic of a dtype: double, int64_t or (for uint64) uint64_t.
template <class F>
void visitDomain(DType dtype, F function) {
  if (isFloat(dtype))
    function(double{});
  else if (dtype == DType::UInt64)
    function(uint64_t{});
  else
    function(int64_t{});
}

// Integer arithmetic wraps: it happens in uint64_t.
template <class D>
using Wrapped = std::conditional_t<std::is_integral_v<D>, uint64_t, D>;

template <class D>
D add(D a, D b) {
  return static_cast<D>(static_cast<Wrapped<D>>(a) + static_cast<Wrapped<D>>(b));
}
template <class D>
D subtract(D a, D b) {
  return static_cast<D>(static_cast<Wrapped<D>>(a) - static_cast<Wrapped<D>>(b));
}
template <class D>
D multiply(D a, D b) {
  return static_cast<D>(static_cast<Wrapped<D>>(a) * static_cast<Wrapped<D>>(b));
}

// All elements of an argument in its domain (or another one).
template <class D>
std::vector<D> load(const Argument& argument);
// Rounds to the argument's dtype, as storeNumbers does.
template <class D>
void store(const Argument& argument, const std::vector<D>& values, const SmallFloatRules& rules = {});

std::vector<int64_t> loadIntegers(const Argument& argument);
double loadScalar(const Argument& argument, double fallback);
// Scales of quantized tensors; INVALID_ARGUMENT if there is none.
std::vector<double> loadScales(const Call& call, size_t input);

// Converts sums of 8-bit products to 8-bit numbers, without the zero point. In float32, so that ties round like in the
// fast kernels; values far out of range stay out of range.
inline double requantized(double sum, float factor) {
  constexpr float kFar = 1 << 20;
  return std::nearbyint(std::min(std::max(-kFar, static_cast<float>(sum) * factor), kFar));  // NaN: -kFar
}

// For data that a function keeps besides its operands; counts toward the call's memory limit.
MemoryLease roomFor(int64_t count, size_t bytes);

// Strides in elements with which a tensor of shape `shape` is read when broadcast to `target`.
Shape broadcastStrides(const Shape& shape, const Shape& target);

// `count` copies of the value. New memory takes time to fill, so this checks for stops (base/interrupt_point.h).
template <class D>
std::vector<D> repeated(int64_t count, D value = D()) {
  std::vector<D> values;
  values.reserve(static_cast<size_t>(count));
  inParts(count, 1, [&](int64_t, int64_t end) { values.resize(static_cast<size_t>(end), value); });
  return values;
}

// A vector that never moves its elements as it grows: that would be a long step. Takes memory as it fills.
template <class T>
std::vector<T> emptyFor(int64_t most) {
  std::vector<T> values;
  values.reserve(static_cast<size_t>(most));
  return values;
}

// Calls body(k, offsets) for each element k of `shape`, row-major; offsets[i] is its offset with strides[i].
template <size_t N, class Body>
void forEachOffset(const Shape& shape, const std::array<Shape, N>& strides, Body body) {
  const int64_t count = shape.product(0, shape.rank());
  Shape index = Shape::filled(shape.rank(), 0);
  std::array<int64_t, N> offsets{};
  WorkCounter work;
  for (int64_t k = 0; k < count; ++k) {
    body(k, offsets);
    work.pass(4);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      for (size_t i = 0; i < N; ++i) offsets[i] += strides[i][axis];
      if (++index[axis] < shape[axis]) break;
      for (size_t i = 0; i < N; ++i) offsets[i] -= strides[i][axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

// Advances a row-major index; false when it has wrapped to all zeros.
inline bool advance(Shape& index, const Shape& shape) {
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

// The activation of a fused operator or of a recurrent layer, by ONNX name ("" = none).
struct Activation {
  std::string name;
  double alpha = 0;
  double beta = 0;
  double operator()(double x) const;
};
Activation fusedActivation(const Node& node, const char* prefix = "");  // of the names of its attributes

}  // namespace max::reference
