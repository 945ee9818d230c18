# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts, quantised tables, and layers that tools write for models of several kinds."""

import math

import numpy as np

import library
from microsoft_case import Case, bytes_of, floats, ints, scalar


def packed_codes(codes, bits):
    """Numbers of some bits along the last axis, padded to whole bytes, the first one in the low bits."""
    each = 8 // bits
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % each)])
    return sum(codes[..., i::each].astype(np.uint8) << i * bits for i in range(each)).astype(np.uint8)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def between(gate, linear, activation_type="relu", activation_alpha=1.0, activation_beta=0.0, swiglu_limit=np.inf,
            swiglu_fusion=0, **_):
    if activation_type == "swiglu":
        if swiglu_fusion:
            gate, linear = (gate[::2], gate[1::2]) if swiglu_fusion == 1 else np.split(gate, 2)
        gate, linear = np.minimum(gate, swiglu_limit), np.clip(linear, -swiglu_limit, swiglu_limit)
        return gate * sigmoid(activation_alpha * gate) * (linear + activation_beta)
    gate = {"relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * sigmoid(x), "identity": lambda x: x,
            "gelu": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))}[activation_type](gate)
    return gate if linear is None else gate * linear


def shares(logits, chosen, mixing, normalize_routing_weights=0, use_sparse_mixer=0, **_):
    """Weights of the chosen experts of one token, as the documentation has it; SparseMixer as in its paper."""
    if use_sparse_mixer:
        rest, weights = logits.astype(np.float64), []
        for expert in chosen:
            near = (rest[expert] - logits) / np.maximum(np.abs(logits), rest[expert]) <= 0.02
            weights.append(1 / np.sum(np.exp(rest - rest[expert]), where=near & np.isfinite(rest)))
            rest[expert] = -np.inf
        return np.array(weights)
    weights = np.exp(logits - np.max(logits))
    weights = weights / np.sum(weights) if mixing is None else mixing
    return weights[chosen] / (np.sum(weights[chosen]) if normalize_routing_weights else 1)


def mixture(x, router, layers, mixing=None, k=1, **attributes):
    """The documentation of MoE in NumPy; a layer is weights [experts, columns, depth] and a bias or None."""
    result = np.zeros(x.shape, np.float64).reshape(-1, x.shape[-1])
    times = lambda layer, expert, row: layer[0][expert] @ row + (0 if layer[1] is None else layer[1][expert])
    for token, row in enumerate(x.reshape(result.shape)):
        chosen = np.argsort(-router[token], kind="stable")[:k]
        weights = shares(router[token], chosen, None if mixing is None else mixing[token], **attributes)
        for expert, weight in zip(chosen, weights):
            linear = times(layers[2], expert, row) if layers[2] else None
            inner = between(times(layers[0], expert, row), linear, **attributes)
            result[token] += weight * times(layers[1], expert, inner)
    return [result.reshape(x.shape).astype(np.float32)]


SWIGLU = {"activation_type": "swiglu", "activation_alpha": 1.7, "activation_beta": 1.0, "swiglu_limit": 1.5}


