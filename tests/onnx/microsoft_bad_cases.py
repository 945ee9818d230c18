# SPDX-License-Identifier: Apache-2.0
"""Nodes of com.microsoft whose shapes, attributes or contents are wrong: what the message names, and those that run."""

import numpy as np

import library
from microsoft_case import Case, bytes_of, floats, ints, scalar, signed

HUGE = 2 ** 62


def experts():
    x, router, first, second = floats(5, 8), floats(5, 3), floats(3, 6, 8), floats(3, 8, 6)
    good = [x, router, first, None, second]
    for text, attributes in (("chooses 4 of 3 experts", {"k": 4}), ("'k' is 0", {"k": 0}), (f"'k' is {HUGE}", {"k": HUGE}),
                             ("'activation_type' is 'mish'", {"activation_type": "mish"}),
                             ("'swiglu_fusion' is 7", {"swiglu_fusion": 7}),
                             ("needs weights of a third layer", {"activation_type": "swiglu"}),
                             ("chooses 2 experts, not 1", {"use_sparse_mixer": 1})):
        yield text, Case("MoE", good, **attributes)
    for text, inputs in (("tokens of input and router disagree: 4 and 5", [x, router[:4], *good[2:]]),
                         ("input 1 must have 2 dimensions", [x, router[None], *good[2:]]),
                         ("experts of router and weights disagree: 3 and 2", [x, router, first[:2], None, second]),
                         ("input 4 has the shape [3, 8, 5]", [*good[:4], second[:, :, :5]]),
                         ("input 3 has the shape [3, 5]", [*good[:3], floats(3, 5), second]),
                         ("at least 2 dimensions", [x[0], *good[1:]]), ("chooses 1 of 0", [x, router[:, :0], first[:0], None,
                                                                                         second[:0]]),
                         ("input 4 is missing", good[:3])):
        yield text, Case("MoE", inputs)
    yield "7 columns", Case("MoE", [x, router, floats(3, 7, 8), None, second], activation_type="swiglu", swiglu_fusion=1)
    good = [x, router, bytes_of(3, 6, 4), floats(3, 6), None, bytes_of(3, 8, 3), floats(3, 8)]
    for text, attributes in (("weights of 3 bits", {"expert_weight_bits": 3}), ("needs [3, 6, 8]", {"expert_weight_bits": 8}),
                             ("blocks of 17", {"block_size": 17}), (f"blocks of {HUGE}", {"block_size": HUGE}),
                             ("do not split into blocks of 16", {"block_size": 16})):
        yield text, Case("QMoE", good, **attributes)
    for text, inputs in (("input 3 is missing", [*good[:3], None, *good[4:]]),
                         ("input 3 has the shape [3, 5]", [*good[:3], floats(3, 5), *good[4:]]),
                         ("input 11 has the shape [3, 2]", [*good, *[None] * 4, bytes_of(3, 2)]),
                         ("not whole bytes", [floats(5, 7), *good[1:]])):
        yield text, Case("QMoE", inputs)


def tables():
    good = [bytes_of(10, 16), ints([0, 9], np.int64), floats(10, 2)]
    for text, attributes in (("numbers of 5 bits", {"bits": 5}), ("blocks of 15", {"block_size": 15}),
                             ("blocks of 0", {"block_size": 0}), (f"blocks of {HUGE}", {"block_size": HUGE}),
                             ("not 1 and 1", {"gather_axis": 1}), ("not 0 and 0", {"quantize_axis": 0}),
                             ("axis 7 is out of range", {"gather_axis": 7})):
        yield text, Case("GatherBlockQuantized", good, **{"block_size": 16, **attributes})
    for text, inputs in (("input 2 has the shape [10, 3]", [*good[:2], floats(10, 3)]),
                         ("input 2 has the shape [20]", [*good[:2], floats(20)]),
                         ("input 3 has the shape [10, 2]", [*good, bytes_of(10, 2)])):
        yield text, Case("GatherBlockQuantized", inputs, block_size=16)
    table = floats(10, 32).astype(library.dtype_named("float8_e4m3fn"))
    yield "no zero points", Case("GatherBlockQuantized", [table, *good[1:], table[:, :2]], block_size=16)
    yield "does not broadcast to [10, 2]", Case("GatherBlockQuantized", [table, good[1], floats(3, 2)], block_size=16)


