// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <optional>
#include <string>

#include "base/active_call.h"
#include "kernel/amd_parameters.h"
#include "kernel/compiler.h"
#include "kernel/gpu_compilers.h"
#include "kernel/module_registry.h"
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

// MessagePack of {"amdhsa.kernels": [{".args": [...], ".name": "add", ".x": -1.0}], "other": [nil]}.
std::string amdMetadata() {
  const auto text = [](std::string_view value) { return static_cast<char>(0xa0 + value.size()) + std::string(value); };
  const auto argument = [&](const std::string& size, std::string_view kind) {
    return "\x82" + text(".size") + size + text(".value_kind") + text(kind);
  };
  return "\x82" + text("amdhsa.kernels") + "\x91\x83" + text(".args") + "\x93" + argument("\x08", "global_buffer") +
         argument(std::string("\xcd\x01\x00", 3), "by_value") + argument("\x08", "hidden_offset_x") + text(".name") +
         text("add") + text(".x") + std::string("\xca\xbf\x80\0\0", 5) + text("other") + "\x91\xc0";
}

std::string elfWithNote(const std::string& metadata) {
  const std::string owner("AMDGPU\0\0", 8);
  const Elf64_Nhdr note = {7, static_cast<Elf64_Word>(metadata.size()), 32};
  Elf64_Shdr section{};
  section.sh_type = SHT_NOTE;
  section.sh_offset = sizeof(Elf64_Ehdr) + sizeof section;
  section.sh_size = sizeof note + owner.size() + (metadata.size() + 3) / 4 * 4;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 224;
  header.e_shoff = sizeof header;
  header.e_shnum = 1;
  header.e_shentsize = sizeof section;
  std::string file(section.sh_offset + section.sh_size, '\0');
  std::memcpy(&file[0], &header, sizeof header);
  std::memcpy(&file[sizeof header], &section, sizeof section);
  std::memcpy(&file[section.sh_offset], &note, sizeof note);
  file.replace(section.sh_offset + sizeof note, owner.size(), owner);
  file.replace(section.sh_offset + sizeof note + owner.size(), metadata.size(), metadata);
  return file;
}

TEST(AmdParameters, AreRead) {
  const std::string file = elfWithNote(amdMetadata());
  EXPECT_EQ(amdParameterSizes(file, "add"), (Sizes{8, 256}));
  EXPECT_EQ(amdParameterSizes(file, "sub"), std::nullopt);
  EXPECT_EQ(amdParameterSizes("", "add"), std::nullopt);
  EXPECT_EQ(amdParameterSizes(kPtx, "add"), std::nullopt);
}

// Whatever is cut off or changed: nothing is read that is not there. Sanitizers look on.
TEST(AmdParameters, OfDamagedCode) {
  const std::string file = elfWithNote(amdMetadata());
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string part(file, 0, size);
    static_cast<void>(amdParameterSizes(part, "add"));
  }
  for (size_t at = 0; at < file.size(); ++at)
    for (const unsigned char value : {0x00, 0x7f, 0xdd, 0xdf, 0xff}) {
      std::string changed = file;
      changed[at] = static_cast<char>(value);
      static_cast<void>(amdParameterSizes(changed, "add"));
    }
}

std::string bytesOf(std::initializer_list<uint64_t> numbers) {
  std::string bytes;
  for (const uint64_t number : numbers) bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  return bytes;
}

// Drivers are not told the size of what they load.
// Files whose parts point at the same bytes again and again, or that end in blanks: time by the square of their size
// would be minutes.
TEST(Parameters, OfHostileFilesAreReadInTime) {
  constexpr size_t kSize = 4 << 20;
  constexpr int64_t kMost = 5'000'000'000;  // what is promised for a load
  const int64_t start = steadyNanoseconds();
  std::string entries, opened, words = ".visible .entry k(.param";
  while (entries.size() < kSize) entries += ".entry a ";
  while (opened.size() < kSize) opened += ".entry k(";
  while (words.size() < kSize) words += " .a";
  EXPECT_EQ(ptxParameterSizes(entries + std::string(kSize, ' '), "k"), std::nullopt);
  EXPECT_EQ(ptxParameterSizes(opened, "k"), std::nullopt);
  EXPECT_EQ(ptxParameterSizes(words + std::string(kSize, ' ') + ")", "k"), std::nullopt);
  EXPECT_EQ(ptxParameterSizes(".entry k(" + std::string(kSize, ',') + std::string(kSize, ' ') + ")", "k"),
            std::nullopt);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header;
  header.e_shnum = 60000;
  Elf64_Shdr section{};
  section.sh_type = SHT_NOTE;
  section.sh_size = 8 << 20;
  std::string code(reinterpret_cast<const char*>(&header), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) code.append(reinterpret_cast<const char*>(&section), sizeof section);
  EXPECT_EQ(amdParameterSizes(code + std::string(section.sh_size, '\0'), "k"), std::nullopt);
  EXPECT_LT(steadyNanoseconds() - start, kMost);
}