def experts():
    hidden, inner = 24, 40
    for tokens, count, k, label in ((1, 4, 2, "one token"), (6, 5, 1, "some tokens"), (40, 3, 3, "many tokens")):
        x, router = floats(tokens, hidden), floats(tokens, count, scale=2)
        first = [floats(count, inner, hidden, scale=0.3), floats(count, inner)]
        second = [floats(count, hidden, inner, scale=0.3), floats(count, hidden)]
        third = [floats(count, inner, hidden, scale=0.3, seed=8), floats(count, inner, seed=9)]
        both = [floats(count, 2 * inner, hidden, scale=0.3), floats(count, 2 * inner)]
        for kind in ("relu", "gelu", "silu", "identity"):
            for normal in (0, 1):
                yield Case("MoE", [x, router, *first, *second], constants=(2, 3, 4, 5), k=k, activation_type=kind,
                           normalize_routing_weights=normal, label=f"{label} {kind} {normal}", tolerance=1e-3)
        yield Case("MoE", [x, router, first[0], None, second[0]], k=k, label=f"{label} weights that are inputs")
        yield Case("MoE", [x, router, *both, *second], constants=(2, 4), k=k, swiglu_fusion=1, tolerance=1e-3,
                   label=f"{label} swiglu", **SWIGLU)
        for given, layers, extra in (
                ([*both, *second], [both, second, None], {**SWIGLU, "swiglu_fusion": 2}),
                ([*first, *second, *third], [first, second, third], SWIGLU),
                ([*first, *second, *third], [first, second, third], {"activation_type": "silu"}),
                ([*first, *second, third[0]], [first, second, [third[0], None]], {"activation_type": "gelu"}),
                ([*first, *second], [first, second, None], {"use_sparse_mixer": 1, "k": 2})):
            extra = {"k": k, **extra}
            yield Case("MoE", [x, router, *given], constants=(2, 4, 6), label=f"{label} {extra}", tolerance=1e-3,
                       expected=mixture(x, router, layers, **extra), **extra)
    three, logits = floats(2, 3, hidden), floats(6, count)
    yield Case("MoE", [three, logits, *first, *second], constants=(2, 4), k=2, label="3 axes", tolerance=1e-3)
    yield Case("MoE", [x, np.zeros_like(router), *first, *second], constants=(2, 4), k=2, label="equal logits", tolerance=1e-3)


class Quantised:
    """Weights [experts, columns, depth] of some bits: codes, scales, zero points, and what they stand for."""

    def __init__(self, experts_, columns, depth, bits, block, zeros=True, seed=0):
        blocks = depth // block if block else 1
        codes = bytes_of(experts_, columns, depth, high=1 << bits, seed=seed)
        points = bytes_of(experts_, columns, blocks, high=1 << bits, seed=seed + 1)
        self.scales = np.abs(floats(experts_, columns, blocks, scale=0.4 / (1 << bits), seed=seed)) + np.float32(0.01)
        middle = points.astype(np.float32) if zeros else np.float32(1 << bits - 1)
        centred = codes.reshape(*points.shape, -1).astype(np.float32) - np.reshape(middle, (*np.shape(middle), 1))
        self.real = (centred * self.scales[..., None]).reshape(codes.shape)
        self.codes = packed_codes(codes, bits)
        self.scales = self.scales if block else self.scales[..., 0]
        self.zeros = packed_codes(points if block else points[..., 0], bits) if zeros else None


def quantised_experts():
    count, hidden, inner = 3, 32, 48
    for tokens in (1, 7, 70):
        x, router = floats(tokens, hidden), floats(tokens, count, scale=2)
        for bits in (2, 4, 8):
            for block in (0, 16):
                for zeros in (False, True):
                    first, both, third = (Quantised(count, columns, hidden, bits, block, zeros, seed)
                                          for columns, seed in ((inner, 1), (2 * inner, 3), (inner, 5)))
                    second = Quantised(count, hidden, inner, bits, block, zeros, 7)
                    biases = [floats(count, inner), floats(count, hidden), floats(count, 2 * inner)]
                    extra = {"k": 2, "normalize_routing_weights": 1, "expert_weight_bits": bits, "tolerance": 2e-3,
                             "constants": range(2, 14), **({"block_size": block} if block else {})}
                    label = f"{tokens} tokens, {bits} bits, blocks of {block}{', zero points' if zeros else ''}"
                    rest = [second.codes, second.scales, biases[1]]
                    points = [first.zeros, second.zeros]
                    layers = [[first.real, biases[0]], [second.real, biases[1]], [third.real, None]]
                    # With blocks of 8 bits ONNX Runtime also rounds the activations to 8 bits.
                    rounds = bits == 8 and block
                    silu = mixture(x, router, [*layers[:2], None], activation_type="silu", **extra) if rounds else None
                    yield Case("QMoE", [x, router, first.codes, first.scales, biases[0], *rest, None, None, None, *points],
                               label=label, activation_type="silu", expected=silu, **extra)
                    gated = {"swiglu_fusion": 1, **SWIGLU, **extra}
                    wide = mixture(x, router, [[both.real, biases[2]], layers[1], None], **gated) if rounds else None
                    yield Case("QMoE", [x, router, both.codes, both.scales, biases[2], *rest, None, None, None, both.zeros,
                                        second.zeros], label=f"{label}, swiglu", expected=wide, **gated)
                    yield Case("QMoE", [x, router, first.codes, first.scales, biases[0], *rest, third.codes, third.scales,
                                        None, *points, third.zeros], label=f"{label}, three layers", activation_type="silu",
                               expected=mixture(x, router, layers, activation_type="silu", **extra), **extra)
    first, second = Quantised(count, inner, hidden, 8, 0, False), Quantised(count, hidden, inner, 4, 0, True)
    layers = [[first.real, None], [second.real, None], None]
    inputs = [x, router, first.codes, first.scales, None, second.codes, second.scales, None, None, None, None, None, second.zeros]
    for label, mixing, extra in (("bits of each layer", None, {"fc1_expert_weight_bits": 8}),
                                 ("mixing weights", np.abs(floats(70, count)), {"fc1_expert_weight_bits": 8}),
                                 ("mixing weights that add up", np.abs(floats(70, count)),
                                  {"fc1_expert_weight_bits": 8, "normalize_routing_weights": 1})):
        yield Case("QMoE", inputs + ([None, mixing] if mixing is not None else []), k=2, label=label, tolerance=2e-3,
                   expected=mixture(x, router, layers, mixing, k=2, **extra), **extra)


