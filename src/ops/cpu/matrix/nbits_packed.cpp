// SPDX-License-Identifier: Apache-2.0
// max.MatMulNBits with constant weights. Few rows are multiplied as weights are unpacked; more of them share what is
// unpacked, piece by piece of a panel. A model may state that its rows can be rounded to bytes; so does a program that
// accepts products of bfloat16, which take twice the time of those.
#include "ops/cpu/matrix/nbits_packed.h"

#include <algorithm>
#include <array>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/packed_memory.h"
#include "graph/readers/matrix.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

namespace {

constexpr int64_t kPieceDepth = 512;  // of a panel that is unpacked at once
constexpr int64_t kBlockRows = 128;   // that share it while they stay in the second cache
constexpr int64_t kTaskPanels = 8;

// What a node's weights are.
struct Form {
  int bits;
  int64_t depth, columns, blockSize;
  bool mayRoundRows;

  explicit Form(const Node& node) {
    const readers::PackedProduct product(node.attributes);
    bits = static_cast<int>(product.bits);
    depth = product.depth;
    columns = product.columns;
    blockSize = product.block;
    const bool isMedium = node.products == DType::BFloat16 && node.productParts == 1;
    mayRoundRows = (product.mayRoundRows || isMedium) && blockSize <= readers::PackedProduct::kMostRounded;
  }
  int64_t blocks() const { return ceilDiv(depth, blockSize); }
  int64_t padded() const { return blocks() * blockSize; }
  int64_t blockWords() const { return blockSize * bits / 32; }
};

// The low 4 * bits of a word, `bits` in each byte.
uint32_t spread(uint32_t word, int bits) {
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) result |= (word >> (i * bits) & ((1U << bits) - 1)) << (8 * i);
  return result;
}

template <int kBits>
uint32_t arranged(uint32_t word) {
  uint32_t result = 0;
  for (int plane = 0; plane < 8 / kBits; ++plane)
    result |= spread(word >> (plane * 4 * kBits), kBits) << (plane * kBits);
  return result;
}

class PackedNBits final : public Prepared {
 public:
  PackedNBits(const Form& form, int lanes, std::span<const Tensor* const> constants);

  size_t bytes() const override { return storage_->size(); }
  bool replaces(size_t input) const override { return input >= 1 && input <= 3; }
  int lanes() const { return lanes_; }
  int64_t vectors() const { return ceilDiv(form_.columns, lanes_); }
  int64_t wordStride() const { return form_.blocks() * form_.blockWords() * lanes_; }  // of vectors
  int64_t blockStride() const { return form_.blocks() * lanes_; }
  bool hasZeros() const { return zeros_ || realZeros_; }
  bool hasRealZeros() const { return realZeros_ != nullptr; }

  // Blocks [block, block + count) of a vector.
  NBitsColumns columns(int64_t vector, int64_t block, int64_t count) const {
    const int64_t at = vector * blockStride() + block * lanes_;
    return {words_ + vector * wordStride() + block * form_.blockWords() * lanes_,
            scales_ + at,
            zeros_ ? zeros_ + at : nullptr,
            realZeros_ ? realZeros_ + at : nullptr,
            count,
            form_.blockWords(),
            form_.bits};
  }

  static size_t bytesOf(const Form& form, int lanes, bool zeros, bool realZeros) {
    const int64_t all = checkedMultiply(form.blocks(), alignUp(form.columns, lanes));
    const int64_t perBlock = 4 * form.blockWords() + 4 + (zeros ? 1 : 0) + (realZeros ? 4 : 0);
    return static_cast<size_t>(checkedAdd<int64_t>(checkedMultiply(all, perBlock), 4 * 64));
  }

 private:
  template <class T>
  T* take(std::byte*& at, int64_t count) {
    auto* result = reinterpret_cast<T*>(at);
    at += alignUp(count * static_cast<int64_t>(sizeof(T)));
    return result;
  }
  template <int kBits>
  void packWords(const uint8_t* from);
  void packZeros(const uint8_t* from);
  void packReals(const float* from, float* to) const;

