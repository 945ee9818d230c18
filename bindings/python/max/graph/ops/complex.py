# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as pairs of real ones, which are the last dimension."""

from __future__ import annotations

from max.graph.dim import Dim, StaticDim
from max.graph.ops._operands import fail, ints, node, promoted, require_kind, require_rank, tensor
from max.graph.ops.shaping import reshape
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["as_interleaved_complex", "mul"]


def as_interleaved_complex(x: TensorValueLike) -> TensorValue:
    """Pairs of neighbours in the last dimension, as real and imaginary parts.

    Parameters
    ----------
    x : TensorValueLike
        Floating-point numbers, shape ``[..., 2 * n]``.

    Returns
    -------
    TensorValue
        The type of `x`, shape ``[..., n, 2]``.

    Raises
    ------
    ValueError
        The last dimension is odd, or the elements are not floating-point numbers.
    """
    what = "as_interleaved_complex"
    operand = require_kind(what, "x", require_rank(what, "x", tensor(x), 1, at_least=True), "float")
    *others, last = operand.shape
    if isinstance(last, StaticDim) and int(last) % 2:
        fail(f"as_interleaved_complex: the last dimension of {operand.shape} is not even")
    return reshape(operand, [*others, -1, 2])


def mul(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """Products of complex numbers.

    Parameters
    ----------
    lhs, rhs : TensorValueLike
        Floating-point numbers, shape ``[..., 2]``; the dimensions before are broadcast.

    Returns
    -------
    TensorValue
        The common type, shape ``[..., 2]``.

    Raises
    ------
    ValueError
        The last dimension is not 2, or the shapes cannot be broadcast.
    """
    left, right = promoted("complex.mul", lhs, rhs)
    (a, b), (c, d) = _parts("lhs", left), _parts("rhs", right)
    real = node("Sub", [node("Mul", [a, c]), node("Mul", [b, d])])
    imaginary = node("Add", [node("Mul", [a, d]), node("Mul", [b, c])])
    return node("Concat", [real, imaginary], axis=-1)


def _parts(name: str, x: TensorValue) -> tuple[TensorValue, TensorValue]:
    require_kind("complex.mul", name, require_rank("complex.mul", name, x, 1, at_least=True), "float")
    if isinstance(x.shape[-1], StaticDim) and x.shape[-1] != Dim(2):
        fail(f"complex.mul: {name} has the shape {x.shape}; the last dimension is that of real and imaginary parts, 2")
    real, imaginary = (node("Slice", [x, ints([i]), ints([i + 1]), ints([-1])]) for i in (0, 1))
    return real, imaginary
