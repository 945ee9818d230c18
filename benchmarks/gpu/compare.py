# SPDX-License-Identifier: Apache-2.0
"""Compares MAX on an NVIDIA GPU with ONNX Runtime's CUDA provider and PyTorch, and writes a page.

compare.py --build BUILD --output PAGE: the models are in BUILD/models (benchmarks/models/build.py makes them). Peers are
those that this Python has; without them MAX is measured alone. In each round MAX measures each case in a process of its own,
and then each peer all cases in one. The page is written whenever a library has measured, with what is known by then. `--check` tries the script itself: small models and MAX alone, on whatever driver MAX finds."""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRECISIONS = {"f32": "highest", "tf32": "high", "bf16": "medium"}
# Name, model, shapes of inputs that the model leaves open, numbers below which random integers are.
CASES = (
    ("ResNet-50, batch 1", "resnet50", {"input": (1, 3, 224, 224)}, {}),
    ("ResNet-50, batch 32", "resnet50", {"input": (32, 3, 224, 224)}, {}),
    ("BERT base, 128 tokens", "bert", {name: (1, 128) for name in ("input_ids", "attention_mask", "token_type_ids")}, {"input_ids": 30522}),
    ("BERT base, 8 x 384 tokens", "bert", {name: (8, 384) for name in ("input_ids", "attention_mask", "token_type_ids")}, {"input_ids": 30522}),
    ("decoder step, 512 tokens before", "gpt_step",
     {"input_ids": (1, 1), "position_ids": (1, 1),
      **{f"past.{layer}.{part}": (1, 12, 512, 64) for layer in range(6) for part in ("key", "value")}}, {"input_ids": 50257}),
    ("detector, 640", "yolo", {"input": (1, 3, 640, 640)}, {}),
    ("OCR recogniser, 32 x 320", "text_recogniser", {"input": (1, 3, 32, 320)}, {}),
)
SIDES = (1024, 4096, 8192)  # of square products
CHECKED = (("digits", ROOT / "examples/digits/digits.onnx", {"image": (2, 1, 8, 8)}, {}),)
# Dense products, in 10^12 operations a second, from the vendor's data sheets.
RATES = {
    "H100 PCIe": {"f32": 51, "tf32": 378, "bf16": 756},
    "H200": {"f32": 67, "tf32": 495, "bf16": 989},
    "H100": {"f32": 67, "tf32": 495, "bf16": 989},
    "A100": {"f32": 19.5, "tf32": 156, "bf16": 312},
    "L40S": {"f32": 91.6, "tf32": 183, "bf16": 362},
    "L4": {"f32": 30.3, "tf32": 60, "bf16": 121},
    "A10": {"f32": 31.2, "tf32": 62.5, "bf16": 125},
    "T4": {"f32": 8.1},
}


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--output", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, per case")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        arguments.seconds = 0.02
    return arguments


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"exit {done.returncode}")
    return json.loads(done.stdout)


def measure_max(arguments, model, shapes, limits, precision):
    command = [pathlib.Path(arguments.build) / "bin/max", "bench", model, "--device", arguments.device, "--json",
               "--precision", PRECISIONS[precision], "--seconds", arguments.seconds]
    for name, shape in shapes.items():
        command += ["--shape", f"{name}={','.join(map(str, shape))}"]
    for name, most in limits.items():
        command += ["--max", f"{name}={most - 1}"]
    return run(command)["p50_ms"]


def measure_peer(library, requests):
    """A process for all of them: starting and warming up takes a peer many seconds. One that dies has measured none."""
    try:
        return run([sys.executable, pathlib.Path(__file__).with_name("peers.py"), json.dumps(requests)])
    except RuntimeError as error:
        return [str(error)] * len(requests)


