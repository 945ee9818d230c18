// SPDX-License-Identifier: Apache-2.0
// Products that fake libraries of the vendors queue on a fake driver's streams.
#include "product.h"

#include <cstring>
#include <vector>

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

// Without a sanitizer's checks of each access, which make large products take minutes.
#if defined(__clang__)
[[clang::no_sanitize("address", "thread", "undefined")]]
#endif
void addScaled(float* sums, const float* factors, float scale, size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += factors[i] * scale;
}

// The matrix, or the transposed one, as numbers, column by column.
std::vector<float> numbersOf(const FakeMatrix& matrix, const unsigned char* data, bool transposes) {
  std::vector<float> numbers(static_cast<size_t>(matrix.rows * matrix.columns));
  auto next = numbers.begin();
  for (int64_t column = 0; column < (transposes ? matrix.rows : matrix.columns); ++column)
    for (int64_t row = 0; row < (transposes ? matrix.columns : matrix.rows); ++row)
      *next++ = transposes ? elementAt(matrix, data, column, row) : elementAt(matrix, data, row, column);
  return numbers;
}

int multiply(const FakeProduct& product) {
  const size_t depth = static_cast<size_t>(product.transposesA ? product.a.rows : product.a.columns);
  const size_t rows = static_cast<size_t>(product.d.rows);
  for (int64_t matrix = 0; matrix < product.batch; ++matrix) {
    const auto view = [&](const FakeMatrix& of) {
      return hostView(of.address + static_cast<uint64_t>(matrix * of.distance) * sizeOf(of));
    };
    const std::vector<float> a = numbersOf(product.a, view(product.a), product.transposesA);
    const std::vector<float> b = numbersOf(product.b, view(product.b), product.transposesB);
    unsigned char* d = view(product.d);
    const FakeMatrix biases = {product.bias, product.d.type, product.d.rows, 1, product.d.rows, product.biasDistance};
    const unsigned char* bias = product.bias ? view(biases) : nullptr;
    const unsigned char* c = product.c.address ? view(product.c) : nullptr;
    for (int64_t column = 0; column < product.d.columns; ++column) {
      std::vector<float> sums(rows);
      for (size_t k = 0; k < depth; ++k)
        addScaled(sums.data(), &a[k * rows], b[static_cast<size_t>(column) * depth + k], rows);
      for (int64_t row = 0; row < product.d.rows; ++row) {
        float sum = sums[static_cast<size_t>(row)] * product.alpha;
        if (c) sum += elementAt(product.c, c, row, column);
        if (bias) sum += elementAt(biases, bias, row, 0);
        store(product.d, d, row, column, product.rectifies && sum < 0 ? 0 : sum);
      }
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