  Form form_;
  int lanes_;
  Ref<Storage> storage_;
  uint32_t* words_;
  float* scales_;
  uint8_t* zeros_ = nullptr;
  float* realZeros_ = nullptr;
};

PackedNBits::PackedNBits(const Form& form, int lanes, std::span<const Tensor* const> constants)
    : form_(form), lanes_(lanes) {
  const Tensor* zeros = constants.size() > 3 ? constants[3] : nullptr;
  const bool isPacked = zeros && zeros->dtype() == DType::UInt8;
  storage_ = allocatePackedStorage(bytesOf(form, lanes, isPacked, zeros && !isPacked));
  auto* at = static_cast<std::byte*>(storage_->data());
  const int64_t blocks = vectors() * blockStride();
  words_ = take<uint32_t>(at, vectors() * wordStride());
  scales_ = take<float>(at, blocks);
  const auto* bytes = constants[1]->as<uint8_t>();
  form.bits == 4 ? packWords<4>(bytes) : form.bits == 8 ? packWords<8>(bytes) : packWords<2>(bytes);
  packReals(constants[2]->as<float>(), scales_);
  if (isPacked) {
    zeros_ = take<uint8_t>(at, blocks);
    packZeros(zeros->as<uint8_t>());
  } else if (zeros) {
    realZeros_ = take<float>(at, blocks);
    packReals(zeros->as<float>(), realZeros_);
  }
}

template <int kBits>
void PackedNBits::packWords(const uint8_t* from) {
  const int64_t words = form_.blocks() * form_.blockWords();
  for (int64_t vector = 0; vector < vectors(); ++vector) {
    uint32_t* to = words_ + vector * wordStride();
    const int64_t count = std::min<int64_t>(lanes_, form_.columns - vector * lanes_);
    const uint8_t* first = from + vector * lanes_ * words * 4;
    for (int64_t word = 0; word < words; ++word, to += lanes_)
      for (int64_t i = 0; i < lanes_; ++i) {
        uint32_t packed = 0;
        if (i < count) __builtin_memcpy(&packed, first + (i * words + word) * 4, 4);
        to[i] = arranged<kBits>(packed);
      }
    passWork(words * lanes_ / 2);
  }
}

void PackedNBits::packReals(const float* from, float* to) const {
  const int64_t blocks = form_.blocks();
  for (int64_t vector = 0; vector < vectors(); ++vector, passWork(blocks * lanes_))
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t i = 0; i < lanes_; ++i) {
        const int64_t column = vector * lanes_ + i;
        *to++ = column < form_.columns ? from[column * blocks + block] : 0;
      }
}

void PackedNBits::packZeros(const uint8_t* from) {
  const int64_t blocks = form_.blocks(), columnBits = alignUp(blocks * form_.bits, 8);
  uint8_t* to = zeros_;
  for (int64_t vector = 0; vector < vectors(); ++vector, passWork(blocks * lanes_))
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t i = 0; i < lanes_; ++i) {
        const int64_t column = vector * lanes_ + i, bit = column * columnBits + block * form_.bits;
        const bool exists = column < form_.columns;
        *to++ = exists ? static_cast<uint8_t>(from[bit / 8] >> (bit % 8) & ((1 << form_.bits) - 1)) : 0;
      }
}

// Rows as kernels read them.
struct Rows {
  const float** floats;  // of whole blocks where `few`
  float* sums;           // of blocks
  NBitsRoundedRows rounded;
};

class PackedNBitsOp final : public OpKernel {
 public:
  explicit PackedNBitsOp(const OpRequest& request);
  size_t scratchBytes() const override { return bytes_; }
  void run(const OpContext& context) const override;

