// SPDX-License-Identifier: Apache-2.0
// Telemetry of accelerators, from the fake libraries of tests/fake.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "device/gpu/rocm_smi.h"
#include "device/gpu/stats.h"

namespace max::gpu {
namespace {

// Before anything asks: each variable is read once.
class Libraries : public testing::Environment {
 public:
  void SetUp() override {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../lib/fake";
    setenv("MAX_NVML_LIBRARY", (folder / "libnvidia-ml.so.1").c_str(), 1);
    setenv("MAX_ROCM_SMI_LIBRARY", (folder / "librocm_smi64.so").c_str(), 1);
  }
};
const auto* const kLibraries = testing::AddGlobalTestEnvironment(new Libraries);

MaxDeviceStats read(const char* api, const char* busId) {
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  addTelemetry(*findApi(api), busId, stats);
  return stats;
}

constexpr MaxDeviceStatsMask kAll =
    MAX_DEVICE_STATS_UTILIZATION | MAX_DEVICE_STATS_TEMPERATURE | MAX_DEVICE_STATS_POWER;

TEST(GpuStats, Nvml) {
  const MaxDeviceStats stats = read("cuda", "0000:01:00.0");
  EXPECT_EQ(stats.validMask, kAll);
  EXPECT_EQ(stats.utilization, 10u);
  EXPECT_EQ(stats.temperature, 41);
  EXPECT_EQ(stats.power, 71500u);
}

TEST(GpuStats, WhatALibraryDoesNotTellIsAbsent) {
  const MaxDeviceStats stats = read("cuda", "0000:02:00.0");
  EXPECT_EQ(stats.validMask, MAX_DEVICE_STATS_UTILIZATION | MAX_DEVICE_STATS_TEMPERATURE);
  EXPECT_EQ(stats.power, 0u);
  for (const char* busId : {"0000:07:00.0", "", "nonsense"})
    for (const Api* api : apis()) EXPECT_EQ(read(api->name, busId).validMask, 0u) << busId;
}

TEST(GpuStats, RocmSmiInItsOwnOrder) {
  const MaxDeviceStats first = read("hip", "0000:01:00.0");
  EXPECT_EQ(first.validMask, kAll);
  EXPECT_EQ(first.utilization, 20u);
  EXPECT_EQ(first.temperature, 51);
  EXPECT_EQ(first.power, 110000u);
  const MaxDeviceStats second = read("hip", "0000:02:00.0");
  EXPECT_EQ(second.validMask, kAll);
  EXPECT_EQ(second.temperature, 63);
  EXPECT_EQ(second.power, 220000u);
}

TEST(GpuStats, BusNumbers) {
  uint64_t number = 0;
  EXPECT_TRUE(parseBusId("0001:c1:1f.7", number));
  EXPECT_EQ(number, uint64_t{1} << 32 | 0xc1 << 8 | 0x1f << 3 | 7);
  EXPECT_FALSE(parseBusId("c1:00.0", number));
}

}  // namespace
}  // namespace max::gpu
