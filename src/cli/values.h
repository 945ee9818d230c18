// SPDX-License-Identifier: Apache-2.0
// Printing of sequences, optionals and maps.
#pragma once

#include <max/value.h>

#include <string>

#include "output.h"

namespace max::cli {

// "tensor", "sequence", "optional" or "map".
const char* kindName(MaxValueKind kind);

// The parts of a value: a list for a sequence, {"keys", "values"} for a map, null for an optional without a value.
// A tensor has a type, a shape and its first elements.
Json valueJson(const MaxValue* value);
// On one line.
std::string valueText(const MaxValue* value);

}  // namespace max::cli
