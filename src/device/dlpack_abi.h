// SPDX-License-Identifier: Apache-2.0
// DLPack 1.1's structures, declared from its specification; only a test compares them with dlpack.h.
#pragma once

#include <cstdint>

extern "C" {

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; NULL = dense
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};
}

namespace max::dlpack {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr uint32_t kMinorVersion = 1;

inline constexpr uint64_t kFlagReadOnly = 1;
inline constexpr uint64_t kFlagSubbytePadded = 4;  // each element below 8 bits has its own byte

inline constexpr int32_t kDeviceCpu = 1;
inline constexpr int32_t kDeviceCuda = 2;
inline constexpr int32_t kDeviceCudaHost = 3;
inline constexpr int32_t kDeviceRocm = 10;
inline constexpr int32_t kDeviceRocmHost = 11;
inline constexpr int32_t kDeviceCudaManaged = 13;

inline constexpr uint8_t kInt = 0;
inline constexpr uint8_t kUInt = 1;
inline constexpr uint8_t kFloat = 2;
inline constexpr uint8_t kBfloat = 4;
inline constexpr uint8_t kComplex = 5;
inline constexpr uint8_t kBool = 6;
inline constexpr uint8_t kFloat8E4M3FN = 10;
inline constexpr uint8_t kFloat8E4M3FNUZ = 11;
inline constexpr uint8_t kFloat8E5M2 = 12;
inline constexpr uint8_t kFloat8E5M2FNUZ = 13;
inline constexpr uint8_t kFloat8E8M0FNU = 14;
inline constexpr uint8_t kFloat6E2M3FN = 15;
inline constexpr uint8_t kFloat6E3M2FN = 16;
inline constexpr uint8_t kFloat4E2M1FN = 17;

}  // namespace max::dlpack
