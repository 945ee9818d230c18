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

}  // namespace

MaxStatus maxBufferCreateStrings(MaxDevice* device, const char* const* strings, const size_t* lengths, int32_t rank,
                                 const int64_t* shape, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(device, "device");
    const max::Shape dims = max::capi::readShape(rank, shape);
    const auto texts = textsOf(strings, lengths, dims.count());
    *outBuffer = max::makeStrings(device->defaultStream(), dims, texts).detach();
  });
}

MaxStatus maxBufferGetString(const MaxBuffer* buffer, int64_t index, const char** outString, size_t* outLength) {
  return guard([&] {
    clearOutput(outString, "outString");
    requireArgument(outLength, "outLength");
    requireArgument(buffer, "buffer");
    const std::string_view text = max::stringAt(*buffer, index);
    *outString = text.data();
    *outLength = text.size();
  });
}
