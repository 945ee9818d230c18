// SPDX-License-Identifier: Apache-2.0
// cuBLASLt and hipBLASLt: what is asked of them is checked and given to the fake driver. FAKE_PRODUCT_FAULT makes them
// "old", "refuse" products, or "fail" to compute them.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "product.h"

#define FAKE_API extern "C" __attribute__((visibility("default")))
#define FAKE_JOIN(a, b) a##b
#define FAKE_EXPAND(a, b) FAKE_JOIN(a, b)
#define FAKE_NAME(name) FAKE_EXPAND(FAKE_PREFIX, name)

namespace {

#ifdef FAKE_HIPBLASLT
constexpr const char* kDriver = "MAX_HIP_LIBRARY";
constexpr int kTransposeA = 0, kTransposeB = 1, kBatchCount = 0, kBatchDistance = 1, kNotTransposed = 111;
constexpr int kFinish = -1, kBiasPointer = -2, kBiasDistance = -3;  // not asked for
constexpr int kVersion = 1000;
#else
constexpr const char* kDriver = "MAX_CUDA_LIBRARY";
constexpr int kTransposeA = 3, kTransposeB = 4, kBatchCount = 5, kBatchDistance = 6, kNotTransposed = 0;
constexpr int kFinish = 7, kBiasPointer = 8, kBiasDistance = 10;
constexpr int kVersion = 120403;
#endif
constexpr int kMostWorkspace = 1;
constexpr int kDefault = 1, kRelu = 2, kBias = 4;                   // of cublasLtEpilogue_t
constexpr int kInvalidValue = 7, kFailed = 13, kNotSupported = 15;  // of cublasStatus_t
constexpr uint64_t kAlgorithm = 0x600d;

std::atomic<int64_t> products{0}, objects{0};

bool hasFault(std::string_view fault) {
  const char* chosen = getenv("FAKE_PRODUCT_FAULT");
  return chosen && chosen == fault;
}

struct Object {
  Object() { ++objects; }
  ~Object() { --objects; }
  FakeMatrix matrix{};
  int64_t batch = 1;
  int operations[2] = {kNotTransposed, kNotTransposed};
  int finish = kDefault;
  const void* bias = nullptr;
  int64_t biasDistance = 0;
  uint64_t workspace = 0;
};

int create(void** out) {
  *out = new Object;
  return 0;
}

int destroy(void* object) {
  delete static_cast<Object*>(object);
  return 0;
}

Object& of(void* object) { return *static_cast<Object*>(object); }

template <class T>
int take(T& target, const void* value, size_t bytes) {
  if (bytes != sizeof target) return kInvalidValue;
  memcpy(&target, value, bytes);
  return 0;
}

}  // namespace

FAKE_API int64_t fakeProductsGetCount(void) { return products; }
FAKE_API int64_t fakeProductsGetLiveCount(void) { return objects; }

