// SPDX-License-Identifier: Apache-2.0
// Operators that sample images: GridSample, RoiAlign, MaxRoiPool, DeformConv, Col2Im. A thread for each element of the
// result. A region of an image that does not exist is zero, since a kernel cannot report it.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/image.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

const char* flag(bool value) { return value ? "true" : "false"; }

// Places and weights in the grid's type: its rounding decides which pixel is nearest.
constexpr const char* kGridSample = R"(
struct Layout {
  long long count, channels, rank, pixels, all;  // pixels of the result, of the input
  long long in[8];
};

static inline __device__ Real reflected(Real x, Real low, Real high) {
  const Real range = high - low, away = x < low ? low - x : x - high, rest = fmod(away, 2 * range);
  if (!(range > 0) || !(rest >= 0)) return 0;
  const Real inside = rest <= range ? rest : 2 * range - rest;
  return x < low ? low + inside : high - inside;
}
// A coordinate far outside of the image becomes an equivalent one.
static inline __device__ Real placed(Real x, Real size, Real low, Real high) {
  if (x >= low && x <= high) return x;
  if (PADDING == 0) return x > (Real)-4 && x < size + 4 ? x : (Real)-4;
  if (PADDING == 2) return reflected(x, low, high);
  if (TAPS == 4 && x == x) return x < (Real)-4 ? (Real)-4 : x > size + 4 ? size + 4 : x;
  return x > high ? size - 1 : 0;
}
static inline __device__ long long pixelOf(long long i, long long size, Real low, Real high) {
  if (i >= 0 && i < size) return i;
  if (PADDING == 0) return -1;
  if (PADDING == 2) i = (long long)reflected((Real)i, low, high);
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}
static inline __device__ Real cubic(Real distance) {
  const Real a = (Real)-0.75, d = distance < 0 ? -distance : distance;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
static inline __device__ void locate(Real coordinate, long long count, long long* pixels, Real* weights) {
  const Real size = (Real)count, low = ALIGNS_CORNERS ? (Real)0 : (Real)-0.5;
  const Real high = ALIGNS_CORNERS ? size - 1 : size - (Real)0.5;
  Real x = ALIGNS_CORNERS ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  if (TAPS == 1) {
    pixels[0] = pixelOf((long long)placed(rint(x), size, low, high), count, low, high);
    weights[0] = 1;
    return;
  }
  x = placed(x, size, low, high);
  const Real base = floor(x), part = x - base;
  for (int i = 0; i < TAPS; ++i) {
    const int offset = i + 1 - TAPS / 2;
    pixels[i] = pixelOf((long long)base + offset, count, low, high);
    weights[i] = TAPS == 4 ? cubic(part - (Real)offset) : i ? part : 1 - part;
  }
}

extern "C" __global__ void gpu_grid_sample(const Layout layout, const Element* x, const Grid* grid, Element* y) {
  EACH(i, layout.count) {
    const long long pixel = i % layout.pixels, channel = i / layout.pixels, image = channel / layout.channels;
    const Grid* place = grid + (image * layout.pixels + pixel) * layout.rank;
    long long offsets[8][TAPS], combinations = 1, stride = 1;
    Real weights[8][TAPS];
    for (long long d = layout.rank - 1; d >= 0; --d) {
      locate((Real)place[layout.rank - 1 - d], layout.in[d], offsets[d], weights[d]);
      for (int tap = 0; tap < TAPS; ++tap) offsets[d][tap] = offsets[d][tap] < 0 ? -1 : offsets[d][tap] * stride;
      stride *= layout.in[d];
      combinations *= TAPS;
    }
    const Element* from = x + channel * layout.all;
#if TAPS == 1
    long long at = 0;
    for (long long d = 0; d < layout.rank; ++d) at = at < 0 || offsets[d][0] < 0 ? -1 : at + offsets[d][0];
    y[i] = at < 0 ? Element() : from[at];
#else
    Sum result = 0;
    for (long long which = 0; which < combinations; ++which) {
      long long at = 0, left = which;
      Real weight = 1;
      for (long long d = 0; d < layout.rank; ++d, left /= TAPS) {
        const long long offset = offsets[d][left % TAPS];
        at = at < 0 || offset < 0 ? -1 : at + offset;
        weight *= weights[d][left % TAPS];
      }
      if (at >= 0) result += (Sum)weight * (Sum)from[at];
    }
    y[i] = (Element)result;
#endif
  }
}
)";

