# SPDX-License-Identifier: Apache-2.0
"""Operators of com.microsoft against ONNX Runtime, which defines them. Each case runs with shapes that the model
states and with shapes that it leaves open."""

import sys
import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    import library
except ImportError:
    onnxruntime = None
else:
    onnxruntime.set_default_logger_severity(4)

MICROSOFT = "com.microsoft"


def floats(*shape, scale=1.0, seed=0):
    return (np.random.default_rng(seed + sum(shape)).standard_normal(shape) * scale).astype(np.float32)


def bytes_of(*shape, low=0, high=256, dtype=None, seed=1):
    return np.random.default_rng(seed + sum(shape)).integers(low, high, shape).astype(dtype or np.uint8)


def signed(*shape, seed=2):
    return bytes_of(*shape, low=-128, high=128, dtype=np.int8, seed=seed)


def ints(values, dtype=None):
    return np.array(values, dtype or np.int32)


def scalar(value, dtype=None):
    return np.array(value, dtype or np.float32)


class Case:
    """One node. `inputs` may hold None; those at `constants` are part of the model; `outputs` are the wanted ones."""

    def __init__(self, op, inputs, outputs=(0,), constants=(), domain=MICROSOFT, tolerance=1e-4, label="", steps=0,
                 model_opset=17, like=None, open_shapes=True, rows=None, compared=None, **attributes):
        self.op, self.inputs, self.outputs, self.constants = op, inputs, tuple(outputs), set(constants)
        self.domain, self.tolerance, self.attributes, self.steps = domain, tolerance, attributes, steps
        self.opset, self.open_shapes = model_opset, open_shapes
        self.reference = like or self  # gives the expected outputs
        self.compared = set(self.outputs if compared is None else compared)
        self.rows = rows  # of each sample that mean something; None = all
        self.name = f"{op} {label}".strip()

    def model(self, dynamic):
        names = [f"x{i}" if value is not None else "" for i, value in enumerate(self.inputs)]
        wanted = [f"y{i}" if i in self.outputs else "" for i in range(max(self.outputs) + 1)]
        node = helper.make_node(self.op, names, wanted, "node", domain=self.domain, **self.attributes)
        inputs = [helper.make_tensor_value_info(names[i], helper.np_dtype_to_tensor_dtype(value.dtype),
                                                [f"{names[i]}_{k}" for k in range(value.ndim)] if dynamic
                                                else value.shape)
                  for i, value in enumerate(self.inputs) if value is not None and i not in self.constants]
        weights = [numpy_helper.from_array(self.inputs[i], names[i]) for i in sorted(self.constants)]
        outputs = [helper.make_empty_tensor_value_info(name) for name in wanted if name]
        graph = helper.make_graph([node], "g", inputs, outputs, weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def feeds(self):
        return {f"x{i}": value for i, value in enumerate(self.inputs) if value is not None and i not in self.constants}

    def shapes(self):
        return (False, True) if self.open_shapes else (False,)

    def problem(self, dynamic):
        """What disagrees; empty if nothing."""
        reference = self.reference.model(dynamic).SerializeToString()
        session = onnxruntime.InferenceSession(reference, providers=["CPUExecutionProvider"])
        expected = session.run(None, self.reference.feeds())
        data = self.model(dynamic).SerializeToString()
        actual = library.Model(data).run(list(self.feeds().values()))
        for i, (a, e) in zip(self.outputs, zip(actual, expected)):
            if i not in self.compared:
                continue
            if a.dtype != e.dtype or a.shape != e.shape:
                return f"output {i} is {a.dtype}{list(a.shape)}, not {e.dtype}{list(e.shape)}"
            for sample, count in enumerate(self.rows or ()):
                a, e = a.copy(), e.copy()
                a[sample, count:] = e[sample, count:] = 0
            difference = np.abs(a.astype(np.float64) - e.astype(np.float64))
            limit = self.steps if e.dtype.kind in "iu" else self.tolerance * (1 + np.abs(e.astype(np.float64)))
            if not np.all(difference <= limit):
                return f"output {i} differs by {np.nanmax(difference)}"
        return ""


def activations():
    x = floats(2, 3, 8, scale=2)
    yield Case("Gelu", [x])
    yield Case("BiasGelu", [x, floats(8)])
    yield Case("FastGelu", [x])
    yield Case("FastGelu", [x, floats(8)], label="bias")
    yield Case("QuickGelu", [x])
    yield Case("QuickGelu", [x], label="alpha", alpha=1.0)
    yield Case("Trilu", [floats(4, 5)], upper=0)


def products():
    x, w, b = floats(1, 4, 7, 6), floats(6, 4, 3, 3), floats(6)
    for activation, parameters in (("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]),
                                   ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.4])):
        extra = {"activation_params": parameters} if parameters else {}
        yield Case("FusedConv", [x, w, b], constants=(1, 2), label=activation, activation=activation, pads=[1] * 4,
                   **extra)
    yield Case("FusedConv", [x, w, b, floats(1, 6, 5, 4)], constants=(1, 2), label="sum", activation="Relu")
    yield Case("FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], transB=1, alpha=0.5, beta=2.0, activation="Relu")
    yield Case("FusedGemm", [floats(3, 4), floats(4, 5), floats(5)], label="LeakyRelu", activation="LeakyRelu",
               activation_alpha=0.3)
    yield Case("FusedMatMul", [floats(2, 3, 4), floats(2, 5, 4)], transB=1, alpha=0.25)
    yield Case("FusedMatMul", [floats(4, 3), floats(4, 5)], label="transA", transA=1)
    yield Case("FusedMatMul", [floats(3, 2, 4), floats(4, 2, 5)], label="batch", transBatchA=1, transBatchB=1)
    yield Case("FusedMatMul", [floats(4, 2, 3), floats(5, 2, 4)], label="both", transA=1, transB=1, transBatchA=1,
               transBatchB=1)
    yield Case("TransposeMatMul", [floats(4, 3), floats(4, 5)], transA=1)


def normalisations():
    x, skip, gamma, beta = floats(2, 3, 8), floats(2, 3, 8, seed=3), floats(8), floats(8, seed=3)
    yield Case("SkipLayerNormalization", [x, skip, gamma, beta])
    yield Case("SkipLayerNormalization", [x, skip, gamma, beta, floats(8, seed=5)], outputs=(0, 3), label="sum",
               epsilon=1e-5)
    yield Case("SkipLayerNormalization", [x, skip[:1], gamma], label="broadcast")
    yield Case("SkipSimplifiedLayerNormalization", [x, skip, gamma])
    yield Case("SkipSimplifiedLayerNormalization", [x, skip, gamma, beta], outputs=(0, 3), label="sum", epsilon=1e-5)
    yield Case("SimplifiedLayerNormalization", [x, gamma], domain="", epsilon=1e-6)
    yield Case("SkipLayerNormalization", [v.astype(np.float16) for v in (x, skip, gamma, beta)], label="float16",
               tolerance=1e-2)
    ids, segments = bytes_of(2, 5, high=11, dtype=np.int32), bytes_of(2, 5, high=2, dtype=np.int32)
    tables = [floats(11, 8), floats(6, 8), floats(2, 8)]
    mask = ints([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    yield Case("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta], outputs=(0, 1), open_shapes=False)
    yield Case("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta, mask], outputs=(0, 1), label="mask",
               open_shapes=False)
    yield Case("EmbedLayerNormalization", [ids, None, *tables[:2], None, gamma, beta], outputs=(0, 1, 2), label="sum",
               open_shapes=False)
    yield Case("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta, mask, ints([[4, 3, 2, 1, 0]] * 2)],
               outputs=(0, 1), label="positions", open_shapes=False)


def attentions():
    x, w, b = floats(2, 5, 8), floats(8, 24), floats(24)
    some = {"constants": (1, 2), "num_heads": 2}
    yield Case("Attention", [x, w, b], **some)
    yield Case("Attention", [x, w, b], label="causal", unidirectional=1, **some)
    yield Case("Attention", [x, w, b], label="scale", scale=0.3, **some)
    yield Case("Attention", [x, w, b, ints([3, 5])], label="lengths", **some)
    yield Case("Attention", [x, w, b, ints([3, 5, 0, 1])], label="ends and starts", **some)
    yield Case("Attention", [x, w, b, ints([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])], label="mask", **some)
    yield Case("Attention", [x, w, b, bytes_of(2, 5, 5, high=2, dtype=np.int32)], label="mask of 3 axes", **some)
    yield Case("Attention", [x, w, b, None, floats(2, 2, 2, 3, 4)], outputs=(0, 1), label="past", unidirectional=1,
               **some)
    yield Case("Attention", [x, w, b, None, None, floats(2, 2, 5, 5)], label="bias of scores", **some)
    yield Case("Attention", [x, floats(8, 28), floats(28)], constants=(1, 2), num_heads=2, label="other values",
               qkv_hidden_sizes=[8, 8, 12])
    q, k, v = floats(2, 3, 8), floats(2, 6, 8), floats(2, 6, 8, seed=4)
    heads = {"num_heads": 2}
    yield Case("MultiHeadAttention", [q, k, v], **heads)
    yield Case("MultiHeadAttention", [q, k, v, floats(24)], label="bias", **heads)
    yield Case("MultiHeadAttention", [q, k, v, None, ints([4, 6])], label="lengths", **heads)
    yield Case("MultiHeadAttention", [q, k, v, None, ints([[1, 1, 1, 1, 0, 0], [1] * 6])], label="mask", **heads)
    yield Case("MultiHeadAttention", [q, k, v, None, None, floats(1, 2, 3, 6)], label="bias of scores", **heads)
    yield Case("MultiHeadAttention", [q, floats(2, 2, 6, 4), floats(2, 2, 6, 4, seed=4)], label="cross", **heads)
    yield Case("MultiHeadAttention", [q, q + 1, q - 1, None, None, None, floats(2, 2, 4, 4), floats(2, 2, 4, 4, seed=4)],
               outputs=(0, 1, 2), label="past", **heads)
    yield Case("MultiHeadAttention", [q, q + 1, q - 1], label="causal", unidirectional=1, **heads)
    keys = floats(2, 6, 2, 2, 4)
    apart = [np.ascontiguousarray(keys[:, :, :, i].reshape(2, 6, 8)) for i in range(2)]
    yield Case("MultiHeadAttention", [q, keys], label="packed keys", like=Case("MultiHeadAttention", [q, *apart], **heads),
               **heads)
    packed = floats(2, 6, 2, 3, 4)
    apart = [np.ascontiguousarray(packed[:, :, :, i].reshape(2, 6, 8)) for i in range(3)]
    yield Case("MultiHeadAttention", [packed], label="packed", like=Case("MultiHeadAttention", apart, **heads), **heads)
    yield Case("QAttention", [bytes_of(2, 5, 8), signed(8, 24), b, scalar(0.02), scalar(0.01), None, scalar(120, np.uint8),
                              scalar(0, np.int8)], constants=(1, 2), num_heads=2, tolerance=1e-3)
    yield Case("QAttention", [bytes_of(2, 5, 8), signed(8, 24), b, scalar(0.02), scalar(0.01), ints([3, 5]),
                              scalar(120, np.uint8), scalar(3, np.int8)], constants=(1, 2), num_heads=2, label="lengths",
               tolerance=1e-3)


def rotations():
    cos, sin = np.cos(floats(16, 4)), np.sin(floats(16, 4))
    x = floats(2, 3, 16)
    yield Case("RotaryEmbedding", [x, ints([[0, 1, 2], [3, 4, 5]], np.int64), cos, sin])
    yield Case("RotaryEmbedding", [x, ints([2], np.int64), cos, sin], label="offset")
    yield Case("RotaryEmbedding", [x, ints([2], np.int64), cos, sin], label="interleaved", interleaved=1)
    yield Case("RotaryEmbedding", [floats(2, 2, 3, 8), ints([1], np.int64), cos, sin], label="4 axes")
    yield Case("RotaryEmbedding", [x, ints([1], np.int64), cos[:, :2], sin[:, :2]], label="part", num_heads=2,
               rotary_embedding_dim=4)
    heads = {"num_heads": 4, "kv_num_heads": 2}
    q, k, v = floats(2, 5, 64), floats(2, 5, 32), floats(2, 5, 32, seed=4)
    total = scalar(5, np.int32)
    cos, sin = np.cos(floats(16, 8)), np.sin(floats(16, 8))
    for label, extra in (("", {}), ("rotary", {"do_rotary": 1}), ("interleaved", {"do_rotary": 1, "rotary_interleaved": 1}),
                         ("window", {"local_window_size": 2}), ("softcap", {"softcap": 2.0}), ("scale", {"scale": 0.2})):
        angles = [cos, sin] if "do_rotary" in extra else []
        yield Case("GroupQueryAttention", [q, k, v, None, None, ints([4, 4]), total, *angles], outputs=(0, 1, 2),
                   label=f"prompt {label}", **heads, **extra)
        one = [value[:, :1] for value in (q, k, v)]
        past = [floats(2, 2, 6, 16), floats(2, 2, 6, 16, seed=4)]
        yield Case("GroupQueryAttention", [*one, *past, ints([6, 6]), scalar(7, np.int32), *angles], outputs=(0, 1, 2),
                   label=f"step {label}", **heads, **extra)
    yield Case("GroupQueryAttention", [q, k, v, None, None, ints([2, 4]), total], outputs=(0,), rows=[3, 5],
               label="prompts of two lengths", **heads)
    yield Case("GroupQueryAttention", [*one, *past, ints([3, 6]), scalar(7, np.int32)], outputs=(0, 1, 2),
               compared=(0,), label="pasts of two lengths", **heads)
    yield Case("GroupQueryAttention", [*one, floats(2, 2, 12, 16), floats(2, 2, 12, 16, seed=4), ints([3, 6]),
                                       scalar(7, np.int32)], outputs=(0, 1, 2), compared=(0,), label="long cache", **heads)
    yield Case("GroupQueryAttention", [*one, *past, ints([6, 6]), scalar(7, np.int32), cos, sin, ints([[5], [4]], np.int64)],
               outputs=(0, 1, 2), label="positions", do_rotary=1, **heads)
    yield Case("GroupQueryAttention", [*one, *past, ints([6, 6]), scalar(7, np.int32), None, None, None,
                                       floats(2, 1, 1, 7)], outputs=(0, 1, 2), label="bias of scores", **heads)
    yield Case("GroupQueryAttention", [floats(2, 5, 128), None, None, None, None, ints([4, 4]), total], outputs=(0, 1, 2),
               label="packed", **heads)
    yield Case("GroupQueryAttention", [floats(2, 5, 128), None, None, None, None, ints([4, 4]), total, cos, sin],
               outputs=(0, 1, 2), label="packed rotary", do_rotary=1, **heads)


def quantised():
    a, b = bytes_of(2, 3, 4), bytes_of(2, 3, 4, seed=9)
    scales = [scalar(0.02), scalar(0.03), scalar(0.04)]
    zeros = [scalar(value, np.uint8) for value in (120, 130, 110)]
    first, second, result = ([scales[i], zeros[i]] for i in range(3))
    yield Case("QLinearAdd", [a, *first, b, *second, *result], steps=1)
    shifted = [signed(2, 3, 4), scales[0], scalar(-5, np.int8)]
    yield Case("QLinearAdd", [*shifted, signed(2, 3, 4, seed=8), *shifted[1:], scales[2], scalar(4, np.int8)],
               label="signed", steps=1)
    yield Case("QLinearMul", [a, *first, b, *second, *result], steps=1)
    yield Case("QLinearSigmoid", [a, *first, scalar(1 / 256), scalar(0, np.uint8)], steps=1)
    yield Case("QLinearLeakyRelu", [a, *first, *result], alpha=0.2, steps=1)
    yield Case("QLinearConcat", [*result, a, *first, b, *second], axis=1, steps=1)
    yield Case("QLinearSoftmax", [a, scales[2], zeros[0], scalar(1 / 256), scalar(0, np.uint8)], opset=13, axis=-1, steps=1)
    yield Case("QLinearWhere", [a > 100, a, *first, b, *second, *result], steps=1)
    image = bytes_of(1, 3, 6, 5)
    yield Case("QLinearAveragePool", [image, *first, *result], kernel_shape=[2, 2], steps=1)
    yield Case("QLinearAveragePool", [bytes_of(1, 6, 5, 3), *first, *result], label="channels last", kernel_shape=[2, 2],
               strides=[2, 1], channels_last=1, steps=1)
    yield Case("QLinearGlobalAveragePool", [image, *first, *result], steps=1)
    filters = [signed(4, 3, 3, 3), scalar(0.01), scalar(0, np.int8), scalar(0.2), scalar(128, np.uint8), ints(range(4))]
    yield Case("QLinearConv", [bytes_of(1, 6, 5, 3), *first, *filters], constants=(3, 8), label="channels last",
               channels_last=1, pads=[1, 1, 1, 1], steps=1)
    yield Case("QLinearConv", [image, *first, *filters], constants=(3, 8), strides=[2, 2], steps=1)
    yield Case("QuantizeLinear", [floats(3, 4), *first], steps=0)
    yield Case("DequantizeLinear", [a, *first])
    yield Case("DequantizeLinear", [bytes_of(3, 4), floats(4) ** 2, bytes_of(4)], label="axis", axis=1)


def quantised_products():
    x, w = bytes_of(3, 16), signed(16, 6)
    a = [scalar(0.02), scalar(120, np.uint8)]
    yield Case("QGemm", [x, *a, w, scalar(0.01), scalar(0, np.int8)], constants=(3,), label="real")
    yield Case("QGemm", [x, *a, w, floats(6) ** 2, signed(6) // 16, ints(np.arange(6))], constants=(3, 4, 5, 6),
               label="columns")
    yield Case("QGemm", [x, *a, np.ascontiguousarray(w.T), scalar(0.01), scalar(0, np.int8), ints(np.arange(6) * 50),
                         scalar(0.05), scalar(128, np.uint8)], constants=(3, 6), transB=1, alpha=2.0, steps=1,
               label="quantised")
    yield Case("MatMulIntegerToFloat", [x, w, scalar(0.02), scalar(0.01), scalar(120, np.uint8), scalar(0, np.int8),
                                        floats(6)], constants=(1, 3, 5, 6))
    yield Case("MatMulIntegerToFloat", [x, w, scalar(0.02), floats(6) ** 2, scalar(120, np.uint8), signed(6)],
               constants=(1, 3, 5), label="columns")
    yield Case("DynamicQuantizeMatMul", [floats(3, 16), w, scalar(0.01), scalar(0, np.int8), floats(6)],
               constants=(1, 2, 3, 4))
    yield Case("DynamicQuantizeMatMul", [floats(2, 3, 16), w, floats(6) ** 2, signed(6)], constants=(1, 2, 3),
               label="columns")
    lstm = [floats(4, 2, 8), signed(1, 8, 24), signed(1, 6, 24), floats(1, 48), None, None, None, None, scalar([0.01]),
            scalar([0], np.int8), scalar([0.01]), scalar([0], np.int8)]
    yield Case("DynamicQuantizeLSTM", lstm, outputs=(0, 1, 2), constants=(1, 2, 3, 8, 9, 10, 11), hidden_size=6,
               tolerance=3e-2)


def few_bits():
    for bits, block, k, n in ((4, 32, 64, 8), (4, 16, 50, 5), (4, 128, 200, 7), (4, 32, 1100, 70), (8, 32, 64, 8), (8, 16, 33, 3)):
        blocks = -(-k // block)
        w = bytes_of(n, blocks, block * bits // 8)
        scales = np.abs(floats(n * blocks, scale=0.1))
        for rows in ((1,), (6,), (3, 5)):
            yield Case("MatMulNBits", [floats(*rows, k), w, scales], constants=(1, 2), K=k, N=n, bits=bits,
                       block_size=block, label=f"{bits} bits {k}x{n} {rows}", tolerance=1e-3)
        zeros = bytes_of(n * -(-blocks * bits // 8))
        yield Case("MatMulNBits", [floats(11, k), w, scales, zeros, None, floats(n)], constants=(1, 2, 3, 5), K=k, N=n,
                   bits=bits, block_size=block, label=f"{bits} bits {k}x{n} zero points", tolerance=1e-3)


GROUPS = (activations, products, normalisations, attentions, rotations, quantised, quantised_products, few_bits)


def unsupported():
    """Options that have to be refused by name."""
    yield "past_sequence_length", Case("MultiHeadAttention", [floats(1, 2, 8)] * 3 + [None] * 5 + [ints([1])], num_heads=2)
    yield "do_rotary", Case("Attention", [floats(1, 2, 8), floats(8, 24)], num_heads=2, do_rotary=1)
    yield "g_idx", Case("MatMulNBits", [floats(1, 32), bytes_of(2, 1, 16), floats(2), None, ints([0] * 32)], K=32, N=2,
                        bits=4, block_size=32)
    yield "head_sink", Case("GroupQueryAttention", [floats(1, 1, 8), floats(1, 1, 8), floats(1, 1, 8), None, None,
                                                    ints([0]), scalar(1, np.int32)] + [None] * 4 + [floats(2)],
                            num_heads=2, kv_num_heads=2)
    yield "'Mish'", Case("FusedConv", [floats(1, 1, 3, 3), floats(1, 1, 3, 3)], activation="Mish")


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Microsoft(unittest.TestCase):
    def test_operators(self):
        problems = [f"{case.name} ({'open' if dynamic else 'stated'} shapes): {found}" for group in GROUPS
                    for case in group() for dynamic in case.shapes() if (found := outcome(case, dynamic))]
        self.assertFalse(problems, "\n" + "\n".join(problems))

    def test_float16(self):
        problems, count = [], 0
        for case in (case for group in GROUPS for case in group() if case.reference is case):
            case.inputs = [value.astype(np.float16) if value is not None and value.dtype == np.float32 else value
                           for value in case.inputs]
            case.tolerance = 2e-2
            try:
                found = outcome(case, False)
            except Exception:  # ONNX Runtime has no such kernel
                continue
            count += 1
            problems += [f"{case.name}: {found}"] if found else []
        self.assertFalse(problems, "\n" + "\n".join(problems))
        self.assertGreater(count, 80)

    def test_options_that_are_not_supported_are_named(self):
        for name, case in unsupported():
            with self.subTest(name), self.assertRaises(library.Failure) as caught:
                library.Model(case.model(False).SerializeToString())
            self.assertEqual(caught.exception.status, library.UNIMPLEMENTED)
            self.assertIn(name, str(caught.exception))
            self.assertIn("node 'node'", str(caught.exception))


def outcome(case, dynamic):
    try:
        return case.problem(dynamic)
    except library.Failure as failure:
        # An operator may need to know sizes that a model leaves open, and must say so.
        return "" if dynamic and "not known" in str(failure) else str(failure)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for group in GROUPS:
            for case in group():
                if sys.argv[1] not in case.name and sys.argv[1] != "all":
                    continue
                for dynamic in case.shapes():
                    try:
                        print(f"{case.name:60} {'open  ' if dynamic else 'stated'} {case.problem(dynamic) or 'agrees'}")
                    except Exception as error:
                        print(f"{case.name:60} {'open  ' if dynamic else 'stated'} {str(error).splitlines()[0][:150]}")
    else:
        unittest.main()
