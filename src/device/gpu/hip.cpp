// SPDX-License-Identifier: Apache-2.0
// AMD's HIP.
#include <algorithm>
#include <limits>
#include <vector>

#include "device/dlpack_abi.h"
#include "device/gpu/api.h"
#include "device/gpu/attributes.h"
#include "device/gpu/rocm_smi.h"

namespace max::gpu {

namespace {

constexpr const char* kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
constexpr const char* kProductLibraries[] = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"};
constexpr const char* kRangeLibraries[] = {"libroctx64.so.4", "libroctx64.so"};
// The library takes tens of milliseconds to open, and can do nothing without one of these.
constexpr const char* kKernelDrivers[] = {"/dev/kfd", "/dev/dxg"};

constexpr SymbolNames kSymbols = {
    .init = "hipInit",
    .driverGetVersion = "hipDriverGetVersion",
    .deviceGetCount = "hipGetDeviceCount",
    .deviceGet = "hipDeviceGet",
    .deviceGetName = "hipDeviceGetName",
    .deviceGetAttribute = "hipDeviceGetAttribute",
    .deviceCanAccessPeer = "hipDeviceCanAccessPeer",
    .primaryContextRetain = "hipDevicePrimaryCtxRetain",
    .primaryContextRelease = "hipDevicePrimaryCtxRelease",
    .deviceSynchronize = "hipDeviceSynchronize",
    .priorityRange = "hipDeviceGetStreamPriorityRange",
    .memoryGetInfo = "hipMemGetInfo",
    .memoryAllocate = "hipMalloc",
    .memoryFree = "hipFree",
    .hostAllocate = "hipHostMalloc",
    .hostFree = "hipHostFree",
    .copyHostToDevice = "hipMemcpyHtoDAsync",
    .copyDeviceToHost = "hipMemcpyDtoHAsync",
    .copyDeviceToDevice = "hipMemcpyDtoDAsync",
    .fill8 = "hipMemsetD8Async",
    .fill16 = "hipMemsetD16Async",
    .fill32 = "hipMemsetD32Async",
    .streamCreate = "hipStreamCreateWithPriority",
    .streamDestroy = "hipStreamDestroy",
    .streamSynchronize = "hipStreamSynchronize",
    .streamQuery = "hipStreamQuery",
    .streamWaitEvent = "hipStreamWaitEvent",
    .launchHostFunction = "hipLaunchHostFunc",
    .eventCreate = "hipEventCreateWithFlags",
    .eventDestroy = "hipEventDestroy",
    .eventRecord = "hipEventRecord",
    .eventQuery = "hipEventQuery",
    .eventSynchronize = "hipEventSynchronize",
    .eventElapsedTime = "hipEventElapsedTime",
    .deviceGetCurrent = "hipGetDevice",
    .deviceSetCurrent = "hipSetDevice",
    .deviceEnablePeer = "hipDeviceEnablePeerAccess",
    .deviceCopyPeer = "hipMemcpyPeerAsync",
    .copy2d = "hipMemcpy2DAsync",
    .deviceGetBusId = "hipDeviceGetPCIBusId",
    .clearLastError = "hipGetLastError",
    .streamGetDevice = "hipStreamGetDevice",
    .streamIsCapturing = "hipStreamIsCapturing",
    .exchangeCaptureMode = "hipThreadExchangeStreamCaptureMode",
    .streamBeginCapture = "hipStreamBeginCapture",
    .streamEndCapture = "hipStreamEndCapture",
    .graphInstantiateWithLog = "hipGraphInstantiate",
    .graphLaunch = "hipGraphLaunch",
    .graphExecutableDestroy = "hipGraphExecDestroy",
    .graphDestroy = "hipGraphDestroy",
    .deviceGetProperties = "hipGetDeviceProperties",
    .deviceGetNewProperties = "hipGetDevicePropertiesR0600",
    .moduleLoad = "hipModuleLoadDataEx",
    .moduleUnload = "hipModuleUnload",
    .moduleGetFunction = "hipModuleGetFunction",
    .moduleGetGlobal = "hipModuleGetGlobal",
    .functionGetAttribute = "hipFuncGetAttribute",
    .launch = "hipModuleLaunchKernel",
    .launchCooperative = "hipModuleLaunchCooperativeKernel",
    .errorText = "hipGetErrorName",
};
static_assert(isComplete(kSymbols));

// hipDeviceAttribute_t, whose numbers are the same in HIP 5, 6 and 7.
constexpr AttributeNumber kAttributes[] = {
    {MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 56},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 26},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 27},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 28},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 29},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 30},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 31},
    {MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 74},
    {MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 71},
    {MAX_DEVICE_ATTRIBUTE_CLOCK_RATE, 5},
    {MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 63},
    {MAX_DEVICE_ATTRIBUTE_INTEGRATED, 16},
    {MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 19},
    {MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 57},
    {MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 23},
    {MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 61},
    {MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 10002},
};

