// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <algorithm>
#include <iterator>

#include "fake.h"

namespace fake {

namespace {

constexpr ResultName kNames[] = {
    {kOk, "CUDA_SUCCESS", "hipSuccess"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "hipErrorNotInitialized"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "hipErrorNoDevice"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "hipErrorInvalidDevice"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "hipErrorInvalidImage"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "hipErrorInvalidContext"},
    {kPeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "hipErrorPeerAccessUnsupported"},
    {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", nullptr},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "hipErrorInvalidHandle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "hipErrorNotFound"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "hipErrorNotReady"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress"},
    {kPeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "hipErrorPeerAccessAlreadyEnabled"},
    {kPeerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "hipErrorPeerAccessNotEnabled"},
    {kContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "hipErrorContextIsDestroyed"},
    {kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "hipErrorHostMemoryAlreadyRegistered"},
    {kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "hipErrorHostMemoryNotRegistered"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "hipErrorLaunchFailure"},
    {kCooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "hipErrorCooperativeLaunchTooLarge"},
    {kNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "hipErrorNotPermitted"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "hipErrorNotSupported"},
    {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "hipErrorStreamCaptureUnsupported"},
    {kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "hipErrorStreamCaptureInvalidated"},
    {kCaptureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "hipErrorStreamCaptureMerge"},
    {kCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "hipErrorStreamCaptureUnmatched"},
    {kCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "hipErrorStreamCaptureUnjoined"},
    {kCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "hipErrorStreamCaptureIsolation"},
    {kCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "hipErrorStreamCaptureImplicit"},
    {kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "hipErrorCapturedEvent"},
    {kCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "hipErrorStreamCaptureWrongThread"},
    {kInvalidClusterSize, "CUDA_ERROR_INVALID_CLUSTER_SIZE", nullptr},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "hipErrorUnknown"},
};

}  // namespace

const char* resultName(int code, const char* ResultName::*column) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& name) { return name.code == code; });
  return found == std::end(kNames) ? nullptr : found->*column;
}

}  // namespace fake
