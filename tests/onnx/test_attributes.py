# SPDX-License-Identifier: Apache-2.0
"""Attributes that an operator's version does not have, of another type, with other values than there are; lists that are
computed, where the shape of a result hangs on their contents. All are refused in one line that names node and operator."""

import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, defs, helper

    import library
except ImportError:
    onnx = None

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4) if onnx else None
IMAGE = np.sin(np.arange(2 * 3 * 4 * 5, dtype=np.float32)).reshape(2, 3, 4, 5) if onnx else None
INVALID_ARGUMENT = 3


def ints(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float32)


# Operator, opset, inputs, attributes, what the message says.
def of_other_versions():
    for op in ("ReduceMax", "ReduceMean", "ReduceL2", "ReduceLogSumExp"):
        yield op, 18, [X], {"axes": [1]}, "unknown attribute 'axes' in version 18; versions up to 17 have it"
        yield op, 17, [X], {"noop_with_empty_axes": 1}, "unknown attribute 'noop_with_empty_axes' in version 17"
    yield "ReduceSum", 13, [X], {"axes": [1]}, "unknown attribute 'axes' in version 13; versions up to 12 have it"
    yield "Squeeze", 13, [X[:1]], {"axes": [0]}, "versions up to 12 have it"
    yield "Unsqueeze", 21, [X, ints(0)], {"axes": [0, 1]}, "versions up to 12 have it"
    yield "Slice", 10, [X, ints(0), ints(1)], {"starts": [0]}, "versions up to 9 have it"
    yield "Split", 13, [X], {"split": [2]}, "versions up to 12 have it"
    yield "Clip", 11, [X], {"min": 0.0}, "versions up to 10 have it"
    yield "Pad", 11, [X, ints(0, 0, 0, 1, 1, 1)], {"pads": [0, 0, 0, 2, 2, 2]}, "versions up to 10 have it"
    yield "TopK", 11, [X, ints(1)], {"k": 2}, "versions up to 9 have it"
    yield "Dropout", 13, [X], {"ratio": 0.5}, "versions up to 11 have it"
    yield "BatchNormalization", 9, [IMAGE, *[np.ones(3, np.float32)] * 4], {"spatial": 1}, "versions up to 8 have it"
    yield "DFT", 20, [X[..., None]], {"axis": 1}, "versions up to 19 have it"
    yield "Add", 7, [X, X], {"broadcast": 1}, "versions up to 6 have it"
    yield "Relu", 21, [X], {"consumed_inputs": [0]}, "unknown attribute 'consumed_inputs'; there are none"
    yield "Reshape", 13, [X, ints(24)], {"allowzero": 1}, "versions from 14 on have it"
    yield "Cast", 13, [X], {"to": 1, "saturate": 0}, "versions from 19 on have it"
    yield "Resize", 13, [IMAGE, None, floats(1, 1, 2, 2)], {"axes": [0]}, "versions from 18 on have it"
    yield "Resize", 10, [IMAGE, floats(1, 1, 2, 2)], {"exclude_outside": 1}, "versions from 11 on have it"
    yield "Upsample", 9, [IMAGE, floats(1, 1, 2, 2)], {"axes": [0]}, "unknown attribute 'axes' in version 9"
    yield "Shape", 13, [X], {"start": 1}, "versions from 15 on have it"
    yield "Scatter", 9, [X[0], ints([0, 1, 2, 0]), X[1, :1]], {"reduction": "add"}, "unknown attribute 'reduction'"
    yield "MaxPool", 9, [IMAGE], {"kernel_shape": [2, 2], "dilations": [1, 1]}, "versions from 10 on have it"
    for op in ("Relu", "Softmax", "Gather"):
        inputs = [X, ints(0)] if op == "Gather" else [X]
        yield op, 21, inputs, {"colour": 1}, "unknown attribute 'colour'"


