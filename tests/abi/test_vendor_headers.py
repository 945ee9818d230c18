# SPDX-License-Identifier: Apache-2.0
"""Our declarations of the vendors' functions, numbers and structures agree with the vendors' headers.

test_vendor_headers.py cuda | hip5 | hip6; ends with 77 where the headers cannot be fetched. `hip6` looks at HIP 6 and
later through declarations for Rust, which were generated from headers that no package brings.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import vendor_headers

ROOT = vendor_headers.ROOT
SKIPPED = 77

# What the sources call a number -> what the vendor calls it: file, name there, name in CUDA, name in HIP.
NUMBERS = (
    ("src/device/gpu/driver.h", "kSuccess", "CUDA_SUCCESS", "hipSuccess"),
    ("src/device/gpu/driver.h", "kInvalidValue", "CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue"),
    ("src/device/gpu/driver.h", "kOutOfMemory", "CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory"),
    ("src/device/gpu/driver.h", "kNoDevice", "CUDA_ERROR_NO_DEVICE", "hipErrorNoDevice"),
    ("src/device/gpu/driver.h", "kNotReady", "CUDA_ERROR_NOT_READY", "hipErrorNotReady"),
    ("src/device/gpu/driver.h", "kPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "hipErrorPeerAccessAlreadyEnabled"),
    ("src/kernel/gpu_module.cpp", "kNotFound", "CUDA_ERROR_NOT_FOUND", "hipErrorNotFound"),
    ("src/device/gpu/driver.cpp", "kFirstCaptureError", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "hipErrorStreamCaptureUnsupported"),
    ("src/device/gpu/driver.cpp", "kLastCaptureError", "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "hipErrorStreamCaptureWrongThread"),
    ("src/device/gpu/driver.h", "kRelaxedMode", "CU_STREAM_CAPTURE_MODE_RELAXED", "hipStreamCaptureModeRelaxed"),
    ("src/device/gpu/gpu_graph.cpp", "kThreadLocalMode", "CU_STREAM_CAPTURE_MODE_THREAD_LOCAL",
     "hipStreamCaptureModeThreadLocal"),
    ("src/device/gpu/memory_source.cpp", "kPortable", "CU_MEMHOSTALLOC_PORTABLE", "hipHostMallocPortable"),
    ("src/device/gpu/memory_source.cpp", "kWithoutTiming", "CU_EVENT_DISABLE_TIMING", "hipEventDisableTiming"),
    ("src/device/gpu/gpu_event.cpp", "kWithoutTiming", "CU_EVENT_DISABLE_TIMING", "hipEventDisableTiming"),
    ("src/device/gpu/gpu_stream.cpp", "kNonBlocking", "CU_STREAM_NON_BLOCKING", "hipStreamNonBlocking"),
    ("src/device/gpu/gpu_transfer.cpp", "kUnifiedMemory", "CU_MEMORYTYPE_UNIFIED", None),
    ("src/device/gpu/gpu_transfer.cpp", "kCopyDefault", None, "hipMemcpyDefault"),
    ("src/device/gpu/launch.h", "kLaunchAccessPolicyWindow", "CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW", None),
    ("src/device/gpu/launch.h", "kLaunchCooperative", "CU_LAUNCH_ATTRIBUTE_COOPERATIVE", None),
    ("src/device/gpu/launch.h", "kLaunchClusterDimension", "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", None),
    ("src/device/gpu/launch.h", "kLaunchProgrammaticStreamSerialization",
     "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION", None),
    ("src/device/gpu/launch.h", "kLaunchPriority", "CU_LAUNCH_ATTRIBUTE_PRIORITY", None),
    ("src/device/gpu/cuda.cpp", "errorLogOption", "CU_JIT_ERROR_LOG_BUFFER", None),
    ("src/device/gpu/cuda.cpp", "errorLogSizeOption", "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES", None),
    ("src/device/gpu/cuda.cpp", "mostSharedOptIn", "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", None),
    ("src/device/gpu/cuda.cpp", "mostAccessBytes", "CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE", None),
    ("src/device/gpu/cuda.cpp", "clusterLaunch", "CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH", None),
    ("src/device/gpu/nvml.h", "kTemperatureOfDevice", "NVML_TEMPERATURE_GPU", None),
    ("src/device/gpu/rocm_smi.h", "kSensorEdge", None, "RSMI_TEMP_TYPE_EDGE"),
    ("src/device/gpu/rocm_smi.h", "kSensorJunction", None, "RSMI_TEMP_TYPE_JUNCTION"),
    ("src/device/gpu/rocm_smi.h", "kCurrentTemperature", None, "RSMI_TEMP_CURRENT"),
)

# Errors that driver.cpp and gpu_code.cpp treat apart: number, CUDA's name, HIP's name.
ERRORS = (
    (4, "CUDA_ERROR_DEINITIALIZED", "hipErrorDeinitialized"),
    (9, None, "hipErrorInvalidConfiguration"),
    (35, None, "hipErrorInsufficientDriver"),
    (46, "CUDA_ERROR_DEVICE_UNAVAILABLE", None),
    (101, "CUDA_ERROR_INVALID_DEVICE", "hipErrorInvalidDevice"),
    (200, "CUDA_ERROR_INVALID_IMAGE", "hipErrorInvalidImage"),
    (209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "hipErrorNoBinaryForGpu"),
    (214, "CUDA_ERROR_ECC_UNCORRECTABLE", "hipErrorECCNotCorrectable"),
    (217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "hipErrorPeerAccessUnsupported"),
    (218, "CUDA_ERROR_INVALID_PTX", "hipErrorInvalidKernelFile"),
    (220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", None),
    (222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", None),
    (226, "CUDA_ERROR_CONTAINED", None),
    (301, "CUDA_ERROR_FILE_NOT_FOUND", "hipErrorFileNotFound"),
    (302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "hipErrorSharedObjectSymbolNotFound"),
    (400, "CUDA_ERROR_INVALID_HANDLE", "hipErrorInvalidHandle"),
    (700, "CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress"),
    (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "hipErrorLaunchOutOfResources"),
    (702, "CUDA_ERROR_LAUNCH_TIMEOUT", "hipErrorLaunchTimeOut"),
    (709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "hipErrorContextIsDestroyed"),
    (710, "CUDA_ERROR_ASSERT", "hipErrorAssert"),
    (711, "CUDA_ERROR_TOO_MANY_PEERS", None),
    (714, "CUDA_ERROR_HARDWARE_STACK_ERROR", None),
    (715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", None),
    (716, "CUDA_ERROR_MISALIGNED_ADDRESS", None),
    (717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", None),
    (718, "CUDA_ERROR_INVALID_PC", None),
    (719, "CUDA_ERROR_LAUNCH_FAILED", "hipErrorLaunchFailure"),
    (720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "hipErrorCooperativeLaunchTooLarge"),
    (721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", None),
    (800, "CUDA_ERROR_NOT_PERMITTED", None),
    (801, "CUDA_ERROR_NOT_SUPPORTED", "hipErrorNotSupported"),
    (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", None),
    (804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", None),
    (810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", None),
    (912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", None),
)

# Lists of such errors: file, name.
ERROR_LISTS = (("src/device/gpu/driver.cpp", "kFatalErrors"), ("src/device/gpu/driver.cpp", "kStatuses"),
               ("src/device/gpu/driver.cpp", "kAdvice"),
               ("src/kernel/gpu_code.cpp", "kCodeErrors"))

RTC_RESULTS = {"kRtcSuccess": "SUCCESS", "kRtcOutOfMemory": "ERROR_OUT_OF_MEMORY",
               "kRtcProgramCreationFailure": "ERROR_PROGRAM_CREATION_FAILURE",
               "kRtcInvalidInput": "ERROR_INVALID_INPUT", "kRtcInvalidProgram": "ERROR_INVALID_PROGRAM",
               "kRtcInvalidOption": "ERROR_INVALID_OPTION", "kRtcCompilation": "ERROR_COMPILATION",
               "kRtcInternalError": "ERROR_INTERNAL_ERROR"}

COMGR = {"kSource": "DATA_KIND_SOURCE", "kInclude": "DATA_KIND_INCLUDE", "kLog": "DATA_KIND_LOG",
         "kBitcode": "DATA_KIND_BC", "kExecutable": "DATA_KIND_EXECUTABLE", "languageHip": "LANGUAGE_HIP",
         "disassembleExecutable": "ACTION_DISASSEMBLE_EXECUTABLE_TO_SOURCE",
         "compileWithDeviceLibraries": "ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC"}

# Our structure and the vendor's, and pairs of fields in order.
STRUCTURES = (
    ("max::gpu::Copy2d", "CUDA_MEMCPY2D", (
        ("sourceX", "srcXInBytes"), ("sourceY", "srcY"), ("sourceMemoryType", "srcMemoryType"),
        ("sourceHost", "srcHost"), ("sourceDevice", "srcDevice"), ("sourceArray", "srcArray"),
        ("sourcePitch", "srcPitch"), ("targetX", "dstXInBytes"), ("targetY", "dstY"),
        ("targetMemoryType", "dstMemoryType"), ("targetHost", "dstHost"), ("targetDevice", "dstDevice"),
        ("targetArray", "dstArray"), ("targetPitch", "dstPitch"), ("width", "WidthInBytes"), ("height", "Height"))),
    ("max::gpu::LaunchConfig", "CUlaunchConfig", (
        ("gridX", "gridDimX"), ("gridY", "gridDimY"), ("gridZ", "gridDimZ"), ("blockX", "blockDimX"),
        ("blockY", "blockDimY"), ("blockZ", "blockDimZ"), ("sharedBytes", "sharedMemBytes"), ("stream", "hStream"),
        ("attributes", "attrs"), ("attributeCount", "numAttrs"))),
    ("max::gpu::LaunchAttribute", "CUlaunchAttribute", (("id", "id"), ("value", "value"))),
    ("max::gpu::AccessPolicyWindow", "CUaccessPolicyWindow", (
        ("base", "base_ptr"), ("bytes", "num_bytes"), ("hitRatio", "hitRatio"), ("hitProperty", "hitProp"),
        ("missProperty", "missProp"))),
    ("max::gpu::nvml::Utilization", "nvmlUtilization_t", (("device", "gpu"), ("memory", "memory"))),
)

PRELUDE = """
#include <cstdio>
#include <type_traits>
int failures = 0;
void expect(const char* what, long long ours, long long theirs) {
  if (ours == theirs) return;
  std::printf("%s: %lld here, %lld in the vendor's header\\n", what, ours, theirs);
  ++failures;
}
template <class A, class B>
constexpr bool isAlike = sizeof(A) == sizeof(B) && std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class... Ours, class Result, class... Theirs>
void expectAlike(const char* what, int (*)(Ours...), Result (*)(Theirs...)) {
  static_assert(sizeof(Result) == sizeof(int));
  if constexpr (sizeof...(Ours) != sizeof...(Theirs))
    expect(what, sizeof...(Ours), sizeof...(Theirs));
  else
    expect(what, 1, (isAlike<Ours, Theirs> && ... && true));
}
"""


def text_of(path):
    return (ROOT / path).read_text()


def constant(path, name):
    match = re.search(rf"\b{name} = (0x[0-9a-fA-F]+|-?\d+)\b", text_of(path))
    if not match:
        raise AssertionError(f"{path} has no number {name}")
    return int(match.group(1), 0)


def nameless_errors():
    """Errors in the lists that ERRORS and NUMBERS do not name."""
    named = {number for number, _, _ in ERRORS} | {constant(path, name) for path, name, _, _ in NUMBERS[:7]}
    used = set()
    for path, name in ERROR_LISTS:
        body = re.search(rf"{name}\[\] = \{{(.*?)\}};", text_of(path), flags=re.S).group(1)
        used |= {int(number) for number in re.findall(r"(?<![\w.])\d+\b", body)}
    return used - named


def numbered_macros(path, prefix):
    """NAME -> number of `#define PREFIX_NAME number`."""
    found = {name: int(value) for name, value in
             re.findall(rf"^#define {prefix}_(\w+) (-?\d+)$", text_of(path), flags=re.M)}
    if not found:
        raise AssertionError(f"{path} has no constants {prefix}_*")
    return found


def rows_of_macro(path, columns):
    """Rows X(member, names..., (parameters)) of a table of functions."""
    text = text_of(path).replace("\\\n", " ")
    names = r'\s*("\w+"|nullptr),' * columns
    found = []
    for match in re.finditer(rf"\bX\((\w+),{names}\s*(\()", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        *found_names, _ = match.groups()
        found.append([name.strip('"') for name in found_names] + [text[match.end() - 1:end]])
    if len(found) < 5:
        raise AssertionError(f"{path}: the table of functions was not understood")
    return found


def names_of(api):
    """Member of SymbolNames -> the API's name for the function."""
    return dict(re.findall(r'\.(\w+) = "(\w+)"', text_of(f"src/device/gpu/{api}.cpp").split("};\nstatic_assert")[0]))


