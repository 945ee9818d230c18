/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that ask for more than a grid, and forms of code that only some devices have. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <time.h>

#include "fake_driver.h"
#include "kernels.h"

static const char source[] = "extern \"C\" __global__ void count(int* out) { atomicAdd(out, 1); }\n";

static int is_api(const char* name) { return strcmp(device_api, name) == 0; }

struct counter {
  MaxDevice* device;
  MaxModule* module;
  MaxKernel* kernel;
  MaxBuffer* out;
};

static void set_up(struct counter* c, MaxModule* module) {
  const int64_t one = 1;
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  c->module = module;
  c->kernel = find(module, "count");
  CHECK(maxModuleGetDevice(module, &c->device));
  CHECK(maxBufferCreate(c->device, MAX_DTYPE_INT32, 1, &one, &options, &c->out));
}

static void tear_down(struct counter* c, int32_t expected) {
  int32_t got = -1;
  download(c->out, &got, sizeof got);
  assert_int_equal(got, expected);
  maxBufferRelease(c->out);
  maxModuleRelease(c->module);
  maxDeviceRelease(c->device);
}

static MaxStatus launch(const struct counter* c, const MaxLaunchConfig* config) {
  const void* arguments[] = {c->out};
  const size_t sizes[] = {BUFFER_ARGUMENT};
  return maxKernelLaunch(c->kernel, config, arguments, sizes, 1, NULL);
}

/* The driver was told, if it is a fake that can say so. */
static void check_told(const char* attribute) {
  struct fake_driver driver;
  if (!find_fake_driver(device_api, &driver) || !driver.describe_launch) return;
  if (!strstr(driver.describe_launch(), attribute)) print_error("'%s' was asked for\n", driver.describe_launch());
  assert_non_null(strstr(driver.describe_launch(), attribute));
}

static void count_release(void* count) { atomic_fetch_add((atomic_int*)count, 1); }

/* Borrowed memory is held until the kernel has run, each piece once. */
void test_borrowed_arguments(void** state) {
  (void)state;
  struct counter c;
  set_up(&c, compile(open_device(), source));
  const int64_t one = 1;
  atomic_int released = 0;
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.release = count_release;
  options.userData = &released;
  MaxBuffer* borrowed = NULL;
  CHECK(maxBufferWrap(c.device, address_of(c.out), MAX_DTYPE_INT32, 1, &one, &options, &borrowed));
  const void* arguments[] = {borrowed};
  const size_t sizes[] = {BUFFER_ARGUMENT};
  const MaxLaunchConfig config = shape_of(2, 16);
  CHECK(maxKernelLaunch(c.kernel, &config, arguments, sizes, 1, NULL));
  maxBufferRelease(borrowed);
  for (int i = 0; i < 20000 && released == 0; ++i) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(released, 1);
  tear_down(&c, 32);
}

void test_hints(void** state) {
  (void)state;
  struct counter c;
  set_up(&c, compile(open_device(), source));
  MaxLaunchConfig config = shape_of(2, 32);
  config.priority = 1;
  config.programmaticSerialization = 1;
  config.accessBase = address_of(c.out);
  config.accessByteCount = sizeof(int32_t);
  config.hitRatio = 0.5f;
  config.hitProperty = MAX_ACCESS_PROPERTY_PERSISTING;
  config.missProperty = MAX_ACCESS_PROPERTY_STREAMING;
  CHECK(launch(&c, &config));
  check_told("programmatic 1;");
  check_told("priority -1;");
  check_told("window 4;");
  config.accessByteCount = (size_t)1 << 40; /* more than a chip can set */
  CHECK(launch(&c, &config));
  check_told("window 1048576;");
  config.hitRatio = 1.5f;
  CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "hitRatio");
  config.hitRatio = 1;
  config.missProperty = 7;
  CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "7");
  config.missProperty = MAX_ACCESS_PROPERTY_PERSISTING;
  CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "missProperty");
  config = shape_of(INT32_MAX, 4); /* too many threads for AMD's chips, too much work for the others */
  if (is_api("hip")) CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "8589934588 threads");
  tear_down(&c, 128);
}

