# SPDX-License-Identifier: Apache-2.0
"""Elements below 8 bits through whole models: conversions against ml_dtypes, movement, control flow, constants."""

import unittest

try:
    import ml_dtypes
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    import library
except ImportError:
    helper = None

PACKED = ("INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1", "FLOAT6E2M3", "FLOAT6E3M2")
SMALL = PACKED + ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0")


def number(name):
    return TensorProto.DataType.Value(name)


def numpy_type(name):
    return helper.tensor_dtype_to_np_dtype(number(name))


def values(name, shape, seed=0):
    """All codes of a type, in random order."""
    bits = library.bits_of(numpy_type(name)) or 8
    codes = np.random.default_rng(seed).integers(0, 1 << bits, shape).astype(np.uint8)
    if name in ("INT4", "INT2"):
        codes = np.where(codes >> (bits - 1), codes | (0xFF << bits & 0xFF), codes).astype(np.uint8)
    return codes.view(numpy_type(name))


def model(nodes, inputs, outputs, constants=()):
    info = [[helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in side]
            for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "packed", *info, initializer=list(constants))
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=14)
    return library.Model(built.SerializeToString())


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a.view(np.uint8), b.view(np.uint8))


@unittest.skipUnless(helper, "onnx and numpy are not installed")
class Packed(unittest.TestCase):
    def check(self, node, name, expected_of, shape=(3, 5, 3), extra=()):
        x = values(name, shape)
        expected = expected_of(x)
        runner = model([node], [("x", number(name), shape)], [("y", number(name), expected.shape)],
                       [numpy_helper.from_array(array, key) for key, array in extra])
        self.assertTrue(same(runner.run([x])[0], expected), f"{node.op_type} of {name}")

    def test_movement(self):
        for name in SMALL:
            self.check(helper.make_node("Identity", ["x"], ["y"]), name, lambda x: x)
            self.check(helper.make_node("Transpose", ["x"], ["y"], perm=[2, 0, 1]), name,
                       lambda x: np.ascontiguousarray(x.transpose(2, 0, 1)))
            self.check(helper.make_node("Reshape", ["x", "s"], ["y"]), name, lambda x: x.reshape(9, 5),
                       extra=[("s", np.array([9, 5]))])
            self.check(helper.make_node("Flatten", ["x"], ["y"]), name, lambda x: x.reshape(3, 15))
            self.check(helper.make_node("Unsqueeze", ["x", "a"], ["y"]), name, lambda x: x[None],
                       extra=[("a", np.array([0]))])
            self.check(helper.make_node("Pad", ["x", "p"], ["y"], mode="edge"), name,
                       lambda x: np.pad(x.view(np.uint8), ((0, 0), (1, 0), (0, 2)), mode="edge").view(x.dtype),
                       extra=[("p", np.array([0, 1, 0, 0, 0, 2]))])

    def test_constants(self):
        for name in SMALL:
            constant = values(name, (7,))
            runner = model([helper.make_node("Transpose", ["c"], ["y"])], [], [("y", number(name), (7,))],
                           [numpy_helper.from_array(constant, "c")])
            self.assertTrue(same(runner.run([])[0], constant), name)

    def test_constant_of_shape(self):
        for name in PACKED:
            element = values(name, (1,), 3)
            value = numpy_helper.from_array(element, "value")
            runner = model([helper.make_node("ConstantOfShape", ["s"], ["y"], value=value)],
                           [("s", TensorProto.INT64, (2,))], [("y", number(name), (None, None))])
            for shape in ((3, 5), (1, 1), (0, 2)):
                expected = np.broadcast_to(element, shape).copy()
                self.assertTrue(same(runner.run([np.array(shape)])[0], expected), name)

    def test_if(self):
        for name in PACKED:
            branches = {}
            for branch, value in (("then_branch", "a"), ("else_branch", "b")):
                output = helper.make_tensor_value_info("r", number(name), (5,))
                branches[branch] = helper.make_graph([helper.make_node("Identity", [value], ["r"])], branch, [], [output])
            runner = model([helper.make_node("If", ["c"], ["y"], **branches)],
                           [("c", TensorProto.BOOL, ()), ("a", number(name), (5,)), ("b", number(name), (5,))],
                           [("y", number(name), (5,))])
            a, b = values(name, (5,), 1), values(name, (5,), 2)
            self.assertTrue(same(runner.run([np.array(True), a, b])[0], a), name)
            self.assertTrue(same(runner.run([np.array(False), a, b])[0], b), name)

    def test_loop_collects_slices(self):
        for name in PACKED:
            for width in (3, 8):
                body = helper.make_graph(
                    [helper.make_node("Identity", ["condition"], ["more"]), helper.make_node("Identity", ["a"], ["r"])],
                    "body", [helper.make_tensor_value_info("i", TensorProto.INT64, ()),
                             helper.make_tensor_value_info("condition", TensorProto.BOOL, ())],
                    [helper.make_tensor_value_info("more", TensorProto.BOOL, ()),
                     helper.make_tensor_value_info("r", number(name), (width,))])
                runner = model([helper.make_node("Loop", ["n", ""], ["y"], body=body)],
                               [("n", TensorProto.INT64, ()), ("a", number(name), (width,))],
                               [("y", number(name), (None, width))])
                a = values(name, (width,), 1)
                self.assertTrue(same(runner.run([np.array(5), a])[0], np.stack([a] * 5)), f"{name} {width}")

    def test_scan_takes_and_collects_slices(self):
        for name in PACKED:
            for width in (3, 8):
                body = helper.make_graph([helper.make_node("Identity", ["slice"], ["r"])], "body",
                                         [helper.make_tensor_value_info("slice", number(name), (width,))],
                                         [helper.make_tensor_value_info("r", number(name), (width,))])
                runner = model([helper.make_node("Scan", ["a"], ["y"], body=body, num_scan_inputs=1)],
                               [("a", number(name), (4, width))], [("y", number(name), (4, width))])
                a = values(name, (4, width), 1)
                self.assertTrue(same(runner.run([a])[0], a), f"{name} {width}")

    def test_casts(self):
        for source in SMALL + ("FLOAT", "FLOAT16", "INT8", "UINT8", "INT32", "BOOL"):
            for target in SMALL + ("FLOAT", "FLOAT16", "BFLOAT16", "INT32", "DOUBLE"):
                x = (values(source, (4, 33)) if source in SMALL
                     else np.random.default_rng(1).integers(0, 4, (4, 33)).astype(numpy_type(source)))
                runner = model([helper.make_node("Cast", ["x"], ["y"], to=number(target))],
                               [("x", number(source), x.shape)], [("y", number(target), x.shape)])
                wide = x.astype(np.float64)
                ok = np.isfinite(wide)  # what becomes of the others is tested in C++
                if numpy_type(target).kind in "iu" or target in PACKED[:4]:
                    ok &= np.abs(wide) < 2**31
                    expected = np.where(ok, wide, 0).astype(np.int64).astype(numpy_type(target))
                elif target == "FLOAT8E8M0":
                    continue
                else:
                    ok &= np.abs(wide) <= float(ml_dtypes.finfo(numpy_type(target)).max)
                    expected = np.where(ok, wide, 0).astype(numpy_type(target))
                actual = runner.run([x])[0]
                self.assertEqual(actual.dtype, expected.dtype)
                self.assertTrue(np.array_equal(actual[ok].astype(np.float64), expected[ok].astype(np.float64)),
                                f"{source} to {target}")

    def test_dequantized_weights(self):
        """A product with int4 weights in blocks, as quantised language models have it."""
        weights, scales = values("INT4", (64, 16)), np.random.default_rng(2).random((4, 16), np.float32)
        x = np.random.default_rng(3).standard_normal((3, 64), np.float32)
        runner = model([helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=16),
                        helper.make_node("MatMul", ["x", "d"], ["y"])],
                       [("x", TensorProto.FLOAT, (3, 64))], [("y", TensorProto.FLOAT, (3, 16))],
                       [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(scales, "s")])
        expected = x @ (weights.astype(np.float32) * np.repeat(scales, 16, 0))
        np.testing.assert_allclose(runner.run([x])[0], expected, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
