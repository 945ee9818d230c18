# SPDX-License-Identifier: Apache-2.0
"""Elements by their indices: taken, written, added. Negative indices count from the end."""

from __future__ import annotations

from typing import Any, Protocol

from max.dtype import DType
from max.graph.dim import DimLike
from max.graph.ops._operands import (
    axis_of, cast_to, fail, index_tensor, ints, node, require_dtype, require_kind, require_rank, tensor,
    whole,
)  # fmt: skip
from max.graph.ops.general import rebind
from max.graph.ops.shaping import broadcast_to, reshape
from max.graph.value import TensorValue, TensorValueLike

__all__ = [
    "gather", "gather_nd", "masked_scatter", "scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul",
    "scatter_nd", "scatter_nd_add", "scatter_nd_max", "scatter_nd_min", "scatter_nd_mul",
]  # fmt: skip


class Scatter(Protocol):
    """A function that writes elements along an axis."""

    __name__: str

    def __call__(
        self, input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1
    ) -> TensorValue: ...


class ScatterND(Protocol):
    """A function that writes slices."""

    __name__: str

    def __call__(self, input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue: ...


_ALONG = """{summary}

    ``result[i][indices[i][j][k]][k]`` is what `updates[i][j][k]` is written to, for the axis 1 of three.

    Parameters
    ----------
    input : TensorValueLike
        {kind}, at least one dimension; it does not change.
    updates : TensorValueLike
        The type of `input`, the shape of `indices`.
    indices : TensorValueLike
        Whole numbers, as many dimensions as `input`.
    axis : int
        Along which dimension.

    Returns
    -------
    TensorValue
        The type and shape of `input`.

    Raises
    ------
    ValueError
        There is no such axis, or types or shapes do not fit. Indices outside of `input` end the run.
    """

_SLICES = """{summary}

    Parameters
    ----------
    input : TensorValueLike
        {kind}, at least one dimension; it does not change.
    updates : TensorValueLike
        The type of `input`, shape ``[..., *input.shape[depth:]]``.
    indices : TensorValueLike
        Whole numbers, shape ``[..., depth]``: where each slice is in the first `depth` dimensions.

    Returns
    -------
    TensorValue
        The type and shape of `input`.

    Raises
    ------
    ValueError
        Types or shapes do not fit. Indices outside of `input` end the run.
    """

_HOW = {
    "none": "any", "add": "number", "max": "number", "min": "number", "mul": "number",
}  # fmt: skip


def _operands(
    what: str, reduction: str, input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike
) -> tuple[TensorValue, TensorValue, TensorValue]:
    x = require_kind(what, "input", require_rank(what, "input", tensor(input), 1, at_least=True), _HOW[reduction])
    written = require_dtype(what, "updates", tensor(updates, x.dtype), x.dtype)
    return x, index_tensor(what, "indices", indices), written


def _scatter(name: str, reduction: str, summary: str) -> Scatter:
    def function(
        input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1
    ) -> TensorValue:
        operands = _operands(name, reduction, input, updates, indices)
        number = axis_of(name, axis, operands[0].rank)
        return node("ScatterElements", operands, axis=number, reduction=reduction)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _ALONG.format(summary=summary, kind=_kind(reduction))
    return function


def _scatter_nd(name: str, reduction: str, summary: str) -> ScatterND:
    def function(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue:
        x, places, written = _operands(name, reduction, input, updates, indices)
        return node("ScatterND", [x, cast_to(places, DType.int64), written], reduction=reduction)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _SLICES.format(summary=summary, kind=_kind(reduction))
    return function


def _kind(reduction: str) -> str:
    return "Elements of any type" if reduction == "none" else "Numbers"


scatter = _scatter("scatter", "none", "Writes elements along an axis.")
scatter_add = _scatter("scatter_add", "add", "Adds elements along an axis.")
scatter_max = _scatter("scatter_max", "max", "Writes elements along an axis where they are larger.")
scatter_min = _scatter("scatter_min", "min", "Writes elements along an axis where they are smaller.")
scatter_mul = _scatter("scatter_mul", "mul", "Multiplies elements along an axis.")
scatter_nd = _scatter_nd("scatter_nd", "none", "Writes slices.")
scatter_nd_add = _scatter_nd("scatter_nd_add", "add", "Adds slices.")
scatter_nd_max = _scatter_nd("scatter_nd_max", "max", "Writes slices where they are larger.")
scatter_nd_min = _scatter_nd("scatter_nd_min", "min", "Writes slices where they are smaller.")
scatter_nd_mul = _scatter_nd("scatter_nd_mul", "mul", "Multiplies slices.")


def gather(input: TensorValueLike, indices: TensorValueLike, axis: int = -1) -> TensorValue:
    """Slices of an axis by their indices.

    Parameters
    ----------
    input : TensorValueLike
        Elements of any type, at least one dimension.
    indices : TensorValueLike
        Whole numbers, any shape.
    axis : int
        Along which dimension.

    Returns
    -------
    TensorValue
        The type of `input`; the shape of `indices` stands for the axis.

    Raises
    ------
    ValueError
        There is no such axis, or the indices are not integers. Indices outside of `input` end the run.
    """
    x = tensor(input)
    number = axis_of("gather", axis, x.rank)
    return node("Gather", [x, index_tensor("gather", "indices", indices)], axis=number)


def gather_nd(input: TensorValueLike, indices: TensorValueLike, batch_dims: int = 0) -> TensorValue:
    """Slices by the indices of their first dimensions.

    Parameters
    ----------
    input : TensorValueLike
        Elements of any type, at least one dimension.
    indices : TensorValueLike
        Whole numbers, shape ``[*batch, ..., depth]``.
    batch_dims : int
        How many first dimensions both have in common.

    Returns
    -------
    TensorValue
        The type of `input`, shape ``[*batch, ..., *input.shape[batch_dims + depth:]]``.

    Raises
    ------
    ValueError
        Shapes do not fit, or the indices are not integers. Indices outside of `input` end the run.
    """
    x = require_rank("gather_nd", "input", tensor(input), 1, at_least=True)
    places = cast_to(index_tensor("gather_nd", "indices", indices), DType.int64)
    return node("GatherND", [x, places], batch_dims=whole(batch_dims, "gather_nd: batch_dims", 0))


def masked_scatter(
    input: TensorValueLike, mask: TensorValueLike, updates: TensorValueLike, out_dim: DimLike
) -> TensorValue:
    """Writes elements where a mask is true, in row-major order.

    Parameters
    ----------
    input : TensorValueLike
        Elements of any type, at least one dimension; it does not change.
    mask : TensorValueLike
        Truth values, a shape that can be broadcast to that of `input`.
    updates : TensorValueLike
        The type of `input`, at least as many elements as the mask has true ones.
    out_dim : int, str or Dim
        What the number of true ones, which only running tells, is called.

    Returns
    -------
    TensorValue
        The type and shape of `input`.

    Raises
    ------
    ValueError
        Types or shapes do not fit. Too few updates end the run.
    """
    x = require_rank("masked_scatter", "input", tensor(input), 1, at_least=True)
    chosen = require_kind("masked_scatter", "mask", tensor(mask), "bool")
    written = require_dtype("masked_scatter", "updates", tensor(updates, x.dtype), x.dtype)
    places = node("Transpose", [node("NonZero", [broadcast_to(chosen, x.shape)])], perm=[1, 0])
    places = rebind(places, [out_dim, x.rank])
    count: Any = node("Shape", [places], start=0, end=1)
    return node("ScatterND", [x, places, node("Slice", [reshape(written, [-1]), ints([0]), count])])
