# SPDX-License-Identifier: Apache-2.0
"""What threads of Python that call one model reach of what threads of C reach: threads.py [MODEL [THREADS]].

The model takes one float32 tensor; by default build/models/mobilenetv2.onnx. The program in C is build/bin/thread_bench
(cmake --build build --target thread_bench). Both take turns, so that what else the machine does meets both."""

import pathlib
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

from max.driver import Buffer
from max.engine import InferenceSession

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
ROUNDS, SECONDS = 9, 2.0


def calls_per_second(model, make_input, count):
    """Of all threads together."""
    calls, begin = [0] * count, threading.Barrier(count)

    def call_for_a_while(number):
        value = make_input()
        begin.wait()
        end = time.monotonic() + SECONDS
        while True:
            model.execute(value)
            calls[number] += 1
            if time.monotonic() >= end:
                return

    threads = [threading.Thread(target=call_for_a_while, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(calls) / SECONDS


def main(path, count):
    model = InferenceSession(num_threads=1).load(path)
    shape = [size or 1 for size in model.input_metadata[0].shape]
    makers = {
        "Buffer": lambda: Buffer.from_numpy(np.zeros(shape, np.float32)),
        "numpy": lambda: np.zeros(shape, np.float32),
    }
    model.execute(makers["numpy"]())
    found = {"C": [], **{name: [] for name in makers}}
    for _ in range(ROUNDS):
        command = [BUILD / "bin/thread_bench", path, str(count), str(SECONDS)]
        found["C"].append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        for name, make in makers.items():
            found[name].append(calls_per_second(model, make, count))
    print(f"{pathlib.Path(path).name}, {count} threads, calls per second, medians of {ROUNDS} rounds")
    print(f"C                 {statistics.median(found['C']):8.1f}")
    for name in makers:
        ratio = statistics.median(mine / other for mine, other in zip(found[name], found["C"]))
        print(f"Python, {name:10}{statistics.median(found[name]):8.1f}   {ratio:.2f} of C")


if __name__ == "__main__":
    main((sys.argv[1:2] or [str(BUILD / "models/mobilenetv2.onnx")])[0], int((sys.argv[2:3] or ["8"])[0]))
