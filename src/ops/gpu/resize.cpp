// SPDX-License-Identifier: Apache-2.0
// Resize to the nearest pixel, linear and cubic: a thread for each element.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/cpu/resize/resize_axis.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr const char* kResize = R"(
struct Layout {
  long long count, rank, dims[16], sizes[16], strides[16];  // of the result, of the input
  long long isChanged[16], taps[16];
  double before[16], factor[16], divisor[16], shift[16], after[16];
  double stretch[16];  // antialiasing makes filters wider where the image shrinks
  double cubicFactor, outside;
};

// Of an output index, in the input.
static inline __device__ double coordinateOf(const Layout& layout, long long d, long long i) {
  const double x = (((double)i + layout.before[d]) * layout.factor[d] / layout.divisor[d] + layout.shift[d]) - layout.after[d];
  const double far = 1e7, end = (double)layout.sizes[d] + far;
  return x < end ? x > -far ? x : -far : x != x ? -far : end;
}
static inline __device__ bool isOutside(const Layout& layout, long long d, double x) {
  return CROPS && (x < 0 || x > (double)(layout.sizes[d] - 1));
}

static inline __device__ double filterOf(double distance, double a) {
  const double d = fabs(distance);
  if (!IS_CUBIC) return d < 1 ? 1 - d : 0;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}
// Of a tap; `base` is the pixel below the coordinate.
static inline __device__ double pixelAt(const Layout& layout, long long d, double base, long long tap) {
  return base + (double)(tap + 1 - layout.taps[d] / 2);
}
static inline __device__ double weightOf(const Layout& layout, long long d, double x, double pixel) {
  if (EXCLUDES_OUTSIDE && (pixel < 0 || pixel >= (double)layout.sizes[d])) return 0;
  return filterOf((pixel - x) * layout.stretch[d], layout.cubicFactor);
}

extern "C" __global__ void gpu_resize(const Layout layout, const Element* in, Element* out) {
  EACH(i, layout.count) {
    long long from = 0, rest = i;
    bool isFilled = false;
#if IS_NEAREST
    for (long long d = layout.rank - 1; d >= 0; --d) {
      long long place = rest % layout.dims[d];
      rest /= layout.dims[d];
      if (layout.isChanged[d]) {
        const double x = coordinateOf(layout, d, place), last = (double)(layout.sizes[d] - 1);
        const double at = (double)(float)(x + CENTRE) - CENTRE, rounded = ROUND;  // as readers::nearestPlace
        place = (long long)(rounded < 0 ? 0 : rounded > last ? last : rounded);
        isFilled = isFilled || isOutside(layout, d, x);
      }
      from += place * layout.strides[d];
    }
    out[i] = isFilled ? OUTSIDE : in[from];
#else
    long long axes[16], combinations = 1;
    double places[16], sums[16];
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
      for (long long tap = 0; tap < layout.taps[d]; ++tap) sum += weightOf(layout, d, x, pixelAt(layout, d, base, tap));
      axes[changed] = d, places[changed] = x, sums[changed++] = sum == 0 ? 1 : sum;
      combinations *= layout.taps[d];
      isFilled = isFilled || isOutside(layout, d, x);
    }
    Sum result = 0;
    for (long long which = 0; which < combinations; ++which) {
      long long at = from, left = which;
      double weight = 1;
      for (int k = 0; k < changed; ++k) {
        const long long d = axes[k], taps = layout.taps[d];
        const double pixel = pixelAt(layout, d, floor(places[k]), left % taps), last = (double)(layout.sizes[d] - 1);
        weight *= weightOf(layout, d, places[k], pixel) / sums[k];
        at += (long long)(pixel < 0 ? 0 : pixel > last ? last : pixel) * layout.strides[d];
        left /= taps;
      }
      result += (Sum)weight * (Sum)in[at];
    }
    out[i] = isFilled ? OUTSIDE : (Element)result;
#endif
  }
}
)";

constexpr double kSmallestStretch = 1e-5;  // as on the CPU

struct ResizeLayout {
  int64_t count = 0, rank = 0;
  int64_t dims[kMaxRank] = {}, sizes[kMaxRank] = {}, strides[kMaxRank] = {}, isChanged[kMaxRank] = {},
          taps[kMaxRank] = {};
  double before[kMaxRank] = {}, factor[kMaxRank] = {}, divisor[kMaxRank] = {}, shift[kMaxRank] = {},
         after[kMaxRank] = {}, stretch[kMaxRank] = {};
  double cubicFactor = 0, outside = 0;

