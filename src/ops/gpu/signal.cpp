// SPDX-License-Identifier: Apache-2.0
// DFT and STFT as plain sums, for lengths that are known at load and not large; MelWeightMatrix.
#include "graph/readers/signal.h"

#include <algorithm>

#include "base/error.h"
#include "graph/schema.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int64_t kLongest = 4096;  // sums take quadratic time

// Lines of n complex numbers, `inner` apart, of which the input has `used`; frames overlap. The result has the first
// `kept` numbers of each spectrum.
constexpr const char* kTransform = R"(
struct Layout {
  long long count, inner, kept, frames, batchStride, step, n, used, parts, keptParts;
};
extern "C" __global__ void gpu_angles(Sum* angles, long long n) {
  EACH(i, n) {
    const double angle = SIGN 6.28318530717958647692 * (double)i / (double)n;
    angles[2 * i] = (Sum)cos(angle);
    angles[2 * i + 1] = (Sum)sin(angle);
  }
}

extern "C" __global__ void gpu_transform(const Layout layout, const Element* x WINDOW, const Sum* angles, Element* y) {
  EACH(i, layout.count) {
    const long long k = i / layout.inner % layout.kept, outer = i / layout.inner / layout.kept;
    const Element* from = x + (outer / layout.frames * layout.batchStride + outer % layout.frames * layout.step +
                               i % layout.inner) * layout.parts;
    Sum real = 0, imaginary = 0;
    long long turn = 0;  // k j mod n
    for (long long j = 0; j < layout.n; ++j) {
      const long long mirrored = MIRRORS && j > layout.n / 2 ? layout.n - j : j;
      if (mirrored < layout.used) {
        const Element* value = from + mirrored * layout.inner * layout.parts;
        Sum a = (Sum)value[0] WEIGHT, b = layout.parts == 2 ? (Sum)value[1] WEIGHT : (Sum)0;
        if (MIRRORS && (j == 0 || 2 * j == layout.n)) b = 0;
        if (MIRRORS && mirrored != j) b = -b;
        const Sum c = angles[2 * turn], s = angles[2 * turn + 1];
        real += a * c - b * s;
        imaginary += a * s + b * c;
      }
      turn += k;
      if (turn >= layout.n) turn -= layout.n;
    }
    const Sum scale = IS_INVERSE ? (Sum)1 / (Sum)layout.n : (Sum)1;
    y[i * layout.keptParts] = (Element)(real * scale);
    if (layout.keptParts == 2) y[i * 2 + 1] = (Element)(imaginary * scale);
  }
}
)";

struct TransformLayout {
  int64_t count, inner, kept, frames, batchStride, step, n, used, parts, keptParts;
};

std::unique_ptr<OpKernel> transformOp(const Placed& placed, const OpRequest& request, const TransformLayout& layout) {
  const size_t sumBytes = request.inputs[0].dtype == DType::Float64 ? sizeof(double) : sizeof(float);
  auto ops = std::make_unique<SeveralOps>(placed, static_cast<size_t>(layout.n) * 2 * sumBytes);
  LaunchOp &angles = ops->add(1), &sums = ops->add(0);
  angles.addOutput(LaunchOp::kScratch);
  angles.addValue(layout.n);
  angles.coverElements(layout.n);
  sums.addFirst(layout);
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.has(i) && placed.reads(i)) sums.addInput(i);
  sums.addInput(LaunchOp::kScratch);
  sums.addOutput(0);
  sums.coverElements(layout.count);
  return ops;
}

std::unique_ptr<OpKernel> createDft(const Placed& placed, const OpRequest& request) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  const readers::Transform transform = readers::readTransform(*RequestInputs(request));
  const int axis = transform.axis.value();
  const int64_t inner = x.product(axis + 1, x.rank() - 1), n = transform.length.value().value();
  const int64_t used = std::min(x[axis], transform.goesToReal() ? n / 2 + 1 : n);
  return transformOp(placed, request,
                     {y.product(0, y.rank() - 1), inner, y[axis], 1, x[axis] * inner, 0, n, used, x.back(), y.back()});
}

