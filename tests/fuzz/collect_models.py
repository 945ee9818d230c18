# SPDX-License-Identifier: Apache-2.0
"""collect_models.py FOLDER: writes models for attack_models to mutate, with what they are run on as metadata.

ONNX's node tests, and what the tests of tests/onnx load; without the release build's library, the node tests alone."""

import collections
import hashlib
import importlib
import io
import pathlib
import sys
import unittest
import warnings

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

TESTS = pathlib.Path(__file__).resolve().parents[1] / "onnx"
MODULES = ("test_ml", "test_microsoft_operators", "test_microsoft", "test_operators", "test_control_flow",
           "test_functions", "test_values", "test_opsets", "test_integers", "test_sampling", "test_types",
           "test_packed", "test_exported_forms")
MOST_BYTES = 32768
MOST_ALIKE = 12  # models of the same operators that tests load


def varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feed_of(name, value):
    if not isinstance(value, TensorProto):
        value = numpy_helper.from_array(np.asarray(value), name)
    return field(14, field(1, f"feed:{name}".encode()) + field(2, value.SerializeToString()))


def write(folder, data, names, values):
    """Values of other kinds than tensors are left to chance."""
    for name, value in zip(names, values):
        try:
            data += feed_of(name, value)
        except Exception:  # whatever numpy_helper says of lists, None, dicts
            continue
    if len(data) <= MOST_BYTES:
        (folder / f"{hashlib.sha1(data).hexdigest()[:16]}.onnx").write_bytes(data)


def collect_nodes(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in load_model_tests(kind="node"):
            names = [value.name for value in case.model.graph.input]
            write(folder, case.model.SerializeToString(), names, case.data_sets[0][0] if case.data_sets else ())


def recorder(library, folder):
    counts = collections.Counter()

    def is_new(data):
        try:
            operators = tuple(node.op_type for node in onnx.load_from_string(data).graph.node)
        except DecodeError:
            return False
        counts[operators] += 1
        return counts[operators] <= MOST_ALIKE

    class Recorder(library.Model):
        def __init__(self, data, *arguments, **options):
            super().__init__(data, *arguments, **options)
            self.data = data if isinstance(data, bytes) else b""

        def run(self, inputs, *arguments, **options):
            if not 0 < len(self.data) <= MOST_BYTES or not is_new(self.data):
                return super().run(inputs, *arguments, **options)
            count = library.ctypes.c_int32()
            library.call("maxModelGetInputCount", self.model, library.ctypes.byref(count))
            infos = [library.TensorInfo.of("maxModelGetInput", self.model, i) for i in range(count.value)]
            write(folder, self.data, [info.name.decode() for info in infos], inputs)
            return super().run(inputs, *arguments, **options)

    return Recorder


def collect_tests(folder):
    sys.path.insert(0, str(TESTS))
    try:
        library = importlib.import_module("library")
    except OSError:
        return
    library.Model = recorder(library, folder)
    for module in MODULES:
        try:
            tests = unittest.defaultTestLoader.loadTestsFromName(module)
            unittest.TextTestRunner(stream=io.StringIO()).run(tests)
        except ImportError:
            continue


def main():
    folder = pathlib.Path(sys.argv[1])
    if (folder / "complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    collect_nodes(folder)
    if "--nodes" not in sys.argv:
        collect_tests(folder)
    (folder / "complete").write_text("")
    print(len(list(folder.glob("*.onnx"))), "models")


if __name__ == "__main__":
    main()
