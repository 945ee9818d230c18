# SPDX-License-Identifier: Apache-2.0
"""The examples in Go print what those in C print, in both of the package's modes, and the program of docs/go.md is built
and run with the commands there: examples.py GO BUILD."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = [("digits", ROOT / "examples/digits"), ("vector_add",), ("vector_add", "cuda"), ("graph",)]
FAKES = {"MAX_CUDA_LIBRARY": "libcuda.so.1", "MAX_NVRTC_LIBRARY": "libnvrtc.so", "MAX_NVML_LIBRARY": "libnvidia-ml.so.1"}
SPEED = re.compile(r"^images per second .*$", re.M)


def output(command, variables):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=variables)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return SPEED.sub("images per second", done.stdout)


def block(page, language):
    return re.search(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)[1]


def run_document(build):
    """Returns what the program of docs/go.md prints, once for each mode."""
    page = ROOT / "docs/go.md"
    with tempfile.TemporaryDirectory() as home:
        program = pathlib.Path(home) / "program"
        program.mkdir()
        (program / "main.go").write_text(block(page, "go"))
        shutil.copy(ROOT / "examples/digits/digits.onnx", program)
        commands = "set -e\n" + block(page, "sh").replace(" build ", f" '{build}' ", 1)
        done = subprocess.run(["bash", "-c", commands], cwd=ROOT, env={**os.environ, "HOME": home, "CGO_ENABLED": "1"},
                              capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"docs/go.md\n{done.stdout}{done.stderr}")
    return re.findall(r"^an empty image .*$", done.stdout, re.M)


def main(go, build):
    wrong = 0
    said = run_document(build)
    if len(said) != 2 or not all(re.search(r"with probability 0\.\d{3}$", line) for line in said):
        wrong += 1
        print(f"docs/go.md: the program printed {said}")
    for cgo in ("1", "0"):
        variables = {**os.environ, "CGO_ENABLED": cgo}
        folder = ROOT / "build/go/examples" / cgo
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "build", "-o", folder, "./..."], cwd=ROOT / "examples/go", env=variables, check=True)
        variables |= {name: str(pathlib.Path(build) / "lib/fake" / file) for name, file in FAKES.items()}
        for name, *arguments in EXAMPLES:
            expected = output([pathlib.Path(build) / f"bin/example_{name}", *arguments], variables)
            found = output([folder / name, *arguments], variables)
            if found != expected:
                wrong += 1
                print(f"{name} {arguments}, CGO_ENABLED={cgo}: found\n{found}\nexpected\n{expected}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
