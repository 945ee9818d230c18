# SPDX-License-Identifier: Apache-2.0
"""Functions that models define: attributes, defaults, overloads, functions that use functions, subgraphs in them, and
those that are refused."""

import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import AttributeProto, TensorProto, helper

    import library
except ImportError:
    onnxruntime = None
else:
    onnxruntime.set_default_logger_severity(4)
    node = helper.make_node

LOCAL = "local"


def opset(version=17):
    return [helper.make_opsetid("", version), helper.make_opsetid(LOCAL, 1)]


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), version=17, overload=""):
    made = helper.make_function(LOCAL, name, inputs, outputs, nodes, opset(version), list(attributes), list(defaults))
    made.overload = overload
    return made


def reference(made, name, to, kind):
    """An attribute whose value is the caller's."""
    attribute = made.attribute.add()
    attribute.name, attribute.ref_attr_name, attribute.type = name, to, kind
    return made


def model(nodes, functions, version=17, outputs=("y",), ir_version=8):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])
    return helper.make_model(graph, opset_imports=opset(version), functions=functions, ir_version=ir_version)


def call(name, inputs, outputs, **attributes):
    return node(name, inputs, outputs, "_".join([name, *outputs]), domain=LOCAL, **attributes)


X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4) if onnxruntime else None


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Functions(unittest.TestCase):
    def check(self, made, expected=None):
        data = made.SerializeToString()
        if expected is None:
            expected = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {"x": X})
        for actual, wanted in zip(library.Model(data).run([X]), expected, strict=True):
            self.assertEqual(actual.shape, wanted.shape)
            np.testing.assert_allclose(actual, wanted, 1e-6, 1e-6)

    def refuse(self, made, *parts):
        with self.assertRaises(library.Failure) as caught:
            library.Model(made.SerializeToString())
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        for part in parts:
            self.assertIn(part, message)

    def test_functions_in_functions(self):
        square = function("Square", ["a"], ["b"], [node("Mul", ["a", "a"], ["b"])])
        twice = function("Twice", ["a"], ["b"], [call("Square", ["a"], ["c"]), call("Square", ["c"], ["b"])])
        self.check(model([call("Twice", ["x"], ["h"]), node("Add", ["h", "x"], ["y"])], [square, twice]))

    def test_names_inside_are_apart_from_names_outside(self):
        inner = function("F", ["x"], ["y"], [node("Neg", ["x"], ["h"]), node("Exp", ["h"], ["y"])])
        self.check(model([node("Relu", ["x"], ["h"]), call("F", ["h"], ["z"]), call("F", ["z"], ["y"])], [inner]))

    def test_attributes_with_and_without_defaults(self):
        leaky = node("LeakyRelu", ["a"], ["c"])
        reference(leaky, "alpha", "slope", AttributeProto.FLOAT)
        total = node("ReduceSum", ["c", "axes"], ["b"])
        reference(total, "keepdims", "keep", AttributeProto.INT)
        axes = reference(node("Constant", [], ["axes"]), "value_ints", "axes", AttributeProto.INTS)
        made = function("F", ["a"], ["b"], [leaky, axes, total], ["axes", "keep"],
                        [helper.make_attribute("slope", 0.25)])
        outer = function("G", ["a"], ["b"], [reference(call("F", ["a"], ["b"], axes=[1]), "slope", "steep",
                                                       AttributeProto.FLOAT)], ["steep"])
        for extra in ({"axes": [0], "keep": 0}, {"axes": [1], "slope": 0.5}):
            self.check(model([call("F", ["x"], ["y"], **extra)], [made]))
        self.check(model([call("G", ["x"], ["y"], steep=0.75)], [made, outer]))

    def test_overloads(self):
        versions = [function("F", ["a"], ["b"], [node(op, ["a"], ["b"])], overload=overload)
                    for op, overload in (("Neg", ""), ("Abs", "other"))]
        calls = [call("F", ["x"], ["h"]), call("F", ["x"], ["k"]), node("Mul", ["h", "k"], ["y"])]
        calls[1].overload = "other"
        self.check(model(calls, versions, ir_version=10), [-X * np.abs(X)])

    def test_a_function_has_its_own_operator_sets(self):
        # Before opset 13 the axes of Squeeze and Unsqueeze are attributes.
        old = function("F", ["a"], ["b"], [node("Unsqueeze", ["a"], ["b"], axes=[0])], version=11)
        self.check(model([call("F", ["x"], ["y"])], [old], 17), [X[None]])

    def test_inputs_and_outputs_that_are_left_out(self):
        made = function("F", ["a", "low", "high"], ["b", "c"], [node("Clip", ["a", "low", "high"], ["b"]),
                                                               node("Neg", ["a"], ["c"])])
        zero = node("Constant", [], ["zero"], value_float=0.0)
        self.check(model([zero, call("F", ["x", "", "zero"], ["", "y"])], [made]), [-X])
        self.check(model([zero, call("F", ["x", "", "zero"], ["y"])], [made]), [np.minimum(X, 0)])
        self.check(model([zero, call("F", ["x", "zero"], ["y", "z"])], [made], outputs=("y", "z")), [np.maximum(X, 0), -X])

    def test_an_output_that_is_an_input(self):
        same = function("F", ["a", "b"], ["b", "a"], [])
        self.check(model([node("Neg", ["x"], ["h"]), call("F", ["x", "h"], ["y", "z"])], [same], outputs=("y", "z")),
                   [-X, X])

    def test_subgraphs_see_the_names_of_their_function(self):
        def branch(op):
            return helper.make_graph([node(op, ["doubled"], ["r"])], op, [], [helper.make_empty_tensor_value_info("r")])

        made = function("F", ["a"], ["b"], [
            node("Add", ["a", "a"], ["doubled"]), node("ReduceSum", ["a"], ["sum"], keepdims=0),
            node("Constant", [], ["zero"], value_float=0.0), node("Greater", ["sum", "zero"], ["positive"]),
            node("If", ["positive"], ["b"], then_branch=branch("Neg"), else_branch=branch("Exp"))])
        self.check(model([node("Abs", ["x"], ["p"]), call("F", ["p"], ["q"]), call("F", ["q"], ["y"])], [made]))

    def test_attributes_that_are_graphs(self):
        body = helper.make_graph([node("Mul", ["x", "x"], ["r"])], "body", [],
                                 [helper.make_empty_tensor_value_info("r")])
        choose = node("If", ["yes"], ["b"])
        reference(choose, "then_branch", "body", AttributeProto.GRAPH)
        reference(choose, "else_branch", "body", AttributeProto.GRAPH)
        yes = node("Constant", [], ["yes"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))
        made = function("F", ["a"], ["b"], [yes, choose], ["body"])
        self.check(model([call("F", ["x"], ["y"], body=body)], [made]), [X * X])

    def test_functions_before_operators_of_the_same_name(self):
        made = function("Relu", ["a"], ["b"], [node("Neg", ["a"], ["b"])])
        made.domain = ""
        self.check(model([node("Relu", ["x"], ["y"])], [made]), [-X])

    def test_functions_that_use_each_other_are_refused(self):
        a = function("A", ["a"], ["b"], [call("B", ["a"], ["b"])])
        b = function("B", ["a"], ["b"], [call("A", ["a"], ["b"])])
        self.refuse(model([call("A", ["x"], ["y"])], [a, b]), "nested more than 64 deep")

    def test_functions_that_double_are_refused(self):
        levels = [function(f"F{i}", ["a"], ["b"], [call(f"F{i + 1}", ["a"], ["c"]), call(f"F{i + 1}", ["c"], ["b"])])
                  for i in range(40)]
        levels.append(function("F40", ["a"], ["b"], [node("Neg", ["a"], ["b"])]))
        self.refuse(model([call("F0", ["x"], ["y"])], levels), "functions expand to more than", "nodes")

    def test_functions_with_subgraphs_that_double_are_refused(self):
        def level(i):
            nodes = [node("Neg", ["c"], [f"n{k}"]) for k in range(20)]
            branch = helper.make_graph(nodes, "branch", [], [helper.make_empty_tensor_value_info("n0")])
            choose = node("If", ["yes"], ["b"], then_branch=branch, else_branch=branch)
            yes = node("Constant", [], ["yes"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))
            return function(f"F{i}", ["a"], ["b"], [call(f"F{i + 1}", ["a"], ["c"]), yes, choose,
                                                    call(f"F{i + 1}", ["c"], ["d"])])

        levels = [level(i) for i in range(12)] + [function("F12", ["a"], ["b"], [node("Neg", ["a"], ["b"])])]
        self.refuse(model([call("F0", ["x"], ["y"])], levels), "functions expand to more than", "nodes")

    def test_defaults_that_refer_to_parameters_are_refused(self):
        default = helper.make_attribute("slope", 1.0)
        default.ref_attr_name = "slope"
        leaky = reference(node("LeakyRelu", ["a"], ["b"]), "alpha", "slope", AttributeProto.FLOAT)
        made = function("F", ["a"], ["b"], [leaky], defaults=[default])
        self.refuse(model([call("F", ["x"], ["y"])], [made]), "the default of 'slope' refers to a parameter")

    def test_errors_name_the_way_into_the_function(self):
        made = function("F", ["a"], ["b"], [node("Concat", ["a"], ["b"], "join", axis=7)])
        self.refuse(model([call("F", ["x"], ["y"])], [made]), "node 'F_y/join' (Concat): axis 7 is out of range")
        unknown = function("F", ["a"], ["b"], [node("Gone", ["a"], ["b"], "gone"), node("Lost", ["a"], ["c"], "lost")])
        self.refuse(model([call("F", ["x"], ["y"]), call("F", ["x"], ["z"]), node("Off", ["x"], ["w"], "off")], [unknown]),
                    "3 nodes have", "'off' (Off", "'F/gone' (Gone", "'F/lost' (Lost")
        self.refuse(model([call("F", ["x", "x"], ["y"])], [made]), "node 'F_y' (F)", "1 inputs")
        self.refuse(model([call("F", ["x"], ["y"])], [made, made]), "defined twice")
        missing = function("F", ["a"], ["b"], [node("Neg", ["a"], ["c"])])
        self.refuse(model([call("F", ["x"], ["y"])], [missing]), "output 'b' of function 'F' is not produced by any node")


if __name__ == "__main__":
    unittest.main()