def functions(api):
    """(name, parameters) of all functions of the API's driver that the library calls."""
    names = names_of(api)
    rows = [(names[member], parameters) for member, parameters in rows_of_macro("src/device/gpu/symbols.h", 0)
            if member in names]
    if len(rows) < 50:
        raise AssertionError(f"{api}.cpp: the table of names was not understood")
    management = {"cuda": "nvml", "hip": "rocm_smi"}[api]
    return rows + [tuple(row[1:]) for row in rows_of_macro(f"src/device/gpu/{management}.h", 1)]


def optional_functions():
    """HIP's names after the table of those that a driver must have."""
    members = re.findall(r"X\((\w+),", text_of("src/device/gpu/symbols.h").split("MAX_GPU_OPTIONAL_SYMBOLS(X)")[1])
    return {names_of("hip").get(member) for member in members}


def identifiers_of(folder, *headers):
    return set(re.findall(r"\b\w+\b", "\n".join((folder / header).read_text() for header in headers)))


def camel_case(name):
    return "".join(word.capitalize() for word in name.split("_"))


def hip_attributes(known):
    """(HIP's name, number) of the table in hip.cpp; the names differ from ours in their case alone."""
    spelling = {name.lower(): name for name in known}
    rows = re.findall(r"\{MAX_DEVICE_ATTRIBUTE_(\w+), (\d+)\}", text_of("src/device/gpu/hip.cpp"))
    if len(rows) < 10:
        raise AssertionError("hip.cpp: the table of attributes was not understood")
    return [(spelling[("hipDeviceAttribute" + camel_case(name)).lower()], int(value)) for name, value in rows]


