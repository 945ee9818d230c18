// SPDX-License-Identifier: Apache-2.0
// Element types in kernels.
#pragma once

#include <cstddef>
#include <string>

#include "base/dtype.h"

namespace max {

struct KernelType {
  const char* element = nullptr;      // in memory
  const char* accumulator = nullptr;  // what sums are made in
};

// Of the numbers that kernels calculate with; without names for others.
KernelType kernelType(DType dtype);

// What kernels of one type of numbers begin with: `Element`, in memory, `Sum`, its accumulator, and the loops of
// elementSource().
std::string typesSource(DType dtype);

// What follows typesSource() where kernels work on pieces of 16 bytes, PIECE elements: takePiece() and givePiece(), of
// which `valid` elements count, and which are whole where `isWhole`: all of them count, and lie at a multiple of 16.
const char* pieceSource();

// What kernels that only move elements begin with: `Element`, and EACH(i, count), the loop of a thread over its share
// of `count` elements. EACH_ROW(row, count) is that of a block over its rows.
std::string movedSource(DType dtype);

// LEAST and LARGEST, the ends of a type as `Sum`.
std::string limitsSource(DType dtype);

// Whether kernels can move it: elements of whole bytes that point at nothing.
bool isMovable(DType dtype);

// For elements of 1 to 16 bytes that are only moved.
const char* movedType(size_t bytes);

}  // namespace max
