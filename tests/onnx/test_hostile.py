# SPDX-License-Identifier: Apache-2.0
"""Truncated, mutated and hostile models: each is loaded (and run, if it loads) in a special process, with at
most 1 GB of memory and 10 seconds at the machine's pace. A model of at most 1 KB loads with 64 MB. A failure has a
status and one line.

`test_hostile.py FILTER` runs the cases whose names contain FILTER and prints what became of them."""

import ctypes
import os
import pickle
import resource
import select
import sys
import time
import unittest

try:
    import numpy as np
    import hostile_cases
    import library
    import pace
except ImportError:
    hostile_cases = None

SECONDS, PATIENCE = 10, 180  # of the processor for a case; of the clock until it counts as hung
MEGABYTE = 1 << 20
MEMORY, SMALL_MEMORY, SMALL_FILE = 1024 * MEGABYTE, 64 * MEGABYTE, 1024
RUN_MEMORY, RUN_SECONDS = 384 * MEGABYTE, 2.0  # the limits that the caller sets
MOST_ELEMENTS = 10**6  # of an input that a case is run with


def mapped_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


class Limit:
    """At most so much more memory than now."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + self.size, resource.RLIM_INFINITY))

    def __exit__(self, *error):
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def inputs_of(model):
    """Zeros for each input, or None if one is too large or no plain tensor."""
    count, arrays = ctypes.c_int32(), []
    library.call("maxModelGetInputCount", model.model, ctypes.byref(count))
    for i in range(count.value):
        info = library.TensorInfo.of("maxModelGetInput", model.model, i)
        dims = [2 if info.shape[k] < 0 else info.shape[k] for k in range(info.rank)]
        name = library.NAMES.get(info.dtype, "")
        if np.prod([float(d) for d in dims]) > MOST_ELEMENTS or not hasattr(np, name.replace("bool", "bool_")):
            return None
        arrays.append(np.zeros(dims, name))
    return arrays


def attempt(data):
    """What became of the file: "loaded", "ran", or a failure's message; problems start with "!"."""
    small = len(data) <= SMALL_FILE
    try:
        with Limit(SMALL_MEMORY if small else MEMORY):
            model = library.Model(data, threads=1, memory=RUN_MEMORY)
    except library.Failure as failure:
        if small and str(failure).startswith("Out of"):
            return f"! more than {SMALL_MEMORY} bytes to load {len(data)}: {failure}"
        return check(failure)
    arrays = inputs_of(model)
    if arrays is None:
        return "loaded"
    try:
        with Limit(MEMORY):
            model.run(arrays, deadline=RUN_SECONDS)
    except library.Failure as failure:
        return check(failure)
    except (MemoryError, ValueError):
        pass  # Python has no room for a copy of an output, or numpy no such shape
    return "ran"


def check(failure):
    text = str(failure)
    if failure.status in (2, 13) or not text or "\n" in text or len(text) > 20000:
        return f"! status {failure.status}: {text[:2000]!r}"
    return text


def serve(cases, pipe):
    for name, data in cases:
        start = time.process_time()
        try:
            text = attempt(data)
        except Exception as error:  # of this test, or of Python itself
            text = f"! {type(error).__name__}: {error}"
        seconds = time.process_time() - start
        if pace.is_longer(seconds, SECONDS):
            text = f"! {seconds:.1f} s: {text[:200]}"
        pipe.write(pickle.dumps((name, text, seconds)))
        pipe.flush()
    os._exit(0)


class Worker:
    """A forked process that works on cases and reports each."""

    def __init__(self, cases):
        read, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(read)
            serve(cases, os.fdopen(write, "wb"))
        os.close(write)
        self.pipe = os.fdopen(read, "rb", buffering=0)

    def next(self):
        """A report, or None if the process died or hangs."""
        if not select.select([self.pipe], [], [], PATIENCE)[0]:
            os.kill(self.process, 9)
            return None
        try:
            return pickle.load(self.pipe)
        except (EOFError, pickle.UnpicklingError):
            return None

    def end(self):
        self.pipe.close()
        return os.waitpid(self.process, 0)[1]


def run_all(text=""):
    """(name, outcome, seconds) for each case."""
    cases = [case for case in hostile_cases.all_cases() if text in case[0]]
    results = []
    while len(results) < len(cases):
        worker = Worker(cases[len(results):])
        while len(results) < len(cases) and (report := worker.next()):
            results.append(report)
        status = worker.end()
        if len(results) < len(cases):
            how = "hangs" if status == 9 else f"died of {status}"
            results.append((cases[len(results)][0], f"! the process {how}", 0))
    return results


@unittest.skipUnless(hostile_cases, "needs numpy and onnx")
class Hostile(unittest.TestCase):
    def test_no_file_harms_the_process(self):
        results = run_all()
        problems = [f"{name}: {outcome}" for name, outcome, _ in results if outcome.startswith("!")]
        self.assertFalse(problems, "\n" + "\n".join(problems))
        ran = sum(outcome in ("ran", "loaded") for _, outcome, _ in results)
        self.assertGreater(ran, 100, "mutations that still load reach further")
        self.assertGreater(len(results) - ran, 1000)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for name, outcome, seconds in run_all(sys.argv[1]):
            print(f"{seconds:6.2f} s  {name}: {outcome[:300]}")
    else:
        unittest.main()
