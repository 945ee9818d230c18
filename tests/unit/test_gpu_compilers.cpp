// SPDX-License-Identifier: Apache-2.0
// The vendors' own compilers: NVRTC and HIPRTC, which need no GPU. Skipped where they are not installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/error.h"
#include "kernel/cache.h"
#include "kernel/cached_compile.h"
#include "kernel/gpu_compilers.h"
#include "vendor_compilers.h"

namespace max {
namespace {

struct Vendor {
  const char* name;
  const KernelCompiler& (*compiler)();
  const char* architecture;
  MaxArtifactKind executable;
};
void PrintTo(const Vendor& vendor, std::ostream* out) { *out << vendor.name; }

KernelSource sourceOf(const std::string& text, const std::string& architecture) {
  KernelSource source;
  source.name = "my kernels.cu";
  source.text = text;
  source.architecture = architecture;
  return source;
}

// The status and message of what `work` throws.
Error errorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {MAX_STATUS_OK, ""};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool isElf(std::string_view bytes) { return bytes.starts_with("\177ELF"); }

class Compilers : public testing::TestWithParam<Vendor> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the vendors' libraries are not made for sanitizers";
    nameNvrtc();
    try {
      compiler_ = &GetParam().compiler();
      static_cast<void>(compiler_->identity(sourceOf("", GetParam().architecture)));
    } catch (const Error& error) {
      GTEST_SKIP() << error.message();
    }
  }

  std::string compile(const KernelSource& source) const {
    return compiler_->compile(source, GetParam().executable).bytes;
  }
  std::string compile(const std::string& text) const { return compile(sourceOf(text, GetParam().architecture)); }
  Error errorFor(const KernelSource& source) const {
    return errorOf([&] { compile(source); });
  }

  const KernelCompiler* compiler_ = nullptr;
};

constexpr const char* kAdd = R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
})";

TEST_P(Compilers, MakesCodeForAChip) {
  const KernelSource source = sourceOf(kAdd, GetParam().architecture);
  EXPECT_EQ(compiler_->executableKind(source), GetParam().executable);
  const CompiledCode code = compiler_->compile(source, GetParam().executable);
  EXPECT_TRUE(isElf(code.bytes));
  EXPECT_TRUE(contains(code.bytes, "add"));
  EXPECT_EQ(code.log, "");
  EXPECT_EQ(compile(source), code.bytes);  // the same each time
}

// One source with all that the dialect promises.
TEST_P(Compilers, KnowsTheDialect) {
  EXPECT_NE(compile(R"(
#include <assert.h>
#include <cstdint>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <hip/hip_runtime.h>
__constant__ float table[16];
__device__ int total;
template <class T> __device__ T twice(T x) { return x + x; }
extern "C" __global__ __launch_bounds__(256) void all(const __half* a, __nv_bfloat16* b, float* c, double* d, uint64_t n) {
  extern __shared__ float shared[];
  __shared__ float tile[16][17];
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  float x = __half2float(a[i]) + __bfloat162float(b[i]) + table[i & 15] + tile[i & 15][i & 15];
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  x += __shfl_sync(0xffffffffu, x, 0) + __shfl_up_sync(0xffffffffu, x, 1) + __shfl_xor_sync(0xffffffffu, x, 1, 16);
  if (__any_sync(0xffffffffu, x > 0) && __all_sync(0xffffffffu, x < 9)) c[1] = __popcll(__ballot_sync(0xffffffffu, x > 1));
  shared[threadIdx.x] = __hfma(a[0], a[1], a[2]) < a[3] ? hsqrt(a[4]) : a[5] * a[6];
  b[i] = b[i] + __float2bfloat16(x) * b[2];
  b[3] += b[4];
  __syncthreads();
  __syncwarp();
  __threadfence();
  atomicAdd(&total, 1);
  atomicAdd(c, twice(shared[0]) + rsqrtf(x) + __expf(x) + fminf(x, 2.0f) + sinf(x));
  atomicMax(&total, i);
  atomicCAS(&total, 1, 2);
  d[0] = sqrt(d[1]) + (double)n + (double)(std::int64_t)i + __ldg(d + 2);
  assert(i >= 0);
  if (i == 0) printf("%d %f\n", i, x);
}
)"),
            "");
}

