# SPDX-License-Identifier: Apache-2.0
"""Reductions along an axis, which stays with the size 1, and what runs along one: sums, order, choices."""

from __future__ import annotations

from typing import Protocol

from max.dtype import DType
from max.graph.dim import DimLike
from max.graph.ops._operands import (
    axis_of, cast_to, dims_tensor, fail, ints, kind_text, node, nodes, promoted, require_kind,
    require_rank, tensor, whole,
)  # fmt: skip
from max.graph.ops.general import rebind
from max.graph.value import TensorValue, TensorValueLike

__all__ = [
    "argmax", "argmin", "argsort", "bottom_k", "cumsum", "logsoftmax", "max", "mean", "min", "nonzero", "prod",
    "softmax", "sum", "top_k",
]  # fmt: skip


class Reduction(Protocol):
    """A function of a tensor along an axis."""

    __name__: str

    def __call__(self, x: TensorValueLike, axis: int = -1) -> TensorValue: ...


_DOC = """{summary}

    Parameters
    ----------
    x : TensorValueLike
        {kind}, at least one dimension.
    axis : int
        Which dimension; negative ones count from the end.

    Returns
    -------
    TensorValue
        {result}.

    Raises
    ------
    ValueError
        There is no such axis, or the elements of `x` are not {kind}.
    """


