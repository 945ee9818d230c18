// SPDX-License-Identifier: Apache-2.0
// How kernel sources become plain C++: what is rewritten, what is left alone, which kernels are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernel/cpu_source.h"

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The rewritten text without the table of kernels.
std::string bodyOf(const std::string& source) {
  const std::string text = max::hostSourceOf(source);
  return text.substr(0, text.rfind("\n# 1 \"(kernels)\""));
}

// The rows of the table.
std::string tableOf(const std::string& source) {
  const std::string text = max::hostSourceOf(source);
  std::string rows;
  for (size_t at = text.find("__max_entry<&"); at != std::string::npos; at = text.find("__max_entry<&", at + 1))
    rows += text.substr(at + 13, text.find("),", at) - at - 13) + ";";
  return rows;
}

TEST(KernelSource, FindsDefinitionsByQualifiedName) {
  EXPECT_EQ(tableOf("extern \"C\" __global__ void a(int x);\nextern \"C\" __global__ void a(int x) { }"),
            "::a>::get(0;");
  EXPECT_EQ(tableOf("namespace p { inline namespace q::r { __global__ void b() {} } } __global__ void c() {}"),
            "::p::q::r::b>::get(0;::c>::get(0;");
  EXPECT_EQ(tableOf("extern \"C\" { __global__ void d(float (*f)(int), int n) { if (n) { } } }"), "::d>::get(0;");
  EXPECT_EQ(tableOf("__global__ __attribute__((cold)) void e() {}"), "::e>::get(0;");
  EXPECT_EQ(tableOf("int x = 1;"), "");
}

TEST(KernelSource, TemplatesCountWhenTheyAreInstantiated) {
  const std::string source = "template <class T> __global__ void t(T x) { }\ntemplate __global__ void t<float>(float);";
  EXPECT_EQ(tableOf(source), "::t<float>>::get(0;");
  EXPECT_TRUE(contains(bodyOf(source), "template   void t<float>(float);")) << bodyOf(source);
}

TEST(KernelSource, LaunchBoundsAreRemembered) {
  EXPECT_EQ(tableOf("__global__ void __launch_bounds__(N * max(2, 3), 4) f(int x) {}"), "::f>::get(N * max(2, 3);");
  EXPECT_EQ(tableOf("__launch_bounds__(64) __global__ void g() {} __global__ void h() {}"),
            "::g>::get(64;::h>::get(0;");
  EXPECT_EQ(tableOf("namespace n { __global__ void __launch_bounds__(N) f() {} }"),
            "::n::f>::get([] { using namespace ::n; return (int)(N); }();");
  EXPECT_FALSE(contains(bodyOf("__global__ void __launch_bounds__(64) f() {}"), "launch_bounds"));
}

TEST(KernelSource, SharedMemory) {
  EXPECT_EQ(bodyOf("void f() { __shared__ int x[4]; }"), "void f() { static thread_local  int x[4]; }");
  EXPECT_EQ(bodyOf("void f() { static __shared__ int x; }"), "void f() { static thread_local  int x; }");
  EXPECT_EQ(bodyOf("void f() { extern __shared__ float x[]; }"),
            "void f() { float (*const x) = (float (*))(__max_dynamic) ; }");
  EXPECT_EQ(bodyOf("void f() { extern __shared__ __attribute__((aligned(16))) unsigned char x[][8]; }"),
            "void f() { unsigned char (*const x)[8] = (unsigned char (*)[8])(__max_dynamic) ; }");
  EXPECT_TRUE(contains(bodyOf("namespace n { extern __shared__ int x[]; }"),
                       "static thread_local int (*const x) = (int (*))(__max_runtime->sharedMemory())"));
}

TEST(KernelSource, TextIsLeftAlone) {
  for (const char* source :
       {"const char* a = \"__global__ void f() {\\\" __shared__\";", "char b = '\"'; int c = 1'000;",
        "const char* d = R\"x(__global__ \")x\";", "# 1 \"__global__.h\"\nint e;",
        "__attribute__((__noinline__)) int f();", "int my__global__ = __global__x;", "", "\"", "R\"("})
    EXPECT_EQ(bodyOf(source), source);
  EXPECT_EQ(bodyOf("__noinline__ int f();"), "__attribute__((noinline))  int f();");
}

TEST(KernelSource, LinesStayWhereTheyAre) {
  const std::string source =
      "__global__\nvoid\n__launch_bounds__(\n  64,\n  2)\nf(\n) {\n  extern\n  __shared__\n  int x\n  [];\n}\nint "
      "last;";
  const std::string body = bodyOf(source);
  EXPECT_EQ(std::count(body.begin(), body.end(), '\n'), std::count(source.begin(), source.end(), '\n'));
  EXPECT_EQ(body.substr(body.rfind('\n')), "\nint last;");
}

// The compiler complains about what is no C++; the rewriter only has to end.
TEST(KernelSource, UnfinishedSourcesEnd) {
  for (const char* source : {"__global__", "__global__ void f(", "__launch_bounds__", "__launch_bounds__(",
                             "__shared__", "extern __shared__", "extern __shared__ int x[", "}}}", "template",
                             "template <", "__global__ >(", "namespace", "__global__ void f() __launch_bounds__("})
    EXPECT_TRUE(contains(max::hostSourceOf(source), "maxCpuLibrary")) << source;
  const std::string whole =
      "# 1 \"k.cu\"\nnamespace a::b { template <class T, int n = (1)> __global__ void __launch_bounds__(n, 2) k(T* x) "
      "{\n"
      "extern __shared__ __attribute__((aligned(8))) T s[][4]; static __shared__ int t[n]; const char* c = \"\\\"}\"; "
      "} }\n"
      "template __global__ void a::b::k<int>(int*); extern \"C\" { __noinline__ int g(); char d = '\\''; }\n"
      "auto r = R\"x( \" )x\"; alignas(4) __global__ __attribute__((cold)) void h(int (*f)(int)) noexcept;";
  for (size_t size = 0; size <= whole.size(); ++size)
    for (size_t begin = 0; begin < std::min<size_t>(size, 60); begin += 7)
      EXPECT_TRUE(contains(max::hostSourceOf(whole.substr(begin, size - begin)), "maxCpuLibrary"))
          << begin << ' ' << size;
}

}  // namespace
