// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm and max.MatMul: tiles of results, or a row of them, summed in float32 or wider. Long sums of few results
// are cut into parts that a second kernel adds in their order.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/library_product.h"
#include "ops/gpu/product_ops.h"
#include "ops/gpu/product_source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr const char* kProduct = R"(
struct Layout {
  long long batch, rows, columns, depth, splits, perSplit;
  long long aStride, bStride, cRow, cColumn;  // of a and b across the axis along which elements lie together
  long long cMatrix, perC;                    // of c, for so many matrices each
  long long rank, dims[16], aBatch[16], bBatch[16];
  float alpha, beta, activationAlpha, activationBeta;
};

// Where a matrix's c begins.
MAX_DEVICE long long addendOf(const Layout& layout, long long matrix) {
  return layout.cMatrix == 0 ? 0 : (layout.perC == 1 ? matrix : matrix / layout.perC) * layout.cMatrix;
}
MAX_DEVICE Element finish(const Layout& layout, Sum sum, long long cAt, long long row, long long column,
                          long long at ADDENDS) {
  FINISH
  return (Element)sum;
}
// Whole sums, or a part of them.
MAX_DEVICE void emit(const Layout& layout, Sum sum, long long matrix, long long split, long long row,
                     long long column ADDENDS, Sum* partial, Element* out) {
  const long long at = (matrix * layout.rows + row) * layout.columns + column;
  if (layout.splits > 1)
    partial[split * layout.batch * layout.rows * layout.columns + at] = sum;
  else
    out[at] = finish(layout, sum, addendOf(layout, matrix), row, column, at GIVEN);
}
// The same for four in a row.
MAX_DEVICE void emitPiece(const Layout& layout, const Sum (&sums)[4], long long matrix, long long split, long long row,
                          long long column ADDENDS, Sum* partial, Element* out) {
  const long long at = (matrix * layout.rows + row) * layout.columns + column, count = layout.columns - column;
  const bool aligned = layout.columns % 4 == 0;
  if (row >= layout.rows || count <= 0) return;
  if (layout.splits > 1) {
    storePiece(partial + split * layout.batch * layout.rows * layout.columns + at, sums, count, aligned);
    return;
  }
  const long long cAt = addendOf(layout, matrix);
  Element results[4] = {};
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (e < count) results[e] = finish(layout, sums[e], cAt, row, column + e, at + e GIVEN);
  storePiece(out + at, results, count, aligned && (size_t)out % 16 == 0);
}

MAX_DEVICE void chooseMatrices(const Layout& layout, long long matrix, const Element*& a, const Element*& b) {
  for (long long d = layout.rank - 1; d >= 0; matrix /= layout.dims[d--]) {
    a += matrix % layout.dims[d] * layout.aBatch[d];
    b += matrix % layout.dims[d] * layout.bBatch[d];
  }
}

template <int kRows, int kColumns, int kThreads, int kTeamRows>
MAX_DEVICE void product(const Layout& layout, const Element* a, const Element* b ADDENDS, Sum* partial, Element* out) {
  typedef MatrixSource<Element, kRows, kThreads, A_INNER, Stored> Left;
  const long long rowTiles = (layout.rows + kRows - 1) / kRows, columnTiles = (layout.columns + kColumns - 1) / kColumns;
  const long long tiles = rowTiles * columnTiles;
  for (long long number = blockIdx.x; number < layout.batch * layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles % layout.splits, matrix = number / tiles / layout.splits;
    // Eight rows of tiles at a time share what they read of b.
    const long long place = number % tiles, group = place / (8 * columnTiles) * 8;
    const long long height = rowTiles - group < 8 ? rowTiles - group : 8, within = place - group * columnTiles;
    const long long row0 = (group + within % height) * kRows, column0 = within / height * kColumns;
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    const Element *from = a, *with = b;
    chooseMatrices(layout, matrix, from, with);
    Left left(from, row0, layout.rows, layout.aStride, begin, end);
    MatrixSource<Element, kColumns, kThreads, B_INNER, Stored> right(with, column0, layout.columns, layout.bStride, begin, end);
    const long long steps = (end - begin + Left::Tile::kDepth - 1) / Left::Tile::kDepth;
    multiplyTile<kRows, kColumns, kThreads, kTeamRows, 4>(left, right, steps, [&](int i, int j, const Sum (&sums)[4]) {
      emitPiece(layout, sums, matrix, split, row0 + i, column0 + j GIVEN, partial, out);
    });
  }
}

#define MAX_PRODUCT(name, kRows, kColumns, kThreads, kTeamRows, kBlocks)                                  \
  extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)                                         \
      name(const Layout layout, const Element* a, const Element* b ADDENDS, Sum* partial, Element* out) { \
    product<kRows, kColumns, kThreads, kTeamRows>(layout, a, b GIVEN, partial, out);                      \
  }
