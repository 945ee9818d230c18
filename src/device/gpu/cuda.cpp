// SPDX-License-Identifier: Apache-2.0
// NVIDIA's CUDA.
#include "device/dlpack_abi.h"
#include "device/gpu/api.h"
#include "device/gpu/attributes.h"
#include "device/gpu/nvml.h"

namespace max::gpu {

namespace {

constexpr const char* kLibraries[] = {"libcuda.so.1"};
constexpr const char* kRangeLibraries[] = {"libnvToolsExt.so.1"};
constexpr const char* kProductLibraries[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

constexpr SymbolNames kSymbols = {
    .init = "cuInit",
    .driverGetVersion = "cuDriverGetVersion",
    .deviceGetCount = "cuDeviceGetCount",
    .deviceGet = "cuDeviceGet",
    .deviceGetName = "cuDeviceGetName",
    .deviceGetAttribute = "cuDeviceGetAttribute",
    .deviceCanAccessPeer = "cuDeviceCanAccessPeer",
    .primaryContextRetain = "cuDevicePrimaryCtxRetain",
    .primaryContextRelease = "cuDevicePrimaryCtxRelease_v2",
    .deviceSynchronize = "cuCtxSynchronize",
    .priorityRange = "cuCtxGetStreamPriorityRange",
    .memoryGetInfo = "cuMemGetInfo_v2",
    .memoryAllocate = "cuMemAlloc_v2",
    .memoryFree = "cuMemFree_v2",
    .hostAllocate = "cuMemHostAlloc",
    .hostFree = "cuMemFreeHost",
    .copyHostToDevice = "cuMemcpyHtoDAsync_v2",
    .copyDeviceToHost = "cuMemcpyDtoHAsync_v2",
    .copyDeviceToDevice = "cuMemcpyDtoDAsync_v2",
    .fill8 = "cuMemsetD8Async",
    .fill16 = "cuMemsetD16Async",
    .fill32 = "cuMemsetD32Async",
    .streamCreate = "cuStreamCreateWithPriority",
    .streamDestroy = "cuStreamDestroy_v2",
    .streamSynchronize = "cuStreamSynchronize",
    .streamQuery = "cuStreamQuery",
    .streamWaitEvent = "cuStreamWaitEvent",
    .launchHostFunction = "cuLaunchHostFunc",
    .eventCreate = "cuEventCreate",
    .eventDestroy = "cuEventDestroy_v2",
    .eventRecord = "cuEventRecord",
    .eventQuery = "cuEventQuery",
    .eventSynchronize = "cuEventSynchronize",
    .eventElapsedTime = "cuEventElapsedTime",
    .contextGetCurrent = "cuCtxGetCurrent",
    .contextSetCurrent = "cuCtxSetCurrent",
    .contextEnablePeer = "cuCtxEnablePeerAccess",
    .contextCopyPeer = "cuMemcpyPeerAsync",
    .copyRectangle = "cuMemcpy2DAsync_v2",
    .getErrorName = "cuGetErrorName",
    .deviceGetBusId = "cuDeviceGetPCIBusId",
    .streamGetContext = "cuStreamGetCtx",
    .streamIsCapturing = "cuStreamIsCapturing",
    .exchangeCaptureMode = "cuThreadExchangeStreamCaptureMode",
    .streamBeginCapture = "cuStreamBeginCapture_v2",
    .streamEndCapture = "cuStreamEndCapture",
    .graphInstantiate = "cuGraphInstantiateWithFlags",
    .graphLaunch = "cuGraphLaunch",
    .graphExecutableDestroy = "cuGraphExecDestroy",
    .graphDestroy = "cuGraphDestroy",
    .moduleLoad = "cuModuleLoadDataEx",
    .moduleUnload = "cuModuleUnload",
    .moduleGetFunction = "cuModuleGetFunction",
    .moduleGetFunctionCount = "cuModuleGetFunctionCount",
    .moduleListFunctions = "cuModuleEnumerateFunctions",
    .functionLoad = "cuFuncLoad",
    .moduleGetGlobal = "cuModuleGetGlobal_v2",
    .functionGetAttribute = "cuFuncGetAttribute",
    .functionSetAttribute = "cuFuncSetAttribute",
    .functionGetParameter = "cuFuncGetParamInfo",
    .launch = "cuLaunchKernel",
    .launchWithAttributes = "cuLaunchKernelEx",
    .launchCooperative = "cuLaunchCooperativeKernel",
};
static_assert(isComplete(kSymbols));

// Architectures that run-time compilers support.
constexpr int64_t kOldestCapability = 5;

std::string architectureOfChip(const Driver& driver, int device) {
  return concat("sm_", attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

bool isNewEnough(const Driver& driver, int device) {
  return attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= kOldestCapability;
}

}  // namespace

extern const Api kCuda;
constinit const Api kCuda = {
    .name = "cuda",
    .libraries = kLibraries,
    .libraryVariable = "MAX_CUDA_LIBRARY",
    .symbols = kSymbols,
    .launchAttributes = {.mostSharedOptIn = 97, .mostAccessBytes = 109, .clusterLaunch = 120},
    .architecture = architectureOfChip,
    .isCompatible = isNewEnough,
    .telemetry = nvmlTelemetry,
    .ranges = {"MAX_NVTX_LIBRARY", kRangeLibraries, "nvtxRangePushA", "nvtxRangePop"},
    // cublasComputeType_t: with float32, tf32 and bfloat16 factors; CUBLAS_OP_N; CUBLASLT_MATMUL_DESC_TRANSA and
    // TRANSB, EPILOGUE, BIAS_POINTER and BIAS_BATCH_STRIDE; CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT and
    // STRIDED_BATCH_OFFSET.
    .products = {.variable = "MAX_CUBLASLT_LIBRARY",
                 .libraries = kProductLibraries,
                 .prefix = "cublasLt",
                 .oldestVersion = 110000,
                 .computeTypes = {68, 77, 75},
                 .notTransposed = 0,
                 .transposeA = 3,
                 .transposeB = 4,
                 .finish = 7,
                 .bias = 8,
                 .biasDistance = 10,
                 .batchCount = 5,
                 .batchDistance = 6},
    .dlpack = {dlpack::kDeviceCuda, dlpack::kDeviceCudaHost, dlpack::kDeviceCudaManaged},
    .toolkit = "CUDA",
    .errorLogOption = 5,
    .errorLogSizeOption = 6,
};

}  // namespace max::gpu
