// SPDX-License-Identifier: Apache-2.0
// max.Attention: a block goes through the keys once, with running maxima and sums. It has 64 queries, which the chip's
// matrix instructions multiply, or one, where there are few or a head is large; then a block may have a part of the
// keys, and a second kernel joins the parts.
#include "graph/readers/attention.h"

#include <algorithm>

#include "base/error.h"
#include "ops/gpu/product_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int32_t kThreads = 128;
constexpr int64_t kMostBlocks = 65536;
constexpr int64_t kMostSize = 512;     // of a head's values: four for each thread
constexpr int64_t kManyBlocks = 1024;  // of parts of the keys, which fill any device
constexpr int64_t kFewQueries = 16;    // for which a tile would be mostly empty
constexpr int64_t kTileWidths[] = {64, 128};

constexpr const char* kAttention = R"(
struct Layout {
  long long rows, heads, queries, keys, group, size, width;
  long long q[4], k[4], v[4], out[4], mask[4];  // strides: batch, head, position, element; of the mask the key last
  long long parts, perPart;                     // of the keys
  float scale;
  int zeroesMasked;
};

static inline __device__ float largest(float a, float b) { return a != a ? a : b > a || b != b ? b : a; }

template <bool isSum>
static inline __device__ float joined(float mine, float* shared) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float a = shared[threadIdx.x], b = shared[threadIdx.x + half];
      shared[threadIdx.x] = isSum ? a + b : largest(a, b);
    }
    __syncthreads();
  }
  return shared[0];
}

extern "C" __global__ void gpu_attention(const Layout layout, const Element* q, const Element* k,
                                         const Element* v MORE, Element* out) {
  __shared__ float shared[128], weights[128];
  for (long long row = blockIdx.x; row < layout.rows; row += gridDim.x) {
    const long long s = row % layout.queries, h = row / layout.queries % layout.heads,
                    b = row / layout.queries / layout.heads;
    const Element* query = q + b * layout.q[0] + h * layout.q[1] + s * layout.q[2];
    const Element* keys = k + b * layout.k[0] + h / layout.group * layout.k[1];
    const Element* values = v + b * layout.v[0] + h / layout.group * layout.v[1];
    float sums[4] = {0, 0, 0, 0}, most = -INFINITY, total = 0;
    SINK
    for (long long first = 0; first < layout.keys; first += 128) {
      const long long t = first + threadIdx.x;
      float score = -INFINITY;
      if (t < layout.keys) {
        score = 0;
        for (long long d = 0; d < layout.size; ++d)
          score += (float)query[d * layout.q[3]] * (float)keys[t * layout.k[2] + d * layout.k[3]];
        score *= layout.scale;
        MASK
      }
      const float now = largest(most, joined<false>(score, shared));
      const float factor = most == now ? 1.0f : expf(most - now);
      const float weight = score == -INFINITY ? 0.0f : expf(score - now);
      weights[threadIdx.x] = weight;
      total = total * factor + joined<true>(weight, shared);
      const long long count = layout.keys - first < 128 ? layout.keys - first : 128;
      for (int i = 0; i < 4; ++i) {
        const long long d = threadIdx.x + 128 * i;
        if (d >= layout.width) continue;
        float sum = sums[i] * factor;
        for (long long j = 0; j < count; ++j)
          sum += weights[j] * (float)values[(first + j) * layout.v[2] + d * layout.v[3]];
        sums[i] = sum;
      }
      most = now;
    }
    for (int i = 0; i < 4; ++i) {
      const long long d = threadIdx.x + 128 * i;
      if (d >= layout.width) continue;
      const float result = layout.zeroesMasked && most == -INFINITY ? 0.0f : sums[i] / total;
      out[b * layout.out[0] + h * layout.out[1] + s * layout.out[2] + d * layout.out[3]] = (Element)result;
    }
  }
}

// Of the query, four keys, 16 apart, and this thread's share of a head.
static inline __device__ void multiplyKeys(const Layout& layout, const Element* keys, const float* asked,
                                           long long first, long long end, float (&products)[4]) {
  const int kPiece = 16 / (int)sizeof(Element), within = threadIdx.x % 8, group = threadIdx.x / 8;
  const bool lieSo = isAligned(keys, layout.k[2]);
  for (int d = within * kPiece; d < layout.size; d += 8 * kPiece) {
    Element pieces[4][16 / sizeof(Element)];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const long long t = first + group + 16 * j;
      takePiece(pieces[j], keys + t * layout.k[2] + d, t < end ? layout.size - d : 0, lieSo);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int i = 0; i < kPiece; ++i) products[j] += asked[d + i] * (float)pieces[j][i];
  }
}

