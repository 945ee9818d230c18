/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of kernels share: modules and launches in one line. */
#ifndef MAX_TESTS_CONFORMANCE_KERNELS_H
#define MAX_TESTS_CONFORMANCE_KERNELS_H

#include "conformance.h"

#define BUFFER_ARGUMENT MAX_KERNEL_ARGUMENT_BUFFER

static inline MaxModule* compile(const MaxDevice* device, const char* source) {
  MaxModule* module = NULL;
  CHECK(maxModuleCompile(device, source, "test.cu", NULL, &module));
  assert_non_null(module);
  return module;
}

static inline MaxKernel* find(const MaxModule* module, const char* name) {
  MaxKernel* kernel = NULL;
  CHECK(maxModuleGetKernel(module, name, &kernel));
  assert_non_null(kernel);
  return kernel;
}

static inline MaxLaunchConfig shape_of(int32_t grid, int32_t block) {
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = grid;
  config.block[0] = block;
  return config;
}

/* launch_attributes.c */
void test_borrowed_arguments(void** state);
void test_hints(void** state);
void test_clusters(void** state);
void test_cooperative_launches(void** state);
void test_ptx(void** state);
void test_chips(void** state);
void test_damaged_code(void** state);

/* warps.c */
void test_whole_warps(void** state);
void test_groups_in_warps(void** state);

/* tiles.c */
void test_tiles(void** state);

/* halves.c */
void test_halves(void** state);

/* Random copies, fills and kernels on several streams, compared with the same program run in order on the host. */
void test_random_kernels(void** state);
void test_kernels_of_virtual_devices(void** state);

#endif
