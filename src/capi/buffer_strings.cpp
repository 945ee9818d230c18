// SPDX-License-Identifier: Apache-2.0
// Buffers of strings.
#include <cstring>

#include "capi/buffer_arguments.h"
#include "capi/guard.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

std::vector<std::string_view> textsOf(const char* const* strings, const size_t* lengths, int64_t count) {
  if (count > 0) requireArgument(strings, "strings");
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < count; ++i) {
    const bool isGiven = strings[i] || (lengths && lengths[i] == 0);
    max::require(isGiven, MAX_STATUS_INVALID_ARGUMENT, "String ", i, " is NULL");
    texts.emplace_back(strings[i] ? strings[i] : "", lengths ? lengths[i] : std::strlen(strings[i]));
  }
  return texts;
}

std::vector<std::string_view> textsOf(const void* bytes, size_t byteCount, const int64_t* offsets, int64_t count) {
  if (byteCount > 0) requireArgument(bytes, "bytes");
  requireArgument(offsets, "offsets");
  const char* text = byteCount > 0 ? static_cast<const char*>(bytes) : "";
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i <= count; ++i) {
    const int64_t least = i > 0 ? offsets[i - 1] : 0;
    max::require(offsets[i] >= least && static_cast<uint64_t>(offsets[i]) <= byteCount, MAX_STATUS_OUT_OF_RANGE,
                 "Offset ", i, " of the strings is ", offsets[i], "; it must be between ", least, " and ", byteCount);
    if (i > 0) texts.emplace_back(text + least, static_cast<size_t>(offsets[i] - least));
  }
  return texts;
}

}  // namespace

MaxStatus maxBufferCreateStrings(MaxDevice* device, const char* const* strings, const size_t* lengths, int32_t rank,
                                 const int64_t* shape, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    const max::Shape dims = max::capi::readShape(rank, shape);
    const auto texts = textsOf(strings, lengths, dims.count());
    *outBuffer = max::makeStrings(max::capi::deviceFor(device)->defaultStream(), dims, texts).detach();
  });
}

MaxStatus maxBufferCreateStringsFromBytes(MaxDevice* device, const void* bytes, size_t byteCount,
                                          const int64_t* offsets, int32_t rank, const int64_t* shape,
                                          MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    const max::Shape dims = max::capi::readShape(rank, shape);
    const auto texts = textsOf(bytes, byteCount, offsets, dims.count());
    *outBuffer = max::makeStrings(max::capi::deviceFor(device)->defaultStream(), dims, texts).detach();
  });
}

MaxStatus maxBufferGetStrings(const MaxBuffer* buffer, int64_t first, int64_t count, const char** outStrings,
                              size_t* outLengths) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    max::requireStrings(*buffer, first, count);
    if (count > 0) requireArgument(outStrings, "outStrings");
    if (count > 0) requireArgument(outLengths, "outLengths");
    for (int64_t i = 0; i < count; ++i) {
      const std::string_view text = max::stringAt(*buffer, first + i);
      outStrings[i] = text.data();
      outLengths[i] = text.size();
    }
  });
}
