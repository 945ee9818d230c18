# SPDX-License-Identifier: Apache-2.0
"""Quantised products and what follows them, in both of ONNX's forms, against ONNX's reference evaluator: results differ
by at most one step."""

import itertools
import unittest

try:
    import numpy as np
    from onnx import helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
    import library
except ImportError:
    library = None

BYTES = ("uint8", "int8")
PAIRS = (("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8"))  # of inputs and weights


class Builder:
    """A model under construction; what it adds are initialisers and nodes."""

    def __init__(self, inputs):
        self.inputs, self.constants, self.nodes = inputs, [], []

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, inputs, count=1, **attributes):
        """The name of its result, or those of so many."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names if count > 1 else names[0]

    def scale(self, dtype, scale, zero):
        return [self.constant(np.float32(scale)), self.constant(np.full(np.shape(scale), zero, dtype))]

    def dequantize(self, value, parameters, **attributes):
        return self.node("DequantizeLinear", [value, *parameters], **attributes)

    def quantize(self, value, parameters):
        return self.node("QuantizeLinear", [value, *parameters])

    def model(self, output, dtype):
        info = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                for name, array in self.inputs.items()]
        result = [helper.make_tensor_value_info(output, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)]
        graph = helper.make_graph(self.nodes, "g", info, result, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def steps(model, inputs, other=None):
    """By how many steps the library's result differs at most from the reference's, of the same or of another model."""
    expected = ReferenceEvaluator(model).run(None, inputs)[0].astype(int)
    actual = library.Model((other or model).SerializeToString()).run(list(inputs.values()))[0].astype(int)
    assert expected.shape == actual.shape and expected.std() > 15, "results should cover the range"
    return np.abs(actual - expected).max()


def numbers(random, dtype, shape):
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def zero_of(dtype):
    return 117 if dtype == "uint8" else -9


def product(op, form, types, per_channel, x, w, off=1.0, **attributes):
    """The model and its inputs. `off`: a factor of the result's scale."""
    random = np.random.default_rng(3)
    builder = Builder({"x": numbers(random, types[0], x)})
    filters = w[0] if op == "Conv" else w[-1]
    depth = int(np.prod(w)) // filters
    scales = random.uniform(0.01, 0.02, filters) if per_channel else 0.015
    weights = builder.constant(numbers(random, types[1], w))
    own = builder.scale(types[1], scales, 0 if types[1] == "int8" else 131)
    given = builder.scale(types[0], 0.02, zero_of(types[0]))
    result = builder.scale(types[0], off * 0.04 * np.sqrt(depth), zero_of(types[0]))
    bias = random.integers(-4000, 4000, filters).astype(np.int32)
    if form == "QOperator":
        inputs = ["x", *given, weights, *own, *result] + ([builder.constant(bias)] if op == "Conv" else [])
        output = builder.node(f"QLinear{op}", inputs, **attributes)
    else:
        axis = {"axis": 0 if op == "Conv" else len(w) - 1} if per_channel else {}
        inputs = [builder.dequantize("x", given), builder.dequantize(weights, own, **axis)]
        if op == "Conv":
            parameters = [builder.constant(np.float32(0.02 * np.asarray(scales)))]
            inputs.append(builder.dequantize(builder.constant(bias), parameters, **axis))
        output = builder.quantize(builder.node(op, inputs, **attributes), result)
    return builder.model(output, types[0]), builder.inputs


CASES = [("Conv", (2, 8, 9, 11), (20, 8, 1, 1), {}), ("Conv", (1, 20, 13, 12), (33, 20, 3, 3), {"pads": [1] * 4}),
         ("Conv", (1, 3, 21, 18), (16, 3, 5, 5), {"pads": [2] * 4, "strides": [2, 2]}),
         ("Conv", (1, 40, 9, 17), (40, 1, 3, 3), {"pads": [1] * 4, "group": 40}),
         ("Conv", (1, 24, 9, 17), (24, 1, 5, 5), {"pads": [2] * 4, "group": 24, "strides": [2, 2]}),
         ("MatMul", (9, 70), (70, 35), {}), ("MatMul", (2, 7, 24), (24, 80), {})]


# A network for images whose activations are quantised as it runs: filters of each layer, and the convolution's attributes.
LAYERS = [((16, 3, 7, 7), {"pads": [3] * 4, "strides": [2, 2]}), ((24, 16, 3, 3), {"pads": [1] * 4}),
          ((24, 1, 3, 3), {"pads": [1] * 4, "group": 24}), ((40, 24, 1, 1), {}),
          ((40, 1, 5, 5), {"pads": [2] * 4, "group": 40, "strides": [2, 2]}), ((40, 8, 3, 3), {"pads": [1] * 4, "group": 5}),
          ((70, 40, 1, 1), {"strides": [2, 2]})]


def dynamic_layer(builder, random, op, value, weight_type, w, **attributes):
    """A product as ONNX Runtime's tool writes it, and its bias."""
    filters = w[0] if op == "Conv" else w[-1]
    weights = builder.constant(numbers(random, weight_type, w))
    codes, scale, zero = builder.node("DynamicQuantizeLinear", [value], count=3)
    own_zero = builder.constant(np.array(131 if weight_type == "uint8" else 0, weight_type))
    sums = builder.node("Cast", [builder.node(f"{op}Integer", [codes, weights, zero, own_zero], **attributes)], to=1)
    own_scale = builder.constant(np.float32(0.02 / np.sqrt(np.prod(w) / filters)))
    y = builder.node("Mul", [sums, builder.node("Mul", [scale, own_scale])])
    bias = random.uniform(-0.5, 0.5, (1, filters, 1, 1) if op == "Conv" else filters)
    return builder.node("Add", [y, builder.constant(np.float32(bias))])