TEST(GpuCode, IsWhole) {
  const std::string fat = bytesOf({0x00100001BA55ED50, 16, 1, 2});
  EXPECT_EQ(kernelBackend("cuda").kindOf(fat), MAX_ARTIFACT_KIND_CUBIN);
  for (size_t size = 0; size < fat.size(); ++size)
    EXPECT_THROW(kernelBackend("cuda").kindOf(fat.substr(0, size)), Error);
  EXPECT_THROW(kernelBackend("cuda").kindOf(bytesOf({0x00100001BA55ED50, ~uint64_t{0}, 1, 2})), Error);

  const std::string bundle = "__CLANG_OFFLOAD_BUNDLE__" + bytesOf({2, 80, 8, 4}) + "host" + bytesOf({88, 8, 3}) +
                             "hip" + std::string(8, 'x') + std::string(10, 'y');
  EXPECT_EQ(kernelBackend("hip").kindOf(bundle), MAX_ARTIFACT_KIND_CODE_OBJECT);
  for (size_t size = 0; size < 96; ++size)
    EXPECT_THROW(kernelBackend("hip").kindOf(bundle.substr(0, size)), Error) << size;
  EXPECT_THROW(kernelBackend("cuda").kindOf(bundle), Error);
  EXPECT_THROW(kernelBackend("hip").kindOf(fat), Error);
}

constexpr char kSource[] =
    "struct Point { double x; float y; signed char z; };\n"
    "extern \"C\" __global__ void many(double* a, signed char b, unsigned short c, float d, Point e) { *a = b + c + d "
    "+ e.x; }";

// What the vendors' compilers really write.
class VendorCode : public testing::Test {
 protected:
  // The compiler of the tests' Python packages, where no other is named.
  static void SetUpTestSuite() {
    glob_t found{};
    const std::string pattern =
        MAX_TEST_DATA "/../../build/venv/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so.*";
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) setenv("MAX_NVRTC_LIBRARY", found.gl_pathv[0], 0);
    globfree(&found);
  }
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the vendors' libraries are not made for sanitizers";
#endif
  }

  // None if the compiler is not there.
  static std::optional<std::string> compile(const KernelCompiler& (*compiler)(), const char* architecture,
                                            MaxArtifactKind kind) {
    KernelSource source;
    source.text = kSource;
    source.architecture = architecture;
    try {
      return compiler().compile(source, kind).bytes;
    } catch (const Error& error) {
      if (error.status() != MAX_STATUS_UNAVAILABLE) throw;
      return std::nullopt;
    }
  }
};

TEST_F(VendorCode, OfNvidiaTellsAboutParameters) {
  const std::optional<std::string> ptx = compile(nvrtcCompiler, "sm_80", MAX_ARTIFACT_KIND_PTX);
  if (!ptx) GTEST_SKIP() << "no NVRTC";
  EXPECT_EQ(ptxParameterSizes(*ptx, "many"), (Sizes{8, 1, 2, 4, 16}));
  EXPECT_EQ(kernelBackend("cuda").kindOf(*ptx), MAX_ARTIFACT_KIND_PTX);
  const std::string cubin = compile(nvrtcCompiler, "sm_80", MAX_ARTIFACT_KIND_CUBIN).value();
  EXPECT_EQ(kernelBackend("cuda").kindOf(cubin), MAX_ARTIFACT_KIND_CUBIN);
  EXPECT_THROW(kernelBackend("cuda").kindOf(cubin.substr(0, cubin.size() / 2)), Error);
  EXPECT_THROW(kernelBackend("hip").kindOf(cubin), Error);
}

TEST_F(VendorCode, OfAmdTellsAboutParameters) {
  const std::optional<std::string> code = compile(hiprtcCompiler, "gfx90a", MAX_ARTIFACT_KIND_CODE_OBJECT);
  if (!code) GTEST_SKIP() << "no HIPRTC";
  EXPECT_EQ(amdParameterSizes(*code, "many"), (Sizes{8, 1, 2, 4, 16}));
  EXPECT_EQ(kernelBackend("hip").kindOf(*code), MAX_ARTIFACT_KIND_CODE_OBJECT);
  EXPECT_THROW(kernelBackend("hip").kindOf(code->substr(0, code->size() / 2)), Error);
  EXPECT_THROW(kernelBackend("cuda").kindOf(*code), Error);
}

}  // namespace
}  // namespace max