// One query and a part of the keys, where heads lie together: its maximum, total and sums go to `partial`, or the result
// to `out` if there is one part. Eight threads multiply a key by the query, four keys at a time.
extern "C" __global__ void __launch_bounds__(128)
    gpu_attention_part(const Layout layout, const Element* q, const Element* k, const Element* v MORE, float* partial,
                       Element* out) {
  const int kPiece = 16 / (int)sizeof(Element), kKeys = 64;
  __shared__ float asked[512], scores[kKeys], weights[kKeys], gathered[128 * kPiece];
  const int lane = threadIdx.x % 32, within = threadIdx.x % 8, group = threadIdx.x / 8;
  int across = 1;  // threads side by side have a row of values
  while (across * kPiece < layout.width) across *= 2;
  const int column = (int)threadIdx.x % across * kPiece;
  for (long long number = blockIdx.x; number < layout.rows * layout.parts; number += gridDim.x) {
    const long long row = number / layout.parts, part = number - row * layout.parts;
    const long long s = row % layout.queries, h = row / layout.queries % layout.heads,
                    b = row / layout.queries / layout.heads;
    const Element* query = q + b * layout.q[0] + h * layout.q[1] + s * layout.q[2];
    const Element* keys = k + b * layout.k[0] + h / layout.group * layout.k[1];
    const Element* values = v + b * layout.v[0] + h / layout.group * layout.v[1];
    const bool valuesLieSo = isAligned(values, layout.v[2]);
    const long long begin = part * layout.perPart, past = begin + layout.perPart;
    const long long end = past < layout.keys ? past : layout.keys;
    float sums[kPiece] = {}, most = -INFINITY, total = 0;
    if (part == 0) {
      SINK
    }
    __syncthreads();
    for (int d = threadIdx.x; d < 512; d += 128) asked[d] = d < layout.size ? (float)query[d] : 0.0f;
    __syncthreads();
    for (long long first = begin; first < end; first += kKeys) {
      float products[4] = {};
      multiplyKeys(layout, keys, asked, first, end, products);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        for (int apart = 4; apart > 0; apart /= 2) products[j] += __shfl_xor_sync(0xffffffffu, products[j], apart);
        const long long t = first + group + 16 * j;
        float score = -INFINITY;
        if (within == 0 && t < end) {
          score = products[j] * layout.scale;
          MASK
        }
        if (within == 0) scores[group + 16 * j] = score;
      }
      __syncthreads();
      const float low = scores[lane], high = scores[lane + 32];
      float now = largest(low, high);
      for (int apart = 16; apart > 0; apart /= 2) now = largest(now, __shfl_xor_sync(0xffffffffu, now, apart));
      now = largest(most, now);
      const float factor = most == now ? 1.0f : expf(most - now);
      const float lowWeight = low == -INFINITY ? 0.0f : expf(low - now);
      const float highWeight = high == -INFINITY ? 0.0f : expf(high - now);
      if (threadIdx.x < 32) weights[lane] = lowWeight, weights[lane + 32] = highWeight;
      float weight = lowWeight + highWeight;
      for (int apart = 16; apart > 0; apart /= 2) weight += __shfl_xor_sync(0xffffffffu, weight, apart);
      total = total * factor + weight;
      most = now;
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kPiece; ++i) sums[i] *= factor;
      const int count = end - first < kKeys ? (int)(end - first) : kKeys;
#pragma unroll 4
      for (int j = threadIdx.x / across; j < count; j += 128 / across) {
        Element piece[kPiece];
        takePiece(piece, values + (first + j) * layout.v[2] + column, layout.width - column, valuesLieSo);
#pragma unroll
        for (int i = 0; i < kPiece; ++i) sums[i] += weights[j] * (float)piece[i];
      }
    }
