# SPDX-License-Identifier: Apache-2.0
"""Compares MAX with ONNX Runtime and OpenVINO and writes the tables; `./dev bench` calls it.

Every measurement is a separate process, and the libraries alternate, round by round, so that a machine whose speed
drifts is equally unkind to all. A ratio is taken within a round; above 1, MAX is faster."""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import mmap
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import numpy as np

from cases import CASES, ROOT
from limits import profile_arguments, share_of_limit
from tables import README, full_table, row_of, rows_of, write_readme

# Where a package for Python keeps its library for C.
PEERS = {"onnxruntime": "capi/libonnxruntime.so.*", "openvino": "libs/libopenvino_c.so.*"}
# More than any library takes for a case.
TOUCHED_BYTES = 3 << 29
# The page of each precision, which libraries compute in it, and what the page says of it.
PAGES = {
    "f32": ("cpu.md", ("max", *PEERS), "Products are float32 except in quantised models."),
    "bf16": ("cpu_bf16.md", ("max", "openvino"), "Products of floats are bfloat16: MAX has the precision `medium`, OpenVINO\n"
             "the hint `bf16`. ONNX Runtime is left out."),
}


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/bin/model_bench"))
    parser.add_argument("--models", default="", help="a regular expression: only the cases whose name it finds")
    parser.add_argument("--peers", default=",".join(name for name in PEERS if importlib.util.find_spec(name)))
    parser.add_argument("--precision", choices=PAGES, default="f32", help="of products")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, per process")
    parser.add_argument("--quick", action="store_true", help="one round of 0.2 s")
    parser.add_argument("--write", action="store_true", help="also where --models, --peers or --threads leave some out")
    parser.add_argument("--output", help="a page in place of that in benchmarks/results")
    arguments = parser.parse_args()
    arguments.output = arguments.output or str(ROOT / "benchmarks/results" / PAGES[arguments.precision][0])
    if arguments.quick:
        arguments.rounds, arguments.seconds = 1, 0.2
    return arguments


def peer_library(name):
    """What model_bench takes for a peer."""
    if name not in PEERS:
        sys.exit(f"no peer is called {name}; there are {', '.join(PEERS)}")
    if not (spec := importlib.util.find_spec(name)):
        sys.exit(f"{name} is not installed for {sys.executable}")
    return str(next(pathlib.Path(spec.origin).parent.glob(PEERS[name])))


def libraries(arguments):
    """What model_bench takes for each library."""
    found = {"max": "max"} | {name: peer_library(name) for name in filter(None, arguments.peers.split(","))}
    return {name: path for name, path in found.items() if name in PAGES[arguments.precision][1]}


def write_inputs(case, folder):
    """Arguments that describe the case's inputs, the same for all."""
    arguments = []
    for name, value in case.make_inputs(np.random.default_rng(0)).items():
        file = pathlib.Path(folder) / f"{name}.bin"
        file.write_bytes(value.tobytes())
        arguments += [name, value.dtype.name, "x".join(map(str, value.shape)), str(file)]
    return arguments


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def read_ahead(path):
    """So that the first process to load the model finds it in memory, as the others do."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def touch_memory():
    """So that no process waits for the host of a virtual machine to give it memory, which takes longer than a load and which
    the next process would not pay for."""
    with mmap.mmap(-1, TOUCHED_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for offset in range(0, TOUCHED_BYTES, mmap.PAGESIZE):
            memory[offset] = 1


def compare(case, threads, arguments):
    """{library: what each round measured}; the one that goes first changes from round to round. A peer that does not run
    the model is left out."""
    chosen = list(libraries(arguments).items())
    results = {name: [] for name, _ in chosen}
    read_ahead(case.model)
    with tempfile.TemporaryDirectory() as folder:
        model = [str(case.model), arguments.precision, str(threads), str(arguments.seconds), *write_inputs(case, folder)]
        run([arguments.program, chosen[0][1], *model])  # what the machine had to wake up for is not measured
        for number in range(arguments.rounds):
            for name, library in chosen[number % len(chosen):] + chosen[:number % len(chosen)]:
                try:
                    if name in results:
                        touch_memory()
                        results[name].append(run([arguments.program, library, *model]))
                except RuntimeError as error:
                    if name == "max":
                        raise
                    print(f"{case.name}, {threads} threads: {name}: {error}", file=sys.stderr)
                    del results[name]
    return results


def share(case, threads, arguments):
    """Of the machine's limits, measured beside a profile."""
    programs = pathlib.Path(arguments.program).parent
    precision = "medium" if arguments.precision == "bf16" else "highest"
    with tempfile.TemporaryDirectory() as folder:
        profile = run([programs / "max", "profile", str(case.model), "--json", "--threads", str(threads), "--precision", precision,
                       *profile_arguments(case.make_inputs(np.random.default_rng(0)), folder)])
    return share_of_limit(profile, run([programs / "machine_limits", str(threads)]), arguments.precision)


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.+)", text)
    flags = set(re.search(r"flags\s*:\s*(.+)", text).group(1).split()) if "flags" in text else set()
    names = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512_vnni": "VNNI", "avx512_bf16": "BF16", "amx_tile": "AMX"}
    units = [name for flag, name in names.items() if flag in flags]
    return f"{model.group(1).strip() if model else platform.machine()}, {os.cpu_count()} CPUs, {', '.join(units)}"