MAX_PRODUCT(gpu_matmul, 64, 64, 128, 2, 1)
#if HAS_FORMS
MAX_PRODUCT(gpu_matmul_large, 128, 128, 256, 2, MAX_LARGE_BLOCKS)
MAX_PRODUCT(gpu_matmul_tall, 128, 64, 128, 2, 1)
MAX_PRODUCT(gpu_matmul_skinny, 16, 128, 128, 1, 1)
#endif

// One row of a: a block has 128 bytes of the results' columns.
extern "C" __global__ void __launch_bounds__(256) gpu_matmul_row(const Layout layout, const Element* a,
                                                                 const Element* b ADDENDS, Sum* partial, Element* out) {
  const int kPiece = 16 / (int)sizeof(Element), kColumns = 8 * kPiece, piece = threadIdx.x % 8, part = threadIdx.x / 8;
  __shared__ Sum totals[32][8 * 16 / sizeof(Element)];
  const long long aStep = A_INNER ? 1 : layout.aStride, tiles = (layout.columns + kColumns - 1) / kColumns;
  for (long long number = blockIdx.x; number < layout.batch * layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles % layout.splits, matrix = number / tiles / layout.splits;
    const long long column0 = number % tiles * kColumns, begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    const Element *from = a, *with = b;
    chooseMatrices(layout, matrix, from, with);
    const bool aligned = isAligned(with, layout.bStride);
    Element elements[16 / sizeof(Element)];
    if (B_INNER) {  // a warp for each column
      const int lane = threadIdx.x % 32;
      for (int j = threadIdx.x / 32; j < kColumns; j += 8) {
        Sum sum = 0;
        const Element* line = with + (column0 + j) * layout.bStride;
        for (long long k = begin + lane * kPiece; column0 + j < layout.columns && k < end; k += 32 * kPiece) {
          takePiece(elements, line + k, end - k, aligned);
          for (int i = 0; i < kPiece; ++i)
            if (k + i < end) sum += (Sum)from[(k + i) * aStep] * (Sum)elements[i];
        }
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (lane == 0 && column0 + j < layout.columns)
          emit(layout, sum, matrix, split, 0, column0 + j GIVEN, partial, out);
      }
      continue;
    }
    const long long column = column0 + piece * kPiece;
    Sum sums[16 / sizeof(Element)] = {};
    for (long long k = begin + part; column < layout.columns && k < end; k += 32) {
      const Sum factor = (Sum)from[k * aStep];
      takePiece(elements, with + k * layout.bStride + column, layout.columns - column, aligned);
      for (int i = 0; i < kPiece; ++i) sums[i] += factor * (Sum)elements[i];
    }
    __syncthreads();
    for (int i = 0; i < kPiece; ++i) totals[part][piece * kPiece + i] = sums[i];
    __syncthreads();
    if (threadIdx.x < kColumns && column0 + threadIdx.x < layout.columns) {
      Sum sum = 0;
      for (int i = 0; i < 32; ++i) sum += totals[i][threadIdx.x];
      emit(layout, sum, matrix, split, 0, column0 + threadIdx.x GIVEN, partial, out);
    }
  }
}

// Adds the parts of sums.
extern "C" __global__ void gpu_matmul_sum(const Layout layout, const Sum* partial ADDENDS, Element* out) {
  const long long count = layout.batch * layout.rows * layout.columns, step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    Sum sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += partial[split * count + i];
    const long long row = i / layout.columns;
    out[i] = finish(layout, sum, addendOf(layout, row / layout.rows), row % layout.rows, i % layout.columns, i GIVEN);
  }
}
)";

struct ProductLayout {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1, splits = 1, perSplit = 1;
  int64_t aStride = 0, bStride = 0, cRow = 0, cColumn = 0, cMatrix = 0, perC = 1;
  int64_t rank = 0, dims[kMaxRank] = {}, aBatch[kMaxRank] = {}, bBatch[kMaxRank] = {};
  float alpha = 1, beta = 1, activationAlpha = 0, activationBeta = 0;
};

