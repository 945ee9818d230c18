# SPDX-License-Identifier: Apache-2.0
"""Compares single operators with oneDNN and with what the machine can do; `./dev bench --ops` calls it.

Every measurement is a separate process. The libraries and the measurement of the limits take turns, round by round, so that
a machine whose speed drifts is equally unkind to all; ratios and shares are taken within a round."""

import argparse
import datetime
import os
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import machine, run, write_inputs  # noqa: E402
from operators import CASES  # noqa: E402
from tables import MISSING, ROOT, digits_of, rows_of, table  # noqa: E402

COLUMNS = ["group", "operator", "type", "threads", "MAX, us", "oneDNN, us", "x", "MAX, of limit", "oneDNN, of limit", "measured"]
KEY = COLUMNS[:4]
HEADING = """# Single operators: MAX, oneDNN and the machine

`./dev bench --ops` writes this page. Machine: {machine}. oneDNN {version}.

Each round starts a process for each library, in turns, and one that measures the limits. Times are microseconds, medians over the rounds of
the median call; "x" is oneDNN's time divided by MAX's in the same round, with the smallest and the largest over the rounds in brackets.
Above 1, MAX is faster. MAX runs a model of one node through the C API, with its input and its results in memory that holds an image's
channels last; oneDNN keeps all in the layout that it likes best. Products of bf16 take and make bfloat16 in oneDNN, and float32 in
MAX with the precision `medium`. A product of int8 makes integers of 32 bits, a convolution of int8 makes bytes.

"Of limit" is the share of the machine's measured limit: for products and convolutions that of multiplications of their type in registers, for
products of one row the bytes of the weights at the speed of reading from memory, for the others all bytes at the speed of copying, or of reading
two tensors and writing one (the chain); for depthwise convolutions what takes longer, their bytes or their multiplications (of float32 where the
type is bf16). MAX keeps the images of depthwise convolutions of bf16 in float32, and its bytes count so. The multiplications are those of the
definition, of which Winograd's method needs fewer: it can exceed 100 %. Of the weights of one row, those of bf16 and int8 stay in part in the last
cache and exceed it, too. Tiny operators have no limit; their time is that of the whole divided by their number.

Limits of {threads}, the medians of {rounds} measurements: {limits}.

"""
LIMITS = {"f32": "{:.0f} G float32 multiplications per second", "bf16": "{:.0f} G of bfloat16", "int8": "{:.0f} G of bytes",
          "read": "{:.1f} GB/s read", "copy": "{:.1f} GB/s copied (read and written)", "join": "{:.1f} GB/s of two tensors read and one written"}


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=str(ROOT / "build/bin"))
    parser.add_argument("--cases", default="", help="a regular expression: only the cases whose group, type or name it finds")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.2, help="of measuring, per process")
    parser.add_argument("--write", action="store_true", help="also where --cases leaves some out")
    parser.add_argument("--output", default=str(ROOT / "benchmarks/results/ops.md"))
    return parser.parse_args()


def commands_of(case, arguments, folder):
    programs = pathlib.Path(arguments.programs)
    seconds = str(arguments.seconds)
    return {
        "max": [programs / "model_bench", "max", ROOT / "build/ops" / case.file, case.precision, str(arguments.threads), seconds,
                *write_inputs(case, folder)],
        "onednn": [programs / "onednn_bench", seconds, case.kind, case.type, *map(str, case.sizes)],
        "limits": [programs / "machine_limits", str(arguments.threads)],
    }


def measure(case, arguments):
    """{program: what each round said}"""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        commands = list(commands_of(case, arguments, folder).items())
        for number in range(arguments.rounds):
            turn = number % len(commands)
            for name, command in commands[turn:] + commands[:turn]:
                found.setdefault(name, []).append(run(command))
    return found


def share(work, rounds, limits):
    if not work:
        return MISSING
    shares = [max(work[name] / limit[name] for name in work) / one["call_ms"] for one, limit in zip(rounds, limits, strict=True)]
    return f"{100 * statistics.median(shares):.0f} %"


def row_of(case, threads, found, measured):
    ratios = [their["call_ms"] / our["call_ms"] for our, their in zip(found["max"], found["onednn"], strict=True)]
    times = [digits_of(1e3 * statistics.median(one["call_ms"] for one in found[name]) / case.parts) for name in ("max", "onednn")]
    shares = [share(work, found[name], found["limits"]) for name, work in (("max", case.own_work or case.work), ("onednn", case.work))]
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return dict(zip(COLUMNS, [case.group, case.name, case.type, str(threads), *times, ratio, *shares, measured], strict=True))


def key_of(row):
    return tuple(row[column] for column in KEY)


def write(measured, limits, threads, version, output):
    """Rows of cases that were not measured now are kept; those of cases that are no longer there are not."""
    page = pathlib.Path(output)
    rows = {key_of(row): row for row in (rows_of(page.read_text()) if page.exists() else [])}
    rows.update({key_of(row): row for row in measured})
    order = [(case.group, case.name, case.type) for case in CASES]
    kept = sorted((key for key in rows if key[:3] in order), key=lambda key: (order.index(key[:3]), int(key[3])))
    medians = [text.format(statistics.median(one[name] for one in limits) / 1e6) for name, text in LIMITS.items()]
    heading = HEADING.format(machine=machine(), version=version, threads=f"{threads} thread{'s' * (threads > 1)}", rounds=len(limits),
                             limits=", ".join(medians))
    page.write_text(heading + table(COLUMNS, [[rows[key][column] for column in COLUMNS] for key in kept]))


def main():
    arguments = parse_arguments()
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    rows, limits, version = [], [], ""
    for case in CASES:
        if not re.search(arguments.cases, f"{case.group}, {case.type}: {case.name}"):
            continue
        found = measure(case, arguments)
        measured = f"{datetime.date.today()}, {arguments.rounds} x {arguments.seconds:g} s, load {os.getloadavg()[0]:.1f}"
        rows.append(row_of(case, arguments.threads, found, measured))
        limits += found["limits"]
        version = found["onednn"][-1]["version"]
        print(table(COLUMNS, [rows[-1].values()]).splitlines()[-1], flush=True)
    if rows and (not arguments.cases or arguments.write):
        write(rows, limits, arguments.threads, version, arguments.output)


if __name__ == "__main__":
    main()
