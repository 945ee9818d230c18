# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms."""

from __future__ import annotations

import enum

from max.dtype import DType
from max.graph.dim import Dim, StaticDim
from max.graph.ops._operands import axis_of, fail, ints, node, require_kind, tensor, whole, wrong_type
from max.graph.ops.elementwise import sqrt
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["Normalization", "irfft"]


class Normalization(enum.Enum):
    """What the result of an inverse transform of length n is divided by: n, its root, or 1."""

    BACKWARD = "backward"
    ORTHO = "ortho"
    FORWARD = "forward"


def irfft(
    input_tensor: TensorValueLike,
    n: int | None = None,
    axis: int = -1,
    normalization: Normalization | str = Normalization.BACKWARD,
    input_is_complex: bool = False,
    buffer_size_mb: int = 512,
) -> TensorValue:
    """The real signal whose one-sided Fourier transform is given.

    Parameters
    ----------
    input_tensor : TensorValueLike
        Floating-point numbers: real parts, or pairs of real and imaginary parts in a last dimension of 2.
    n : int, optional
        Length of the signal; ``2 * (size - 1)`` by default. Frequencies that are missing are zero.
    axis : int
        Along which dimension, that of the pairs not counted.
    normalization : Normalization or str
        What the result is divided by.
    input_is_complex : bool
        Whether the last dimension holds pairs.
    buffer_size_mb : int
        Not used.

    Returns
    -------
    TensorValue
        The type of `input_tensor`, the shape without that of the pairs, `n` for the axis.

    Raises
    ------
    ValueError
        There is no such axis, `n` is less than 1, the axis too small, or the elements are not floating-point numbers.
    """
    if not isinstance(normalization, (Normalization, str)):
        wrong_type(f"irfft: normalization must be a Normalization, not {normalization!r}")
    if normalization not in (*Normalization, *(each.value for each in Normalization)):
        fail(f"irfft: normalization must be backward, ortho or forward, not {normalization!r}")
    pairs = _pairs(tensor(input_tensor), input_is_complex)
    number = axis_of("irfft", axis, pairs.rank - 1)
    inputs = [pairs, None if n is None else tensor(whole(n, "irfft: n", 1), DType.int64), tensor(number, DType.int64)]
    length = _length(pairs.shape[number], n)
    made = node("Squeeze", [node("DFT", inputs, inverse=1, onesided=1), ints([pairs.rank - 1])])
    if Normalization(normalization) is Normalization.BACKWARD:
        return made
    factor = tensor(length, made.dtype)
    return node("Mul", [made, factor if Normalization(normalization) is Normalization.FORWARD else sqrt(factor)])


def _pairs(x: TensorValue, is_complex: bool) -> TensorValue:
    require_kind("irfft", "input_tensor", x, "float")
    if not is_complex:
        wide = node("Unsqueeze", [x, ints([x.rank])])
        return node("Pad", [wide, ints([0] * (2 * x.rank + 1) + [1])])
    if x.rank < 2 or (isinstance(x.shape[-1], StaticDim) and x.shape[-1] != Dim(2)):
        fail(f"irfft: complex numbers have a last dimension of 2, input_tensor has the shape {x.shape}")
    return x


def _length(size: Dim, n: int | None) -> Dim:
    if n is None and isinstance(size, StaticDim) and size < 2:
        fail(f"irfft: an axis of size {size} has no signal; n is needed")
    return (size - 1) * 2 if n is None else Dim(n)
