// SPDX-License-Identifier: Apache-2.0
// Operators that consist of a few strided copies: Transpose, Concat, Split, Slice, Expand, Tile, DepthToSpace,
// SpaceToDepth, and those that only change the shape.
#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "base/interrupt_point.h"
#include "graph/readers/movement.h"
#include "ops/cpu/movement/movement.h"
#include "ops/cpu/movement/pieces.h"
#include "ops/cpu/movement/tensor_copy.h"
#include "ops/cpu/narrow.h"
#include "ops/families.h"

namespace max {

namespace {

int64_t elementBytes(const OpRequest& request, size_t input) {
  return static_cast<int64_t>(sizeOf(request.inputs[input].dtype));
}

// Copies are planned once, or at every run if the inputs that determine them are not constant.
class CopyOp final : public OpKernel {
 public:
  // `areBoxes`: pieces are parts of the axes of operands.
  CopyOp(const OpRequest& request, PiecesFunction pieces, size_t firstPlacing, bool areBoxes)
      : saved_(request), pieces_(pieces), areBoxes_(areBoxes) {
    planned_ = allConstant(request, firstPlacing);
    if (!planned_) return;
    dense_ = pieces(MovementCall(request, nullptr));
    plan(dense_, copies_);
    for (size_t i = 0; i < copies_.size(); ++i) {
      const Copy& copy = copies_[i];
      const bool isOfRows = !copy.copy.isBlock() && takesSomeOfRows(dense_[i]);
      if (isOfRows || copy.copy.isBlock())
        parts_.push_back({copy.input, copy.output, static_cast<size_t>(copy.sourceBytes),
                          static_cast<size_t>(copy.targetBytes), static_cast<size_t>(copy.copy.bytes()), isOfRows});
    }
  }

  std::span<const CopiedPart> parts() const override { return parts_; }
  // With one element in a row, strides would not tell the last axis from others.
  bool takesPitch(OperandPlace place) const override {
    return planned_ && areBoxes_ && shapeOf(place).rank() > 0 && shapeOf(place).back() > 1;
  }
  void setPitch(OperandPlace place, size_t bytes) override {
    pitches_.push_back({place, static_cast<int64_t>(bytes)});
    copies_.clear();
    plan(dense_, copies_);
  }

  void run(const OpContext& context) const override {
    if (planned_) return runAll(copies_, context);
    std::vector<Copy> copies;
    const OpRequest request = saved_.request();
    plan(pieces_(MovementCall(request, context.inputs)), copies);
    runAll(copies, context);
  }

 private:
  struct Copy {
    size_t input, output;
    int64_t sourceBytes, targetBytes;
    TensorCopy copy;
  };
  struct Pitch {
    OperandPlace place;
    int64_t bytes;
  };

  const Shape& shapeOf(OperandPlace place) const {
    return (place.side == OperandPlace::Input ? saved_.inputs : saved_.outputs)[place.number].shape;
  }

  // Whether a piece is the whole of one operand and the same of all rows of the other.
  bool takesSomeOfRows(const Piece& piece) const {
    const Shape &in = saved_.inputs[piece.input].shape, &out = saved_.outputs[piece.output].shape;
    const int last = in.rank() - 1;
    if (last < 0 || in.rank() != out.rank() || piece.shape != (in[last] < out[last] ? in : out)) return false;
    const Shape source = contiguousStrides(in), target = contiguousStrides(out);
    for (int i = 0; i <= last; ++i) {
      if (i < last && in[i] != out[i]) return false;
      if (piece.shape[i] > 1 && (piece.sourceStrides[i] != source[i] || piece.targetStrides[i] != target[i]))
        return false;
    }
    return true;
  }

  // A dense operand's distance between elements, where its rows lie apart: of places in a row or of rows.
  int64_t apart(OperandPlace place, int64_t elements, int64_t size) const {
    for (const Pitch& pitch : pitches_) {
      const int64_t row = shapeOf(place).back();
      if (pitch.place.side == place.side && pitch.place.number == place.number)
        return elements / row * (pitch.bytes / size) + elements % row;
    }
    return elements;
  }

  void placeApart(Piece& piece, int64_t size) const {
    const OperandPlace source{OperandPlace::Input, piece.input}, target{OperandPlace::Output, piece.output};
    piece.sourceOffset = apart(source, piece.sourceOffset, size);
    piece.targetOffset = apart(target, piece.targetOffset, size);
    for (int i = 0; i < piece.shape.rank(); ++i) {
      piece.sourceStrides[i] = apart(source, piece.sourceStrides[i], size);
      piece.targetStrides[i] = apart(target, piece.targetStrides[i], size);
    }
  }