class Table:
    """The times of all libraries for cases in all precisions, in rounds."""

    def __init__(self, head, row_of, cases):
        self.head, self.row_of = head, row_of
        self.wanted = [(case, precision) for case in cases for precision in PRECISIONS]
        self.times = [{} for _ in self.wanted]

    def note(self, which, library, result):
        (case, precision), kept = self.wanted[which], self.times[which].setdefault(library, [])
        if isinstance(result, str):
            print(f"{case[0]}, {precision}, {library}: {result}", file=sys.stderr)
        kept.append(None if isinstance(result, str) else result)

    def measure(self, arguments):
        """Yields whenever a library has measured all cases."""
        for _ in range(1 if arguments.check else arguments.rounds):
            for which, (case, precision) in enumerate(self.wanted):
                try:
                    self.note(which, "max", measure_max(arguments, *case[1:], precision))
                except RuntimeError as error:
                    self.note(which, "max", str(error))
            yield
            for library in () if arguments.check else peers.LIBRARIES:
                able = [which for which, (case, precision) in enumerate(self.wanted)
                        if library in peers.present(precision, case[1])]
                requests = [{"library": library, "model": str(case[1]), "shapes": case[2], "limits": case[3], "precision": precision,
                             "seconds": arguments.seconds} for case, precision in (self.wanted[which] for which in able)]
                for which, result in zip(able, measure_peer(library, requests) if requests else ()):
                    self.note(which, library, result)
                yield

    def medians(self):
        """None for a library that failed; those that lack the precision, or have not measured yet, are left out."""
        return [{library: None if None in each else statistics.median(each) for library, each in kept.items()}
                for kept in self.times]

    def lines(self):
        rows = [self.row_of(case, precision, times) for (case, precision), times in zip(self.wanted, self.medians()) if times]
        return [*self.head, *rows] if rows else []

    def has_failed(self):
        return any(times.get("max", 0) is None for times in self.medians())


def write_product(path, side):
    import onnx
    from onnx import TensorProto, helper

    x, w, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [side, side]) for name in "xwy")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [x, w], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def device_name(arguments):
    devices = run([pathlib.Path(arguments.build) / "bin/max", "devices", "--json"])
    api, number = arguments.device.split(":")
    return next(device["name"] for device in devices if device["api"] == api and device["id"] == int(number))


def cell(value):
    return "failed" if value is None else f"{value:.3f}"


def cells_of(times):
    return " | ".join(cell(times[library]) if library in times else "-" for library in ("max", *peers.LIBRARIES))


def models_table(arguments, name):
    models = pathlib.Path(arguments.build) / "models"
    cases = CHECKED if arguments.check else [(title, models / f"{model}.onnx", *rest) for title, model, *rest in CASES]
    titles = " | ".join(peers.LIBRARIES.values())
    head = [f"## Models on {name}", "",
            "Medians in milliseconds of calls whose inputs and outputs stay on the device; written by `benchmarks/gpu/compare.py`.",
            "ONNX Runtime has no bfloat16 for these models; PyTorch is measured on what it has a model for.", "",
            f"| model | products | MAX | {titles} | better one / MAX |", "|---|---|---|" + "---|" * (len(peers.LIBRARIES) + 1)]

    def row_of(case, precision, times):
        others = [times[library] for library in times if library != "max" and times[library]]
        ratio = f"{min(others) / times['max']:.2f}" if others and times["max"] else "-"
        return f"| {case[0]} | {precision} | {cells_of(times)} | {ratio} |"

    return Table(head, row_of, cases)


def products_table(arguments, name, folder):
    rates = next((rates for chip, rates in RATES.items() if chip in name), {})
    titles = " | ".join(peers.LIBRARIES.values())
    head = ["", f"| square product | products | MAX | {titles} | 10^12/s | of the chip's rate |",
            "|---|---|---|" + "---|" * (len(peers.LIBRARIES) + 2)]
    cases = [(str(side), pathlib.Path(folder) / f"product_{side}.onnx", {}, {}) for side in ((64,) if arguments.check else SIDES)]
    for title, model, *_ in cases:
        write_product(str(model), int(title))

    def row_of(case, precision, times):
        speed = 2e-9 * int(case[0])**3 / times["max"] if times["max"] else 0
        share = f"{100 * speed / rates[precision]:.0f} %" if precision in rates and speed else "-"
        return f"| {case[0]} | {precision} | {cells_of(times)} | {speed:.2f} | {share} |"

    return Table(head, row_of, cases)


def main():
    arguments = parse_arguments()
    name = device_name(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tables, notes = [models_table(arguments, name)], []
        if importlib.util.find_spec("onnx"):
            tables.append(products_table(arguments, name, folder))
        else:
            notes = ["", "No products, as this Python has no package onnx to write their models."]
        for table in tables:
            for _ in table.measure(arguments):
                lines = [line for each in tables for line in each.lines()] + notes
                pathlib.Path(arguments.output).write_text("\n".join(lines) + "\n")
    if any(table.has_failed() for table in tables):
        sys.exit("MAX has failed on a model; see above")


if __name__ == "__main__":
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    main()
