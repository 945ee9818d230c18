// SPDX-License-Identifier: Apache-2.0
// Random graphs on accelerators and on the CPU; the tests' environment names fake drivers.
//
// A failure names its seed; --gtest_random_seed=SEED runs that one alone. --gtest_repeat=N goes on to other seeds.
#include <dlfcn.h>
#include <stdlib.h>

#include "../fake/control.h"
#include "compiler/compile.h"
#include "device/device_registry.h"
#include "device_helpers.h"
#include "random_graph_steps.h"

namespace max::test {
namespace {

constexpr uint32_t kGraphs = 3;
constexpr int kRounds = 2;
constexpr int kCalls = 3;  // with the same memory: the last is a launch of a graph if all of it runs on the device

struct Api {
  const char* name;
  const char* library;  // the variable that names its driver
};
void PrintTo(const Api& api, std::ostream* out) { *out << api.name; }

double toleranceOf(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) largest = std::max(largest, std::fabs(numberAt(tensor, i)));
  if (tensor.dtype() == DType::Float16) return 4e-3 * (1 + largest);
  return isFloat(tensor.dtype()) ? 1e-4 * (1 + largest) : 0;
}

void compareTensors(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_EQ(concat(actual.shape()), concat(expected.shape()));
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double a = numberAt(actual, i), e = numberAt(expected, i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    ASSERT_NEAR(a, e, toleranceOf(expected)) << "element " << i;
  }
}

Ref<Graph> compiled(uint32_t seed, MaxDevice* accelerator) {
  Ref<Graph> graph = GraphSource(seed).build(static_cast<int>(seed % 24) + 4, steps::kAll);
  CompileOptions options;
  options.accelerator = accelerator;
  compile(*graph, options);
  return graph;
}

class DeviceGraphs : public testing::TestWithParam<Api> {
 protected:
  void SetUp() override {
    if (deviceCount(GetParam().name) == 0) GTEST_SKIP() << "there is no accelerator";
    if (const char* path = getenv(GetParam().library)) driver_ = dlopen(path, RTLD_NOW);
  }
  // That a fake driver has seen.
  int64_t violations() const {
    void* function = driver_ ? dlsym(driver_, "fakeGpuGetViolationCount") : nullptr;
    return function ? reinterpret_cast<int64_t (*)()>(function)() : 0;
  }
  int64_t graphLaunches() const {
    void* function = driver_ ? dlsym(driver_, "fakeGpuGetCount") : nullptr;
    return function ? reinterpret_cast<int64_t (*)(int32_t)>(function)(FAKE_GPU_GRAPH_LAUNCHES) : 1;
  }

  void* driver_ = nullptr;
};

// Whether the graph ran.
bool check(uint32_t seed, MaxDevice& device, size_t& placed) {
  const Ref<Graph> here = compiled(seed, nullptr), there = compiled(seed, &device);
  for (const Node* node : there->nodes()) placed += bool(node->placed);
  SCOPED_TRACE(concat("seed ", seed, "\n", dump(*there)));
  const PlannedProgram plain(here, 1), program(there, RunSettings(1, nullptr, {Ref<MaxDevice>(&device)}));
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    const std::vector<Ref<Tensor>> inputs = GraphSource::inputs(*here, seed, round);
    Outputs expected;
    try {
      expected = run(plain, inputs);
    } catch (const Error&) {
      return false;
    }
    try {
      const Ref<MaxStream> other = device.createStream(0);
      const std::vector<Ref<Tensor>> actual = runThere(program, device, inputs, kCalls, other.get());
      const size_t outputs = there->outputs().size();
      EXPECT_EQ(actual.size(), 2 * outputs);
      for (size_t i = 0; i < actual.size(); ++i) {
        SCOPED_TRACE(concat("output ", i));
        compareTensors(*actual[i], expected[i % outputs]);
      }
    } catch (const Error& error) {
      ADD_FAILURE() << "only the accelerator fails: " << error.message();
    }
  }
  return true;
}

TEST_P(DeviceGraphs, GiveWhatTheCpuGives) {
  static uint32_t next = 0;
  const Ref<MaxDevice> device = openDevice(GetParam().name, 0);
  size_t placed = 0;
  if (const auto seed = static_cast<uint32_t>(GTEST_FLAG_GET(random_seed))) {
    check(seed, *device, placed);
    return;
  }
  uint32_t ran = 0;
  const uint32_t first = next;
  for (next = first + 1; next <= first + kGraphs && !HasFailure(); ++next) ran += check(next, *device, placed);
  EXPECT_GT(ran, 0u);
  EXPECT_GT(placed, kGraphs);
  EXPECT_EQ(violations(), 0);
  EXPECT_GT(graphLaunches(), 0);
}

INSTANTIATE_TEST_SUITE_P(Apis, DeviceGraphs,
                         testing::Values(Api{"cuda", "MAX_CUDA_LIBRARY"}, Api{"hip", "MAX_HIP_LIBRARY"}));

}  // namespace
}  // namespace max::test