def dynamic_network(weight_type, layers, has_product):
    """The first layers, and a product of their means, if asked for."""
    random = np.random.default_rng(6)
    builder = Builder({"x": np.float32(random.normal(0.1, 1, (2, 3, 45, 38)))})
    value = "x"
    for w, attributes in LAYERS[:layers]:
        value = builder.node("Relu", [dynamic_layer(builder, random, "Conv", value, weight_type, w, **attributes)])
    if has_product:
        value = builder.node("Flatten", [builder.node("GlobalAveragePool", [value])])
        value = dynamic_layer(builder, random, "MatMul", value, weight_type, (w[0], 35))
    return builder.model(value, np.float32), builder.inputs


@unittest.skipUnless(library, "onnx and numpy are not installed")
class Quantised(unittest.TestCase):
    def test_products(self):
        for (op, x, w, attributes), form, types, per_channel in itertools.product(
                CASES, ("QDQ", "QOperator"), PAIRS, (False, True)):
            with self.subTest(op=op, x=x, w=w, form=form, types=types, per_channel=per_channel):
                self.assertLessEqual(steps(*product(op, form, types, per_channel, x, w, **attributes)), 1)

    def test_a_wrong_scale_shows(self):
        for (op, x, w, attributes), form in itertools.product(CASES, ("QDQ", "QOperator")):
            with self.subTest(op=op, x=x, w=w, form=form):
                model, inputs = product(op, form, PAIRS[1], True, x, w, **attributes)
                wrong, _ = product(op, form, PAIRS[1], True, x, w, off=1.05, **attributes)
                self.assertGreater(steps(model, inputs, wrong), 1)

    def test_products_of_inputs(self):
        random = np.random.default_rng(4)
        for a_type, b_type, form in itertools.product(BYTES, BYTES, ("QDQ", "QOperator")):
            with self.subTest(a=a_type, b=b_type, form=form):
                builder = Builder({"a": numbers(random, a_type, (3, 37, 18)), "b": numbers(random, b_type, (3, 18, 70))})
                a, b = builder.scale(a_type, 0.02, zero_of(a_type)), builder.scale(b_type, 0.01, zero_of(b_type))
                y = builder.scale(a_type, 0.1, zero_of(a_type))
                if form == "QDQ":
                    values = [builder.dequantize("a", a), builder.dequantize("b", b)]
                    output = builder.quantize(builder.node("MatMul", values), y)
                else:
                    output = builder.node("QLinearMatMul", ["a", *a, "b", *b, *y])
                self.assertLessEqual(steps(builder.model(output, a_type), builder.inputs), 1)

    def test_what_follows(self):
        """Sums with another tensor, with a bias, and functions of the result, each quantised again. Scales of products are
        powers of two, so that their results are equal: a function may turn a step into more."""
        for dtype, follower in itertools.product(BYTES, ("Add", "Bias", "Relu", "Sigmoid", "HardSwish")):
            with self.subTest(dtype=dtype, follower=follower):
                random = np.random.default_rng(5)
                builder = Builder({"x": numbers(random, dtype, (2, 19, 24)), "r": numbers(random, dtype, (2, 19, 40))})
                scale = builder.scale(dtype, 2**-4, zero_of(dtype))
                weights = builder.constant(numbers(random, "int8", (24, 40)))
                weights = builder.dequantize(weights, builder.scale("int8", 2**-9, 0))
                y = builder.node("MatMul", [builder.dequantize("x", scale), weights])
                y = builder.dequantize(builder.quantize(y, scale), scale)
                if follower == "Add":
                    y = builder.node("Add", [y, builder.dequantize("r", builder.scale(dtype, 0.04, zero_of(dtype)))])
                elif follower == "Bias":
                    y = builder.node("Add", [builder.constant(np.float32(random.uniform(-2, 2, 40))), y])
                else:
                    y = builder.node(follower, [y])
                last = 1 / 256 if follower == "Sigmoid" else 0.06
                zero = np.iinfo(dtype).min if follower == "Sigmoid" else zero_of(dtype)
                output = builder.quantize(y, builder.scale(dtype, last, zero))
                self.assertLessEqual(steps(builder.model(output, dtype), builder.inputs), 1)

    def test_dynamic_networks(self):
        """After each layer: a layer's result that is a step off in a few places must not grow."""
        for weight_type, layers in itertools.product(BYTES, range(1, len(LAYERS) + 2)):
            with self.subTest(weights=weight_type, layers=layers):
                model, inputs = dynamic_network(weight_type, layers, layers > len(LAYERS))
                expected = ReferenceEvaluator(model).run(None, inputs)[0]
                actual = library.Model(model.SerializeToString()).run(list(inputs.values()))[0]
                self.assertEqual(expected.shape, actual.shape)
                self.assertGreater(expected.std(), 0.05)
                self.assertLess(np.abs(actual - expected).max(), 0.01 * np.abs(expected).max())


if __name__ == "__main__":
    unittest.main()