#pragma unroll
    for (int i = 0; i < kPiece; ++i) gathered[threadIdx.x * kPiece + i] = sums[i];
    __syncthreads();
    for (long long d = threadIdx.x; d < layout.width; d += 128) {
      float sum = 0;
      for (int i = 0; i < 128 / across; ++i) sum += gathered[i * across * kPiece + d];
      if (layout.parts > 1)
        partial[number * (layout.width + 2) + 2 + d] = sum;
      else
        out[b * layout.out[0] + h * layout.out[1] + s * layout.out[2] + d * layout.out[3]] =
            (Element)(layout.zeroesMasked && most == -INFINITY ? 0.0f : sum / total);
    }
    if (layout.parts > 1 && threadIdx.x == 0) {
      partial[number * (layout.width + 2)] = most;
      partial[number * (layout.width + 2) + 1] = total;
    }
  }
}

// The parts of a row, in their order.
extern "C" __global__ void gpu_attention_join(const Layout layout, const float* partial, Element* out) {
  for (long long row = blockIdx.x; row < layout.rows; row += gridDim.x) {
    const long long s = row % layout.queries, h = row / layout.queries % layout.heads,
                    b = row / layout.queries / layout.heads, step = layout.width + 2;
    const float* parts = partial + row * layout.parts * step;
    float most = -INFINITY, total = 0;
    for (long long part = 0; part < layout.parts; ++part) most = largest(most, parts[part * step]);
    const auto factorOf = [&](long long part) {
      return parts[part * step] == most ? 1.0f : expf(parts[part * step] - most);
    };
    for (long long part = 0; part < layout.parts; ++part) total += parts[part * step + 1] * factorOf(part);
    for (long long d = threadIdx.x; d < layout.width; d += blockDim.x) {
      float sum = 0;
#pragma unroll 4
      for (long long part = 0; part < layout.parts; ++part) sum += parts[part * step + 2 + d] * factorOf(part);
      out[b * layout.out[0] + h * layout.out[1] + s * layout.out[2] + d * layout.out[3]] =
          (Element)(layout.zeroesMasked && most == -INFINITY ? 0.0f : sum / total);
    }
  }
}

#if TILE_WIDTH > 0
// Weights of 64 keys from the scores of a team's queries, in memory; the running maxima, totals and sums follow.
template <int kHeight, int kColumns>
MAX_DEVICE void weigh(const Layout& layout, float (&scores)[kHeight][4][MAX_PER_LANE],
                      float (&sums)[kHeight][kColumns][MAX_PER_LANE], float (&mosts)[kHeight][Mma::kLaneRows],
                      float (&totals)[kHeight][Mma::kLaneRows], uint4* memory, long long s0, int row0, long long key0,
                      long long h, long long b MORE) {
  const int kDepth = 64 / (int)sizeof(Element);
#pragma unroll
  for (int i = 0; i < kHeight; ++i) {
    float now[Mma::kLaneRows], factors[Mma::kLaneRows];
    for (int r = 0; r < Mma::kLaneRows; ++r) now[r] = -INFINITY;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < MAX_PER_LANE; ++e) {
        const long long s = s0 + 16 * i + Mma::row(e), t = key0 + 16 * j + Mma::column(e);
        float score = -INFINITY;
        if (s < layout.queries && t < layout.keys) {
          score = scores[i][j][e] * layout.scale;
          MASK
        }
        scores[i][j][e] = score;
        now[Mma::laneRow(e)] = largest(now[Mma::laneRow(e)], score);
      }
#pragma unroll
    for (int r = 0; r < Mma::kLaneRows; ++r) {
      for (int apart = 1; apart < Mma::kRowLanes; apart *= 2)
        now[r] = largest(now[r], __shfl_xor_sync(0xffffffffu, now[r], apart));
      now[r] = largest(mosts[i][r], now[r]);
      factors[r] = mosts[i][r] == now[r] ? 1.0f : expf(mosts[i][r] - now[r]);
      mosts[i][r] = now[r];
      totals[i][r] *= factors[r];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < MAX_PER_LANE; ++e) {
        const float score = scores[i][j][e];
        const float weight = score == -INFINITY ? 0.0f : expf(score - now[Mma::laneRow(e)]);
        totals[i][Mma::laneRow(e)] += weight;
        const int t = 16 * j + Mma::column(e);
        const MaxTile<Element, 64, true> weights = {memory + t / kDepth * 256};
        *(Element*)weights.at(row0 + 16 * i + Mma::row(e), t % kDepth) = (Element)weight;
      }
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
#pragma unroll
      for (int e = 0; e < MAX_PER_LANE; ++e) sums[i][j][e] *= factors[Mma::laneRow(e)];
  }
}

