# SPDX-License-Identifier: Apache-2.0
"""Compares MAX with ONNX Runtime and writes a table; `./dev bench` calls it.

Every measurement is a process of its own, and the two take turns, round by round, so that a machine
whose speed drifts is equally unkind to both. Ratios above 1 mean that MAX is faster."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

from cases import CASES, ROOT

FIELDS = ("p50_ms", "min_ms", "load_ms", "first_ms", "peak_rss_mb")


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="", help="a regular expression: only the cases whose name it finds")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, per process")
    parser.add_argument("--output", default=str(ROOT / "benchmarks/results/cpu.md"))
    return parser.parse_args()


def write_inputs(case, folder):
    """Options that name the case's input files, the same for both."""
    options = []
    for name, value in case.make_inputs(np.random.default_rng(0)).items():
        file = pathlib.Path(folder) / f"{name}.npy"
        np.save(file, value)
        options += ["--input", f"{name}={file}"]
    return options


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def compare(case, threads, arguments):
    """{peer: {field: best or median over the rounds}}"""
    commands = {"max": [str(ROOT / "build/bin/max"), "bench", str(case.model), "--json"],
                "onnxruntime": [sys.executable, str(ROOT / "benchmarks/onnxruntime_bench.py"), str(case.model)]}
    results = {peer: [] for peer in commands}
    with tempfile.TemporaryDirectory() as folder:
        options = write_inputs(case, folder) + ["--threads", str(threads), "--seconds", str(arguments.seconds)]
        for _ in range(arguments.rounds):
            for peer, command in commands.items():
                results[peer].append(run(command + options))
    return {peer: {field: (min if field == "min_ms" else statistics.median)(r[field] for r in rounds)
                   for field in FIELDS} for peer, rounds in results.items()}


def digits_of(value):
    return f"{value:.5f}" if value < 0.01 else f"{value:.4f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def row(case, threads, result):
    ours, theirs = result["max"], result["onnxruntime"]
    cells = [case.name, str(threads)]
    for field in ("p50_ms", "min_ms", "first_ms", "load_ms"):
        cells += [digits_of(ours[field]), digits_of(theirs[field]), f"**{theirs[field] / ours[field]:.2f}**"]
    cells += [f"{ours['peak_rss_mb']:.0f}", f"{theirs['peak_rss_mb']:.0f}"]
    return "| " + " | ".join(cells) + " |"


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.+)", text)
    flags = set(re.search(r"flags\s*:\s*(.+)", text).group(1).split()) if "flags" in text else set()
    units = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("amx_bf16", "AMX")) if flag in flags]
    return f"{model.group(1).strip() if model else platform.machine()}, {os.cpu_count()} CPUs, {', '.join(units)}"


HEADING = f"""# MAX and ONNX Runtime {onnxruntime.__version__} on the CPU

{{machine}}; {{date}}. float32, milliseconds, {{rounds}} rounds of separate processes that take turns, {{seconds:g}} s each.
Medians: the median of the rounds' medians; minima: the best of all. "x" = ONNX Runtime's time over MAX's: above 1, MAX is faster.
ONNX Runtime runs sequentially, with inputs and outputs bound, its threads told. Written by `./dev bench`.

| model | threads | median MAX | ORT | x | minimum MAX | ORT | x | first call MAX | ORT | x | load MAX | ORT | x | peak MB MAX | ORT |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


SPEED = re.compile(r"(?<=<!-- speed -->\n).*(?=<!-- /speed -->)", re.S)


def write_readme(results):
    """The short table on the front page: the ratios of every case, threads as columns."""
    readme = ROOT / "README.md"
    counts = sorted({threads for _, threads in results})
    lines = ["| model | " + " | ".join(f"call, {n} thread{'s' * (n > 1)}" for n in counts) + " | load |",
             "|---" * (len(counts) + 2) + "|"]
    for name in dict.fromkeys(name for name, _ in results):
        ratio = lambda threads, field: (results[name, threads]["onnxruntime"][field] /
                                        results[name, threads]["max"][field])
        cells = [f"{ratio(threads, 'p50_ms'):.2f}" for threads in counts] + [f"{ratio(counts[-1], 'load_ms'):.1f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    readme.write_text(SPEED.sub("\n".join(lines) + "\n", readme.read_text()))


def main():
    arguments = parse_arguments()
    heading = HEADING.format(machine=machine(), date=datetime.date.today(), rounds=arguments.rounds,
                             seconds=arguments.seconds)
    print(heading, end="")
    lines, results, failures = [], {}, 0
    for case in CASES:
        if not re.search(arguments.models, case.name):
            continue
        for threads in map(int, arguments.threads.split(",")):
            try:
                results[case.name, threads] = compare(case, threads, arguments)
                lines.append(row(case, threads, results[case.name, threads]))
            except RuntimeError as error:
                lines.append(f"| {case.name} | {threads} | {error} |")
                failures += 1
            print(lines[-1], flush=True)
    pathlib.Path(arguments.output).write_text(heading + "\n".join(lines) + "\n")
    if not failures and not arguments.models:
        write_readme(results)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