std::string sourceFor(const Node& node, const std::string& activation) {
  const DType dtype = node.input(0)->type.dtype;
  const readers::Product product(node.attributes);
  const bool isFloating = isFloat(dtype);
  std::string addends, given, finish, text = kProduct;
  if (isFloating) finish += "sum *= (Sum)layout.alpha;\n";
  if (node.input(2)) {
    addends += ", const Element* c";
    given += ", c";
    finish += "sum += (Sum)layout.beta * (Sum)c[cAt + row * layout.cRow + column * layout.cColumn];\n";
  }
  if (node.input(3)) {
    addends += ", const Element* residual";
    given += ", residual";
    finish += "sum += (Sum)residual[at];\n";
  }
  if (isFloating) finish += "sum = activated(sum, layout.activationAlpha, layout.activationBeta);\n";
  replaceAll(text, " ADDENDS", addends);
  replaceAll(text, " GIVEN", given);
  replaceAll(text, "FINISH", finish);
  return concat(kernelFunctions(), activation, productFunctions(dtype), "#define A_INNER ",
                product.transposesA ? "false" : "true", "\n#define B_INNER ", product.transposesB ? "true" : "false",
                "\n#define HAS_FORMS ", hasTensorForms(dtype) ? 1 : 0, "\n", text, libraryKernels());
}

// A factor as a batch of matrices.
struct Factor {
  int64_t rows, columns, rowStride, columnStride;
  Shape batch, strides;

  Factor(const Shape& shape, bool isTransposed, bool isLeft) {
    Shape full = shape;
    if (full.rank() == 1) full.insert(isLeft ? 0 : 1, 1);
    rows = full[full.rank() - 2];
    columns = rowStride = full.back();
    columnStride = 1;
    if (isTransposed && shape.rank() > 1) {
      std::swap(rows, columns);
      std::swap(rowStride, columnStride);
    }
    const Shape dense = contiguousStrides(full);
    for (int i = 0; i + 2 < full.rank(); ++i) {
      batch.push(full[i]);
      strides.push(full[i] == 1 ? 0 : dense[i]);
    }
  }
  // Along an axis of the whole batch, counted from its end.
  int64_t strideAt(int fromEnd) const { return fromEnd < batch.rank() ? strides[batch.rank() - 1 - fromEnd] : 0; }
  bool isOne() const {
    return std::all_of(batch.dims().begin(), batch.dims().end(), [](int64_t d) { return d == 1; });
  }
  int64_t sizeAt(int fromEnd) const { return fromEnd < batch.rank() ? batch[batch.rank() - 1 - fromEnd] : 1; }
};

// The numbers of kernels in the list below.
size_t kernelOf(ProductPlan::Form form) { return form == ProductPlan::Form::Small ? 0 : static_cast<size_t>(form) + 1; }