  void plan(std::vector<Piece> pieces, std::vector<Copy>& copies) const {
    copies.reserve(pieces.size());
    for (Piece& piece : pieces) {
      const OpRequest request = saved_.request();
      const int64_t size = elementBytes(request, piece.input);
      placeApart(piece, size);
      copies.push_back({piece.input, piece.output, piece.sourceOffset * size, piece.targetOffset * size,
                        TensorCopy(static_cast<size_t>(size), piece.shape, piece.sourceStrides, piece.targetStrides)});
    }
  }

  static void runAll(const std::vector<Copy>& copies, const OpContext& context) {
    for (const Copy& copy : copies) {
      const std::byte* source = context.in<std::byte>(copy.input) + copy.sourceBytes;
      std::byte* target = context.out<std::byte>(copy.output) + copy.targetBytes;
      if (source != target) copy.copy.run(source, target, context.lanes);
    }
  }

  SavedRequest saved_;
  PiecesFunction pieces_;
  bool planned_, areBoxes_;
  std::vector<Piece> dense_;  // of dense operands
  std::vector<Pitch> pitches_;
  std::vector<Copy> copies_;
  std::vector<CopiedPart> parts_;
};

// The oracle: one element after another.
class PlainCopyOp final : public OpKernel {
 public:
  PlainCopyOp(const OpRequest& request, PiecesFunction pieces) : saved_(request), pieces_(pieces) {}

  void run(const OpContext& context) const override {
    const OpRequest request = saved_.request();
    for (const Piece& piece : pieces_(MovementCall(request, context.inputs))) {
      const int64_t size = elementBytes(request, piece.input);
      const int64_t count = piece.shape.count();
      WorkCounter work;
      for (int64_t k = 0; k < count; ++k, work.pass(16)) {
        int64_t source = piece.sourceOffset, target = piece.targetOffset, rest = k;
        for (int axis = piece.shape.rank() - 1; axis >= 0; --axis) {
          source += rest % piece.shape[axis] * piece.sourceStrides[axis];
          target += rest % piece.shape[axis] * piece.targetStrides[axis];
          rest /= piece.shape[axis];
        }
        std::memcpy(context.out<std::byte>(piece.output) + target * size,
                    context.in<std::byte>(piece.input) + source * size, static_cast<size_t>(size));
      }
    }
  }

