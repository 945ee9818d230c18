# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors, and parts of matrices."""

from __future__ import annotations

from max.dtype import DType
from max.graph.ops._operands import (
    cast_to, fail, ints, node, promoted, require_kind, require_rank, tensor, whole,
)  # fmt: skip
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["band_part", "matmul", "outer"]


def matmul(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """Products of matrices, also ``lhs @ rhs``.

    Parameters
    ----------
    lhs : TensorValueLike
        Numbers, shape ``[..., m, k]``, or ``[k]`` for a row.
    rhs : TensorValueLike
        Numbers, shape ``[..., k, n]``, or ``[k]`` for a column. The dimensions before are broadcast.

    Returns
    -------
    TensorValue
        The common type, shape ``[..., m, n]``, without that of a row or column.

    Raises
    ------
    ValueError
        An operand is a scalar, the inner dimensions differ, or no type holds both.
    """
    left, right = promoted("matmul", lhs, rhs)
    for name, operand in (("lhs", left), ("rhs", right)):
        require_kind("matmul", name, require_rank("matmul", name, operand, 1, at_least=True), "number")
    return node("MatMul", [left, right])


def outer(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """Products of each element of one vector with each of another.

    Parameters
    ----------
    lhs, rhs : TensorValueLike
        Numbers, shapes ``[m]`` and ``[n]``.

    Returns
    -------
    TensorValue
        The common type, shape ``[m, n]``.

    Raises
    ------
    ValueError
        An operand is not a vector, or no type holds both.
    """
    left, right = promoted("outer", lhs, rhs)
    for name, operand in (("lhs", left), ("rhs", right)):
        require_kind("outer", name, require_rank("outer", name, operand, 1), "number")
    return node("Mul", [node("Unsqueeze", [left, ints([1])]), right])


def _band(x: TensorValue, num_lower: int | None, num_upper: int | None) -> TensorValue:
    for count, upper in ((num_lower, 1), (num_upper, 0)):
        if count is not None:
            x = node("Trilu", [x, tensor(-count if upper else count, DType.int64)], upper=upper)
    return x


def band_part(
    x: TensorValueLike, num_lower: int | None = None, num_upper: int | None = None, exclude: bool = False
) -> TensorValue:
    """Keeps a band of diagonals of matrices; the other elements become zero.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, shape ``[..., m, n]``.
    num_lower, num_upper : int, optional
        How many diagonals below and above the main one are in the band; all without a number, or with -1.
    exclude : bool
        Whether it is the band that becomes zero.

    Returns
    -------
    TensorValue
        The type and shape of `x`.

    Raises
    ------
    ValueError
        `x` has less than two dimensions, or a number is below -1.
    """
    operand = require_rank("band_part", "x", tensor(x), 2, at_least=True)
    lower, upper = (
        None if count is None or whole(count, f"band_part: {name}", -1) == -1 else whole(count, name)
        for name, count in (("num_lower", num_lower), ("num_upper", num_upper))
    )
    if not exclude:
        return _band(operand, lower, upper)
    if operand.dtype is DType.string:
        fail("band_part: strings are not excluded")
    matrix = node("Shape", [operand], start=-2)
    band = _band(node("Expand", [tensor(True), matrix]), lower, upper)
    return node("Where", [band, tensor(0, operand.dtype) if operand.dtype is not DType.bool else False, operand])
