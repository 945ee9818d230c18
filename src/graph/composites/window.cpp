// SPDX-License-Identifier: Apache-2.0
// Windows of signal processing: sums of cosines.
#include <numbers>

#include "graph/composites/tables.h"

namespace max {

namespace {

// constant + first * cos(2 pi n / N) + second * cos(4 pi n / N), in float64 until the end.
struct Coefficients {
  double constant, first, second;
};

void expandWindow(Expansion& e, const Coefficients& coefficients) {
  Value* size = e.input(0);
  if (e.rank(size) != 0) size = e.reshape(size, {});
  const DType result = dtypeFromOnnx(e.integer("output_datatype", 1)).value_or(DType::Invalid);
  if (result == DType::Invalid) e.invalid("attribute 'output_datatype' is ", e.integer("output_datatype", 1));
  const auto real = [&](double value) { return e.scalar(DType::Float64, value); };
  Value* count = e.cast(size, DType::Float64);
  Value* period = e.flag("periodic", true) ? count : e.op("Max", {e.sub(count, real(1)), real(1)});
  Value* n = e.op("Range", {real(0), count, real(1)});
  const auto cosine = [&](double waves, double factor) {
    Value* angle = e.div(e.mul(n, real(2 * std::numbers::pi * waves)), period);
    return e.mul(e.op("Cos", {angle}), real(factor));
  };
  Value* window = e.add(cosine(1, coefficients.first), real(coefficients.constant));
  if (coefficients.second != 0) window = e.add(window, cosine(2, coefficients.second));
  e.setOutput(0, e.cast(window, result));
}

void expandHann(Expansion& e) { expandWindow(e, {0.5, -0.5, 0}); }
void expandHamming(Expansion& e) { expandWindow(e, {25.0 / 46, -21.0 / 46, 0}); }
void expandBlackman(Expansion& e) { expandWindow(e, {0.42, -0.5, 0.08}); }

constexpr OpSchema window(std::string_view name) {
  return {"", name, 1, 1, 1, 1, "index->*", nullptr, 0, 0, "output_datatype=i periodic=i"};
}

const Composite kRows[] = {
    {window("HannWindow"), expandHann},
    {window("HammingWindow"), expandHamming},
    {window("BlackmanWindow"), expandBlackman},
};

}  // namespace

std::span<const Composite> windowComposites() { return kRows; }

}  // namespace max