template <int kHeight, int kColumns>
MAX_DEVICE void finish(const Layout& layout, const float (&sums)[kHeight][kColumns][MAX_PER_LANE],
                       const float (&mosts)[kHeight][Mma::kLaneRows], float (&totals)[kHeight][Mma::kLaneRows],
                       long long s0, long long h, long long b, Element* out) {
#pragma unroll
  for (int i = 0; i < kHeight; ++i) {
    for (int r = 0; r < Mma::kLaneRows; ++r)
      for (int apart = 1; apart < Mma::kRowLanes; apart *= 2)
        totals[i][r] += __shfl_xor_sync(0xffffffffu, totals[i][r], apart);
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
#pragma unroll
      for (int e = 0; e < MAX_PER_LANE; ++e) {
        const long long s = s0 + 16 * i + Mma::row(e);
        const int d = 16 * j + Mma::column(e), r = Mma::laneRow(e);
        if (s >= layout.queries || d >= layout.width) continue;
        const float result = layout.zeroesMasked && mosts[i][r] == -INFINITY ? 0.0f : sums[i][j][e] / totals[i][r];
        out[b * layout.out[0] + h * layout.out[1] + s * layout.out[2] + d * layout.out[3]] = (Element)result;
      }
  }
}

// A weight for each of 64 queries and 64 keys: the sums of the first product become a factor of the second one.
extern "C" __global__ void __launch_bounds__(128)
    gpu_attention_tile(const Layout layout, const Element* q, const Element* k, const Element* v MORE, Element* out) {
  const int kThreads = 128, kTeams = kThreads / MAX_MMA_LANES, kHeight = 4 / kTeams, kColumns = TILE_WIDTH / 16;
  const int kDepth = 64 / (int)sizeof(Element), kParts = 64 / kDepth;
  __shared__ uint4 memory[2 * 4 * (64 + 64)];  // tiles of queries and keys, then the weights
  __shared__ uint4 kept[kParts][4 * TILE_WIDTH];
  const int row0 = threadIdx.x / MAX_MMA_LANES * (16 * kHeight);
  const long long tiles = (layout.queries + 63) / 64, count = layout.queries > 0 ? layout.rows / layout.queries * tiles : 0;
  for (long long number = blockIdx.x; number < count; number += gridDim.x) {
    const long long first = number % tiles * 64, h = number / tiles % layout.heads, b = number / tiles / layout.heads;
    const Element* queries = q + b * layout.q[0] + h * layout.q[1];
    const Element* keys = k + b * layout.k[0] + h / layout.group * layout.k[1];
    const Element* values = v + b * layout.v[0] + h / layout.group * layout.v[1];
    float sums[kHeight][kColumns][MAX_PER_LANE] = {}, mosts[kHeight][Mma::kLaneRows], totals[kHeight][Mma::kLaneRows];
    for (int i = 0; i < kHeight; ++i)
      for (int r = 0; r < Mma::kLaneRows; ++r) {
        float most = -INFINITY, total = 0;
        SINK
        mosts[i][r] = most;
        totals[i][r] = maxMmaLane() % Mma::kRowLanes == 0 ? total : 0.0f;  // which is shared by a row's lanes
      }
    for (long long key0 = 0; key0 < layout.keys; key0 += 64) {
      const long long past = layout.keys - key0 < 64 ? layout.keys : key0 + 64;
      MatrixSource<Element, TILE_WIDTH, kThreads, false> valueSource(values, 0, layout.width, layout.v[2], key0, past);
      for (int part = 0; part < kParts; ++part) valueSource.load({kept[part]});
      maxCloseCopies();
      float scores[kHeight][4][MAX_PER_LANE] = {};
      MatrixSource<Element, 64, kThreads, true> querySource(queries, first, layout.queries, layout.q[2], 0, layout.size);
      MatrixSource<Element, 64, kThreads, true> keySource(keys, key0, layout.keys, layout.k[2], 0, layout.size);
      accumulate<64, 64, kThreads, kTeams, 2>(scores, memory, querySource, keySource,
                                              (layout.size + kDepth - 1) / kDepth);
      __syncthreads();
      weigh(layout, scores, sums, mosts, totals, memory, first + row0, row0, key0, h, b GIVEN);
      maxWaitForCopies<0>();
      __syncthreads();
      for (int part = 0; part < kParts; ++part)
        for (int step = 0; step < Mma::steps; ++step) {
          const MaxTile<Element, 64, true> weights = {memory + part * 256};
          const MaxTile<Element, TILE_WIDTH, false> right = {kept[part]};
          Mma::Rows rows[kHeight];
          for (int i = 0; i < kHeight; ++i) Mma::loadRows(rows[i], weights, row0 + 16 * i, step);
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            Mma::Columns columns;
            Mma::loadColumns(columns, right, 16 * j, step);
            for (int i = 0; i < kHeight; ++i) Mma::multiply(sums[i][j], rows[i], columns);
          }
        }
      __syncthreads();
    }
    finish(layout, sums, mosts, totals, first + row0, h, b, out);
  }
}
#endif
)";

