# SPDX-License-Identifier: Apache-2.0
"""Products with weights of few bits, in the blocks of `max.graph.quantization`.

What only depends on the weights is computed when the model is loaded."""

from __future__ import annotations

from max.dtype import DType
from max.graph._source import located
from max.graph.dim import StaticDim
from max.graph.ops._operands import (
    cast_to, fail, ints, node, require_dtype, require_kind, require_rank, tensor, wrong_type,
)  # fmt: skip
from max.graph.quantization import QuantizationConfig, QuantizationEncoding
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["dequantize", "qmatmul"]

_SMALLEST_BLOCK = 32


def _encoding(what: str, encoding: object) -> QuantizationEncoding:
    if not isinstance(encoding, QuantizationEncoding):
        wrong_type(f"{what}: encoding must be a QuantizationEncoding, not {encoding!r}")
    if not encoding.is_gguf:
        raise located(NotImplementedError(f"{what}: weights in {encoding.value} are not supported; GGUF's are"))
    return encoding


def _blocks(what: str, encoding: QuantizationEncoding, weights: TensorValueLike) -> tuple[TensorValue, int, int]:
    """The bytes as [rows, blocks, bytes of a block], with the first two numbers."""
    x = require_dtype(what, "weights", tensor(weights), DType.uint8)
    shape = require_rank(what, "weights", x, 2).shape
    rows, width = shape
    if not isinstance(rows, StaticDim) or not isinstance(width, StaticDim):
        fail(f"{what}: the weights {shape} must have static sizes")
    count, rest = divmod(int(width), encoding.block_size)
    if rest:
        fail(f"{what}: rows of {width} bytes are not whole blocks of {encoding.block_size} bytes of {encoding.value}")
    return node("Reshape", [x, ints([int(rows), count, encoding.block_size])]), int(rows), count


def _cut(x: TensorValue, first: int, last: int) -> TensorValue:
    return node("Slice", [x, ints([first]), ints([last]), ints([-1])])


def _shaped(x: TensorValue, *sizes: int) -> TensorValue:
    """Blocks divided further: the first two dimensions stay."""
    return node("Reshape", [x, ints([0, 0, *sizes])])


def _and(x: TensorValue, mask: int) -> TensorValue:
    return node("BitwiseAnd", [x, tensor(mask, DType.uint8)])


def _or(x: TensorValue, y: TensorValue) -> TensorValue:
    return node("BitwiseOr", [x, y])


def _right(x: TensorValue, bits: int) -> TensorValue:
    return node("BitShift", [x, tensor(bits, DType.uint8)], direction="RIGHT") if bits else x


def _left(x: TensorValue, bits: int) -> TensorValue:
    return node("BitShift", [x, tensor(bits, DType.uint8)], direction="LEFT")


def _joined(*parts: TensorValue) -> TensorValue:
    return node("Concat", parts, axis=-1)


def _halves(x: TensorValue) -> TensorValue:
    """The numbers in the low halves of the bytes, then those in the high ones."""
    return _joined(_and(x, 15), _right(x, 4))


def _real(x: TensorValue) -> TensorValue:
    return cast_to(x, DType.float32)


def _half_float(x: TensorValue, at: int) -> TensorValue:
    """A float16 of two bytes, low one first."""
    low, high = (cast_to(_cut(x, i, i + 1), DType.uint16) for i in (at, at + 1))
    bits = node("Add", [node("Mul", [high, tensor(256, DType.uint16)]), low])
    return _real(node("BitCast", [bits], to=DType.float16))


def _scales_and_offsets(x: TensorValue) -> tuple[TensorValue, TensorValue]:
    """Eight of each, of 6 bits, in the 12 bytes of Q4_K and Q5_K."""
    first, second, rest = (_cut(x, i, i + 4) for i in (0, 4, 8))
    scales = _joined(_and(first, 63), _or(_and(rest, 15), _left(_right(first, 6), 4)))
    offsets = _joined(_and(second, 63), _or(_right(rest, 4), _left(_right(second, 6), 4)))
    return _real(scales), _real(offsets)


def _fine_blocks(x: TensorValue, numbers: TensorValue) -> TensorValue:
    """Eight blocks of 32: scale * number - offset, both of which have scales of their own."""
    scales, offsets = _scales_and_offsets(_cut(x, 4, 16))
    scale = node("Mul", [scales, _half_float(x, 0)])
    offset = node("Mul", [offsets, _half_float(x, 2)])
    scaled = node("Mul", [_shaped(numbers, 8, 32), _shaped(scale, 8, 1)])
    return _shaped(node("Sub", [scaled, _shaped(offset, 8, 1)]), 256)


def _q4_0(x: TensorValue) -> TensorValue:
    numbers = node("Sub", [_real(_halves(_cut(x, 2, 18))), 8])
    return node("Mul", [numbers, _half_float(x, 0)])


def _q4_k(x: TensorValue) -> TensorValue:
    return _fine_blocks(x, _real(_halves(_shaped(_cut(x, 16, 144), 4, 32))))


