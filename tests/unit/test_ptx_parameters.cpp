// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernel/ptx_parameters.h"

namespace max {
namespace {

using Sizes = std::vector<size_t>;

// As NVRTC writes it.
constexpr char kPtx[] = R"(
.version 8.8
.target sm_90
.address_size 64

	// .globl	add
.const .align 4 .b8 factors[64];

.visible .entry add(
	.param .u64 .ptr .align 1 add_param_0,
	.param .u64 add_param_1,
	.param .align 8 .b8 add_param_2[24],
	.param .f32 add_param_3,
	.param .u8 add_param_4
)
.maxntid 128, 1, 1
{
	ret;
}
	// .globl	add_twice
.visible .entry add_twice(
	.param .u32 add_twice_param_0
)
{
	ret;
}
.visible .entry nothing()
{
	ret;
}
.visible .entry bare
{
	ret;
}
)";

TEST(PtxParameters, AreRead) {
  EXPECT_EQ(ptxParameterSizes(kPtx, "add"), (Sizes{8, 8, 24, 4, 1}));
  EXPECT_EQ(ptxParameterSizes(kPtx, "add_twice"), (Sizes{4}));
  EXPECT_EQ(ptxParameterSizes(kPtx, "nothing"), Sizes{});
  EXPECT_EQ(ptxParameterSizes(kPtx, "bare"), Sizes{});
}

TEST(PtxParameters, AreUnknownWhereTheTextIsNotUnderstood) {
  EXPECT_EQ(ptxParameterSizes(kPtx, "ad"), std::nullopt);
  EXPECT_EQ(ptxParameterSizes(kPtx, "missing"), std::nullopt);
  EXPECT_EQ(ptxParameterSizes("", "add"), std::nullopt);
  for (const char* text : {".entry k(", ".entry k(.param)", ".entry k(.param .u64 a", ".entry k(.u64 a)",
                           ".entry k(.param .b8 a[99999999999])", ".entry k(.param .b8 a[])", ".entry k(.param .x64 a)",
                           ".entry k(.param .u64 a,,.param .u64 b)", ".entry"})
    EXPECT_EQ(ptxParameterSizes(text, "k"), std::nullopt) << text;
}

}  // namespace
}  // namespace max