struct AttentionLayout {
  int64_t rows = 0, heads = 0, queries = 0, keys = 0, group = 1, size = 0, width = 0;
  int64_t q[4] = {}, k[4] = {}, v[4] = {}, out[4] = {}, mask[4] = {};
  int64_t parts = 1, perPart = 0;
  float scale = 1;
  int32_t zeroesMasked = 0;
};

int64_t widthOf(const Node& node) {
  const TensorType& values = node.input(2)->type;
  if (!values.ranked || values.rank() != 4) return -1;
  const Dim width = values.dims[static_cast<size_t>(readers::Attention(node.attributes).values.size)];
  return width.isKnown() ? width.value() : -1;
}
// Of the values' columns that a tile has; 0 = there are none for heads as large as these.
int64_t tileWidthOf(const Node& node) {
  for (const int64_t width : kTileWidths)
    if (widthOf(node) <= width) return width;
  return 0;
}

std::string sourceFor(const Node& node) {
  std::string more, given, mask, sink, text = kAttention;
  if (const Value* addend = node.input(3)) {
    const bool isBool = addend->type.dtype == DType::Bool;
    more += concat(", const ", isBool ? "unsigned char" : kernelType(addend->type.dtype).element, "* mask");
    given += ", mask";
    const char* at = "mask[b * layout.mask[0] + h * layout.mask[1] + s * layout.mask[2] + t * layout.mask[3]]";
    mask = isBool ? concat("if (!", at, ") score = -INFINITY;") : concat("score += (float)", at, ";");
  }
  if (node.input(4)) {
    more += ", const Element* sinks";
    given += ", sinks";
    sink = "most = (float)sinks[h], total = most == -INFINITY ? 0.0f : 1.0f;";
  }
  replaceAll(text, " MORE", more);
  replaceAll(text, " GIVEN", given);
  replaceAll(text, "SINK", sink);
  replaceAll(text, "MASK", mask);
  return concat("#include <cmath>\n", productFunctions(node.input(0)->type.dtype), "#define TILE_WIDTH ",
                tileWidthOf(node), "\n", text);
}

void setStrides(int64_t (&strides)[4], const Shape& shape, const readers::HeadLayout& layout) {
  const Shape dense = contiguousStrides(shape);
  for (size_t i = 0; i < 4; ++i) strides[i] = dense[layout.axes()[i]];
}

// Whether tiles can be read from the tensors, whose heads lie together.
bool liesInRows(const AttentionLayout& layout) { return layout.q[3] == 1 && layout.k[3] == 1 && layout.v[3] == 1; }

// The kernels, by their number.
enum AttentionKernel : size_t { kOneByOne, kPart, kJoin, kTile };

