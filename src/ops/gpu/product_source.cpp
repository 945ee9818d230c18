// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/product_source.h"

#include <algorithm>

#include "base/error.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr const char* kFunctions = R"(
#ifndef MAX_DEVICE
#define MAX_DEVICE static inline __device__
#endif
typedef MaxMma<Kind> Mma;
#define MAX_PER_LANE (256 / MAX_MMA_LANES)
// Blocks with large tiles that one of CUDA's processors has registers for.
#if defined(MAX_MMA_ASYNC)
#define MAX_LARGE_BLOCKS (Mma::steps > 2 ? 1 : 2)
#else
#define MAX_LARGE_BLOCKS 1
#endif

// What tiles in shared memory hold: what is rounded to bfloat16 is so before it is there.
template <class K>
struct Held {
  typedef typename K::Element Type;
};
#if defined(MAX_MMA_PTX) || defined(MAX_MMA_MFMA)
template <>
struct Held<MaxMmaNarrow> {
  typedef __nv_bfloat16 Type;
};
#endif
typedef typename Held<Kind>::Type Stored;
template <class Tile>
struct TileMma {
  typedef Mma Type;
};
template <int kRows, bool kIsInner>
struct TileMma<MaxTile<__nv_bfloat16, kRows, kIsInner> > {
  typedef MaxMma<MaxMmaBfloat> Type;
};

// Elements into registers, by 16 bytes where they lie so.
template <class T, int kCount>
MAX_DEVICE void takePiece(T (&piece)[kCount], const T* from, long long valid, bool isAligned) {
  if (isAligned && valid >= kCount) {
#pragma unroll
    for (int i = 0; i < kCount * (int)sizeof(T) / 16; ++i) {
      const uint4 memory = ((const uint4*)from)[i];
      memcpy((char*)piece + 16 * i, &memory, 16);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) piece[i] = i < valid ? from[i] : T(0.0f);
  }
}
// The same, all or nothing.
template <class T, int kCount>
MAX_DEVICE void takeWhole(T (&piece)[kCount], const T* from, bool isThere, bool isAligned) {
  if (isThere) {
    takePiece(piece, from, kCount, isAligned);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) piece[i] = T(0.0f);
  }
}
// From there as 16 bytes of a tile.
template <class T>
MAX_DEVICE void putPiece(void* to, const T (&piece)[16 / sizeof(T)]) {
  uint4 memory;
  memcpy(&memory, piece, 16);
  *(uint4*)to = memory;
}
MAX_DEVICE void putPiece(void* to, const float (&piece)[8]) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = maxMmaPair(__float_as_uint(piece[2 * i]), __float_as_uint(piece[2 * i + 1]));
  *(uint4*)to = make_uint4(words[0], words[1], words[2], words[3]);
}
// The same at once.
template <class T>
MAX_DEVICE void copyPiece(uint4* to, const T* from, int valid, bool isAligned) {
  if (isAligned) {
    maxCopyAsync(to, from, valid * (int)sizeof(T));
    return;
  }
#pragma unroll
  for (int i = 0; i < 16 / (int)sizeof(T); ++i) ((T*)to)[i] = i < valid ? from[i] : T(0.0f);
}
// Four results that lie together, or the first `count`.
template <class T>
MAX_DEVICE void storePiece(T* to, const T (&piece)[4], long long count, bool isAligned) {
  if (isAligned && count >= 4 && sizeof(T) == 4) {
    uint4 memory;
    memcpy(&memory, piece, sizeof(T) == 4 ? 16 : 0);
    *(uint4*)to = memory;
  } else if (isAligned && count >= 4 && sizeof(T) == 2) {
    uint2 memory;
    memcpy(&memory, piece, sizeof(T) == 2 ? 8 : 0);
    *(uint2*)to = memory;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (i < count) to[i] = piece[i];
  }
}
template <class T>
MAX_DEVICE bool isAligned(const T* base, long long stride) {
  return (size_t)base % 16 == 0 && stride * (long long)sizeof(T) % 16 == 0;
}

