// SPDX-License-Identifier: Apache-2.0
// Products that fake libraries of the vendors queue on a fake driver's streams.
#include "product.h"

#include <cstring>

#include "base/half.h"
#include "fake.h"

namespace fake {

namespace {

constexpr int kHalf = 2;
constexpr int kBFloat16 = 14;

size_t sizeOf(const FakeMatrix& matrix) { return matrix.type == 0 ? sizeof(float) : sizeof(uint16_t); }

float elementAt(const FakeMatrix& matrix, const unsigned char* data, int64_t row, int64_t column) {
  const unsigned char* at = data + static_cast<size_t>(column * matrix.stride + row) * sizeOf(matrix);
  float number;
  uint16_t bits;
  if (matrix.type == 0) {
    memcpy(&number, at, sizeof number);
    return number;
  }
  memcpy(&bits, at, sizeof bits);
  return matrix.type == kHalf ? max::floatFromHalf(bits) : max::floatFromBFloat16(bits);
}

void store(const FakeMatrix& matrix, unsigned char* data, int64_t row, int64_t column, float number) {
  unsigned char* at = data + static_cast<size_t>(column * matrix.stride + row) * sizeOf(matrix);
  if (matrix.type == 0) {
    memcpy(at, &number, sizeof number);
    return;
  }
  const uint16_t bits = matrix.type == kBFloat16 ? max::bfloat16FromFloat(number) : max::halfFromFloat(number);
  memcpy(at, &bits, sizeof bits);
}

int multiply(const FakeProduct& product) {
  const int64_t depth = product.transposesA ? product.a.rows : product.a.columns;
  for (int64_t matrix = 0; matrix < product.batch; ++matrix) {
    const auto view = [&](const FakeMatrix& of) {
      return hostView(of.address + static_cast<uint64_t>(matrix * of.distance) * sizeOf(of));
    };
    const unsigned char *a = view(product.a), *b = view(product.b);
    unsigned char* d = view(product.d);
    const FakeMatrix biases = {product.bias, product.d.type, product.d.rows, 1, product.d.rows, product.biasDistance};
    const unsigned char* bias = product.bias ? view(biases) : nullptr;
    const unsigned char* c = product.c.address ? view(product.c) : nullptr;
    for (int64_t column = 0; column < product.d.columns; ++column)
      for (int64_t row = 0; row < product.d.rows; ++row) {
        float sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += (product.transposesA ? elementAt(product.a, a, k, row) : elementAt(product.a, a, row, k)) *
                 (product.transposesB ? elementAt(product.b, b, column, k) : elementAt(product.b, b, k, column));
        sum *= product.alpha;
        if (c) sum += elementAt(product.c, c, row, column);
        if (bias) sum += elementAt(biases, bias, row, 0);
        store(product.d, d, row, column, product.rectifies && sum < 0 ? 0 : sum);
      }
  }
  return kOk;
}

Access accessOf(const FakeMatrix& matrix, int64_t batch, bool writes) {
  const int64_t elements = (batch - 1) * matrix.distance + (matrix.columns - 1) * matrix.stride + matrix.rows;
  return {matrix.address, static_cast<uint64_t>(elements) * sizeOf(matrix), writes};
}

}  // namespace

}  // namespace fake

FAKE_API int fakeGpuMultiply(void* handle, const FakeProduct* given) {
  using namespace fake;
  const FakeProduct product = *given;
  const Lock lock(state().mutex);
  const auto stream = findStream(handle);
  if (!stream) return kInvalidHandle;
  std::vector<Access> accesses = {accessOf(product.a, product.batch, false), accessOf(product.b, product.batch, false),
                                  accessOf(product.d, product.batch, true)};
  if (product.c.address) accesses.push_back(accessOf(product.c, product.batch, false));
  if (product.bias)
    accesses.push_back(accessOf({product.bias, product.d.type, product.d.rows, 1, product.d.rows, product.biasDistance},
                                product.batch, false));
  if (product.workspaceBytes > 0) accesses.push_back({product.workspace, product.workspaceBytes, true});
  return enqueue(
      stream, [product] { return multiply(product); }, accesses);
}