// What some chips have instructions for and others do not.
TEST_P(Compilers, KnowsWarpsAndHalvesOnAllChips) {
  const std::string text = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void all(int* out, const unsigned* masks, __half2* a, __nv_bfloat162* b) {
  const unsigned mask = masks[threadIdx.x];
  { const int warpSize = 5; out[1] = warpSize; }
  int same = 0, v = out[threadIdx.x];
  v += __shfl_sync(mask, threadIdx.x, 3, 16) + (int)__shfl_xor_sync(mask, 1.5 * v, 5) + (int)__shfl_up_sync(mask, 7ll, 2);
  v += __ballot_sync(mask, v) + __any_sync(mask, v > 1) + __all_sync(mask, v > 2) + __activemask() + warpSize;
  v += __reduce_add_sync(mask, v) + __reduce_min_sync(mask, 3u) + __reduce_max_sync(mask, v);
  v += __reduce_and_sync(mask, 3u) + __reduce_or_sync(mask, 4u) + __reduce_xor_sync(mask, 5u);
  v += __match_any_sync(mask, v) + __match_any_sync(mask, 0.5f) + __match_all_sync(mask, 2ull, &same) + same;
  v += __dp4a(v, v, 1) + __dp4a(5u, 6u, 7u) + __ffsll(8ll) + atomicCAS((unsigned short*)out, (unsigned short)1, (unsigned short)2);
  __syncwarp(mask);
  out[threadIdx.x] = v;
  a[0] = __hfma2(a[1], a[2], a[3]) + a[4] * a[5] - __hmax2(a[6], a[7]) / __shfl_down_sync(mask, a[8], 1);
  b[0] = __hfma2(b[1], b[2], b[3]) + b[4] * b[5] - __hmin2(b[6], b[7]) / __shfl_sync(mask, b[8], 1);
  a[9].x = __hmin(a[9].x, __hadd(a[9].y, __float2half(0.5f)));
  b[9].x = __hmax(b[9].x, __nv_bfloat16(v)) * __float2bfloat16(0.5f);
  b[10] = __floats2bfloat162_rn(1.0f, __low2float(__ldg(a + 10))) + __ldg(b + 11);
}
)";
  const bool isCuda = GetParam().executable == MAX_ARTIFACT_KIND_CUBIN;
  for (const char* chip : isCuda ? std::array{"sm_75", "sm_80", "sm_90"} : std::array{"gfx906", "gfx90a", "gfx1030"})
    EXPECT_NE(compile(sourceOf(text, chip)), "") << chip;
}

TEST_P(Compilers, ErrorsHaveTheLogAndTheSourcesLines) {
  const Error error = errorFor(sourceOf("\n\n__global__ void f() { oops(); }\n", GetParam().architecture));
  EXPECT_EQ(error.status(), MAX_STATUS_INVALID_ARGUMENT);
  const std::string summary = error.message().substr(0, error.message().find('\n'));
  EXPECT_TRUE(summary.starts_with("my kernels.cu does not compile: my kernels.cu")) << summary;
  EXPECT_TRUE(contains(summary, "oops")) << summary;
  EXPECT_TRUE(contains(error.message(), "my kernels.cu(3)") || contains(error.message(), "my kernels.cu:3:"))
      << error.message();
}

TEST_P(Compilers, TakesMacrosHeadersAndFlags) {
  KernelSource source = sourceOf(R"(
#include "folder/mine.h"
#include <cuda_fp16.h>
#if FACTOR != 3 || !defined(OTHER) || MINE != 4 || !defined(FLAG)
#error "something is missing"
#endif
extern "C" __global__ void f(float* x) { *x = FACTOR; })",
                                 GetParam().architecture);
  EXPECT_EQ(errorFor(source).status(), MAX_STATUS_INVALID_ARGUMENT);
  source.defines = {{"FACTOR", "(1 + 2)"}, {"OTHER", ""}};
  source.headers = {{"folder/mine.h", "#define MINE 4\n"}, {"cuda_fp16.h", "#pragma once\n"}};
  source.flags = {"-DFLAG"};
  EXPECT_NE(compile(source), "");
}

