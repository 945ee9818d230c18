# SPDX-License-Identifier: Apache-2.0
"""max compile-kernel with the vendors' own compilers, of several versions, for chips that are not here."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MAX_COMMAND", str(ROOT / "build/bin/max"))
SOURCE = """\
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#ifndef SCALE
#define SCALE 2
#endif
__constant__ float table[4];
extern "C" __global__ void add(const float* a, const __half* b, __nv_bfloat16* c, int64_t n) {
  __shared__ float tile[64];
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  tile[threadIdx.x & 63] = a[i] * SCALE + table[i & 3];
  __syncthreads();
  float x = tile[(threadIdx.x + 1) & 63] + __half2float(b[i]);
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  if (i < n) c[i] = __float2bfloat16(x);
}
"""
ELF = b"\x7fELF"
LIBRARY = os.environ.get("MAX_LIBRARY", str(ROOT / "build/lib/libmax.so"))
CHIPS = {"cuda": ("sm_80", "sm_120"), "hip": ("gfx90a", "gfx1030", "gfx906")}
# Kernels that tests, examples and benchmarks run; those that include headers of their own or are wrong on purpose
# are left out.
FILES = ("tests/conformance/*.c", "examples/*/*.c", "examples/*/*.cu", "benchmarks/kernels/*.c")
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')


# What all compilers know, besides what all GPUs know: x and y are floats, d is a double, i and j are ints, u is
# unsigned, l and ul are of 64 bits, h is a __half, b an __nv_bfloat16, and p... are where they came from.
DIALECT = """
min(i,j) max(u,u) min(x,y) max(d,d) min(l,l) rsqrtf(x) rsqrt(d) __saturatef(x) fdividef(x,y) normcdff(x) sinpif(x)
__expf(x) __exp10f(x) __logf(x) __log2f(x) __powf(x,y) __sinf(x) __cosf(x) __tanf(x) (sincosf(x,&x,&y),x)
__fadd_rn(x,y) __fmul_rn(x,y) __fdiv_rn(x,y) __fmaf_rn(x,y,x) __fsqrt_rn(x) __frcp_rn(x) __fma_rn(d,d,d)
__float_as_int(x) __uint_as_float(u) __double_as_longlong(d) __longlong_as_double(l) __float2int_rz(x)
__float2int_rn(x) __float2uint_rz(x) __int2float_rn(i) __double2float_rn(d) __double2int_rn(d) __double2int_rz(d)
__popc(u) __popcll(ul) __clz(i) __clzll(l) __ffs(i) __ffsll(l) __brev(u) __brevll(ul) __umulhi(u,u) __mul64hi(l,l)
__umul24(u,u) __byte_perm(u,u,u) __funnelshift_l(u,u,u) __ldg(p)
atomicAdd(pi,i) atomicAdd(pu,u) atomicAdd(pul,ul) atomicAdd(p,x) atomicAdd(pd,d) atomicSub(pi,i) atomicExch(p,x)
atomicMin(pi,i) atomicMax(pu,u) atomicAnd(pu,u) atomicOr(pi,i) atomicXor(pul,ul) atomicCAS(pi,i,j) atomicInc(pu,u)
atomicDec(pu,u) atomicAdd_block(pi,i) atomicAdd_system(pi,i)
__syncthreads_count(i) __syncthreads_or(i) __syncthreads_and(i) (__threadfence(),1) (__threadfence_block(),1)
(__trap(),1) __shfl_sync(~0u,x,1) __shfl_sync(~0u,d,1) __shfl_up_sync(~0u,ul,1) __shfl_down_sync(~0u,l,1,16)
__shfl_xor_sync(~0u,u,1) __activemask() __ballot_sync(~0u,i) __any_sync(~0u,i) __all_sync(~0u,i) (__syncwarp(),1) warpSize
make_float4(x,x,x,x).w make_int2(i,j).y make_uint3(u,u,u).z make_double2(d,d).y make_uchar4(1,2,3,4).w dim3(1,2).z
sinf(x) tanhf(x) expf(x) log1pf(x) erff(x) powf(x,y) fmaf(x,y,x) floorf(x) rintf(x) copysignf(x,y) isnan(x) isinf(x)
fabsf(x) abs(i) hypotf(x,y) cbrtf(x) fmodf(x,y) sin(d) pow(d,d) INFINITY NAN FLT_MAX INT_MAX INT_MIN UINT_MAX
LLONG_MAX FLT_EPSILON M_PI std::sqrt(x) std::pow(x,y) std::abs(x) std::fmax(d,d) std::isnan(x) sqrt(x) pow(x,y)
__double2hiint(d) __double2loint(d) __hiloint2double(i,j) __float2ll_rn(x) __ll2float_rn(l) __ull2double_rn(ul)
__sad(i,j,u) __usad(u,u,u) __hadd(i,j) __rhadd(i,j) rcbrtf(x) rhypotf(x,y) norm3df(x,y,x) cospif(x) erfcxf(x) clock64()
max(i,u) llabs(l) signbit(x) isfinite(x) lroundf(x) ldexpf(x,i) fma(x,y,x) sqrt(d) exp10f(x)
__hadd(h,h) __hfma(h,h,h) __half2float(h) __float2half(x) hexp(h) hsqrt(h) __heq(h,h) __hisnan(h) __habs(h) __hneg(h)
__half2int_rz(h) __int2half_rn(i) __half_as_ushort(h) __low2half(__floats2half2_rn(x,y)) __low2float(__float2half2_rn(x))
(h<h) (h+h) (h*h) (-h) __bfloat162float(b) __float2bfloat16(x) (b+b) (b*b) (b<b) __hmul(b,b) __hfma(b,b,b) hsqrt(b) hexp(b)
__half2int_rn(h) __uint2half_rn(u) __half_as_short(h) hlog2(h) htrunc(h) __hisinf(h) __hisinf(b) hexp2(b) hrint(b)
__low2float(__hfma2(__half2half2(h),__half2half2(h),__half2half2(h))) __half22float2(__half2half2(h)).x
__low2float(-__bfloat162bfloat162(b)*__float2bfloat162_rn(x)) __bfloat1622float2(__hmax2(__halves2bfloat162(b,b),__halves2bfloat162(b,b))).y
"""
DIALECT_SOURCE = """\
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <float.h>
#include <limits.h>
#include <math.h>
extern "C" __global__ void f(float* p, int* pi, unsigned* pu, unsigned long long* pul, long long* pl, double* pd,
                             __half* ph, __nv_bfloat16* pb, float* out) {
  float x = p[0], y = p[1];
  int i = pi[0], j = pi[1];
  unsigned u = pu[0];
  unsigned long long ul = pul[0];
  long long l = pl[0];
  double d = pd[0];
  __half h = ph[0];
  __nv_bfloat16 b = pb[0];
"""


def nvrtc_libraries():
    """Those that the tests' Python packages hold, oldest first; else the system's."""
    found = pathlib.Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*")
    return sorted(map(str, found), key=lambda path: float(path.split(".so.")[1])) or ["libnvrtc.so"]


def kernel_sources():
    """Name -> text of the kernels in this repository."""
    for pattern in FILES:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text()
            literals = [text] if path.suffix == ".cu" else [
                "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match)).encode().decode("unicode_escape")
                for match in LITERALS.findall(text)]
            for number, source in enumerate(source for source in literals if "__global__" in source):
                if not re.search(r'missing|#include "(?!max_)', source):
                    yield f"{path.relative_to(ROOT)} {number}", "#define TILE 16\n" + source


class KernelsOfThisRepository(unittest.TestCase):
    """Through the library itself, for devices that are declared and not there."""

    def compile_all(self, api):
        os.environ.setdefault("MAX_NVRTC_LIBRARY", nvrtc_libraries()[-1])
        os.environ["MAX_CACHE_DIR"] = ""
        library = ctypes.CDLL(LIBRARY)
        library.maxGetLastErrorMessage.restype = ctypes.c_char_p
        self.assertEqual(library.maxVirtualDeviceSetApi(api.encode()), 0)
        self.assertEqual(library.maxVirtualDeviceSetCount(1), 0)
        sources = list(kernel_sources())
        self.assertGreater(len(sources), 8, sources)
        for index, chip in enumerate(CHIPS[api]):
            self.assertEqual(library.maxVirtualDeviceSetArchitectureName(chip.encode()), 0)
            device, module = ctypes.c_void_p(), ctypes.c_void_p()
            self.assertEqual(library.maxDeviceCreate(api.encode(), 0, None, ctypes.byref(device)), 0)
            # AMD's compiler takes its time: each source is for one of the chips there.
            for name, source in sources[index::len(CHIPS[api])] if api == "hip" else sources:
                with self.subTest(chip=chip, source=name):
                    status = library.maxModuleCompile(device, source.encode(), name.encode(), None,
                                                      ctypes.byref(module))
                    message = library.maxGetLastErrorMessage().decode()
                    if "is not available" in message:
                        self.skipTest(message)
                    self.assertEqual(status, 0, message)
                    library.maxModuleRelease(module)
            library.maxDeviceRelease(device)

    def test_cuda(self):
        self.compile_all("cuda")

    def test_hip(self):
        self.compile_all("hip")


class CompileKernel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        self.source = self.folder / "add.cu"
        self.source.write_text(SOURCE)

    def run_command(self, *arguments, **environment):
        environment = {"MAX_CACHE_DIR": str(self.cache), **environment}
        return subprocess.run([COMMAND, "compile-kernel", *map(str, arguments)], capture_output=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})

    def compile(self, target, artifact, *arguments, **environment):
        """The artifact's bytes; skips the test where the compiler is not installed."""
        output = self.folder / "output"
        output.unlink(missing_ok=True)
        done = self.run_command(self.source, "--target", target, "--artifact", artifact, "--output", output,
                                *arguments, **environment)
        if b"UNAVAILABLE" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual((done.returncode, done.stdout), (0, b""), (target, artifact, done.stderr.decode()))
        return output.read_bytes()

    def fail_with(self, code, status, *arguments, mentions=(), **environment):
        done = self.run_command(*arguments, **environment)
        if b"UNAVAILABLE" in done.stderr and status != "UNAVAILABLE":
            self.skipTest(done.stderr.decode())
        lines = done.stderr.decode().splitlines()
        self.assertEqual((done.returncode, done.stdout), (code, b""), lines)
        self.assertTrue(lines[0].startswith(f"max: error: {status}: "), lines)
        for word in mentions:
            self.assertIn(word, lines[0])
        return lines

    def test_cuda_of_all_versions(self):
        for library in nvrtc_libraries():
            for chip in ("sm_80", "sm_90"):
                with self.subTest(library=library, chip=chip):
                    ptx = self.compile(f"cuda:{chip}", "ptx", MAX_NVRTC_LIBRARY=library).decode()
                    self.assertRegex(ptx, rf"(?m)^\.target {chip}$")
                    self.assertIn(".entry add(", ptx)
                    self.assertTrue(self.compile(f"cuda:{chip}", "cubin", MAX_NVRTC_LIBRARY=library).startswith(ELF))

    def test_cuda_chips_newer_than_the_compiler_get_ptx(self):
        library = nvrtc_libraries()[0]
        self.assertIn(b".target sm_", self.compile("cuda:sm_999", "ptx", MAX_NVRTC_LIBRARY=library))
        self.fail_with(1, "UNIMPLEMENTED", self.source, "--target", "cuda:sm_999", "--artifact", "cubin", "--output",
                       self.folder / "x", mentions=["sm_999", "sm_90"], MAX_NVRTC_LIBRARY=library)

    def test_hip(self):
        for chip in ("gfx906", "gfx90a:sramecc+:xnack-", "gfx1030"):
            with self.subTest(chip):
                self.assertTrue(self.compile(f"hip:{chip}", "code").startswith(ELF))
                self.assertIn(b"s_endpgm", self.compile(f"hip:{chip}", "asm"))
                self.assertIn(b"amdgpu_kernel void @add(", self.compile(f"hip:{chip}", "llvm"))

    def test_hip_chips_that_the_compiler_does_not_know(self):
        for chip in ("gfx9999", "gfx1030:xnack+", "gfx90a:"):
            self.fail_with(1, "UNIMPLEMENTED", self.source, "--target", f"hip:{chip}", "--artifact", "asm",
                           mentions=[f"'{chip}'", "gfx90a"])

    def test_host(self):
        self.assertTrue(self.compile("cpu", "object").startswith(ELF))
        self.assertIn(b"add", self.compile("cpu", "asm"))
        if shutil.which("clang++"):
            self.assertIn(b"define ", self.compile("cpu:x86-64-v3", "llvm", MAX_CXX="clang++"))

    def test_one_source_for_all(self):
        lines = [f"  out[{i}] = (float)({each});\n" for i, each in enumerate(DIALECT.split())]
        self.source.write_text(DIALECT_SOURCE + "".join(lines) + "}\n")
        for target in ("cpu", "cuda:sm_80", "hip:gfx90a", "hip:gfx1030"):
            for library in nvrtc_libraries() if target.startswith("cuda") else [""]:
                with self.subTest(target=target, library=library):
                    environment = {"MAX_NVRTC_LIBRARY": library} if library else {}
                    self.assertTrue(self.compile(target, "code", **environment).startswith(ELF))

    def test_options_reach_the_compiler(self):
        library = nvrtc_libraries()[-1]
        self.source.write_text('#include "mine.h"\n' + SOURCE +
                               "#if FIVE != 5 || !defined(EMPTY)\n#error \"no\"\n#endif\n")
        (self.folder / "five.txt").write_text("#define FIVE 5\n")
        plain = ("--header", f"mine.h={self.folder / 'five.txt'}", "-DEMPTY=", "-DUNUSED")
        ptx = self.compile("cuda:sm_90", "ptx", *plain, MAX_NVRTC_LIBRARY=library)
        for option in ("-DSCALE=3", "--line-info", "--flag=--device-debug"):
            self.assertNotEqual(self.compile("cuda:sm_90", "ptx", *plain, option, MAX_NVRTC_LIBRARY=library), ptx, option)
        limited = self.compile("cuda:sm_90", "code", *plain, "--registers=16", MAX_NVRTC_LIBRARY=library)
        self.assertNotEqual(self.compile("cuda:sm_90", "code", *plain, MAX_NVRTC_LIBRARY=library), limited)

    def test_text_goes_to_standard_output(self):
        """Options that may be repeated leave the file behind them alone."""
        done = self.run_command("-D", "A=1", "-D", "B", self.source, "--target", "cuda:sm_90", "--artifact", "ptx",
                                MAX_NVRTC_LIBRARY=nvrtc_libraries()[-1])
        if b"UNAVAILABLE" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b".entry add(", done.stdout)

    def test_errors_show_the_log_and_the_sources_lines(self):
        self.source.write_text("\n\n__global__ void f() { oops(); }\n")
        for target in ("cuda:sm_90", "hip:gfx90a", "cpu"):
            with self.subTest(target):
                lines = self.fail_with(1, "INVALID_ARGUMENT", self.source, "--target", target, "--output",
                                       self.folder / "x", mentions=["does not compile", "oops"],
                                       MAX_NVRTC_LIBRARY=nvrtc_libraries()[-1])
                self.assertRegex("\n".join(lines[1:]), r"add\.cu[(:]3[):]")
                self.assertFalse((self.folder / "x").exists())

    def test_wrong_usage(self):
        for target in ("cuda", "cuda:", "tpu:1", "", "cpu:", "hip"):
            self.fail_with(2, "INVALID_ARGUMENT", self.source, "--target", target, "--artifact", "asm",
                           mentions=["--target", f'"{target}"'])
        base = (self.source, "--target", "cuda:sm_90")
        self.fail_with(2, "INVALID_ARGUMENT", self.source, mentions=["--target"])
        self.fail_with(2, "INVALID_ARGUMENT", "--target", "cpu", mentions=["FILE"])
        self.fail_with(2, "INVALID_ARGUMENT", *base, "--artifact", "exe", mentions=["--artifact", "exe"])
        self.fail_with(2, "INVALID_ARGUMENT", *base, mentions=["--output"])
        self.fail_with(2, "INVALID_ARGUMENT", *base, "--artifact", "ptx", "--header", "x", mentions=["--header", "x"])
        self.fail_with(2, "INVALID_ARGUMENT", *base, "--artifact", "ptx", "-D=1", mentions=["--define"])

    def test_wrong_files_and_artifacts(self):
        self.fail_with(1, "NOT_FOUND", self.folder / "none.cu", "--target", "cpu", "--artifact", "asm",
                       mentions=["none.cu"])
        self.fail_with(1, "INVALID_ARGUMENT", COMMAND, "--target", "cpu", "--artifact", "asm", mentions=["text"])
        self.fail_with(1, "UNIMPLEMENTED", self.source, "--target", "cuda:sm_90", "--artifact", "llvm",
                       mentions=["LLVM IR"], MAX_NVRTC_LIBRARY=nvrtc_libraries()[-1])
        self.fail_with(1, "UNIMPLEMENTED", self.source, "--target", "hip:gfx90a", "--artifact", "ptx", mentions=["PTX"])
        self.compile("cpu", "asm")
        self.fail_with(1, "NOT_FOUND", self.source, "--target", "cpu", "--artifact", "asm", "--output",
                       self.folder / "no/such", mentions=["no/such"])

    def test_no_compiler(self):
        for target, name in (("cuda:sm_90", "NVRTC"), ("hip:gfx90a", "HIPRTC")):
            variable = f"MAX_{name}_LIBRARY"
            self.fail_with(1, "UNAVAILABLE", self.source, "--target", target, "--artifact", "asm",
                           mentions=[name, "/nowhere", variable], **{variable: "/nowhere"})
            self.fail_with(1, "UNAVAILABLE", self.source, "--target", target, "--artifact", "asm",
                           mentions=["libc.so.6", f"{name.lower()}Version"], **{variable: "libc.so.6"})

    def test_parts_of_amds_compiler_are_missing(self):
        self.compile("hip:gfx90a", "asm")
        for variable, artifact in (("MAX_COMGR_LIBRARY", "asm"), ("MAX_HIPRTC_BUILTINS_LIBRARY", "llvm")):
            self.fail_with(1, "UNAVAILABLE", self.source, "--target", "hip:gfx90a", "--artifact", artifact,
                           mentions=["/nowhere", variable], **{variable: "/nowhere"})

    def test_warnings_go_to_standard_error(self):
        self.source.write_text('extern "C" __global__ void f(float* x) { int unused; *x = 1; }')
        for _ in ("made", "found"):
            done = self.run_command(self.source, "--target", "cuda:sm_90", "--artifact", "ptx",
                                    MAX_NVRTC_LIBRARY=nvrtc_libraries()[-1])
            if b"UNAVAILABLE" in done.stderr:
                self.skipTest("no NVRTC")
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr.decode(), r'add\.cu\(1\): warning.*"unused"')
            self.assertIn(b".entry f(", done.stdout)

    def test_many_processes_share_a_cold_cache(self):
        library = nvrtc_libraries()[-1]
        outputs = [self.folder / str(i) for i in range(16)]
        processes = [subprocess.Popen([COMMAND, "compile-kernel", self.source, "--target", "cuda:sm_90", "-o", output],
                                      stderr=subprocess.PIPE,
                                      env={**os.environ, "MAX_CACHE_DIR": str(self.cache), "MAX_NVRTC_LIBRARY": library})
                     for output in outputs]
        errors = {process.communicate()[1] for process in processes}
        if any(b"UNAVAILABLE" in error for error in errors):
            self.skipTest("no NVRTC")
        self.assertEqual(errors, {b""})
        self.assertEqual(len({output.read_bytes() for output in outputs}), 1)
        entry = max(self.cache.rglob("*.kernel"), key=lambda path: path.stat().st_size)  # not the compiler's record
        good = entry.read_bytes()
        entry.write_bytes(good[:-20] + bytes(20))
        self.assertEqual(self.compile("cuda:sm_90", "code", MAX_NVRTC_LIBRARY=library), outputs[0].read_bytes())
        self.assertEqual(entry.read_bytes(), good)

    def test_code_in_the_cache_is_found_without_opening_the_compiler(self):
        """A library that is loaded shows in the process's maps; loading takes ten times as long as all else."""
        program = f"""if True:
            import ctypes, sys, time
            library = ctypes.CDLL({LIBRARY!r})
            library.maxGetLastErrorMessage.restype = ctypes.c_char_p
            source = open({str(self.source)!r}, "rb").read()
            for api, chip, name in ((b"cpu", b"", "nothing"), (b"cuda", b"sm_90", "libnvrtc"),
                                    (b"hip", b"gfx90a", "libamd_comgr")):
                device, module = ctypes.c_void_p(), ctypes.c_void_p()
                if chip:
                    library.maxVirtualDeviceSetApi(api)
                    library.maxVirtualDeviceSetArchitectureName(chip)
                    library.maxVirtualDeviceSetCount(1)
                library.maxDeviceCreate(api, 0, None, ctypes.byref(device))
                start = time.perf_counter()
                status = library.maxModuleCompile(device, source, b"add.cu", None, ctypes.byref(module))
                seconds = time.perf_counter() - start
                if status != 0:
                    sys.exit(library.maxGetLastErrorMessage().decode())
                print(name in open("/proc/self/maps").read(), seconds)
        """
        environment = {**os.environ, "MAX_CACHE_DIR": str(self.cache), "MAX_NVRTC_LIBRARY": nvrtc_libraries()[-1]}
        outputs = []
        for _ in range(6):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
            if "is not available" in done.stderr:
                self.skipTest(done.stderr)
            self.assertEqual(done.stderr, "")
            outputs.append([line.split() for line in done.stdout.splitlines()])
        self.assertEqual([opened for opened, _ in outputs[0]], ["False", "True", "True"])
        for output in outputs[1:]:
            self.assertEqual([opened for opened, _ in output], ["False"] * 3)
        for api in range(3):
            self.assertLess(min(float(output[api][1]) for output in outputs[1:]), 0.001)

    def test_variables_choose_the_cache(self):
        library = nvrtc_libraries()[-1]
        xdg, home = self.folder / "xdg", self.folder / "home"
        for chosen, environment in (
                (self.cache, {}),
                (xdg / "max", {"MAX_CACHE_DIR": None, "XDG_CACHE_HOME": str(xdg)}),
                (home / ".cache/max", {"MAX_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": str(home)}),
                (None, {"MAX_CACHE_DIR": ""})):
            values = {**os.environ, "MAX_CACHE_DIR": str(self.cache), "MAX_NVRTC_LIBRARY": library, **environment}
            before = set(self.folder.rglob("*.kernel"))
            done = subprocess.run([COMMAND, "compile-kernel", self.source, "--target", "cuda:sm_90", "-o",
                                   self.folder / "x"], capture_output=True,
                                  env={k: v for k, v in values.items() if v is not None})
            if b"UNAVAILABLE" in done.stderr:
                self.skipTest("no NVRTC")
            self.assertEqual(done.stderr, b"")
            added = set(self.folder.rglob("*.kernel")) - before
            self.assertEqual({entry.parent for entry in added}, {chosen / "kernels"} if chosen else set())


if __name__ == "__main__":
    unittest.main()