def gathered():
    indices = ints([[1, -1, 9], [3, 3, 10]], np.int64)  # the last one is out of range
    for bits in (2, 4, 8):
        codes = bytes_of(10, 64, high=1 << bits)
        some = [packed_codes(codes, bits), indices, np.abs(floats(10, 4))]
        zeros = packed_codes(bytes_of(10, 4, high=1 << bits, seed=5), bits)
        yield Case("GatherBlockQuantized", some, constants=(0, 2), label=f"{bits} bits", bits=bits, block_size=16)
        yield Case("GatherBlockQuantized", [*some, zeros], constants=(0, 2, 3), label=f"{bits} bits, zero points",
                   bits=bits, block_size=16)
        yield Case("GatherBlockQuantized", [*some[:2], np.abs(floats(10, 1)).astype(np.float16)], constants=(0, 2),
                   label=f"{bits} bits, part of a block", bits=bits, block_size=128, tolerance=1e-3)
    for name in ("int4", "uint4", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn"):
        kind = library.dtype_named(name)
        low = 0 if name == "uint4" else -7
        for label, shape, axes, scales in (("rows", (10, 64), (0, 1), (10, 4)), ("odd", (10, 33), (0, 1), (10, 3)),
                                           ("columns", (40, 11), (1, 0), (3, 11)), ("one axis", (3, 40), (1, 1), (3, 3)),
                                           ("middle", (3, 11, 40), (1, 2), (3, 11, 3))):
            data = bytes_of(*shape, low=low, high=8, dtype=np.int8).astype(np.float32).astype(kind)
            attributes = {"gather_axis": axes[0], "quantize_axis": axes[1], "constants": (0, 2, 3), "model_opset": 21}
            inputs = [data, indices.astype(np.int32), np.abs(floats(*scales))]
            yield Case("GatherBlockQuantized", inputs, label=f"{name} {label}", block_size=16, **attributes)
            if "int" in name:
                zeros = bytes_of(*scales, low=low, high=8, dtype=np.int8, seed=7).astype(kind)
                yield Case("GatherBlockQuantized", [*inputs, zeros], label=f"{name} {label} zeros", block_size=16, **attributes)
            else:
                whole = [1 if axis == axes[1] else size for axis, size in enumerate(shape)]
                for sizes in (whole, [1] * len(shape)):
                    yield Case("GatherBlockQuantized", [*inputs[:2], np.abs(floats(*sizes))], block_size=0,
                               label=f"{name} {label} scales {sizes}", **attributes)
    yield Case("GatherBlockQuantized", [some[0], np.zeros((0, 2), np.int64), some[2]], constants=(0, 2), label="nothing",
               bits=8, block_size=16)


def layers():
    """Layers of diffusion, speech and language models. What ONNX Runtime runs on GPUs alone is written out here."""
    x, wide = floats(2, 3, 16), floats(16)
    yield Case("BiasAdd", [x, wide, floats(2, 3, 16, seed=5)], expected=[x + wide + floats(2, 3, 16, seed=5)])
    left, right = np.split(x + wide, 2, -1)
    yield Case("BiasSplitGelu", [x, wide], expected=[(left * gelu(right)).astype(np.float32)])
    images, scale, bias, skip = floats(2, 5, 4, 8), floats(8), floats(8, seed=5), floats(2, 8)
    for activation in (0, 1):
        for groups in (1, 2, 4):
            extra = {"groups": groups, "activation": activation}
            yield Case("GroupNorm", [images, scale, bias], label=str(extra), **extra,
                       expected=[group_norm(images, scale, bias, **extra)])
            first = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
            yield Case("GroupNorm", [first, scale, bias], label=f"{extra} channels first", channels_last=0, **extra,
                       expected=[group_norm(images, scale, bias, **extra).transpose(0, 3, 1, 2)])
    for label, other in (("", skip), ("4 axes", skip[:, None, None]), ("whole", floats(2, 5, 4, 8, seed=9))):
        total = images + (other if other.ndim == 4 else other[:, None, None]) + bias
        yield Case("SkipGroupNorm", [images, scale, bias, other, bias], outputs=(0, 1), groups=2, activation=1, label=label,
                   expected=[group_norm(total, scale, bias, groups=2, activation=1), total])
    filters, image = floats(6, 8, 3, 3), floats(2, 5, 4, 8)
    plain = Case("Conv", [np.ascontiguousarray(image.transpose(0, 3, 1, 2)), filters, floats(6)], domain="", pads=[1] * 4)
    result = np.ascontiguousarray(plain.run(False)[0].transpose(0, 2, 3, 1))
    yield Case("NhwcConv", [image, filters, floats(6)], constants=(1, 2), pads=[1] * 4, expected=[result])
    yield Case("NhwcFusedConv", [image, filters, floats(6), result[::-1].copy()], constants=(1, 2), pads=[1] * 4,
               activation="Relu", expected=[np.maximum(result + result[::-1], 0)], tolerance=1e-3)
    yield Case("FusedMatMulActivation", [floats(3, 4), floats(5, 4)], transB=1, alpha=0.5, activation="LeakyRelu",
               activation_alpha=0.2, like=Case("FusedGemm", [floats(3, 4), floats(5, 4)], transB=1, alpha=0.5,
                                               activation="LeakyRelu", activation_alpha=0.2))
    yield Case("GemmFastGelu", [x, floats(16, 4), floats(4)], like=Case("FastGelu", [x @ floats(16, 4), floats(4)]))
    yield from positions()
    yield from recurrences()


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def group_norm(x, scale, bias, groups, activation):
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    parts = (parts - parts.mean((1, 3), keepdims=True)) / np.sqrt(parts.var((1, 3), keepdims=True) + 1e-5)
    result = parts.reshape(x.shape) * scale + bias
    return (result * sigmoid(result) if activation else result).astype(np.float32)


def buckets(distance, count, most, both):
    """Of T5, as in its reference code."""
    base = 0
    if both:
        count //= 2
        base, distance = (distance > 0) * count, np.abs(distance)
    else:
        distance = -np.minimum(distance, 0)
    near = count // 2
    far = near + (np.log(np.maximum(distance, 1) / near) / np.log(most / near) * (count - near)).astype(np.int64)
    return base + np.where(distance < near, distance, np.minimum(far, count - 1))


def positions():
    for both in (0, 1):
        table = floats(32, 4)
        found = buckets(np.arange(150)[None] - np.arange(140)[:, None], 32, 128, both)
        yield Case("RelativePositionBias", [table, scalar(140, np.int64), scalar(150, np.int64)], max_distance=128,
                   is_bidirectional=both, label=str(both), expected=[table.reshape(4, 32)[:, found][None]])
    emb, heads = floats(2, 3, 8), [floats(2, 4, 3, 8, seed=seed) for seed in range(4)]
    cos, sin = np.cos(emb)[:, None], np.sin(emb)[:, None]
    yield Case("GemmaRotaryEmbedding", [emb, *heads], outputs=(0, 1),
               expected=[heads[0] * cos + heads[1] * sin, heads[2] * cos + heads[3] * sin])
    tables, places = [np.cos(floats(30, 8)), np.sin(floats(30, 8))], bytes_of(3, 2, 5, high=30, dtype=np.int64)
    for layout in (0, 1):
        for sections in ([4, 2, 2], [2, 3, 3], [8, 0, 0]):
            extra = {"mrope_section": sections, "mrope_layout": layout}
            for label, x, more in (("", floats(2, 5, 64), {"num_heads": 4}), ("4 axes", floats(2, 4, 5, 16), {"interleaved": 1}),
                                   ("part", floats(2, 5, 96), {"num_heads": 4, "rotary_embedding_dim": 16})):
                yield Case("MRotaryEmbedding", [x, places, *tables], label=f"{label} {extra}", **extra, **more)


def recurrences():
    state, kernel = floats(2, 6, 3), floats(6, 1, 4)
    rows = floats(2, 6, 7)
    for label, inputs in (("", [rows, kernel]), ("state", [rows, kernel, floats(6), state])):
        yield Case("CausalConvWithState", inputs, outputs=(0, 1), activation="silu", label=label)
        last = [rows.transpose(0, 2, 1).copy(), *inputs[1:3], *([state.transpose(0, 2, 1).copy()] if label else [])]
        yield Case("CausalConvWithState", last, outputs=(0, 1), channels_last=1, label=f"{label} channels last")
    for queries, keys in ((2, 2), (4, 2), (2, 4)):
        q, k, v = floats(2, 5, queries * 8), floats(2, 5, keys * 8, scale=0.3), floats(2, 5, keys * 6)
        decay, beta = -np.abs(floats(2, 5, keys)), sigmoid(floats(2, 5, keys, seed=3)).astype(np.float32)
        for rule, gates in (("linear", [None, None]), ("gated", [decay, None]), ("delta", [None, beta]),
                            ("gated_delta", [decay, beta])):
            gates = gates if gates[1] is not None else [gate for gate in gates if gate is not None]
            yield Case("LinearAttention", [q, k, v, floats(2, keys, 8, 6), *gates], outputs=(0, 1), update_rule=rule,
                       q_num_heads=queries, kv_num_heads=keys, label=f"{rule} {queries} {keys}", tolerance=1e-3)
    yield Case("LinearAttentionGate", [floats(2, 3, 4), floats(4), floats(4, seed=5), floats(2, 3, 4, seed=6)], outputs=(0, 1))
    for activation in ("silu", "swish", "sigmoid"):
        yield Case("GatedRMSNorm", [floats(2, 3, 24), floats(8), floats(2, 3, 24, seed=5)], activation=activation,
                   label=activation)
    yield Case("BranchwiseRMSNorm", [floats(2, 3, 4, 8), floats(4, 8)])
    yield Case("BranchwiseRMSNorm", [floats(2, 3, 32), floats(32)], num_branches=4, label="flat")
    yield Case("BranchwiseRMSNorm", [floats(2, 3, 32), floats(8)], num_branches=4, label="one scale")
    yield Case("BranchwiseRMSNorm", [floats(2, 3, 4, 8)], label="no scale")
    yield Case("GatedAdd", [floats(2, 3, 8), floats(2, 3, 8, seed=5), floats(2, 3, 1)])
    yield Case("ScaledSiLU", [floats(2, 3)], alpha=1.5)
    yield Case("ScaledSiLU", [floats(2, 3), scalar(0.5)], label="input")


def plain():
    """Operators from before ONNX had its own."""
    a, b = floats(5, 8), floats(7, 8)
    for kind in (np.float32, np.float64):
        for metric in ("sqeuclidean", "euclidean"):
            yield Case("CDist", [a.astype(kind), b.astype(kind)], metric=metric, label=f"{metric} {kind.__name__}")
    pairs = floats(3, 4, 2).astype(np.float64), floats(4, 2, seed=5).astype(np.float64)
    real = [value[..., 0] + 1j * value[..., 1] for value in pairs]
    for op, expected in (("ComplexMul", real[0] * real[1]), ("ComplexMulConj", real[0] * np.conj(real[1]))):
        yield Case(op, list(pairs), expected=[np.stack([expected.real, expected.imag], -1)])
    signal = floats(3, 16)
    spectrum = np.fft.rfft(signal)
    spectrum = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
    yield Case("Rfft", [signal], signal_ndim=1, onesided=1, normalized=0, expected=[spectrum], tolerance=1e-3)
    yield Case("Irfft", [spectrum], signal_ndim=1, onesided=1, normalized=0, expected=[signal], tolerance=1e-3)
    yield Case("ExpandDims", [floats(2, 3), scalar(1, np.int32)], constants=(1,))
    yield Case("GatherND", [floats(2, 3, 4), ints([[0, 1], [1, 2]], np.int32)])
    grid = floats(2, 5, 6, 2, scale=0.7)
    for mode in ("bilinear", "nearest", "bicubic"):
        yield Case("GridSample", [floats(2, 3, 7, 8), grid], mode=mode, padding_mode="border", label=mode, tolerance=1e-3)
    matrices = floats(3, 5, 5) + 3 * np.eye(5, dtype=np.float32)
    yield Case("Inverse", [matrices], tolerance=1e-3)
    yield Case("Inverse", [matrices[0].astype(np.float64)], label="float64")
    yield Case("Pad", [floats(2, 3), ints([0, 2, 1, -1], np.int64), scalar(1.5)], constants=(1,))
    yield Case("Pad", [floats(2, 3), ints([[0, 1, 1, 1]], np.int64)], constants=(1,), mode="reflect", label="reflect")
    yield Case("Range", [scalar(1), scalar(6), scalar(1.5)])
    yield Case("Range", [ints([2], np.int64), ints([9], np.int64)], label="list")
    yield Case("TorchEmbedding", [floats(9, 4), ints([[1, 3], [8, 0]], np.int64)], expected=[floats(9, 4)[[[1, 3], [8, 0]]]])
    yield Case("UnfoldTensor", [floats(2, 11, 3)], dim=1, size=4, step=2)
    yield Case("UnfoldTensor", [floats(2, 11)], size=3, label="last")
    yield Case("Unique", [ints([2, 1, 1, 3, 4, 3, -1], np.float32)], outputs=(0, 1, 2))
    yield Case("MatMulInteger16", [bytes_of(3, 4, low=-3000, high=3000, dtype=np.int16),
                                   bytes_of(4, 5, low=-3000, high=3000, dtype=np.int16)])
    for bits, kind in ((4, 0), (4, 1)):
        for depth, columns, block in ((64, 8, 32), (50, 5, 16), (33, 7, 64)):
            weights = bytes_of(-(-depth * columns // 2))
            yield Case("MatMulBnb4", [floats(3, depth), weights, np.abs(floats(-(-depth * columns // block)))],
                       constants=(1, 2), K=depth, N=columns, block_size=block, quant_type=kind,
                       label=f"{('FP4', 'NF4')[kind]} {depth}x{columns}", tolerance=1e-3)
    data, quantum = bytes_of(2, 3, 4, 5), [scalar(0.02), scalar(120, np.uint8)]
    mean = np.clip(np.rint(((data.astype(np.float32) - 120) * np.float32(0.02)).mean((1, 3)) / np.float32(0.01)) + 100, 0, 255)
    yield Case("QLinearReduceMean", [data, *quantum, scalar(0.01), scalar(100, np.uint8)], axes=[1, 3], keepdims=0, steps=1,
               expected=[mean.astype(np.uint8)])
    ids, segments = bytes_of(2, 5, high=11, dtype=np.int32), bytes_of(2, 5, high=2, dtype=np.int32)
    tables = [bytes_of(11, 8), bytes_of(6, 8), bytes_of(2, 8), bytes_of(8), bytes_of(8, seed=4)]
    scales, zeros = [scalar(0.01 * i) for i in range(1, 6)], [scalar(100 + i, np.uint8) for i in range(5)]
    mask = ints([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    yield Case("QEmbedLayerNormalization", [ids, segments, *tables, mask, *scales, *zeros], outputs=(0, 1),
               constants=range(8, 18), open_shapes=False, tolerance=1e-3)
    scales[2] = zeros[2] = None
    yield Case("QEmbedLayerNormalization", [ids, None, *tables[:2], None, *tables[3:], None, *scales, *zeros], outputs=(0, 1),
               constants=(8, 9, 11, 12, 13, 14, 16, 17), open_shapes=False, tolerance=1e-3, label="without segments")
