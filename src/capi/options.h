// SPDX-License-Identifier: Apache-2.0
// Structures that carry their size: options (in) and reports (out).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "field_ends.h"

namespace max::capi {

// Larger sizes are taken for uninitialised memory.
inline constexpr size_t kLargestStruct = 4096;

inline size_t checkedStructSize(const void* structure, const char* type) {
  size_t size;
  std::memcpy(&size, structure, sizeof size);
  require(size >= sizeof size && size <= kLargestStruct, MAX_STATUS_INVALID_ARGUMENT, "structSize of ", type, " is ",
          size, "; use its INIT macro");
  return size;
}

// A smaller size than this library's must be that of an older version, which ends at a field boundary.
template <class Struct>
void requireWholeFields(size_t size, const char* type) {
  static_assert(std::end(kFieldEnds<Struct>)[-1].end == sizeof(Struct), "The table of fields is incomplete");
  for (const FieldEnd& field : kFieldEnds<Struct>) {
    if (field.end == size) return;
    if (field.end > size)
      invalidArgument("structSize of ", type, " is ", size, ", which ends within '", field.name,
                      "'; use its INIT macro");
  }
}

// A copy of the caller's options, which may be older (shorter) or newer (longer) than this library's.
// Missing fields are zero, the default; fields that this library does not know must be zero.
template <class Options>
Options readOptions(const Options* options, const char* type) {
  Options result{};
  result.structSize = sizeof result;
  if (!options) return result;
  const size_t size = checkedStructSize(options, type);
  if (size < sizeof result) requireWholeFields<Options>(size, type);
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  for (size_t i = sizeof result; i < size; ++i)
    require(bytes[i] == 0, MAX_STATUS_UNIMPLEMENTED, "Byte ", i, " of ", type,
            " is set; this is version " MAX_VERSION_STRING " of the library, which supports ", sizeof result, " bytes");
  std::memcpy(&result, options, std::min(size, sizeof result));
  result.structSize = sizeof result;
  return result;
}

// Fills the caller's report as far as it reaches; fields that this library does not know become zero.
template <class Report>
void writeReport(Report* target, Report report, const char* type) {
  const size_t size = checkedStructSize(target, type);
  if (size < sizeof report) requireWholeFields<Report>(size, type);
  report.structSize = size;
  std::memset(target, 0, size);
  std::memcpy(target, &report, std::min(size, sizeof report));
}

inline void requireReserved(int32_t reserved, const char* type) {
  require(reserved == 0, MAX_STATUS_UNIMPLEMENTED, "reserved of ", type, " is ", reserved, "; it must be zero");
}

}  // namespace max::capi