class PlacedAttention final : public Placed {
 public:
  explicit PlacedAttention(const Node& node)
      : Placed(sourceFor(node),
               tileWidthOf(node) > 0
                   ? std::initializer_list<const char*>{"gpu_attention", "gpu_attention_part", "gpu_attention_join",
                                                        "gpu_attention_tile"}
                   : std::initializer_list<const char*>{"gpu_attention", "gpu_attention_part", "gpu_attention_join"}) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    AttentionLayout layout = layoutOf(request);
    if (kernels().size() > kTile && layout.queries >= kFewQueries && liesInRows(layout)) {
      const int64_t blocks = layout.rows / layout.queries * ((layout.queries + 63) / 64);
      return launch(request, layout, kTile, blocks);
    }
    if (!liesInRows(layout) || layout.size > kMostSize) return launch(request, layout, kOneByOne, layout.rows);
    const int64_t parts =
        std::clamp<int64_t>(kManyBlocks / std::max<int64_t>(layout.rows, 1), 1, (layout.keys + 63) / 64 + 1);
    layout.perPart = std::max<int64_t>((layout.keys + parts - 1) / parts + 63, 64) / 64 * 64;
    layout.parts = std::max<int64_t>((layout.keys + layout.perPart - 1) / layout.perPart, 1);
    const bool isSplit = layout.parts > 1;
    const size_t bytes = static_cast<size_t>(layout.rows * layout.parts * (layout.width + 2)) * sizeof(float);
    auto ops = std::make_unique<SeveralOps>(*this, isSplit ? bytes : 0);
    LaunchOp& part = ops->add(kPart);
    addOperands(part, request, layout);
    part.addOutput(LaunchOp::kScratch);
    part.addOutput(0);
    part.setGrid(std::clamp<int64_t>(layout.rows * layout.parts, 1, kMostBlocks), 1, 1, kThreads);
    if (!isSplit) return ops;
    LaunchOp& join = ops->add(kJoin);
    join.addFirst(layout);
    join.addInput(LaunchOp::kScratch);
    join.addOutput(0);
    join.setGrid(std::clamp<int64_t>(layout.rows, 1, kMostBlocks), 1, 1, kThreads);
    return ops;
  }

 private:
  static void addOperands(LaunchOp& op, const OpRequest& request, const AttentionLayout& layout) {
    op.addFirst(layout);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op.addInput(i);
  }
  std::unique_ptr<OpKernel> launch(const OpRequest& request, const AttentionLayout& layout, AttentionKernel kernel,
                                   int64_t blocks) const {
    auto op = std::make_unique<LaunchOp>(*this, kernel);
    addOperands(*op, request, layout);
    op->addOutput(0);
    op->setGrid(std::clamp<int64_t>(blocks, 1, kMostBlocks), 1, 1, kThreads);
    return op;
  }

  static AttentionLayout layoutOf(const OpRequest& request) {
    const readers::Attention attention(request.node.attributes);
    const Shape &q = request.inputs[0].shape, &k = request.inputs[1].shape, &v = request.inputs[2].shape;
    AttentionLayout layout;
    layout.heads = q[attention.queries.heads];
    layout.queries = q[attention.queries.positions];
    layout.keys = k[attention.keys.positions];
    layout.rows = q[attention.queries.batch] * layout.heads * layout.queries;
    layout.group = layout.heads / std::max<int64_t>(k[attention.keys.heads], 1);
    layout.size = q[attention.queries.size];
    layout.width = v[attention.values.size];
    setStrides(layout.q, q, attention.queries);
    setStrides(layout.k, k, attention.keys);
    setStrides(layout.v, v, attention.values);
    setStrides(layout.out, request.outputs[0].shape, attention.output);
    if (request.has(3)) setMask(layout, request.inputs[3].shape);
    layout.scale = attention.scale;
    layout.zeroesMasked = attention.zeroesMasked;
    return layout;
  }

  static void setMask(AttentionLayout& layout, const Shape& mask) {
    const Shape dense = contiguousStrides(mask);
    for (int i = 0; i < mask.rank(); ++i)
      if (mask[i] != 1) layout.mask[4 - mask.rank() + i] = dense[i];
  }
};

Ref<Placed> placeAttention(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (dtype != DType::Float32 && dtype != DType::Float16 && dtype != DType::BFloat16) return nullptr;
  if (widthOf(node) < 0 || widthOf(node) > kMostSize) return nullptr;
  if (const Value* mask = node.input(3))
    if (mask->type.dtype != DType::Bool && !kernelType(mask->type.dtype).element) return nullptr;
  return makeRef<PlacedAttention>(node);
}

constexpr PlaceRow kRows[] = {{kMaxDomain, "Attention", placeAttention}};

}  // namespace

std::span<const PlaceRow> gpuAttention() { return kRows; }

}  // namespace max