class PlacedProduct final : public Placed {
 public:
  PlacedProduct(std::string source, DType dtype)
      : Placed(std::move(source),
               hasTensorForms(dtype)
                   ? std::initializer_list<const char*>{"gpu_matmul", "gpu_matmul_sum", "gpu_matmul_row",
                                                        "gpu_matmul_large", "gpu_matmul_skinny", "gpu_matmul_tall",
                                                        "gpu_activate", "gpu_narrow"}
                   : std::initializer_list<const char*>{"gpu_matmul", "gpu_matmul_sum", "gpu_matmul_row"}),
        dtype_(dtype) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const ProductLayout layout = layoutOf(request);
    if (std::unique_ptr<OpKernel> op = byLibrary(request, layout)) return op;
    const ProductPlan plan = planOf(layout);
    return productOps(*this, request, layout, plan, layout.batch * layout.rows * layout.columns,
                      {kernelOf(plan.form), 1, hasTensorForms(dtype_) ? sizeof(float) : sizeof(double)});
  }

 private:
  // The library writes the output, with a bias and a residual. Activations change
  // float32 in place. What it refuses is finished from float32 sums.
  std::unique_ptr<OpKernel> byLibrary(const OpRequest& request, const ProductLayout& layout) const {
    if (!hasTensorForms(dtype_) || layout.rank > 1) return nullptr;
    const readers::Product product(request.node.attributes);
    const readers::FusedActivation activation(request.node.attributes);
    DeviceProductShape shape{dtype_,         DType::Float32,   precision(),         layout.batch,        layout.rows,
                             layout.columns, layout.depth,     product.transposesA, product.transposesB, layout.aStride,
                             layout.bStride, layout.aBatch[0], layout.bBatch[0]};
    const auto launchOf = [&](size_t kernel) {
      auto op = std::make_unique<LaunchOp>(*this, kernel);
      op->addOutput(0);
      op->coverElements(layout.batch * layout.rows * layout.columns);
      return op;
    };
    const bool hasBias = request.has(2) && layout.cColumn == 1 && layout.cRow == 0 && layout.beta == 1 &&
                         (layout.cMatrix == 0 || layout.perC == 1);
    const bool isDone = activation.name.empty();
    if ((hasBias || !request.has(2)) && (isDone || dtype_ == DType::Float32)) {
      DeviceProductShape finished = shape;
      finished.results = dtype_;
      finished.alpha = layout.alpha;
      finished.hasBias = hasBias;
      finished.biasBatch = layout.cMatrix;
      finished.hasAddend = request.has(3);
      const auto activate = [&] {
        std::unique_ptr<LaunchOp> op = launchOf(numberOf(*this, kActivate));
        op->addValue(layout.batch * layout.rows * layout.columns);
        op->addValue(layout.activationAlpha);
        op->addValue(layout.activationBeta);
        return op;
      };
      if (auto op = libraryProduct(*this, finished, isDone ? ProductFinish() : activate)) return op;
    }
    return librarySums(*this, shape, [&] {
      std::unique_ptr<LaunchOp> op = launchOf(1);
      op->addFirst(layout);
      op->addInput(LaunchOp::kScratch);
      for (size_t i = 2; i < request.inputs.size(); ++i)
        if (request.has(i)) op->addInput(i);
      return op;
    });
  }

  ProductPlan planOf(const ProductLayout& layout) const {
    using enum ProductPlan::Form;
    const auto plan = [&](std::initializer_list<ProductPlan::Form> forms) {
      return ProductPlan(dtype_, layout.batch, layout.rows, layout.columns, layout.depth, forms);
    };
    return hasTensorForms(dtype_) ? plan({Row, Large, Skinny, Tall}) : plan({Row});
  }

  static ProductLayout layoutOf(const OpRequest& request) {
    const readers::Product product(request.node.attributes);
    const Factor a(request.inputs[0].shape, product.transposesA, true);
    const Factor b(request.inputs[1].shape, product.transposesB, false);
    ProductLayout layout;
    layout.rows = a.rows;
    layout.columns = b.columns;
    layout.depth = a.columns;
    layout.aStride = product.transposesA ? a.columnStride : a.rowStride;
    layout.bStride = product.transposesB ? b.columnStride : b.rowStride;
    addBatch(layout, a, b);
    addFinish(layout, request, product);
    if (!product.transposesA && layout.cRow == 0) joinRows(layout);
    for (int64_t d = 1; d < layout.rank; ++d) layout.perC *= std::max<int64_t>(layout.dims[d], 1);
    return layout;
  }

  static void addBatch(ProductLayout& layout, const Factor& a, const Factor& b) {
    layout.rank = std::max(a.batch.rank(), b.batch.rank());
    for (int64_t d = 0; d < layout.rank; ++d) {
      const int fromEnd = static_cast<int>(layout.rank - 1 - d);
      layout.dims[d] = a.sizeAt(fromEnd) == 1 ? b.sizeAt(fromEnd) : a.sizeAt(fromEnd);
      layout.aBatch[d] = a.strideAt(fromEnd);
      layout.bBatch[d] = b.strideAt(fromEnd);
      layout.batch *= layout.dims[d];
    }
  }

  // Matrices that lie together and are multiplied by the same one are one matrix.
  static void joinRows(ProductLayout& layout) {
    const int64_t least = layout.cMatrix != 0 ? 1 : 0;
    const auto isJoined = [&](int64_t d) {
      return layout.bBatch[d] == 0 && (layout.aBatch[d] == layout.rows * layout.aStride || layout.dims[d] == 1);
    };
    while (layout.rank > least && isJoined(layout.rank - 1)) layout.rows *= layout.dims[--layout.rank];
    layout.batch = 1;
    for (int64_t d = 0; d < layout.rank; ++d) layout.batch *= layout.dims[d];
  }

  static void addFinish(ProductLayout& layout, const OpRequest& request, const readers::Product& product) {
    const readers::FusedActivation activation(request.node.attributes);
    layout.alpha = product.alpha;
    layout.activationAlpha = activation.alpha;
    layout.activationBeta = activation.beta;
    if (!request.has(2)) return;
    const Shape& c = request.inputs[2].shape;
    if (request.node.is("Gemm")) layout.beta = product.beta;
    if (c.rank() > 0 && c.back() != 1) layout.cColumn = 1;
    if (request.node.is("Gemm") && c.rank() > 1 && c[c.rank() - 2] != 1) layout.cRow = c.back();
    if (!request.node.is("Gemm") && c.rank() > 1) layout.cMatrix = c.back();
  }

  const DType dtype_;
};

Ref<Placed> placeProduct(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  if (!kernelType(dtype).element || activation.empty() || (node.is("Gemm") && !isFloat(dtype))) return nullptr;
  return makeRef<PlacedProduct>(sourceFor(node, activation), dtype);
}

constexpr PlaceRow kRows[] = {
    {"", "MatMul", placeProduct}, {"", "Gemm", placeProduct}, {kMaxDomain, "MatMul", placeProduct}};

}  // namespace

std::span<const PlaceRow> gpuProducts() { return kRows; }

}  // namespace max
