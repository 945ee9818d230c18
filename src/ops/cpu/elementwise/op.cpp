// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/elementwise/op.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <numeric>

#include "base/active_call.h"
#include "base/align.h"
#include "ops/cpu/elementwise/layout.h"
#include "ops/cpu/streamed.h"

namespace max {

namespace {

constexpr size_t kMaxPlaces =
    kMaxElementwiseInputs + kMaxElementwiseConstants + kMaxElementwiseInstructions + kMaxElementwiseOutputs;
constexpr int64_t kBlockElements = 1024;  // 4 KB of float32: a handful of registers stay in the first-level cache
constexpr int64_t kMinFlatBlock = 2048, kMaxFlatBlock = 16384;
constexpr int64_t kChunkCost = 40000;  // elements of a cheap instruction that are worth a thread

int64_t costOf(const ElementwiseProgram& program) {
  int64_t cost = 1;
  for (const ElementwiseInstruction& instruction : program.instructions) cost += infoOf(instruction.op).cost;
  return cost;
}

// So that they are on their way while something else is computed. With blocks of more bytes that takes longer than not
// to ask.
constexpr int64_t kMostAsked = 4096;
void askForLines(const std::byte* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kStreamedLine) __builtin_prefetch(from + i, 1);
}

// An instruction ready to run.
struct Step {
  TileFunction function;
  int16_t dst;
  int16_t src[3];
  int8_t step[3];
  bool repeated;  // its operands and its result are repeated values
  int16_t repeatCount;
  float alpha, beta;
};

class ElementwiseOp final : public OpKernel {
 public:
  ElementwiseOp(Ref<ElementwiseProgram> program, const Shape& output, std::span<const Shape> shapes, int lanes);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override { return laneBytes_ * static_cast<size_t>(lanes_); }
  int inPlaceInput() const override { return inPlace_; }
  bool takesPitch(OperandPlace place) const override;
  void setPitch(OperandPlace place, size_t bytes) override;

 private:
  struct Input {
    int index;  // among the program's inputs
    size_t elementSize;
    Shape shape;
    int64_t pitch = 0;  // elements from one row to the next; 0 = it is dense
    Access access = Access::Direct;
    size_t scratch = 0;  // where its copy lies
    SplatFunction splat = nullptr;

    void repeat(const std::byte* from, std::byte* to) const {
      splat(from, 0, 1, kSplatBytes / static_cast<int64_t>(elementSize), to);
    }
  };
  struct Cursor;
  struct Source;
  void planWork();
  void addSteps(const std::vector<bool>& repeatedInput);
  void layOutScratch();
  void chooseInPlace();
  void runSingleBlock(const OpContext& context) const;
  void runBlocks(const OpContext& context, int64_t begin, int64_t end, int lane) const;
  void place(const OpContext& context, std::byte* scratch, const std::byte** places) const;
  size_t findSources(const OpContext& context, const Cursor& cursor, std::byte* scratch, Source* sources) const;
  void bind(Source& source, int64_t extent, const std::byte** places) const;
  bool streams(const OpContext& context) const;
  void runSteps(const std::byte* const* places, int64_t count, bool isStreamed) const;

  Ref<ElementwiseProgram> program_;
  Shape output_;
  BlockLayout layout_;  // of the inputs that are used
  std::vector<Input> inputs_;
  std::vector<Step> steps_;
  size_t firstOutput_;
  std::vector<int64_t> outputSizes_;  // bytes of an element
  size_t registerBytes_ = 0;
  size_t laneBytes_ = 0;
  int lanes_;
  int inPlace_ = -1;
  int64_t streamedBytes_ = 0;  // of the output, if the last instruction makes it
  int64_t grain_ = 1;
};

// An input whose place differs between blocks that follow each other along one dimension.
struct ElementwiseOp::Source {
  size_t number;  // in inputs_
  const std::byte* data;
  int64_t step;  // bytes to the next block
  std::byte* copy;
  const std::byte* copied = nullptr;  // what the copy was made of
};

// A walk over the blocks, those along the last dimension at once.
struct ElementwiseOp::Cursor {
  const BlockLayout& layout;
  Shape counts;  // of blocks along each dimension up to `split`, which is left out if one block spans it
  Shape index;

  Cursor(const BlockLayout& blocks, int64_t block) : layout(blocks) {
    for (int i = 0; i < layout.split; ++i) counts.push(layout.dims[i]);
    if (layout.chunks > 1) counts.push(layout.chunks);
    index = Shape::filled(counts.rank(), 0);
    for (int i = last(); i >= 0; --i) {
      index[i] = block % counts[i];
      block /= counts[i];
    }
  }

