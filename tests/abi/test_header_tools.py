# SPDX-License-Identifier: Apache-2.0
"""The tools that bindings are made with take the headers as they are: every constant, function and structure.

test_header_tools.py cffi | bindgen | cgo LIBRARY; ends with 77 where the tool is not there. What the numbers and sizes
must be is what the C compiler makes of the headers, as abi.txt holds it.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import headers

sys.path.insert(0, str(headers.ROOT / "tools"))
import make_cdef  # noqa: E402

SKIPPED = 77
INCLUDES = '#include "max/max.h"\n#include "max/experimental.h"\n'
RECORD = pathlib.Path(__file__).with_name("abi.txt").read_text()
CONSTANTS = {name: int(value) for name, value in re.findall(r"^(MAX_\w+) (-?\d+)$", RECORD, flags=re.M)}
SIZES = {name: int(size) for name, size in re.findall(r"^struct (\w+) (\d+)$", RECORD, flags=re.M)}
FUNCTIONS = sorted(headers.functions())
VERSION = re.search(r'MAX_VERSION_STRING "(.*)"', (headers.INCLUDE / "max/version.h").read_text())[1]


class Absent(Exception):
    """A tool cannot be had here; the text says which."""


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Absent(f"there is no {tool}")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def expect_all(what, found, wanted):
    """`found` is a dictionary or a set of what a tool made, `wanted` of what the headers have."""
    missing = sorted(set(wanted) - set(found))
    assert not missing, f"{what} that are missing: {missing}"
    if isinstance(wanted, dict):
        wrong = {name: found[name] for name in wanted if found[name] != wanted[name]}
        assert not wrong, f"{what} with wrong values: {wrong}"
    assert len(wanted) > 10, f"{len(wanted)} {what} are too few to be all"
    print(f"{len(wanted)} {what}")


def load_extension(folder, library):
    """Python's module of the headers, made with cffi in its out-of-line API mode."""
    import cffi
    builder = cffi.FFI()
    builder.cdef(make_cdef.cdef())
    builder.set_source("max_headers", INCLUDES)
    source, module = folder / "max_headers.c", folder / f"max_headers{sysconfig.get_config_var('EXT_SUFFIX')}"
    builder.emit_c_code(str(source))
    run(os.environ.get("CC", "cc"), "-O0", "-w", "-shared", "-fPIC", "-I", headers.INCLUDE, "-I",
        sysconfig.get_path("include"), source, "-o", module, library, f"-Wl,-rpath,{library.parent}")
    specification = importlib.util.spec_from_file_location("max_headers", module)
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded.ffi, loaded.lib


def check_cffi(folder, library):
    if importlib.util.find_spec("cffi") is None:
        raise Absent("there is no Python package cffi")
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        raise Absent("there is no Python.h")
    need(os.environ.get("CC", "cc"))
    ffi, lib = load_extension(folder, library)
    expect_all("constants", {name: getattr(lib, name, None) for name in CONSTANTS}, CONSTANTS)
    expect_all("structures", {name: ffi.sizeof(name) for name in SIZES}, SIZES)
    expect_all("functions", {name for name in FUNCTIONS if callable(getattr(lib, name, None))}, set(FUNCTIONS))
    assert ffi.string(lib.MAX_VERSION_STRING).decode() == VERSION
    assert ffi.string(lib.maxGetVersion()).decode() == VERSION

    device, label = ffi.new("MaxDevice**"), ffi.new("char**")
    assert lib.maxDeviceCreate(b"cpu", 0, ffi.NULL, device) == lib.MAX_STATUS_OK
    assert lib.maxDeviceGetLabel(device[0], label) == lib.MAX_STATUS_OK
    assert ffi.string(label[0]) == b"cpu"
    options = ffi.new("MaxBufferOptions*", {"structSize": ffi.sizeof("MaxBufferOptions"), "zeroed": 1})
    buffer = ffi.new("MaxBuffer**")
    wrong = lib.maxBufferCreate(device[0], 4711, 1, [4], options, buffer)
    assert wrong == lib.MAX_STATUS_INVALID_ARGUMENT and b"4711" in ffi.string(lib.maxGetLastErrorMessage())
    assert buffer[0] == ffi.NULL
    assert lib.maxBufferCreate(device[0], lib.MAX_DTYPE_FLOAT32, 1, [4], options, buffer) == lib.MAX_STATUS_OK
    lib.maxBufferRelease(buffer[0])
    lib.maxDeviceRelease(device[0])


