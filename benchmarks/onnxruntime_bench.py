# SPDX-License-Identifier: Apache-2.0
"""What `max bench --json` measures, for ONNX Runtime: same options, same fields.

ONNX Runtime is used well: sequential execution, the threads told, inputs and outputs bound once,
and the binding's own entry point called, without the Python layer above it."""

import argparse
import json
import time

import numpy as np
import onnxruntime


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--warmup", type=int, default=5)
    return parser.parse_args()


def make_session(arguments):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(arguments.model, options, providers=["CPUExecutionProvider"])


def bind(session, inputs):
    """A binding whose outputs are allocated once, by a first run."""
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    start = time.perf_counter_ns()
    session.run_with_iobinding(binding)
    first_ns = time.perf_counter_ns() - start
    for output, value in zip(session.get_outputs(), binding.get_outputs()):
        binding.bind_ortvalue_output(output.name, value)
    return binding, first_ns


def measure(session, binding, seconds, warmup):
    run, raw = session._sess.run_with_iobinding, binding._iobinding
    clock, times = time.perf_counter_ns, []
    for _ in range(warmup):
        run(raw, None)
    end = clock() + int(seconds * 1e9)
    before = clock()
    while before < end or not times:
        run(raw, None)
        after = clock()
        times.append(after - before)
        before = after
    return np.sort(np.array(times, np.int64))


def peak_rss_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))


def main():
    arguments = parse_arguments()
    pairs = (text.split("=", 1) for text in arguments.input)
    inputs = {name: onnxruntime.OrtValue.ortvalue_from_numpy(np.load(file)) for name, file in pairs}
    start = time.perf_counter_ns()
    session = make_session(arguments)
    load_ns = time.perf_counter_ns() - start
    binding, first_ns = bind(session, inputs)
    times = measure(session, binding, arguments.seconds, arguments.warmup)
    at = lambda share: float(times[min(len(times) - 1, int(share * len(times)))]) / 1e6
    print(json.dumps({"model": arguments.model, "device": "cpu", "threads": arguments.threads, "precision": "highest",
                      "load_ms": load_ns / 1e6, "first_ms": first_ns / 1e6, "iterations": len(times), "min_ms": at(0),
                      "p50_ms": at(0.5), "p90_ms": at(0.9), "p99_ms": at(0.99), "peak_rss_mb": peak_rss_mb()}))


if __name__ == "__main__":
    main()