TEST_P(Compilers, FastMathAndLineNumbersChangeTheCode) {
  KernelSource source =
      sourceOf("extern \"C\" __global__ void f(float* x) { *x = sinf(*x) / x[1]; }", GetParam().architecture);
  const std::string exact = compile(source);
  source.fastMath = true;
  const std::string fast = compile(source);
  EXPECT_NE(fast, exact);
  source.lineInfo = true;
  EXPECT_GT(compile(source).size(), fast.size());
}

TEST_P(Compilers, RefusesWhatItDoesNotKnow) {
  for (const char* architecture : {"", "sm", "sm_", "sm_9x", "compute_", "gfx", "gfx942x", "gfx90a:foo+",
                                   "gfx90a:", "sm_90 ", "sm_1", "sm_99999999999"}) {
    const Error error = errorFor(sourceOf(kAdd, architecture));
    EXPECT_TRUE(error.status() == MAX_STATUS_INVALID_ARGUMENT || error.status() == MAX_STATUS_UNIMPLEMENTED)
        << architecture << ": " << error.message();
    EXPECT_TRUE(contains(error.message(), concat("'", architecture, "'"))) << error.message();
  }
  KernelSource wrong = sourceOf(kAdd, GetParam().architecture);
  wrong.flags = {"--no-such-option"};
  EXPECT_EQ(errorFor(wrong).status(), MAX_STATUS_INVALID_ARGUMENT);
  const Error kind =
      errorOf([&] { compiler_->compile(sourceOf(kAdd, GetParam().architecture), MAX_ARTIFACT_KIND_SHARED_OBJECT); });
  EXPECT_EQ(kind.status(), MAX_STATUS_UNIMPLEMENTED);
  EXPECT_TRUE(contains(kind.message(), "shared object")) << kind.message();
}

// As another process finds it on disk.
TEST_P(Compilers, AWarmHitTakesLessThanAMillisecond) {
  std::string folder = (std::filesystem::temp_directory_path() / "max-compile-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const KernelSource source = sourceOf(kAdd, GetParam().architecture);
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) {
    CompileCache cache(folder);
    const auto start = std::chrono::steady_clock::now();
    const CompiledCode code = compileCached(cache, *compiler_, source, GetParam().executable);
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
    EXPECT_TRUE(isElf(code.bytes));
  }
  EXPECT_LE(best, std::chrono::milliseconds(1));
  RecordProperty("nanoseconds", static_cast<int>(best.count()));
  std::filesystem::remove_all(folder);
}

TEST_P(Compilers, ThreadsMayCompileAtTheSameTime) {
  const std::string expected = compile(kAdd);
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { equal += compile(kAdd) == expected ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 4);
}

INSTANTIATE_TEST_SUITE_P(Vendors, Compilers,
                         testing::Values(Vendor{"cuda", nvrtcCompiler, "sm_90", MAX_ARTIFACT_KIND_CUBIN},
                                         Vendor{"hip", hiprtcCompiler, "gfx90a", MAX_ARTIFACT_KIND_CODE_OBJECT}),
                         [](const auto& row) { return std::string(row.param.name); });

// The compiler, or NULL where it cannot be opened.
const KernelCompiler* openOrSkip(const KernelCompiler& (*open)(), const char* architecture) {
  nameNvrtc();
  try {
    if (kSanitized) return nullptr;
    static_cast<void>(open().identity(sourceOf("", architecture)));
    return &open();
  } catch (const Error&) {
    return nullptr;
  }
}

