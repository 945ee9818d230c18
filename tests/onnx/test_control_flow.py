# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan and shapes that depend on values, in small models, against ONNX Runtime. Each call runs twice, so
that plans are made once and found once."""

import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    import library
except ImportError:
    onnxruntime = None
else:
    FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    node, info = helper.make_node, helper.make_tensor_value_info


def graph(nodes, inputs, outputs, constants=None, name="g"):
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in (constants or {}).items()]
    return helper.make_graph(nodes, name, inputs, outputs, tensors)


def floats(*values):
    return np.array(values, np.float32)


def integer(value):
    return np.array(value, np.int64)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class ControlFlow(unittest.TestCase):
    def check(self, main, calls):
        model = helper.make_model(main, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        data = model.SerializeToString()
        reference = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        ours = library.Model(data)
        for feeds in calls:
            expected = reference.run(None, feeds)
            for _ in range(2):
                outputs = ours.run([feeds[value.name] for value in main.input])
                for actual, wanted in zip(outputs, expected, strict=True):
                    self.assertEqual(actual.shape, wanted.shape)
                    np.testing.assert_allclose(actual, wanted, 1e-5, 1e-6)

    def test_loop_grows_a_value_and_uses_outer_ones(self):
        body = graph([node("Add", ["state", "outer"], ["next"]), node("Concat", ["all", "next"], ["more"], axis=0),
                      node("Identity", ["c"], ["again"]), node("Mul", ["next", "next"], ["square"])],
                     [info("i", INT64, []), info("c", BOOL, []), info("state", FLOAT, [2]), info("all", FLOAT, ["k"])],
                     [info("again", BOOL, []), info("next", FLOAT, [2]), info("more", FLOAT, ["k2"]),
                      info("square", FLOAT, [2])])
        main = graph([node("Neg", ["x"], ["outer"]),
                      node("Loop", ["trips", "", "x", "x"], ["state_out", "all_out", "squares"], body=body),
                      node("ReduceSum", ["all_out"], ["total"], keepdims=0)],
                     [info("trips", INT64, []), info("x", FLOAT, [2])],
                     [info("state_out", FLOAT, [2]), info("all_out", FLOAT, ["n"]), info("squares", FLOAT, ["t", 2]),
                      info("total", FLOAT, [])])
        self.check(main, [{"trips": integer(n), "x": floats(1.5, -2)} for n in (3, 1, 7, 0)])

    def test_if_inside_loop_that_stops_early(self):
        then_branch = graph([node("Add", ["state", "x"], ["sum"])], [], [info("sum", FLOAT, [2])])
        else_branch = graph([node("Mul", ["state", "two"], ["double"])], [], [info("double", FLOAT, [2])])
        body = graph([node("Mod", ["i", "even"], ["rest"]), node("Equal", ["rest", "zero"], ["is_even"]),
                      node("If", ["is_even"], ["next"], then_branch=then_branch, else_branch=else_branch),
                      node("ReduceSum", ["next"], ["size"], keepdims=0), node("Less", ["size", "limit"], ["again"])],
                     [info("i", INT64, []), info("c", BOOL, []), info("state", FLOAT, [2])],
                     [info("again", BOOL, []), info("next", FLOAT, [2])])
        main = graph([node("Loop", ["trips", "", "x"], ["y"], body=body)],
                     [info("trips", INT64, []), info("x", FLOAT, [2]), info("limit", FLOAT, [])],
                     [info("y", FLOAT, [2])], {"two": np.float32(2), "even": integer(2), "zero": integer(0)})
        self.check(main, [{"trips": integer(n), "x": floats(1, 2), "limit": np.array(limit, np.float32)}
                          for n in (5, 20) for limit in (1, 30, 1000)])

    def test_loop_inside_if(self):
        body = graph([node("Mul", ["state", "two"], ["next"]), node("Identity", ["c"], ["again"])],
                     [info("i", INT64, []), info("c", BOOL, []), info("state", FLOAT, ["n"])],
                     [info("again", BOOL, []), info("next", FLOAT, ["n"])])
        then_branch = graph([node("Loop", ["trips", "", "y"], ["a"], body=body)], [], [info("a", FLOAT, ["n"])])
        else_branch = graph([node("Identity", ["y"], ["b"])], [], [info("b", FLOAT, ["n"])])
        main = graph([node("Abs", ["x"], ["y"]),
                      node("If", ["p"], ["z"], then_branch=then_branch, else_branch=else_branch),
                      node("Sub", ["z", "x"], ["out"])],
                     [info("p", BOOL, []), info("trips", INT64, []), info("x", FLOAT, ["n"])],
                     [info("out", FLOAT, ["n"])], {"two": np.float32(2)})
        self.check(main, [{"p": np.array(p), "trips": integer(3), "x": floats(*range(-1, n))}
                          for p in (True, False) for n in (1, 4)])

    def test_body_swaps_carried_values_and_stacks_an_outer_one(self):
        body = graph([node("Identity", ["c"], ["again"]), node("Identity", ["b"], ["a2"]),
                      node("Identity", ["a"], ["b2"]), node("Identity", ["outer"], ["copy"])],
                     [info("i", INT64, []), info("c", BOOL, []), info("a", FLOAT, [2]), info("b", FLOAT, [2])],
                     [info("again", BOOL, []), info("a2", FLOAT, [2]), info("b2", FLOAT, [2]),
                      info("copy", FLOAT, [2])])
        main = graph([node("Neg", ["x"], ["outer"]),
                      node("Loop", ["trips", "", "x", "y"], ["s", "t", "stack"], body=body)],
                     [info("trips", INT64, []), info("x", FLOAT, [2]), info("y", FLOAT, [2])],
                     [info("s", FLOAT, [2]), info("t", FLOAT, [2]), info("stack", FLOAT, ["k", 2])])
        self.check(main, [{"trips": integer(n), "x": floats(1, 2), "y": floats(3, 4)} for n in (1, 2, 5, 0)])

    def test_nested_loops(self):
        inner = graph([node("Add", ["v", "outer"], ["v2"]), node("Identity", ["c"], ["again"])],
                      [info("i2", INT64, []), info("c", BOOL, []), info("v", FLOAT, [2])],
                      [info("again", BOOL, []), info("v2", FLOAT, [2])])
        body = graph([node("Add", ["i", "one"], ["trips2"]), node("Loop", ["trips2", "", "outer"], ["o2"], body=inner),
                      node("Identity", ["c0"], ["again0"])],
                     [info("i", INT64, []), info("c0", BOOL, []), info("outer", FLOAT, [2])],
                     [info("again0", BOOL, []), info("o2", FLOAT, [2])])
        main = graph([node("Loop", ["trips", "", "x"], ["y"], body=body)],
                     [info("trips", INT64, []), info("x", FLOAT, [2])], [info("y", FLOAT, [2])], {"one": integer(1)})
        self.check(main, [{"trips": integer(n), "x": floats(1, -2)} for n in (0, 1, 4)])

    def test_shapes_that_depend_on_values(self):
        main = graph([node("Greater", ["x", "zero"], ["mask"]), node("NonZero", ["mask"], ["where"]),
                      node("Squeeze", ["where", "first"], ["index"]), node("Gather", ["x", "index"], ["found"]),
                      node("Shape", ["found"], ["size"]), node("Min", ["size", "three"], ["k"]),
                      node("TopK", ["found", "k"], ["top", "at"]), node("Mul", ["top", "top"], ["square"]),
                      node("Expand", ["square", "shape"], ["wide"])],
                     [info("x", FLOAT, ["n"]), info("shape", INT64, [2])],
                     [info("square", FLOAT, ["q"]), info("at", INT64, ["q"]), info("wide", FLOAT, ["a", "b"])],
                     {"zero": np.float32(0), "first": np.array([0]), "three": np.array([3])})
        random = np.random.default_rng(0)
        self.check(main, [{"x": random.standard_normal(n).astype(np.float32), "shape": np.array([rows, 1])}
                          for n in (8, 20, 3, 1) for rows in (1, 4)])

    def test_branch_that_hands_an_input_through(self):
        then_branch = graph([node("Identity", ["x"], ["a"])], [], [info("a", FLOAT, ["n"])])
        constant = numpy_helper.from_array(floats(7, 8), "c")
        else_branch = graph([node("Constant", [], ["b"], value=constant)], [], [info("b", FLOAT, ["m"])])
        main = graph([node("If", ["p"], ["z"], then_branch=then_branch, else_branch=else_branch)],
                     [info("p", BOOL, []), info("x", FLOAT, ["n"])], [info("z", FLOAT, ["q"])])
        self.check(main, [{"p": np.array(p), "x": floats(*range(n))} for p in (True, False) for n in (1, 4)])


if __name__ == "__main__":
    unittest.main()
