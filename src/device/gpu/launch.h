// SPDX-License-Identifier: Apache-2.0
// Arguments of CUDA's cuLaunchKernelEx: CUlaunchConfig, CUlaunchAttribute and CUaccessPolicyWindow.
#pragma once

#include <cstddef>

namespace max::gpu {

// CUlaunchAttributeID.
inline constexpr int kLaunchAccessPolicyWindow = 1;
inline constexpr int kLaunchCooperative = 2;
inline constexpr int kLaunchClusterDimension = 4;
inline constexpr int kLaunchProgrammaticStreamSerialization = 6;
inline constexpr int kLaunchPriority = 8;

struct AccessPolicyWindow {
  void* base;
  size_t bytes;
  float hitRatio;
  int hitProperty;
  int missProperty;
};

struct ClusterDimension {
  unsigned x;
  unsigned y;
  unsigned z;
};

union LaunchAttributeValue {
  char size[64];
  AccessPolicyWindow accessPolicyWindow;
  int cooperative;
  ClusterDimension clusterDimension;
  int programmaticStreamSerialization;
  int priority;
};

struct LaunchAttribute {
  int id;
  char padding[4];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned gridX;
  unsigned gridY;
  unsigned gridZ;
  unsigned blockX;
  unsigned blockY;
  unsigned blockZ;
  unsigned sharedBytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attributeCount;
};

}  // namespace max::gpu
