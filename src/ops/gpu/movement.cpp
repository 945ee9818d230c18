// SPDX-License-Identifier: Apache-2.0
// Operators that consist of a few strided copies: one kernel for each size of elements.
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

extern "C" __global__ void gpu_copy(const Layout layout, const Element* in, Element* out) {
  EACH(i, layout.count) {
    long long from = layout.sourceOffset, to = layout.targetOffset, rest = i;
    for (long long d = layout.rank - 1; d >= 0; --d) {
      const long long whole = rest / layout.dims[d], place = rest - whole * layout.dims[d];
      from += place * layout.source[d];
      to += place * layout.target[d];
      rest = whole;
    }
    out[to] = in[from];
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
      auto op = std::make_unique<LaunchOp>(placed);
      op->addFirst(layout);
      op->addInput(piece.input);
      op->addOutput(piece.output);
      op->coverElements(layout.count);
      copies_.push_back({part, std::move(op)});
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
  PlacedCopy(DType dtype, const PiecesRow& row) : Placed(movedSource(dtype) + kCopy, "gpu_copy"), row_(row) {}

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