def of_other_types():
    yield "Softmax", 21, [X], {"axis": "last"}, "attribute 'axis' has type string, not int"
    yield "Softmax", 21, [X], {"axis": 1.5}, "attribute 'axis' has type float, not int"
    yield "Transpose", 21, [X], {"perm": 1}, "attribute 'perm' has type int, not ints"
    yield "LeakyRelu", 21, [X], {"alpha": 1}, "attribute 'alpha' has type int, not float"
    yield "Pad", 21, [X, ints(0, 0, 0, 1, 1, 1)], {"mode": 1}, "attribute 'mode' has type int, not string"
    yield "ReduceMax", 13, [X], {"axes": 1}, "attribute 'axes' has type int, not ints"
    yield "Slice", 9, [X], {"starts": 0, "ends": 1}, "has type int, not ints"
    yield "TopK", 9, [X], {"k": [2]}, "attribute 'k' has type ints, not int"
    yield "Dropout", 10, [X], {"ratio": 1}, "attribute 'ratio' has type int, not float"
    yield "Constant", 21, [], {"value_int": 1.5}, "attribute 'value_int' has the type number 1, not 2"
    yield "Constant", 21, [], {"value_floats": [1, 2]}, "attribute 'value_floats' has the type number 7, not 6"
    yield "Constant", 11, [], {"value_ints": [1, 2]}, "unknown attribute 'value_ints' in version 11"


def of_other_values():
    lengths = ints(1, 1, 1)
    for name in ("batch_axis", "time_axis"):
        yield "ReverseSequence", 21, [X, lengths], {name: 2}, f"attribute '{name}' is 2; allowed are 0 to 1"
    sizes = [IMAGE, None, floats(1, 1, 2, 2)]
    yield "Resize", 21, sizes, {"mode": "max"}, "attribute 'mode' is 'max'; allowed are nearest, linear, cubic"
    yield "Resize", 21, sizes, {"nearest_mode": "up"}, "attribute 'nearest_mode' is 'up'; allowed are round_prefer_floor"
    yield "Resize", 21, sizes, {"coordinate_transformation_mode": "x"}, "is 'x'; allowed are half_pixel"
    yield "Resize", 21, sizes, {"keep_aspect_ratio_policy": "x"}, "is 'x'; allowed are stretch, not_larger, not_smaller"
    yield "Upsample", 9, [IMAGE, floats(1, 1, 2, 2)], {"mode": "bilinear"}, "is 'bilinear'; allowed are nearest"
    yield "LRN", 21, [IMAGE], {"size": 0}, "attribute 'size' is 0; allowed are 1 or more"
    yield "LpNormalization", 21, [X], {"p": 3}, "attribute 'p' is 3; allowed are 1 to 2"
    yield "LpPool", 21, [IMAGE], {"kernel_shape": [2, 2], "p": 0}, "attribute 'p' is 0; allowed are 1 or more"
    yield "MaxPool", 21, [IMAGE], {"kernel_shape": [2, 2], "auto_pad": "SAME"}, "is 'SAME'; allowed are NOTSET, VALID"
    yield "Pad", 21, [X, ints(0, 0, 0, 1, 1, 1)], {"mode": "mirror"}, "is 'mirror'; allowed are constant, reflect, edge"
    yield "Pad", 7, [X], {"pads": [0] * 6, "mode": "mirror"}, "is 'mirror'; allowed are constant, reflect, edge"
    grid = np.zeros((2, 2, 2, 2), np.float32)
    yield "GridSample", 21, [IMAGE, grid], {"padding_mode": "wrap"}, "is 'wrap'; allowed are zeros, border, reflection"
    yield "GridSample", 21, [IMAGE, grid], {"mode": "bilinear"}, "is 'bilinear'; allowed are linear, nearest, cubic"
    yield "GridSample", 16, [IMAGE, grid], {"mode": "linear"}, "is 'linear'; allowed are bilinear, nearest, bicubic"
    weights = [np.ones((1, 4, 4), np.float32)] * 2
    yield "RNN", 21, [X, *weights], {"hidden_size": 4, "direction": "up"}, "allowed are forward, reverse, bidirectional"
    yield "RNN", 21, [X, *weights], {"hidden_size": 4, "activations": ["Sine"]}, "'activations' contains 'Sine'; allowed are"
    scatter = [X, np.zeros((1, 1, 1), np.int64), np.zeros((1, 1, 1), np.float32)]
    yield "ScatterElements", 21, scatter, {"reduction": "mean"}, "is 'mean'; allowed are none, add, mul, max, min"
    yield "DepthToSpace", 21, [np.ones((1, 4, 2, 2), np.float32)], {"blocksize": 2, "mode": "RDC"}, "allowed are DCR, CRD"
    yield "SpaceToDepth", 21, [IMAGE], {"blocksize": -2}, "attribute 'blocksize' is -2; allowed are 1 to 1048576"
    yield "BitShift", 21, [np.ones(2, np.uint8)] * 2, {"direction": "UP"}, "is 'UP'; allowed are LEFT, RIGHT"
    yield "Gelu", 21, [X], {"approximate": "erf"}, "is 'erf'; allowed are none, tanh"
    yield "ReduceSum", 21, [X], {"keepdims": 2}, "attribute 'keepdims' is 2; allowed are 0 to 1"


