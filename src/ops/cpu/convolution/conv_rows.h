// SPDX-License-Identifier: Apache-2.0
// Rows of a convolution's input, copied with their borders unless they have none. Long rows are cut into segments.
// Copies can be divided into planes, whose elements are those that one tap reads for one output pixel after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/interrupt_point.h"
#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"
#include "ops/op_kernel.h"

namespace max {

// Of float32, or of words of two bfloat16, with up to kMost kernel rows, and without a dilation of the first axis.
class BorderedRows {
 public:
  static constexpr int64_t kMost = 128;
  // What a row contains: the input's float32 or bfloat16 as they are, or float32 rounded to bfloat16.
  enum class Elements { Floats, Words, RoundedFloats };

  // What a segment of a row of output pixels reads.
  struct Segment {
    int64_t begin, pixels;   // of the output, counted over all images
    const float* x[kMost];   // rows inside of the input, at what the first pixel reads; or words
    int64_t numbers[kMost];  // of the kernel rows
    int64_t count = 0;       // of rows
  };

  // `overread`: pixels past the last one that may be read of a plane; 0 = rows are not divided into planes.
  explicit BorderedRows(const ConvShape& shape, Elements elements = Elements::Floats, int64_t overread = 0);
  // With planes: what the taps of a kernel row read for the first pixel, [kernel width][channels].
  std::vector<int64_t> planeOffsets() const;
  int64_t scratchBytes() const { return scratchBytes_; }  // of a lane
  // Whether pixels of the input may lie apart, as no copy and no wide tap reads them together.
  bool takesInStep() const { return !copies_ && shape_.kernel[2] == 1; }
  void setInStep(int64_t floats) { inputFloats_ = floats; }
  // Calls body(segment, memory) for the whole output; the memory of a lane begins with the copies of rows.
  template <class Body>
  void forEach(const OpContext& context, int64_t laneBytes, int64_t stepsPerRow, Body body) const {
    const int64_t rows = shape_.out[2] > 0 ? shape_.images * shape_.out[0] * shape_.out[1] : 0;
    const int lanes = rows * stepsPerRow < 50'000 ? 1 : context.lanes;
    const int64_t segments = segmentsFor(rows, lanes), tasks = rows * segments;
    const int64_t steps = stepsPerRow / segments;
    parallelFor(lanes, tasks, std::max<int64_t>(1, tasks / (lanes * 8)), [&](int64_t begin, int64_t end, int lane) {
      std::byte* memory = context.scratch + lane * laneBytes;
      Copies copies{reinterpret_cast<float*>(memory), {}};
      // A division takes as long as a short row: there is one for each strip.
      for (int64_t task = begin; task < end;) {
        const Strip strip = stripAt(task / shape_.out[1], segments);
        copies.next = {};
        for (int64_t h = task % shape_.out[1]; h < shape_.out[1] && task < end; ++h, ++task) {
          body(find(context.in<float>(0), strip, h, copies), memory);
          passWork(steps);
        }
      }
    });
  }

 private:
  // Segments below each other.
  struct Strip {
    int64_t begin, pixels;  // of a row of the output
    int64_t slice;          // of the output, counted over all images
    int64_t image, front;   // the first slice of the input that the image has, and that the strip reads, if it exists
  };
  struct Copies {
    float* memory;
    std::array<int64_t, kMost> next;  // for each tap of the first axis: the first row, over all images, not copied
  };

  // Of the taps along an axis.
  int64_t reach(size_t axis) const { return (shape_.kernel[axis] - 1) * shape_.dilation[axis] + 1; }
  int64_t segmentsFor(int64_t rows, int lanes) const;
  Strip stripAt(int64_t index, int64_t segments) const;
  Segment find(const float* x, const Strip& strip, int64_t h, Copies& copies) const;
  void addSlice(const float* x, int64_t slice, int64_t top, int64_t tap, int64_t first, Copies& copies,
                Segment& segment) const;
  void copyRow(const float* from, int64_t first, int64_t count, float* to) const;
  void copyPlanes(const float* from, int64_t first, int64_t count, float* rounded, float* to) const;

  ConvShape shape_;  // its channels may be words
  bool rounds_, copies_;
  int64_t inputFloats_;      // from one pixel to the next
  int64_t planeFloats_ = 0;  // 0 = no planes
  int64_t fewestSegments_, copyFloats_, scratchBytes_;
  int64_t roundedAt_;  // of the memory of copies: a row whose planes are made
};

// A convolution of float32 that is computed a segment at a time.
class BorderedRowsOp : public OpKernel {
 public:
  size_t scratchBytes() const override { return static_cast<size_t>(checkedMultiply<int64_t>(laneBytes_, lanes_)); }
  void run(const OpContext& context) const override;
  void setPitch(OperandPlace place, size_t bytes) override;

 protected:
  // `hasFloats`: a lane has memory for a row of the output, too.
  explicit BorderedRowsOp(const OpRequest& request, bool hasFloats = false,
                          BorderedRows::Elements elements = BorderedRows::Elements::Floats, int64_t overread = 0);
  virtual void runSegment(const OpContext& context, const BorderedRows::Segment& segment, float* memory) const = 0;
  void applyFunction(float* pixels, int64_t count) const;

  ConvShape shape_;
  Activation activation_;
  bool hasBias_;
  BorderedRows rows_;
  int64_t inStep_, outStep_;  // floats from one pixel to the next, in operators that take a pitch

 private:
  int64_t outFloats_;  // of a row of the output
  int64_t laneBytes_;
  int lanes_;
};

// Whether they serve a convolution of the compiler's with such weights. `dilatedGroups`: where taps may lie apart, the
// number of its groups.
bool hasBorderedRows(const Node& node, const Shape& weights, int64_t dilatedGroups = 0);
// Whether rows of the output have fewer pixels than a tile; a product has tiles of several rows.
bool hasShortRows(const Node& node);

}  // namespace max
