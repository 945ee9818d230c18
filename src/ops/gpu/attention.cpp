// SPDX-License-Identifier: Apache-2.0
// max.Attention: a block for each query, which goes through the keys once, with a running maximum and sum.
#include "graph/readers/attention.h"

#include <algorithm>

#include "base/error.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int32_t kThreads = 128;
constexpr int64_t kMostBlocks = 65536;
constexpr int64_t kMostSize = 512;  // of a head's values: four for each thread

constexpr const char* kAttention = R"(
struct Layout {
  long long rows, heads, queries, keys, group, size, width;
  long long q[4], k[4], v[4], out[4], mask[4];  // strides: batch, head, position, element; of the mask the key last
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
)";

struct AttentionLayout {
  int64_t rows = 0, heads = 0, queries = 0, keys = 0, group = 1, size = 0, width = 0;
  int64_t q[4] = {}, k[4] = {}, v[4] = {}, out[4] = {}, mask[4] = {};
  float scale = 1;
  int32_t zeroesMasked = 0;
};

std::string sourceFor(const Node& node) {
  const KernelType type = kernelType(node.input(0)->type.dtype);
  std::string more, mask, sink, text = kAttention;
  if (const Value* given = node.input(3)) {
    const bool isBool = given->type.dtype == DType::Bool;
    more += concat(", const ", isBool ? "unsigned char" : kernelType(given->type.dtype).element, "* mask");
    const char* at = "mask[b * layout.mask[0] + h * layout.mask[1] + s * layout.mask[2] + t * layout.mask[3]]";
    mask = isBool ? concat("if (!", at, ") score = -INFINITY;") : concat("score += (float)", at, ";");
  }
  if (node.input(4)) {
    more += ", const Element* sinks";
    sink = "most = (float)sinks[h], total = most == -INFINITY ? 0.0f : 1.0f;";
  }
  text.replace(text.find("MORE"), 4, more).replace(text.find("SINK"), 4, sink).replace(text.find("MASK"), 4, mask);
  return concat("#include \"max_half.h\"\n#include <cmath>\ntypedef ", type.element, " Element;\n", text);
}

void setStrides(int64_t (&strides)[4], const Shape& shape, const readers::HeadLayout& layout) {
  const Shape dense = contiguousStrides(shape);
  for (size_t i = 0; i < 4; ++i) strides[i] = dense[layout.axes()[i]];
}

class PlacedAttention final : public Placed {
 public:
  explicit PlacedAttention(const Node& node) : Placed(sourceFor(node), "gpu_attention") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const AttentionLayout layout = layoutOf(request);
    auto op = std::make_unique<LaunchOp>(*this);
    op->addFirst(layout);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    op->addOutput(0);
    op->setGrid(std::min(layout.rows, kMostBlocks), 1, 1, kThreads);
    return op;
  }

 private:
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
  const TensorType& values = node.input(2)->type;
  if (dtype != DType::Float32 && dtype != DType::Float16 && dtype != DType::BFloat16) return nullptr;
  if (!values.ranked || values.rank() != 4) return nullptr;
  const Dim width = values.dims[static_cast<size_t>(readers::Attention(node.attributes).values.size)];
  if (!width.isKnown() || width.value() > kMostSize) return nullptr;
  if (const Value* mask = node.input(3))
    if (mask->type.dtype != DType::Bool && !kernelType(mask->type.dtype).element) return nullptr;
  return makeRef<PlacedAttention>(node);
}

constexpr PlaceRow kRows[] = {{kMaxDomain, "Attention", placeAttention}};

}  // namespace

std::span<const PlaceRow> gpuAttention() { return kRows; }

}  // namespace max
