// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm, MatMulInteger, QLinearMatMul, Det, max.MatMul, max.SelectedMatMul, max.Inverse.
#include "graph/readers/matrix.h"

#include <algorithm>
#include <type_traits>

#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// One operand of numpy's matmul: a batch of matrices, as strides.
struct Matrix {
  Shape batch;  // without the last two dimensions
  int64_t rows, columns, rowStride, columnStride;

  Matrix(const Shape& shape, bool transposed, bool isLeft) {
    Shape full = shape;
    if (full.rank() == 1) full.insert(isLeft ? 0 : 1, 1);
    rows = full[full.rank() - 2];
    columns = full.back();
    rowStride = columns;
    columnStride = 1;
    batch = Shape(full.dims().first(static_cast<size_t>(full.rank() - 2)));
    if (transposed && shape.rank() > 1) {
      std::swap(rows, columns);
      std::swap(rowStride, columnStride);
    }
  }
  int64_t size() const { return rows * columns; }
};

Shape broadcastOf(const Shape& a, const Shape& b) {
  Shape result = Shape::filled(std::max(a.rank(), b.rank()), 1);
  for (const Shape* shape : {&a, &b})
    for (int i = 0; i < shape->rank(); ++i) {
      int64_t& dim = result[result.rank() - shape->rank() + i];
      if ((*shape)[i] != 1) dim = (*shape)[i];
    }
  return result;
}

template <class D>
void multiplyOne(const Matrix& a, const Matrix& b, const D* left, const D* right, D* out) {
  WorkCounter work;
  for (int64_t m = 0; m < a.rows; ++m)
    for (int64_t k = 0; k < a.columns; ++k, work.pass(4 + b.columns)) {
      const D value = left[m * a.rowStride + k * a.columnStride];
      for (int64_t n = 0; n < b.columns; ++n)
        out[m * b.columns + n] += value * right[k * b.rowStride + n * b.columnStride];
    }
}

template <class D>
std::vector<D> multiply(const Matrix& a, const Matrix& b, const std::vector<D>& left, const std::vector<D>& right,
                        size_t outputs) {
  std::vector<D> result = repeated<D>(static_cast<int64_t>(outputs));
  if (result.empty()) return result;
  const Shape batch = broadcastOf(a.batch, b.batch);
  forEachOffset<2>(batch, {broadcastStrides(a.batch, batch), broadcastStrides(b.batch, batch)},
                   [&](int64_t k, const auto& at) {
                     multiplyOne(a, b, left.data() + at[0] * a.size(), right.data() + at[1] * b.size(),
                                 result.data() + k * a.rows * b.columns);
                   });
  return result;
}

void matMul(const Call& call) {
  const Matrix a(call.in(0).shape, false, true), b(call.in(1).shape, false, false);
  const size_t count = static_cast<size_t>(call.out().count());
  const auto inDomain = [&]<class D>(D) {
    store(call.out(), multiply(a, b, load<D>(call.in(0)), load<D>(call.in(1)), count));
  };
  if (isFloat(call.in().dtype))
    inDomain(double{});
  else
    inDomain(uint64_t{});  // wraps; narrower results are its low bits
}

void fusedMatMul(const Call& call) {
  const readers::Product product(call.node.attributes);
  const Matrix a(call.in(0).shape, product.transposesA, true), b(call.in(1).shape, product.transposesB, false);
  std::vector<double> result =
      multiply(a, b, load<double>(call.in(0)), load<double>(call.in(1)), static_cast<size_t>(call.out().count()));
  const std::vector<double> bias = call.has(2) ? load<double>(call.in(2)) : std::vector<double>();
  const std::vector<double> residual = call.has(3) ? load<double>(call.in(3)) : std::vector<double>();
  const Activation activation = fusedActivation(call.node);
  const auto alpha = static_cast<double>(product.alpha);
  const size_t columns = static_cast<size_t>(b.columns);
  const size_t perBias = bias.empty() ? 1 : result.size() / (bias.size() / columns);
  WorkCounter work;
  for (size_t i = 0; i < result.size(); ++i, work.pass(32)) {
    result[i] *= alpha;
    if (!bias.empty()) result[i] += bias[i / perBias * columns + i % columns];
    if (!residual.empty()) result[i] += residual[i];
    result[i] = activation(result[i]);
  }
  store(call.out(), result);
}