// A factor: a matrix whose elements lie together along k (kIsInner) or across it. Pieces go to a tile as they are; those
// that are converted are kept in registers from one tile to the next.
template <class T, int kRows, int kThreads, bool kIsInner, class To = T>
struct MatrixSource {
  typedef MaxTile<To, kRows, kIsInner> Tile;
  static const int kPiece = Tile::kPiece, kLine = kIsInner ? 4 : Tile::kAcross;
  static const int kEach = (Tile::kPieces + kThreads - 1) / kThreads, kApart = kThreads / kLine;
  static const bool kConverts = sizeof(T) != sizeof(To);
  const T* from;     // this thread's first piece
  long long stride;  // elements between lines
  int depth, place;       // of that piece in the tile: on k, and in memory
  int left, there;        // of k; of the thread's pieces those of the matrix's rows, or elements of a piece
  bool aligned;
  T kept[kEach][kPiece];

  inline __device__ MatrixSource(const T* matrix, long long first, long long count, long long apart, long long begin,
                                 long long past)
      : stride(apart),
        depth(kIsInner ? threadIdx.x % kLine * kPiece : threadIdx.x / kLine),
        left((int)(past - begin) - depth) {
    const T* base = matrix + (kIsInner ? first * stride + begin : first + begin * stride);
    const int row = kIsInner ? threadIdx.x / kLine : threadIdx.x % kLine * kPiece;
    const long long behind = count - first - row;
    const int rows = behind > kRows ? kRows : behind < 0 ? 0 : (int)behind;
    from = base + (kIsInner ? row * stride + depth : depth * stride + row);
    there = kIsInner ? (rows + kApart - 1) / kApart : rows < kPiece ? rows : kPiece;
    place = (int)((uint4*)Tile().at(row, depth) - (uint4*)0);
    aligned = isAligned(base, stride);
    if (kConverts) fetch();
  }
  // How many elements of a piece there are, of `count` on k.
  inline __device__ int valid(int i, int count) const {
    return kIsInner ? i < there ? count : 0 : i * kApart < left ? there : 0;
  }
  inline __device__ int here() const { return left < 0 ? 0 : left < kPiece ? left : kPiece; }
  inline __device__ void fetch() {
    const int count = here();
#pragma unroll
    for (int i = 0; i < kEach; ++i) takePiece(kept[i], from + i * kApart * stride, valid(i, count), aligned);
  }
  inline __device__ void load(const Tile& tile) {
    const int count = here();
    uint4* const to = tile.memory + place;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (Tile::kPieces % kThreads != 0 && (int)threadIdx.x + i * kThreads >= Tile::kPieces) break;
      if (kConverts)
        putPiece(to + i * (kApart * kLine), kept[i]);
      else
        copyPiece(to + i * (kApart * kLine), from + i * kApart * stride, valid(i, count), aligned);
    }
    from += kIsInner ? Tile::kDepth : Tile::kDepth * stride;
    left -= Tile::kDepth;
    if (kConverts) fetch();
  }
};

// A tile of results of the block: adds the products of `steps` pieces of k. `memory`: kStages tiles of each factor.
template <int kRows, int kColumns, int kThreads, int kTeamRows, int kStages, class A, class B, int kHeight, int kWidth>
MAX_DEVICE void accumulate(Sum (&sums)[kHeight][kWidth][MAX_PER_LANE], uint4* memory, A& a, B& b, long long steps) {
  const int kTeamColumns = kThreads / MAX_MMA_LANES / kTeamRows, kStage = 4 * (kRows + kColumns);
  const int team = threadIdx.x / MAX_MMA_LANES;
  const int row0 = team / kTeamColumns * (16 * kHeight), column0 = team % kTeamColumns * (16 * kWidth);
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < steps) {
      a.load({memory + stage * kStage});
      b.load({memory + stage * kStage + 4 * kRows});
    }
    maxCloseCopies();
  }
  typedef typename TileMma<typename A::Tile>::Type M;
  const int kUnrolled = M::steps > 2 ? 1 : M::steps;  // plain arithmetic has enough of it in one
  int now = 0, next = kStages - 1;