def program(includes, statements):
    body = "\n".join(f"  {statement}" for statement in statements)
    return f"{includes}\n{PRELUDE}\nint main() {{\n{body}\n  return failures != 0;\n}}\n"


def expect_number(what, ours, theirs):
    return f'expect("{what}", {ours}, static_cast<long long>({theirs}));'


def expect_function(name, parameters):
    return f'expectAlike("{name}", static_cast<int (*){parameters}>(nullptr), &{name});'


def expect_structure(ours, theirs, fields):
    checks = [f'expect("sizeof {theirs}", sizeof({ours}), sizeof({theirs}));']
    for our_field, their_field in fields:
        checks.append(f'expect("{theirs}::{their_field}", offsetof({ours}, {our_field}), '
                      f"offsetof({theirs}, {their_field}));")
        checks.append(f'expect("sizeof {theirs}::{their_field}", sizeof({ours}::{our_field}), '
                      f"sizeof({theirs}::{their_field}));")
    return checks


def run_program(text, folders, flags=()):
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise vendor_headers.Unreachable("there is no C++ compiler")
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "check.cpp"
        source.write_text(text)
        binary = source.with_suffix("")
        command = [compiler, "-std=c++20", "-w", "-O0", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}",
                   *(f"-I{folder}" for folder in folders), *flags]
        # Only addresses of functions are looked at, and not even those are taken: nothing is linked.
        built = subprocess.run([*command, "-c", source, "-o", binary.with_suffix(".o")], capture_output=True, text=True)
        if built.returncode != 0:
            print(built.stderr[:8000])
            return False
        linked = subprocess.run([compiler, binary.with_suffix(".o"), "-o", binary, "-Wl,--unresolved-symbols=ignore-all"],
                                capture_output=True, text=True)
        if linked.returncode != 0:
            print(linked.stderr[:8000])
            return False
        done = subprocess.run([binary], capture_output=True, text=True)
        print(done.stdout, end="")
        return done.returncode == 0


