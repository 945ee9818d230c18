# SPDX-License-Identifier: Apache-2.0
"""Operators of com.microsoft against ONNX Runtime, which defines them. Each case runs with shapes that the model
states and with shapes that it leaves open."""

import sys
import unittest

try:
    import numpy as np

    import library
    import microsoft_bad_cases
    from microsoft_attention_cases import attentions, cached, grouped, rotations, windowed
    from microsoft_case import Case, bytes_of, floats, ints, scalar, signed
    from microsoft_layer_cases import experts, gathered, layers, plain, quantised_experts
except ImportError:
    Case = None


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
    for directions, label in ((1, "columns"), (2, "columns of two directions")):
        per_column = [np.abs(floats(directions, 24, scale=0.01)), np.zeros((directions, 24), np.int8)]
        lstm = [floats(4, 2, 8), signed(directions, 8, 24), signed(directions, 6, 24), floats(directions, 48), None, None, None, None,
                *per_column, *per_column]
        yield Case("DynamicQuantizeLSTM", lstm, outputs=(0, 1, 2), constants=(1, 2, 3, 8, 9, 10, 11), hidden_size=6,
                   direction="forward" if directions == 1 else "bidirectional", tolerance=3e-2, label=label)


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
        # Rows may be rounded to bytes, as ONNX Runtime does for some shapes. Results are about 1.
        small = scales * np.float32(10 / (np.sqrt(k) * 2 ** (bits - 1)))
        for rows in (1, 20):
            yield Case("MatMulNBits", [floats(rows, k), w, small, zeros], constants=(1, 2, 3), K=k, N=n, bits=bits,
                       block_size=block, accuracy_level=4, label=f"{bits} bits {k}x{n} {rows} level 4", tolerance=5e-2)


GROUPS = (activations, products, normalisations, quantised, quantised_products, few_bits)
if Case:
    GROUPS += (attentions, rotations, grouped, windowed, cached, gathered, experts, quantised_experts, layers, plain)


def unsupported():
    """Options that have to be refused by name."""
    yield "past_sequence_length", Case("MultiHeadAttention", [floats(1, 2, 8)] * 3 + [None] * 5 + [ints([1])], num_heads=2)
    yield "do_rotary", Case("Attention", [floats(1, 2, 8), floats(8, 24)], num_heads=2, do_rotary=1)
    yield "g_idx", Case("MatMulNBits", [floats(1, 32), bytes_of(2, 1, 16), floats(2), None, ints([0] * 32)], K=32, N=2,
                        bits=4, block_size=32)
    yield "qk_output", Case("GroupQueryAttention", [floats(1, 1, 8)] * 3 + [floats(1, 2, 4, 4)] * 2 +
                            [ints([0]), scalar(1, np.int32)], outputs=(0, 1, 2, 3), num_heads=2, kv_num_heads=2,
                            sliding_window_cache=1, local_window_size=2, qk_output=1)
    yield "transB", Case("MatMulBnb4", [floats(3, 8), bytes_of(128), floats(16)], K=32, N=8, block_size=16, quant_type=1, transB=0)
    yield "quant_type", Case("QMoE", [floats(1, 8), floats(1, 2), bytes_of(2, 8, 4), floats(2, 8), None, bytes_of(2, 8, 4),
                                      floats(2, 8)], quant_type="nvfp4")
    yield "state_window", Case("LinearAttention", [floats(1, 1, 8)] * 3, outputs=(0, 1), q_num_heads=1, kv_num_heads=1,
                               update_rule="linear", state_window=2)
    yield "metric", Case("CDist", [floats(3, 4)] * 2, metric="cosine")
    yield "'Mish'", Case("FusedConv", [floats(1, 1, 3, 3), floats(1, 1, 3, 3)], activation="Mish")


@unittest.skipIf(Case is None, "needs numpy, onnx and onnxruntime")
class Microsoft(unittest.TestCase):
    def test_operators(self):
        problems = [f"{case.name} ({'open' if dynamic else 'stated'} shapes): {found}" for group in GROUPS
                    for case in group() for dynamic in case.shapes() if (found := outcome(case, dynamic))]
        self.assertFalse(problems, "\n" + "\n".join(problems))

    def test_float16(self):
        problems, count = [], 0
        for case in (case for group in GROUPS for case in group() if case.reference is case and not case.expected):
            if case.op == "MoE":  # what ONNX Runtime makes of it in float16 is not what it makes of it in float32
                case.expected = [value.astype(np.float16) for value in case.run(False)]
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

    def test_wrong_nodes_and_contents_are_refused(self):
        for text, case in microsoft_bad_cases.refused():
            for dynamic in case.shapes():
                with self.subTest(f"{case.op}: {text}"):
                    with self.assertRaises(library.Failure) as caught:
                        bounded(case, dynamic)
                    message = str(caught.exception)
                    self.assertIn("node 'node", message)
                    self.assertTrue(text in message or dynamic, message)  # another part may find it if shapes are open

    def test_odd_nodes_and_contents_run(self):
        for case in microsoft_bad_cases.odd():
            for dynamic in (False, True):
                with self.subTest(case.op):
                    bounded(case, dynamic)


def bounded(case, dynamic):
    return library.Model(case.model(dynamic).SerializeToString(), memory=1 << 28).run(list(case.feeds().values()), 10)


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
