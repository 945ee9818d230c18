# SPDX-License-Identifier: Apache-2.0
"""Checks what a built libmax.so asks of a process: its size, the libraries it needs, the symbols it exports."""

import pathlib
import re
import subprocess
import sys
import tempfile

MAX_BYTES = 9650 * 1000
# The C library's parts (in newer versions they are one) and the dynamic loader.
NEEDED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
LOADER = re.compile(r"ld-linux.*\.so\.\d+")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stripped_size(library):
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "libmax.so"
        subprocess.run(["strip", "-o", copy, library], check=True)
        return copy.stat().st_size


def main(library):
    size = stripped_size(library)
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-dW", library))
    symbols = [line.split()[-1].split("@")[0] for line in output_of("nm", "-D", "--extern-only", "--defined-only", library).splitlines()]
    print(f"{library}: {size / 1e6:.2f} MB stripped, needs {' '.join(needed)}, exports {len(symbols)} symbols")
    found = [f"needs {name}" for name in needed if name not in NEEDED and not LOADER.fullmatch(name)]
    found += [f"exports {name}" for name in symbols if not re.match(r"max[A-Z]|MAX_\d", name)]
    if size > MAX_BYTES:
        found.append(f"{size} bytes stripped, more than {MAX_BYTES}")
    print("\n".join(found) if found else "as promised")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