def check_cuda():
    folders = vendor_headers.cuda_folders()
    includes = ('#include <cstddef>\n#include <cuda.h>\n#include <nvml.h>\n#include "device/gpu/launch.h"\n'
                '#include "device/gpu/nvml.h"\n#include "device/gpu/symbols.h"')
    checks = [expect_number(theirs, constant(path, ours), theirs) for path, ours, theirs, _ in NUMBERS if theirs]
    checks += [expect_number(name, number, name) for number, name, _ in ERRORS if name]
    checks += [expect_number(f"CU_DEVICE_ATTRIBUTE_{name}", number, f"CU_DEVICE_ATTRIBUTE_{name}")
               for name, number in numbered_macros("include/max/device.h", "MAX_DEVICE_ATTRIBUTE").items()]
    checks += kernel_numbers("CU_FUNC_ATTRIBUTE", {
        "SHARED_SIZE": "SHARED_SIZE_BYTES", "CONSTANT_SIZE": "CONST_SIZE_BYTES", "LOCAL_SIZE": "LOCAL_SIZE_BYTES",
        "REGISTERS": "NUM_REGS", "MAX_DYNAMIC_SHARED_SIZE": "MAX_DYNAMIC_SHARED_SIZE_BYTES",
        "PREFERRED_SHARED_CARVEOUT": "PREFERRED_SHARED_MEMORY_CARVEOUT"})
    checks += [expect_number(f"CU_ACCESS_PROPERTY_{name}", number, f"CU_ACCESS_PROPERTY_{name}")
               for name, number in numbered_macros("include/max/kernel.h", "MAX_ACCESS_PROPERTY").items()]
    checks += [expect_function(*function) for function in functions("cuda")]
    for structure in STRUCTURES:
        checks += expect_structure(*structure)
    try:
        folders = [*folders, vendor_headers.nvrtc_folder()]
        includes += "\n#include <nvrtc.h>"
        checks += [expect_number(f"NVRTC_{theirs}", constant("src/kernel/rtc.h", ours), f"NVRTC_{theirs}")
                   for ours, theirs in RTC_RESULTS.items()]
    except vendor_headers.Unreachable as reason:
        print(f"not compared: NVRTC ({reason})")
    if nameless_errors():
        print(f"errors without a name here: {sorted(nameless_errors())}")
        return False
    return run_program(program(includes, checks), folders)