std::unique_ptr<OpKernel> createStft(const Placed& placed, const OpRequest& request) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  const readers::Frames frames = readers::readFrames(*RequestInputs(request));
  const int64_t n = frames.length.value().value();
  return transformOp(
      placed, request,
      {y.product(0, 3), 1, y[2], y[1], x[1], frames.step.value().value(), n, n, x.product(2, x.rank()), y[3]});
}

bool isShort(const std::optional<Dim>& length) { return length && length->isKnown() && length->value() <= kLongest; }

std::string sourceFor(DType dtype, bool isInverse, bool mirrors, bool hasWindow) {
  return typesSource(dtype) + filledIn(kTransform, {{"SIGN", isInverse ? "" : "-"},
                                                    {"IS_INVERSE", isInverse ? "true" : "false"},
                                                    {"MIRRORS", mirrors ? "true" : "false"},
                                                    {"WINDOW", hasWindow ? ", const Element* window" : ""},
                                                    {"WEIGHT", hasWindow ? "* (Sum)window[j]" : ""}});
}

bool isFloatSignal(const Node& node) {
  const TensorType& x = node.input(0)->type;
  return isFloat(x.dtype) && kernelType(x.dtype).element && x.ranked;
}

Ref<Placed> placeDft(const Node& node) {
  if (!isFloatSignal(node) || !isKnownToPlan(node, 1) || !isKnownToPlan(node, 2)) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  const readers::Transform transform = readers::readTransform(NodeInputs(node, types));
  if (!isShort(transform.length)) return nullptr;
  return placedAs(sourceFor(node.input(0)->type.dtype, transform.isInverse, transform.goesToReal(), false),
                  {"gpu_transform", "gpu_angles"}, createDft, 1);
}

Ref<Placed> placeStft(const Node& node) {
  if (!isFloatSignal(node) || !isKnownToPlan(node, 1) || !isKnownToPlan(node, 3)) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  if (!isShort(readers::readFrames(NodeInputs(node, types)).length)) return nullptr;
  return placedAs(sourceFor(node.input(0)->type.dtype, false, false, node.input(2)), {"gpu_transform", "gpu_angles"},
                  createStft, 0b101);
}

// Triangles between edges that are equally far from each other on the mel scale.
constexpr const char* kMel = R"(
static inline __device__ double melOf(double hertz) { return 2595 * log10(1 + hertz / 700); }
static inline __device__ long long edgeOf(double i, double bins, double length, double rate, double low, double high) {
  const double mel = melOf(low) + i * ((melOf(high) - melOf(low)) / (bins + 2));
  return (long long)floor((length + 1) * (700 * (pow(10.0, mel / 2595) - 1)) / rate);
}
extern "C" __global__ void gpu_mel_weights(const Integer* length, const Integer* rate, const Real* low, const Real* high,
                                           Element* out, long long count, long long bins) {
  EACH(i, count) {
    const long long row = i / bins, band = i % bins;
    long long edges[3];
    for (int k = 0; k < 3; ++k)
      edges[k] = edgeOf((double)(band + k), (double)bins, (double)*length, (double)*rate, (double)*low, (double)*high);
    double weight = row == edges[1] ? 1 : 0;
    if (row >= edges[0] && row < edges[1]) weight = (double)(row - edges[0]) / (double)(edges[1] - edges[0]);
    if (row >= edges[1] && row < edges[2]) weight = (double)(edges[2] - row) / (double)(edges[2] - edges[1]);
    out[i] = (Element)weight;
  }
}
)";

std::unique_ptr<OpKernel> createMel(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  return elementLaunch(placed, request, shape.count(), shape[1]);
}

Ref<Placed> placeMel(const Node& node) {
  const DType dtype = node.output(0)->type.dtype;
  const char *integer = kernelType(node.input(1)->type.dtype).element,
             *real = kernelType(node.input(3)->type.dtype).element;
  if (!kernelType(dtype).element || !integer || !real) return nullptr;
  return placedAs(concat(typesSource(dtype), "typedef ", integer, " Integer;\ntypedef ", real, " Real;\n", kMel),
                  {"gpu_mel_weights"}, createMel, 0b11110);
}

constexpr PlaceRow kRows[] = {{"", "DFT", placeDft}, {"", "STFT", placeStft}, {"", "MelWeightMatrix", placeMel}};

}  // namespace

std::span<const PlaceRow> gpuSignals() { return kRows; }

}  // namespace max