struct GridLayout {
  int64_t count, channels, rank, pixels, all;
  int64_t in[8];
};

std::unique_ptr<OpKernel> createGridSample(const Placed& placed, const OpRequest& request) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  GridLayout layout{y.count(), x[1], x.rank() - 2, y.product(2, y.rank()), x.product(2, x.rank()), {}};
  std::copy(x.begin() + 2, x.end(), layout.in);
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverElements(layout.count);
  return op;
}

Ref<Placed> placeGridSample(const Node& node) {
  const TensorType& x = node.input(0)->type;
  const DType grid = node.input(1)->type.dtype;
  const readers::Grid rule(node.attributes);
  const bool isNearest = rule.mode == readers::GridMode::Nearest;
  if (!x.ranked || x.rank() < 3 || x.rank() > 10 || !kernelType(grid).element) return nullptr;
  if (isNearest ? !isMovable(x.dtype) : !isFloat(x.dtype) || !kernelType(x.dtype).element) return nullptr;
  const std::string elements =
      isNearest ? "#include \"max_half.h\"\n#include <cmath>\n" + movedSource(x.dtype) : typesSource(x.dtype);
  return placedAs(
      concat(elements, "typedef ", kernelType(grid).element, " Grid;\ntypedef ",
             grid == DType::Float64 ? "double" : "float", " Real;\n#define TAPS ", rule.taps(), "\n#define PADDING ",
             static_cast<int>(rule.padding), "\n#define ALIGNS_CORNERS ", flag(rule.alignsCorners), "\n", kGridSample),
      {"gpu_grid_sample"}, createGridSample);
}

// Regions are [left, top, right, bottom].
constexpr const char* kRoiAlign = R"(
struct Layout {
  long long count, images, channels, height, width, rows, columns, samples;
  float scale;
};
struct Axis {
  double first, step;  // of a bin's samples
  long long samples, begin, end;  // those that may lie on the image or less than a pixel beside it
};
static inline __device__ Axis axisOf(const Layout& layout, double from, double to, long long bin, long long bins, long long size) {
  const double start = from * (double)layout.scale - (IS_HALF_PIXEL ? 0.5 : 0.0);
  double length = (to - from) * (double)layout.scale;
  if (!IS_HALF_PIXEL && !(length > 1)) length = 1;
  const double binSize = length / (double)bins, adapted = ceil(binSize) < 1e15 ? ceil(binSize) : 1e15;
  Axis axis;
  axis.samples = layout.samples > 0 ? layout.samples : adapted > 0 ? (long long)adapted : 0;
  axis.step = binSize / (double)axis.samples;
  axis.first = start + (double)bin * binSize;
  axis.begin = 0;
  axis.end = axis.samples;
  if (axis.step > 0) {
    const double all = (double)axis.samples, low = (-1 - axis.first) / axis.step - 1;
    const double high = ((double)size - axis.first) / axis.step + 1;
    axis.begin = low > 0 ? (long long)(low < all ? low : all) : 0;
    axis.end = high >= all ? axis.samples : high > 0 ? (long long)high + 1 : 0;
  }
  return axis;
}
struct Between {
  bool isInside;
  long long low, high;
  double lowWeight, highWeight;
};
static inline __device__ Between between(const Axis& axis, long long i, long long size) {
  const double at = axis.first + ((double)i + 0.5) * axis.step;
  Between result = {at >= -1 && at <= (double)size, 0, 0, 0, 0};
  if (!result.isInside) return result;
  const double inside = at > 0 ? at : 0;
  result.low = (long long)inside < size - 1 ? (long long)inside : size - 1;
  result.high = result.low + 1 < size ? result.low + 1 : size - 1;
  result.highWeight = result.low == size - 1 ? 0 : inside - (double)result.low;
  result.lowWeight = 1 - result.highWeight;
  return result;
}

