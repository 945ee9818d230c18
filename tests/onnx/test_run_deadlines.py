# SPDX-License-Identifier: Apache-2.0
"""Models of at most a megabyte with seconds to hours of work of many kinds: with a deadline of a second, the run has
ended after 1.1. What counts is the processor's time that is spent after the deadline, at the machine's pace (pace.py), so
that a busy machine changes nothing; the clock has its own bound.

`test_run_deadlines.py FILTER` runs the cases whose names contain FILTER and prints what became of them."""

import sys
import threading
import time
import unittest

try:
    import numpy as np
    from onnx import helper
    import budget_cases
    import library
    import pace
    from message_cases import BOOL, FLOAT, INT64, info, ints, model, node, tensor
except ImportError:
    helper = None

DEADLINE, MOST_AFTER, PATIENCE = 1.0, 0.1, 10.0
REPEATS = 2  # of a run that ended late once, which a machine can cause; none of them may
DEADLINE_EXCEEDED = 4
ROUNDS = 1 << 40


def grown(name, *shape, value=0, dtype=np.float32):
    """Nodes and constants for a large value that all of its elements have."""
    return [node("Expand", [f"{name}_one", f"{name}_shape"], [name])], [
        tensor(f"{name}_one", value, dtype), ints(f"{name}_shape", *shape)]


def mixed(name, *shape):
    return [node("RandomUniform", [], [name], shape=list(shape), seed=1.0)], []


def one(op, parts, inputs, outputs=("y",), constants=(), **attributes):
    """A node on values that grow before it."""
    nodes = [each for part in parts for each in part[0]]
    made = [each for part in parts for each in part[1]]
    return model([*nodes, node(op, inputs, list(outputs), **attributes)], (), outputs, [*made, *constants])


def body(nodes, state=FLOAT, more=()):
    """Of a Loop that carries "s"."""
    return helper.make_graph([*nodes, node("Identity", ["on"], ["again"])], "body",
                             [info("i", INT64, []), info("on", BOOL, []), info("s", state, None)],
                             [info("again", BOOL, []), info("t", state, None), *more])


def loop(inner, constants=(), start=0.0, nodes=()):
    return model([*nodes, node("Loop", ["rounds", "", "start"], ["y"], body=inner)], (),
                 constants=[tensor("rounds", ROUNDS, np.int64), tensor("start", start), *constants])


def nested(depth):
    inner = body([node("Add", ["s", "step"], ["t"])])
    for _ in range(depth):
        inner = body([node("Loop", ["rounds", "", "s"], ["t"], body=inner)])
    return loop(inner, [tensor("step", 1)])


def branching_loop():
    branches = {name: helper.make_graph([node(op, ["s", "step"], [name])], name, [], [info(name, FLOAT, [])])
                for name, op in (("more", "Add"), ("less", "Sub"))}
    return loop(body([node("Mod", ["i", "two"], ["odd"]), node("Cast", ["odd"], ["c"], to=BOOL),
                      node("If", ["c"], ["t"], then_branch=branches["more"], else_branch=branches["less"])]),
                [tensor("step", 1), tensor("two", 2, np.int64)])


def scan():
    inner = helper.make_graph([node("Add", ["s", "e"], ["t"]), node("Identity", ["t"], ["o"])], "body",
                              [info("s", FLOAT, [1]), info("e", FLOAT, [1])],
                              [info("t", FLOAT, [1]), info("o", FLOAT, [1])])
    nodes, constants = grown("x", 1 << 25, 1)
    return model([*nodes, node("Scan", ["start", "x"], ["y", "z"], body=inner, num_scan_inputs=1)], (), ("y", "z"),
                 [*constants, tensor("start", [0])])


def sequence_map():
    inner = helper.make_graph([node("MatMul", ["e", "square"], ["o"])], "body", [info("e", FLOAT, [1, 1024])],
                              [info("o", FLOAT, [1, 1024])])
    nodes, constants = grown("x", 1 << 16, 1024)
    weights, more = grown("square", 1024, 1024)
    return model([*nodes, *weights, node("SplitToSequence", ["x", "step"], ["s"], axis=0),
                  node("SequenceMap", ["s"], ["t"], body=inner), node("SequenceAt", ["t", "step"], ["y"])], (),
                 constants=[*constants, *more, tensor("step", 1, np.int64)])


