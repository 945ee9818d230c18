# SPDX-License-Identifier: Apache-2.0
"""What a session says that it held is what the process grew by, whatever operators hold beside their operands: tables
as long as an axis, parts of texts, elements of sequences.

`test_counted_memory.py FILTER` prints the figures of the cases whose names contain FILTER."""

import ctypes
import os
import pickle
import sys
import unittest

try:
    import numpy as np
    from onnx import helper
    import library
    from message_cases import BOOL, FLOAT, INT64, info, ints, model, node, tensor
    from test_session_limits import PLENTY, memory_of
except ImportError:
    helper = None

MEGABYTE = 1 << 20
SLACK = 12 * MEGABYTE  # blocks that are too small to be counted, and holes of the heap
LEAST = 32 * MEGABYTE  # that a case must hold, so that it would be seen
STRING, UINT8, DOUBLE = 8, 2, 11


def line(name="x", dtype=FLOAT, rank=1):
    return info(name, dtype, [f"{name}{i}" for i in range(rank)])


def resize(**attributes):
    return model([node("Resize", ["x", "", "scales"], ["y"], **attributes)], (line(rank=4),),
                 constants=[tensor("scales", [1, 1, 1, 2])])


def image(width, dtype=np.float32):
    return [np.ones((1, 1, 1, width), dtype)]


def pad(mode):
    return model([node("Pad", ["x", "pads"], ["y"], mode=mode)], (line(),), constants=[ints("pads", 1, 1)])


def row(count, dtype=np.float32):
    return [np.arange(count).astype(dtype)]


def unary(op, dtype=FLOAT, rank=1, outputs=("y",), **attributes):
    return model([node(op, ["x"], list(outputs), **attributes)], (line(dtype=dtype, rank=rank),), outputs)


def matrices(dtype):
    return model([node("MatMul", ["x", "z"], ["y"])], (line(dtype=dtype, rank=3), line("z", dtype, 3)))


def transform():
    return model([node("DFT", ["x"], ["y"], axis=1)], (line(rank=3),), opset=17)


def text(op, domain="", **attributes):
    outputs = ["y", "counts"] if op == "StringSplit" else ["y"]
    return model([node(op, ["x"], outputs, domain=domain, **attributes)], (line(dtype=STRING),), outputs,
                 domains=[domain] if domain else ())


def sequence_length(start):
    return model([*start, node("SequenceLength", ["s"], ["y"])], (line(),), constants=[tensor("one", 1, np.int64)])


def loop(values):
    """A body that gives each iteration's number."""
    body = helper.make_graph([node("Identity", ["on"], ["again"]), node("Cast", ["i"], ["o"], to=values)], "body",
                             [info("i", INT64, []), info("on", BOOL, [])],
                             [info("again", BOOL, []), info("o", values, [])])
    return model([node("Loop", ["x", ""], ["y"], body=body)], (info("x", INT64, []),))


def bitmap(side):
    """A BMP file with a palette of 256 greys."""
    palette = b"".join(bytes([i, i, i, 0]) for i in range(256))
    offset = 54 + len(palette)
    header = b"BM" + np.array([offset + side * side, 0, offset, 40, side, side], "<u4").tobytes()
    header += np.array([1, 8], "<u2").tobytes() + np.array([0, side * side, 0, 0, 256, 0], "<u4").tobytes()
    return [np.frombuffer(header + palette + bytes(side * side), np.uint8)]


def words(count, word="ab "):
    return [np.array([word * count], object)]


