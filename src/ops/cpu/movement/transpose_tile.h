// SPDX-License-Identifier: Apache-2.0
// The transpose of a matrix of elements of 1, 2, 4 or 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace max {

// target[column][row] = source[row][column]; steps in bytes from row to row of the source and from
// column to column of the target. Elements lie together along the other axis. `streams`: stored past the caches
// where lines allow it; hwy::FlushStream ends such stores.
void transposeTiles(int64_t elementSize, const std::byte* source, int64_t sourceStep, std::byte* target,
                    int64_t targetStep, int64_t rows, int64_t columns, bool streams = false);
// The same of floats, with steps in floats.
void transposeFloats(const float* source, int64_t sourceStep, float* target, int64_t targetStep, int64_t rows,
                     int64_t columns);
// [count][rows][columns] to [count][columns][rows], of floats.
void transposeMatrices(const float* source, int64_t count, int64_t rows, int64_t columns, float* target);

}  // namespace max