def caches():
    sizes = {"num_heads": 4, "kv_num_heads": 2, "outputs": (0, 1, 2)}
    rows, past = [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32)], [floats(2, 2, 6, 16)] * 2
    good = [*rows, *past, ints([6, 6]), scalar(7, np.int32)]
    for text, attributes in (("above 0, not 0", {"sliding_window_cache": 1, "local_window_size": 0}),
                             ("does not hold a window of 7", {"sliding_window_cache": 1, "local_window_size": 7}),
                             (f"a window of {HUGE}", {"sliding_window_cache": 1, "local_window_size": HUGE}),
                             ("'k_quant_type' is 'X'", {"k_quant_type": "X"}), ("input 12 is missing", {"k_quant_type": "PER_TENSOR"}),
                             ("needs causal attention", {"causal": 0, "local_window_size": 2}),
                             ("needs cos_cache and sin_cache", {"do_rotary": 1})):
        yield text, Case("GroupQueryAttention", good, **sizes, **attributes)
    window = {**sizes, "sliding_window_cache": 1, "local_window_size": 3}
    yield "needs past_key", Case("GroupQueryAttention", [*rows, None, None, *good[5:]], **window)
    yield "disagree", Case("GroupQueryAttention", [*good[:4], floats(2, 2, 5, 16), *good[5:]], **window)
    yield "disagree", Case("GroupQueryAttention", [*rows, floats(1, 2, 6, 16), floats(1, 2, 6, 16), *good[5:]], **window)
    yield "do not broadcast", Case("GroupQueryAttention", [*good[:5], ints([6, 6, 6]), good[6]], **window)
    yield "index 0 is out of range", Case("GroupQueryAttention", [*good, *[None] * 3, floats(1, 1, 1, 0)], **window)
    for text, more in (("input 4 has the shape [3]", [None] * 4 + [floats(3)]),
                       ("attention_bias has 3 dimensions", [None] * 3 + [floats(2, 4, 7)]),
                       ("must be used together", [None] * 7 + [floats(16)]),
                       ("input 1 of shape [15]", [None] * 7 + [floats(15)] * 2)):
        yield text, Case("GroupQueryAttention", good + more, **sizes)
    kinds = {**sizes, "k_quant_type": "PER_CHANNEL", "v_quant_type": "PER_CHANNEL"}
    cache = [signed(2, 2, 6, 16)] * 2
    for text, held, bits, scale in (("a cache of float32", past, 8, (1, 2, 1, 16)), ("is 3, not 4 or 8", cache, 3, (1, 2, 1, 16)),
                                    ("a cache of int8", cache, 4, (1, 2, 1, 16)), ("[3] cannot become", cache, 8, (3,)),
                                    ("do not broadcast", cache, 8, (1, 2, 6, 16))):
        yield text, Case("GroupQueryAttention", [*rows, *held, *good[5:], *[None] * 5, *[floats(*scale)] * 2],
                         kv_cache_bit_width=bits, **kinds)
    # Lengths that come with each call.
    for text, lengths, total in (("write index 100", [100, 3], 7), ("write index 2147483647", [2 ** 31 - 1] * 2, 7),
                                 ("write index 6", [6, 6], -5), ("Memory limit", [6, 6], 2 ** 31 - 1)):
        yield text, Case("GroupQueryAttention", [*rows, *past, ints(lengths), scalar(total, np.int32)], **sizes)
    yield "index 100 is out of range", Case("GroupQueryAttention", [*good[:5], ints([100, 3]), good[6], floats(16, 8),
                                                                    floats(16, 8)], do_rotary=1, **sizes)


