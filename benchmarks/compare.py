# SPDX-License-Identifier: Apache-2.0
"""Compares MAX with ONNX Runtime and writes the tables; `./dev bench` calls it.

Every measurement is a separate process, and the two alternate, round by round, so that a machine whose speed drifts
is equally unkind to both. A ratio is taken within a round; above 1, MAX is faster."""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import numpy as np

from cases import CASES, ROOT
from tables import README, full_table, write_readme


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/bin/model_bench"))
    parser.add_argument("--models", default="",
                        help="a regular expression: only the cases whose name it finds, printed and not written")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, per process")
    parser.add_argument("--output", default=str(ROOT / "benchmarks/results/cpu.md"))
    return parser.parse_args()


def libraries():
    """What model_bench takes for each library; ONNX Runtime's package holds its C library."""
    folder = pathlib.Path(importlib.util.find_spec("onnxruntime").origin).parent / "capi"
    return {"max": "max", "onnxruntime": str(next(folder.glob("libonnxruntime.so.*")))}


def write_inputs(case, folder):
    """Arguments that describe the case's inputs, the same for both."""
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


def compare(case, threads, arguments):
    """{library: what each round measured}; the one that goes first changes from round to round."""
    results = {name: [] for name in libraries()}
    with tempfile.TemporaryDirectory() as folder:
        model = [str(case.model), str(threads), str(arguments.seconds), *write_inputs(case, folder)]
        for number in range(arguments.rounds):
            for name, library in sorted(libraries().items(), reverse=number % 2 == 1):
                results[name].append(run([arguments.program, library, *model]))
    return results


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.+)", text)
    flags = set(re.search(r"flags\s*:\s*(.+)", text).group(1).split()) if "flags" in text else set()
    units = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_vnni", "VNNI")) if flag in flags]
    return f"{model.group(1).strip() if model else platform.machine()}, {os.cpu_count()} CPUs, {', '.join(units)}"


HEADING = """# MAX and ONNX Runtime {version} on the CPU

`./dev bench` writes this page. Machine: {machine}; load average {before:.1f} before and {after:.1f} after the measurements. Date: {date}.

All models are float32, all times milliseconds; ORT is ONNX Runtime. Each of {rounds} rounds starts one process per library, in turns, which loads the model, calls
it once, and then calls it for {seconds:g} s. One C program measures both through their C APIs: inputs lie in the library's own tensors, a call
makes new outputs, and their release counts as a part of it. Both use the same number of threads; ONNX Runtime runs sequentially. Times and
peak memory are medians over the rounds, where a call's time in a round is the median of its calls, and the peak is that of the load and the
first calls. "x" is ONNX Runtime's time divided by MAX's in the same round: the median over the rounds, and in brackets the smallest and the
largest. Above 1, MAX is faster.

"""


def main():
    arguments = parse_arguments()
    before, results, failures = os.getloadavg()[0], {}, []
    for case in CASES:
        if not re.search(arguments.models, case.name):
            continue
        for threads in map(int, arguments.threads.split(",")):
            try:
                results[case.name, threads] = compare(case, threads, arguments)
                print(full_table({(case.name, threads): results[case.name, threads]}).splitlines()[-1], flush=True)
            except RuntimeError as error:
                failures.append(f"{case.name}, {threads} threads: {error}")
                print(failures[-1], file=sys.stderr)
    if failures or arguments.models:
        return 1 if failures else 0
    heading = HEADING.format(version=importlib.metadata.version("onnxruntime"), machine=machine(), before=before, after=os.getloadavg()[0],
                             date=datetime.date.today(), rounds=arguments.rounds, seconds=arguments.seconds)
    pathlib.Path(arguments.output).write_text(heading + full_table(results))
    write_readme(README, arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
