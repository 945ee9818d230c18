# SPDX-License-Identifier: Apache-2.0
"""Short files with large demands (budget_cases.py). Each is loaded and run in a separate process: with at most 1 GB and
10 seconds of the processor, at the machine's pace, for the load, and once more in a session with a memory limit, which is
never passed.

`test_budgets.py FILTER` runs the cases whose names contain FILTER and prints what became of them."""

import ctypes
import os
import pathlib
import pickle
import resource
import signal
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
    import budget_cases
    import library
    import pace
    from test_hostile import inputs_of
except ImportError:
    budget_cases = None

MEGABYTE = 1 << 20
SECONDS, PATIENCE = 10, 300  # of the processor to load; of the clock until a case counts as hung
MEMORY, LIMIT = 1024 * MEGABYTE, 128 * MEGABYTE
SLACK = 24 * MEGABYTE  # of a process whose heap has holes
DEADLINE = 1.0


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attempt(data, limit, runs):
    """(outcome, seconds, bytes) of a load, and of a run after it."""
    before, start = peak(), time.process_time()
    seconds = None
    try:
        model = library.Model(data, threads=1, memory=limit)
        seconds = time.process_time() - start
        arrays = inputs_of(model) if runs else None
        if arrays is None:
            outcome = "loaded"
        else:
            model.run(arrays, deadline=DEADLINE)
            outcome = "ran"
    except library.Failure as failure:
        outcome = f"{failure.status}: {failure}"
    except MemoryError:
        outcome = "Python has no room"
    if seconds is None:
        seconds = time.process_time() - start
    return outcome, seconds, peak() - before


def within(data, limit, runs):
    """The same in a separate process; None if it dies or hangs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            result = attempt(data, limit, runs)
        except BaseException as error:
            result = (f"! {type(error).__name__}: {error}", 0, 0)
        os.write(write, pickle.dumps(result)[:60000])
        os._exit(0)
    os.close(write)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(PATIENCE)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    signal.alarm(0)
    return pickle.loads(data) if data else None


def problems_of(name, case):
    """What is wrong with a case, and what became of it."""
    problems, reports = [], []
    data = case()
    if len(data) > MEGABYTE + 1000:
        problems.append(f"{name}: the file has {len(data)} bytes")
    for limit, most in ((0, MEMORY), (LIMIT, LIMIT + SLACK)):
        result = within(data, limit, not name.startswith(budget_cases.ONLY_LOADED))
        what = f"{name}, limit {limit // MEGABYTE} MB"
        if result is None:
            problems.append(f"{what}: the process died or hangs")
            continue
        outcome, seconds, size = result
        reports.append(f"{what}: {seconds:.2f} s, {size // MEGABYTE} MB, {outcome[:240]}")
        if pace.is_longer(seconds, SECONDS) or size > most or outcome.startswith("!") or "\n" in outcome:
            problems.append(reports[-1])
    return problems, reports


@unittest.skipUnless(budget_cases, "needs numpy and onnx")
class Budgets(unittest.TestCase):
    def test_nothing_takes_more_than_its_budget(self):
        problems = [each for name, case in budget_cases.CASES.items() for each in problems_of(name, case)[0]]
        self.assertFalse(problems, "\n" + "\n".join(problems))


    def test_drawings_are_no_longer_than_what_they_show(self):
        for name in ("dimensions in a drawing", "row of Add", "outputs of unknown sizes"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "long.onnx"
                path.write_bytes(budget_cases.CASES[name]())
                about, drawing = library.Handle("maxModelInfoRelease"), ctypes.c_char_p()
                library.call("maxModelInfoLoad", str(path).encode(), ctypes.byref(about))
                library.call("maxModelInfoGetGraph", about, ctypes.byref(drawing))
                self.assertLess(len(drawing.value), 32 * budget_cases.MEGABYTE)

    def test_loads_end_with_their_deadline(self):
        """All of these take longer than the deadline that they get."""
        for name in ("row of Relu", "row of Add", "chain of MatMul", "attributes that refer to attributes", "plans of a body"):
            with self.subTest(name):
                data = budget_cases.CASES[name]()
                start = time.monotonic()
                self.assertEqual(load_within(data, 1e-3), 4)
                self.assertLess(time.monotonic() - start, 1.1)


def load_within(data, seconds):
    """The status of a load with a deadline."""
    options = (ctypes.c_uint64 * 12)(96)  # MaxModelLoadOptions
    options[6] = int(seconds * 1e9)
    session, model = library.Handle("maxSessionRelease"), library.Handle("maxModelRelease")
    library.call("maxSessionCreate", (ctypes.c_uint64 * 4)(32, 0, 1 << 32, 0), ctypes.byref(session))
    try:
        library.call("maxModelLoadFromMemory", session, data, ctypes.c_size_t(len(data)), options, ctypes.byref(model))
    except library.Failure as failure:
        return failure.status
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for case_name, function in budget_cases.CASES.items():
            if sys.argv[1] in case_name:
                print(len(function()), *problems_of(case_name, function)[1], sep="\n  ", flush=True)
    else:
        unittest.main()