extern "C" __global__ void gpu_roi_align(const Layout layout, const Element* x, const Element* regions,
                                         const long long* images, Element* y) {
  EACH(i, layout.count) {
    const long long column = i % layout.columns, row = i / layout.columns % layout.rows;
    const long long channel = i / layout.columns / layout.rows % layout.channels;
    const long long region = i / layout.columns / layout.rows / layout.channels, image = images[region];
    if (image < 0 || image >= layout.images) {
      y[i] = (Element)0;
      continue;
    }
    const Element* box = regions + region * 4;
    const Axis down = axisOf(layout, (double)box[1], (double)box[3], row, layout.rows, layout.height);
    const Axis across = axisOf(layout, (double)box[0], (double)box[2], column, layout.columns, layout.width);
    const Element* from = x + (image * layout.channels + channel) * layout.height * layout.width;
    double sum = 0, greatest = -INFINITY;
    for (long long a = down.begin; a < down.end; ++a) {
      const Between v = between(down, a, layout.height);
      for (long long b = across.begin; v.isInside && b < across.end; ++b) {
        const Between h = between(across, b, layout.width);
        if (!h.isInside) continue;
        const double parts[4] = {v.lowWeight * h.lowWeight * (double)from[v.low * layout.width + h.low],
                                 v.lowWeight * h.highWeight * (double)from[v.low * layout.width + h.high],
                                 v.highWeight * h.lowWeight * (double)from[v.high * layout.width + h.low],
                                 v.highWeight * h.highWeight * (double)from[v.high * layout.width + h.high]};
        for (int k = 0; k < 4; ++k) {
          sum += parts[k];
          greatest = parts[k] > greatest ? parts[k] : greatest;
        }
      }
    }
    const double all = (double)down.samples * (double)across.samples;
    if (TAKES_MAX)
      y[i] = (Element)(greatest == -INFINITY ? 0.0 : greatest);
    else
      y[i] = (Element)(sum / (all > 1 ? all : 1.0));
  }
}
)";

struct RoiLayout {
  int64_t count, images, channels, height, width, rows, columns, samples;
  float scale;
};

std::unique_ptr<OpKernel> createRoiAlign(const Placed& placed, const OpRequest& request) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  const readers::AlignedRegions rule(request.node.attributes);
  auto op = launchOf(placed, request);
  op->addFirst(RoiLayout{y.count(), x[0], x[1], x[2], x[3], y[2], y[3], rule.samples, rule.scale});
  op->coverElements(y.count());
  return op;
}

bool isNumber(DType dtype) { return isFloat(dtype) && kernelType(dtype).element; }

Ref<Placed> placeRoiAlign(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isNumber(dtype)) return nullptr;
  const readers::AlignedRegions rule(node.attributes);
  return placedAs(concat(typesSource(dtype), "#define IS_HALF_PIXEL ", flag(rule.isHalfPixel), "\n#define TAKES_MAX ",
                         flag(rule.takesMax), "\n", kRoiAlign),
                  {"gpu_roi_align"}, createRoiAlign);
}

// Regions are [image, left, top, right, bottom], both ends included.
constexpr const char* kMaxRoiPool = R"(
struct Layout {
  long long count, images, channels, height, width, rows, columns;
  double scale;
};
static inline __device__ long long roundedPixel(double coordinate, double scale) {
  const double far = 1 << 30, scaled = floor(coordinate * scale + 0.5);
  return scaled != scaled ? 0 : (long long)(scaled < -far ? -far : scaled > far ? far : scaled);
}
static inline __device__ long long within(long long i, long long size) { return i < 0 ? 0 : i > size ? size : i; }