/* Not all chips have clusters of more than 8 blocks; returns how many threads were launched. */
static int32_t launch_large_clusters(const struct counter* c) {
  struct fake_driver driver;
  MaxLaunchConfig config = shape_of(32, 1);
  config.cluster[0] = 32;
  CHECK_FAILS(launch(c, &config), MAX_STATUS_INVALID_ARGUMENT, "CLUSTER");
  config.cluster[0] = 16;
  CHECK_FAILS(launch(c, &config), MAX_STATUS_INVALID_ARGUMENT, "CLUSTER");
  CHECK(maxKernelSetAttribute(c->kernel, MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  const MaxStatus status = launch(c, &config);
  if (find_fake_driver(device_api, &driver)) CHECK(status);
  if (status == MAX_STATUS_OK) check_told("cluster 16 1 1;");
  return status == MAX_STATUS_OK ? 32 : 0;
}

void test_clusters(void** state) {
  (void)state;
  struct counter c;
  set_up(&c, compile(open_device(), source));
  MaxLaunchConfig config = shape_of(4, 32);
  config.cluster[0] = -2;
  CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "(-2, 1, 1)");
  config.cluster[0] = 3; /* what is left zero is one */
  CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "(3, 1, 1)");
  config.cluster[0] = 2;
  const MaxStatus status = launch(&c, &config);
  if (status != MAX_STATUS_UNIMPLEMENTED) CHECK(status);
  if (is_api("hip") || is_api("cpu")) assert_int_equal(status, MAX_STATUS_UNIMPLEMENTED);
  struct fake_driver driver;
  if (find_fake_driver(device_api, &driver) && driver.describe_launch) assert_int_equal(status, MAX_STATUS_OK);
  int32_t launched = 0;
  if (status == MAX_STATUS_OK) {
    check_told("cluster 2 1 1;");
    launched = 128 + launch_large_clusters(&c);
  }
  tear_down(&c, launched);
}

void test_cooperative_launches(void** state) {
  (void)state;
  struct counter c;
  set_up(&c, compile(open_device(), source));
  MaxLaunchConfig config = shape_of(2, 32);
  config.cooperative = 1;
  const MaxStatus status = launch(&c, &config);
  if (status != MAX_STATUS_UNIMPLEMENTED) CHECK(status);
  if (is_api("cuda")) assert_int_equal(status, MAX_STATUS_OK);
  if (status == MAX_STATUS_OK) {
    check_told("cooperative 1;");
    config = shape_of(1 << 20, 1024); /* all blocks must be there at once */
    config.cooperative = 1;
    CHECK_FAILS(launch(&c, &config), MAX_STATUS_INVALID_ARGUMENT, "TOO_LARGE");
  }
  tear_down(&c, status == MAX_STATUS_OK ? 64 : 0);
}

/* Also what the driver compiles further. */
void test_ptx(void** state) {
  (void)state;
  if (!is_api("cuda")) skip();
  MaxDevice* device = open_device();
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.architecture = "compute_80";
  MaxModule* module = NULL;
  CHECK(maxModuleCompile(device, source, NULL, &options, &module));
  const void* text = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(module, MAX_ARTIFACT_KIND_PTX, &text, &size));
  assert_non_null(strstr(text, ".target sm_80"));
  assert_int_equal(strlen(text), size);
  MaxModule* loaded = NULL;
  CHECK(maxModuleLoadFromMemory(device, text, size, &loaded));
  maxModuleRelease(module);
  struct counter c;
  set_up(&c, loaded);
  const MaxLaunchConfig config = shape_of(3, 5);
  CHECK(launch(&c, &config));
  CHECK_FAILS(maxModuleLoadFromMemory(device, ".version 8.0\n.target sm_80\nnonsense\n", 36, &module),
              MAX_STATUS_INVALID_ARGUMENT, "cannot be loaded");
  tear_down(&c, 15);
}

static void check_target(const MaxDevice* device, const char* architecture, const char* target) {
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.architecture = architecture;
  MaxModule* module = NULL;
  CHECK(maxModuleCompile(device, source, NULL, &options, &module));
  const void* text = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(module, MAX_ARTIFACT_KIND_PTX, &text, &size));
  assert_non_null(strstr(text, target));
  maxModuleRelease(module);
}

/* Code for the chip that is there may use what no other chip has; code for a named chip may not. */
void test_chips(void** state) {
  (void)state;
  if (!is_api("cuda")) skip();
  MaxDevice* device = open_device();
  const char* chip = NULL;
  CHECK(maxDeviceGetArchitectureName(device, &chip));
  if (strcmp(chip, "sm_90") != 0) skip();
  check_target(device, NULL, ".target sm_90a\n");
  check_target(device, "sm_90a", ".target sm_90a\n");
  check_target(device, "sm_90", ".target sm_90\n");
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.architecture = "sm_80";
  MaxModule* module = NULL;
  CHECK_FAILS(maxModuleCompile(device, source, NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT,
              "cannot be loaded");
  maxDeviceRelease(device);
}

/* The driver is told no size, so what is cut off must not reach it. */
void test_damaged_code(void** state) {
  (void)state;
  if (is_api("cpu")) skip();
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, source);
  const void* code = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(module, is_api("hip") ? MAX_ARTIFACT_KIND_CODE_OBJECT : MAX_ARTIFACT_KIND_CUBIN, &code,
                             &size));
  for (size_t part = 0; part < size; part += part < 100 ? 1 : size / 13) {
    char* piece = malloc(part + 1); /* of this size, so that sanitizers see reads behind it */
    assert_non_null(piece);
    memcpy(piece, code, part);
    MaxModule* loaded = NULL;
    CHECK_FAILS(maxModuleLoadFromMemory(device, piece, part, &loaded), MAX_STATUS_INVALID_ARGUMENT, "");
    assert_null(loaded);
    free(piece);
  }
  maxModuleRelease(module);
  maxDeviceRelease(device);
}
