# SPDX-License-Identifier: Apache-2.0
"""How much longer first calls take than later ones: python first_calls.py [ROUNDS].

First of models whose shapes are fixed: of many processes that load the model and call it, how much longer the first call
takes than the median of those that follow, in the median process. Ends with 1 if that is more than 1.1 times as long.

Then of 64 new input shapes of ResNet-50, BERT base and magika each. Every round loads the models afresh; of each shape
the fastest first call and the fastest later one count. What is late by chance is not late again: up to two further
rounds follow while a shape is late. Ends with 1 if a first call still takes more than twice as long."""

import ctypes
import itertools
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx

from cases import CASES
from compare import run, touch_memory, write_inputs

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/onnx"))
import library  # noqa: E402

FIXED = ("MobileNetV2, batch 1", "ResNet-50, batch 1", "U-Net, 256", "YOLO, 320", "BERT base, 16 tokens")
FIXED_LIMIT = 1.1
PROCESSES = 11
SHAPES = 64
LIMIT = 2.0
LATER_CALLS = 3
FURTHER_ROUNDS = 2


def fix_shapes(case, path):
    """The case's model for the case's inputs only."""
    model = onnx.load(case.model)
    made = case.make_inputs(np.random.default_rng(0))
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, made[value.name].shape):
            dim.dim_value = size
    onnx.save(model, path)


def fixed_commands(folder):
    """{row: the arguments of model_bench}"""
    commands = {}
    for case in (case for case in CASES if case.name in FIXED):
        of_case = pathlib.Path(folder) / case.model.stem
        of_case.mkdir()
        fix_shapes(case, of_case / "model.onnx")
        inputs = write_inputs(case, of_case)
        for threads in ("1", "2"):
            commands[f"{case.name:22} {threads} threads"] = ["max", of_case / "model.onnx", "f32", threads, "0.1", *inputs]
    return commands


def measure_fixed():
    """The worst ratio. The rows take turns, so that no row has all of a slow moment."""
    with tempfile.TemporaryDirectory() as folder:
        commands = fixed_commands(folder)
        found = {row: [] for row in commands}
        for _ in range(PROCESSES):
            touch_memory()
            for row, arguments in commands.items():
                found[row].append(run([ROOT / "build/bin/model_bench", *arguments]))
    worst = 0
    for row, processes in found.items():
        low, ratio, high = statistics.quantiles([one["first_ms"] / one["call_ms"] for one in processes], n=4)
        first, call, load = (statistics.median(one[part] for one in processes)
                             for part in ("first_ms", "call_ms", "load_ms"))
        print(f"{row}  {ratio:.2f}  (half of them {low:.2f} to {high:.2f}; {first:.2f} ms, then {call:.2f} ms; "
              f"load {load:.0f} ms)", flush=True)
        worst = max(worst, ratio)
    return worst


def resnet():
    """The model for images of any size."""
    model = onnx.load(ROOT / "build/models/resnet50.onnx")
    for dim, name in zip(model.graph.input[0].type.tensor_type.shape.dim[2:], ("height", "width")):
        dim.dim_param = name
    return model.SerializeToString()


def image_sizes(random):
    sizes = random.permutation(list(itertools.product(range(64, 240, 8), range(64, 240, 8))))[:SHAPES]
    for height, width in sizes:
        yield f"1x3x{height}x{width}", [random.random((1, 3, height, width), np.float32)]


def token_counts(random):
    counts = random.permutation(list(itertools.product((1, 2, 3), range(4, 132, 3))))[:SHAPES]
    for batch, length in counts:
        yield f"{batch}x{length}", [random.integers(0, 30522, (batch, length)), np.ones((batch, length), np.int64),
                                    np.zeros((batch, length), np.int64)]


def batches(random):
    for batch in random.permutation(np.arange(1, SHAPES + 1)):
        yield f"{batch}x2048", [random.integers(0, 257, (batch, 2048)).astype(np.int32)]


MODELS = {
    "ResNet-50": (resnet, image_sizes),
    "BERT base": ((ROOT / "build/models/bert.onnx").read_bytes, token_counts),
    "magika": ((ROOT / "build/real_models/magika/standard_v3_3.onnx").read_bytes, batches),
}


class Call:
    """One call with prepared buffers, so that nothing but the library is measured."""

    def __init__(self, model, arrays):
        self.model = model
        self.buffers = [model.wrap(np.ascontiguousarray(array)) for array in arrays]
        self.inputs = (ctypes.c_void_p * len(arrays))(*[buffer.value for buffer in self.buffers])
        self.outputs = (ctypes.c_void_p * model.outputs)()

    def seconds(self):
        start = time.perf_counter()
        library.call("maxModelExecute", self.model.model, self.inputs, ctypes.c_int32(len(self.buffers)), None,
                     self.outputs, ctypes.c_int32(self.model.outputs))
        seconds = time.perf_counter() - start
        for pointer in self.outputs:
            library.Handle("maxBufferRelease", pointer)
        return seconds


def measure(data, shapes, first, later):
    model = library.Model(data)
    for name, arrays in shapes(np.random.default_rng(1)):
        call = Call(model, arrays)
        first[name] = min(first.get(name, np.inf), call.seconds())
        later[name] = min([later.get(name, np.inf)] + [call.seconds() for _ in range(LATER_CALLS)])


def ratios_of(data, shapes, rounds):
    """(how much longer the first call took, shape, its milliseconds, those of a later one), by the first."""
    first, later, ratios = {}, {}, []
    for number in range(rounds + FURTHER_ROUNDS):
        if number >= rounds and ratios[-1][0] <= LIMIT:
            break
        touch_memory()
        measure(data, shapes, first, later)
        ratios = sorted((first[shape] / later[shape], shape, first[shape] * 1e3, later[shape] * 1e3) for shape in first)
    return ratios


def main(rounds):
    is_late = measure_fixed() > FIXED_LIMIT
    worst = 0
    for name, (read, shapes) in MODELS.items():
        ratios = ratios_of(read(), shapes, rounds)
        ratio, shape, first, later = ratios[-1]
        print(f"{name:10} {len(ratios)} shapes  median {ratios[len(ratios) // 2][0]:.2f}  "
              f"worst {ratio:.2f} ({shape}: {first:.2f} ms, then {later:.2f} ms)", flush=True)
        worst = max(worst, ratio)
    return int(is_late or worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
