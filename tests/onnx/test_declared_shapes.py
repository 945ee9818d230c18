# SPDX-License-Identifier: Apache-2.0
"""Models that declare shapes, types and names that do not hold, as exporters write them: what a body, a branch, a
function or the graph says about its values is a hint. ONNX Runtime, which believes some of it, runs the same model
without these declarations."""

import unittest

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    import library
except ImportError:
    onnxruntime = None
else:
    FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    node, info = helper.make_node, helper.make_tensor_value_info
    onnxruntime.set_default_logger_severity(4)


def graph(nodes, inputs, outputs, constants=None, name="g", **more):
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in (constants or {}).items()]
    return helper.make_graph(nodes, name, inputs, outputs, tensors, **more)


def model(main, functions=(), opset=17, domains=()):
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(main, opset_imports=opsets, ir_version=8, functions=list(functions)).SerializeToString()


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integer(value):
    return np.array(value, np.int64)


def loop_body(nodes, states, stacked=(), constants=None):
    """`states`: (name before, declared shape, name after, declared shape); the condition goes on."""
    return graph([*nodes, node("Identity", ["c"], ["again"])],
                 [info("i", INT64, []), info("c", BOOL, []), *(info(a, FLOAT, shape) for a, shape, _, _ in states)],
                 [info("again", BOOL, []), *(info(b, FLOAT, shape) for _, _, b, shape in states),
                  *(info(name, FLOAT, shape) for name, shape in stacked)], constants, "body")


def forget_shapes(proto, known_inputs):
    """All but those of the model's inputs, and that a Loop gives its body two scalars."""
    del proto.value_info[:]
    for value in [*proto.input[known_inputs:], *proto.output]:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    for entry in proto.node:
        for attribute in entry.attribute:
            if attribute.HasField("g"):
                forget_shapes(attribute.g, 2 if entry.op_type == "Loop" else 0)


def honest(data):
    proto = onnx.load_from_string(data)
    forget_shapes(proto.graph, len(proto.graph.input))
    for function in proto.functions:
        if hasattr(function, "value_info"):
            del function.value_info[:]
    return proto.SerializeToString()