def _along(name: str, operator: str, kind: str, summary: str, result: str, as_input: bool = False) -> Reduction:
    def function(x: TensorValueLike, axis: int = -1) -> TensorValue:
        operand = require_kind(name, "x", tensor(x), kind)
        return _reduced(name, operator, operand, axis, as_input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOC.format(summary=summary, kind=kind_text(kind), result=result)
    return function


def _reduced(name: str, operator: str, x: TensorValue, axis: int, as_input: bool = True) -> TensorValue:
    number = axis_of(name, axis, x.rank)
    return node(operator, [x, ints([number])], keepdims=1) if as_input else node(operator, [x], axis=number)


_KEPT = "The type, and the shape of `x` with 1 for the axis"
_INDICES = "int64, the shape of `x` with 1 for the axis"
_SAME = "The type and shape of `x`"

argmax = _along("argmax", "ArgMax", "number", "Indices of the largest elements, the first of equal ones.", _INDICES)
argmin = _along("argmin", "ArgMin", "number", "Indices of the smallest elements, the first of equal ones.", _INDICES)
mean = _along("mean", "ReduceMean", "number", "Arithmetic means.", _KEPT, True)
prod = _along("prod", "ReduceProd", "number", "Products.", _KEPT, True)
sum = _along("sum", "ReduceSum", "number", "Sums.", _KEPT, True)
softmax = _along("softmax", "Softmax", "float", "exp(x) / sum(exp(x)): positive numbers whose sum is 1.", _SAME)
logsoftmax = _along("logsoftmax", "LogSoftmax", "float", "Logarithms of the softmax.", _SAME)


def _extreme(name: str, x: TensorValueLike, y: TensorValueLike | None, axis: int | None, operator: str) -> TensorValue:
    if y is not None:
        if axis is not None:
            fail(f"{name}: axis is for one tensor, not for two")
        left, right = promoted(name, x, y)
        return node(operator, [require_kind(name, "x", left, "number"), right])
    operand = require_kind(name, "x", tensor(x), "number")
    return _reduced(name, f"Reduce{operator}", operand, -1 if axis is None else axis)


def max(x: TensorValueLike, y: TensorValueLike | None = None, /, axis: int | None = None) -> TensorValue:
    """The larger of two elements, or the largest along an axis.

    Parameters
    ----------
    x : TensorValueLike
        Numbers, any shape.
    y : TensorValueLike, optional
        Numbers; both are promoted to one type and broadcast to one shape.
    axis : int, optional
        Without `y`: which dimension; the last by default.

    Returns
    -------
    TensorValue
        With `y`: the common type and shape. Without: the type, and the shape of `x` with 1 for the axis.

    Raises
    ------
    ValueError
        There is no such axis, both `y` and `axis` are given, or the operands cannot be promoted or broadcast.
    """
    return _extreme("max", x, y, axis, "Max")


def min(x: TensorValueLike, y: TensorValueLike | None = None, /, axis: int | None = None) -> TensorValue:
    """The smaller of two elements, or the smallest along an axis. As `max`."""
    return _extreme("min", x, y, axis, "Min")


def cumsum(x: TensorValueLike, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> TensorValue:
    """Sums of each element and those before it along an axis.

    Parameters
    ----------
    x : TensorValueLike
        Numbers, at least one dimension.
    axis : int
        Which dimension.
    exclusive : bool
        Whether the element itself is left out.
    reverse : bool
        Whether it is the elements behind it, in place of those before.

    Returns
    -------
    TensorValue
        The type and shape of `x`.

    Raises
    ------
    ValueError
        There is no such axis, or the elements are not numbers.
    """
    operand = require_kind("cumsum", "x", tensor(x), "number")
    number = axis_of("cumsum", axis, operand.rank)
    return node("CumSum", [operand, _scalar(number)], exclusive=int(exclusive), reverse=int(reverse))


def _scalar(number: int) -> TensorValue:
    return tensor(number, DType.int64)


def _selected(
    name: str, input: TensorValueLike, k: DimLike | TensorValue, axis: int, largest: bool
) -> tuple[TensorValue, TensorValue]:
    x = require_kind(name, "input", tensor(input), "number")
    number = axis_of(name, axis, x.rank)
    if isinstance(k, TensorValue):
        count = node("Reshape", [cast_to(require_kind(name, "k", k, "integer"), DType.int64), ints([1])])
    else:
        if isinstance(k, int):
            whole(k, f"{name}: k", 0)
        count = dims_tensor([k])
    values, indices = nodes("TopK", [x, count], 2, axis=number, largest=int(largest), sorted=1)
    return values, indices


def top_k(input: TensorValueLike, k: DimLike | TensorValue, axis: int = -1) -> tuple[TensorValue, TensorValue]:
    """The `k` largest elements along an axis, largest first.

    Parameters
    ----------
    input : TensorValueLike
        Numbers, at least one dimension.
    k : int, Dim or TensorValue
        How many, at most the size of the axis; a tensor has one whole number.
    axis : int
        Which dimension.

    Returns
    -------
    values : TensorValue
        The type of `input`, the shape with `k` for the axis.
    indices : TensorValue
        Where they are along the axis, int64; of equal elements the first comes first.

    Raises
    ------
    ValueError
        There is no such axis, `k` is negative or too large, or the elements are not numbers.
    """
    return _selected("top_k", input, k, axis, True)


def bottom_k(input: TensorValueLike, k: DimLike | TensorValue, axis: int = -1) -> tuple[TensorValue, TensorValue]:
    """The `k` smallest elements along an axis, smallest first. As `top_k`."""
    return _selected("bottom_k", input, k, axis, False)


def argsort(x: TensorValueLike, ascending: bool = True, axis: int = -1) -> TensorValue:
    """Indices that sort a tensor along an axis; equal elements stay in their order.

    Parameters
    ----------
    x : TensorValueLike
        Numbers, at least one dimension.
    ascending : bool
        Whether the smallest comes first.
    axis : int
        Which dimension.

    Returns
    -------
    TensorValue
        int64, the shape of `x`.

    Raises
    ------
    ValueError
        There is no such axis, or the elements are not numbers.
    """
    operand = tensor(x)
    number = axis_of("argsort", axis, operand.rank)
    return _selected("argsort", operand, operand.shape[number], number, not ascending)[1]


def nonzero(x: TensorValueLike, out_dim: DimLike) -> TensorValue:
    """Indices of the elements that are not zero, in row-major order.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, at least one dimension.
    out_dim : int, str or Dim
        What the number of indices, which only running tells, is called.

    Returns
    -------
    TensorValue
        int64, shape ``[out_dim, rank]``.

    Raises
    ------
    ValueError
        `x` is a scalar.
    """
    operand = require_rank("nonzero", "x", tensor(x), 1, at_least=True)
    found = node("Transpose", [node("NonZero", [operand])], perm=[1, 0])
    return rebind(found, [out_dim, operand.rank])
