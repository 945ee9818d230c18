# SPDX-License-Identifier: Apache-2.0
"""Attention, rotary embeddings and caches of com.microsoft."""

import numpy as np

import library
from microsoft_case import Case, bytes_of, floats, ints, scalar, signed


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


def grouped():
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
    sink = floats(4)
    tail = [None] * 4
    for label, extra, sinks in (("smooth", {"smooth_softmax": 1}, None), ("sink", {}, sink),
                                ("sink and cap", {"softcap": 2.0}, sink), ("sink in window", {"local_window_size": 2}, sink)):
        last = [*tail, sinks] if sinks is not None else []
        yield Case("GroupQueryAttention", [q, k, v, None, None, ints([4, 4]), total, *last], outputs=(0, 1, 2),
                   label=f"prompt {label}", **heads, **extra)
        yield Case("GroupQueryAttention", [*one, *past, ints([6, 6]), scalar(7, np.int32), *last], outputs=(0, 1, 2),
                   label=f"step {label}", **heads, **extra)
    for shown in (1, 2):
        for label, extra in (("", {}), ("cap", {"softcap": 2.0}), ("window", {"local_window_size": 2})):
            yield Case("GroupQueryAttention", [q, k, v, None, None, ints([4, 4]), total], outputs=(0, 1, 2, 3),
                       label=f"scores {shown} {label}", qk_output=shown, **heads, **extra)
        yield Case("GroupQueryAttention", [*one, *past, ints([6, 6]), scalar(7, np.int32), *tail[:3], floats(2, 1, 1, 7), sink],
                   outputs=(0, 1, 2, 3), label=f"scores {shown} with sink", qk_output=shown, **heads)
    yield Case("GroupQueryAttention", [*one, floats(2, 2, 9, 16), floats(2, 2, 9, 16, seed=4), ints([6, 6]),
                                       scalar(7, np.int32), *tail[:3], floats(2, 1, 1, 7)], outputs=(0, 1, 2), filled=7,
               label="bias and a long cache", **heads)
    weights = [floats(16) + 1, floats(16, seed=8) + 1]
    sized = [values.reshape(2, 5, -1, 16) for values in (q, k)]
    like = [(rows / np.sqrt(np.mean(rows ** 2, -1, keepdims=True) + 1e-6) * weight).reshape(2, 5, -1).astype(np.float32)
            for rows, weight in zip(sized, weights)]
    rest = [v, None, None, ints([4, 4]), total, cos, sin]
    yield Case("GroupQueryAttention", [q, k, *rest, *[None] * 5, *weights], outputs=(0, 1, 2), do_rotary=1,
               like=Case("GroupQueryAttention", [*like, *rest], outputs=(0, 1, 2), do_rotary=1, **heads),
               label="norms", **heads)