  int last() const { return counts.rank() - 1; }
  int64_t chunk() const { return layout.chunks > 1 ? index[last()] : 0; }
  // Elements of an input from one block along a dimension to the next.
  int64_t step(size_t input, int dim) const {
    return layout.strides[input][dim] * (dim == layout.split ? layout.chunk : 1);
  }
  int64_t offset(size_t input) const {
    int64_t sum = 0;
    for (int i = 0; i <= last(); ++i) sum += index[i] * step(input, i);
    return sum;
  }
  int64_t left() const { return counts[last()] - index[last()]; }
  // To the first block past those that are left.
  void turn() {
    index[last()] = 0;
    for (int i = last() - 1; i >= 0; --i) {
      if (++index[i] < counts[i]) return;
      index[i] = 0;
    }
  }
};

ElementwiseOp::ElementwiseOp(Ref<ElementwiseProgram> program, const Shape& output, std::span<const Shape> shapes,
                             int lanes)
    : program_(std::move(program)), output_(output), lanes_(std::max(lanes, 1)) {
  std::vector<bool> used(program_->inputs.size());
  for (const ElementwiseInstruction& instruction : program_->instructions)
    for (int16_t source : instruction.src)
      if (source >= 0 && source < program_->firstConstant()) used[static_cast<size_t>(source)] = true;
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i]) {
      inputs_.push_back({static_cast<int>(i), sizeOf(program_->inputs[i]), shapes[i]});
      inputs_.back().splat = findSplatFunction(inputs_.back().elementSize);
    }
  firstOutput_ = static_cast<size_t>(program_->firstOutput());
  for (DType dtype : program_->outputs) outputSizes_.push_back(static_cast<int64_t>(sizeOf(dtype)));
  planWork();
}

// Inputs without gaps in place of those that are broadcast. Rows are gathered, unless they are long.
bool ElementwiseOp::takesPitch(OperandPlace place) const {
  const auto isIt = [&](const Input& input) {
    return static_cast<size_t>(input.index) == place.number && input.shape == output_ && output_.rank() > 0;
  };
  return place.side == OperandPlace::Input && std::any_of(inputs_.begin(), inputs_.end(), isIt);
}

void ElementwiseOp::setPitch(OperandPlace place, size_t bytes) {
  for (Input& input : inputs_)
    if (static_cast<size_t>(input.index) == place.number) input.pitch = static_cast<int64_t>(bytes / input.elementSize);
  planWork();
}

void ElementwiseOp::planWork() {
  std::vector<Shape> shapes;
  std::vector<int64_t> pitches;
  for (const Input& input : inputs_) {
    shapes.push_back(input.shape);
    pitches.push_back(input.pitch);
  }
  const int64_t cost = costOf(*program_);
  const bool wide = program_->registerCount > 6 || program_->registerElementSize > 4;
  // Of large tensors, so that the next block's elements are on their way while this one is computed.
  const bool isFar = output_.count() * static_cast<int64_t>(sizeof(float)) >= kStreamedBytes;
  // Of whole lines, which can be stored past the caches.
  const int64_t flatBlock = std::clamp(kChunkCost / cost, kMinFlatBlock, kMaxFlatBlock) / kStreamedLine * kStreamedLine;
  layout_ = planBlocks(collapseBroadcast(output_, shapes, pitches), wide || isFar ? kBlockElements / 2 : kBlockElements,
                       program_->registerCount > 0 ? 0 : flatBlock);
  std::vector<bool> repeated(program_->inputs.size());
  for (size_t k = 0; k < inputs_.size(); ++k) {
    inputs_[k].access = layout_.access[k];
    repeated[static_cast<size_t>(inputs_[k].index)] = layout_.access[k] == Access::Repeated;
  }
  addSteps(repeated);
  layOutScratch();
  chooseInPlace();
  grain_ = std::max<int64_t>(1, kChunkCost / (cost * std::max<int64_t>(1, layout_.blockElements())));
}