def kernel_numbers(prefix, spelling):
    return [expect_number(f"{prefix}_{spelling.get(name, name)}", number, f"{prefix}_{spelling.get(name, name)}")
            for name, number in numbered_macros("include/max/kernel.h", "MAX_KERNEL_ATTRIBUTE").items()]


def check_hip5():
    folder = vendor_headers.hip5_folder()
    known = identifiers_of(folder, "hip/hip_runtime_api.h")
    includes = ("#include <cstddef>\n#include <hip/hip_runtime_api.h>\n#include <hip/hiprtc.h>\n"
                "#include <rocm_smi/rocm_smi.h>\n"
                '#include "device/gpu/launch.h"\n#include "device/gpu/rocm_smi.h"\n#include "device/gpu/symbols.h"')
    checks = [expect_number(theirs, constant(path, ours), theirs) for path, ours, _, theirs in NUMBERS if theirs]
    checks += [expect_number(name, number, name) for number, _, name in ERRORS if name]
    checks += [expect_number(name, number, name) for name, number in hip_attributes(known)]
    checks += [expect_number(f"HIPRTC_{theirs}", constant("src/kernel/rtc.h", ours), f"HIPRTC_{theirs}")
               for ours, theirs in RTC_RESULTS.items()]
    absent = {name for name, _ in functions("hip") if name not in known and not name.startswith("rsmi")}
    if absent - optional_functions():
        print(f"HIP 5 does not have {absent - optional_functions()}")
        return False
    checks += [expect_function(name, parameters) for name, parameters in functions("hip")
               if name not in absent and name != "rsmi_dev_power_get"]
    checks.append(expect_number("hipDeviceProp_t::gcnArchName", constant("src/device/gpu/hip.cpp",
                                "kArchitecture5"), "offsetof(hipDeviceProp_t, gcnArchName)"))
    checks.append(f'expect("hipDeviceProp_t fits", 1, sizeof(hipDeviceProp_t) <= '
                  f'{constant("src/device/gpu/hip.cpp", "kPropertiesSize")});')
    includes += "\n#include <amd_comgr.h>"
    checks += [expect_number(f"AMD_COMGR_{theirs}", constant("src/kernel/comgr.cpp", ours), f"AMD_COMGR_{theirs}")
               for ours, theirs in COMGR.items()]
    return run_program(program(includes, checks), [folder, vendor_headers.comgr_folder()],
                       ("-D__HIP_PLATFORM_AMD__", "-D__HIP_DISABLE_CPP_FUNCTIONS__"))