class Case(unittest.TestCase):
    def reference(self, data, feeds):
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)

    def check(self, data, calls, reference=None):
        """`calls`: arrays by name, in the order of the inputs. Each runs twice: plans are made once and found once."""
        ours = library.Model(data)
        for feeds in calls:
            expected = self.reference(honest(reference or data), feeds)
            for _ in range(2):
                for actual, wanted in zip(ours.run(list(feeds.values())), expected, strict=True):
                    self.assertEqual((actual.shape, actual.dtype), (wanted.shape, wanted.dtype))
                    np.testing.assert_allclose(actual, wanted, 1e-5, 1e-6)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Loops(Case):
    def growing(self, before, after, initial, axis=0):
        """What torch.jit writes for `for ..: all = torch.cat([all, x])`, with whatever shapes it declares."""
        body = loop_body([node("Add", ["x", "one"], ["next"]), node("Concat", ["all", "next"], ["more"], axis=axis)],
                         [("all", before, "more", after)])
        nodes = [node("Loop", ["n", "", "start"], ["y"], body=body), node("Shape", ["y"], ["s"]),
                 node("Mul", ["y", "y"], ["z"]), node("ReduceSum", ["z", "axis"], ["r"], keepdims=0)]
        return model(graph(nodes, [info("n", INT64, []), info("x", FLOAT, ["a", 3, 4])],
                           [info("y", FLOAT, None), info("s", INT64, [3]), info("r", FLOAT, None)],
                           {"one": np.float32(1), "start": np.zeros(initial, np.float32), "axis": np.array([0])}))

    def test_value_that_grows_from_nothing_as_declared(self):
        for before in ([0, 3, 4], [2, 3, 4], ["k", 3, 4], ["a", 3, 4], [None] * 3, None, [7, 7], []):
            for after in (before, [2, 3, 4], None):
                with self.subTest(before=before, after=after):
                    self.check(self.growing(before, after, [0, 3, 4]),
                               [{"n": integer(n), "x": floats(2, 3, 4)} for n in (3, 0, 1)])

    def test_value_that_grows_along_the_last_axis(self):
        for before in ([2, 3, 1], ["a", 3, "b"]):
            self.check(self.growing(before, before, [2, 3, 1], 2),
                       [{"n": integer(n), "x": floats(2, 3, 4)} for n in (2, 0, 5)])

    def test_shape_of_a_growing_value_within_the_body(self):
        # The declared length would make a constant of Shape.
        body = loop_body([node("Shape", ["all"], ["shape"]), node("Gather", ["shape", "zero"], ["length"]),
                          node("Cast", ["length"], ["f"], to=FLOAT), node("Expand", ["f", "row"], ["next"]),
                          node("Concat", ["all", "next"], ["more"], axis=0)], [("all", [1, 2], "more", [1, 2])])
        main = graph([node("Loop", ["n", "", "x"], ["y"], body=body)],
                     [info("n", INT64, []), info("x", FLOAT, ["k", 2])], [info("y", FLOAT, None)],
                     {"zero": integer(0), "row": np.array([1, 2])})
        self.check(model(main), [{"n": integer(n), "x": floats(1, 2)} for n in (4, 0)])

    def test_value_that_loses_a_row_or_gains_an_axis(self):
        shrinking = loop_body([node("Slice", ["v", "one", "end", "zero"], ["w"])], [("v", [5, 2], "w", [5, 2])])
        deeper = loop_body([node("Unsqueeze", ["v", "zero"], ["w"])], [("v", [5, 2], "w", [5, 2])])
        for body in (shrinking, deeper):
            main = graph([node("Loop", ["n", "", "x"], ["y"], body=body)],
                         [info("n", INT64, []), info("x", FLOAT, [5, 2])], [info("y", FLOAT, None)],
                         {"zero": np.array([0]), "one": np.array([1]), "end": np.array([99])})
            self.check(model(main), [{"n": integer(n), "x": floats(5, 2)} for n in (3, 0)])

    def test_names_of_dimensions_inside_are_not_those_outside(self):
        body = loop_body([node("Concat", ["v", "x"], ["w"], axis=0), node("Shape", ["v"], ["s"]),
                          node("Expand", ["one", "s"], ["e"]), node("Add", ["v", "e"], ["f"]),
                          node("ReduceSum", ["f"], ["sum"], keepdims=0)],
                         [("v", ["n"], "w", ["n"])], [("sum", [])])
        main = graph([node("Loop", ["trips", "", "x"], ["y", "sums"], body=body), node("Shape", ["y"], ["size"])],
                     [info("trips", INT64, []), info("x", FLOAT, ["n"])],
                     [info("y", FLOAT, ["n"]), info("sums", FLOAT, ["n"]), info("size", INT64, [1])],
                     {"one": np.float32(1)})
        self.check(model(main), [{"trips": integer(t), "x": floats(k)} for t in (0, 1, 4) for k in (1, 3)])

    def test_values_that_take_the_shape_of_others(self):
        """A chain longer than the rounds of inference: each value becomes the one before it."""
        count = 9
        names = [f"v{i}" for i in range(count)]
        nodes = [node("Concat", ["v0", "x"], ["w0"], axis=0),
                 *(node("Neg", [names[i - 1]], [f"w{i}"]) for i in range(1, count))]
        body = loop_body(nodes, [(name, [1, 2], f"w{i}", [1, 2]) for i, name in enumerate(names)])
        outputs = [f"y{i}" for i in range(count)]
        main = graph([node("Loop", ["n", "", *["x"] * count], outputs, body=body)],
                     [info("n", INT64, []), info("x", FLOAT, [1, 2])], [info(name, FLOAT, None) for name in outputs])
        self.check(model(main), [{"n": integer(n), "x": floats(1, 2)} for n in (0, 1, 4, 12)])

    def test_loop_in_a_loop_grows_what_the_outer_one_carries(self):
        inner = graph([node("Concat", ["u", "x"], ["u2"], axis=0), node("Identity", ["c2"], ["again2"])],
                      [info("i2", INT64, []), info("c2", BOOL, []), info("u", FLOAT, [1, 2])],
                      [info("again2", BOOL, []), info("u2", FLOAT, [1, 2])])
        body = loop_body([node("Loop", ["n", "", "v"], ["w"], body=inner)], [("v", [1, 2], "w", [1, 2])])
        main = graph([node("Loop", ["n", "", "x"], ["y"], body=body)],
                     [info("n", INT64, []), info("x", FLOAT, [1, 2])], [info("y", FLOAT, [1, 2])])
        self.check(model(main), [{"n": integer(n), "x": floats(1, 2)} for n in (0, 1, 3)])

    def test_stacked_values_with_a_shape_that_is_declared_wrong(self):
        body = loop_body([node("Mul", ["v", "v"], ["w"]), node("Concat", ["v", "x"], ["both"], axis=0)],
                         [("v", [9], "w", [9])], [("both", [9]), ("w", [])])
        main = graph([node("Loop", ["n", "", "x"], ["y", "a", "b"], body=body), node("Shape", ["a"], ["s"])],
                     [info("n", INT64, []), info("x", FLOAT, [2])],
                     [info("y", FLOAT, [1]), info("a", FLOAT, [1, 1]), info("b", FLOAT, None), info("s", INT64, [2])])
        self.check(model(main), [{"n": integer(n), "x": floats(2)} for n in (1, 3)])

    def test_stacked_values_of_no_iteration(self):
        body = loop_body([node("Mul", ["x", "x"], ["w"])], [], [("w", ["k", 2])])
        main = graph([node("Loop", ["n", ""], ["y"], body=body), node("Shape", ["y"], ["s"]),
                      node("Slice", ["s", "one", "nine"], ["t"])],
                     [info("n", INT64, []), info("x", FLOAT, ["k", 2])],
                     [info("y", FLOAT, None), info("t", INT64, None)], {"one": np.array([1]), "nine": np.array([9])})
        ours = library.Model(model(main))
        for n in (0, 2):
            stack, shape = ours.run([integer(n), floats(3, 2)])
            self.assertEqual(list(stack.shape[1:]), shape.tolist())  # whatever it is, all agree on it

    def test_values_that_are_empty_and_grow_along_another_axis(self):
        then_branch = graph([node("Concat", ["v", "v"], ["a"], axis=0)], [], [info("a", FLOAT, [0, 3])])
        else_branch = graph([node("Neg", ["x"], ["b"])], [], [info("b", FLOAT, [2, 3])])
        body = loop_body([node("Greater", ["limit", "i"], ["early"]),
                          node("If", ["early"], ["t"], then_branch=then_branch, else_branch=else_branch),
                          node("Concat", ["v", "t"], ["w"], axis=1)], [("v", [0, 3], "w", [0, 3])])
        main = graph([node("Loop", ["n", "", "start"], ["y"], body=body), node("Shape", ["y"], ["s"])],
                     [info("n", INT64, []), info("x", FLOAT, [2, 3])], [info("y", FLOAT, None), info("s", INT64, [2])],
                     {"start": np.zeros((0, 3), np.float32), "limit": integer(9)})
        self.check(model(main), [{"n": integer(n), "x": floats(2, 3)} for n in (0, 1, 3)])

    def test_branch_that_only_later_iterations_take(self):
        """With the shape of the first iteration its branch could not be built."""
        then_branch = graph([node("Squeeze", ["v", "zero"], ["s"]), node("Concat", ["s", "one_row"], ["a"], axis=0)],
                            [], [info("a", FLOAT, None)])
        else_branch = graph([node("Unsqueeze", ["v", "zero"], ["b"])], [], [info("b", FLOAT, None)])
        body = loop_body([node("Greater", ["i", "none"], ["later"]),
                          node("If", ["later"], ["w"], then_branch=then_branch, else_branch=else_branch)],
                         [("v", None, "w", None)])
        main = graph([node("Loop", ["n", "", "x"], ["y"], body=body)],
                     [info("n", INT64, []), info("x", FLOAT, [2])], [info("y", FLOAT, None)],
                     {"zero": np.array([0]), "none": integer(0), "one_row": np.ones(1, np.float32)})
        data = model(main)
        self.assertEqual(library.Model(data).run([integer(2), floats(2)])[0].shape, (3,))
        self.assertEqual(library.Model(data).run([integer(1), floats(2)])[0].shape, (1, 2))

    def test_body_that_needs_to_know_a_shape_that_inference_loses(self):
        """What goes in first is assumed then, and checked when it runs."""
        body = loop_body([node("GroupNormalization", ["v", "scale", "bias"], ["g"], num_groups=2),
                          node("Reshape", ["g", "s"], ["r"]), node("Add", ["r", "x"], ["w"])],
                         [("v", None, "w", None)])
        main = graph([node("Loop", ["n", "", "start"], ["y"], body=body)],
                     [info("n", INT64, []), info("x", FLOAT, [1, None, None]), info("s", INT64, [3])], [info("y", FLOAT, None)],
                     {"scale": floats(2), "bias": floats(2), "start": floats(1, 4, 3)})
        data = model(main, opset=18)
        self.check(data, [{"n": integer(n), "x": floats(1, 4, 3), "s": np.array([1, 4, 3])} for n in (0, 1, 3)])
        # A saved model no longer knows what was assumed; its node refuses what it cannot take.
        refusal = r"Input 'v' of graph 'body' has the shape \[1, 2, 6\], the graph takes|input 1 has the shape \[4\], needs \[2\]"
        with self.assertRaisesRegex(library.Failure, refusal):
            library.Model(data).run([integer(2), floats(1, 1, 1), np.array([1, 2, 6])])

    def test_condition_declared_as_a_list(self):
        for shape in ([1], []):
            body = graph([node("Add", ["v", "x"], ["w"]), node("Less", ["i", "limit"], ["less"]),
                          node("And", ["less", "c"], ["again"])],
                         [info("i", INT64, shape), info("c", BOOL, shape), info("v", FLOAT, ["k"])],
                         [info("again", BOOL, shape), info("w", FLOAT, ["k"])])
            main = graph([node("Loop", ["n", "go", "x"], ["y"], body=body)],
                         [info("n", INT64, shape), info("x", FLOAT, ["k"])], [info("y", FLOAT, ["k"])],
                         {"limit": integer(2), "go": np.full(shape, True)})
            self.check(model(main), [{"n": np.full(shape, n), "x": floats(2)} for n in (1, 9)])

    def test_carried_values_of_a_type_that_is_declared_wrong(self):
        """ONNX Runtime refuses such models; ours goes by what there is."""
        body = graph([node("Add", ["v", "v"], ["w"]), node("Identity", ["c"], ["again"])],
                     [info("i", INT64, []), info("c", BOOL, []), info("v", INT64, [1])],
                     [info("again", BOOL, []), info("w", INT64, [1])])
        main = graph([node("Loop", ["n", "", "x"], ["y"], body=body)],
                     [info("n", INT64, []), info("x", FLOAT, ["k"])], [info("y", FLOAT, ["k"])])
        output, = library.Model(model(main)).run([integer(3), np.array([1.5, 2], np.float32)])
        np.testing.assert_array_equal(output, np.array([12, 16], np.float32))


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class OtherGraphs(Case):
    def scan(self, state, part, outputs, nodes):
        body = graph(nodes, [info("s", FLOAT, state), info("p", FLOAT, part)],
                     [info("s2", FLOAT, outputs[0]), info("q", FLOAT, outputs[1])])
        return model(graph([node("Scan", ["x", "z"], ["y", "w"], body=body, num_scan_inputs=1)],
                           [info("x", FLOAT, ["k"]), info("z", FLOAT, ["t", "m"])],
                           [info("y", FLOAT, None), info("w", FLOAT, None)]))

    def test_scan_with_shapes_that_do_not_hold(self):
        nodes = [node("ReduceSum", ["p"], ["sum"], keepdims=0), node("Add", ["s", "sum"], ["s2"]),
                 node("Shape", ["p"], ["size"]), node("Cast", ["size"], ["q"], to=FLOAT)]
        for state, part in (([1], [1]), (["t"], ["t"]), (["k"], ["k"]), (None, None)):
            self.check(self.scan(state, part, (state, [1]), nodes),
                       [{"x": floats(2), "z": floats(4, 3)}, {"x": floats(5), "z": floats(1, 2)}])

    def test_scan_whose_state_changes_its_shape_is_refused(self):
        nodes = [node("Concat", ["s", "p"], ["s2"], axis=0), node("Identity", ["p"], ["q"])]
        for shape in ([2], ["k"], None):
            data = self.scan(shape, shape, (shape, shape), nodes)
            with self.assertRaises(Exception):
                self.reference(data, {"x": floats(2), "z": floats(3, 1)})
            with self.assertRaisesRegex(library.Failure, "state"):
                library.Model(data).run([floats(2), floats(3, 1)])

    def test_branches_of_different_shapes(self):
        for declared in (["n"], [3], [1, 3], None):
            then_branch = graph([node("Concat", ["x", "x"], ["a"], axis=0)], [], [info("a", FLOAT, declared)])
            else_branch = graph([node("Unsqueeze", ["x", "zero"], ["b"])], [], [info("b", FLOAT, declared)])
            main = graph([node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch),
                          node("Shape", ["y"], ["s"]), node("Mul", ["y", "y"], ["z"])],
                         [info("p", BOOL, []), info("x", FLOAT, ["n"])],
                         [info("y", FLOAT, None), info("s", INT64, None), info("z", FLOAT, None)],
                         {"zero": np.array([0])})
            self.check(model(main), [{"p": np.array(p), "x": floats(k)} for p in (True, False) for k in (1, 3)])

    def test_elements_of_a_sequence_with_a_declared_shape(self):
        for shape in ([1], ["k"], None):
            body = graph([node("Shape", ["e"], ["s"]), node("Cast", ["s"], ["f"], to=FLOAT),
                          node("Add", ["e", "f"], ["g"]), node("Add", ["g", "u"], ["h"])],
                         [info("e", FLOAT, shape), info("u", FLOAT, shape)], [info("h", FLOAT, shape)])
            main = graph([node("SequenceConstruct", ["x", "z"], ["in"]),
                          node("SequenceMap", ["in", "x"], ["q"], body=body),
                          node("SequenceAt", ["q", "zero"], ["a"]), node("SequenceAt", ["q", "one"], ["b"])],
                         [info("x", FLOAT, [1]), info("z", FLOAT, [4])],
                         [info("a", FLOAT, None), info("b", FLOAT, None)], {"zero": integer(0), "one": integer(1)})
            self.check(model(main), [{"x": floats(1), "z": floats(4)}])

    def test_stale_descriptions_of_values(self):
        for shape in ([7], [1, 1], ["n", "n"], [0]):
            main = graph([node("Concat", ["x", "x"], ["a"], axis=0), node("Shape", ["a"], ["s"]),
                          node("ConstantOfShape", ["s"], ["b"]), node("Add", ["a", "b"], ["y"])],
                         [info("x", FLOAT, ["n"])], [info("y", FLOAT, shape), info("s", INT64, None)],
                         value_info=[info("a", FLOAT, shape), info("b", FLOAT, shape)])
            self.check(model(main), [{"x": floats(k)} for k in (1, 4)])

    def test_stale_descriptions_of_values_in_functions(self):
        function = helper.make_function("local", "grow", ["v"], ["w"],
                                        [node("Concat", ["v", "v"], ["t"], axis=0), node("Shape", ["t"], ["s"]),
                                         node("Expand", ["t", "s"], ["w"])], [helper.make_opsetid("", 17)])
        if hasattr(function, "value_info"):
            function.value_info.extend([info("v", FLOAT, [1]), info("t", FLOAT, [1])])
        main = graph([node("grow", ["x"], ["a"], domain="local"), node("grow", ["a"], ["y"], domain="local")],
                     [info("x", FLOAT, ["n"])], [info("y", FLOAT, [1])], value_info=[info("a", FLOAT, [1])])
        self.check(model(main, [function], domains=["local"]), [{"x": floats(k)} for k in (1, 4)])


    def test_outputs_have_declared_names_but_no_declared_numbers(self):
        body = loop_body([node("Concat", ["v", "x"], ["w"], axis=0), node("Identity", ["x"], ["o"])],
                         [("v", [1, 3], "w", [1, 3])], [("o", ["n", 3])])
        main = graph([node("Loop", ["trips", "", "x"], ["y", "all"], body=body)],
                     [info("trips", INT64, []), info("x", FLOAT, ["n", 3])],
                     [info("y", FLOAT, [1, 3]), info("all", FLOAT, ["steps", "n", 3])])
        ours = library.Model(model(main))
        grown, stacked = (library.TensorInfo.of("maxModelGetOutput", ours.model, i) for i in range(2))
        self.assertEqual((grown.shape[:2], grown.dimensionNames[:2]), ([-1, 3], [None, None]))
        self.assertEqual((stacked.shape[:3], stacked.dimensionNames[:3]), ([-1, -1, 3], [b"steps", b"n", None]))


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class AnonymousDimensions(Case):
    def test_several_dimensions_of_the_same_meaningless_name(self):
        for name in ("?", "", "None", "unk", "-1", "*", "unknown"):
            main = graph([node("MatMul", ["x", "y"], ["m"]), node("Shape", ["m"], ["s"]),
                          node("Transpose", ["x"], ["t"], perm=[1, 0])],
                         [info("x", FLOAT, [name, name]), info("y", FLOAT, [name, name])],
                         [info("m", FLOAT, [name, name]), info("s", INT64, [name]), info("t", FLOAT, [name, name])])
            self.check(model(main), [{"x": floats(2, 3), "y": floats(3, 5)}, {"x": floats(4, 1), "y": floats(1, 1)}])

    def test_they_do_not_make_reshapes_vanish(self):
        main = graph([node("Shape", ["x"], ["s"]), node("Reshape", ["y", "s"], ["z"]), node("Add", ["z", "x"], ["w"])],
                     [info("x", FLOAT, ["?", "?"]), info("y", FLOAT, ["?", "?"])], [info("w", FLOAT, ["?", "?"])])
        self.check(model(main), [{"x": floats(2, 6), "y": floats(4, 3)}, {"x": floats(2, 6), "y": floats(2, 6)}])

    def test_names_that_mean_something_are_checked(self):
        main = graph([node("Neg", ["x"], ["a"]), node("Neg", ["y"], ["b"])],
                     [info("x", FLOAT, ["n"]), info("y", FLOAT, ["n"])], [info("a", FLOAT, ["n"]), info("b", FLOAT, ["n"])])
        with self.assertRaisesRegex(library.Failure, "'n' is 2"):
            library.Model(model(main)).run([floats(2), floats(3)])


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class OrderOfNodes(Case):
    def shuffled(self, nodes, seed):
        return [nodes[i] for i in np.random.default_rng(seed).permutation(len(nodes))]

    def test_nodes_in_any_order(self):
        nodes = [node("Neg", ["x"], ["a"]), node("Abs", ["a"], ["b"]), node("Constant", [], ["c"], value_float=2.0),
                 node("Mul", ["b", "c"], ["d"]), node("Cast", ["d"], ["e"], to=INT64), node("Add", ["d", "x"], ["f"])]
        for seed in range(12):
            main = graph(self.shuffled(nodes, seed), [info("x", FLOAT, ["n"])],
                         [info("e", INT64, ["n"]), info("f", FLOAT, ["n"])])
            self.check(model(main), [{"x": floats(3)}])

    def test_subgraphs_need_what_they_use_of_the_graph_around_them(self):
        def build(order):
            inner = graph(order([node("Neg", ["x"], ["t"]), node("Add", ["t", "late"], ["u"])]), [],
                          [info("u", FLOAT, None)])
            other = graph([node("Identity", ["later"], ["v"])], [], [info("v", FLOAT, None)])
            body = loop_body(order([node("Add", ["late", "y"], ["inside"]), node("Mul", ["s", "inside"], ["s2"])]),
                             [("s", ["n"], "s2", ["n"])])
            nodes = [node("Abs", ["x"], ["late"]), node("Exp", ["late"], ["later"]),
                     node("If", ["p"], ["y"], then_branch=inner, else_branch=other),
                     node("Loop", ["trips", "", "x"], ["z"], body=body)]
            return model(graph(order(nodes), [info("p", BOOL, []), info("x", FLOAT, ["n"])],
                               [info("y", FLOAT, None), info("z", FLOAT, None)], {"trips": integer(2)}))

        for seed in range(8):
            self.check(build(lambda nodes, seed=seed: self.shuffled(nodes, seed)),
                       [{"p": np.array(p), "x": floats(3)} for p in (True, False)], build(lambda nodes: nodes))

    def test_functions(self):
        nodes = [node("Neg", ["v"], ["a"]), node("Abs", ["a"], ["b"]), node("Add", ["a", "b"], ["w"])]
        for seed in range(6):
            function = helper.make_function("local", "f", ["v"], ["w"], self.shuffled(nodes, seed),
                                            [helper.make_opsetid("", 17)])
            main = graph([node("f", ["q"], ["y"], domain="local"), node("f", ["x"], ["q"], domain="local")],
                         [info("x", FLOAT, ["n"])], [info("y", FLOAT, ["n"])])
            ours, = library.Model(model(main, [function], domains=["local"])).run([np.float32([1, -2])])
            np.testing.assert_array_equal(ours, np.float32([0, 0]))

    def test_many_nodes_backwards(self):
        count = 20000
        nodes = [node("Neg", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
        main = graph(nodes[::-1], [info("v0", FLOAT, ["n"])], [info(f"v{count}", FLOAT, ["n"])])
        x = floats(3)
        np.testing.assert_array_equal(library.Model(model(main)).run([x])[0], x)

    def test_names_of_subgraphs_that_the_graph_uses_later(self):
        """The same name inside of a branch and, later, outside of it."""
        then_branch = graph([node("Neg", ["x"], ["t"])], [], [info("t", FLOAT, None)])
        else_branch = graph([node("Abs", ["x"], ["t"])], [], [info("t", FLOAT, None)])
        main = graph([node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch),
                      node("Add", ["y", "y"], ["t"])], [info("p", BOOL, []), info("x", FLOAT, ["n"])],
                     [info("t", FLOAT, ["n"])])
        ours = library.Model(model(main))
        np.testing.assert_array_equal(ours.run([np.array(True), np.float32([1, -2])])[0], np.float32([-2, 4]))


if __name__ == "__main__":
    unittest.main()