void ElementwiseOp::addSteps(const std::vector<bool>& repeatedInput) {
  std::vector<bool> repeated(static_cast<size_t>(program_->placeCount()));
  std::copy(repeatedInput.begin(), repeatedInput.end(), repeated.begin());
  steps_.clear();
  for (int i = program_->firstConstant(); i < program_->firstRegister(); ++i) repeated[static_cast<size_t>(i)] = true;
  for (const ElementwiseInstruction& instruction : program_->instructions) {
    Step step{};
    step.function = findTileFunction(instruction.op, instruction.from, instruction.to);
    require(step.function != nullptr, MAX_STATUS_INTERNAL, "An elementwise instruction is not implemented");
    step.dst = instruction.dst;
    step.repeated = instruction.dst < program_->firstOutput();
    for (size_t i = 0; i < 3; ++i) {
      step.src[i] = std::max<int16_t>(instruction.src[i], 0);
      if (instruction.src[i] < 0) continue;
      step.step[i] = repeated[static_cast<size_t>(instruction.src[i])] ? 0 : 1;
      step.repeated = step.repeated && step.step[i] == 0;
    }
    step.repeatCount = static_cast<int16_t>(static_cast<size_t>(kSplatBytes) / sizeOf(instruction.to));
    step.alpha = instruction.alpha;
    step.beta = instruction.beta;
    repeated[static_cast<size_t>(instruction.dst)] = step.repeated;
    steps_.push_back(step);
  }
}

void ElementwiseOp::layOutScratch() {
  const auto elements = static_cast<size_t>(layout_.blockElements());
  const auto registerElement = static_cast<size_t>(program_->registerElementSize);
  registerBytes_ = std::max(alignUp(elements * registerElement), static_cast<size_t>(kSplatBytes));
  laneBytes_ = registerBytes_ * static_cast<size_t>(program_->registerCount);
  for (Input& input : inputs_) {
    input.scratch = laneBytes_;
    if (input.access == Access::Repeated) laneBytes_ += static_cast<size_t>(kSplatBytes);
    if (input.access == Access::Gathered || input.access == Access::Pattern)
      laneBytes_ += alignUp(elements * input.elementSize + static_cast<size_t>(kGatherSlack));
  }
}

// A dense input of the output's element size that no instruction reads after the output is written.
void ElementwiseOp::chooseInPlace() {
  inPlace_ = -1;
  if (program_->outputs.size() != 1 || program_->instructions.back().dst != program_->firstOutput()) return;
  const int64_t count = output_.count();
  streamedBytes_ = count * static_cast<int64_t>(sizeOf(program_->outputs[0]));
  for (const Input& input : inputs_) {
    if (input.access == Access::Direct && input.shape.count() == count && input.pitch == 0 && count > 1 &&
        input.elementSize == sizeOf(program_->outputs[0])) {
      inPlace_ = input.index;
      return;
    }
  }
}

// Small tensors are common: no cursor, no lanes.
void ElementwiseOp::runSingleBlock(const OpContext& context) const {
  const std::byte* places[kMaxPlaces];
  place(context, context.scratch, places);
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const Input& input = inputs_[k];
    const std::byte* data = context.in<std::byte>(static_cast<size_t>(input.index));
    if (input.access == Access::Direct) places[input.index] = data;
    if (input.access == Access::Gathered)
      gatherBlock(layout_, k, layout_.chunk, data, context.scratch + input.scratch, input.elementSize, input.splat);
    if (input.access == Access::Repeated) input.repeat(data, context.scratch + input.scratch);
  }
  for (size_t k = 0; k < outputSizes_.size(); ++k) places[firstOutput_ + k] = context.out<std::byte>(k);
  runSteps(places, layout_.blockElements(), false);
}

void ElementwiseOp::run(const OpContext& context) const {
  if (layout_.blocks == 1) return runSingleBlock(context);
  const bool isOnePiece = layout_.blocks <= grain_ || (context.lanes <= 1 && !activeCall());
  if (isOnePiece) {
    if (layout_.blocks > 0) runBlocks(context, 0, layout_.blocks, 0);
    return;
  }
  context.parallelFor(layout_.blocks, grain_,
                      [&](int64_t begin, int64_t end, int lane) { runBlocks(context, begin, end, lane); });
}

void ElementwiseOp::runBlocks(const OpContext& context, int64_t begin, int64_t end, int lane) const {
  const std::byte* places[kMaxPlaces];
  std::byte* scratch = context.scratch + static_cast<size_t>(lane) * laneBytes_;
  place(context, scratch, places);
  Cursor cursor(layout_, begin);
  const int64_t extent = layout_.dims[layout_.split];
  const int64_t blockBytes = layout_.blockElements() * outputSizes_[0];
  const bool isStreamed = streams(context);
  const bool isFar = !isStreamed && streamedBytes_ >= kStreamedBytes && blockBytes <= kMostAsked;
  Source sources[kMaxElementwiseInputs];
  for (int64_t block = begin; block < end; cursor.turn()) {
    const size_t count = findSources(context, cursor, scratch, sources);
    const int64_t first = block / layout_.chunks * extent + cursor.chunk() * layout_.chunk;
    for (size_t k = 0; k < outputSizes_.size(); ++k)
      places[firstOutput_ + k] = context.out<std::byte>(k) + first * layout_.inner * outputSizes_[k];
    int64_t left = extent - cursor.chunk() * layout_.chunk;  // of a row
    for (const int64_t last = std::min(block + cursor.left(), end); block < last; ++block) {
      const int64_t indices = std::min(layout_.chunk, left);
      for (size_t k = 0; k < count; ++k) bind(sources[k], indices, places);
      if (isFar) askForLines(places[firstOutput_] + indices * layout_.inner * outputSizes_[0], blockBytes);
      runSteps(places, indices * layout_.inner, isStreamed);
      for (size_t k = 0; k < outputSizes_.size(); ++k)
        places[firstOutput_ + k] += indices * layout_.inner * outputSizes_[k];
      if (layout_.chunks > 1) left -= indices;
    }
  }
  if (isStreamed) hwy::FlushStream();
}