#pragma unroll 1
  for (long long step = 0; step < steps; ++step) {
    maxWaitForCopies<kStages - 2>();
    __syncthreads();
    if (step + kStages - 1 < steps) {
      a.load({memory + next * kStage});
      b.load({memory + next * kStage + 4 * kRows});
    }
    maxCloseCopies();
    const typename A::Tile left = {memory + now * kStage};
    const typename B::Tile right = {memory + now * kStage + 4 * kRows};
#pragma unroll kUnrolled
    for (int part = 0; part < M::steps; ++part) {
      typename M::Rows rows[kHeight];
#pragma unroll
      for (int i = 0; i < kHeight; ++i) M::loadRows(rows[i], left, row0 + 16 * i, part);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        typename M::Columns columns;
        M::loadColumns(columns, right, column0 + 16 * j, part);
#pragma unroll
        for (int i = 0; i < kHeight; ++i) M::multiply(sums[i][j], rows[i], columns);
      }
    }
    now = now + 1 == kStages ? 0 : now + 1;
    next = next + 1 == kStages ? 0 : next + 1;
  }
}

template <class T, int kPiece>
MAX_DEVICE void takeSums(T (&piece)[kPiece], const T* from) {
  if (sizeof piece % 16 == 0) {
    takePiece(piece, from, kPiece, true);
  } else {
    for (int i = 0; i < kPiece; ++i) piece[i] = from[i];
  }
}
// A tile's sums go to `store` with their places in it, kPiece of a row at a time, through memory: those that threads store
// together lie together, and what `store` does is there once for each 16 rows of a team. `memory`: that of the factors'
// tiles.
template <int kRows, int kColumns, int kThreads, int kTeamRows, int kPiece, int kHeight, int kWidth, class Store>
MAX_DEVICE void storeTile(const Sum (&sums)[kHeight][kWidth][MAX_PER_LANE], uint4* memory, const Store& store) {
  const int kTeamColumns = kThreads / MAX_MMA_LANES / kTeamRows, team = threadIdx.x / MAX_MMA_LANES;
  const int kLine = kColumns + (sizeof(Sum) == 4 ? 4 : 0), column0 = team % kTeamColumns * (16 * kWidth);
  Sum* const results = (Sum*)memory;
#pragma unroll
  for (int i = 0; i < kHeight; ++i) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
#pragma unroll
      for (int e = 0; e < MAX_PER_LANE; ++e)
        results[(team / kTeamColumns * 16 + Mma::row(e)) * kLine + column0 + 16 * j + Mma::column(e)] = sums[i][j][e];
    __syncthreads();
#pragma unroll 1
    for (int at = threadIdx.x; at < 16 * kTeamRows * kColumns / kPiece; at += kThreads) {
      const int row = at / (kColumns / kPiece), column = at % (kColumns / kPiece) * kPiece;
      Sum piece[kPiece];
      takeSums(piece, results + row * kLine + column);
      store(row / 16 * (16 * kHeight) + 16 * i + row % 16, column, piece);
    }
  }
  __syncthreads();
}

// The sums go to `store` with their places in the tile, kPiece of a row at a time.
template <int kRows, int kColumns, int kThreads, int kTeamRows, int kPiece, class A, class B, class Store>
MAX_DEVICE void multiplyTile(A& a, B& b, long long steps, const Store& store) {
#if defined(MAX_MMA_ASYNC)
  // As many as 48 KB have, if copies may be on their way that long.
  const int kStages = A::Tile::kDepth * sizeof(Element) == 64 ? 768 / (kRows + kColumns) : 2;
#else
  const int kStages = MAX_MMA_STAGES;
#endif
  const int kOfStages = kStages * 4 * (kRows + kColumns);
  const int kOfResults = kTeamRows * (kColumns + 4) * (int)sizeof(Sum);
  __shared__ uint4 memory[kOfStages > kOfResults ? kOfStages : kOfResults];
  const int kTeamColumns = kThreads / MAX_MMA_LANES / kTeamRows;
  Sum sums[kRows / kTeamRows / 16][kColumns / kTeamColumns / 16][MAX_PER_LANE] = {};
  accumulate<kRows, kColumns, kThreads, kTeamRows, kStages>(sums, memory, a, b, steps);
  storeTile<kRows, kColumns, kThreads, kTeamRows, kPiece>(sums, memory, store);
}
)";

constexpr int64_t kManyTiles = 96;       // large ones, that keep most chips busy
constexpr int64_t kManyTallTiles = 192;  // of half their size
constexpr int64_t kManyBlocks = 256;     // that sums are cut for
// Cutting costs a launch, so it is for long sums of few tiles, and of a row, which reads more than it computes.
constexpr int64_t kFewTiles = 100, kLongSteps = 8, kLeastSteps = 3, kMostSplits = 32;
constexpr int64_t kFewOfRow = 128, kLongStepsOfRow = 32, kLeastStepsOfRow = 8;
constexpr int64_t kBytesOfStep = 64, kElementsOfStep = 32;  // at least
constexpr int64_t kMostDepth = int64_t{1} << 30;            // that kernels count in 32 bits
constexpr int64_t kRowBytes = 128;                          // of a row of results that a block computes

