# SPDX-License-Identifier: Apache-2.0
"""The examples in Go print what those in C print, in both of the package's modes: examples.py GO BUILD."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = {"digits": [ROOT / "examples/digits"], "vector_add": [], "graph": []}
SPEED = re.compile(r"^images per second .*$", re.M)


def output(command, variables):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=variables)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return SPEED.sub("images per second", done.stdout)


def main(go, build):
    wrong = 0
    for cgo in ("1", "0"):
        variables = {**os.environ, "CGO_ENABLED": cgo}
        folder = ROOT / "build/go/examples" / cgo
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "build", "-o", folder, "./..."], cwd=ROOT / "examples/go", env=variables, check=True)
        for name, arguments in EXAMPLES.items():
            expected = output([pathlib.Path(build) / f"bin/example_{name}", *arguments], variables)
            found = output([folder / name, *arguments], variables)
            if found != expected:
                wrong += 1
                print(f"{name}, CGO_ENABLED={cgo}: found\n{found}\nexpected\n{expected}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