extern "C" __global__ void gpu_max_roi_pool(const Layout layout, const Element* x, const Element* regions, Element* y) {
  EACH(i, layout.count) {
    const long long column = i % layout.columns, row = i / layout.columns % layout.rows;
    const long long channel = i / layout.columns / layout.rows % layout.channels;
    const Element* region = regions + i / layout.columns / layout.rows / layout.channels * 5;
    const double image = (double)region[0];
    const bool exists = image >= 0 && image < (double)layout.images;
    long long ends[4];
    for (int d = 0; d < 2; ++d) {
      const long long first = roundedPixel((double)region[2 - d], layout.scale), last = roundedPixel((double)region[4 - d], layout.scale);
      const long long cell = d ? column : row, size = d ? layout.width : layout.height;
      const double length = (double)(last - first + 1 > 1 ? last - first + 1 : 1) / (double)(d ? layout.columns : layout.rows);
      ends[2 * d] = within(first + (long long)floor((double)cell * length), size);
      ends[2 * d + 1] = within(first + (long long)ceil((double)(cell + 1) * length), size);
    }
    const Element* from = x + ((exists ? (long long)image : 0) * layout.channels + channel) * layout.height * layout.width;
    Sum largest = -(Sum)INFINITY;
    for (long long a = ends[0]; exists && a < ends[1]; ++a)
      for (long long b = ends[2]; b < ends[3]; ++b) {
        const Sum value = (Sum)from[a * layout.width + b];
        largest = value > largest ? value : largest;
      }
    y[i] = (Element)(!exists || ends[0] >= ends[1] || ends[2] >= ends[3] ? (Sum)0 : largest);
  }
}
)";

struct MaxRoiLayout {
  int64_t count, images, channels, height, width, rows, columns;
  double scale;
};

std::unique_ptr<OpKernel> createMaxRoiPool(const Placed& placed, const OpRequest& request) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  const readers::PooledRegions rule(request.node.attributes);
  auto op = launchOf(placed, request);
  op->addFirst(MaxRoiLayout{y.count(), x[0], x[1], x[2], x[3], y[2], y[3], static_cast<double>(rule.scale)});
  op->coverElements(y.count());
  return op;
}

Ref<Placed> placeMaxRoiPool(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  return isNumber(dtype) ? placedAs(typesSource(dtype) + kMaxRoiPool, {"gpu_max_roi_pool"}, createMaxRoiPool) : nullptr;
}

// Taps lie between pixels. Offsets are [image, offset group, tap, axis, pixel], the mask lacks the axis.
constexpr const char* kDeformConv = R"(
struct Layout {
  Windows windows;
  long long filters, channels, all, groups, offsetGroups;  // channels of a group, of all
};

extern "C" __global__ void gpu_deform_conv(const Layout layout, const Element* x, const Element* w, const Element* offsets
                                           MORE, Element* y) {
  const Windows& windows = layout.windows;
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, layout.filters);
    const long long filter = place.channel, group = filter / (layout.filters / layout.groups), pixel = i % windows.pixels;
    const long long first = group * layout.channels, perOffsets = layout.all / layout.offsetGroups;
    Sum sum = START;
    for (long long k = 0; k < windows.taps; ++k)
      for (long long c = 0; c < layout.channels; ++c) {
        const long long at = (place.image * layout.offsetGroups + (first + c) / perOffsets) * windows.taps + k;
        const Element* from = x + place.image * windows.xBatch + (first + c) * windows.xChannel;
        long long low[3] = {0, 0, 0};
        Sum part[3] = {0, 0, 0};
        for (int d = (int)windows.rank - 1, left = (int)k; d >= 0; left /= (int)windows.kernel[d--]) {
          const Sum position = (Sum)pixelBelow(windows, d, place.at[d], left % windows.kernel[d]) +
                               (Sum)offsets[(at * windows.rank + d) * windows.pixels + pixel];
          const Sum base = position > (Sum)-1 && position < (Sum)windows.in[d] ? floor(position) : (Sum)-2;
          low[d] = (long long)base;
          part[d] = position - base;
        }
        Sum value = 0;
        for (int corner = 0; corner < 1 << (int)windows.rank; ++corner) {
          long long offset = 0, size = 1;
          bool isInside = true;
          Sum weight = 1;
          for (int d = (int)windows.rank - 1; d >= 0; --d) {
            const int side = corner >> d & 1;
            const long long at_ = low[d] + side;
            isInside = isInside && at_ >= 0 && at_ < windows.in[d];
            offset += at_ * size;
            size *= windows.in[d];
            weight *= side ? part[d] : 1 - part[d];
          }
          if (isInside) value += weight * (Sum)from[offset];
        }
        sum += value * (Sum)w[(filter * layout.channels + c) * windows.taps + k] MASKED;
      }
    y[i] = (Element)sum;
  }
}
)";

struct DeformLayout {
  WindowLayout windows;
  int64_t filters, channels, all, groups, offsetGroups;
};

