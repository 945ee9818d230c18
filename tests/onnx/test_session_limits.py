# SPDX-License-Identifier: Apache-2.0
"""What a session keeps for other shapes makes way when its memory limit is near: with a limit of what the largest call
takes alone, calls of many shapes follow each other, of one model and of several."""

import ctypes
import threading
import unittest

try:
    import numpy as np
    from onnx import helper
    import library
    from message_cases import BOOL, FLOAT, INT64, info, ints, model, node, tensor
except ImportError:
    helper = None

PLENTY = 1 << 40
SIZES = [64 + 37 * i % 200 for i in range(40)]  # neighbours differ


def graph(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name, inputs, outputs)


def work(start, end):
    """Some steps between two values, each with a different shape."""
    names = [start, *(f"{end}{i}" for i in range(5))]
    nodes = [node("Concat", [names[i], names[i]], [names[i + 1]], axis=0) for i in range(5)]
    return nodes + [node("ReduceSum", [names[5]], [end], keepdims=0)]


def vector():
    return info("x", FLOAT, ["n"])


def plain():
    return model(work("x", "y"), (vector(),))


def loop_of(start, inputs, constants=()):
    """Adds up what the steps make of a value, as often as the input "trips" says."""
    body = graph("body", [*start, node("Identity", ["on"], ["again"]), node("Add", ["s", "all"], ["t"])],
                 [info("i", INT64, []), info("on", BOOL, []), info("s", FLOAT, [])],
                 [info("again", BOOL, []), info("t", FLOAT, [])])
    return model([node("Loop", ["trips", "", "zero"], ["y"], body=body)], (*inputs, info("trips", INT64, [])),
                 constants=[tensor("zero", 0), *constants])


def loop():
    return loop_of(work("x", "all"), (vector(),))


def growing_loop():
    """The body meets another shape in each iteration."""
    start = [node("Add", ["i", "first"], ["k"]), node("Mul", ["k", "step"], ["size"]),
             node("Expand", ["one", "size"], ["wide"]), *work("wide", "all")]
    return loop_of(start, (info("first", INT64, [1]),), [tensor("step", [500], np.int64), tensor("one", [1])])


def scan():
    body = graph("body", [node("Add", ["s", "e"], ["t"]), *work("e", "o")],
                 [info("s", FLOAT, ["k"]), info("e", FLOAT, ["k"])], [info("t", FLOAT, ["k"]), info("o", FLOAT, [])])
    rows = [node("Unsqueeze", ["x", "axis"], ["row"]), node("Concat", ["row", "row"], ["rows"], axis=0)]
    return model([*rows, node("Scan", ["x", "rows"], ["y", "z"], body=body, num_scan_inputs=1)], (vector(),),
                 ("y", "z"), [ints("axis", 0)])


def branches():
    """The sign of the input says which branch runs."""
    branch = {name: graph(name, [node(op, ["x"], [f"{name}a"]), *work(f"{name}a", f"{name}y")], [],
                          [info(f"{name}y", FLOAT, [])]) for name, op in (("then", "Relu"), ("else", "Neg"))}
    return model([node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["on"]),
                  node("If", ["on"], ["y"], then_branch=branch["then"], else_branch=branch["else"])],
                 (vector(),), constants=[tensor("zero", 0)])


def contents():
    """The input's contents say what follows, its shape is always the same."""
    return model([node("Expand", ["one", "size"], ["wide"]), *work("wide", "y")], (info("size", INT64, [1]),),
                 constants=[tensor("one", [1])])


def dynamic():
    return model([node("NonZero", ["x"], ["at"]), node("Cast", ["at"], ["wide"], to=FLOAT),
                  node("Flatten", ["wide"], ["flat"], axis=1), node("Squeeze", ["flat", "axis"], ["line"]),
                  *work("line", "y")], (vector(),), constants=[ints("axis", 0)])


def sequence_map():
    body = graph("body", work("e", "o"), [info("e", FLOAT, ["k"])], [info("o", FLOAT, [])])
    return model([node("SplitToSequence", ["x", "step"], ["s"], axis=0), node("SequenceMap", ["s"], ["t"], body=body),
                  node("SequenceAt", ["t", "first"], ["y"])], (vector(),),
                 constants=[tensor("step", 5000, np.int64), tensor("first", 0, np.int64)])


