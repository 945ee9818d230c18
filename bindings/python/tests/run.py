# SPDX-License-Identifier: Apache-2.0
"""Tests the package with a library that is built: run.py stage|package|wheel|types|reference FOLDER [ARGUMENT OF PYTEST...].

MAX_LIBRARY names the library, MAX_PYTHON_STAGE the folder of a package that `stage` has made; else it is made in FOLDER.
Ends with 77, and a reason, if this machine lacks what a part needs."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent
SOURCE = TESTS.parent
LIBRARY = pathlib.Path(os.environ.get("MAX_LIBRARY", SOURCE.parents[1] / "build/lib/libmax.so"))
NEEDED = ("cffi", "numpy", "ml_dtypes", "onnx", "pytest", "hypothesis")
RAY_PYTHON = SOURCE.parents[1] / "build/ray_venv/bin/python"  # which ray/run_ray.py makes
MOST_BYTES = 8 << 20


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def quiet(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def stage(folder, arguments=()):
    """The package as it is installed, in FOLDER/stage."""
    shutil.rmtree(folder / "stage", ignore_errors=True)
    if importlib.util.find_spec("cffi") is None:
        print("cffi is not installed")  # those who need it say so, too
        return
    quiet(
        "cmake", "-S", SOURCE, "-B", folder / "build", f"-DMAX_LIBRARY_DIR={LIBRARY.parent}",
        f"-DPython_EXECUTABLE={sys.executable}",
    )  # fmt: skip
    quiet("cmake", "--build", folder / "build")
    quiet("cmake", "--install", folder / "build", "--prefix", folder / "stage", "--component", "python")


def staged(folder):
    if "MAX_PYTHON_STAGE" not in os.environ:
        stage(folder)
        os.environ["MAX_PYTHON_STAGE"] = str(folder / "stage")
    if not os.path.isdir(os.environ["MAX_PYTHON_STAGE"]):
        skip("the package is not made")
    return os.environ["MAX_PYTHON_STAGE"]


def package(folder, arguments):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        skip(f"{', '.join(missing)} not installed")
    staged(folder)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", str(TESTS)]
    command += [f"--ignore={TESTS / 'ray'}", *arguments]  # which has its own environment
    sys.exit(subprocess.run(command, cwd=folder).returncode)


def types(folder, arguments):
    """The package is well typed for those who check theirs strictly; Ray's types are those of Ray, where it is installed."""
    missing = [name for name in ("mypy", "basedpyright") if importlib.util.find_spec(name) is None]
    if missing:
        skip(f"{', '.join(missing)} not installed")
    python, without_ray = (RAY_PYTHON, []) if RAY_PYTHON.exists() else (sys.executable, ["--exclude", "max/ray/"])
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", folder / "mypy"]
    command += ["--python-executable", python, "--follow-imports=silent"]
    quiet(*command, *without_ray, SOURCE / "max")
    settings = {
        "include": [str(SOURCE / "max")], "exclude": [str(SOURCE / "max/ray")] if without_ray else [],
        "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard", "pythonVersion": "3.10", "reportMissingImports": "none",
    }  # fmt: skip
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    quiet(sys.executable, "-m", "basedpyright", "-p", folder, "--pythonpath", python)