 private:
  // Panels [first, last) with rows [begin, end).
  struct Part {
    int64_t firstPanel, lastPanel, begin, end;
  };
  struct Memory {
    Rows rows;
    float* padded;
    std::byte* lanes;
  };
  Memory memoryAt(std::byte* base, size_t* end = nullptr) const;
  void prepareRow(const OpContext& context, const Memory& memory, int64_t row) const;
  void sumBlocks(const float* row, float* sums) const;
  void multiplyFew(const OpContext& context, const Rows& rows, int64_t panel) const;
  void multiplyPart(const OpContext& context, const Rows& rows, const Part& part, std::byte* lane) const;
  void multiplyFloats(const OpContext& context, const Rows& rows, const Part& part, int64_t panel, int64_t block,
                      float* unpacked) const;
  void multiplyBytes(const OpContext& context, const Rows& rows, const Part& part, int64_t panel, int64_t block,
                     uint32_t* unpacked) const;
  void byteTiles(NBitsByteTile& tile, const Rows& rows, const Part& part, int64_t block, float* out) const;
  int64_t columnsOf(int64_t panel) const {
    return std::min(panels_.width(panel), form_.columns - panels_.begin(panel));
  }
  int64_t blocksFrom(int64_t block) const { return std::min(pieceBlocks_, form_.blocks() - block); }
  size_t laneBytes() const {
    return alignUp(static_cast<size_t>(panels_.width(0) * pieceBlocks_ * form_.blockSize) * (bytes8_ ? 1 : 4));
  }

  Form form_;
  Ref<PackedNBits> packed_;
  int64_t rows_;
  const NBitsFloatTable* floats_;
  const NBitsByteTable* bytes8_;  // NULL = rows stay floats
  const GemmTable* gemm_;
  bool isFew_;
  int64_t pieceBlocks_;
  Panels panels_;
  Epilogue plain_;
  int lanes_;
  size_t bytes_ = 0;
};

const NBitsByteTable* byteTableFor(const PackedNBits& packed, const Form& form) {
  return form.mayRoundRows && !packed.hasRealZeros() ? nBitsByteTable() : nullptr;
}

PackedNBitsOp::PackedNBitsOp(const OpRequest& request)
    : form_(request.node),
      packed_(static_cast<PackedNBits*>(request.node.prepared.get())),
      rows_(request.inputs[0].shape.count() / form_.depth),
      floats_(&nBitsFloatTable()),
      bytes8_(byteTableFor(*packed_, form_)),
      gemm_(&gemmTable()),
      isFew_(rows_ <= (bytes8_ ? bytes8_->tileRows : 2 * floats_->mostRows)),
      pieceBlocks_(std::max<int64_t>(1, kPieceDepth / form_.blockSize)),
      panels_(packed_->lanes(),
              bytes8_  ? 2
              : isFew_ ? 1
                       : gemm_->panelVectors,
              form_.columns),
      lanes_(std::max(request.lanes, 1)) {
  memoryAt(nullptr, &bytes_);
}

PackedNBitsOp::Memory PackedNBitsOp::memoryAt(std::byte* base, size_t* end) const {
  size_t at = 0;
  const auto take = [&](auto*& pointer, int64_t count) {
    using T = std::remove_reference_t<decltype(*pointer)>;
    pointer = base ? reinterpret_cast<T*>(base + at) : nullptr;
    at = checkedAdd(at, checkedAlignUp(checkedMultiply<size_t>(sizeof(T), static_cast<size_t>(count)), 64));
  };
  Memory memory{};
  const int64_t blocks = checkedMultiply(rows_, form_.blocks()), all = checkedMultiply(rows_, form_.padded());
  take(memory.rows.floats, rows_);
  if (bytes8_) {
    take(memory.rows.rounded.bytes, all);
    take(memory.rows.rounded.scales, blocks);
    take(memory.rows.rounded.sums, blocks);
    memory.rows.rounded.byteStride = form_.padded();
    memory.rows.rounded.blockStride = rows_;
  } else if (isFew_) {
    if (form_.padded() != form_.depth) take(memory.padded, all);
    if (packed_->hasZeros()) take(memory.rows.sums, blocks);
  }
  if (!isFew_) take(memory.lanes, checkedMultiply<int64_t>(lanes_, static_cast<int64_t>(laneBytes())));
  if (end) *end = at;
  return memory;
}

