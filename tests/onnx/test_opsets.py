# SPDX-License-Identifier: Apache-2.0
"""Operators whose form or meaning changed, in each of their versions, against ONNX Runtime; sparse tensors; versions
that are too old or too new."""

import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, defs, helper, numpy_helper

    import library
except ImportError:
    onnxruntime = None
else:
    onnxruntime.set_default_logger_severity(4)

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4) if onnxruntime else None
IMAGE = np.sin(np.arange(2 * 3 * 4 * 5, dtype=np.float32)).reshape(2, 3, 4, 5) if onnxruntime else None


def ints(*values):
    return np.array(values, np.int64)


def cases():
    """Operator, opset, inputs (None = left out), attributes."""
    for version in (7, 9, 11, 12, 13, 18, 21):
        yield from of_all_versions(version)
    for version in (7, 8, 9):
        yield "Slice", version, [X], {"starts": [0, 1], "ends": [2, 10], "axes": [0, 2]}
        yield "TopK", version, [X], {"k": 2, "axis": 1}
    for version in (10, 11, 13):
        yield "Slice", version, [X, ints(0, 1), ints(2, 10), ints(0, 2)], {}
        yield "TopK", version, [X, ints(2)], {"axis": 1}
    for version in (7, 10):
        yield "Clip", version, [X], {"min": -0.5, "max": 1.0}
        yield "Pad", version, [X], {"pads": [0, 1, 0, 1, 0, 2], "value": 3.0}
    for version in (11, 12, 13):
        yield "Clip", version, [X, np.float32(-0.5)], {}
        yield "Pad", version, [X, ints(0, 1, 0, 1, 0, 2), np.float32(3)], {}
    yield "Pad", 7, [X], {"pads": [0, 1, 0, 0, 1, 0], "mode": "reflect"}
    yield "Upsample", 7, [IMAGE], {"scales": [1.0, 1.0, 2.0, 3.0], "mode": "nearest"}
    yield "Upsample", 9, [IMAGE, np.array([1, 1, 2, 2], np.float32)], {"mode": "linear"}
    yield "Resize", 10, [IMAGE, np.array([1, 1, 2, 3], np.float32)], {"mode": "nearest"}
    yield "Resize", 11, [IMAGE, np.zeros(0, np.float32), np.array([1, 1, 2, 3], np.float32)], {"mode": "linear"}
    yield "Resize", 13, [IMAGE, None, None, ints(2, 3, 8, 7)], {"mode": "cubic"}
    yield "GridSample", 16, [IMAGE, np.sin(np.arange(2 * 3 * 3 * 2, dtype=np.float32)).reshape(2, 3, 3, 2)], \
        {"mode": "bicubic"}
    yield "RoiAlign", 10, [IMAGE, np.array([[0, 0, 3, 3]], np.float32), ints(1)], {"output_height": 2, "output_width": 2}
    yield "DFT", 17, [X[..., None]], {"axis": 2}
    yield "Scatter", 9, [X[0], ints([0, 1, 2, 0]), X[1, :1]], {"axis": 0}


def of_all_versions(version):
    axes = ints(1)
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
               "ReduceSum", "ReduceSumSquare"):
        as_input = version >= (13 if op == "ReduceSum" else 18)
        yield op, version, [X, axes] if as_input else [X], {"keepdims": 0} | ({} if as_input else {"axes": [1]})
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (0, 1, 2, -1):
            yield op, version, [X], {"axis": axis}
        yield op, version, [X], {}
        yield op, version, [X[:, :, :0]], {"axis": 1}
    as_input = version >= 13
    yield "Squeeze", version, [X[:, :1], axes] if as_input else [X[:, :1]], {} if as_input else {"axes": [1]}
    yield "Unsqueeze", version, [X, axes] if as_input else [X], {} if as_input else {"axes": [1]}
    scale = [np.float32(v) for v in ([1, 2, 3], [0, 1, 0], [0.1, 0.2, 0.3], [1, 2, 3])]
    yield "BatchNormalization", version, [X, *scale], {"epsilon": 1e-3}
    yield "Dropout", version, [X], {} if version >= 12 else {"ratio": 0.3}
    sizes = ints(1, 2)
    yield "Split", version, [X, sizes] if as_input else [X], {"axis": 1} | ({} if as_input else {"split": [1, 2]})
    yield "Split", version, [X], {"axis": 0} | ({"num_outputs": 2} if version >= 18 else {})
    yield "Flatten", version, [X], {"axis": 2}
    yield "Gemm", version, [X[0], X[1].T.copy(), np.float32([1])], {"alpha": 0.5}