MILLION = 1 << 20
CASES = {
    "Resize linear": (lambda: resize(mode="linear"), lambda: image(MILLION)),
    "Resize linear float64": (lambda: model([node("Resize", ["x", "", "scales"], ["y"], mode="linear")],
                                            (line(dtype=DOUBLE, rank=4),), constants=[tensor("scales", [1, 1, 1, 2])]),
                              lambda: image(MILLION, np.float64)),
    "Resize cubic": (lambda: resize(mode="cubic"), lambda: image(MILLION)),
    "Resize antialiased": (lambda: resize(mode="linear", antialias=1), lambda: image(MILLION)),
    "Resize nearest": (lambda: resize(mode="nearest"), lambda: image(2 * MILLION)),
    "Pad reflect": (lambda: pad("reflect"), lambda: row(8 * MILLION)),
    "Pad wrap": (lambda: pad("wrap"), lambda: row(8 * MILLION)),
    "MaxPool with indices": (lambda: unary("MaxPool", rank=3, outputs=("y", "at"), kernel_shape=[2]),
                             lambda: [np.ones((1, 1, 2 * MILLION), np.float32)]),
    "MaxPool float64": (lambda: unary("MaxPool", DOUBLE, 3, kernel_shape=[2]),
                        lambda: [np.ones((1, 1, 3 * MILLION))]),
    "MatMul of many": (lambda: matrices(FLOAT), lambda: [np.ones((2 * MILLION, 1, 1), np.float32)] * 2),
    "MatMul float64 of many": (lambda: matrices(DOUBLE), lambda: [np.ones((2 * MILLION, 1, 1))] * 2),
    "DFT of a prime": (transform, lambda: [np.ones((1, 1000003, 1), np.float32)]),
    "DFT of a power": (transform, lambda: [np.ones((1, 2 * MILLION, 1), np.float32)]),
    "StringSplit at spaces": (lambda: text("StringSplit"), lambda: words(2 * MILLION)),
    "StringSplit of many": (lambda: text("StringSplit", delimiter=","), lambda: [np.array(["a,b"] * MILLION, object)]),
    "StringNormalizer": (lambda: text("StringNormalizer", case_change_action="UPPER", is_case_sensitive=0, stopwords=["no"]),
                         lambda: [np.array(["some longer words"] * MILLION, object)]),
    "Tokenizer at separators": (lambda: text("Tokenizer", "com.microsoft", mark=0, mincharnum=1, pad_value="#", separators=[" "]),
                                lambda: words(MILLION)),
    "Tokenizer of characters": (lambda: text("Tokenizer", "com.microsoft", mark=0, mincharnum=1, pad_value="#", separators=[""]),
                                lambda: words(MILLION)),
    "Cast to strings": (lambda: unary("Cast", to=STRING), lambda: row(MILLION)),
    "ImageDecoder": (lambda: unary("ImageDecoder", UINT8), lambda: bitmap(4096)),
    "SplitToSequence": (lambda: sequence_length([node("SplitToSequence", ["x", "one"], ["s"])]), lambda: row(300000)),
    "Loop of strings": (lambda: loop(STRING), lambda: [np.array(300000)]),
    "Unique": (lambda: unary("Unique", outputs=("y", "first", "inverse", "counts")), lambda: row(2 * MILLION)),
    "TopK": (lambda: model([node("TopK", ["x", "k"], ["y", "at"])], (line(),), ("y", "at"), [ints("k", 2 * MILLION)]),
             lambda: row(4 * MILLION)),
    "NonZero": (lambda: unary("NonZero"), lambda: row(8 * MILLION)),
    "CumSum": (lambda: model([node("CumSum", ["x", "zero"], ["y"])], (line(),), constants=[tensor("zero", 0, np.int64)]),
               lambda: row(16 * MILLION)),
} if helper else {}


def status_of(name):
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(each.split()[1]) * 1024 for each in status if each.startswith(name))


def measured(case):
    """Bytes that a run holds at a time: as the process sees it, and as the session does."""
    make, inputs = CASES[case]
    one = library.Model(make(), threads=1, memory=PLENTY)
    arrays = inputs()
    buffers = [one.wrap(np.asarray(array, order="C")) for array in arrays]
    pointers = (ctypes.c_void_p * len(buffers))(*[buffer.value for buffer in buffers])
    outputs = (ctypes.c_void_p * one.outputs)()
    del arrays
    with open("/proc/self/clear_refs", "w", encoding="ascii") as peaks:
        peaks.write("5")
    before, used = status_of("VmRSS"), memory_of(one.session)[0]
    library.call("maxModelExecute", one.model, pointers, ctypes.c_int32(len(buffers)), None, outputs,
                 ctypes.c_int32(one.outputs))
    return status_of("VmHWM") - before, memory_of(one.session)[1] - used


def in_a_process(case):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = measured(case)
        except BaseException as error:  # told by the parent
            result = f"{type(error).__name__}: {error}"
        os.write(write, pickle.dumps(result))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else "the process died"


@unittest.skipUnless(helper, "needs numpy and onnx")
class CountedMemory(unittest.TestCase):
    def test_what_a_run_holds_is_counted(self):
        for case in CASES:
            with self.subTest(case):
                result = in_a_process(case)
                self.assertIsInstance(result, tuple, result)
                grown, counted = result
                self.assertGreater(counted, LEAST)
                self.assertLess(grown, counted + SLACK)


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        for each in (case for case in CASES if sys.argv[1] in case):
            figures = in_a_process(each)
            print(f"{each:28}", figures if isinstance(figures, str) else [value // MEGABYTE for value in figures])
    else:
        unittest.main()
