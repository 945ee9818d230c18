# SPDX-License-Identifier: Apache-2.0
"""Tests the package with a library that is built: run.py package|wheel FOLDER [ARGUMENT OF PYTEST...].

MAX_LIBRARY names the library. Ends with 77, and a reason, if this machine lacks what a part needs."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent
SOURCE = TESTS.parent
LIBRARY = pathlib.Path(os.environ.get("MAX_LIBRARY", SOURCE.parents[1] / "build/lib/libmax.so"))
NEEDED = ("cffi", "numpy", "ml_dtypes", "onnx", "pytest", "hypothesis")
MOST_BYTES = 8 << 20


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def quiet(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def stage(folder):
    """The package as it is installed, in FOLDER/stage."""
    shutil.rmtree(folder / "stage", ignore_errors=True)
    quiet(
        "cmake", "-S", SOURCE, "-B", folder / "build", f"-DMAX_LIBRARY_DIR={LIBRARY.parent}",
        f"-DPython_EXECUTABLE={sys.executable}",
    )  # fmt: skip
    quiet("cmake", "--build", folder / "build")
    quiet("cmake", "--install", folder / "build", "--prefix", folder / "stage", "--component", "python")


def package(folder, arguments):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        skip(f"{', '.join(missing)} not installed")
    stage(folder)
    environment = {**os.environ, "MAX_PYTHON_STAGE": str(folder / "stage")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", str(TESTS), *arguments]
    sys.exit(subprocess.run(command, env=environment, cwd=folder).returncode)


def wheel(folder, arguments):
    """pip makes a wheel, a fresh environment takes it; numpy is not needed for that."""
    python = folder / "environment/bin/python"
    index = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder / "download", "scikit-build-core"]
    if subprocess.run(index, capture_output=True).returncode:
        skip("no package index is reachable")
    shutil.rmtree(folder / "wheels", ignore_errors=True)
    quiet(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder / "wheels", SOURCE,
        "-C", f"cmake.define.MAX_LIBRARY_DIR={LIBRARY.parent}", "-C", f"build-dir={folder / 'wheel_build'}",
    )  # fmt: skip
    (made,) = (folder / "wheels").glob("*.whl")
    assert "-cp310-abi3-linux_" in made.name, made.name
    assert made.stat().st_size <= MOST_BYTES, f"{made.name} has {made.stat().st_size} bytes"
    quiet(sys.executable, "-m", "venv", "--clear", folder / "environment")
    quiet(python, "-m", "pip", "install", "-q", "cffi")
    quiet(python, "-m", "pip", "install", "-q", "--no-deps", made)
    program = "import sys, max.driver, max.engine; assert max.driver.Buffer(max.dtype.DType.int8, [3]).shape == (3,)"
    done = subprocess.run(
        [python, "-c", program + "; print(max.__version__)"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    print(f"{made.name}: {made.stat().st_size} bytes, version {done.stdout.strip()}")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[2]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    {"package": package, "wheel": wheel}[sys.argv[1]](target, sys.argv[3:])