// Offset of gcnArchName (256 bytes) in hipDeviceProp_t, in HIP 5 and since HIP 6. The size suffices for both.
constexpr size_t kPropertiesSize = 16384;
constexpr size_t kArchitecture5 = 396;
constexpr size_t kArchitecture6 = 1160;
constexpr size_t kNameSize = 256;

std::string architectureOfChip(const Driver& driver, int device) {
  const bool isNew = static_cast<bool>(driver.deviceGetNewProperties);
  const auto& get = isNew ? driver.deviceGetNewProperties : driver.deviceGetProperties;
  require(static_cast<bool>(get), MAX_STATUS_UNAVAILABLE, "The driver of hip lacks ", get.name);
  std::vector<char> properties(kPropertiesSize, '\0');
  if (const int error = get(properties.data(), device); error != kSuccess) failDriver(driver, get.name, error);
  const char* text = properties.data() + (isNew ? kArchitecture6 : kArchitecture5);
  // "gfx90a:sramecc+:xnack-": features follow the architecture.
  const char* end = std::find_if(text, text + kNameSize, [](char c) { return c == '\0' || c == ':'; });
  return std::string(text, end);
}

bool isGraphicsChip(const Driver& driver, int device) { return architectureOfChip(driver, device).starts_with("gfx"); }

}  // namespace

extern const Api kHip;
constinit const Api kHip = {
    .name = "hip",
    .libraries = kLibraries,
    .libraryVariable = "MAX_HIP_LIBRARY",
    .kernelDrivers = kKernelDrivers,
    .symbols = kSymbols,
    .majorUnit = 10'000'000,
    .minorUnit = 100'000,
    .attributes = kAttributes,
    .architecture = architectureOfChip,
    .isCompatible = isGraphicsChip,
    .telemetry = rocmSmiTelemetry,
    .ranges = {"MAX_ROCTX_LIBRARY", kRangeLibraries, "roctxRangePushA", "roctxRangePop"},
    // hipblasComputeType_t: with float32, tf32 and bfloat16 factors; HIPBLAS_OP_N; HIPBLASLT_MATMUL_DESC_TRANSA and
    // TRANSB; HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT and STRIDED_BATCH_OFFSET.
    .products = {.variable = "MAX_HIPBLASLT_LIBRARY",
                 .libraries = kProductLibraries,
                 .prefix = "hipblasLt",
                 .oldestVersion = 600,
                 .versionNeedsHandle = true,
                 .computeTypes = {2, 6, 5},
                 .notTransposed = 111,
                 .transposeA = 0,
                 .transposeB = 1,
                 .batchCount = 0,
                 .batchDistance = 1},
    .dlpack = {dlpack::kDeviceRocm, dlpack::kDeviceRocmHost},
    .destroyWaits = true,
    .mostThreadsInGrid = std::numeric_limits<uint32_t>::max(),
};

}  // namespace max::gpu