def windowed():
    """Caches of a window: how many rows they hold follows from the number of tokens, which the outputs repeat."""
    sizes = {"num_heads": 4, "kv_num_heads": 2, "sliding_window_cache": 1}
    cos, sin = np.cos(floats(40, 8)), np.sin(floats(40, 8))
    for window, capacity in ((3, 3), (3, 4), (3, 7), (1, 1)):
        cache = [floats(2, 2, capacity, 16), floats(2, 2, capacity, 16, seed=4)]
        for tokens in range(1, 13):
            held = tokens - max(0, -(-(tokens - capacity) // (capacity - window + 1))) * (capacity - window + 1)
            batch, new = (2, 1) if tokens % 2 else (1, tokens % 5 + 1)
            if new > tokens:
                continue
            rows = [floats(batch, new, 64), floats(batch, new, 32), floats(batch, new, 32, seed=4)]
            last = [cos, sin, None, floats(1, 1, new, tokens), floats(4)] if tokens % 3 == 0 else []
            yield Case("GroupQueryAttention", [*rows, *(part[:batch] for part in cache), ints([tokens - 1] * batch),
                                               scalar(tokens, np.int32), *last], outputs=(0, 1, 2), filled=held,
                       label=f"window {window} of {capacity}, {new} of {tokens}", local_window_size=window,
                       do_rotary=int(bool(last)), **sizes)
        prompt = [floats(2, 11, 64), floats(2, 11, 32), floats(2, 11, 32, seed=4)]
        held = 11 - -(-(11 - capacity) // (capacity - window + 1)) * (capacity - window + 1)
        yield Case("GroupQueryAttention", [*prompt, *cache, ints([10, 10]), scalar(11, np.int32)], outputs=(0, 1, 2),
                   filled=held, label=f"window {window} of {capacity}, prompt", local_window_size=window, **sizes)


def stored(rows, scale, kind):
    """[B, S, 2 * 16] as a cache holds it, and as it is read back."""
    scaled = rows.reshape(*rows.shape[:2], 2, 16).transpose(0, 2, 1, 3) / scale.reshape(-1, 1, 16)
    if kind == np.int8:
        return np.clip(np.rint(scaled), -128, 127).astype(kind)
    if kind != np.uint8:
        return scaled.astype(kind)
    codes = (np.clip(np.rint(scaled), -8, 7) + 8).astype(np.uint8)
    return codes[..., ::2] | codes[..., 1::2] << 4


def read(cache, scale):
    if cache.dtype == np.uint8:
        cache = np.stack([cache & 15, cache >> 4], -1).reshape(*cache.shape[:3], 16) - 8.0
    return (cache.astype(np.float32) * scale.reshape(-1, 1, 16)).astype(np.float32)


def flat(heads):
    return np.ascontiguousarray(heads.transpose(0, 2, 1, 3).reshape(heads.shape[0], heads.shape[2], -1))


def cached():
    """Caches of 4 and 8 bits."""
    sizes = {"num_heads": 4, "kv_num_heads": 2}
    q, k, v = floats(2, 5, 64), floats(2, 5, 32), floats(2, 5, 32, seed=4)
    for bits, limit in ((8, 128), (4, 8)):
        for mode, scale in (("PER_TENSOR", ints([3 / limit], np.float32)),
                            ("PER_CHANNEL", np.abs(floats(1, 2, 1, 16)) / limit + np.float32(1 / limit))):
            kinds = {"k_quant_type": mode, "v_quant_type": mode, "kv_cache_bit_width": bits, "tolerance": 1e-3}
            cache = [signed(2, 2, 6, 16, seed=i) if bits == 8 else bytes_of(2, 2, 6, 8, seed=i) for i in (1, 2)]
            scales = [None] * 5 + [scale, scale * 2]
            prompt = Case("GroupQueryAttention", [q, k, v, *cache, ints([4, 4]), scalar(5, np.int32), *scales],
                          outputs=(0, 1, 2), filled=5, label=f"{bits} bits {mode} prompt", **sizes, **kinds)
            yield prompt
            yield Case("GroupQueryAttention", [q, k, v, None, None, ints([4, 4]), scalar(5, np.int32), *scales], like=prompt,
                       outputs=(0, 1, 2), compared=(0,), label=f"{bits} bits {mode} prompt alone", **sizes, **kinds)
            for label, count, batch, extra in (("step", 1, 2, {}), ("steps", 4, 1, {}), ("window", 1, 2, {"local_window_size": 3})):
                rows = [part[:batch, :count] for part in (q, k, v)]
                yield Case("GroupQueryAttention", [*rows, *(part[:batch] for part in cache), ints([5 + count] * batch),
                                                   scalar(6 + count, np.int32), *scales], outputs=(0, 1, 2),
                           label=f"{bits} bits {mode} {label}", **sizes, **kinds, **extra)
    yield from cached_beyond()


def cached_beyond():
    """What ONNX Runtime does not run on the CPU: the same numbers in caches of float32."""
    rows = [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32, seed=4)]
    scale = np.abs(floats(1, 2, 1, 16)) / 8 + np.float32(0.1)
    for kind, bits in ((np.uint8, 4), (np.int8, 8), (library.dtype_named("float8_e4m3fn"), 8)):
        cache = [stored(floats(2, 6, 32, seed=seed), scale, kind) for seed in (1, 2)]
        new = [flat(read(stored(part, scale, kind), scale)) for part in rows[1:]]
        for label, extra, lengths in (("", {}, [ints([6, 6]), scalar(7, np.int32)]),
                                      ("windowed", {"sliding_window_cache": 1, "local_window_size": 4},
                                       [ints([7, 7]), scalar(8, np.int32)])):
            extra = {"num_heads": 4, "kv_num_heads": 2, "outputs": (0, 1, 2), **extra}
            like = Case("GroupQueryAttention", [rows[0], *new, *(read(part, scale) for part in cache), *lengths], **extra)
            yield Case("GroupQueryAttention", [*rows, *cache, *lengths, *[None] * 5, scale, scale], like=like, compared=(0,),
                       label=f"cache of {np.dtype(kind).name} {label}", k_quant_type="PER_CHANNEL", v_quant_type="PER_CHANNEL",
                       kv_cache_bit_width=bits, **extra)
