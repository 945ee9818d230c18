// SPDX-License-Identifier: Apache-2.0
// Operators that consist of a few strided copies: one kernel for each size of elements.
#include <algorithm>

#include "base/error.h"
#include "graph/schema.h"
#include "ops/cpu/movement/pieces.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr const char* kCopy = R"(
struct Layout {
  long long count, rank, sourceOffset, targetOffset, dims[16], source[16], target[16];
};
struct Places {
  long long from, to;
};
static inline __device__ Places placesOf(const Layout& layout, long long i) {
  Places places = {layout.sourceOffset, layout.targetOffset};
  for (long long d = layout.rank - 1; d >= 0; --d) {
    const long long whole = i / layout.dims[d], place = i - whole * layout.dims[d];
    places.from += place * layout.source[d];
    places.to += place * layout.target[d];
    i = whole;
  }
  return places;
}

extern "C" __global__ void gpu_copy(const Layout layout, const Element* in, Element* out) {
  EACH(i, layout.count) {
    const Places places = placesOf(layout, i);
    out[places.to] = in[places.from];
  }
}

// Of 16 bytes at a time, by which all in the layout is counted.
extern "C" __global__ void gpu_copy_pieces(const Layout layout, const Element* in, Element* out) {
  const int kPiece = 16 / (int)sizeof(Element);
  const bool isWhole = ((size_t)in | (size_t)out) % 16 == 0;
  EACH(i, layout.count) {
    const Places places = placesOf(layout, i);
    if (isWhole)
      ((uint4*)out)[places.to] = ((const uint4*)in)[places.from];
    else
      for (int e = 0; e < kPiece; ++e) out[places.to * kPiece + e] = in[places.from * kPiece + e];
  }
}

// A matrix whose columns lie together in the source, its rows in the target, in squares of 32 x 32; of each of the
// first axes one.
extern "C" __global__ void __launch_bounds__(256) gpu_transpose(const Layout layout, const Element* in, Element* out) {
  __shared__ Element square[32][33];
  const long long rows = layout.dims[layout.rank - 2], columns = layout.dims[layout.rank - 1];
  const long long across = (columns + 31) / 32, squares = (rows + 31) / 32 * across;
  const int x = threadIdx.x % 32;
  for (long long number = blockIdx.x; number < layout.count / (rows * columns) * squares; number += gridDim.x) {
    const long long row0 = number % squares / across * 32, column0 = number % across * 32;
    const Places places = placesOf(layout, number / squares * rows * columns);
    const long long rowStep = layout.target[layout.rank - 2], columnStep = layout.source[layout.rank - 1];
    __syncthreads();
    for (int y = threadIdx.x / 32; y < 32; y += 8)
      if (column0 + y < columns && row0 + x < rows) square[y][x] = in[places.from + (column0 + y) * columnStep + row0 + x];
    __syncthreads();
    for (int y = threadIdx.x / 32; y < 32; y += 8)
      if (row0 + y < rows && column0 + x < columns) out[places.to + (row0 + y) * rowStep + column0 + x] = square[x][y];
  }
}
)";

// The kernel's first parameter.
struct CopyLayout {
  int64_t count = 0, rank = 0, sourceOffset = 0, targetOffset = 0;
  int64_t dims[kMaxRank] = {}, source[kMaxRank] = {}, target[kMaxRank] = {};
};
static_assert(kMaxRank == 16, "as in the kernel");

// Axes that both sides go through as one become one.
CopyLayout layoutOf(const Piece& piece) {
  CopyLayout layout;
  layout.count = piece.shape.count();
  layout.sourceOffset = piece.sourceOffset;
  layout.targetOffset = piece.targetOffset;
  for (int i = 0; i < piece.shape.rank(); ++i) {
    const int64_t size = piece.shape[i], source = piece.sourceStrides[i], target = piece.targetStrides[i];
    if (size == 1) continue;
    const int64_t last = layout.rank - 1;
    const bool joins = layout.rank > 0 && layout.source[last] == source * size && layout.target[last] == target * size;
    const int64_t at = joins ? last : layout.rank++;
    layout.dims[at] = (joins ? layout.dims[at] : 1) * size;
    layout.source[at] = source;
    layout.target[at] = target;
  }
  return layout;
}

// The kernels, by their number.
enum CopyKernel : size_t { kOneByOne, kByPieces, kTransposing };

// The layout in pieces of so many elements, if these lie together on both sides.
bool inPieces(CopyLayout& layout, int64_t piece) {
  if (layout.rank == 0 || piece == 1) return false;
  const int64_t last = layout.rank - 1;
  bool isWhole = layout.source[last] == 1 && layout.target[last] == 1 && layout.dims[last] % piece == 0 &&
                 layout.sourceOffset % piece == 0 && layout.targetOffset % piece == 0;
  for (int64_t d = 0; d < last; ++d)
    isWhole = isWhole && layout.source[d] % piece == 0 && layout.target[d] % piece == 0;
  if (!isWhole) return false;
  for (int64_t d = 0; d < last; ++d) {
    layout.source[d] /= piece;
    layout.target[d] /= piece;
  }
  layout.dims[last] /= piece;
  for (int64_t* number : {&layout.count, &layout.sourceOffset, &layout.targetOffset}) *number /= piece;
  return true;
}