TEST(Nvrtc, MakesPtxAndCubins) {
  const KernelCompiler* compiler = openOrSkip(nvrtcCompiler, "sm_90");
  if (!compiler) GTEST_SKIP() << "no NVRTC";
  for (const char* chip : {"80", "90a", "120"}) {
    const KernelSource source = sourceOf(kAdd, concat("sm_", chip));
    const std::string ptx = compiler->compile(source, MAX_ARTIFACT_KIND_PTX).bytes;
    EXPECT_TRUE(contains(ptx, concat(".target sm_", chip, "\n"))) << ptx.substr(0, 400);
    EXPECT_TRUE(contains(ptx, ".visible .entry add("));
    EXPECT_EQ(ptx.find('\0'), std::string::npos);
    EXPECT_TRUE(isElf(compiler->compile(source, MAX_ARTIFACT_KIND_CUBIN).bytes));
  }
  KernelSource source = sourceOf(kAdd, "sm_80");
  source.registerLimit = 16;
  EXPECT_TRUE(contains(compiler->compile(source, MAX_ARTIFACT_KIND_PTX).bytes, ".maxnreg 16") ||
              isElf(compiler->compile(source, MAX_ARTIFACT_KIND_CUBIN).bytes));
}

constexpr const char* kPairs = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(__half2* a) { a[0] = __hfma2(a[1], a[2], a[3]); }
extern "C" __global__ void sums(half2* a) { a[0] = a[1] * a[2] + a[3]; }
extern "C" __global__ void bfloats(__nv_bfloat162* a) { a[0] = __hfma2(a[1], a[2], a[3]); a[4] += a[5]; }
)";

int countOf(std::string_view text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Nvrtc, PairsTakeOneInstruction) {
  const KernelCompiler* compiler = openOrSkip(nvrtcCompiler, "sm_90");
  if (!compiler) GTEST_SKIP() << "no NVRTC";
  const auto ptxFor = [&](const char* chip) {
    return compiler->compile(sourceOf(kPairs, chip), MAX_ARTIFACT_KIND_PTX).bytes;
  };
  const std::string newest = ptxFor("sm_90"), newer = ptxFor("sm_80"), old = ptxFor("sm_75");
  for (const std::string& ptx : {newest, newer, old}) {
    for (const char* instruction : {"fma.rn.f16x2", "mul.rn.f16x2", "add.rn.f16x2"})
      EXPECT_EQ(countOf(ptx, instruction), 1) << ptx;
    EXPECT_FALSE(contains(ptx, "cvt.f32.f16")) << ptx;
  }
  EXPECT_EQ(countOf(newest, "fma.rn.bf16x2"), 1);
  EXPECT_EQ(countOf(newest, "add.rn.bf16x2"), 1);
  EXPECT_EQ(countOf(newer, "fma.rn.bf16x2"), 2) << newer;  // a sum is a * 1 + b
  EXPECT_FALSE(contains(old, "bf16x2"));
}

TEST(Nvrtc, ChipsThatCanReduceAWarp) {
  const KernelCompiler* compiler = openOrSkip(nvrtcCompiler, "sm_90");
  if (!compiler) GTEST_SKIP() << "no NVRTC";
  const std::string text =
      "extern \"C\" __global__ void f(int* a) { *a = __reduce_add_sync(~0u, a[1]) + __match_any_sync(~0u, a[2]); }";
  for (const char* chip : {"sm_75", "sm_80"}) {
    const std::string ptx = compiler->compile(sourceOf(text, chip), MAX_ARTIFACT_KIND_PTX).bytes;
    EXPECT_EQ(contains(ptx, "redux.sync"), std::string_view(chip) == "sm_80") << ptx;
    EXPECT_TRUE(contains(ptx, "match.any.sync")) << ptx;
  }
}

TEST(Nvrtc, NamesChipsExactly) {
  const KernelCompiler* compiler = openOrSkip(nvrtcCompiler, "sm_90");
  if (!compiler) GTEST_SKIP() << "no NVRTC";
  for (const char* chip : {"sm_80", "sm_90a", "compute_90", "sm_999"})
    EXPECT_EQ(compiler->exactArchitecture(sourceOf("", chip)), chip);
  for (const char* chip : {"sm_90", "sm_120"}) {
    const std::string exact = compiler->exactArchitecture(sourceOf("", chip));
    EXPECT_EQ(exact, concat(chip, "a"));
    EXPECT_TRUE(isElf(compiler->compile(sourceOf(kAdd, exact), MAX_ARTIFACT_KIND_CUBIN).bytes));
  }
}

