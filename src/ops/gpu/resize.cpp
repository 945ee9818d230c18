// SPDX-License-Identifier: Apache-2.0
// Resize to the nearest pixel, linear and cubic, without antialiasing: a thread for each element.
#include "base/error.h"
#include "ops/cpu/resize/resize_axis.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr const char* kResize = R"(
struct Layout {
  long long count, rank, dims[16], sizes[16], strides[16];  // of the result, of the input
  long long isChanged[16];
  double before[16], factor[16], divisor[16], shift[16], after[16];
  double cubicFactor;
};

// Of an output index, in the input.
static inline __device__ double coordinateOf(const Layout& layout, long long d, long long i) {
  return (((double)i + layout.before[d]) * layout.factor[d] / layout.divisor[d] + layout.shift[d]) - layout.after[d];
}

static inline __device__ double weightOf(double distance, double a) {
  const double d = fabs(distance);
  if (TAPS == 2) return d < 1 ? 1 - d : 0;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

extern "C" __global__ void gpu_resize(const Layout layout, const Element* in, Element* out) {
  EACH(i, layout.count) {
    long long from = 0, rest = i;
#if TAPS == 1
    for (long long d = layout.rank - 1; d >= 0; --d) {
      long long place = rest % layout.dims[d];
      rest /= layout.dims[d];
      if (layout.isChanged[d]) {
        const double x = coordinateOf(layout, d, place), last = (double)(layout.sizes[d] - 1), rounded = ROUND;
        place = (long long)(rounded < 0 ? 0 : rounded > last ? last : rounded);
      }
      from += place * layout.strides[d];
    }
    out[i] = in[from];
#else
    long long offsets[16][TAPS], combinations = 1;
    double weights[16][TAPS];
    int changed = 0;
    for (long long d = layout.rank - 1; d >= 0; --d) {
      const long long place = rest % layout.dims[d];
      rest /= layout.dims[d];
      if (!layout.isChanged[d]) {
        from += place * layout.strides[d];
        continue;
      }
      const double x = coordinateOf(layout, d, place), base = floor(x);
      double sum = 0;
      for (int tap = 0; tap < TAPS; ++tap) {
        const int offset = tap + 1 - TAPS / 2;
        const double at = base + offset, last = (double)(layout.sizes[d] - 1);
        offsets[changed][tap] = (long long)(at < 0 ? 0 : at > last ? last : at) * layout.strides[d];
        sum += weights[changed][tap] = weightOf((double)offset - (x - base), layout.cubicFactor);
      }
      for (int tap = 0; tap < TAPS; ++tap) weights[changed][tap] /= sum;
      ++changed;
      combinations *= TAPS;
    }
    Sum result = 0;
    for (long long which = 0; which < combinations; ++which) {
      long long at = from, left = which;
      double weight = 1;
      for (int k = 0; k < changed; ++k, left /= TAPS) {
        at += offsets[k][left % TAPS];
        weight *= weights[k][left % TAPS];
      }
      result += (Sum)weight * (Sum)in[at];
    }
    out[i] = (Element)result;
#endif
  }
}
)";

struct ResizeLayout {
  int64_t count = 0, rank = 0;
  int64_t dims[kMaxRank] = {}, sizes[kMaxRank] = {}, strides[kMaxRank] = {}, isChanged[kMaxRank] = {};
  double before[kMaxRank] = {}, factor[kMaxRank] = {}, divisor[kMaxRank] = {}, shift[kMaxRank] = {},
         after[kMaxRank] = {};
  double cubicFactor = 0;

  // Output index i is at (i + before) * factor / divisor + shift - after: rounded as on the CPU.
  void place(const ResizedAxis& axis, readers::PixelPlace mode) {
    using readers::PixelPlace;
    const double in = static_cast<double>(axis.inputSize), result = static_cast<double>(axis.outputSize);
    const bool isCorner = mode == PixelPlace::AlignCorners, isWhole = mode == PixelPlace::Asymmetric || isCorner;
    const bool isPoint = axis.outputSize == 1 && (isCorner || mode == PixelPlace::PytorchHalfPixel);
    isChanged[axis.axis] = 1;
    before[axis.axis] = isWhole || isPoint ? 0 : 0.5;
    factor[axis.axis] = isPoint ? 0 : isCorner ? in - 1 : 1;
    divisor[axis.axis] = isPoint ? 1 : isCorner ? result - 1 : axis.scale;
    shift[axis.axis] = mode == PixelPlace::HalfPixelSymmetric ? in / 2 * (1 - result / (axis.scale * in)) : 0;
    after[axis.axis] = isWhole || isPoint || mode == PixelPlace::TfHalfPixelForNn ? 0 : 0.5;
  }
};

const char* roundingOf(readers::NearestPixel nearest) {
  switch (nearest) {
    case readers::NearestPixel::RoundPreferFloor:
      return "ceil(x - 0.5)";
    case readers::NearestPixel::RoundPreferCeil:
      return "floor(x + 0.5)";
    case readers::NearestPixel::Floor:
      return "floor(x)";
    case readers::NearestPixel::Ceil:
      break;
  }
  return "ceil(x)";
}

std::string sourceFor(const readers::Resize& resize, DType dtype) {
  const bool isNearest = resize.interpolation == readers::Interpolation::Nearest;
  const int taps = isNearest ? 1 : resize.interpolation == readers::Interpolation::Linear ? 2 : 4;
  return concat(isNearest ? "#include <cmath>\ntypedef float Sum;\n" + movedSource(dtype) : typesSource(dtype),
                "#define TAPS ", taps, "\n#define ROUND ", roundingOf(resize.nearest), "\n", kResize);
}

std::unique_ptr<OpKernel> createResize(const Placed& placed, const OpRequest& request) {
  const Shape &in = request.inputs[0].shape, &out = request.outputs[0].shape;
  require(in.count() > 0, MAX_STATUS_INVALID_ARGUMENT, request.node.description(), ": cannot resize ", in,
          ", which has no elements");
  const readers::Resize resize = resizeOf(request);
  const Shape dense = contiguousStrides(in);
  ResizeLayout layout;
  layout.count = out.count();
  layout.rank = out.rank();
  layout.cubicFactor = static_cast<double>(resize.cubicFactor);
  for (int i = 0; i < out.rank(); ++i) {
    layout.dims[i] = out[i];
    layout.sizes[i] = in[i];
    layout.strides[i] = dense[i];
  }
  for (const ResizedAxis& axis : resizedAxes(MovementCall(request, nullptr), resize)) layout.place(axis, resize.place);
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverElements(layout.count);
  return op;
}

Ref<Placed> placeResize(const Node& node) {
  const TensorType& type = node.input(0)->type;
  if (!type.ranked || !isMovable(type.dtype)) return nullptr;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (!isKnownToPlan(node, i)) return nullptr;
  const readers::Resize resize(node.attributes, type.rank());
  const bool isNearest = resize.interpolation == readers::Interpolation::Nearest;
  if (resize.crops() || resize.smooths || resize.excludesOutside) return nullptr;
  if (!isNearest && (!isFloat(type.dtype) || !kernelType(type.dtype).element)) return nullptr;
  return placedAs(sourceFor(resize, type.dtype), {"gpu_resize"}, createResize, 1);
}

constexpr PlaceRow kRows[] = {{"", "Resize", placeResize}};

}  // namespace

std::span<const PlaceRow> gpuResize() { return kRows; }

}  // namespace max