// Whether the last axis of the target is one along which the source has a stride, and another one lies together there,
// which becomes the last but one.
bool isTransposed(CopyLayout& layout) {
  constexpr int64_t kLeastSide = 8;
  if (layout.rank < 2) return false;
  const int64_t last = layout.rank - 1;
  if (layout.target[last] != 1 || layout.source[last] == 1 || layout.dims[last] < kLeastSide) return false;
  for (int64_t d = 0; d < last; ++d) {
    if (layout.source[d] != 1 || layout.dims[d] < kLeastSide) continue;
    for (auto* numbers : {&layout.dims, &layout.source, &layout.target})
      std::rotate(*numbers + d, *numbers + d + 1, *numbers + last);
    return true;
  }
  return false;
}

std::unique_ptr<LaunchOp> copyOf(const Placed& placed, CopyLayout layout, const Piece& piece, size_t size) {
  const bool isPieces = inPieces(layout, 16 / static_cast<int64_t>(size));
  const bool isTransposing = !isPieces && isTransposed(layout);
  auto op = std::make_unique<LaunchOp>(placed, isPieces ? kByPieces : isTransposing ? kTransposing : kOneByOne);
  op->addFirst(layout);
  op->addInput(piece.input);
  op->addOutput(piece.output);
  if (!isTransposing) {
    op->coverElements(layout.count);
    return op;
  }
  const int64_t rows = layout.dims[layout.rank - 2], columns = layout.dims[layout.rank - 1];
  const int64_t squares = layout.count / (rows * columns) * ((rows + 31) / 32) * ((columns + 31) / 32);
  op->setGrid(std::clamp<int64_t>(squares, 1, 65536), 1, 1, 256);
  return op;
}

// A launch for each piece. Pieces that are one block need none where both sides share their memory.
class CopyOp final : public OpKernel {
 public:
  CopyOp(const Placed& placed, const OpRequest& request, const std::vector<Piece>& pieces) {
    implementation = placed.kernels().front();
    for (const Piece& piece : pieces) {
      const CopyLayout layout = layoutOf(piece);
      const size_t size = sizeOf(request.inputs[piece.input].dtype);
      const CopiedPart part{piece.input, piece.output, static_cast<size_t>(piece.sourceOffset) * size,
                            static_cast<size_t>(piece.targetOffset) * size, static_cast<size_t>(layout.count) * size};
      copies_.push_back({part, copyOf(placed, layout, piece, size)});
      const bool isBlock = layout.rank == 0 || (layout.rank == 1 && layout.source[0] == 1 && layout.target[0] == 1);
      if (isBlock) parts_.push_back(part);
    }
  }

  std::span<const CopiedPart> parts() const override { return parts_; }

  void run(const OpContext& context) const override {
    for (const Copy& copy : copies_) {
      const std::byte* source = context.in<std::byte>(copy.part.input) + copy.part.inputOffset;
      if (source != context.out<std::byte>(copy.part.output) + copy.part.outputOffset) copy.op->run(context);
    }
  }

 private:
  struct Copy {
    CopiedPart part;
    std::unique_ptr<LaunchOp> op;
  };

  std::vector<Copy> copies_;
  std::vector<CopiedPart> parts_;
};

class PlacedCopy final : public Placed {
 public:
  PlacedCopy(DType dtype, const PiecesRow& row)
      : Placed(movedSource(dtype) + kCopy, {"gpu_copy", "gpu_copy_pieces", "gpu_transpose"}), row_(row) {}

  bool reads(size_t input) const override { return row_.op == "Concat" || input == 0; }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    return std::make_unique<CopyOp>(*this, request, row_.pieces(MovementCall(request, nullptr)));
  }

 private:
  const PiecesRow& row_;
};

Ref<Placed> placeCopy(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isMovable(dtype)) return nullptr;
  for (const PiecesRow& row : piecesRows()) {
    if (row.op != node.op()) continue;
    for (size_t i = row.firstPlacing; i < node.inputs.size(); ++i)
      if (!isKnownToPlan(node, i)) return nullptr;
    return makeRef<PlacedCopy>(dtype, row);
  }
  return nullptr;
}

std::vector<PlaceRow> makeRows() {
  std::vector<PlaceRow> rows;
  for (const PiecesRow& row : piecesRows()) rows.push_back({"", row.op, placeCopy});
  return rows;
}

}  // namespace

std::span<const PlaceRow> gpuMovement() {
  static const std::vector<PlaceRow> rows = makeRows();
  return rows;
}

}  // namespace max
