# SPDX-License-Identifier: Apache-2.0
"""Quantised operators and pools of regions against ONNX Runtime, on random shapes; random operators in models."""

import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    import library
except ImportError:
    onnxruntime = None

RANDOM = np.random.default_rng(5) if onnxruntime else None


def build(node, inputs, constants, output):
    info = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in inputs.items()]
    graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info("y", output, None)],
                              [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()])
    opset = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opset, ir_version=10).SerializeToString()


def both(node, inputs, constants, output):
    """What ONNX Runtime and the library give."""
    model = build(node, inputs, constants, output)
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # its sums of 8-bit products may saturate otherwise
    expected = onnxruntime.InferenceSession(model, options).run(None, inputs)[0]
    return expected, library.Model(model).run(list(inputs.values()))[0]


def data(dtype, shape):
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)


@unittest.skipUnless(onnxruntime, "onnx and onnxruntime are not installed")
class Integers(unittest.TestCase):
    def test_matrix_products(self):
        for a_type in (np.uint8, np.int8):
            for b_type in (np.uint8, np.int8):
                for m, k, n in ((1, 7, 3), (5, 64, 48), (33, 130, 97)):
                    constants = {"b": data(b_type, (k, n)), "az": data(a_type, ()), "bz": data(b_type, ())}
                    node = helper.make_node("MatMulInteger", ["a", "b", "az", "bz"], ["y"])
                    if a_type is np.int8 and b_type is np.uint8:
                        continue  # ONNX Runtime has none
                    expected, actual = both(node, {"a": data(a_type, (m, k))}, constants, TensorProto.INT32)
                    np.testing.assert_array_equal(actual, expected)

    def test_short_rows_of_products(self):
        """Tasks have many of them, and share their addresses among panels of columns."""
        for m, k, n in ((700, 20, 200), (3001, 4, 70), (2600, 64, 256)):
            for zeros in ({}, {"az": np.uint8(7), "bz": np.int8(0)}, {"az": np.uint8(0), "bz": data(np.int8, (n,))}):
                node = helper.make_node("MatMulInteger", ["a", "b", *zeros], ["y"])
                expected, actual = both(node, {"a": data(np.uint8, (m, k))}, {"b": data(np.int8, (k, n)), **zeros},
                                        TensorProto.INT32)
                np.testing.assert_array_equal(actual, expected)

    def test_convolutions(self):
        for group, filters, stride, pad, kernel in ((1, 16, 1, 1, 3), (1, 3, 2, 0, 1), (2, 16, 2, 2, 5),
                                                    (8, 16, 1, 1, 3), (8, 8, 1, 1, 3), (8, 8, 1, 2, 5)):
            x, w = data(np.uint8, (2, 8, 13, 11)), data(np.int8, (filters, 8 // group, kernel, kernel))
            constants = {"w": w, "xs": np.float32(0.02), "xz": np.uint8(120), "ws": np.full(filters, 0.01, np.float32),
                         "wz": np.zeros(filters, np.int8), "ys": np.float32(1.7), "yz": np.uint8(100),
                         "b": RANDOM.integers(-9000, 9000, filters).astype(np.int32)}
            node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"],
                                    group=group, strides=[stride] * 2, pads=[pad] * 4)
            expected, actual = both(node, {"x": x}, constants, TensorProto.UINT8)
            self.assertLessEqual(np.abs(actual.astype(int) - expected.astype(int)).max(), 1)
            self.assertLess(np.mean(actual != expected), 0.01)

    def test_pooled_regions(self):
        x = RANDOM.standard_normal((2, 3, 16, 12)).astype(np.float32)
        regions = np.array([[0, 0, 0, 11, 15], [1, 2, 3, 8, 9], [1, 4, 4, 4, 4], [0, 20, 20, 30, 30]], np.float32)
        for scale in (1.0, 0.5):
            node = helper.make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[3, 2], spatial_scale=scale)
            expected, actual = both(node, {"x": x, "r": regions}, {}, TensorProto.FLOAT)
            np.testing.assert_array_equal(actual, expected)

    def test_region_of_another_image(self):
        x, regions = np.zeros((1, 1, 4, 4), np.float32), np.array([[3, 0, 0, 1, 1]], np.float32)
        node = helper.make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[1, 1])
        model = library.Model(build(node, {"x": x, "r": regions}, {}, TensorProto.FLOAT))
        with self.assertRaisesRegex(library.Failure, "image 3.* of a region"):
            model.run([x, regions])

    def test_seeds(self):
        for seed in ({}, {"seed": 3.0}):
            node = helper.make_node("RandomNormal", [], ["y"], shape=[4, 5], **seed)
            model = build(node, {}, {}, TensorProto.FLOAT)
            first, again = (library.Model(model).run([])[0] for _ in range(2))
            self.assertEqual(np.array_equal(first, again), bool(seed))

    def test_multinomial(self):
        logits = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-30]], np.float32))
        node = helper.make_node("Multinomial", ["x"], ["y"], sample_size=5000, dtype=TensorProto.INT64)
        drawn = library.Model(build(node, {"x": logits}, {}, TensorProto.INT64)).run([logits])[0]
        self.assertEqual(drawn.shape, (2, 5000))
        shares = np.stack([np.bincount(row, minlength=3) / 5000 for row in drawn])
        np.testing.assert_allclose(shares, np.exp(logits), atol=0.04)


if __name__ == "__main__":
    unittest.main()