int64_t parts(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Whether large tiles would have a tenth more that is empty.
bool fitsTall(int64_t columns) { return 10 * parts(columns, 64) * 64 < 9 * parts(columns, 128) * 128; }

std::string kindOf(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return "MaxMmaHalf";
    case DType::BFloat16:
      return "MaxMmaBfloat";
    case DType::Float32:
      return kFloat32Kind;
    default:
      return "MaxMmaPlain<Element, Sum>";
  }
}

}  // namespace

void replaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

const char* float32Kind(MaxPrecision precision) {
  return precision == MAX_PRECISION_MEDIUM ? "MaxMmaNarrow"
         : precision == MAX_PRECISION_HIGH ? "MaxMmaTf32"
                                           : "MaxMmaExact";
}

// As max_mma.h has them.
MmaFormats mmaFormatsOf(std::string_view architecture) {
  if (architecture.starts_with("gfx90a") || architecture.starts_with("gfx94")) return {false, true};
  if (!architecture.starts_with("sm_")) return {};
  int chip = 0;
  for (const char c : architecture.substr(3))
    if (c >= '0' && c <= '9') chip = 10 * chip + (c - '0');
  return {chip >= 80, chip >= 80};
}

bool hasTensorForms(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

std::string productFunctions(DType dtype) {
  const KernelType type = kernelType(dtype);
  const std::string highest = concat("#ifndef ", kFloat32Kind, "\n#define ", kFloat32Kind, " ",
                                     float32Kind(MAX_PRECISION_HIGHEST), "\n#endif\n");
  return concat(dtype == DType::Float32 ? highest : "",
                productFunctions(type.element, type.accumulator, kindOf(dtype)));
}

std::string productFunctions(std::string_view element, std::string_view sum, std::string_view kind) {
  return concat("#include \"max_mma.h\"\ntypedef ", element, " Element;\ntypedef ", sum, " Sum;\ntypedef ", kind,
                " Kind;\n", kFunctions);
}

ProductPlan::ProductPlan(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth,
                         std::initializer_list<Form> forms) {
  const auto has = [&](Form wanted) { return std::find(forms.begin(), forms.end(), wanted) != forms.end(); };
  const auto count = [&](int64_t height, int64_t width) { return batch * parts(rows, height) * parts(columns, width); };
  const auto size = static_cast<int64_t>(sizeOf(dtype));
  if (has(Form::Row) && rows == 1) {
    form = Form::Row;
    tiles = batch * parts(columns, kRowBytes / size);
  } else if (has(Form::Tall) && count(128, 64) >= kManyTallTiles && fitsTall(columns)) {
    form = Form::Tall;
    tiles = count(128, 64);
  } else if (has(Form::Large) && count(128, 128) >= kManyTiles) {
    form = Form::Large;
    tiles = count(128, 128);
  } else if (has(Form::Skinny) && rows <= 16) {
    form = Form::Skinny;
    tiles = count(16, 128);
  } else {
    tiles = count(64, 64);
  }
  const int64_t step = std::max(kBytesOfStep / size, kElementsOfStep), steps = parts(depth, step);
  const bool isRow = form == Form::Row;
  const int64_t few = isRow ? kFewOfRow : kFewTiles, least = isRow ? kLeastStepsOfRow : kLeastSteps;
  if (tiles > 0 && tiles < few && steps >= (isRow ? kLongStepsOfRow : kLongSteps))
    splits = std::clamp<int64_t>(std::min(kManyBlocks / tiles, steps / least), 1, kMostSplits);
  splits = std::max(splits, parts(depth, kMostDepth));
  perSplit = parts(steps, splits) * step;
  if (perSplit > 0) splits = std::max<int64_t>(parts(depth, perSplit), 1);
  tiles *= splits;
}

int32_t ProductPlan::threads() const { return form == Form::Large || form == Form::Row ? 256 : 128; }

}  // namespace max
