// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/matrix/gemm.h"
#include "weights_harness.h"

namespace max {
namespace {

TEST(Panels, CoverAllColumnsWithWholeVectors) {
  for (int lanes : {1, 4, 8, 16})
    for (int most : {2, 3})
      for (int64_t columns = 0; columns < 200; ++columns) {
        const Panels panels(lanes, most, columns);
        int64_t next = 0;
        for (int64_t panel = 0; panel < panels.count; ++panel) {
          EXPECT_EQ(panels.begin(panel), next);
          EXPECT_GT(panels.width(panel), 0);
          EXPECT_LE(panels.width(panel), lanes * most);
          EXPECT_EQ(panels.width(panel) % lanes, 0);
          next += panels.width(panel);
        }
        EXPECT_EQ(panels.paddedColumns(), next);
        EXPECT_GE(next, columns);
        EXPECT_LT(next, columns + lanes);
      }
}

// Where element (k, n) must lie: panel after panel, rows of a panel one after the other.
float packedElement(const Panels& panels, const float* packed, int64_t rows, int64_t k, int64_t n) {
  int64_t panel = 0;
  while (n >= panels.begin(panel) + panels.width(panel)) ++panel;
  return packed[panels.begin(panel) * rows + k * panels.width(panel) + n - panels.begin(panel)];
}

void checkPacking(const PackSource& source, int lanes) {
  const GemmTable& table = gemmTable();
  const Panels panels(table.lanes, table.panelVectors, source.columns);
  const int64_t count = packedCount(table, source.rows(), source.columns);
  std::vector<float> packed(static_cast<size_t>(count), 7);
  packMatrix(table, source, packed.data(), lanes);
  for (int64_t tap = 0; tap < source.taps; ++tap)
    for (int64_t c = 0; c < source.depth; ++c)
      for (int64_t n = 0; n < panels.paddedColumns(); ++n) {
        const int64_t from = (c * source.taps + tap) * source.rowStride + n * source.columnStride;
        const float expected = n < source.columns ? source.data[from] : 0.f;
        ASSERT_EQ(packedElement(panels, packed.data(), source.rows(), tap * source.depth + c, n), expected)
            << "tap " << tap << " channel " << c << " column " << n;
      }
}

TEST(PackMatrix, PutsEveryElementInItsPlace) {
  forEachCpuTarget([](CpuTarget) {
    RandomTensors random(50);
    for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
      const int64_t taps = random.chance(0.5) ? 1 : random.integer(2, 9), depth = random.integer(1, 70);
      const int64_t columns = random.integer(1, 150), rows = taps * depth;
      const Ref<Tensor> b = random.floats({rows, columns});
      const bool byColumns = random.chance(0.5);
      checkPacking({b->as<float>(), byColumns ? 1 : columns, byColumns ? rows : 1, taps, depth, columns}, 1 + i % 3);
    }
  });
}

TEST(PackMatrix, LargeMatricesAreSharedByLanes) {
  RandomTensors random(51);
  const Ref<Tensor> b = random.floats({700, 200});
  checkPacking({b->as<float>(), 200, 1, 1, 700, 200}, 3);
  checkPacking({b->as<float>(), 1, 700, 1, 700, 200}, 3);
}

}  // namespace
}  // namespace max
