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

TEST(PackMatrix, TakesDataOfAnyAlignment) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(53);
    for (int i = 0; i < 30; ++i) {
      const int64_t depth = random.integer(1, 40), columns = random.integer(1, 110), taps = i % 3 == 0 ? 9 : 1;
      const int64_t rows = taps * depth;
      const Ref<Tensor> b = random.floats({rows, columns}), moved = unaligned(*b);
      const bool byColumns = i % 2 == 0;
      const auto packed = [&](const Tensor& from) {
        std::vector<float> result(static_cast<size_t>(packedCount(gemmTable(), rows, columns)), 7);
        const PackSource source{from.as<float>(), byColumns ? 1 : columns, byColumns ? rows : 1, taps, depth, columns};
        packMatrix(gemmTable(), source, result.data(), 2);
        return result;
      };
      EXPECT_EQ(packed(*moved), packed(*b)) << nameOf(target) << " case " << i;
    }
  });
}

// Several tasks for a lane, in which tiles of two heights lie behind each other.
TEST(Gemm, ManyRows) {
  forEachCpuTarget([](CpuTarget target) {
    SCOPED_TRACE(nameOf(target));
    RandomTensors random(71);
    const GemmTable& table = gemmTable();
    for (const int64_t depth : {0, 1, 5, 64})
      for (const int64_t rows : {301, 514, 1000}) {
        const int64_t columns = depth == 64 ? 150 : 37;
        const Ref<Tensor> a = random.floats({rows, depth}), b = random.floats({depth, columns}),
                          residual = random.floats({rows, columns});
        std::vector<float> packed(static_cast<size_t>(packedCount(table, depth, columns))),
            c(static_cast<size_t>(residual->count()));
        packMatrix(table, {b->as<float>(), columns, 1, 1, depth, columns}, packed.data(), 1);
        GemmOperands operands;
        operands.a = a->as<float>();
        operands.lda = depth;
        operands.b = packed.data();
        operands.c = c.data();
        operands.residual = residual->as<float>();
        operands.ldc = operands.ldr = columns;
        std::vector<double> sums(residual->as<float>(), residual->as<float>() + rows * columns);
        for (int64_t i = 0; i < rows * columns; ++i)
          for (int64_t k = 0; k < depth; ++k)
            sums[static_cast<size_t>(i)] +=
                double{a->as<float>()[i / columns * depth + k]} * double{b->as<float>()[k * columns + i % columns]};
        for (const int lanes : {1, 2, 3}) {
          std::fill(c.begin(), c.end(), 0.f);
          const Gemm gemm(rows, columns, 1, depth, {}, lanes);
          const Ref<Storage> scratch = allocateStorage(gemm.scratchBytes());
          gemm.run(operands, static_cast<std::byte*>(scratch->data()), lanes);
          for (size_t i = 0; i < c.size(); ++i)
            ASSERT_NEAR(double{c[i]}, sums[i], 1e-4)
                << rows << " x " << depth << ", " << lanes << " lanes, element " << i;
        }
      }
  });
}

// A lane that begins with more than others keeps them waiting: nine tasks of two lanes would be five and four.
TEST(Gemm, LanesBeginWithEqualParts) {
  struct Size {
    int64_t rows, depth, columns;
  };
  forEachCpuTarget([](CpuTarget target) {
    for (const Size& size : {Size{384, 768, 768}, {384, 768, 3072}}) {
      SCOPED_TRACE(std::string(nameOf(target)) + ": " + std::to_string(size.rows) + " x " +
                   std::to_string(size.columns));
      EXPECT_LE(Gemm(size.rows, size.columns, 1, size.depth, {}, 2).largestShare(), 1.03);
    }
  });
  EXPECT_EQ(Gemm(0, 384, 1, 384, {}, 2).largestShare(), 1);
  EXPECT_EQ(Gemm(384, 0, 1, 384, {}, 2).largestShare(), 1);
}

TEST(PackMatrix, LargeMatricesAreSharedByLanes) {
  RandomTensors random(51);
  const Ref<Tensor> b = random.floats({700, 200});
  checkPacking({b->as<float>(), 200, 1, 1, 700, 200}, 3);
  checkPacking({b->as<float>(), 1, 700, 1, 700, 200}, 3);
}

}  // namespace
}  // namespace max