void PackedNBitsOp::sumBlocks(const float* row, float* sums) const {
  constexpr int64_t kSums = 16;
  for (int64_t block = 0; block < form_.blocks(); ++block, row += form_.blockSize) {
    float parts[kSums] = {};
    for (int64_t k = 0; k < form_.blockSize; k += kSums)
      for (int64_t i = 0; i < std::min(kSums, form_.blockSize - k); ++i) parts[i] += row[k + i];
    for (int64_t i = 1; i < kSums; ++i) parts[0] += parts[i];
    sums[block] = parts[0];
  }
}

void PackedNBitsOp::prepareRow(const OpContext& context, const Memory& memory, int64_t row) const {
  const float* from = context.in<float>(0) + row * form_.depth;
  const Rows& rows = memory.rows;
  if (bytes8_) {
    const int32_t middle = 1 << (form_.bits - 1);
    return bytes8_->round(from, form_.depth, form_.blockSize, packed_->hasZeros() ? -1 : -middle,
                          rows.rounded.at(row, 0, form_.blockSize));
  }
  if (memory.padded) {
    float* padded = memory.padded + row * form_.padded();
    std::copy_n(from, form_.depth, padded);
    std::fill_n(padded + form_.depth, form_.padded() - form_.depth, 0.f);
    from = padded;
  }
  rows.floats[row] = from;
  if (rows.sums) sumBlocks(from, rows.sums + row * form_.blocks());
}

void PackedNBitsOp::multiplyFew(const OpContext& context, const Rows& rows, int64_t panel) const {
  const int64_t column = panels_.begin(panel), vector = column / packed_->lanes(), blocks = form_.blocks();
  float* out = context.out<float>() + column;
  const NBitsColumns weights = packed_->columns(vector, 0, blocks);
  if (bytes8_) {
    const bool isWide = panels_.width(panel) > packed_->lanes();
    NBitsByteTile tile{rows.rounded,
                       weights,
                       isWide ? packed_->wordStride() : 0,
                       isWide ? packed_->blockStride() : 0,
                       out,
                       form_.columns,
                       columnsOf(panel),
                       false};
    return bytes8_->multiply(tile, rows_);
  }
  for (int64_t row = 0, count; row < rows_; row += count) {
    count = std::min(floats_->mostRows, rows_ - row);
    const float* sums = rows.sums ? rows.sums + row * blocks : nullptr;
    floats_->multiply(weights, {rows.floats + row, sums, blocks, count}, columnsOf(panel), out + row * form_.columns,
                      form_.columns);
  }
}

void PackedNBitsOp::multiplyFloats(const OpContext& context, const Rows& rows, const Part& part, int64_t panel,
                                   int64_t block, float* unpacked) const {
  const int64_t blocks = blocksFrom(block), width = panels_.width(panel), first = block * form_.blockSize;
  const int64_t depth = std::min(blocks * form_.blockSize, form_.depth - first), column = panels_.begin(panel);
  for (int64_t n = 0; n < width; n += packed_->lanes())
    floats_->expand(packed_->columns((column + n) / packed_->lanes(), block, blocks), width, unpacked + n);
  GemmTile tile{nullptr,
                first,
                1,
                depth,
                unpacked,
                width,
                nullptr,
                form_.columns,
                columnsOf(panel),
                block > 0,
                block + blocks == form_.blocks(),
                &plain_,
                nullptr,
                nullptr,
                0,
                unpacked,
                0};
  for (int64_t row = part.begin, count; row < part.end; row += count) {
    count = std::min<int64_t>(gemm_->tileRows, part.end - row);
    tile.rows = rows.floats + row;
    tile.c = context.out<float>() + row * form_.columns + column;
    gemm_->tile(count, width)(tile);
  }
}

