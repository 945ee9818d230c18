/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for accelerators that are not there. */
#include <string.h>

#include "kernels.h"

void test_kernels_of_virtual_devices(void** state) {
  (void)state;
  const int is_cuda = strcmp(device_api, "cuda") == 0;
  if (!is_cuda && strcmp(device_api, "hip") != 0) return;
  MaxDevice* present = open_device();
  CHECK(maxVirtualDeviceSetApi(device_api));
  CHECK(maxVirtualDeviceSetArchitectureName(is_cuda ? "sm_90" : "gfx90a"));
  CHECK(maxVirtualDeviceSetCount(1));
  MaxDevice* device = open_device();
  assert_ptr_not_equal(device, present);
  int32_t can_access = 1;
  CHECK(maxDeviceCanAccess(present, device, &can_access));
  assert_int_equal(can_access, 0);

  MaxModule* module = compile(device, "extern \"C\" __global__ void nothing() {}\n");
  const char* data = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(module, is_cuda ? MAX_ARTIFACT_KIND_PTX : MAX_ARTIFACT_KIND_CODE_OBJECT,
                             (const void**)&data, &size));
  assert_true(size > 0);
  MaxKernel* kernel = NULL;
  CHECK_FAILS(maxModuleGetKernel(module, "nothing", &kernel), MAX_STATUS_UNAVAILABLE, "is virtual");
  assert_null(kernel);
  MaxStream* stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &stream));
  CHECK_FAILS(maxModuleSetConstant(module, "factors", "x", 1, stream), MAX_STATUS_UNAVAILABLE, "is virtual");
  maxModuleRelease(module);
  MaxModule* broken = NULL;
  CHECK_FAILS(maxModuleCompile(device, "nonsense", "test.cu", NULL, &broken), MAX_STATUS_INVALID_ARGUMENT, "test.cu");
  maxDeviceRelease(device);
  CHECK(maxVirtualDeviceSetCount(0));
  maxDeviceRelease(present);
}