 private:
  SavedRequest saved_;
  PiecesFunction pieces_;
};

constexpr size_t kNonePlaces = SIZE_MAX;  // the target of data only depends on shapes

// A dense source whose axes go to the target in the order `permutation`.
Piece permuted(const Shape& source, std::span<const int> permutation) {
  const Shape dense = contiguousStrides(source);
  Piece piece;
  for (const int axis : permutation) {
    piece.shape.push(source[axis]);
    piece.sourceStrides.push(dense[axis]);
  }
  piece.targetStrides = contiguousStrides(piece.shape);
  return piece;
}

std::vector<Piece> transpose(const MovementCall& call) {
  return {permuted(call.in(), readers::readPermutation(call.read()))};
}

// A box of one tensor, at `start` along `axis`, is the whole of another one.
Piece part(const Shape& whole, const Shape& box, int axis, int64_t start, bool isSource) {
  Piece piece;
  const Shape wholeStrides = contiguousStrides(whole), boxStrides = contiguousStrides(box);
  piece.shape = box;
  piece.sourceStrides = isSource ? wholeStrides : boxStrides;
  piece.targetStrides = isSource ? boxStrides : wholeStrides;
  (isSource ? piece.sourceOffset : piece.targetOffset) = start * wholeStrides[axis];
  return piece;
}

std::vector<Piece> concat(const MovementCall& call) {
  const int axis = readers::readConcatAxis(call.read(), call.out().rank());
  std::vector<Piece> pieces;
  int64_t start = 0;
  for (size_t i = 0; i < call.inputCount(); ++i) {
    Piece piece = part(call.out(), call.in(i), axis, start, false);
    piece.input = i;
    start += call.in(i)[axis];
    if (piece.shape.count() > 0) pieces.push_back(piece);
  }
  return pieces;
}

// The outputs' shapes already say how the input is split.
std::vector<Piece> split(const MovementCall& call) {
  const readers::Split split = readers::readSplit(call.read(), call.outputCount());
  std::vector<Piece> pieces;
  int64_t start = 0;
  for (size_t i = 0; i < call.outputCount(); ++i) {
    if (call.request().outputs[i].present()) {
      Piece piece = part(call.in(), call.out(i), split.axis, start, true);
      piece.output = i;
      if (piece.shape.count() > 0) pieces.push_back(piece);
    }
    start += split.sizes.at(i).value();
  }
  return pieces;
}

// How many elements are taken is the output's shape.
std::vector<Piece> slice(const MovementCall& call) {
  if (call.out().count() == 0) return {};
  Piece piece;
  piece.shape = call.out();
  piece.sourceStrides = contiguousStrides(call.in());
  piece.targetStrides = contiguousStrides(call.out());
  const Shape dense = piece.sourceStrides;
  const auto axes = readers::readSlice(call.read());
  for (const readers::SlicedAxis& entry : axes.value()) {
    const int axis = entry.axis;
    const int64_t step = entry.step.value().value(), size = call.in()[axis], given = entry.start.value().value();
    const int64_t start = given < 0 ? given + size : given;
    piece.sourceOffset += std::clamp<int64_t>(start, 0, step < 0 ? size - 1 : size) * dense[axis];
    // A step may be huge when one element is taken; then it is not used.
    piece.sourceStrides[axis] = call.out()[axis] > 1 ? dense[axis] * step : 0;
  }
  return {piece};
}

std::vector<Piece> expand(const MovementCall& call) {
  const Shape &in = call.in(), &out = call.out();
  const Shape dense = contiguousStrides(in);
  Piece piece;
  piece.shape = out;
  piece.sourceStrides = Shape::filled(out.rank(), 0);
  for (int i = 0; i < in.rank(); ++i)
    if (in[i] != 1) piece.sourceStrides[out.rank() - in.rank() + i] = dense[i];
  piece.targetStrides = contiguousStrides(out);
  return {piece};
}

// Each axis becomes [repeat, size]; axes without repetition stay one, so that at most 16 remain in practice.
std::vector<Piece> tile(const MovementCall& call) {
  const Shape &in = call.in(), &out = call.out();
  const Shape sourceDense = contiguousStrides(in), targetDense = contiguousStrides(out);
  Piece piece;
  if (out.count() == 0) return {};
  for (int i = 0; i < in.rank(); ++i) {
    if (out[i] != in[i]) {
      piece.shape.push(out[i] / in[i]);
      piece.sourceStrides.push(0);
      piece.targetStrides.push(targetDense[i] * in[i]);
    }
    if (in[i] == 1) continue;
    piece.shape.push(in[i]);
    piece.sourceStrides.push(sourceDense[i]);
    piece.targetStrides.push(targetDense[i]);
  }
  return {piece};
}

std::vector<Piece> depthToSpace(const MovementCall& call) {
  const Shape& in = call.in();
  const auto [block, columnFirst] = readers::readBlocks(call.read());
  const int64_t depth = in[1] / (block * block);
  if (columnFirst) return {permuted({in[0], depth, block, block, in[2], in[3]}, std::array{0, 1, 4, 2, 5, 3})};
  return {permuted({in[0], block, block, depth, in[2], in[3]}, std::array{0, 3, 4, 1, 5, 2})};
}

std::vector<Piece> spaceToDepth(const MovementCall& call) {
  const Shape& in = call.in();
  const auto [block, columnFirst] = readers::readBlocks(call.read());
  const auto order = columnFirst ? std::array{0, 1, 3, 5, 2, 4} : std::array{0, 3, 5, 1, 2, 4};
  return {permuted({in[0], in[1], in[2] / block, block, in[3] / block, block}, order)};
}

std::vector<Piece> sameElements(const MovementCall& call) {
  Piece piece;
  piece.shape = Shape{call.in().count()};
  piece.sourceStrides = piece.targetStrides = Shape{1};
  return {piece};
}

// Elements arrive as they leave, also where some values are narrow.
template <PiecesFunction F>
bool acceptsCopies(const OpRequest& request) {
  if (!hasByteElements(request)) return false;
  const auto isSame = [&](const Operand& operand) {
    return !operand.present() || operand.dtype == request.inputs[0].dtype;
  };
  return std::all_of(request.outputs.begin(), request.outputs.end(), isSame) &&
         (F != concat || std::all_of(request.inputs.begin(), request.inputs.end(), isSame));
}

template <PiecesFunction F, size_t kFirstPlacing = 1>
inline constexpr Implementation kCopy[] = {
    {"strided_copy", acceptsCopies<F>,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> {
       constexpr bool kAreBoxes = F == concat || F == split || F == slice || F == transpose;
       return std::make_unique<CopyOp>(request, F, kFirstPlacing, kAreBoxes);
     }},
    {"reference", acceptsCopies<F>,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<PlainCopyOp>(request, F); }},
};

// Parts of both kinds become floats: where a value is narrow in some plans only.
class MixedConcatOp final : public OpKernel {
 public:
  explicit MixedConcatOp(const OpRequest& request) : saved_(request) {}