  // Output index i is at (i + before) * factor / divisor + shift - after: rounded as on the CPU.
  void place(const ResizedAxis& axis, const readers::Resize& resize) {
    using readers::PixelPlace;
    const double in = static_cast<double>(axis.inputSize), result = static_cast<double>(axis.outputSize);
    const bool isCorner = resize.place == PixelPlace::AlignCorners;
    const bool isWhole = resize.place == PixelPlace::Asymmetric || isCorner || resize.crops();
    const bool isPoint =
        axis.outputSize == 1 && (isCorner || resize.crops() || resize.place == PixelPlace::PytorchHalfPixel);
    const bool isHalf = resize.place == PixelPlace::TfHalfPixelForNn;
    isChanged[axis.axis] = 1;
    before[axis.axis] = isWhole || isPoint ? 0 : 0.5;
    factor[axis.axis] = isPoint ? 0 : isCorner ? in - 1 : 1;
    divisor[axis.axis] = isPoint ? 1 : isCorner ? result - 1 : axis.scale;
    shift[axis.axis] = resize.place == PixelPlace::HalfPixelSymmetric ? in / 2 * (1 - result / (axis.scale * in)) : 0;
    after[axis.axis] = isWhole || isPoint || isHalf ? 0 : 0.5;
    if (resize.crops()) crop(axis, isPoint);
    const bool isCubic = resize.interpolation == readers::Interpolation::Cubic;
    stretch[axis.axis] = resize.smooths ? std::min(axis.scale, 1.0) : 1.0;
    taps[axis.axis] = -2 * static_cast<int64_t>(std::floor((isCubic ? -2 : -1) / stretch[axis.axis]));
  }

 private:
  void crop(const ResizedAxis& axis, bool isPoint) {
    const double last = static_cast<double>(axis.inputSize - 1);
    if (!isPoint) {
      factor[axis.axis] = (axis.roiEnd - axis.roiStart) * last;
      divisor[axis.axis] = static_cast<double>(axis.outputSize - 1);
    }
    shift[axis.axis] = (isPoint ? 0.5 * (axis.roiStart + axis.roiEnd) : axis.roiStart) * last;
  }
};

const char* roundingOf(readers::NearestPixel nearest) {
  switch (nearest) {
    case readers::NearestPixel::RoundPreferFloor:
      return "ceil(at - 0.5)";
    case readers::NearestPixel::RoundPreferCeil:
      return "floor(at + 0.5)";
    case readers::NearestPixel::Floor:
      return "floor(at)";
    case readers::NearestPixel::Ceil:
      break;
  }
  return "ceil(at)";
}

bool isNearest(const readers::Resize& resize) { return resize.interpolation == readers::Interpolation::Nearest; }

std::string sourceFor(const readers::Resize& resize, DType dtype) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  const bool onlyMoves = isNearest(resize) && !resize.crops();
  return concat("#include <cmath>\n", onlyMoves ? movedSource(dtype) : typesSource(dtype), "#define IS_NEAREST ",
                isNearest(resize) ? 1 : 0, "\n#define IS_CUBIC ",
                flag(resize.interpolation == readers::Interpolation::Cubic), "\n#define CROPS ", flag(resize.crops()),
                "\n#define OUTSIDE ", onlyMoves ? "Element()" : "(Element)layout.outside",
                "\n#define EXCLUDES_OUTSIDE ", flag(resize.excludesOutside), "\n#define ROUND ",
                roundingOf(resize.nearest), "\n#define CENTRE ", resize.startsAtCentre() ? "0.5" : "0.0", "\n",
                kResize);
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
  layout.outside = static_cast<double>(resize.outside);
  for (int i = 0; i < out.rank(); ++i) {
    layout.dims[i] = out[i];
    layout.sizes[i] = in[i];
    layout.strides[i] = dense[i];
  }
  for (const ResizedAxis& axis : resizedAxes(MovementCall(request, nullptr), resize)) {
    require(!resize.smooths || axis.scale > kSmallestStretch, MAX_STATUS_UNIMPLEMENTED, request.node.description(),
            ": scale ", axis.scale, " needs a filter with too many pixels");
    layout.place(axis, resize);
  }
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
  const Value* region = node.input(1);
  if (resize.crops() && region && !(region->constant && region->constant->hasContents())) return nullptr;
  const bool calculates = !isNearest(resize) || resize.crops();
  if ((!isNearest(resize) && !isFloat(type.dtype)) || (calculates && !kernelType(type.dtype).element)) return nullptr;
  return placedAs(sourceFor(resize, type.dtype), {"gpu_resize"}, createResize, 1);
}

constexpr PlaceRow kRows[] = {{"", "Resize", placeResize}};

}  // namespace

std::span<const PlaceRow> gpuResize() { return kRows; }

}  // namespace max
