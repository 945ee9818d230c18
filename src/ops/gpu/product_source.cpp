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
#define MAX_LARGE_BLOCKS (sizeof(Element) == 2 ? 2 : 1)
#else
#define MAX_LARGE_BLOCKS 1
#endif

// Elements as pieces of 16 bytes, and single ones where they do not lie so.
template <class T>
MAX_DEVICE void loadPiece(uint4* to, const T* from, long long valid, bool isAligned) {
  const int count = 16 / (int)sizeof(T), here = valid < 0 ? 0 : valid > count ? count : (int)valid;
  if (isAligned) {
    maxCopyAsync(to, from, here * (int)sizeof(T));
    return;
  }
#pragma unroll
  for (int i = 0; i < count; ++i) ((T*)to)[i] = i < here ? from[i] : T(0.0f);
}
// The same into registers.
template <class T, int kCount>
MAX_DEVICE void takePiece(T (&piece)[kCount], const T* from, long long valid, bool isAligned) {
  if (isAligned && valid >= kCount) {
    const uint4 memory = *(const uint4*)from;
    memcpy(piece, &memory, 16);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) piece[i] = i < valid ? from[i] : T(0.0f);
  }
}
template <class T>
MAX_DEVICE bool isAligned(const T* base, long long stride) {
  return (size_t)base % 16 == 0 && stride * (long long)sizeof(T) % 16 == 0;
}

// A factor: a matrix whose elements lie together along k (kIsInner) or across it.
template <class T, int kRows, int kThreads, bool kIsInner>
struct MatrixSource {
  typedef MaxTile<T, kRows, kIsInner> Tile;
  const T* base;  // of the tile's first row
  long long rows, stride, k, end;
  bool aligned;

  inline __device__ MatrixSource(const T* matrix, long long first, long long count, long long apart, long long begin,
                                 long long past)
      : base(matrix + (kIsInner ? first * apart : first)),
        rows(count - first),
        stride(apart),
        k(begin),
        end(past),
        aligned(isAligned(base, stride)) {}
  inline __device__ void load(const Tile& tile) {
    for (int piece = threadIdx.x; piece < Tile::kPieces; piece += kThreads) {
      const int row = kIsInner ? piece / 4 : piece % Tile::kAcross * Tile::kPiece;
      const int depth = kIsInner ? piece % 4 * Tile::kPiece : piece / Tile::kAcross;
      const bool isThere = row < rows && k + depth < end;
      const T* from = base + (kIsInner ? row * stride + k + depth : (k + depth) * stride + row);
      loadPiece((uint4*)tile.at(row, depth), isThere ? from : base, isThere ? kIsInner ? end - k - depth : rows - row : 0,
                aligned);
    }
    k += Tile::kDepth;
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
  int now = 0, next = kStages - 1;
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
    for (int part = 0; part < Mma::steps; ++part) {
      Mma::Rows rows[kHeight];
#pragma unroll
      for (int i = 0; i < kHeight; ++i) Mma::loadRows(rows[i], left, row0 + 16 * i, part);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        Mma::Columns columns;
        Mma::loadColumns(columns, right, column0 + 16 * j, part);
#pragma unroll
        for (int i = 0; i < kHeight; ++i) Mma::multiply(sums[i][j], rows[i], columns);
      }
    }
    now = now + 1 == kStages ? 0 : now + 1;
    next = next + 1 == kStages ? 0 : next + 1;
  }
}

// A tile's sums go to `store` with their places in it, through memory: those that threads store together lie together, and
// what `store` does is there once for each 16 rows of a team. `memory`: that of the factors' tiles.
template <int kRows, int kColumns, int kThreads, int kTeamRows, int kHeight, int kWidth, class Store>
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
    for (int at = threadIdx.x; at < 16 * kTeamRows * kColumns; at += kThreads) {
      const int row = at / kColumns, column = at % kColumns;
      store(row / 16 * (16 * kHeight) + 16 * i + row % 16, column, results[row * kLine + column]);
    }
  }
  __syncthreads();
}

// The sums go to `store` with their places in the tile.
template <int kRows, int kColumns, int kThreads, int kTeamRows, class A, class B, class Store>
MAX_DEVICE void multiplyTile(A& a, B& b, long long steps, const Store& store) {
  __shared__ uint4 memory[MAX_MMA_STAGES * 4 * (kRows + kColumns)];
  const int kTeamColumns = kThreads / MAX_MMA_LANES / kTeamRows;
  Sum sums[kRows / kTeamRows / 16][kColumns / kTeamColumns / 16][MAX_PER_LANE] = {};
  accumulate<kRows, kColumns, kThreads, kTeamRows, MAX_MMA_STAGES>(sums, memory, a, b, steps);
  storeTile<kRows, kColumns, kThreads, kTeamRows>(sums, memory, store);
}
)";

constexpr int64_t kManyTiles = 96;    // large ones, that keep most chips busy
constexpr int64_t kManyBlocks = 256;  // that sums are cut for
// Cutting costs a launch, so it is for long sums of very few tiles, and of a row, which reads more than it computes.
constexpr int64_t kFewTiles = 16, kFewOfRow = 128, kLongSteps = 64, kLeastSteps = 16, kMostSplits = 32;
constexpr int64_t kBytesOfStep = 64;
constexpr int64_t kRowBytes = 128;  // of a row of results that a block computes

int64_t parts(int64_t count, int64_t size) { return (count + size - 1) / size; }

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
  } else if (has(Form::Large) && count(128, 128) >= kManyTiles) {
    form = Form::Large;
    tiles = count(128, 128);
  } else if (has(Form::Skinny) && rows <= 16) {
    form = Form::Skinny;
    tiles = count(16, 128);
  } else {
    tiles = count(64, 64);
  }
  const int64_t steps = parts(depth * size, kBytesOfStep);
  if (tiles > 0 && tiles < (form == Form::Row ? kFewOfRow : kFewTiles) && steps >= kLongSteps)
    splits = std::clamp<int64_t>(std::min(kManyBlocks / tiles, steps / kLeastSteps), 1, kMostSplits);
  perSplit = parts(steps, splits) * kBytesOfStep / size;
  if (perSplit > 0) splits = std::max<int64_t>(parts(depth, perSplit), 1);
  tiles *= splits;
}

int32_t ProductPlan::threads() const { return form == Form::Large || form == Form::Row ? 256 : 128; }

}  // namespace max
