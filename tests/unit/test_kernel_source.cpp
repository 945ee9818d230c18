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
  return text.substr(0, text.rfind("\nstatic_assert(true); "));
}

// The entries of kernels and where the table looks for them.
std::string tableOf(const std::string& source) {
  const std::string text = max::hostSourceOf(source);
  const std::string_view begin = "::__max_entry<", listBegin = "kernels[] = {";
  std::string rows;
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
    rows += text.substr(at + begin.size(), text.find("); }", at) - at - begin.size()) + "; ";
  const size_t list = text.rfind(listBegin) + listBegin.size();
  return rows + text.substr(list, text.find("{}}", list) - list);
}

TEST(KernelSource, FindsDefinitionsByQualifiedName) {
  EXPECT_EQ(tableOf("extern \"C\" __global__ void a(int x);\nextern \"C\" __global__ void a(int x) { }"),
            "static_cast<void (*)(int x )>(&a)>::get(0; ::__max_kernel_0(), ");
  EXPECT_EQ(tableOf("namespace p { inline namespace q::r { __global__ void b() {} } } __global__ void c() {}"),
            "static_cast<void (*)()>(&b)>::get(0; static_cast<void (*)()>(&c)>::get(0; "
            "::p::q::r::__max_kernel_0(), ::__max_kernel_1(), ");
  EXPECT_EQ(tableOf("namespace { __global__ void d(float (*f)(int), int n = g(1, 2), int m = 3) { if (n) { } } }"),
            "static_cast<void (*)(float ( * f ) ( int ) , int n , int m )>(&d)>::get(0; ::__max_kernel_0(), ");
  EXPECT_EQ(tableOf("__global__ __attribute__((cold)) void e() {}"),
            "static_cast<void (*)()>(&e)>::get(0; ::__max_kernel_0(), ");
  EXPECT_EQ(tableOf("int x = 1;"), "");
}

// In the scope of the kernel, behind it, on the same line.
TEST(KernelSource, EntriesStandBehindTheirKernels) {
  EXPECT_TRUE(contains(bodyOf("namespace n { __global__ void f() {{}} int x;}"),
                       "void f() {{}} static ::MaxCpuKernel __max_kernel_0() { return "
                       "::__max_entry<static_cast<void (*)()>(&f)>::get(0); } int x;}"));
}

TEST(KernelSource, TypesOfKernelsAreChecked) {
  EXPECT_TRUE(contains(bodyOf("__global__ void f(int& x) {}"), "static_assert(::__max_takes_values<decltype("));
  const std::string source = "__global__ int f(int x) { return x; }";
  EXPECT_EQ(tableOf(source), "&f>::get(0; ::__max_kernel_0(), ");
  EXPECT_TRUE(contains(bodyOf(source), "static_assert(::__max_is_kernel<decltype(&f)>"));
}

TEST(KernelSource, TemplatesCountWhenTheyAreInstantiated) {
  const std::string source =
      "template <class T> __global__ void t(T x) { }\ntemplate __global__ void t<float>(float);\n"
      "namespace n { template __global__ void ::m::t(S<int>*); }";
  EXPECT_EQ(tableOf(source),
            "static_cast<void (*)(float )>(&t<float>)>::get(0; static_cast<void (*)(S < int > * )>(&::m::t)>::get(0; "
            "::__max_kernel_0(), ::n::__max_kernel_1(), ");
  EXPECT_TRUE(contains(bodyOf(source), "template   void t<float>(float);")) << bodyOf(source);
}

TEST(KernelSource, NamesMayHaveAnyLetters) {
  EXPECT_EQ(tableOf("__global__ void gr\xc3\xb6\xc3\x9f\x65() {}"),
            "static_cast<void (*)()>(&gr\xc3\xb6\xc3\x9f\x65)>::get(0; ::__max_kernel_0(), ");
}

TEST(KernelSource, KernelsAreInlineOnce) {
  EXPECT_TRUE(
      contains(bodyOf("static inline __global__ void f();"), "static inline __attribute__((always_inline, used))"));
  EXPECT_TRUE(contains(bodyOf("__global__ static inline void f();"),
                       "__attribute__((always_inline, used))  static inline void"));
  EXPECT_TRUE(
      contains(bodyOf("inline int g(); __global__ void f();"), "inline __attribute__((always_inline, used))  void f"));
}

TEST(KernelSource, LaunchBoundsAreRemembered) {
  const auto boundsOf = [](const std::string& source) {
    const std::string table = tableOf(source);
    const size_t at = table.find("get(");
    return table.substr(at + 4, table.find(';', at) - at - 4);
  };
  EXPECT_EQ(boundsOf("__global__ void __launch_bounds__(N * max(2, 3), 4) f(int x) {}"), "N * max(2, 3)");
  EXPECT_EQ(boundsOf("__launch_bounds__(64) __global__ void g() {} __global__ void h() {}"), "64");
  EXPECT_EQ(boundsOf("__launch_bounds__(64) __global__ void g(); __global__ void h() {}"), "0");
  EXPECT_EQ(boundsOf("namespace n { __global__ void __launch_bounds__(N) f() {} }"), "N");
  EXPECT_FALSE(contains(bodyOf("__global__ void __launch_bounds__(64) f() {}"), "launch_bounds"));
}

// What follows the declaration checks its size.
std::string sharedOf(const std::string& source) {
  const std::string text = bodyOf(source);
  return text.substr(0, text.find(" static_assert"));
}