  void run(const OpContext& context) const override {
    const OpRequest request = saved_.request();
    const int axis = readers::readConcatAxis(MovementCall(request, nullptr).read(), request.outputs[0].shape.rank());
    const Shape& whole = request.outputs[0].shape;
    const int64_t rows = whole.product(0, axis), width = whole.product(axis, whole.rank());
    float* to = context.out<float>();
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      const Shape& part = request.inputs[i].shape;
      const int64_t count = part.product(axis, part.rank());
      for (int64_t row = 0; row < rows; ++row, passWork(count))
        copyRow(context, i, row * count, count, to + row * width);
      to += count;
    }
  }

 private:
  void copyRow(const OpContext& context, size_t input, int64_t at, int64_t count, float* to) const {
    if (!isNarrow(saved_.inputs[input])) {
      std::copy_n(context.in<float>(input) + at, count, to);
    } else {
      const uint16_t* from = context.in<uint16_t>(input) + at;
      for (int64_t i = 0; i < count; ++i) to[i] = floatFromBFloat16(from[i]);
    }
  }

  SavedRequest saved_;
};

bool acceptsMixedConcat(const OpRequest& request) { return mayBeNarrow(request.node) && areFloats(request, {~0u, 0}); }

constexpr Implementation kConcat[] = {kCopy<concat, kNonePlaces>[0],
                                      {
                                        "mixed", acceptsMixedConcat,
                                            [](const OpRequest& request) -> std::unique_ptr<OpKernel> {
                                              return std::make_unique<MixedConcatOp>(request);
                                            }
                                      },
                                      kCopy<concat, kNonePlaces>[1]};

NarrowOperands narrowFirst(const Node& node) { return narrowTogether(node, 1); }
NarrowOperands narrowAll(const Node& node) { return narrowTogether(node, node.inputs.size()); }

const OpRow kRows[] = {
    {"", "Transpose", kCopy<transpose>, nullptr, nullptr, narrowFirst},
    {"", "Concat", kConcat, nullptr, nullptr, narrowAll},
    {"", "Split", kCopy<split>, nullptr, nullptr, narrowFirst},
    {"", "Slice", kCopy<slice>, nullptr, nullptr, narrowFirst},
    {"", "Expand", kCopy<expand, kNonePlaces>},
    {"", "Tile", kCopy<tile, kNonePlaces>},
    {"", "DepthToSpace", kCopy<depthToSpace>},
    {"", "SpaceToDepth", kCopy<spaceToDepth>},
    {"", "Identity", kCopy<sameElements>},
    {"", "Reshape", kCopy<sameElements, kNonePlaces>},
    {"", "Flatten", kCopy<sameElements>},
    {kMaxDomain, "Rebind", kCopy<sameElements, kNonePlaces>},
    {kMaxDomain, "Transfer", kCopy<sameElements>},
    {"", "Squeeze", kCopy<sameElements, kNonePlaces>},
    {"", "Unsqueeze", kCopy<sameElements, kNonePlaces>},
};

}  // namespace

std::span<const OpRow> movementCopyOps() { return kRows; }

std::span<const PiecesRow> piecesRows() {
  static constexpr PiecesRow kPieces[] = {
      {"Transpose", transpose, 1},
      {"Concat", concat, kNonePlaces},
      {"Split", split, 1},
      {"Slice", slice, 1},
      {"Expand", expand, kNonePlaces},
      {"Tile", tile, kNonePlaces},
      {"DepthToSpace", depthToSpace, 1},
      {"SpaceToDepth", spaceToDepth, 1},
  };
  return kPieces;
}

}  // namespace max