def stacked(nodes):
    inner = body([*nodes, node("ReduceSum", ["all"], ["sum"], keepdims=0)], more=[info("sum", FLOAT, [])])
    return model([node("Loop", ["rounds", "", "start"], ["y", "z"], body=inner)], (), ("y", "z"),
                 [tensor("rounds", ROUNDS, np.int64), tensor("start", [0.0]), tensor("step", [1]),
                  tensor("axis", 0, np.int64)])


def stacked_rows(count):
    names = [f"v{i}" for i in range(count)]
    return stacked([node("Concat", ["s", "step"], ["t"], axis=0),
                    *(node("CumSum", ["t", "axis"], [name], reverse=i % 2) if i < 2 else
                      node("Softmax", [names[i - 2]], [name]) for i, name in enumerate(names)),
                    node("Sum", names, ["all"])])


def changing_contents():
    """The contents of a value say what follows, and are others in each round."""
    return loop(body([node("Add", ["i", "one"], ["size"]), node("Expand", ["s", "size"], ["wide"]),
                      *(node("Sin" if i % 2 else "Exp", ["wide"], [f"w{i}"]) for i in range(300)),
                      node("Sum", [f"w{i}" for i in range(300)], ["all"]),
                      node("ReduceMax", ["all"], ["t"], keepdims=0)]), [tensor("one", [1], np.int64)])


def text(size):
    return helper.make_tensor("x", 8, [1], [b"a" * size])


def loop_of(op, parts, inputs, constants=(), **attributes):
    """A node in a Loop, again and again, of which one round takes milliseconds to a quarter of a second."""
    made = [each for part in parts for each in part[1]]
    inner = body([node("Add", [inputs[0], "s"], ["moved"]), node(op, ["moved", *inputs[1:]], ["all"], **attributes),
                  node("ReduceMax", ["all"], ["t"], keepdims=0)])
    return loop(inner, [*made, *constants], 0.0, [each for part in parts for each in part[0]])