def _q5_k(x: TensorValue) -> TensorValue:
    low = _shaped(_halves(_shaped(_cut(x, 48, 176), 4, 32)), 8, 32)
    bits = _shaped(_cut(x, 16, 48), 1, 32)
    planes = [_left(_and(_right(bits, i), 1), 4) for i in range(8)]
    return _fine_blocks(x, _real(_or(low, node("Concat", planes, axis=-2))))


def _q6_k(x: TensorValue) -> TensorValue:
    low, high = _shaped(_cut(x, 0, 128), 2, 64), _shaped(_cut(x, 128, 192), 2, 32)
    upper = _joined(*(_left(_and(_right(high, shift), 3), 4) for shift in (0, 2, 4, 6)))
    numbers = node("Sub", [_real(_or(_halves(low), upper)), 32])
    scales = _real(node("BitCast", [_cut(x, 192, 208)], to=DType.int8))
    scale = node("Mul", [scales, _half_float(x, 208)])
    return _shaped(node("Mul", [_shaped(numbers, 16, 16), _shaped(scale, 16, 1)]), 256)


_DECODERS = {
    QuantizationEncoding.Q4_0: _q4_0,
    QuantizationEncoding.Q4_K: _q4_k,
    QuantizationEncoding.Q5_K: _q5_k,
    QuantizationEncoding.Q6_K: _q6_k,
}


def dequantize(encoding: QuantizationEncoding, quantized: TensorValueLike) -> TensorValue:
    """The numbers that blocks stand for.

    Parameters
    ----------
    encoding : QuantizationEncoding
        One of GGUF's.
    quantized : TensorValueLike
        uint8, shape ``[rows, bytes]``, both numbers; whole blocks.

    Returns
    -------
    TensorValue
        float32, shape ``[rows, bytes / block_size * elements_per_block]``.

    Raises
    ------
    ValueError
        The bytes are not whole blocks, or have another type.
    TypeError
        `encoding` is not a QuantizationEncoding.
    NotImplementedError
        GGUF has no such encoding.
    """
    blocks, rows, count = _blocks("dequantize", _encoding("dequantize", encoding), quantized)
    return node("Reshape", [_DECODERS[encoding](blocks), ints([rows, count * encoding.elements_per_block])])


def _product_of_q4_0(x: TensorValue, blocks: TensorValue, rows: int, count: int) -> TensorValue:
    # MatMulNBits has neighbours in a byte, and also -8.
    pairs = _shaped(_halves(_cut(blocks, 2, 18)), 16, 2)
    packed = _shaped(_or(_cut(pairs, 0, 1), _left(_cut(pairs, 1, 2), 4)), 16)
    scales = node("Reshape", [_half_float(blocks, 0), ints([rows, count])])
    sizes = {"K": count * _SMALLEST_BLOCK, "N": rows, "bits": 4, "block_size": _SMALLEST_BLOCK}
    return node("MatMulNBits", [x, packed, scales], domain="com.microsoft", **sizes)


def qmatmul(
    encoding: QuantizationEncoding, config: QuantizationConfig | None, lhs: TensorValueLike, *rhs: TensorValueLike
) -> TensorValue:
    """Products of numbers with the transpose of weights in blocks.

    Parameters
    ----------
    encoding : QuantizationEncoding
        One of GGUF's.
    config : QuantizationConfig or None
        Not used by these encodings.
    lhs : TensorValueLike
        Floating-point numbers, shape ``[..., k]``.
    *rhs : TensorValueLike
        The weights: one tensor of uint8, shape ``[n, bytes of k numbers]``.

    Returns
    -------
    TensorValue
        The type of `lhs`, shape ``[..., n]``.

    Raises
    ------
    ValueError
        The weights are not whole blocks, or their numbers are not `k`.
    TypeError
        `encoding` is not a QuantizationEncoding, or the weights are not one tensor.
    NotImplementedError
        GGUF has no such encoding.
    """
    _encoding("qmatmul", encoding)
    if len(rhs) != 1:
        wrong_type(f"qmatmul: weights in {encoding.value} are one tensor, {len(rhs)} are given")
    x = require_kind("qmatmul", "lhs", require_rank("qmatmul", "lhs", tensor(lhs), 1, at_least=True), "float")
    blocks, rows, count = _blocks("qmatmul", encoding, rhs[0])
    inner = count * encoding.elements_per_block
    last = x.shape[-1]
    if isinstance(last, StaticDim) and int(last) != inner:
        fail(f"qmatmul: lhs has the shape {x.shape}, the weights are rows of {inner}")
    if encoding is QuantizationEncoding.Q4_0:
        return cast_to(_product_of_q4_0(_real(x), blocks, rows, count), x.dtype)
    weights = node("Reshape", [_DECODERS[encoding](blocks), ints([rows, inner])])
    return cast_to(node("MatMul", [_real(x), node("Transpose", [weights], perm=[1, 0])]), x.dtype)