def model_of(op, version, inputs, attributes):
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    outputs = ["y0", "y1"] if op in ("Split", "TopK") else ["y0"]
    weights = [numpy_helper.from_array(np.asarray(value), names[i]) for i, value in enumerate(inputs)
               if value is not None and i > 0]
    node = helper.make_node(op, names, outputs, "node", **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, inputs[0].shape)],
                              [helper.make_empty_tensor_value_info(name) for name in outputs], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)


def constant_model(node, inputs=(), weights=(), version=17):
    graph = helper.make_graph(list(node), "g", list(inputs), [helper.make_empty_tensor_value_info("y")])
    graph.sparse_initializer.extend(weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)


def sparse(values, indices, dims, name="w"):
    return helper.make_sparse_tensor(numpy_helper.from_array(np.asarray(values), name),
                                     numpy_helper.from_array(np.asarray(indices, np.int64), name + "_at"), dims)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Opsets(unittest.TestCase):
    def test_each_version(self):
        count = 0
        for op, version, inputs, attributes in cases():
            with self.subTest(op=op, version=version, attributes=attributes):
                data = model_of(op, version, inputs, attributes).SerializeToString()
                session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
                expected = session.run(None, {"x0": inputs[0]})
                for actual, wanted in zip(library.Model(data).run([inputs[0]]), expected, strict=True):
                    self.assertEqual(actual.shape, wanted.shape)
                    np.testing.assert_allclose(actual, wanted, 1e-5, 1e-5)
                count += 1
        self.assertGreater(count, 150)

    def refuse(self, model, status, *parts):
        with self.assertRaises(library.Failure) as caught:
            library.Model(model.SerializeToString())
        self.assertEqual(caught.exception.status, status, str(caught.exception))
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_names_that_the_library_gives_are_the_models_too(self):
        # A softmax of opset 7 becomes several nodes, whose results get names of that kind.
        names = ["Flatten_1", "Shape_1", "Softmax_1", "Softmax_2", "constant_1", "Reshape_1"]
        nodes = [helper.make_node("Softmax", ["x0"], ["first"], axis=1)]
        nodes += [helper.make_node("Softmax", [before], [after], axis=1)
                  for before, after in zip(["first", *names], [*names, "y0"])]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, X.shape)],
                                  [helper.make_empty_tensor_value_info("y0")])
        data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8).SerializeToString()
        expected = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {"x0": X})
        np.testing.assert_allclose(library.Model(data).run([X])[0], expected[0], 1e-6)

    def test_versions_out_of_range(self):
        newest = defs.onnx_opset_version()
        library.Model(model_of("Relu", newest, [X], {}).SerializeToString())
        self.refuse(model_of("Relu", 99, [X], {}), library.UNIMPLEMENTED, "Opset 99 of ai.onnx is not supported")
        # In opset 5 Relu had another attribute; Transpose has never changed.
        self.refuse(model_of("Relu", 5, [X], {}), library.UNIMPLEMENTED, "'node' (Relu, domain ai.onnx, version 5)")
        library.Model(model_of("Transpose", 1, [X], {}).SerializeToString())

    def test_sparse_tensors(self):
        dense = np.zeros((3, 4), np.float32)
        dense[0, 1], dense[2, 3] = 5, -7
        flat, pairs = [1, 11], [[0, 1], [2, 3]]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])
        for indices in (flat, pairs):
            tensor = sparse(np.float32([5, -7]), indices, [3, 4])
            constant = helper.make_node("Constant", [], ["y"], sparse_value=tensor)
            np.testing.assert_array_equal(library.Model(constant_model([constant]).SerializeToString()).run([])[0], dense)
            add = helper.make_node("Add", ["x", "w"], ["y"])
            model = constant_model([add], [x], [tensor])
            np.testing.assert_array_equal(library.Model(model.SerializeToString()).run([dense])[0], dense * 2)

    def test_sparse_tensors_that_make_no_sense(self):
        def refuse(tensor, status, *parts):
            self.refuse(constant_model([helper.make_node("Constant", [], ["y"], sparse_value=tensor)]), status,
                        "Sparse tensor 'w'", *parts)

        one = np.float32([1])
        refuse(sparse(one, [12], [3, 4]), 3, "index 0 is outside the shape [3, 4]")
        refuse(sparse(one, [[0, -1]], [3, 4]), 3, "index 0 is outside")
        refuse(sparse(one, [1, 2], [3, 4]), 3, "has 2 indices, needs 1")
        refuse(sparse(one, [1], [1 << 20, 1 << 10]), 8, "too large for 1 values")


if __name__ == "__main__":
    unittest.main()
