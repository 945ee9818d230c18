// SPDX-License-Identifier: Apache-2.0
// Our declarations of DLPack agree with the header that a PyPI package ships.
#include <gtest/gtest.h>
#include <stddef.h>
#include <stdint.h>

#include "device/dlpack_abi.h"

#ifdef MAX_DLPACK_HEADER
namespace theirs {
#include MAX_DLPACK_HEADER
}

namespace {

#define EXPECT_SAME_FIELD(type, field)                               \
  EXPECT_EQ(offsetof(::type, field), offsetof(theirs::type, field)); \
  EXPECT_EQ(sizeof(::type::field), sizeof(theirs::type::field))

TEST(Dlpack, Layouts) {
  EXPECT_EQ(sizeof(::DLPackVersion), sizeof(theirs::DLPackVersion));
  EXPECT_EQ(sizeof(::DLDevice), sizeof(theirs::DLDevice));
  EXPECT_EQ(sizeof(::DLDataType), sizeof(theirs::DLDataType));
  EXPECT_EQ(sizeof(::DLTensor), sizeof(theirs::DLTensor));
  EXPECT_EQ(sizeof(::DLManagedTensor), sizeof(theirs::DLManagedTensor));
  EXPECT_EQ(sizeof(::DLManagedTensorVersioned), sizeof(theirs::DLManagedTensorVersioned));
  EXPECT_SAME_FIELD(DLPackVersion, minor);
  EXPECT_SAME_FIELD(DLDevice, device_type);
  EXPECT_SAME_FIELD(DLDevice, device_id);
  EXPECT_SAME_FIELD(DLDataType, code);
  EXPECT_SAME_FIELD(DLDataType, bits);
  EXPECT_SAME_FIELD(DLDataType, lanes);
  EXPECT_SAME_FIELD(DLTensor, data);
  EXPECT_SAME_FIELD(DLTensor, device);
  EXPECT_SAME_FIELD(DLTensor, ndim);
  EXPECT_SAME_FIELD(DLTensor, dtype);
  EXPECT_SAME_FIELD(DLTensor, shape);
  EXPECT_SAME_FIELD(DLTensor, strides);
  EXPECT_SAME_FIELD(DLTensor, byte_offset);
  EXPECT_SAME_FIELD(DLManagedTensor, manager_ctx);
  EXPECT_SAME_FIELD(DLManagedTensor, deleter);
  EXPECT_SAME_FIELD(DLManagedTensorVersioned, manager_ctx);
  EXPECT_SAME_FIELD(DLManagedTensorVersioned, deleter);
  EXPECT_SAME_FIELD(DLManagedTensorVersioned, flags);
  EXPECT_SAME_FIELD(DLManagedTensorVersioned, dl_tensor);
}

TEST(Dlpack, Numbers) {
  namespace ours = max::dlpack;
  EXPECT_EQ(ours::kMajorVersion, DLPACK_MAJOR_VERSION);
  EXPECT_LE(ours::kMinorVersion, DLPACK_MINOR_VERSION);
  EXPECT_EQ(ours::kFlagReadOnly, DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_EQ(ours::kFlagSubbytePadded, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  EXPECT_EQ(ours::kDeviceCpu, theirs::kDLCPU);
  EXPECT_EQ(ours::kDeviceCuda, theirs::kDLCUDA);
  EXPECT_EQ(ours::kDeviceCudaHost, theirs::kDLCUDAHost);
  EXPECT_EQ(ours::kDeviceRocm, theirs::kDLROCM);
  EXPECT_EQ(ours::kDeviceRocmHost, theirs::kDLROCMHost);
  EXPECT_EQ(ours::kDeviceCudaManaged, theirs::kDLCUDAManaged);
  EXPECT_EQ(ours::kInt, theirs::kDLInt);
  EXPECT_EQ(ours::kUInt, theirs::kDLUInt);
  EXPECT_EQ(ours::kFloat, theirs::kDLFloat);
  EXPECT_EQ(ours::kBfloat, theirs::kDLBfloat);
  EXPECT_EQ(ours::kComplex, theirs::kDLComplex);
  EXPECT_EQ(ours::kBool, theirs::kDLBool);
  EXPECT_EQ(ours::kFloat8E4M3FN, theirs::kDLFloat8_e4m3fn);
  EXPECT_EQ(ours::kFloat8E4M3FNUZ, theirs::kDLFloat8_e4m3fnuz);
  EXPECT_EQ(ours::kFloat8E5M2, theirs::kDLFloat8_e5m2);
  EXPECT_EQ(ours::kFloat8E5M2FNUZ, theirs::kDLFloat8_e5m2fnuz);
  EXPECT_EQ(ours::kFloat8E8M0FNU, theirs::kDLFloat8_e8m0fnu);
  EXPECT_EQ(ours::kFloat6E2M3FN, theirs::kDLFloat6_e2m3fn);
  EXPECT_EQ(ours::kFloat6E3M2FN, theirs::kDLFloat6_e3m2fn);
  EXPECT_EQ(ours::kFloat4E2M1FN, theirs::kDLFloat4_e2m1fn);
}

}  // namespace
#else
TEST(Dlpack, HeaderIsMissing) { GTEST_SKIP() << "no DLPack header (apache-tvm-ffi) in build/venv"; }
#endif
