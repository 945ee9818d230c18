# SPDX-License-Identifier: Apache-2.0
"""What enters and leaves the bodies of Loop, Scan, SequenceMap and If is what operators take it for, each time: files
whose types are only known at run time, with numbers for sequences, one dtype for another, and the like.

A value of unknown type comes out of a sequence that changes its type between iterations."""

import signal
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    import library
    from hidden_types import constant, graph, hiding, model, untyped
except ImportError:
    library = None
else:
    FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
    node = helper.make_node

    X = np.float64([1.5, -2])

PATIENCE = 120  # seconds until a test that hangs is killed


@unittest.skipIf(library is None, "needs numpy and onnx")
class Bodies(unittest.TestCase):
    def setUp(self):
        signal.alarm(PATIENCE)

    def tearDown(self):
        signal.alarm(0)

    def refused(self, pattern, first, then, nodes, results=("r",)):
        """The file loads; what is wrong the second time is told in one line that names a node."""
        data, inputs = hiding(first, then, nodes, results)
        loaded = library.Model(data)
        with self.assertRaisesRegex(library.Failure, pattern) as caught:
            loaded.run(inputs)
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        self.assertRegex(text, "node '|Input '")
        self.assertIn(caught.exception.status, (3, 12), text)  # INVALID_ARGUMENT, UNIMPLEMENTED

    def gives(self, expected, first, then, nodes, results=("r",)):
        data, inputs = hiding(first, then, nodes, results)
        loaded = library.Model(data)
        for _ in range(2):
            for actual, wanted in zip(loaded.run(inputs), expected, strict=True):
                np.testing.assert_array_equal(actual[1], wanted)

    def test_numbers_are_taken_for_no_sequences(self):
        body = graph([node("Identity", ["e"], ["f"])], untyped("e"), ["f"])
        size = node("SequenceLength", ["s"], ["r"])
        for make in (node("SequenceMap", ["v"], ["s"], name="bad", body=body), node("SequenceErase", ["v"], ["s"], name="bad"),
                     node("SequenceInsert", ["v", "number"], ["s"], name="bad"), node("Identity", ["v"], ["s"], name="bad")):
            with self.subTest(make.op_type):
                self.refused("cannot be float64", {"v": [X]}, {"v": X}, [constant("number", X), make, size])
        for bad in (node("SequenceAt", ["v", "at"], ["r"]), node("ConcatFromSequence", ["v"], ["r"], axis=0)):
            with self.subTest(bad.op_type):
                self.refused("cannot be float64", {"v": [X]}, {"v": X}, [bad])

    def test_sequences_are_taken_for_no_numbers(self):
        body = graph([node("Neg", ["e"], ["f"])], untyped("e"), ["f"])
        for bad in (node("Neg", ["v"], ["r"]), node("Add", ["v", "v"], ["r"]), node("Reshape", ["v", "all"], ["r"]),
                    node("Gather", ["v", "at"], ["r"]), node("Shape", ["v"], ["r"]), node("NonZero", ["v"], ["r"]),
                    node("Scan", ["v"], ["r"], num_scan_inputs=1, body=body)):
            with self.subTest(bad.op_type):
                self.refused("cannot be sequence", {"v": X}, {"v": [X]}, [constant("all", [-1], np.int64), bad])
        again = graph([node("Identity", ["c"], ["d"]), node("Neg", ["i"], ["j"])], untyped("i", "c"), ["d", "j"])
        self.refused("cannot be sequence", {"v": np.int64(1)}, {"v": [X]}, [node("Loop", ["v", ""], ["r"], body=again)])

    def test_trip_counts_and_conditions_have_their_dtype(self):
        body = graph([node("Identity", ["c"], ["d"]), node("Neg", ["i"], ["j"])], untyped("i", "c"), ["d", "j"])
        stops = graph([node("Identity", ["v"], ["d"]), node("Neg", ["i"], ["j"])], untyped("i", "c"), ["d", "j"])
        branch = graph([node("Identity", ["at"], ["b"])], [], ["b"])
        count, truth = {"v": np.int64(1)}, {"v": np.array(False)}
        for value in (np.float32(1), np.int32(1), np.uint8(1), np.float64(1)):
            with self.subTest(value.dtype):
                name, then = value.dtype.name, {"v": value}
                self.refused(f"cannot be {name}", count, then, [node("Loop", ["v", ""], ["r"], body=body)])
                self.refused(f"cannot be {name}", truth, then, [node("Loop", ["trips", "v"], ["r"], body=body)])
                self.refused(f"must be bool, not {name}", truth, then, [node("Loop", ["trips", ""], ["r"], body=stops)])
                self.refused(f"must be one bool, not {name}", truth, then,
                             [node("If", ["v"], ["r"], then_branch=branch, else_branch=branch)])
        self.refused("one element", truth, {"v": np.array([True, False])}, [node("Loop", ["trips", ""], ["r"], body=stops)])

    def choice(self, of, result):
        """w for late ones, else v."""
        return [node("Greater", [of, "limit"], ["late"]),
                node("If", ["late"], [result], then_branch=graph([node("Identity", ["w"], ["t"])], [], ["t"], "then"),
                     else_branch=graph([node("Identity", ["v"], ["e"])], [], ["e"], "else"))]

    def stacks(self):
        steps = [constant("limit", 1, np.int64), constant("count", 4, np.int64), constant("steps", range(4), np.int64)]
        loop = graph([*self.choice("i", "x"), node("Identity", ["c"], ["d"])], untyped("i", "c"), ["d", "x"])
        scan = graph([*self.choice("step", "x")], untyped("step"), ["x"])
        return ([*steps, node("Loop", ["count", ""], ["r"], name="bad", body=loop)],
                [*steps, node("Scan", ["steps"], ["r"], name="bad", num_scan_inputs=1, body=scan)],
                [*steps, node("SplitToSequence", ["steps"], ["parts"], keepdims=0),
                 node("SequenceMap", ["parts"], ["made"], name="bad", body=scan), node("SequenceLength", ["made"], ["r"])])

    def test_what_is_stacked_keeps_its_dtype(self):
        wide, narrow = np.zeros(64, np.float64), np.ones(64, np.float32)
        halves = {"v": np.float16(wide), "w": np.float16(wide)}
        for nodes in self.stacks():
            with self.subTest(nodes[-1].op_type):
                self.refused("changes from float64 to float32", halves, {"v": wide, "w": narrow}, nodes)
                self.refused("changes from float32 to float64", halves, {"v": narrow, "w": wide}, nodes)
                self.refused("changes from int64 to bool", halves,
                             {"v": np.int64(range(64)), "w": np.zeros(64, bool)}, nodes)

    def test_what_is_stacked_keeps_its_shape(self):
        few, many = {"v": np.zeros(8, np.float32), "w": np.zeros(8, np.float32)}, np.zeros(64)
        for nodes in self.stacks()[:2]:
            for v, w in ((np.zeros(8), many), (many, np.zeros(8)), (np.zeros(8), np.zeros((8, 1)))):
                self.refused("changes its shape from", few, {"v": v, "w": w}, nodes)

    def test_what_is_carried_keeps_its_kind(self):
        swaps = graph([node("Identity", ["c"], ["d"]), node("Identity", ["w"], ["u"])], untyped("i", "c", "t"), ["d", "u"])
        scan = graph([node("Identity", ["w"], ["u"]), node("Neg", ["step"], ["n"])], untyped("t", "step"), ["u", "n"])
        loop = node("Loop", ["trips", "", "v"], ["r"], name="bad", body=swaps)
        over = [constant("steps", range(3), np.int64), node("Scan", ["v", "steps"], ["r", "n"], name="bad", num_scan_inputs=1, body=scan)]
        for w in (np.float32([1, 2]), np.int64([1, 2]), np.bool_([1, 0])):
            name, halves = w.dtype.name, {"v": np.float16(w), "w": np.float16(w)}
            for nodes in ([loop], over):
                self.refused(f"is float64 in one subgraph or state and {name} in another|from float64 to {name}", {"v": w, "w": w}, {"v": X, "w": w}, nodes)
                self.refused(f"changes from float64 to {name}", halves, {"v": X, "w": w}, nodes)
        self.refused("changes from float64 to sequence", {"v": X, "w": X}, {"v": X, "w": [X]}, [loop])
        sequences = [node("Loop", ["trips", "", "v"], ["s"], name="bad", body=swaps), node("SequenceLength", ["s"], ["r"])]
        self.refused("changes from sequence to float64", {"v": [X], "w": [X]}, {"v": [X], "w": X}, sequences)

    def test_no_iteration_gives_no_tensor_without_dtype(self):
        none = [constant("none", 0, np.int64), constant("steps", np.zeros((0, 2), np.int64)), constant("all", [-1], np.int64)]
        loop = graph([node("Identity", ["c"], ["d"]), node("Identity", ["v"], ["x"])], untyped("i", "c"), ["d", "x"])
        scan = graph([node("Identity", ["v"], ["x"])], untyped("step"), ["x"])
        for use in (node("Identity", ["z"], ["r"]), node("Cast", ["z"], ["r"], to=FLOAT), node("Shape", ["z"], ["r"]),
                    node("Add", ["z", "z"], ["r"]), node("Concat", ["z", "z"], ["r"], axis=0), node("NonZero", ["z"], ["r"]),
                    node("Transpose", ["z"], ["r"]), node("Reshape", ["z", "all"], ["r"])):
            with self.subTest(use.op_type):
                both = {"v": np.float32([1, 2])}, {"v": X}
                self.refused("without an iteration", *both, [*none, node("Loop", ["none", ""], ["z"], name="bad", body=loop), use])
                self.refused("without an iteration", *both,
                             [*none, node("Scan", ["steps"], ["z"], name="bad", num_scan_inputs=1, body=scan), use])

    def test_branches_give_what_the_graph_expects(self):
        def either(other, *more):
            return [node("GreaterOrEqual", ["turn", "at"], ["yes"]), *more,
                    node("If", ["yes"], ["b"], name="bad", then_branch=graph([node("Identity", ["v"], ["t"])], [], ["t"], "then"),
                         else_branch=graph([node("Identity", [other], ["e"])], [], ["e"], "else"))]
        single, negated = np.float32([1, 2]), node("Neg", ["b"], ["r"])
        numbers = [*either("single", constant("single", single)), negated]
        sequences = [*either("s", node("SequenceConstruct", ["at"], ["s"])), node("SequenceLength", ["b"], ["r"])]
        self.refused("is float64.*the graph has float32", {"v": single}, {"v": X}, numbers)
        self.refused("is sequence.*the graph has float32", {"v": single}, {"v": [X]}, numbers)
        self.refused("is float64.*the graph has sequence", {"v": [np.int64(1)]}, {"v": X}, sequences)
        self.refused("is float32.*the graph has sequence", {"v": [np.int64(1)]}, {"v": single}, sequences)

    def test_maps_are_no_tensors(self):
        """Elements of sequences that are not tensors."""
        ml = "ai.onnx.ml"
        maps = node("ZipMap", ["x"], ["maps"], domain=ml, classlabels_int64s=[3, 4])
        first = [constant("at", 0, np.int64), node("SequenceAt", ["maps", "at"], ["m"])]
        hands_on = graph([node("Identity", ["e"], ["f"])], untyped("e"), ["f"])
        loop = graph([node("Identity", ["c"], ["d"]), node("SequenceAt", ["maps", "at"], ["f"])], untyped("i", "c"), ["d", "f"])
        for bad in ([node("ConcatFromSequence", ["maps"], ["y"], axis=0)], [node("ConcatFromSequence", ["maps"], ["y"], axis=0, new_axis=1)],
                    [node("SequenceMap", ["maps"], ["y"], body=hands_on)], [node("SequenceInsert", ["maps", "x"], ["y"])],
                    [*first, node("Neg", ["m"], ["y"])], [*first, node("SequenceConstruct", ["m"], ["y"])],
                    [*first, node("DictVectorizer", ["m"], ["y"], domain=ml, string_vocabulary=["a"])],
                    [*first, node("If", ["m"], ["y"], then_branch=hands_on, else_branch=hands_on)],
                    [*first, constant("trips", 2, np.int64), node("Loop", ["trips", ""], ["y"], body=loop)],
                    [*first, node("Scan", ["m"], ["y"], num_scan_inputs=1, body=hands_on)]):
            for rows in (1, 3):
                with self.subTest(bad[-1].op_type, rows=rows), self.assertRaises(library.Failure) as caught:
                    x = np.zeros((rows, 2), np.float32)
                    proto = onnx.load_from_string(model([maps, *bad], {"x": x}, ["y"]))
                    proto.opset_import.append(helper.make_opsetid(ml, 1))
                    library.Model(proto.SerializeToString()).run([x])
                self.assertIn(caught.exception.status, (3, 12), str(caught.exception))

    def test_values_of_unknown_type_do_what_they_can(self):
        y, f = np.float64([[1, 2], [3, 4]]), np.float32
        loop = graph([node("Identity", ["c"], ["d"]), node("Add", ["t", "v"], ["u"])], untyped("i", "c", "t"), ["d", "u"])
        scan = graph([node("Add", ["t", "step"], ["u"]), node("Neg", ["step"], ["n"])], untyped("t", "step"), ["u", "n"])
        each = graph([node("Mul", ["e", "e"], ["f"])], untyped("e"), ["f"])
        single, v = {"v": f(X)}, {"v": X}
        self.gives([X + X], single, v, [node("Add", ["v", "v"], ["r"])])
        self.gives([3 * X], single, v, [node("Loop", ["trips", "", "v"], ["r"], body=loop)])
        self.gives([X + [4, 6], -y], {"v": f(X), "w": f(y)}, {"v": X, "w": y},
                   [node("Scan", ["v", "w"], ["r", "n"], num_scan_inputs=1, body=scan)], results=("r", "n"))
        self.gives([y * y], {"v": [f(y)]}, {"v": [y]}, [node("SequenceMap", ["v"], ["s"], body=each), node("SequenceAt", ["s", "at"], ["r"])])
        self.gives([1], {"v": [f(y)]}, {"v": [y]}, [node("SequenceLength", ["v"], ["r"])])
        self.gives([X], {"v": [f(X)]}, {"v": [X]}, [node("Optional", ["v"], ["o"]), node("OptionalGetElement", ["o"], ["p"]),
                                                    node("SequenceAt", ["p", "at"], ["r"])])