TEST(Nvrtc, ChipsItDoesNotKnowGetPtx) {
  const KernelCompiler* compiler = openOrSkip(nvrtcCompiler, "sm_90");
  if (!compiler) GTEST_SKIP() << "no NVRTC";
  const KernelSource newer = sourceOf(kAdd, "sm_999"), older = sourceOf(kAdd, "sm_20");
  EXPECT_EQ(compiler->executableKind(newer), MAX_ARTIFACT_KIND_PTX);
  EXPECT_TRUE(contains(compiler->compile(newer, MAX_ARTIFACT_KIND_PTX).bytes, ".target sm_"));
  EXPECT_EQ(compiler->executableKind(sourceOf(kAdd, "compute_90")), MAX_ARTIFACT_KIND_PTX);
  for (const KernelSource& source : {newer, older}) {
    const Error error = errorOf([&] { compiler->compile(source, MAX_ARTIFACT_KIND_CUBIN); });
    EXPECT_EQ(error.status(), MAX_STATUS_UNIMPLEMENTED);
    EXPECT_TRUE(contains(error.message(), source.architecture) && contains(error.message(), "sm_90"))
        << error.message();
  }
  EXPECT_EQ(errorOf([&] { compiler->compile(older, MAX_ARTIFACT_KIND_PTX); }).status(), MAX_STATUS_UNIMPLEMENTED);
}

TEST(Hip, MakesAssemblyAndIntermediateCode) {
  const KernelCompiler* compiler = openOrSkip(hiprtcCompiler, "gfx90a");
  if (!compiler) GTEST_SKIP() << "no HIPRTC";
  for (const char* chip : {"gfx90a:sramecc+:xnack-", "gfx1030"}) {
    const KernelSource source = sourceOf(kAdd, chip);
    EXPECT_TRUE(isElf(compiler->compile(source, MAX_ARTIFACT_KIND_CODE_OBJECT).bytes));
    const std::string assembly = compiler->compile(source, MAX_ARTIFACT_KIND_ASSEMBLY).bytes;
    EXPECT_TRUE(contains(assembly, "add:") && contains(assembly, "s_endpgm")) << assembly.substr(0, 400);
    const std::string llvm = compiler->compile(source, MAX_ARTIFACT_KIND_LLVM_IR).bytes;
    EXPECT_TRUE(contains(llvm, "amdgpu_kernel void @add(") && contains(llvm, "fadd")) << llvm.substr(0, 400);
  }
}

TEST(Hip, PairsTakeOneInstruction) {
  const KernelCompiler* compiler = openOrSkip(hiprtcCompiler, "gfx90a");
  if (!compiler) GTEST_SKIP() << "no HIPRTC";
  for (const char* chip : {"gfx90a", "gfx1030"}) {
    const std::string code = compiler->compile(sourceOf(kPairs, chip), MAX_ARTIFACT_KIND_ASSEMBLY).bytes;
    for (const char* instruction : {"v_pk_fma_f16", "v_pk_mul_f16", "v_pk_add_f16"})
      EXPECT_EQ(countOf(code, instruction), 1) << chip << ' ' << instruction;
  }
}