class RustHeader:
    """Numbers, functions and the layout of a structure in declarations for Rust."""

    SIZES = {"c_char": 1, "c_uchar": 1, "c_int": 4, "c_uint": 4, "usize": 8, "hipUUID": 16, "hipDeviceArch_t": 4}

    def __init__(self, text):
        self.numbers = {name: int(value) for name, value in
                        re.findall(r"pub const (?:\w+_t_|\w+?_)?(hip\w+):\s*\w+ =\s*(-?\d+);", text)}
        self.parameters = {}
        for name, inside in re.findall(r"pub fn (\w+)\s*\(([^;]*?)\)\s*->", text):
            self.parameters[name] = len(re.findall(r"\w+\s*:(?!:)", inside))
        self.text = text

    def offset(self, structure, wanted):
        """Offset of a field, and the size of all fields together."""
        body = re.search(rf"pub struct {structure} \{{(.*?)\n\}}", self.text, flags=re.S).group(1)
        position, found = 0, None
        for name, kind in re.findall(r"pub (\w+):\s*([^\n]*?),\n", body):
            array = re.match(r"\[([\w:]+);\s*(\d+)(?:usize)?\]", kind)
            element, count = (array.group(1), int(array.group(2))) if array else (kind, 1)
            short = element.rsplit("::", 1)[-1]
            size = 8 if element.startswith("*") else self.SIZES[short]
            alignment = 1 if short == "hipUUID" else size
            position = -(-position // alignment) * alignment
            if name == wanted:
                found = position
            position += size * count
        return found, position


def check_newer_hip():
    good = True
    for major, text in sorted(vendor_headers.newer_hip_texts().items()):
        header = RustHeader(text)
        wanted = [(theirs, constant(path, ours)) for path, ours, _, theirs in NUMBERS
                  if theirs and theirs.startswith("hip")]
        wanted += [(name, number) for number, _, name in ERRORS if name]
        wanted += hip_attributes(header.numbers)
        for name, number in wanted:
            if header.numbers.get(name) != number:
                print(f"HIP {major}: {name} is {header.numbers.get(name)} there, {number} here")
                good = False
        for name, parameters in functions("hip"):
            if name.startswith("rsmi") or name == "hipGetDeviceProperties":
                continue
            count = 0 if parameters == "()" else parameters.count(",") + 1
            if header.parameters.get(name) != count:
                print(f"HIP {major}: {name} has {header.parameters.get(name)} parameters there, {count} here")
                good = False
        offset, size = header.offset("hipDeviceProp_tR0600", "gcnArchName")
        if offset != constant("src/device/gpu/hip.cpp", "kArchitecture6"):
            print(f"HIP {major}: gcnArchName lies at {offset}")
            good = False
        if size > constant("src/device/gpu/hip.cpp", "kPropertiesSize"):
            print(f"HIP {major}: hipDeviceProp_tR0600 has {size} bytes")
            good = False
        print(f"HIP {major}: {len(wanted)} numbers, {len(functions('hip'))} functions")
    return good


CHECKS = {"cuda": check_cuda, "hip5": check_hip5, "hip6": check_newer_hip}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        print(__doc__)
        return 2
    try:
        return 0 if CHECKS[sys.argv[1]]() else 1
    except vendor_headers.Unreachable as reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
