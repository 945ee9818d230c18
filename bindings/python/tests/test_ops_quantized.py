# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops.qmatmul and dequantize, compared with the definition of GGUF's blocks, number by number."""

import numpy as np
import pytest
from operators import build, numbers, run

from max.dtype import DType
from max.engine import InferenceSession
from max.graph import Graph, TensorType, Weight, ops
from max.graph.quantization import BlockParameters, QuantizationConfig, QuantizationEncoding

ENCODINGS = [QuantizationEncoding.Q4_0, QuantizationEncoding.Q4_K, QuantizationEncoding.Q5_K, QuantizationEncoding.Q6_K]


def half(block, at):
    return float(block[at : at + 2].copy().view(np.float16)[0])


def scale_and_offset(packed, i):
    if i < 4:
        return packed[i] & 63, packed[i + 4] & 63
    return (packed[i + 4] & 15) | (packed[i - 4] >> 6 << 4), (packed[i + 4] >> 4) | (packed[i] >> 6 << 4)


def number_of(encoding, block, i):
    """Number i of a block."""
    if encoding is QuantizationEncoding.Q4_0:
        byte = int(block[2 + i % 16])
        return half(block, 0) * ((byte >> 4 if i >= 16 else byte & 15) - 8)
    if encoding is QuantizationEncoding.Q6_K:
        part, rest = divmod(i, 128)
        low = int(block[part * 64 + rest % 64]) >> (4 if rest >= 64 else 0) & 15
        high = int(block[128 + part * 32 + rest % 32]) >> (2 * (rest // 32)) & 3
        return half(block, 208) * int(block[192 + i // 16].view(np.int8)) * ((low | high << 4) - 32)
    group, place = divmod(i, 32)
    scale, offset = map(int, scale_and_offset(block[4:16], group))
    first = 48 if encoding is QuantizationEncoding.Q5_K else 16
    value = int(block[first + group // 2 * 32 + place]) >> (4 if group % 2 else 0) & 15
    if encoding is QuantizationEncoding.Q5_K:
        value += (int(block[16 + place]) >> group & 1) << 4
    return half(block, 0) * scale * value - half(block, 2) * offset


def weights_of(encoding, rows, blocks, seed=0):
    """Random blocks, with what they stand for."""
    size, count = encoding.block_size, encoding.elements_per_block
    made = np.random.default_rng(seed).integers(0, 256, (rows, blocks, size)).astype(np.uint8)
    halves = {"Q4_0": [0], "Q6_K": [208]}.get(encoding.value, [0, 2])
    for at in halves:
        scales = numbers(seed + at, rows, blocks, dtype=np.float16, low=-0.1, high=0.1)
        made[..., at : at + 2] = scales[..., None].view(np.uint8)
    exact = [[number_of(encoding, block, i) for block in row for i in range(count)] for row in made]
    return made.reshape(rows, -1), np.array(exact)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
def test_dequantize(encoding):
    packed, exact = weights_of(encoding, 3, 2)
    for call, arrays in (
        (lambda: ops.dequantize(encoding, packed), []),
        (lambda w: ops.dequantize(encoding, w), [packed]),
    ):
        made = run(call, *arrays)[0]
        assert made.dtype == np.float32 and made.shape == exact.shape
        np.testing.assert_allclose(made, exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_qmatmul(encoding, dtype, lead):
    packed, exact = weights_of(encoding, 5, 2, seed=1)
    x = numbers(2, *lead, exact.shape[1], dtype=dtype)
    want = x.astype(np.float64) @ exact.T
    scale = abs(x.astype(np.float64)) @ abs(exact.T)
    for call, arrays in (
        (lambda x: ops.qmatmul(encoding, None, x, packed), [x]),
        (lambda x, w: ops.qmatmul(encoding, None, x, w), [x, packed]),
    ):
        made = run(call, *arrays)[0]
        assert made.dtype == dtype and made.shape == want.shape
        np.testing.assert_allclose(
            made.astype(np.float64), want, rtol=0, atol=(2e-3 if dtype is np.float16 else 1e-6) * scale.max()
        )


def test_weights_that_are_given_at_load():
    encoding = QuantizationEncoding.Q4_0
    packed, exact = weights_of(encoding, 4, 3)
    weight = Weight("w", DType.uint8, packed.shape)
    graph = Graph("q", lambda x: ops.qmatmul(encoding, None, x, weight), [TensorType(DType.float32, ["n", 96])])
    x = numbers(1, 2, 96)
    made = InferenceSession().load(graph, weights_registry={"w": packed})(x)[0].to_numpy()
    np.testing.assert_allclose(made, x @ exact.T, rtol=1e-4, atol=1e-4)
    assert graph.output_types[0].shape == ["n", 4]


def test_encodings():
    assert QuantizationEncoding.Q4_K.block_parameters == BlockParameters(256, 144)
    assert QuantizationEncoding("Q6_K").is_gguf and QuantizationEncoding.Q6_K.name == str(QuantizationEncoding.Q6_K)
    assert not QuantizationEncoding.GPTQ.is_gguf
    assert QuantizationConfig("gptq", 4, 128).sym is False
    with pytest.raises(ValueError, match="GPTQ has no blocks"):
        QuantizationEncoding.GPTQ.block_size  # noqa: B018


X, PACKED = numbers(0, 2, 32), weights_of(QuantizationEncoding.Q4_0, 3, 1)[0]
Q = QuantizationEncoding.Q4_0


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: ops.qmatmul("Q4_0", None, x, PACKED), TypeError, "qmatmul: encoding must be a QuantizationEncoding, not 'Q4_0'"),
        (lambda x: ops.qmatmul(Q, None, x), TypeError, "one tensor, 0 are given"),
        (lambda x: ops.qmatmul(Q, None, x, PACKED, PACKED), TypeError, "one tensor, 2 are given"),
        (lambda x: ops.qmatmul(Q, None, x, PACKED[:, 1:]), ValueError, "rows of 17 bytes are not whole blocks of 18"),
        (lambda x: ops.qmatmul(Q, None, x, PACKED.astype(np.int32)), ValueError, "the elements of weights must be .*, not int32"),
        (lambda x: ops.qmatmul(Q, None, x, PACKED[0]), ValueError, "weights must have"),
        (lambda x: ops.qmatmul(Q, None, ops.flatten(x), PACKED), ValueError, "the weights are rows of 32"),
        (lambda x: ops.qmatmul(Q, None, x > 0, PACKED), ValueError, "the elements of lhs must be .*, not bool"),
        (lambda x: ops.qmatmul(QuantizationEncoding.Q6_K, None, x, PACKED), ValueError, "not whole blocks of 210"),
        (lambda x: ops.dequantize(QuantizationEncoding.GPTQ, PACKED), NotImplementedError, "GPTQ are not supported"),
        (lambda x: ops.dequantize(None, PACKED), TypeError, "dequantize: encoding must be a QuantizationEncoding, not None"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=rf"{message}.*test_ops_quantized.py:\d+"):
        build(call, X)