# What shape rules and kernels read through one reader, and what fits no node of the operator.
def of_readers():
    signal = X[..., None]
    yield "DFT", 21, [signal, None, np.array(-1, np.int64)], {}, "axis -1 holds the parts of the complex numbers"
    yield "DFT", 21, [signal, np.array(0, np.int64)], {}, "the length of the transform is 0"
    yield "STFT", 21, [X[..., :1], np.array(0, np.int64)], {}, "frame_step is 0"
    mel = [np.array(8, np.int64)] * 3 + [np.array(0, np.float32), np.array(4, np.float32)]
    yield "MelWeightMatrix", 21, mel, {"output_datatype": 8}, "attribute 'output_datatype' is string"
    yield "MaxRoiPool", 21, [IMAGE, np.zeros((1, 5), np.float32)], {"pooled_shape": [1, 0]}, "'pooled_shape' contains 0"
    yield "SplitToSequence", 21, [X], {"axis": 3}, "axis 3 is out of range for rank 3"
    yield "EyeLike", 21, [X[0]], {"dtype": 99}, "attribute 'dtype' is 99, which is not a data type"
    yield "Cast", 21, [X], {"to": 99}, "attribute 'to' is 99, which is not a data type"
    yield "Multinomial", 21, [X[0]], {"sample_size": -1}, "attribute 'sample_size' is -1"
    grams = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0]}
    yield ("TfIdfVectorizer", 21, [ints(1, 2)], {**grams, "pool_int64s": [1], "ngram_indexes": [-1]},
           "attribute 'ngram_indexes' has the entry -1")
    yield "TfIdfVectorizer", 21, [ints(1, 2)], {**grams, "ngram_indexes": [0]}, "needs one of pool_strings and pool_int64s"
    weights = [np.ones((1, 4, 4), np.float32)] * 2
    yield ("RNN", 21, [X, *weights], {"hidden_size": 4, "activations": ["Tanh", "Relu"]},
           "attribute activations has 2 entries")
    body = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "body",
                             [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])],
                             [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])])
    for name in ("scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"):
        yield ("Scan", 21, [X], {"body": body, "num_scan_inputs": 1, name: [0, 0]},
               f"attribute '{name}' has 2 numbers, needs 1")


