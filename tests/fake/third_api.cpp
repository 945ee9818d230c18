// SPDX-License-Identifier: Apache-2.0
// A third API beside CUDA and HIP: a row, a table of names, and a row for kernels. A libmax.so with this file in place
// of device/gpu/apis.cpp and kernel/gpu_kernel_apis.cpp runs the conformance tests on its devices; their driver is
// libxpu.so, the fake driver once more under other names.
#include "device/gpu/api.h"
#include "device/gpu/attributes.h"
#include "device/gpu/nvml.h"
#include "kernel/gpu_compilers.h"
#include "kernel/gpu_kernel_api.h"

namespace max::gpu {

extern const Api kCuda;
extern const Api kHip;

namespace {

constexpr const char* kLibraries[] = {"libxpu.so"};

constexpr SymbolNames kSymbols = {
    .init = "xpuInit",
    .driverGetVersion = "xpuDriverGetVersion",
    .deviceGetCount = "xpuDeviceGetCount",
    .deviceGet = "xpuDeviceGet",
    .deviceGetName = "xpuDeviceGetName",
    .deviceGetAttribute = "xpuDeviceGetAttribute",
    .deviceCanAccessPeer = "xpuDeviceCanAccessPeer",
    .primaryContextRetain = "xpuDevicePrimaryCtxRetain",
    .primaryContextRelease = "xpuDevicePrimaryCtxRelease_v2",
    .deviceSynchronize = "xpuCtxSynchronize",
    .priorityRange = "xpuCtxGetStreamPriorityRange",
    .memoryGetInfo = "xpuMemGetInfo_v2",
    .memoryAllocate = "xpuMemAlloc_v2",
    .memoryFree = "xpuMemFree_v2",
    .hostAllocate = "xpuMemHostAlloc",
    .hostFree = "xpuMemFreeHost",
    .copyHostToDevice = "xpuMemcpyHtoDAsync_v2",
    .copyDeviceToHost = "xpuMemcpyDtoHAsync_v2",
    .copyDeviceToDevice = "xpuMemcpyDtoDAsync_v2",
    .fill8 = "xpuMemsetD8Async",
    .fill16 = "xpuMemsetD16Async",
    .fill32 = "xpuMemsetD32Async",
    .streamCreate = "xpuStreamCreateWithPriority",
    .streamDestroy = "xpuStreamDestroy_v2",
    .streamSynchronize = "xpuStreamSynchronize",
    .streamQuery = "xpuStreamQuery",
    .streamWaitEvent = "xpuStreamWaitEvent",
    .launchHostFunction = "xpuLaunchHostFunc",
    .eventCreate = "xpuEventCreate",
    .eventDestroy = "xpuEventDestroy_v2",
    .eventRecord = "xpuEventRecord",
    .eventQuery = "xpuEventQuery",
    .eventSynchronize = "xpuEventSynchronize",
    .eventElapsedTime = "xpuEventElapsedTime",
    .contextGetCurrent = "xpuCtxGetCurrent",
    .contextSetCurrent = "xpuCtxSetCurrent",
    .contextEnablePeer = "xpuCtxEnablePeerAccess",
    .contextCopyPeer = "xpuMemcpyPeerAsync",
    .copyRectangle = "xpuMemcpy2DAsync_v2",
    .getErrorName = "xpuGetErrorName",
    .deviceGetBusId = "xpuDeviceGetPCIBusId",
    .streamGetContext = "xpuStreamGetCtx",
    .streamIsCapturing = "xpuStreamIsCapturing",
    .exchangeCaptureMode = "xpuThreadExchangeStreamCaptureMode",
    .streamBeginCapture = "xpuStreamBeginCapture_v2",
    .streamEndCapture = "xpuStreamEndCapture",
    .graphInstantiate = "xpuGraphInstantiateWithFlags",
    .graphLaunch = "xpuGraphLaunch",
    .graphExecutableDestroy = "xpuGraphExecDestroy",
    .graphDestroy = "xpuGraphDestroy",
    .moduleLoad = "xpuModuleLoadDataEx",
    .moduleUnload = "xpuModuleUnload",
    .moduleGetFunction = "xpuModuleGetFunction",
    .moduleGetFunctionCount = "xpuModuleGetFunctionCount",
    .moduleListFunctions = "xpuModuleEnumerateFunctions",
    .functionLoad = "xpuFuncLoad",
    .moduleGetGlobal = "xpuModuleGetGlobal_v2",
    .functionGetAttribute = "xpuFuncGetAttribute",
    .functionSetAttribute = "xpuFuncSetAttribute",
    .functionGetParameter = "xpuFuncGetParamInfo",
    .launch = "xpuLaunchKernel",
    .launchWithAttributes = "xpuLaunchKernelEx",
    .launchCooperative = "xpuLaunchCooperativeKernel",
};
static_assert(isComplete(kSymbols));

std::string architectureOfChip(const Driver& driver, int device) {
  return concat("sm_", attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

bool isAny(const Driver&, int) { return true; }

constexpr Api kXpu = {
    .name = "xpu",
    .libraries = kLibraries,
    .libraryVariable = "MAX_XPU_LIBRARY",
    .symbols = kSymbols,
    .launchAttributes = {.mostSharedOptIn = 97, .mostAccessBytes = 109, .clusterLaunch = 120},
    .architecture = architectureOfChip,
    .isCompatible = isAny,
    .telemetry = nvmlTelemetry,
    .dlpack = {.device = 100, .host = 101},
};

constexpr const Api* kApis[] = {&kCuda, &kHip, &kXpu};

}  // namespace

std::span<const Api* const> apis() { return kApis; }

}  // namespace max::gpu

namespace max {

extern const GpuKernelApi kCudaKernels;
extern const GpuKernelApi kHipKernels;

namespace {

// The driver takes the code that the fake of NVRTC makes.
MaxArtifactKind kindOf(std::string_view code) { return kCudaKernels.kindOf(code); }
std::optional<std::vector<size_t>> noSizes(std::string_view, std::string_view) { return std::nullopt; }

constexpr GpuKernelApi kXpuKernels = {
    .api = "xpu", .compiler = nvrtcCompiler, .kindOf = kindOf, .parameterSizes = noSizes};

constexpr const GpuKernelApi* kKernelApis[] = {&kCudaKernels, &kHipKernels, &kXpuKernels};

}  // namespace

std::span<const GpuKernelApi* const> gpuKernelApis() { return kKernelApis; }

}  // namespace max