void selectedMatMul(const Call& call) {
  Shape shape = call.in(1).shape;
  const int64_t matrices = shape[0];
  shape.erase(0);
  const int64_t given = load<int64_t>(call.in(2))[0], index = given < 0 ? given + matrices : given;
  const int64_t count = shape.count();
  if (index < 0 || index >= matrices) throw Error(MAX_STATUS_OUT_OF_RANGE, "a matrix is out of range");
  const std::vector<double> all = load<double>(call.in(1));
  const std::vector<double> chosen(all.begin() + index * count, all.begin() + (index + 1) * count);
  const Matrix a(call.in(0).shape, false, true), b(shape, readers::Product(call.node.attributes).transposesB, false);
  store(call.out(), multiply(a, b, load<double>(call.in(0)), chosen, static_cast<size_t>(call.out().count())));
}

template <class D>
void gemmIn(const Call& call) {
  const readers::Product product(call.node.attributes);
  const Matrix a(call.in(0).shape, product.transposesA, true), b(call.in(1).shape, product.transposesB, false);
  const auto factor = [](double number) {
    if constexpr (std::is_integral_v<D>)
      return static_cast<D>(static_cast<int64_t>(number == number ? std::clamp(number, -0x1p62, 0x1p62) : 0));
    else
      return number;
  };
  const D alpha = factor(static_cast<double>(product.alpha)), beta = factor(static_cast<double>(product.beta));
  std::vector<D> result =
      multiply(a, b, load<D>(call.in(0)), load<D>(call.in(1)), static_cast<size_t>(call.out().count()));
  const std::vector<D> c = call.has(2) ? load<D>(call.in(2)) : std::vector<D>();
  const Shape strides = broadcastStrides(call.has(2) ? call.in(2).shape : Shape(), call.out().shape);
  forEachOffset<1>(call.out().shape, {strides}, [&](int64_t k, const auto& at) {
    D& value = result[static_cast<size_t>(k)];
    value *= alpha;
    if (!c.empty()) value += beta * c[static_cast<size_t>(at[0])];
  });
  store(call.out(), result);
}

void gemm(const Call& call) { isFloat(call.in().dtype) ? gemmIn<double>(call) : gemmIn<uint64_t>(call); }

// Zero points: a scalar, or one per row of A (the last but one axis) or column of B.
template <class D>
std::vector<D> withoutZeroPoint(const Call& call, size_t index, size_t zeroInput, bool perRow) {
  std::vector<D> values = load<D>(call.in(index));
  if (!call.has(zeroInput)) return values;
  const std::vector<D> zero = load<D>(call.in(zeroInput));
  if (zero.empty()) return values;
  const size_t columns = static_cast<size_t>(std::max<int64_t>(call.in(index).shape.back(), 1));
  WorkCounter work;
  for (size_t i = 0; i < values.size(); ++i, work.pass(8))
    values[i] -= zero[(perRow ? i / columns : i % columns) % zero.size()];
  return values;
}

std::vector<int64_t> integerProduct(const Call& call) {
  const Matrix a(call.in(0).shape, false, true), b(call.in(1).shape, false, false);
  const std::vector<int64_t> left = withoutZeroPoint<int64_t>(call, 0, 2, true),
                             right = withoutZeroPoint<int64_t>(call, 1, 3, false);
  return multiply(a, b, left, right, static_cast<size_t>(call.out().count()));
}

void matMulInteger(const Call& call) { store(call.out(), integerProduct(call)); }

// In float32, like Cast, Mul and Add.
void scaledMatMul(const Call& call) {
  const std::vector<int64_t> sums = integerProduct(call);
  const std::vector<double> scales = loadScales(call, 4);
  const std::vector<double> bias = call.has(5) ? load<double>(call.in(5)) : std::vector<double>();
  std::vector<double> y(sums.size());
  WorkCounter work;
  for (size_t i = 0; i < y.size(); ++i, work.pass(8)) {
    const float product =
        static_cast<float>(static_cast<int32_t>(sums[i])) * static_cast<float>(scales[i % scales.size()]);
    y[i] = bias.empty() ? product : product + static_cast<float>(bias[i % bias.size()]);
  }
  store(call.out(), y);
}

// Inputs: a, its scale and zero point, b, its scale and zero point, y's scale and zero point.
template <class D>
void quantizedMatMulIn(const Call& call) {
  using Sum = std::conditional_t<std::is_integral_v<D>, int32_t, double>;  // sums of integers wrap
  const Matrix a(call.in(0).shape, false, true), b(call.in(3).shape, false, false);
  const std::vector<D> left = withoutZeroPoint<D>(call, 0, 2, true), right = withoutZeroPoint<D>(call, 3, 5, false);
  const std::vector<D> sums = multiply(a, b, left, right, static_cast<size_t>(call.out().count()));
  const std::vector<double> rowScales = loadScales(call, 1), columnScales = loadScales(call, 4);
  const double scale = loadScalar(call.in(6), 1), zero = loadScalar(call.in(7), 0);
  std::vector<double> y(sums.size());
  WorkCounter work;
  for (size_t i = 0; i < y.size(); ++i, work.pass(16)) {
    const size_t columns = static_cast<size_t>(b.columns);
    const auto factor = static_cast<float>(rowScales[i / columns % rowScales.size()]) *
                        static_cast<float>(columnScales[i % columns % columnScales.size()]) / static_cast<float>(scale);
    y[i] = isFloat(call.out().dtype) ? static_cast<double>(sums[i]) * factor + zero
                                     : requantized(static_cast<Sum>(sums[i]), factor) + zero;
  }
  store(call.out(), y);
}

