# SPDX-License-Identifier: Apache-2.0
"""Tests the Go package with a library that is built: run.py cgo|purego|race|asan|lint|staticcheck|examples|extras [ARGUMENT OF go test...].

MAX_BUILD names the build folder. Everything that Go writes stays below build/go. Ends with 77, and a reason, if this
machine lacks what a part needs. staticcheck is for ./dev lint. extras: longer runs outside ./dev test: Go's own
address sanitizer, fuzzing, other systems.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
BUILD = pathlib.Path(os.environ.get("MAX_BUILD", ROOT / "build"))
CACHE = ROOT / "build/go"
OLDEST = (1, 24)
STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.7.0"
MODULES = [path for path in (PACKAGE, ROOT / "examples/go", ROOT / "benchmarks/go") if path.is_dir()]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def find_go():
    """Go of this machine if it is new enough, else the one that ./dev fetched."""
    for go in (shutil.which("go"), ROOT / "build/go_toolchain/bin/go"):
        if go and pathlib.Path(go).exists():
            environment = {**os.environ, "GOTOOLCHAIN": "local"}
            version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, env=environment).stdout
            numbers = re.match(r"go(\d+)\.(\d+)", version)
            if numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST:
                return str(go)
    return skip(f"there is no Go {OLDEST[0]}.{OLDEST[1]} or newer")


def environment(go, **more):
    library = BUILD / "lib"
    path = f"{pathlib.Path(go).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "GOTOOLCHAIN": "local", "GOCACHE": str(CACHE / "cache"), "GOMODCACHE": str(CACHE / "modules"),
            "GOPATH": str(CACHE / "path"), "GOFLAGS": "-modcacherw -buildvcs=false", "GOWORK": "off",
            "PKG_CONFIG_PATH": str(library / "pkgconfig"), "MAX_LIBRARY": str(library / "libmax.so.0"), **more}


def run(command, folder, variables, **options):
    return subprocess.run(list(map(str, command)), cwd=folder, env=variables, **options)


def need(go, variables):
    """The modules that the package needs, fetched once."""
    if run([go, "mod", "download"], PACKAGE, variables).returncode:
        skip("the modules cannot be fetched")
    return variables


def need_cgo(go):
    if not shutil.which("pkg-config") or not shutil.which(os.environ.get("CC", "cc")):
        skip("there is no pkg-config or no C compiler")
    return need(go, environment(go, CGO_ENABLED="1"))


def check(command, folder, variables):
    code = run(command, folder, variables).returncode
    if code:
        sys.exit(code)


# Go keeps results, and does not see that the library is another one. Without -v it does not say what ran and what was skipped.
TEST = ("test", "-v", "-count=1")


def cgo(go, arguments):
    check([go, *TEST, *arguments, "./..."], PACKAGE, need_cgo(go))


def purego(go, arguments):
    check([go, *TEST, *arguments, "./..."], PACKAGE, need(go, environment(go, CGO_ENABLED="0")))


def race(go, arguments):
    """The race detector, and the strict checks of pointers that cross."""
    check([go, *TEST, "-race", *arguments, "./..."], PACKAGE, {**need_cgo(go), "GOEXPERIMENT": "cgocheck2"})


def asan(go, arguments):
    """The tests as they are built for the release, on the library of a build with Clang's address sanitizer."""
    runtime = subprocess.run(["clang", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True).stdout.strip() \
        if shutil.which("clang") else ""
    release = ROOT / "build/lib"
    if not os.path.isabs(runtime) or not (release / "libmax.so").exists():
        skip("there is no Clang, or no release build to link with")
    variables = {**need_cgo(go), "PKG_CONFIG_PATH": str(release / "pkgconfig")}
    program = CACHE / "test_program"
    check([go, "test", "-c", "-o", program, "."], PACKAGE, variables)
    options = os.environ.get("ASAN_OPTIONS", "allocator_may_return_null=1:intercept_tls_get_addr=0")
    check([program, "-test.v", *arguments], PACKAGE, {**variables, "LD_PRELOAD": runtime, "LD_LIBRARY_PATH": str(BUILD / "lib"),
                                           "ASAN_OPTIONS": f"{options}:detect_leaks=0"})


def lint(go, _):
    variables = need_cgo(go)
    check([sys.executable, ROOT / "tools/make_go.py", "--check"], ROOT, variables)
    wrong = run(["gofmt", "-l", *MODULES], ROOT, variables, capture_output=True, text=True).stdout
    if wrong:
        sys.exit(f"gofmt would change\n{wrong}")
    for module in MODULES:
        check([go, "vet", "./..."], module, variables)
    check([go, "vet", "./..."], PACKAGE, {**variables, "CGO_ENABLED": "0"})


def staticcheck(go, _):
    """Takes a minute to compile the first time."""
    variables = need_cgo(go)
    for module in MODULES:
        check([go, "run", STATICCHECK, "./..."], module, variables)
    check([go, "run", STATICCHECK, "-tags", "max_purego", "./..."], PACKAGE, variables)


def examples(go, _):
    variables = need_cgo(go)
    check([sys.executable, pathlib.Path(__file__).parent / "examples.py", go, BUILD], ROOT, variables)


def extras(go, arguments):
    variables = need_cgo(go)
    library = ROOT / "build-asan/lib"
    if (library / "libmax.so").exists():
        check([go, *TEST, "-asan", *arguments, "."], PACKAGE, {**variables, "CC": "clang", "LD_LIBRARY_PATH": str(library)})
    for name in ("FuzzSlice", "FuzzNames", "FuzzModel", "FuzzShape"):
        check([go, "test", "-run", "^$", "-fuzz", f"^{name}$", "-fuzztime", "20s", "-fuzzminimizetime", "10x", *arguments, "."], PACKAGE, variables)
    for system, machine in (("linux", "arm64"), ("darwin", "arm64")):
        check([go, "build", "./..."], PACKAGE, {**variables, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine})


PARTS = {"cgo": cgo, "purego": purego, "race": race, "asan": asan, "lint": lint, "staticcheck": staticcheck, "examples": examples, "extras": extras}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS:
        print(__doc__)
        return 2
    PARTS[sys.argv[1]](find_go(), sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
