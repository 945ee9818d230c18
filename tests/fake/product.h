/* SPDX-License-Identifier: Apache-2.0 */
/* A product that a fake library asks the fake driver for: d = alpha * op(a) * op(b) + c + bias, column after column. */
#ifndef MAX_TESTS_FAKE_PRODUCT_H
#define MAX_TESTS_FAKE_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

struct FakeMatrix {
  uint64_t address;
  int type; /* cudaDataType: 0 = float, 2 = half, 14 = bfloat16 */
  int64_t rows, columns, stride, distance;
};

struct FakeProduct {
  struct FakeMatrix a, b, c, d; /* c: its address may be 0 */
  float alpha;
  uint64_t bias; /* of each row of d, of its type; 0 = none */
  int64_t biasDistance;
  int rectifies;
  int transposesA, transposesB;
  int64_t batch;
  uint64_t workspace;
  size_t workspaceBytes;
};

#endif