std::unique_ptr<OpKernel> createDeformConv(const Placed& placed, const OpRequest& request) {
  const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
  const Attributes& attributes = request.node.attributes;
  const auto windows =
      readers::readWindows(attributes, w.dims().subspan(2)).between(imageAxes(x, false), imageAxes(y, false));
  auto op = launchOf(placed, request);
  op->addFirst(DeformLayout{windowLayout(x, y, windows, false), w[0], w[1], x[1], readers::readGroups(attributes),
                            readers::readOffsetGroups(attributes)});
  op->coverElements(y.count());
  return op;
}

Ref<Placed> placeDeformConv(const Node& node) {
  const TensorType& x = node.input(0)->type;
  if (!isNumber(x.dtype) || !x.ranked || x.rank() < 3 || x.rank() > 2 + kMostWindowAxes) return nullptr;
  const bool hasBias = node.input(3), hasMask = node.input(4);
  return placedAs(
      concat(typesSource(x.dtype), windowSource(false, false),
             filledIn(kDeformConv,
                      {{"MORE", concat(hasBias ? ", const Element* bias" : "", hasMask ? ", const Element* mask" : "")},
                       {"START", hasBias ? "(Sum)bias[filter]" : "0"},
                       {"MASKED", hasMask ? "* (Sum)mask[at * windows.pixels + pixel]" : ""}})),
      {"gpu_deform_conv"}, createDeformConv);
}

// Every pixel of the image gathers the columns whose windows contain it.
constexpr const char* kCol2Im = R"(
extern "C" __global__ void gpu_col2im(const Windows windows, const Element* x, Element* y, long long channels,
                                      long long columns) {
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, channels);
    const Element* from = x + (place.image * channels + place.channel) * windows.taps * columns;
    Wrapped sum = 0;
    for (long long k = 0; k < windows.taps; ++k) {
      const Tap tap = tapOf(windows, place, k);
      if (tap.isInside) sum += (Wrapped)from[k * columns + tap.pixel];
    }
    y[i] = (Element)sum;
  }
}
)";

// As a transposed convolution whose input's pixels are the positions of the windows.
std::unique_ptr<OpKernel> createCol2Im(const Placed& placed, const OpRequest& request) {
  const Shape& y = request.outputs[0].shape;
  const std::vector<int64_t> block = (*RequestInputs(request)).integers(2).value();
  const auto sizes = imageAxes(y, false);
  const auto windows = readers::readWindows(request.node.attributes, block).between(sizes, sizes);
  Shape positions{y[0], y[1]};
  for (size_t d = 0; d < sizes.size(); ++d)
    positions.push((sizes[d] + windows[d].padBegin + windows[d].padEnd - windows[d].extent()) / windows[d].stride + 1);
  const int64_t columns = request.inputs[0].shape[2];
  require(columns == positions.product(2, positions.rank()), MAX_STATUS_INVALID_ARGUMENT, request.node.description(),
          ": ", columns, " columns for ", positions);
  auto op = launchOf(placed, request, y[1], columns);
  op->addFirst(windowLayout(positions, y, windows, false));
  op->coverElements(y.count());
  return op;
}

Ref<Placed> placeCol2Im(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const TensorType& y = node.output(0)->type;
  if (!kernelType(dtype).element || !y.ranked || y.rank() < 3 || y.rank() > 2 + kMostWindowAxes) return nullptr;
  if (!isKnownToPlan(node, 1) || !isKnownToPlan(node, 2)) return nullptr;
  return placedAs(concat(typesSource(dtype), "typedef ", isFloat(dtype) ? "Sum" : "unsigned long long", " Wrapped;\n",
                         windowSource(false, true), kCol2Im),
                  {"gpu_col2im"}, createCol2Im, 1);
}

constexpr PlaceRow kRows[] = {{"", "GridSample", placeGridSample},
                              {"", "RoiAlign", placeRoiAlign},
                              {"", "MaxRoiPool", placeMaxRoiPool},
                              {"", "DeformConv", placeDeformConv},
                              {"", "Col2Im", placeCol2Im}};

}  // namespace

std::span<const PlaceRow> gpuImages() { return kRows; }

}  // namespace max