def layers():
    positions, tables_ = bytes_of(3, 2, 5, high=9, dtype=np.int64), [floats(30, 8)] * 2
    x = floats(2, 5, 64)
    yield "contains -2", Case("MRotaryEmbedding", [x, positions, *tables_], mrope_section=[4, 2, -2], num_heads=4)
    yield "do not broadcast", Case("MRotaryEmbedding", [x, positions, *tables_], mrope_section=[2 ** 20] * 3, num_heads=4)
    yield "out of range", Case("MRotaryEmbedding", [x, positions + 30, *tables_], mrope_section=[4, 2, 2], num_heads=4)
    yield "out of range", Case("MRotaryEmbedding", [x, positions[:2], *tables_], mrope_section=[4, 2, 2], num_heads=4)
    yield "disagree: 1 and", Case("MatMulBnb4", [floats(3, 8), bytes_of(4), floats(1)], K=2 ** 31 - 1, N=2 ** 31 - 1,
                                  block_size=16, quant_type=1)
    yield "Size overflow", Case("RelativePositionBias", [floats(32, 4), *[scalar(HUGE, np.int64)] * 2], max_distance=128)
    yield "1 buckets do not fit", Case("RelativePositionBias", [floats(1, 4), *[scalar(2, np.int64)] * 2], max_distance=128)
    for groups in (0, 3):
        yield "groups", Case("GroupNorm", [floats(2, 4, 4, 8), floats(8), floats(8)], groups=groups, activation=0)
    point = scalar(1)
    yield "'Add' has 0 dimensions", Case("BiasSplitGelu", [point, point])
    yield "input 0 has no dimensions", Case("ComplexMul", [point, point])
    yield "'x0' has 0 dimensions", Case("MultiHeadAttention", [point] * 3, num_heads=1)
    yield "windows of size 5", Case("UnfoldTensor", [floats(2, 4)], size=5, open_shapes=False)
    yield "the two sides of a matrix disagree", Case("Inverse", [floats(2, 4)])
    yield "do not evenly share 2", Case("LinearAttention", [floats(1, 1, 8)] * 3, outputs=(0, 1), q_num_heads=2, kv_num_heads=3,
                                 update_rule="linear")
    yield "24 elements are not divisible by 7", Case("GatedRMSNorm", [floats(2, 24), floats(7), floats(2, 24)])


def refused():
    for group in (experts, tables, caches, layers):
        yield from group()


def odd():
    """What runs, within its memory: nothing at all, indices out of range, lengths that fit no cache."""
    x, router, first, second = floats(5, 8), floats(5, 3), floats(3, 6, 8), floats(3, 8, 6)
    for constants in ((), (2, 4)):
        for inputs in ([x[:0], router[:0], first, None, second], [x[:, :0], router, first[:, :, :0], None, second[:, :0]],
                       [x, router, first[:, :0], None, second[:, :, :0]], [x, router * np.nan, first, None, second]):
            yield Case("MoE", inputs, k=2, constants=constants)
    table, scales = bytes_of(10, 16), floats(10, 2)
    for inputs in ([table, ints([2 ** 63 - 1, -2 ** 63, -11, 10], np.int64), scales],
                   [table[:0], ints([0], np.int64), scales[:0]], [table[:, :0], ints([0], np.int64), scales[:, :0]]):
        yield Case("GatherBlockQuantized", inputs, block_size=16)
    rows, past = [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32)], [floats(2, 2, 6, 16)] * 2
    for lengths in ([100, 3], [-5, 3], [2 ** 31 - 1] * 2, [-2 ** 31] * 2):
        for bias in ([], [None] * 3 + [floats(1, 1, 1, 7)]):
            yield Case("GroupQueryAttention", [*rows, *past, ints(lengths), scalar(7, np.int32), *bias], outputs=(0, 1, 2),
                       num_heads=4, kv_num_heads=2, sliding_window_cache=1, local_window_size=3)
    yield Case("GroupQueryAttention", [*(part[:, :0] for part in rows), *past, ints([5, 5]), scalar(6, np.int32)],
               outputs=(0, 1, 2), num_heads=4, kv_num_heads=2)
    yield Case("Inverse", [np.zeros((3, 0, 0), np.float32)])
