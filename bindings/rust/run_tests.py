# SPDX-License-Identifier: Apache-2.0
"""Tests of the binding for Rust: run_tests.py PART BUILD; ends with 77 where a tool is missing.

tests: those of bindings/rust/max, the examples and all documentation. generated: the raw layer is what the headers say.
lints: rustfmt, clippy, rustdoc, and that every public item has an example. sources: the program of docs/rust.md, with
the shared library and with the archive inside. address: the tests with the library of BUILD, which is the address
sanitizer's. What Cargo makes and fetches lies in the folder build/rust of this repository.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77
FEATURES = "half,ndarray,dlpack,tracing"
OLDEST = (1, 85)


class Absent(Exception):
    """A tool cannot be had here; the text says which."""


def run(*command, **options):
    print("$", *command, flush=True)
    done = subprocess.run([str(part) for part in command], cwd=options.pop("cwd", HERE), check=False, **options)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return done


def environment(build):
    folder = ROOT / "build/rust"
    home = {} if online_home() else {"CARGO_HOME": str(folder / "home")}
    return {**os.environ, **home, "CARGO_TARGET_DIR": str(folder), "MAX_DIR": str(build), "RUST_BACKTRACE": "0",
            "LD_LIBRARY_PATH": str(build / "lib")}


def online_home():
    """Whether Cargo has a home of this user's with crates in it already, which need not be fetched again."""
    return (pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")) / "registry").exists()


def need_cargo():
    if not shutil.which("cargo"):
        raise Absent("there is no cargo")
    version = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.search(r"(\d+)\.(\d+)", version).groups())) < OLDEST:
        raise Absent(f"{version.strip()} is too old")


def need_crates(settings):
    """Crates come from the registry once; afterwards no network is needed."""
    fetch = ["cargo", "fetch", "--locked"]
    if subprocess.run([*fetch, "--offline"], cwd=HERE, env=settings, capture_output=True, check=False).returncode:
        done = subprocess.run(fetch, cwd=HERE, env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Absent(f"crates cannot be fetched: {done.stderr.strip().splitlines()[-1]}")


def cargo(settings, command, *arguments, **options):
    return run("cargo", command, "--locked", "--offline", *arguments, env=settings, **options)


def tests(build):
    settings = environment(build)
    need_crates(settings)
    cargo(settings, "test", "-p", "max-runtime-sys", "-p", "max-runtime", "--features", FEATURES)
    output = lambda *command: subprocess.run([str(part) for part in command], cwd=ROOT, env=settings, check=True,
                                             capture_output=True, text=True).stdout
    compare_examples(build, output)


def without_speed(text):
    return re.sub(r"(?m)^images per second.*$", "", text)


def compare_examples(build, output):
    """The same programs as in C and Python print the same."""
    programs, examples = build / "bin", ROOT / "build/rust/debug/examples"
    digits, reference = output(examples / "digits"), output(programs / "example_digits", "examples/digits")
    assert without_speed(digits) == without_speed(reference) and "images per second" in digits, digits
    sums, reference = output(examples / "vector_add"), output(programs / "example_vector_add")
    assert sums == reference and ", 0 wrong" in sums, sums
    graph = output(examples / "graph")
    assert graph == "0 xor 0 = 0\n0 xor 1 = 1\n1 xor 0 = 1\n1 xor 1 = 0\n", graph
    print("examples print what those in C print")


def generated(_build):
    done = subprocess.run([sys.executable, ROOT / "tools/make_rust.py", "--check"], check=False)
    if done.returncode == SKIPPED:
        raise Absent("there is no bindgen")
    if done.returncode:
        sys.exit(done.returncode)


def has(settings, *command):
    return subprocess.run(["cargo", *command], cwd=HERE, env=settings, capture_output=True, check=False).returncode == 0


def lints(build):
    run(sys.executable, ROOT / "tools/check_rust_examples.py")
    settings = environment(build)
    need_crates(settings)
    arguments = ["-p", "max-runtime-sys", "-p", "max-runtime", "--features", FEATURES]
    cargo({**settings, "RUSTDOCFLAGS": "-D warnings"}, "doc", "--no-deps", *arguments)
    if has(settings, "fmt", "--version"):
        run("cargo", "fmt", "--check", env=settings)
    else:
        print("not checked: there is no rustfmt")
    version = subprocess.run(["cargo", "clippy", "--version"], capture_output=True, text=True, check=False).stdout
    # It says 0.1.85 where Rust is 1.85.
    if tuple(map(int, re.findall(r"\d+", version)[1:3])) >= OLDEST:
        cargo(settings, "clippy", "--all-targets", *arguments, "--", "-D", "warnings")
    else:
        print("not checked: there is no clippy of this version of Rust")


PROGRAM = """[package]
name = "program"
version = "0.1.0"
edition = "2024"

[dependencies]
max-runtime = {{ path = "{path}" }}
"""


def sources(build):
    """It runs with the shared library as cargo finds it, and without one when the archive is inside."""
    settings = environment(build)
    need_crates(settings)
    run("cmake", "--build", build, "--target", "max_static")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(PROGRAM.format(path=HERE / "max"))
        page = (ROOT / "docs/rust.md").read_text()
        (folder / "src/main.rs").write_text(re.search(r"```rust\n(.*?)```", page, re.S)[1])
        shutil.copy(HERE / "Cargo.lock", folder)
        shutil.copy(ROOT / "examples/digits/digits.onnx", folder)
        settings.pop("LD_LIBRARY_PATH")
        settings["CARGO_TARGET_DIR"] = str(folder / "target")
        for kind in ("0", "1"):
            run("cargo", "build", "--offline", cwd=folder, env={**settings, "MAX_STATIC": kind})
            command = ["cargo", "run", "--offline", "--quiet"] if kind == "0" else [folder / "target/debug/program"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder,
                                  env={**settings, "MAX_STATIC": kind})
            assert done.stdout == "an empty image is a 1 with probability 0.131\n", done.stdout + done.stderr
            libraries = subprocess.run(["ldd", folder / "target/debug/program"], capture_output=True, text=True, check=True)
            assert ("libmax" in libraries.stdout) == (kind == "0"), libraries.stdout


# Compilers of kernels are not checked, and leak.
COMPILER = """#!/bin/sh
exec env -u LD_PRELOAD c++ "$@"
"""


def address(build):
    """Clang's runtime comes first in the process, which Rust built without it. Two tests leak on purpose."""
    plain = ROOT / "build"
    if not (plain / "lib/libmax.so").exists():
        raise Absent("there is no library in build/lib")
    settings = environment(plain)
    need_crates(settings)
    arguments = ["--features", FEATURES, "--test", "all", "--no-run", "--message-format", "json"]
    done = run("cargo", "test", "--locked", "--offline", "-p", "max-runtime", *arguments, env=settings,
               stdout=subprocess.PIPE, text=True)
    program = re.findall(r'"executable":"([^"]+)"', done.stdout)[-1]
    runtime = subprocess.run(["clang", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True,
                             check=True).stdout.strip()
    compiler = build / "tests/compiler.sh"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    settings.update({"LD_LIBRARY_PATH": str(build / "lib"), "LD_PRELOAD": runtime, "MAX_CXX": str(compiler)})
    run(program, "--skip", "forgotten", "--skip", "misbehave", cwd=HERE / "max", env=settings)


PARTS = {"tests": tests, "address": address, "generated": generated, "lints": lints, "sources": sources}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in PARTS:
        print(__doc__)
        return 2
    try:
        need_cargo()
        PARTS[sys.argv[1]](pathlib.Path(sys.argv[2]).absolute())
    except Absent as reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