def vectors(factor=100):
    return [[np.full([factor * size], (-1.0)**size, np.float32)] for size in SIZES]


def with_trips(calls, trips=3):
    return [[*inputs, np.array(trips)] for inputs in calls]


def single_rounds():
    return [[np.array([first]), np.array(1)] for first in range(40)]


KINDS = {  # the model, the calls that follow each other, those that are measured alone
    "plain": (plain, vectors, vectors),
    "Loop": (loop, lambda: with_trips(vectors()), lambda: with_trips(vectors())),
    "Loop of growing shapes": (growing_loop, lambda: [[np.array([0]), np.array(40)]] * 3, single_rounds),
    "Scan": (scan, vectors, vectors),
    "If": (branches, vectors, vectors),
    "contents": (contents, lambda: [[np.array([100 * size])] for size in SIZES], lambda: [[np.array([26300])]]),
    "NonZero": (dynamic, vectors, vectors),
    "SequenceMap": (sequence_map, vectors, vectors),
} if helper else {}


def memory_of(session):
    """Bytes in use, and the most so far."""
    report = (ctypes.c_uint64 * 5)(40)  # MaxSessionMemory
    library.call("maxSessionGetMemory", session, report)
    return report[2], report[3]


def peak_alone(data, inputs):
    one = library.Model(data, threads=1, memory=PLENTY)
    one.run(inputs)
    return memory_of(one.session)[1]


def load_into(session, data):
    """A model of a session that has others."""
    model_ = library.Model.__new__(library.Model)
    model_.session, model_.model, model_.device = session, library.Handle("maxModelRelease"), session.device
    library.call("maxModelLoadFromMemory", session, data, ctypes.c_size_t(len(data)), None, ctypes.byref(model_.model))
    model_.outputs, model_.takes_values = 1, False
    return model_


@unittest.skipUnless(helper, "needs numpy and onnx")
class SessionLimits(unittest.TestCase):
    def test_shapes_take_turns(self):
        for name, (make, calls, alone) in KINDS.items():
            with self.subTest(name):
                data = make()
                limit = max(peak_alone(data, inputs) for inputs in alone())
                tight, roomy = library.Model(data, threads=1, memory=limit), library.Model(data, threads=1)
                for inputs in calls():
                    for got, expected in zip(tight.run(inputs), roomy.run(inputs)):
                        np.testing.assert_array_equal(got, expected)
                used, peak = memory_of(tight.session)
                self.assertLessEqual(peak, limit)
                self.assertGreater(used, 0)

    def test_models_take_turns(self):
        """Each model of the session fits alone with the others' weights, but not beside what these keep."""
        data = [plain(), branches(), contents()]
        calls = [vectors(), vectors(), [[np.array([100 * size])] for size in SIZES]]
        limit = max(max(peak_alone(each, inputs) for inputs in of) for each, of in zip(data, calls)) * 3 // 2
        first = library.Model(data[0], threads=1, memory=limit)
        first.session.device = first.device
        models = [first, *(load_into(first.session, each) for each in data[1:])]
        for inputs in zip(*calls):
            for one, each in zip(models, inputs):
                one.run(each)
        self.assertLessEqual(memory_of(first.session)[1], limit)

    def test_threads_take_turns(self):
        """What runs at a time fits twice; what is kept makes way in whatever thread."""
        data = [plain(), loop(), sequence_map()]
        calls = [vectors(), with_trips(vectors()), vectors()]
        limit = sum(max(peak_alone(each, inputs) for inputs in of) for each, of in zip(data, calls)) * 2
        first = library.Model(data[0], threads=2, memory=limit)
        first.session.device = first.device
        models = [first, *(load_into(first.session, each) for each in data[1:])]
        failures = []

        def run(one, inputs_of):
            try:
                for inputs in inputs_of * 5:
                    one.run(inputs)
            except library.Failure as failure:
                failures.append(str(failure))

        threads = [threading.Thread(target=run, args=pair) for pair in zip(models, calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertLessEqual(memory_of(first.session)[1], limit)


if __name__ == "__main__":
    unittest.main()