void PackedNBitsOp::multiplyBytes(const OpContext& context, const Rows& rows, const Part& part, int64_t panel,
                                  int64_t block, uint32_t* unpacked) const {
  const int64_t blocks = blocksFrom(block), column = panels_.begin(panel), vector = column / packed_->lanes();
  const bool isWide = panels_.width(panel) > packed_->lanes();
  NBitsColumns weights = packed_->columns(vector, block, blocks);
  int64_t wordStride = packed_->wordStride();
  if (form_.bits < 8) {
    wordStride = blocks * form_.blockSize / 4 * packed_->lanes();
    for (int64_t i = 0; i < 1 + isWide; ++i)
      bytes8_->expand(packed_->columns(vector + i, block, blocks), unpacked + i * wordStride);
    weights.words = unpacked;
    weights.blockWords = form_.blockSize / 4;
    weights.bits = 8;
  }
  NBitsByteTile tile{{},      weights,       isWide ? wordStride : 0, isWide ? packed_->blockStride() : 0,
                     nullptr, form_.columns, columnsOf(panel),        block > 0};
  for (int64_t row = part.begin, count; row < part.end; row += count) {
    count = std::min(bytes8_->tileRows, part.end - row);
    tile.rows = rows.rounded.at(row, block, form_.blockSize);
    tile.out = context.out<float>() + row * form_.columns + column;
    bytes8_->multiply(tile, count);
  }
}

void PackedNBitsOp::multiplyPart(const OpContext& context, const Rows& rows, const Part& part, std::byte* lane) const {
  for (int64_t block = 0; block < form_.blocks(); block += pieceBlocks_)
    for (int64_t panel = part.firstPanel; panel < part.lastPanel; ++panel) {
      if (bytes8_)
        multiplyBytes(context, rows, part, panel, block, reinterpret_cast<uint32_t*>(lane));
      else
        multiplyFloats(context, rows, part, panel, block, reinterpret_cast<float*>(lane));
      passWork(pieceBlocks_ * form_.blockSize * (32 + part.end - part.begin));
    }
}

void PackedNBitsOp::run(const OpContext& context) const {
  const Memory memory = memoryAt(context.scratch);
  parallelFor(context.lanes, rows_, std::max<int64_t>(1, (1 << 16) / form_.padded()),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t row = begin; row < end; ++row, passWork(form_.padded())) prepareRow(context, memory, row);
              });
  if (isFew_) {
    const int64_t work = std::max<int64_t>(1, form_.padded() * panels_.width(0));
    return parallelFor(std::min(context.lanes, lanes_), panels_.count, std::max<int64_t>(1, (1 << 16) / work),
                       [&](int64_t begin, int64_t end, int) {
                         for (int64_t panel = begin; panel < end; ++panel, passWork(form_.padded() * rows_))
                           multiplyFew(context, memory.rows, panel);
                       });
  }
  const int64_t parts = ceilDiv(panels_.count, kTaskPanels), blocks = ceilDiv(rows_, kBlockRows);
  parallelFor(std::min(context.lanes, lanes_), parts * blocks, 1, [&](int64_t begin, int64_t end, int index) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t part = task % parts, block = task / parts;
      multiplyPart(context, memory.rows,
                   {part * panels_.count / parts, (part + 1) * panels_.count / parts, block * rows_ / blocks,
                    (block + 1) * rows_ / blocks},
                   memory.lanes + static_cast<size_t>(index) * laneBytes());
    }
  });
}

}  // namespace

Ref<Prepared> prepareNBits(const Node& node, std::span<const Tensor* const> constants) {
  const auto constant = [&](size_t i) { return i < constants.size() ? constants[i] : nullptr; };
  const Tensor *weights = constant(1), *scales = constant(2), *zeros = constant(3);
  if (!weights || !scales || scales->dtype() != DType::Float32 || (node.input(3) && !zeros)) return nullptr;
  if (zeros && zeros->dtype() != DType::UInt8 && zeros->dtype() != DType::Float32) return nullptr;
  const Form form(node);
  const int lanes = nBitsFloatTable().lanes;
  // Narrow matrices would mostly be padding.
  if (form.columns < lanes / 2 || form.blockSize * form.bits < 32) return nullptr;
  return makeRef<PackedNBits>(form, lanes, constants);
}

bool acceptsPackedNBits(const OpRequest& request) {
  const auto* packed = dynamic_cast<const PackedNBits*>(request.node.prepared.get());
  return request.inputs[0].dtype == DType::Float32 && packed && packed->lanes() == nBitsFloatTable().lanes;
}

std::unique_ptr<OpKernel> createPackedNBits(const OpRequest& request) {
  return std::make_unique<PackedNBitsOp>(request);
}

}  // namespace max
