// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/windows.h"

#include "base/error.h"

namespace max {

namespace {

constexpr const char* kSource = R"(
struct Windows {
  long long count, pixels, rank, taps;
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], padEnd[3];
  long long xBatch, xPixel, xChannel;
};

// An element of the result, which has `channels`.
struct Place {
  long long image, channel, at[3];
};
static inline __device__ Place placeOf(const Windows& windows, long long i, long long channels) {
  long long rest = CHANNELS_LAST ? i / channels % windows.pixels : i % windows.pixels;
  Place place = {i / channels / windows.pixels, CHANNELS_LAST ? i % channels : i / windows.pixels % channels, {0, 0, 0}};
#pragma unroll
  for (int d = 2; d >= 0; --d) {
    if (d >= windows.rank) continue;
    place.at[d] = rest % windows.out[d];
    rest /= windows.out[d];
  }
  return place;
}

// The input's pixel below tap k of an axis; negative if there is none.
static inline __device__ long long pixelBelow(const Windows& windows, int d, long long at, long long k) {
  if (!TRANSPOSES) return at * windows.stride[d] - windows.pad[d] + k * windows.dilation[d];
  const long long distance = at + windows.pad[d] - k * windows.dilation[d];
  return distance % windows.stride[d] == 0 ? distance / windows.stride[d] : -1;
}

struct Tap {
  long long pixel;
  bool isInside, isPadded;  // a pixel of the image; no further beyond it than the pads
};
static inline __device__ Tap tapOf(const Windows& windows, const Place& place, long long tap) {
  Tap result = {0, true, true};
  long long size = 1;
#pragma unroll
  for (int d = 2; d >= 0; --d) {  // places in arrays that registers can hold
    if (d >= windows.rank) continue;
    const long long pixel = pixelBelow(windows, d, place.at[d], tap % windows.kernel[d]);
    tap /= windows.kernel[d];
    result.isInside = result.isInside && pixel >= 0 && pixel < windows.in[d];
    result.isPadded = result.isPadded && pixel < windows.in[d] + windows.padEnd[d];
    result.pixel += pixel * size;
    size *= windows.in[d];
  }
  return result;
}
)";

}  // namespace

bool isChannelsLast(const Node& node) { return node.domain() == kMaxDomain; }

std::span<const int64_t> imageAxes(const Shape& shape, bool isChannelsLast) {
  return shape.dims().subspan(isChannelsLast ? 1 : 2, static_cast<size_t>(shape.rank() - 2));
}

WindowLayout windowLayout(const Shape& x, const Shape& y, std::span<const readers::Window> windows,
                          bool isChannelsLast) {
  const auto in = imageAxes(x, isChannelsLast), out = imageAxes(y, isChannelsLast);
  WindowLayout layout;
  layout.count = y.count();
  layout.rank = static_cast<int64_t>(in.size());
  int64_t pixels = 1;
  for (size_t d = 0; d < in.size(); ++d) {
    layout.in[d] = in[d];
    layout.out[d] = out[d];
    layout.kernel[d] = windows[d].size;
    layout.stride[d] = windows[d].stride;
    layout.dilation[d] = windows[d].dilation;
    layout.pad[d] = windows[d].padBegin;
    layout.padEnd[d] = windows[d].padEnd;
    layout.taps *= windows[d].size;
    layout.pixels *= out[d];
    pixels *= in[d];
  }
  const int64_t channels = isChannelsLast ? x.back() : x[1];
  layout.xBatch = channels * pixels;
  layout.xPixel = isChannelsLast ? channels : 1;
  layout.xChannel = isChannelsLast ? 1 : pixels;
  return layout;
}

std::string windowSource(bool isChannelsLast, bool transposes) {
  return concat("#define CHANNELS_LAST ", isChannelsLast ? "true" : "false", "\n#define TRANSPOSES ",
                transposes ? "true" : "false", "\n", kSource);
}

}  // namespace max
