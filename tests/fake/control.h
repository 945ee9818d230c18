/* SPDX-License-Identifier: Apache-2.0 */
/* What a test can ask of a fake driver, beyond the driver's own functions. Found with dlsym in the loaded library. */
#ifndef MAX_TESTS_FAKE_CONTROL_H
#define MAX_TESTS_FAKE_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Contexts, allocations of device and host memory, streams, events, modules and graphs that have not been given back.
 */
int64_t fakeGpuGetLiveObjectCount(void);

/* What they are: "2 contexts, 0 allocations, ...". Valid until the thread's next call. */
const char* fakeGpuDescribeLiveObjects(void);

/* Wrong uses of the driver so far: races, frees while in use, dead handles, calls from host functions. Each was
 * printed. */
int64_t fakeGpuGetViolationCount(void);

/* Driver calls that can be made to fail, so far. */
int64_t fakeGpuGetCallCount(void);

/* Makes the n-th call from now fail with a code of the driver; 0 = none. Codes that spoil a context lose the device. */
void fakeGpuFailCall(int64_t n, int32_t code);

/* What is counted from the start: work queued on streams, that of launched graphs included; launches of kernels, and of
 * graphs; allocations of device or host memory; calls in which the host waits; copies that are done; copies with memory
 * of the host that is not page-locked; copies between devices, directly and through the host. And bytes of page-locked
 * memory now. */
enum {
  FAKE_GPU_QUEUED,
  FAKE_GPU_LAUNCHES,
  FAKE_GPU_GRAPH_LAUNCHES,
  FAKE_GPU_ALLOCATIONS,
  FAKE_GPU_WAITS,
  FAKE_GPU_COPIES_DONE,
  FAKE_GPU_PAGEABLE_COPIES,
  FAKE_GPU_DIRECT_PEER_COPIES,
  FAKE_GPU_STAGED_PEER_COPIES,
  FAKE_GPU_COUNTS,
  FAKE_GPU_PINNED_BYTES = FAKE_GPU_COUNTS
};
int64_t fakeGpuGetCount(int32_t what);

/* The function that was last made to fail; "" = none since the last fakeGpuFailCall. */
const char* fakeGpuGetFailedCall(void);

/* Attributes of the thread's last launch: "cluster 2 1 1;cooperative 1;"; "" = it had none. Only where launches can
 * have them. */
const char* fakeGpuDescribeLaunch(void);

/* All work on the device, and all calls for it, fail with this code from now on; 0 = it is well again. */
void fakeGpuLoseDevice(int32_t device, int32_t code);

#ifdef __cplusplus
}
#endif

#endif
