# SPDX-License-Identifier: Apache-2.0
"""What a call of a model costs from Python, beside ONNX Runtime in the same process: calls.py [MODEL].

The model takes one float32 tensor; by default build/models/identity.onnx, which hands over one number."""

import pathlib
import statistics
import sys
import time

import numpy as np
import onnxruntime

from max.driver import Buffer
from max.engine import InferenceSession

DEFAULT = pathlib.Path(__file__).resolve().parents[2] / "build/models/identity.onnx"


def rounds(calls, count=21, repeat=2000):
    """Microseconds per call: the median of rounds in which the calls take turns."""
    times = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            times[name].append((time.perf_counter() - start) / repeat * 1e6)
    return {name: (statistics.median(found), min(found)) for name, found in times.items()}


def main(path):
    model = InferenceSession(num_threads=1).load(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    other = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    array = np.ones([size or 1 for size in model.input_metadata[0].shape], np.float32)
    buffer, name = Buffer.from_numpy(array), model.input_metadata[0].name
    calls = {
        "Buffer in, Buffer out": lambda: model.execute(buffer),
        "numpy in, numpy out": lambda: model.execute(array)[0].to_numpy(),
        "ONNX Runtime, numpy in, numpy out": lambda: other.run(None, {name: array}),
        "Buffer.from_numpy": lambda: Buffer.from_numpy(array),
        "Buffer.to_numpy": buffer.to_numpy,
        "Buffer[...]": lambda: buffer[...],
    }
    print(f"{'microseconds':36}median   best")
    for call, (median, best) in rounds(calls).items():
        print(f"{call:36}{median:6.2f} {best:6.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(DEFAULT))
