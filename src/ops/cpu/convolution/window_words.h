// SPDX-License-Identifier: Apache-2.0
// Windows of a convolution of few channels as words of four bytes or two bfloat16, for products of such words.
//
// A row of the window makes whole words where it is. What is left over at the ends of the rows is gathered in words of
// their own, which lie as far from each other as pixels do. So each word is at one offset from all pixels, and no row
// of the window is filled up with zeros, unless pixels are too near for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "ops/cpu/convolution/conv_shape.h"
#include "ops/op_kernel.h"

namespace max {

// Which elements make up the words of a window.
class WindowOrder {
 public:
  // Rows of `width` elements, and the elements between pixels.
  WindowOrder(int64_t rows, int64_t width, int64_t step, int64_t wordElements);
  // Those of a convolution's weights.
  static WindowOrder of(const Attributes& attributes, const Shape& weights, int64_t wordElements);

  int64_t words() const { return rows_ * rowWords_ + gathered_; }
  int64_t rowWords() const { return rowWords_; }  // where the row is
  int64_t gathered() const { return gathered_; }
  int64_t wordElements() const { return wordElements_; }
  // Whether the last word of a row has elements behind the row, which are not gathered: whatever they are, their
  // weights are zero.
  bool endsBehindRows() const { return rowWords_ * wordElements_ > width_; }
  // The element, counted over all rows, in a place of a word; -1 = one that does not count.
  int64_t element(int64_t word, int64_t place) const;

 private:
  int64_t rows_, width_, wordElements_;
  int64_t rowWords_, rest_;            // of a row
  int64_t places_ = 0, gathered_ = 0;  // of a gathered word; words
};

// Whether the products of this process take words at offsets, for weights of such a shape.
bool hasWindowWords(const Attributes& attributes, const Shape& weights, int64_t wordElements);

// Makes the words of one row of output pixels after the other. While a row is multiplied, the next one is made.
class WindowWords {
 public:
  WindowWords(const ConvShape& shape, const WindowOrder& order);

  // The image: bytes, or numbers that become bfloat16.
  struct Source {
    const void* x;
    bool isNarrow;         // bfloat16 already
    uint8_t border, flip;  // what bytes outside are; what others are combined with
  };
  // Pixels of a row of the output, counted over all images; word k of pixel i is 4 * offsets[k] bytes behind pixels[i].
  // There are at least kFewestPixels, of which some may have no meaning.
  struct Row {
    int64_t begin, count;
    const std::byte* const* pixels;
    const int32_t* offsets;
  };
  static constexpr int64_t kFewestPixels = 8;
  class Lane;

  int64_t words() const { return words_; }
  int64_t scratchBytes() const { return scratchBytes_; }  // of a lane
  // Calls body(row, lane, memory) for the whole output. It lets the lane prepare the next row, part by part; the memory
  // of a lane, which has `laneBytes`, begins with the words.
  void forEach(const OpContext& context, const Source& source, int64_t laneBytes, int64_t stepsPerRow,
               FunctionRef<void(const Row&, Lane&, std::byte*)> body) const;

 private:
  // Pixels of output row `h`; a strip is those of all rows below each other.
  struct Place {
    int64_t strip, slice, h, begin, end;
    int64_t slot;  // of the first row that it reads
  };
  // Elements from a row of the window, in some places of a gathered word.
  struct Piece {
    int64_t slice, row;  // of the window
    int64_t offset;      // from the row to the word's place, in bytes
    size_t masks;        // where those of its bytes begin, one for each phase of 64 bytes among the steps
  };

  Place placeOf(int64_t task, int64_t segments) const;
  // A row among those that a lane keeps, `row` after the first that place reads.
  int64_t rowAt(const Place& place, int64_t slice, int64_t row) const {
    const int64_t slot = place.slot + row;
    return kFront + (slice * ring_ + slot - (slot < ring_ ? 0 : ring_)) * rowBytes_;
  }
  void copyPart(const Source& source, const Place& place, int64_t tap, int64_t row, int64_t first, int64_t last,
                std::byte* to) const;
  void fillBorder(const Source& source, std::byte* to, int64_t pixels) const;
  void gatherPart(const std::byte* memory, const Place& place, int64_t first, int64_t last, std::byte* to) const;
  void addPieces(const WindowOrder& order);

  static constexpr int64_t kFront = 64;  // bytes that may be read before the first row

  ConvShape shape_;
  int64_t elementBytes_, words_, rowWords_, gathered_;
  int64_t stepBytes_, mostPixels_ = 0, fewestSegments_ = 1;
  int64_t advance_, ring_;  // rows of the input that a row of the output adds, and that a lane keeps
  int64_t rowBytes_ = 0, planeBytes_ = 0, planesAt_ = 0, offsetsAt_ = 0, pixelsAt_ = 0, scratchBytes_ = 0;
  std::vector<std::vector<Piece>> pieces_;  // of each gathered word
  std::vector<uint64_t> masks_;
};

class WindowWords::Lane {
 public:
  Lane(const WindowWords& words, const Source& source, std::byte* memory, int64_t segments);
  Row start(int64_t task, int64_t end);
  // One of `parts` parts of the row after the one that was started.
  void prepareNext(int64_t part, int64_t parts) {
    if (hasNext_) prepare(next_, part, parts);
  }

 private:
  void prepare(const Place& place, int64_t part, int64_t parts);
  int32_t* offsetsOf(const Place& place) const;

  const WindowWords& words_;
  const Source& source_;
  std::byte* memory_;
  int64_t segments_;
  bool hasNext_ = false;
  Place next_{};
  int64_t copied_ = 0;  // rows of the strip
};

}  // namespace max
