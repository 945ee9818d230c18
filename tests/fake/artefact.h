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

// The object with another machine in its header, and its flags: a CUBIN or a code object, whose flags are the lanes of
// a wavefront.
std::string toBinary(std::string_view object, uint16_t machine, uint32_t flags = 0);
// The flags of a CUBIN: the chip, "a", which is for this chip alone, and the compiler's version (12040 is CUDA's 12.4).
uint32_t cubinFlags(std::string_view architecture, int version);
// The lanes of the warps that code is made for.
unsigned lanesOf(const void* image, uint16_t machine);
// Whether code runs on a chip (10 * major + minor of its capability); PTX runs on all.
bool isForChip(const void* image, int chip);
// Whether a driver of this version loads code of its compiler: PTX of none that is newer, CUBINs of no later major one.
bool isForDriver(const void* image, int version);
// A text that carries the object in comments.
std::string toPtx(std::string_view object, std::string_view architecture, int version);

// The object for the host; empty if `image` is neither a binary for `machine` nor (for CUDA) a text of toPtx.
std::string objectOf(const void* image, uint16_t machine);

}  // namespace fake
