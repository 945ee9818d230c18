// SPDX-License-Identifier: Apache-2.0
// cuBLASLt and hipBLASLt, which correspond name by name: X(member, the name after the API's prefix, parameters); all
// return an int, 0 = success. Numbers that differ are in the API's row.
#pragma once

#include "device/device_product.h"
#include "device/gpu/driver.h"

#define MAX_PRODUCT_LIBRARY_SYMBOLS(X)                                                                                 \
  X(create, "Create", (void** handle))                                                                                 \
  X(destroy, "Destroy", (void* handle))                                                                                \
  X(productCreate, "MatmulDescCreate", (void** product, int computeType, int scaleType))                               \
  X(productDestroy, "MatmulDescDestroy", (void* product))                                                              \
  X(productSet, "MatmulDescSetAttribute", (void* product, int attribute, const void* value, size_t bytes))             \
  X(layoutCreate, "MatrixLayoutCreate", (void** layout, int type, uint64_t rows, uint64_t columns, int64_t stride))    \
  X(layoutDestroy, "MatrixLayoutDestroy", (void* layout))                                                              \
  X(layoutSet, "MatrixLayoutSetAttribute", (void* layout, int attribute, const void* value, size_t bytes))             \
  X(preferenceCreate, "MatmulPreferenceCreate", (void** preference))                                                   \
  X(preferenceDestroy, "MatmulPreferenceDestroy", (void* preference))                                                  \
  X(preferenceSet, "MatmulPreferenceSetAttribute", (void* preference, int attribute, const void* value, size_t bytes)) \
  X(choose, "MatmulAlgoGetHeuristic",                                                                                  \
    (void* handle, void* product, void* a, void* b, void* c, void* d, void* preference, int wanted, void* results,     \
     int* found))                                                                                                      \
  X(multiply, "Matmul",                                                                                                \
    (void* handle, void* product, const void* alpha, const void* a, void* aLayout, const void* b, void* bLayout,       \
     const void* beta, const void* c, void* cLayout, void* d, void* dLayout, const void* algorithm, void* workspace,   \
     size_t workspaceBytes, void* stream))

namespace max::gpu {

// A device's part of the library. Without the library, or with one that is too old, it makes nothing.
class Products : public RefCounted {
 public:
  // NULL if there is nothing for the product.
  virtual Ref<DeviceProduct> make(const DeviceProductShape& shape) const = 0;
};
Ref<Products> openProducts(const Ref<Context>& context);

}  // namespace max::gpu