#ifdef FAKE_HIPBLASLT
FAKE_API int hipblasLtGetVersion(void*, int* version) {
  *version = hasFault("old") ? 100 : kVersion;
  return 0;
}
#else
FAKE_API size_t cublasLtGetVersion(void) { return hasFault("old") ? 10200 : kVersion; }
#endif
FAKE_API int FAKE_NAME(Create)(void** handle) { return create(handle); }
FAKE_API int FAKE_NAME(Destroy)(void* handle) { return destroy(handle); }
FAKE_API int FAKE_NAME(MatmulDescCreate)(void** product, int, int) { return create(product); }
FAKE_API int FAKE_NAME(MatmulDescDestroy)(void* product) { return destroy(product); }
FAKE_API int FAKE_NAME(MatmulDescSetAttribute)(void* product, int attribute, const void* value, size_t bytes) {
  if (attribute == kFinish) return take(of(product).finish, value, bytes);
  if (attribute == kBiasPointer) return take(of(product).bias, value, bytes);
  if (attribute == kBiasDistance) return take(of(product).biasDistance, value, bytes);
  if (attribute != kTransposeA && attribute != kTransposeB) return kInvalidValue;
  return take(of(product).operations[attribute - kTransposeA], value, bytes);
}
FAKE_API int FAKE_NAME(MatrixLayoutCreate)(void** layout, int type, uint64_t rows, uint64_t columns, int64_t stride) {
  if (stride < static_cast<int64_t>(rows)) return kInvalidValue;
  create(layout);
  of(*layout).matrix = {0, type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride, 0};
  return 0;
}
FAKE_API int FAKE_NAME(MatrixLayoutDestroy)(void* layout) { return destroy(layout); }
FAKE_API int FAKE_NAME(MatrixLayoutSetAttribute)(void* layout, int attribute, const void* value, size_t bytes) {
  if (attribute == kBatchDistance) return take(of(layout).matrix.distance, value, bytes);
  int32_t count = 0;
  if (attribute != kBatchCount || take(count, value, bytes)) return kInvalidValue;
  of(layout).batch = count;
  return 0;
}
FAKE_API int FAKE_NAME(MatmulPreferenceCreate)(void** preference) { return create(preference); }
FAKE_API int FAKE_NAME(MatmulPreferenceDestroy)(void* preference) { return destroy(preference); }
FAKE_API int FAKE_NAME(MatmulPreferenceSetAttribute)(void* preference, int attribute, const void* value, size_t bytes) {
  return attribute == kMostWorkspace ? take(of(preference).workspace, value, bytes) : kInvalidValue;
}
FAKE_API int FAKE_NAME(MatmulAlgoGetHeuristic)(void*, void*, void*, void*, void*, void*, void* preference, int wanted,
                                               void* results, int* found) {
  if (hasFault("refuse") || wanted < 1) return kNotSupported;
  const uint64_t algorithm[2] = {kAlgorithm, of(preference).workspace};
  memcpy(results, algorithm, sizeof algorithm);
  *found = 1;
  return 0;
}
FAKE_API int FAKE_NAME(Matmul)(void*, void* product, const void* alpha, const void* a, void* aLayout, const void* b,
                               void* bLayout, const void* beta, const void* c, void* cLayout, void* d, void* dLayout,
                               const void* algorithm, void* workspace, size_t workspaceBytes, void* stream) {
  uint64_t chosen[2];
  float scales[2];
  memcpy(chosen, algorithm, sizeof chosen);
  memcpy(&scales[0], alpha, sizeof(float));
  memcpy(&scales[1], beta, sizeof(float));
  if (chosen[0] != kAlgorithm || workspaceBytes < chosen[1] || (scales[1] != 0 && scales[1] != 1)) return kInvalidValue;
  const int finish = of(product).finish == kDefault ? 0 : of(product).finish;
  if ((finish & ~(kRelu | kBias)) != 0 || ((finish & kBias) != 0) != (of(product).bias != nullptr))
    return kInvalidValue;
  if (hasFault("fail")) return kFailed;
  FakeProduct made = {of(aLayout).matrix,
                      of(bLayout).matrix,
                      of(cLayout).matrix,
                      of(dLayout).matrix,
                      scales[0],
                      reinterpret_cast<uint64_t>(of(product).bias),
                      of(product).biasDistance,
                      (finish & kRelu) != 0,
                      of(product).operations[0] != kNotTransposed,
                      of(product).operations[1] != kNotTransposed,
                      of(dLayout).batch,
                      reinterpret_cast<uint64_t>(workspace),
                      chosen[1]};
  made.a.address = reinterpret_cast<uint64_t>(a);
  made.b.address = reinterpret_cast<uint64_t>(b);
  made.c.address = scales[1] != 0 ? reinterpret_cast<uint64_t>(c) : 0;
  made.d.address = reinterpret_cast<uint64_t>(d);
  static void* const driver = dlopen(getenv(kDriver), RTLD_NOW | RTLD_NOLOAD);
  const auto multiply = reinterpret_cast<int (*)(void*, const FakeProduct*)>(dlsym(driver, "fakeGpuMultiply"));
  ++products;
  return multiply(stream, &made) ? kFailed : 0;
}