// HIPRTC itself would end the process.
TEST(Hip, RefusesChipsItDoesNotKnow) {
  const KernelCompiler* compiler = openOrSkip(hiprtcCompiler, "gfx90a");
  if (!compiler) GTEST_SKIP() << "no HIPRTC";
  for (const char* chip : {"gfx1", "gfx9999", "gfx1030:xnack+"}) {
    for (const MaxArtifactKind kind : {MAX_ARTIFACT_KIND_CODE_OBJECT, MAX_ARTIFACT_KIND_LLVM_IR}) {
      const Error error = errorOf([&] { compiler->compile(sourceOf(kAdd, chip), kind); });
      EXPECT_EQ(error.status(), MAX_STATUS_UNIMPLEMENTED);
      EXPECT_TRUE(contains(error.message(), chip) && contains(error.message(), "gfx90a")) << error.message();
    }
  }
  const Error wrong = errorOf([&] { compiler->compile(sourceOf("oops", "gfx90a"), MAX_ARTIFACT_KIND_LLVM_IR); });
  EXPECT_EQ(wrong.status(), MAX_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(wrong.message(), "my kernels.cu:1:")) << wrong.message();
  KernelSource limited = sourceOf(kAdd, "gfx90a");
  limited.registerLimit = 32;
  EXPECT_EQ(errorOf([&] { compiler->compile(limited, MAX_ARTIFACT_KIND_CODE_OBJECT); }).status(),
            MAX_STATUS_UNIMPLEMENTED);
  for (const char* flag : {"--offload-arch=gfx942", "-mcpu=gfx942", "--gpu-architecture=gfx942", "-march"}) {
    KernelSource other = sourceOf(kAdd, "gfx90a");
    other.flags = {flag};
    const Error error = errorOf([&] { compiler->compile(other, MAX_ARTIFACT_KIND_CODE_OBJECT); });
    EXPECT_EQ(error.status(), MAX_STATUS_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(error.message(), flag)) << error.message();
  }
}

// Each call is another code.
struct Counting final : KernelCompiler {
  std::string identity(const KernelSource&) const override { return version; }
  MaxArtifactKind executableKind(const KernelSource&) const override { return MAX_ARTIFACT_KIND_CUBIN; }
  CompiledCode compile(const KernelSource&, MaxArtifactKind) const override {
    ++calls;
    return {concat("code ", calls), "log"};
  }
  std::string version = "1";
  mutable int calls = 0;
};

TEST(CachedCompile, WhateverTheCodeDependsOnMakesItAnother) {
  Counting compiler;
  CompileCache cache("");
  KernelSource source = sourceOf(kAdd, "sm_90");
  MaxArtifactKind kind = MAX_ARTIFACT_KIND_CUBIN;
  const auto isNew = [&] {
    const int before = compiler.calls;
    const CompiledCode code = compileCached(cache, compiler, source, kind);
    EXPECT_EQ(code.log, "log");
    return compiler.calls == before + 1 && code.bytes == concat("code ", compiler.calls);
  };
  EXPECT_TRUE(isNew());
  EXPECT_FALSE(isNew());
  const std::function<void()> changes[] = {
      [&] { source.text += " "; },
      [&] { source.name = "other.cu"; },
      [&] { source.architecture = "sm_80"; },
      [&] {
        source.headers = {{"a.h", "b"}};
      },
      [&] {
        source.headers = {{"a.h", "c"}};
      },
      [&] {
        source.defines = {{"A", "B"}};
      },
      [&] { source.flags = {"-g"}; },
      [&] { source.registerLimit = 32; },
      [&] { source.fastMath = true; },
      [&] { source.lineInfo = true; },
      [&] { kind = MAX_ARTIFACT_KIND_PTX; },
      [&] { compiler.version = "2"; },
  };
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(isNew());
    EXPECT_FALSE(isNew());
  }
  source.flags = {"-I/somewhere"};
  EXPECT_TRUE(isNew());
  EXPECT_TRUE(isNew());
}

TEST(SelfContained, OnlyWhatTheKeyKnowsIsCached) {
  const auto check = [](const std::string& text, std::vector<std::string> flags = {}) {
    KernelSource source = sourceOf(text, "sm_90");
    source.headers = {{"mine.h", "#include <vector>\n"}};
    source.flags = std::move(flags);
    return isSelfContained(source);
  };
  EXPECT_TRUE(
      check("#include \"mine.h\"\n# include <cuda_fp16.h>\n  #\tinclude <vector>\nint x;", {"-O2", "--fmad=false"}));
  EXPECT_TRUE(check(""));
  for (const char* text :
       {"#include \"other.h\"", "int x;\n  #  include\t\"other.h\"", "#include MACRO", "#include </x.h>", "#include"})
    EXPECT_FALSE(check(text)) << text;
  for (const char* flag : {"-Ifolder", "-I", "folder", "--include-path=x", "@file", "-include", "--x=/a"})
    EXPECT_FALSE(check("", {flag})) << flag;
}

}  // namespace
}  // namespace max
