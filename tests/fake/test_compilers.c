/* SPDX-License-Identifier: Apache-2.0 */
/* Of several installed compilers the one that works for the driver and the chip is used: compilers SM_80 SM_90 CHIP,
 * each a version of PTX, or why there is none. */
#include "../capi/check.h"

static const char source[] = "extern \"C\" __global__ void nothing() {}\n";
static char** expected;

/* An expectation that is no version. */
struct refusal {
  const char* name;
  MaxStatus status;
  const char* text;
};
static const struct refusal refusals[] = {
    {"refused", MAX_STATUS_UNAVAILABLE, "a newer driver would do, or a compiler of CUDA 12."},
    {"unknown", MAX_STATUS_UNIMPLEMENTED, "NVRTC 13.0 does not know compute_80"},
    {"missing", MAX_STATUS_UNAVAILABLE, "'libnvrtc.so.13' has no function nvrtcVersion"},
};

static void check_compiler(MaxDevice* device, const char* architecture, const char* wanted) {
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  MaxModule* module = NULL;
  const char* text = NULL;
  size_t size = 0;
  options.architecture = architecture;
  for (size_t i = 0; i < COUNT_OF(refusals); ++i) {
    if (strcmp(wanted, refusals[i].name) != 0) continue;
    CHECK_FAILS(maxModuleCompile(device, source, NULL, &options, &module), refusals[i].status, refusals[i].text);
    return;
  }
  CHECK(maxModuleCompile(device, source, NULL, &options, &module));
  CHECK(maxModuleGetArtifact(module, MAX_ARTIFACT_KIND_PTX, (const void**)&text, &size));
  char version[32];
  snprintf(version, sizeof version, ".version %s\n", wanted);
  if (!strstr(text, version)) fail_msg("%s is not of %s", text + size - 64, version);
  maxModuleRelease(module);
}

/* Twice: the second choice knows what the first has found. */
static void test_the_compiler_suits_the_driver(void** state) {
  (void)state;
  static const char* const architectures[] = {"compute_80", "compute_90", NULL};
  MaxDevice* device = NULL;
  CHECK(maxDeviceCreate("cuda", 0, NULL, &device));
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < COUNT_OF(architectures); ++i) check_compiler(device, architectures[i], expected[i]);
  maxDeviceRelease(device);
}

/* What is compiled for no driver that is here is the newest compiler's. */
static void test_virtual_devices_get_the_newest(void** state) {
  (void)state;
  MaxDevice* device = NULL;
  if (strcmp(expected[2], "missing") == 0) return;
  CHECK(maxVirtualDeviceSetApi("cuda"));
  CHECK(maxVirtualDeviceSetArchitectureName("sm_90"));
  CHECK(maxVirtualDeviceSetCount(1));
  CHECK(maxDeviceCreate("cuda", 0, NULL, &device));
  check_compiler(device, NULL,
                 getenv("LD_LIBRARY_PATH") && strstr(getenv("LD_LIBRARY_PATH"), "nvrtc_13") ? "9.0" : "8.4");
  maxDeviceRelease(device);
  CHECK(maxVirtualDeviceSetCount(0));
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  expected = argv + 1;
  const struct CMUnitTest tests[] = {TEST(test_the_compiler_suits_the_driver),
                                     TEST(test_virtual_devices_get_the_newest)};
  return cmocka_run_group_tests_name("compilers", tests, NULL, NULL);
}