HEADING = """# MAX, ONNX Runtime and OpenVINO on the CPU

`./dev bench{options}` writes this page. Machine: {machine}. Versions: {versions}.

Times are milliseconds; ORT is ONNX Runtime, OV is OpenVINO. {products} Each round starts one process
per library, in turns, which loads the model, calls it once, and then calls it for a while; "measured" says when, how many rounds, how long,
and the machine's load average at the end. The model file has been read before, so that all find it in memory, and free memory has
been written just before each process, so that none waits for the host of a virtual machine to give it. One C program measures all
through their C APIs: inputs lie in the library's own tensors or in the program's. A call of MAX and of ONNX Runtime makes new outputs, and their release counts as a part of it; OpenVINO's request keeps its own.
All use the same number of threads. ONNX Runtime runs sequentially; OpenVINO is told the shapes of the inputs and to answer one call as soon
as it can. Figures are medians over the rounds, where a call's time in a round is the median of its calls, and p99 what one call in a hundred
exceeds. MB is what the library, the load and the first calls add to the peak memory of an empty process, except that MAX's library is linked
and so a part of that. "x" is the time of the faster peer divided by MAX's in the same round: the median over the rounds, and in brackets the smallest and the largest. Above 1, MAX is faster.
"Of limit" is the part of a call of MAX that its work would take at the machine's limits: multiplications of each type in registers, and
bytes read from memory, each measured by a loop of its own. It cannot reach 100 %, since calls also write.

"""


def heading(precision):
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PEERS if importlib.util.find_spec(name))
    options = "" if precision == "f32" else f" --precision {precision}"
    return HEADING.format(options=options, machine=machine(), versions=versions, products=PAGES[precision][2])


def write(measured, output, precision):
    """Rows of cases that were not measured now are kept; those of cases that are no longer there are not."""
    page = pathlib.Path(output)
    old = {(row["model"], row["threads"]): row for row in rows_of(page.read_text())} if page.exists() else {}
    rows = {**old, **{(row["model"], row["threads"]): row for row in measured}}
    order = [case.name for case in CASES]
    kept = sorted((key for key in rows if key[0] in order), key=lambda key: (order.index(key[0]), int(key[1])))
    page.write_text(heading(precision) + full_table([rows[key] for key in kept]))
    if precision == "f32":
        write_readme(README, output)
    from plot import draw  # Only writing needs matplotlib.
    draw(page, page.with_suffix(".png"))


def main():
    arguments = parse_arguments()
    rows, failures = [], 0
    for case in CASES:
        if not re.search(arguments.models, case.name):
            continue
        for threads in map(int, arguments.threads.split(",")):
            try:
                found = compare(case, threads, arguments)
            except RuntimeError as error:
                print(f"{case.name}, {threads} threads: {error}", file=sys.stderr)
                failures += 1
                continue
            measured = f"{datetime.date.today()}, {arguments.rounds} x {arguments.seconds:g} s, load {os.getloadavg()[0]:.1f}"
            rows.append(row_of(case, threads, found, share(case, threads, arguments), measured))
            print(full_table(rows[-1:]).splitlines()[-1], flush=True)
    complete = not arguments.models and arguments.threads == "1,2" and set(libraries(arguments)) == set(PAGES[arguments.precision][1])
    if rows and not failures and (complete or arguments.write):
        write(rows, arguments.output, arguments.precision)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