@unittest.skipIf(library is None, "needs numpy and onnx")
class Limits(unittest.TestCase):
    LIMIT = 32 << 20
    TRIPS = {"trips": np.array(1 << 40)}

    def setUp(self):
        signal.alarm(PATIENCE)

    def tearDown(self):
        signal.alarm(0)

    def fails(self, status, nodes, arrays, outputs, memory=0, deadline=0.0):
        loaded = library.Model(model(nodes, arrays, outputs), memory=memory)
        with self.assertRaises(library.Failure) as caught:
            loaded.run(list(arrays.values()), deadline=deadline)
        self.assertEqual(caught.exception.status, status, str(caught.exception))

    def memory(self, nodes, arrays, outputs, limit=LIMIT):
        self.fails(8, nodes, arrays, outputs, memory=limit)  # RESOURCE_EXHAUSTED

    def deadline(self, nodes, arrays, outputs):
        self.fails(4, nodes, arrays, outputs, deadline=0.3)  # DEADLINE_EXCEEDED

    def test_what_iterations_make_is_held_to_the_limit(self):
        block = constant("block", np.zeros(1 << 16, np.float32))
        same = node("Identity", ["c"], ["d"])
        stack = graph([same, node("Neg", ["block"], ["x"])], untyped("i", "c"), ["d", "x"])
        grows = graph([same, node("Concat", ["t", "t"], ["u"], axis=0)], untyped("i", "c", "t"), ["d", "u"])
        insert = graph([same, node("SequenceInsert", ["s", "block"], ["t"])], untyped("i", "c", "s"), ["d", "t"])
        small = graph([same, node("SequenceInsert", ["s", "i"], ["t"])], untyped("i", "c", "s"), ["d", "t"])
        row = graph([node("Expand", ["step", "size"], ["x"])], untyped("step"), ["x"])
        size, steps = constant("size", [1 << 16], np.int64), {"steps": np.zeros((4096, 1), np.float32)}
        empty = node("SequenceEmpty", [], ["none"], dtype=FLOAT)
        self.memory([block, node("Loop", ["trips", ""], ["y"], body=stack)], self.TRIPS, ["y"])
        self.memory([block, node("Loop", ["trips", "", "block"], ["y"], body=grows)], self.TRIPS, ["y"])
        self.memory([block, empty, node("Loop", ["trips", "", "none"], ["y"], body=insert)], self.TRIPS, ["y"])
        self.memory([node("SequenceEmpty", [], ["none"], dtype=INT64), node("Loop", ["trips", "", "none"], ["y"], body=small)],
                    {"trips": np.array(1 << 15)}, ["y"], self.LIMIT // 8)
        self.memory([size, node("Scan", ["steps"], ["y"], num_scan_inputs=1, body=row)], steps, ["y"])
        self.memory([size, node("SplitToSequence", ["steps"], ["parts"], keepdims=0),
                     node("SequenceMap", ["parts"], ["y"], body=row)], steps, ["y"])
        self.memory([node("SplitToSequence", ["x"], ["y"])], {"x": np.zeros(1 << 20, np.float32)}, ["y"])

    def test_operators_that_make_their_outputs_are_held_to_the_limit(self):
        """Their lists and tables too, which are larger than what they read."""
        for op, array in (("NonZero", np.ones(1 << 21, np.int8)), ("Unique", np.zeros(1 << 18, np.float32)),
                          ("Unique", np.zeros(1 << 20, np.int8))):
            self.memory([node(op, ["x"], ["y"])], {"x": array}, ["y"])
        self.memory([node("Compress", ["x", "c"], ["y"])],
                    {"x": np.zeros(1 << 22, np.float64), "c": np.ones(1 << 22, bool)}, ["y"])

    def test_iterations_end_at_the_deadline(self):
        same = node("Identity", ["c"], ["d"])
        nothing = graph([same], untyped("i", "c"), ["d"])
        carries = graph([same, node("Neg", ["t"], ["u"])], untyped("i", "c", "t"), ["d", "u"])
        step = graph([node("Neg", ["step"], ["x"])], untyped("step"), ["x"])
        work = graph([constant("count", 1 << 40, np.int64), node("Loop", ["count", "", "e"], ["f"], body=carries)],
                     untyped("e"), ["f"])
        work.node.insert(0, constant("c", True))
        self.deadline([constant("x", np.float32(1)), node("Loop", ["trips", "", "x"], ["y"], body=carries)], self.TRIPS, ["y"])
        self.deadline([node("Scan", ["steps"], ["y"], num_scan_inputs=1, body=step)], {"steps": np.zeros((1 << 40, 0), np.float32)},
                      ["y"])
        self.deadline([node("SplitToSequence", ["x"], ["parts"]), node("SequenceMap", ["parts"], ["y"], body=work)],
                      {"x": np.zeros(8, np.float32)}, ["y"])
        through = graph([node("Identity", ["e"], ["f"])], untyped("e"), ["f"])
        self.deadline([node("SplitToSequence", ["x"], ["p0"]),
                       *[node("SequenceMap", [f"p{i}"], [f"p{i + 1}"], body=through) for i in range(8)]],
                      {"x": np.zeros(1 << 20, np.float32)}, ["p8"])


if __name__ == "__main__":
    unittest.main()