def reference(folder, arguments):
    """Sphinx makes the reference; a docstring that it cannot read is an error."""
    if importlib.util.find_spec("sphinx") is None:
        skip("Sphinx is not installed")
    os.environ["PYTHONPATH"] = staged(folder)
    quiet(sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", SOURCE / "docs", folder / "html")
    text = re.sub(r"<[^>]*>", "", (folder / "html/index.html").read_text())
    names = "max.driver.Buffer", "max.engine.Model", "max.dtype.DType", "max.graph.Graph", "max.ray.predict", "max.ray.deployment"
    missing = [name for name in names if name not in text]
    assert not missing, f"the reference lacks {', '.join(missing)}"


def interpreters():
    """CPythons that are installed, from 3.10 on: one of each version, such as 3.14, or 3.14t if it runs without the lock.

    PATH, pyenv, and the folders or programs in MAX_PYTHONS are looked through.
    """
    names = [f"python3{suffix}" for suffix in ("", *(f".{minor}{t}" for minor in range(10, 20) for t in ("", "t")))]
    folders = [pathlib.Path(name) for name in os.environ.get("PATH", "").split(":") if "shims" not in name]
    folders += sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin"))
    programs = [folder / name for folder in folders for name in names]
    for given in map(pathlib.Path, filter(None, os.environ.get("MAX_PYTHONS", "").split(":"))):
        programs += [given / name for name in names] if given.is_dir() else [given]
    ask = (
        "import sys, platform, venv; free = 't' in sys.abiflags;"  # cffi needs 3.14 where there is no lock
        "assert sys.version_info >= ((3, 14) if free else (3, 10)) and sys.prefix == sys.base_prefix;"
        "print(platform.python_implementation(), '%d.%d' % sys.version_info[:2] + ('t' if free else ''))"
    )
    found = {}
    for program in programs:
        if os.access(program, os.X_OK):
            done = subprocess.run([program, "-c", ask], capture_output=True, text=True)
            implementation, version = done.stdout.split() if done.returncode == 0 else ("", "")
            if implementation == "CPython":
                found.setdefault(version, program)
    return found


def make_wheel(folder, python):
    """What pip makes with an interpreter and the library that is built."""
    out = folder / f"wheels-{python.parent.parent.name}"
    shutil.rmtree(out, ignore_errors=True)
    quiet(
        python, "-m", "pip", "wheel", "--no-deps", "-w", out, SOURCE,
        "-C", f"cmake.define.MAX_LIBRARY_DIR={LIBRARY.parent}", "-C", f"build-dir={out}-build",
    )  # fmt: skip
    (made,) = out.glob("*.whl")
    assert made.stat().st_size <= MOST_BYTES, f"{made.name} has {made.stat().st_size} bytes"
    return made


PROGRAM = """
import sys
import max.driver, max.engine
from max.dtype import DType
buffer = max.driver.Buffer(DType.int8, [3])
buffer[1] = 7
assert buffer.shape == (3,) and buffer[1].item() == 7 and buffer.__dlpack__() is not None
assert "t" not in sys.abiflags or not sys._is_gil_enabled()
print(max.__version__)
"""


def try_wheel(folder, version, program, made):
    """The wheel, or one made for the interpreter if there is no stable ABI, installs without numpy."""
    environment = folder / f"environment-{version}"
    python = environment / "bin/python"
    free = version.endswith("t")
    quiet(program, "-m", "venv", "--clear", *([] if free else ["--without-pip"]), environment)
    if free:
        made = make_wheel(folder, python)
        assert "t-linux_" in made.name, made.name
    # cffi needs others only where it reads declarations
    quiet(sys.executable, "-m", "pip", "-q", "--python", python, "install", "--no-deps", "--no-compile", "cffi", made)
    done = subprocess.run([python, "-c", PROGRAM], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"{version}: {done.stderr}"
    print(f"{version}: {made.name}, version {done.stdout.strip()}")


def wheel(folder, arguments):
    """pip makes a wheel, and fresh environments of all interpreters that are here take it."""
    index = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder / "download", "scikit-build-core"]
    if subprocess.run(index, capture_output=True).returncode:
        skip("no package index is reachable")
    made = make_wheel(folder, pathlib.Path(sys.executable))
    assert "-cp310-abi3-linux_" in made.name, made.name
    print(f"{made.name}: {made.stat().st_size} bytes")
    for version, program in sorted(interpreters().items()):
        try_wheel(folder, version, program, made)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[2]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    {"stage": stage, "package": package, "wheel": wheel, "types": types, "reference": reference}[sys.argv[1]](target, sys.argv[3:])
