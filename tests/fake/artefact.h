// SPDX-License-Identifier: Apache-2.0
// What the fake compilers make and the fake drivers load: shared objects for the host that look like code for a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fake {

// Values of e_machine in ELF headers.
inline constexpr uint16_t kHostMachine = 62;
inline constexpr uint16_t kCudaMachine = 190;
inline constexpr uint16_t kAmdMachine = 224;

// The object with another machine in its header: a CUBIN or a code object.
std::string toBinary(std::string_view object, uint16_t machine);
// A text that carries the object in comments.
std::string toPtx(std::string_view object, std::string_view architecture);

// The object for the host; empty if `image` is neither a binary for `machine` nor (for CUDA) a text of toPtx.
std::string objectOf(const void* image, uint16_t machine);

}  // namespace fake
