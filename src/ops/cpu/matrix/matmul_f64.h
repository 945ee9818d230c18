// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm and max.MatMul of float64 (matmul_f64.cpp; its loops for each CPU target in matmul_f64_kernels.cpp).
#pragma once

#include <cstdint>

#include "ops/op_kernel.h"

namespace max {

// c[m, n] = the sum of a[m * aRow + k * aColumn] * b[k * ldb + n] over k, for a few rows and all columns.
struct DoubleRows {
  const double* a;
  int64_t aRow, aColumn;
  const double* b;
  int64_t ldb;
  double* c;
  int64_t ldc;
  int64_t rows, depth, columns;
};
using DoubleRowsFunction = void (*)(const DoubleRows& rows);
DoubleRowsFunction doubleRowsFunction();  // of the CPU target of now

bool acceptsDoubleProduct(const OpRequest& request);
std::unique_ptr<OpKernel> createDoubleProduct(const OpRequest& request);

}  // namespace max