TEST(KernelSource, SharedMemory) {
  EXPECT_EQ(sharedOf("void f() { __shared__ int x[4]; }"), "void f() { static thread_local   int x[4];");
  EXPECT_EQ(sharedOf("void f() { static __shared__ int x; }"), "void f() { static thread_local   int x;");
  EXPECT_EQ(sharedOf("void f() { volatile __shared__ alignas(int) int x; }"),
            "void f() { alignas(int) static thread_local volatile   int x;");
  EXPECT_EQ(sharedOf("void f() { __attribute__((aligned(8))) __shared__ char x[8]; }"),
            "void f() { static thread_local __attribute__((aligned(8)))   char x[8];");
  const std::string several = bodyOf("void f() { __shared__ A<int, 4> a, b[n < 3 ? 1 : 2], *c; }");
  for (const char* name : {"a", "b", "c"})
    EXPECT_TRUE(contains(several, std::string("static_assert(sizeof(") + name + ") <= 65536")) << several;
  EXPECT_FALSE(contains(several, "sizeof(int)"));
}

TEST(KernelSource, DynamicSharedMemory) {
  EXPECT_EQ(bodyOf("void f() { extern __shared__ float x[]; }"),
            "void f() { float *const x = static_cast<float *>(__max_dynamic) ; }");
  EXPECT_EQ(bodyOf("void f() { extern __shared__ __attribute__((aligned(16))) unsigned char x[][8]; }"),
            "void f() { unsigned char (*const x)[8] = static_cast<unsigned char (*)[8]>(__max_dynamic) ; }");
  for (const char* order : {"extern __attribute__((aligned(16))) __shared__", "extern __shared__ alignas(16)",
                            "__shared__ extern", "alignas(16) extern __shared__"})
    EXPECT_EQ(bodyOf(std::string("void f() { ") + order + " char x[]; }"),
              "void f() { char *const x = static_cast<char *>(__max_dynamic) ; }");
  EXPECT_EQ(bodyOf("void f() { extern volatile __shared__ int x[]; }"),
            "void f() { volatile int *const x = static_cast<volatile int *>(__max_dynamic) ; }");
  const std::string outside = bodyOf("namespace n { extern __shared__ int x[]; extern __shared__ int x[]; }");
  const std::string_view pointer =
      "static thread_local int *const x = static_cast<int *>(__max_runtime->sharedMemory())";
  EXPECT_TRUE(contains(outside, pointer));
  EXPECT_EQ(outside.find(pointer), outside.rfind(pointer)) << "declared once";
}

// Each place in the source has a number.
TEST(KernelSource, PlacesAreCounted) {
  EXPECT_EQ(bodyOf("a = meet(__max_place); b = meet(__max_place, 0) + __max_places;"),
            "a = meet(1 ); b = meet(2 , 0) + __max_places;");
}

TEST(KernelSource, TextIsLeftAlone) {
  for (const char* source : {"const char* a = \"__global__ void f() {\\\" __shared__\";",
                             "char b = '\"'; int c = 1'000;", "const char* d = R\"x(__global__ \")x\";",
                             "# 1 \"__global__.h\"\nint e;", "__attribute__((__noinline__)) int f();",
                             "int gr\xc3\xb6\xc3\x9f__shared__;", "int my__global__ = __global__x;", "", "\"", "R\"("})
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

// So that the compiler's first complaint is about the bracket.
TEST(KernelSource, WhatMissesABracketGetsNoTable) {
  EXPECT_TRUE(contains(max::hostSourceOf("__global__ void f() {}"), "maxCpuLibrary"));
  for (const char* source :
       {"__global__ void f() {", "__global__ void f() { {}", "namespace a { __global__ void f() {}"})
    EXPECT_FALSE(contains(max::hostSourceOf(source), "maxCpuLibrary")) << source;
  EXPECT_FALSE(contains(max::hostSourceOf("__global__ void f() { {}"), "__max_entry"));
}

// The compiler reports invalid C++; the rewriter only has to terminate.
TEST(KernelSource, UnfinishedSourcesEnd) {
  for (const char* source : {"__global__", "__global__ void f(", "__launch_bounds__", "__launch_bounds__(",
                             "__shared__", "extern __shared__", "extern __shared__ int x[", "}}}", "template",
                             "template <", "__global__ >(", "namespace", "__global__ void f() __launch_bounds__("})
    EXPECT_FALSE(max::hostSourceOf(source).empty()) << source;
  const std::string whole =
      "# 1 \"k.cu\"\nnamespace a::b { template <class T, int n = (1)> __global__ void __launch_bounds__(n, 2) k(T* x) "
      "{\n"
      "extern __shared__ __attribute__((aligned(8))) T s[][4]; static __shared__ int t[n]; const char* c = \"\\\"}\"; "
      "} }\n"
      "template __global__ void a::b::k<int>(int*); extern \"C\" { __noinline__ int g(); char d = '\\''; }\n"
      "auto r = R\"x( \" )x\"; alignas(4) __global__ __attribute__((cold)) void h(int (*f)(int)) noexcept;";
  for (size_t size = 0; size <= whole.size(); ++size)
    for (size_t begin = 0; begin < std::min<size_t>(size, 60); begin += 7)
      EXPECT_FALSE(size > begin && max::hostSourceOf(whole.substr(begin, size - begin)).empty())
          << begin << ' ' << size;
}

}  // namespace