def model_of(op, opset, inputs, attributes, computed=()):
    """`computed`: inputs that come from the caller through a Cast, so that their contents are not known in advance."""
    known = defs.get_schema(op, min(opset, defs.onnx_opset_version()))
    node = helper.make_node(op, [f"i{k}" if value is not None else "" for k, value in enumerate(inputs)],
                            [f"o{k}" for k in range(known.min_output)], name="bad")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    nodes, values = [node], []
    for k, value in enumerate(inputs):
        if value is None:
            continue
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        name, shape = f"i{k}", list(value.shape)
        if k in computed:
            nodes.insert(0, helper.make_node("Sub", [f"g{k}", f"g{k}z"], [f"i{k}"]))
            values.append(helper.make_tensor_value_info(f"g{k}z", kind, shape))
            name = f"g{k}"
        values.append(helper.make_tensor_value_info(name, kind, shape))
    graph = helper.make_graph(nodes, "g", values,
                              [helper.make_empty_tensor_value_info(f"o{k}") for k in range(known.min_output)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model.SerializeToString()


def run(op, opset, inputs, attributes=None, computed=()):
    arrays = []
    for k, value in enumerate(inputs):
        if value is None:
            continue
        arrays += [np.zeros_like(value)] if k in computed else []
        arrays.append(value)
    return library.Model(model_of(op, opset, inputs, attributes or {}, computed)).run(arrays)


@unittest.skipUnless(onnx, "needs numpy and onnx")
class Attributes(unittest.TestCase):
    def expect_refusals(self, cases):
        for op, opset, inputs, attributes, text in cases:
            with self.subTest(op=op, opset=opset, attributes=str(attributes)):
                with self.assertRaises(library.Failure) as raised:
                    library.Model(model_of(op, opset, inputs, attributes))
                message = str(raised.exception)
                self.assertEqual(raised.exception.status, INVALID_ARGUMENT, message)
                self.assertIn(f"node 'bad' ({op})", message)
                self.assertIn(text, message)
                self.assertNotIn("\n", message)

    def test_attributes_of_other_versions_are_refused(self):
        self.expect_refusals(of_other_versions())

    def test_attributes_of_other_types_are_refused(self):
        self.expect_refusals(of_other_types())

    def test_values_that_are_none_are_refused(self):
        self.expect_refusals(of_other_values())

    def test_what_readers_refuse_names_node_and_operator(self):
        for op, opset, inputs, attributes, text in of_readers():
            with self.subTest(op=op, attributes=str(attributes)):
                with self.assertRaises(library.Failure) as raised:
                    run(op, opset, inputs, attributes)
                message = str(raised.exception)
                self.assertEqual(raised.exception.status, INVALID_ARGUMENT, message)
                self.assertIn(f"node 'bad' ({op})", message)
                self.assertIn(text, message)

    def test_attributes_of_old_versions_do_what_they_did(self):
        self.assertEqual(run("ReduceSum", 11, [X], {"axes": [1], "keepdims": 0})[0].shape, (2, 4))
        self.assertEqual(run("Squeeze", 11, [X[:1]], {"axes": [0]})[0].shape, (3, 4))
        self.assertEqual(run("Slice", 9, [X], {"starts": [1], "ends": [3], "axes": [2]})[0].shape, (2, 3, 2))
        np.testing.assert_array_equal(run("Dropout", 10, [X], {"ratio": 0.5})[0], X)
        np.testing.assert_array_equal(run("Clip", 6, [X], {"min": 0.0})[0], np.maximum(X, 0))
        np.testing.assert_array_equal(run("Add", 6, [X, floats(1, 2, 3)], {"axis": 1, "broadcast": 1})[0],
                                      X + floats(1, 2, 3)[:, None])
        np.testing.assert_array_equal(run("Add", 1, [X, X], {"consumed_inputs": [0, 0]})[0], X + X)

    def test_notes_of_tools_are_passed_over(self):
        for op in ("Relu", "Sigmoid", "Softmax"):
            self.assertEqual(run(op, 21, [X], {"__note": "made by hand"})[0].shape, X.shape)

    def test_attributes_in_functions_and_branches_are_checked(self):
        bad = helper.make_node("ReduceMax", ["x"], ["y"], name="bad", axes=[1])
        value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
        out = helper.make_empty_tensor_value_info("y")
        opset = helper.make_opsetid("", 18)
        branch = helper.make_graph([bad], "b", [], [out])
        condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
        choice = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
        function = helper.make_function("local", "f", ["x"], ["y"], [bad], [opset])
        call = helper.make_node("f", ["x"], ["y"], domain="local", name="call")
        opsets = [opset, helper.make_opsetid("local", 1)]
        models = [helper.make_model(helper.make_graph([choice], "g", [value, condition], [out]), opset_imports=opsets),
                  helper.make_model(helper.make_graph([call], "g", [value], [out]), opset_imports=opsets,
                                    functions=[function])]
        for model in models:
            model.ir_version = 10
            with self.assertRaisesRegex(library.Failure, r"bad' \(ReduceMax\): unknown attribute 'axes' in version 18"):
                library.Model(model.SerializeToString())


@unittest.skipUnless(onnx, "needs numpy and onnx")
class Lists(unittest.TestCase):
    """Contents that are seen when the model runs must not be guessed from the length of the list."""

    def expect_failure(self, op, inputs, text, attributes=None):
        for computed in ((), (1,)):
            with self.subTest(op=op, inputs=[list(value) for value in inputs[1:]], computed=computed):
                with self.assertRaises(library.Failure) as raised:
                    run(op, 21, inputs, attributes, computed)
                self.assertEqual(raised.exception.status, INVALID_ARGUMENT, str(raised.exception))
                self.assertIn(f"node 'bad' ({op})", str(raised.exception))
                self.assertIn(text, str(raised.exception))

    def expect_shape(self, op, inputs, shape, attributes=None):
        for computed in ((), (1,)):
            with self.subTest(op=op, inputs=[list(value) for value in inputs[1:]], computed=computed):
                self.assertEqual(run(op, 21, inputs, attributes, computed)[0].shape, shape)

    def test_views_keep_the_number_of_elements(self):
        self.expect_failure("Reshape", [X, ints()], "numbers of elements disagree: 24 and 1")
        self.expect_failure("Reshape", [X, ints(5)], "numbers of elements disagree: 24 and 5")
        self.expect_failure("Squeeze", [X, ints(0, 1, 2)], "is 2, not 1")
        self.expect_failure("Squeeze", [X[:1], ints(1)], "is 3, not 1")
        self.expect_shape("Reshape", [X[:1, :1, :1], ints()], ())
        self.expect_shape("Squeeze", [X[:1, :1, :1], ints(0, 1, 2)], ())
        self.expect_shape("Unsqueeze", [X, ints(0, 2)], (1, 2, 1, 3, 4))

    def test_axes_that_are_given_twice_are_refused(self):
        for op in ("ReduceSum", "ReduceMax", "ReduceMean", "ReduceLogSumExp", "ReduceProd"):
            for keep in (0, 1):
                self.expect_failure(op, [X[0], ints(0, 0)], "axis 0 occurs twice", {"keepdims": keep})
                self.expect_failure(op, [X[0], ints(0, -2)], "axis -2 occurs twice", {"keepdims": keep})
        self.expect_failure("Squeeze", [X[:1, :1], ints(0, 0)], "axis 0 occurs twice")
        self.expect_failure("Unsqueeze", [X, ints(1, 1)], "axis 1 occurs twice")

    def test_empty_lists_mean_what_they_mean(self):
        for op in ("ReduceSum", "ReduceMax", "ReduceL1"):
            self.expect_shape(op, [X, ints()], (), {"keepdims": 0})
            self.expect_shape(op, [X, ints()], (1, 1, 1), {"keepdims": 1})
            self.expect_shape(op, [X, ints()], X.shape, {"noop_with_empty_axes": 1})
        self.expect_shape("Expand", [X, ints()], X.shape)
        self.expect_shape("ConstantOfShape", [ints()], ())
        self.expect_shape("Squeeze", [X[:1], ints()], (3, 4))

    def test_lists_of_other_lengths_are_refused(self):
        self.expect_failure("Tile", [X, ints(1, 1)], "repeats are 2 numbers for [2, 3, 4]")
        self.expect_failure("Pad", [X, ints(0, 0, 0, 0)], "pads are 4 numbers for 3 axes")
        self.expect_failure("Slice", [X, ints(0, 0), ints(1)], "input 2 has 1 numbers, the starts are 2")
        self.expect_failure("Pad", [X[0], ints(-2**63, 0, 2**63 - 1, 0)], "allowed are")


if __name__ == "__main__":
    unittest.main()
