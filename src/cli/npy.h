// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, little-endian. Element types without a NumPy name are raw bytes
// ("V2" bfloat16, "V1" 8-bit floats and everything below 8 bits, one element per byte). Strings are "U".
#pragma once

#include <string>

#include "array.h"

namespace max::cli {

// `expected` is the type of raw bytes; all other files state their type. Fortran order is converted.
Array readNpy(const std::string& path, MaxDType expected);
void writeNpy(const std::string& path, const Array& array);

// The header's text for an array, for example "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
std::string npyHeader(const Array& array);

}  // namespace max::cli