// Addresses that are the same for all blocks.
void ElementwiseOp::place(const OpContext& context, std::byte* scratch, const std::byte** places) const {
  const auto constants = static_cast<size_t>(program_->firstConstant());
  for (size_t i = 0; i < program_->constants.size(); ++i) places[constants + i] = program_->constants[i].data();
  const auto registers = static_cast<size_t>(program_->firstRegister());
  for (size_t i = 0; i < static_cast<size_t>(program_->registerCount); ++i)
    places[registers + i] = scratch + i * registerBytes_;
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const Input& input = inputs_[k];
    if (input.access == Access::Direct) continue;
    places[input.index] = scratch + input.scratch;
    if (input.access == Access::Pattern)
      gatherBlock(layout_, k, layout_.chunk, context.in<std::byte>(static_cast<size_t>(input.index)),
                  scratch + input.scratch, input.elementSize, input.splat);
  }
}

size_t ElementwiseOp::findSources(const OpContext& context, const Cursor& cursor, std::byte* scratch,
                                  Source* sources) const {
  size_t count = 0;
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const Input& input = inputs_[k];
    if (input.access == Access::Pattern) continue;
    const auto size = static_cast<int64_t>(input.elementSize);
    const std::byte* data = context.in<std::byte>(static_cast<size_t>(input.index)) + cursor.offset(k) * size;
    sources[count++] = {k, data, cursor.step(k, cursor.last()) * size, scratch + input.scratch};
  }
  return count;
}

// An input's place in a block of so many indices, and on to the next block.
void ElementwiseOp::bind(Source& source, int64_t extent, const std::byte** places) const {
  const Input& input = inputs_[source.number];
  if (input.access == Access::Direct) {
    places[input.index] = source.data;
  } else if (source.copied != source.data) {  // all blocks may read the same, the last of a row less of it
    if (input.access == Access::Repeated)
      input.repeat(source.data, source.copy);
    else
      gatherBlock(layout_, source.number, extent, source.data, source.copy, input.elementSize, input.splat);
    source.copied = source.data;
  }
  source.data += source.step;
}

bool ElementwiseOp::streams(const OpContext& context) const {
  if (streamedBytes_ == 0) return false;
  // Where blocks begin: `chunk` indices apart, but for the last of a row, which may be shorter.
  const bool isOneRow = layout_.chunks == layout_.blocks;
  const int64_t step = isOneRow ? layout_.chunk : std::gcd(layout_.chunk, layout_.dims[layout_.split]);
  const void* from = inPlace_ < 0 ? nullptr : context.in<std::byte>(static_cast<size_t>(inPlace_));
  return isStreamed(context.out<std::byte>(), streamedBytes_, step * layout_.inner * outputSizes_[0], from);
}

void ElementwiseOp::runSteps(const std::byte* const* places, int64_t count, bool isStreamed) const {
  for (const Step& step : steps_) {
    TileOperands tile;
    tile.dst = const_cast<std::byte*>(places[step.dst]);
    for (int i = 0; i < 3; ++i) {
      tile.src[i] = places[step.src[i]];
      tile.step[i] = step.step[i];
    }
    tile.count = step.repeated ? step.repeatCount : count;
    tile.alpha = step.alpha;
    tile.beta = step.beta;
    tile.isStreamed = isStreamed && &step == &steps_.back();
    step.function(tile);
  }
}

}  // namespace

std::unique_ptr<OpKernel> makeElementwiseOp(Ref<ElementwiseProgram> program, const Shape& output,
                                            std::span<const Shape> shapes, int lanes) {
  return std::make_unique<ElementwiseOp>(std::move(program), output, shapes, lanes);
}

}  // namespace max
