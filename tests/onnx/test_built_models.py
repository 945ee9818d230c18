# SPDX-License-Identifier: Apache-2.0
"""Whole models of well-known kinds, built here with random weights: with axes of any size, control flow, quantised, of
float16. Each runs over several shapes, against ONNX Runtime."""

import logging
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime import quantization

    import library
except ImportError:
    onnxruntime = None


class Builder:
    """Nodes in a row: every call adds one and gives its output's name. Arrays become initialisers."""

    def __init__(self, outer=None, seed=0):
        self.nodes, self.initializers, self.inputs = [], [], []
        self.outer, self.count = outer, 0
        self.random = outer.random if outer else np.random.default_rng(seed)
        self.prefix = f"{outer.prefix}{len(outer.nodes)}_" if outer else ""

    def name(self, kind):
        self.count += 1
        return f"{self.prefix}{kind}{self.count}"

    def constant(self, array):
        name = self.name("w")
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape):
        fan = max(int(np.prod(shape[1:])), 1)
        return self.constant((self.random.standard_normal(shape) / np.sqrt(fan)).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        made = [self.name(op) for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, **attributes))
        return made[0] if outputs == 1 else made

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        return name

    def graph(self, outputs):
        infos = [onnx.ValueInfoProto(name=name) for name in outputs]
        return helper.make_graph(self.nodes, self.prefix + "g", self.inputs, infos, self.initializers)

    def model(self, *outputs, opset=18):
        return helper.make_model(self.graph(outputs), opset_imports=[helper.make_opsetid("", opset)], ir_version=9)

    def linear(self, x, inner, outer):
        return self("Add", self("MatMul", x, self.constant(self.matrix(inner, outer))), self.weight(outer))

    def matrix(self, inner, outer):
        return (self.random.standard_normal((inner, outer)) / np.sqrt(inner)).astype(np.float32)

    def norm(self, x, size):
        return self("LayerNormalization", x, np.ones(size, np.float32), self.weight(size), axis=-1)

    def conv(self, x, inner, outer, kernel=3, stride=1, group=1, dilation=1):
        pad = dilation * (kernel - 1) // 2
        y = self("Conv", x, self.weight(outer, inner // group, kernel, kernel), self.weight(outer),
                 kernel_shape=[kernel, kernel], strides=[stride, stride], group=group, dilations=[dilation, dilation],
                 pads=[pad] * 4)
        scale = np.abs(self.random.standard_normal(outer)).astype(np.float32) + 0.5
        return self("BatchNormalization", y, scale, self.weight(outer), self.weight(outer), scale)


def residual_network():
    b = Builder()
    x = b.input("x", np.float32, ["n", 3, "h", "w"])
    x = b("MaxPool", b("Relu", b.conv(x, 3, 16, 5, 2)), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stride in (1, 2):
        y = b("Relu", b.conv(x, 16, 16, 3, stride))
        y = b.conv(b("HardSwish", b.conv(y, 16, 16, 3, 1, group=16)), 16, 16, 1)
        shortcut = b.conv(x, 16, 16, 1, stride) if stride > 1 else x
        gate = b("Sigmoid", b.conv(b("GlobalAveragePool", y), 16, 16, 1))
        x = b("Relu", b("Add", b("Mul", y, gate), shortcut))
    x = b("Flatten", b("GlobalAveragePool", x))
    return b.model(b("Softmax", b("Gemm", x, b.weight(10, 16), b.weight(10), transB=1)))


def u_network():
    b = Builder()
    x = b.input("x", np.float32, ["n", 2, "h", "w"])
    levels = [b("Relu", b.conv(x, 2, 8))]
    for _ in range(2):
        levels.append(b("LeakyRelu", b.conv(levels[-1], 8, 8, 3, 2), alpha=0.1))
    y = levels.pop()
    for skip in reversed(levels):
        size = b("Slice", b("Shape", skip), b.ints(2), b.ints(4))
        whole = b("Concat", b("Slice", b("Shape", y), b.ints(0), b.ints(2)), size, axis=0)
        y = b("Resize", y, "", "", whole, mode="linear", coordinate_transformation_mode="half_pixel")
        y = b("Relu", b.conv(b("Concat", y, skip, axis=1), 16, 8))
    y = b("ConvTranspose", y, b.weight(8, 1, 2, 2), strides=[2, 2], kernel_shape=[2, 2])
    return b.model(b("Tanh", y))


def attention(b, x, size, heads, mask):
    """As exporters write it, with shapes that are computed."""
    shape = b("Shape", x)
    batch, length = (b("Gather", shape, b.constant(np.int64(i))) for i in (0, 1))
    split = b("Concat", b("Unsqueeze", batch, b.ints(0)), b("Unsqueeze", length, b.ints(0)), b.ints(heads, size // heads),
              axis=0)
    q, k, v = (b("Reshape", b.linear(x, size, size), split) for _ in range(3))
    q, v = (b("Transpose", value, perm=[0, 2, 1, 3]) for value in (q, v))
    scores = b("MatMul", q, b("Transpose", k, perm=[0, 2, 3, 1]))
    scores = b("Add", b("Div", scores, np.float32(np.sqrt(size // heads))), mask)
    y = b("Transpose", b("MatMul", b("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    joined = b("Concat", b("Slice", shape, b.ints(0), b.ints(2)), b.ints(size), axis=0)
    return b.linear(b("Reshape", y, joined), size, size)


def gelu(b, x):
    half = b("Mul", x, np.float32(0.5))
    return b("Mul", half, b("Add", b("Erf", b("Div", x, np.float32(np.sqrt(2)))), np.float32(1)))


def transformer(size=32, heads=4, words=50):
    b = Builder()
    ids = b.input("ids", np.int64, ["batch", "length"])
    mask = b.input("mask", np.int64, ["batch", "length"])
    bias = b("Mul", b("Sub", np.float32(1), b("Cast", b("Unsqueeze", mask, b.ints(1, 2)), to=1)), np.float32(-1e4))
    length = b("Gather", b("Shape", ids), b.constant(np.int64(1)))
    positions = b("Range", b.constant(np.int64(0)), length, b.constant(np.int64(1)))
    x = b("Add", b("Gather", b.weight(words, size), ids), b("Gather", b.weight(64, size), positions))
    for _ in range(2):
        x = b.norm(b("Add", x, attention(b, x, size, heads, bias)), size)
        x = b.norm(b("Add", x, b.linear(gelu(b, b.linear(x, size, 64)), 64, size)), size)
    return b.model(x, b("Softmax", b.linear(b("Gather", x, b.constant(np.int64(0)), axis=1), size, 3)))


def decoder(size=16, words=12):
    """Greedy steps: a loop with a recurrent cell, a branch within, outputs that grow, an end that depends on data."""
    b = Builder()
    start = b.input("start", np.float32, ["batch", size])
    limit = b.input("limit", np.int64, [])
    table, cell, out = b.weight(words, size), b.matrix(2 * size, size), b.matrix(size, words)
    cell, out = b.constant(cell), b.constant(out)
    batch = b("Slice", b("Shape", start), b.ints(0), b.ints(1))
    first = b("Expand", b.constant(np.int64(1)), batch)
    body = Builder(b)
    index, going = body.input("i", np.int64, []), body.input("going", np.bool_, [])
    token, state = body.input("token", np.int64, ["batch"]), body.input("state", np.float32, ["batch", size])
    x = body("Concat", body("Gather", table, token), state, axis=1)
    state2 = body("Tanh", body("MatMul", x, cell))
    taken, other = Builder(body), Builder(body)
    taken.prefix += "then_"
    scaled = taken.graph([taken("Mul", state2, np.float32(0.5))])
    other.prefix += "else_"
    same = other.graph([other("Identity", state2)])
    odd = body("Equal", body("Mod", index, body.constant(np.int64(2))), body.constant(np.int64(1)))
    state3 = body("If", odd, then_branch=scaled, else_branch=same)
    logits = body("MatMul", state3, out)
    token2 = body("ArgMax", logits, axis=1, keepdims=0)
    stops = body("Equal", body("ReduceMin", token2, keepdims=0), body.constant(np.int64(0)))
    again = body("And", body("Not", stops), going)
    graph = body.graph([again, token2, state3, logits])
    final, state, steps = b("Loop", limit, b.constant(np.array(True)), first, start, outputs=3, body=graph)
    return b.model(final, state, b("Transpose", steps, perm=[1, 0, 2]))


def recurrent(kind, size=12):
    b = Builder()
    x = b.input("x", np.float32, ["length", "batch", 7])
    lengths = b.input("lengths", np.int32, ["batch"])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    y, last = b(kind, x, b.weight(2, gates * size, 7), b.weight(2, gates * size, size), b.weight(2, 2 * gates * size),
                lengths, outputs=2, hidden_size=size, direction="bidirectional")
    y = b("Reshape", b("Transpose", y, perm=[2, 0, 1, 3]), b.ints(0, 0, -1))
    return b.model(b.linear(y, 2 * size, 5), last)


def speech():
    """Convolutions over time, gated, with a layer norm in between."""
    b = Builder()
    x = b.input("x", np.float32, ["batch", 8, "time"])
    for dilation in (1, 2, 4):
        pad = dilation * 2
        y = b("Conv", x, b.weight(16, 8, 3), b.weight(16), dilations=[dilation], pads=[pad, 0])
        a, gate = b("Split", y, axis=1, outputs=2, num_outputs=2)
        y = b("Mul", b("Tanh", a), b("Sigmoid", gate))
        x = b("Add", x, b("Conv", y, b.weight(8, 8, 1)))
    x = b.norm(b("Transpose", x, perm=[0, 2, 1]), 8)
    top, _ = b("TopK", x, b.ints(3), outputs=2, axis=-1)
    return b.model(b("ReduceMean", x, b.ints(1), keepdims=0), top, b("CumSum", x, b.constant(np.int64(1))))


def detector():
    """Boxes from two scales, those kept that overlap little: sizes that only running tells."""
    b = Builder()
    x = b.input("x", np.float32, [1, 3, "h", "w"])
    boxes, scores = [], []
    for stride in (4, 8):
        y = b("Relu", b.conv(b("AveragePool", x, kernel_shape=[stride, stride], strides=[stride, stride]), 3, 8))
        y = b("Reshape", b("Transpose", b.conv(y, 8, 6), perm=[0, 2, 3, 1]), b.ints(1, -1, 6))
        corner, size, score = b("Split", y, b.ints(2, 2, 2), axis=2, outputs=3)
        boxes.append(b("Concat", corner, b("Add", corner, b("Exp", size)), axis=2))
        scores.append(b("Sigmoid", score))
    boxes, scores = b("Concat", *boxes, axis=1), b("Transpose", b("Concat", *scores, axis=1), perm=[0, 2, 1])
    kept = b("NonMaxSuppression", boxes, scores, b.ints(5), np.float32([0.5]), np.float32([0.3]))
    index = b("Gather", kept, b.constant(np.int64(2)), axis=1)
    return b.model(kept, b("Gather", b("Squeeze", boxes, b.ints(0)), index))


def images(channels, *sizes):
    random = np.random.default_rng(5)
    return [{"x": random.standard_normal((n, channels, h, w)).astype(np.float32)} for n, h, w in sizes]


def sentences(*sizes):
    random, feeds = np.random.default_rng(6), []
    for batch, length in sizes:
        mask = (np.arange(length) < random.integers(1, length + 1, (batch, 1))).astype(np.int64)
        feeds.append({"ids": random.integers(0, 50, (batch, length)), "mask": mask})
    return feeds


def sequences(*sizes):
    random = np.random.default_rng(7)
    return [{"x": random.standard_normal((length, batch, 7)).astype(np.float32),
             "lengths": random.integers(1, length + 1, batch).astype(np.int32)} for length, batch in sizes]


def starts(*sizes):
    random = np.random.default_rng(8)
    return [{"start": random.standard_normal((batch, 16)).astype(np.float32), "limit": np.array(limit)}
            for batch, limit in sizes]


def sounds(*sizes):
    random = np.random.default_rng(9)
    return [{"x": random.standard_normal((batch, 8, time)).astype(np.float32)} for batch, time in sizes]


def halved(model):
    """The model in float16: weights, inputs, casts and constants."""
    half, real = TensorProto.FLOAT16, TensorProto.FLOAT
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for tensor in model.graph.initializer:
        if tensor.data_type == real:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    for value in model.graph.input:
        if value.type.tensor_type.elem_type == real:
            value.type.tensor_type.elem_type = half
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == real:
                attribute.i = half
    return model


class Calibration(quantization.CalibrationDataReader if onnxruntime else object):
    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class BuiltModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.disable(logging.WARNING)  # the quantiser's advice

    @classmethod
    def tearDownClass(cls):
        logging.disable(logging.NOTSET)

    def reference(self, model):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def check(self, model, feeds, times=(1e-3, 1e-4), reference=None):
        """All shapes twice, so that plans are made once and found once."""
        session, ours = self.reference(reference or model), library.Model(model.SerializeToString())
        for turn in range(2):
            for feed in feeds:
                self.compare(model, ours, session, feed, times, turn)

    def compare(self, model, ours, session, feed, times, turn):
        expected = session.run(None, feed)
        kinds = {value.name: helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
                 for value in model.graph.input}
        outputs = ours.run([feed[value.name].astype(kinds[value.name]) for value in model.graph.input])
        for mine, wanted in zip(outputs, expected, strict=True):
            text = f"{[array.shape for array in feed.values()]}, turn {turn}"
            self.assertEqual(mine.shape, wanted.shape, text)
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(mine.astype(np.float32), wanted.astype(np.float32), *times, err_msg=text)
            else:
                np.testing.assert_array_equal(mine, wanted, text)

    def test_residual_network(self):
        self.check(residual_network(), images(3, (1, 32, 32), (2, 40, 24), (1, 17, 33), (3, 32, 32)))

    def test_u_network(self):
        self.check(u_network(), images(2, (1, 16, 16), (1, 21, 30), (2, 8, 12)))

    def test_transformer(self):
        self.check(transformer(), sentences((1, 5), (3, 8), (2, 1), (1, 33)))

    def test_decoder(self):
        self.check(decoder(), starts((1, 5), (3, 20), (2, 1)))

    def test_recurrent(self):
        for kind in ("LSTM", "GRU", "RNN"):
            self.check(recurrent(kind), sequences((5, 1), (1, 2), (12, 4)))

    def test_speech(self):
        self.check(speech(), sounds((1, 40), (3, 7), (2, 1)))

    def test_detector(self):
        self.check(detector(), images(3, (1, 32, 32), (1, 16, 48), (1, 64, 64)))

    def test_float16(self):
        for model, feeds in ((residual_network(), images(3, (1, 32, 32), (2, 24, 40))),
                             (transformer(), sentences((1, 5), (3, 8))), (speech(), sounds((2, 30)))):
            if "TopK" in {node.op_type for node in model.graph.node}:
                del model.graph.output[1]
            self.check(halved(model), feeds, (5e-2, 3e-2), reference=model)

    def quantized(self, model, feeds, **options):
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, f"{folder}/model.onnx")
            if "calibrate" in options:
                del options["calibrate"]
                quantization.quantize_static(f"{folder}/model.onnx", f"{folder}/small.onnx", Calibration(feeds),
                                             **options)
            else:
                quantization.quantize_dynamic(f"{folder}/model.onnx", f"{folder}/small.onnx", **options)
            return onnx.load(f"{folder}/small.onnx")

    def test_quantized(self):
        kinds, formats = quantization.QuantType, quantization.QuantFormat
        feeds = images(3, (1, 32, 32), (2, 24, 40))
        for layout in (formats.QDQ, formats.QOperator):
            for channels in (False, True):
                model = self.quantized(residual_network(), feeds, calibrate=True, quant_format=layout,
                                       per_channel=channels, activation_type=kinds.QUInt8, weight_type=kinds.QInt8)
                self.check(model, feeds, (0.1, 0.02))
        for weights in (kinds.QInt8, kinds.QUInt8):
            feeds = sentences((1, 5), (3, 8))
            self.check(self.quantized(transformer(), feeds, weight_type=weights), feeds, (0.1, 0.1))


if __name__ == "__main__":
    unittest.main()