void quantizedMatMul(const Call& call) {
  const bool hasFloats = isFloat(call.in(0).dtype) || isFloat(call.in(3).dtype);
  hasFloats ? quantizedMatMulIn<double>(call) : quantizedMatMulIn<int64_t>(call);
}

// By elimination, with the largest element of each column as the pivot.
double determinant(double* matrix, int64_t n) {
  double result = 1;
  for (int64_t column = 0; column < n; ++column, passWork(8 * n)) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row)
      if (std::abs(matrix[row * n + column]) > std::abs(matrix[pivot * n + column])) pivot = row;
    if (pivot != column) {
      std::swap_ranges(matrix + pivot * n, matrix + (pivot + 1) * n, matrix + column * n);
      result = -result;
    }
    const double value = matrix[column * n + column];
    result *= value;
    if (value == 0) return 0;
    WorkCounter work;
    for (int64_t row = column + 1; row < n; ++row, work.pass(4 + n - column)) {
      const double factor = matrix[row * n + column] / value;
      for (int64_t i = column + 1; i < n; ++i) matrix[row * n + i] -= factor * matrix[column * n + i];
    }
  }
  return result;
}

void det(const Call& call) {
  const int64_t n = call.in().shape.back();
  std::vector<double> x = load<double>(call.in()), y = repeated<double>(call.out().count());
  for (size_t i = 0; i < y.size(); ++i) y[i] = determinant(x.data() + static_cast<int64_t>(i) * n * n, n);
  store(call.out(), y);
}

// Swaps rows of both matrices until the largest element of a column below the diagonal is on it.
void bringPivot(double* matrix, double* inverse, int64_t n, int64_t column) {
  int64_t pivot = column;
  for (int64_t row = column + 1; row < n; ++row)
    if (std::abs(matrix[row * n + column]) > std::abs(matrix[pivot * n + column])) pivot = row;
  if (pivot == column) return;
  std::swap_ranges(matrix + pivot * n, matrix + (pivot + 1) * n, matrix + column * n);
  std::swap_ranges(inverse + pivot * n, inverse + (pivot + 1) * n, inverse + column * n);
}

// Turns `inverse` from the identity into the inverse, and the matrix into the identity. Singular matrices have no
// finite one.
void invert(double* matrix, double* inverse, int64_t n) {
  for (int64_t column = 0; column < n; ++column, passWork(8 * n)) {
    bringPivot(matrix, inverse, n, column);
    const double factor = 1 / matrix[column * n + column];
    for (int64_t i = 0; i < n; ++i) {
      matrix[column * n + i] *= factor;
      inverse[column * n + i] *= factor;
    }
    WorkCounter work;
    for (int64_t row = 0; row < n; ++row, work.pass(4 + 2 * n)) {
      const double own = matrix[row * n + column];
      if (row == column || own == 0) continue;
      for (int64_t i = 0; i < n; ++i) {
        matrix[row * n + i] -= own * matrix[column * n + i];
        inverse[row * n + i] -= own * inverse[column * n + i];
      }
    }
  }
}

void inverse(const Call& call) {
  std::vector<double> x = load<double>(call.in()), y(x.size());
  const int64_t n = call.in().shape.back(), size = n * n;
  for (int64_t at = 0; at + size <= static_cast<int64_t>(x.size()) && size > 0; at += size) {
    for (int64_t i = 0; i < n; ++i) y[static_cast<size_t>(at + i * n + i)] = 1;
    invert(x.data() + at, y.data() + at, n);
  }
  store(call.out(), y);
}

const OpRow kRows[] = {
    {kMaxDomain, "Inverse", kReference<inverse>},
    {"", "Det", kReference<det>},
    {"", "MatMul", kReference<matMul>},
    {"", "Gemm", kReference<gemm>},
    {"", "MatMulInteger", kReference<matMulInteger>},
    {kMaxDomain, "MatMulInteger", kReference<scaledMatMul>},
    {"", "QLinearMatMul", kReference<quantizedMatMul>},
    {kMaxDomain, "MatMul", kReference<fusedMatMul>},
    {kMaxDomain, "SelectedMatMul", kReference<selectedMatMul>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceMatMulOps() { return reference::kRows; }

}  // namespace max