BIG = 1 << 22
CASES = {
    "MatMul": lambda: one("MatMul", [grown("a", 9000, 12000), grown("b", 12000, 9000)], ["a", "b"]),
    "MatMul of doubles": lambda: one("MatMul", [grown("a", 6000, 6000, dtype=np.float64),
                                                grown("b", 6000, 6000, dtype=np.float64)], ["a", "b"]),
    "MatMulInteger": lambda: one("MatMulInteger", [grown("a", 10000, 40000, dtype=np.uint8),
                                                   grown("b", 40000, 10000, dtype=np.uint8)], ["a", "b"]),
    "Conv": lambda: one("Conv", [grown("a", 1, 1, BIG), grown("b", 1, 1, BIG - 1)], ["a", "b"],
                        pads=[BIG // 2, BIG // 2]),
    "QLinearConv": lambda: one("QLinearConv", [grown("a", 1, 1, BIG, dtype=np.uint8),
                                               grown("b", 1, 1, BIG - 1, dtype=np.uint8)],
                               ["a", "s", "z", "b", "s", "z", "s", "z"], pads=[BIG // 2, BIG // 2],
                               constants=[tensor("s", 1), tensor("z", 0, np.uint8)]),
    "MaxPool": lambda: one("MaxPool", [grown("a", 1, 1, 3000, 3000)], ["a"], kernel_shape=[2999, 2999],
                           pads=[1499] * 4),
    "LSTM": lambda: one("LSTM", [grown("a", 5000, 1, 8), grown("b", 1, 8000, 8), grown("c", 1, 8000, 2000)],
                        ["a", "b", "c"], hidden_size=2000),
    "Loop": lambda: nested(0),
    "nested Loops": lambda: nested(3),
    "If in a Loop": branching_loop,
    "Scan": scan,
    "SequenceMap": sequence_map,
    "RegexFullMatch": lambda: model([node("RegexFullMatch", ["x"], ["y"], pattern="(a?){500}(a*){500}")], (),
                                    constants=[text(1000000)]),
    "StringNormalizer": lambda: model([node("Expand", ["x", "shape"], ["many"]), node(
        "StringNormalizer", ["many"], ["y"], is_case_sensitive=0, stopwords=["a" * 1000])], (),
                                      constants=[text(1000), ints("shape", 1 << 23)]),
    "Cast to strings": lambda: one("Cast", [mixed("a", 1 << 24)], ["a"], to=8),
    "TfIdfVectorizer": lambda: one("TfIdfVectorizer", [grown("a", 1 << 21, dtype=np.int64)], ["a"], min_gram_length=1,
                                   max_gram_length=2, max_skip_count=1 << 40, mode="TF", ngram_counts=[0, 1],
                                   ngram_indexes=[0, 1], pool_int64s=[0, 0, 0]),
    "Resize": lambda: loop_of("Resize", [grown("a", 8, BIG)], ["a", "", "", "sizes"], [ints("sizes", 8, 1 << 14)],
                              mode="cubic", antialias=1),
    "TopK": lambda: one("TopK", [mixed("a", 1 << 25)], ["a", "k"], ("y", "z"), [ints("k", 1 << 24)]),
    "Unique": lambda: one("Unique", [mixed("a", 1 << 22, 2)], ["a"], axis=0),
    "NonMaxSuppression": lambda: one("NonMaxSuppression", [grown("a", 1, 1 << 19, 4), mixed("b", 1, 1, 1 << 19)],
                                     ["a", "b", "most", "least"], constants=[ints("most", 1 << 19),
                                                                             tensor("least", 0.5)]),
    "DFT": lambda: one("DFT", [grown("a", 96, 1250009, 1)], ["a"]),
    "STFT": lambda: loop_of("STFT", [grown("a", 1, BIG, 1)], ["a", "step", "", "length"],
                            [tensor("step", 512, np.int64), tensor("length", 4093, np.int64)]),
    "GridSample": lambda: loop_of("GridSample", [grown("x", 1, 1, 64, 64), grown("grid", 1, 2000, 2000, 2)],
                                  ["x", "grid"], mode="cubic"),
    "Det": lambda: one("Det", [mixed("a", 1, 3500, 3500)], ["a"]),
    "plans of growing shapes": lambda: stacked_rows(1500),
    "plans of changing contents": changing_contents,
} if helper else {}


def attempt(data):
    """(status, seconds of the processor after the deadline, of the clock in total) of a run."""
    one_model, status, marks = library.Model(data, threads=1), 0, []
    watch = threading.Timer(DEADLINE, lambda: marks.append(time.process_time()))
    start = time.monotonic()
    watch.start()
    try:
        one_model.run([], deadline=DEADLINE)
    except library.Failure as failure:
        status = failure.status
    marks.append(time.process_time())
    clock = time.monotonic() - start
    watch.cancel()
    return status, marks[-1] - marks[0], clock


@unittest.skipUnless(helper, "needs numpy and onnx")
class RunDeadlines(unittest.TestCase):
    def test_runs_end_in_time(self):
        for name, make in CASES.items():
            with self.subTest(name):
                data = make()
                self.assertLessEqual(len(data), budget_cases.MEGABYTE)
                late = self.seconds_after(data)
                if pace.is_longer(late, MOST_AFTER):
                    late = max(self.seconds_after(data) for _ in range(REPEATS))
                self.assertFalse(pace.is_longer(late, MOST_AFTER), f"took {late:.2f} s after the deadline")

    def seconds_after(self, data):
        status, processor, clock = attempt(data)
        self.assertEqual(status, DEADLINE_EXCEEDED)
        self.assertLess(clock, PATIENCE)
        return processor


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for case_name, function in CASES.items():
            if sys.argv[1] in case_name:
                try:
                    print(case_name, *attempt(function()), flush=True)
                except library.Failure as error:
                    print(case_name, error, flush=True)
    else:
        unittest.main()