RUST_TESTS = """
#[cfg(test)]
mod headers {
  use super::*;
  #[test]
  fn constants() {
%s
    assert_eq!(MAX_VERSION_STRING, b"%s\\0");
  }
  #[test]
  fn functions() {
    let all: &[*const ()] = &[
%s
    ];
    assert!(all.iter().all(|function| !function.is_null()));
    let version = unsafe { std::ffi::CStr::from_ptr(maxGetVersion()) };
    assert_eq!(version.to_str().unwrap(), "%s");
  }
}
"""


def check_bindgen(folder, library):
    need("bindgen")
    header, bindings = folder / "all.h", folder / "bindings.rs"
    header.write_text(INCLUDES)
    run("bindgen", header, "-o", bindings, "--allowlist-function", "max.*", "--allowlist-type", "Max.*",
        "--allowlist-var", "MAX_.*", "--", f"-I{headers.INCLUDE}")
    text = bindings.read_text()
    numbers = {name: int(value) for name, value in re.findall(r"pub const (MAX_\w+): \w+ = (-?\d+);", text)}
    expect_all("constants", numbers, CONSTANTS)
    expect_all("structures", set(re.findall(r"pub struct (\w+) \{", text)), set(SIZES))
    expect_all("functions", set(re.findall(r"pub fn (\w+)\(", text)), set(FUNCTIONS))
    if not shutil.which("rustc"):
        print("not compiled: there is no rustc")
        return
    checks = "\n".join(f"    assert_eq!({name} as i128, {value});" for name, value in CONSTANTS.items())
    uses = "\n".join(f"      {name} as *const ()," for name in FUNCTIONS)
    bindings.write_text(text + RUST_TESTS % (checks, VERSION, uses, VERSION))
    program = folder / "bindings"
    run("rustc", "--edition", "2021", "--test", "-A", "warnings", bindings, "-o", program, "-L", library.parent, "-l",
        "max", "-C", f"link-arg=-Wl,-rpath,{library.parent}")
    # Newer versions of bindgen check layouts when they are compiled, older ones when they run.
    layouts = set(re.findall(r"fn bindgen_test_layout_(\w+)|Size of (\w+)", text))
    expect_all("layouts that are checked", {"".join(pair) for pair in layouts}, set(SIZES))
    output = run(program)
    assert re.search(r"test result: ok\. (\d+) passed", output), output


GO_PROGRAM = """package main

// #cgo CFLAGS: -O0 -I%s
// #cgo LDFLAGS: -L%s -lmax -Wl,-rpath,%s
%s
import "C"

import (
	"fmt"
	"unsafe"
)

var functions = []unsafe.Pointer{
%s
}

func main() {
%s
%s
	for _, function := range functions {
		if function == nil {
			panic("a function is missing")
		}
	}
	fmt.Println("functions", len(functions))
	fmt.Println("version", C.MAX_VERSION_STRING, C.GoString(C.maxGetVersion()))
}
"""


def check_cgo(folder, library):
    need("go", "gcc")
    includes = "".join(f"// {line}\n" for line in INCLUDES.splitlines()).rstrip()
    uses = "\n".join(f"\tunsafe.Pointer(C.{name})," for name in FUNCTIONS)
    constants = "\n".join(f'\tfmt.Println("{name}", int64(C.{name}))' for name in CONSTANTS)
    sizes = "\n".join(f'\tfmt.Println("{name}", uint64(C.sizeof_{name}))' for name in SIZES)
    (folder / "go.mod").write_text("module headers\n\ngo 1.19\n")
    (folder / "main.go").write_text(GO_PROGRAM % (headers.INCLUDE, library.parent, library.parent, includes, uses,
                                                  constants, sizes))
    # What Go itself compiles for cgo is kept next to the other caches of the tests.
    cache = library.parent.parent / "tests" / "go_cache"
    environment = {**os.environ, "GOCACHE": str(cache), "GOPATH": str(cache / "path"), "GOPROXY": "off",
                   "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "1"}
    output = run("go", "run", ".", cwd=folder, env=environment)
    printed = {name: int(value) for name, value in re.findall(r"^(\w+) (-?\d+)$", output, flags=re.M)}
    expect_all("constants", printed, CONSTANTS)
    expect_all("structures", printed, SIZES)
    assert printed["functions"] == len(FUNCTIONS)
    assert f"version {VERSION} {VERSION}\n" in output, output
    print(f"{len(FUNCTIONS)} functions")


CHECKS = {"cffi": check_cffi, "bindgen": check_bindgen, "cgo": check_cgo}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        try:
            CHECKS[sys.argv[1]](pathlib.Path(folder), pathlib.Path(sys.argv[2]).absolute())
        except Absent as reason:
            print(f"SKIPPED: {reason}")
            return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
