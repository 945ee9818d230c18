# SPDX-License-Identifier: Apache-2.0
"""Shapes: other dimensions for the same elements, pieces, copies, borders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from max.dtype import DType
from max.graph.dim import Dim, DimLike, StaticDim
from max.graph.ops._operands import (
    axis_of, cast_to, dims, dims_tensor, fail, ints, node, nodes, product, promoted, require_kind,
    require_rank, tensor, whole, wrong_type,
)  # fmt: skip
from max.graph.ops.general import rebind
from max.graph.shape import Shape, ShapeLike
from max.graph.value import TensorValue, TensorValueLike

__all__ = [
    "broadcast_to", "cast", "chunk", "concat", "flatten", "pad", "permute", "repeat_interleave", "reshape", "split",
    "squeeze", "stack", "tile", "transpose", "unsqueeze",
]  # fmt: skip


def cast(x: TensorValueLike, dtype: DType) -> TensorValue:
    """The same elements as another type.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type.
    dtype : DType
        The type of the result. Floats become whole numbers by leaving out what stands behind the point.

    Returns
    -------
    TensorValue
        `dtype`, the shape of `x`.

    Raises
    ------
    TypeError
        `dtype` is not a DType.
    """
    if not isinstance(dtype, DType):
        wrong_type(f"cast: dtype must be a max.dtype.DType, not {dtype!r}")
    return cast_to(tensor(x), dtype)


def reshape(x: TensorValueLike, shape: ShapeLike) -> TensorValue:
    """The same elements, in row-major order, with other dimensions.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, any shape.
    shape : iterable of int, str or Dim
        The new dimensions; one of them may be -1, which stands for what is left over.

    Returns
    -------
    TensorValue
        The type of `x`, the shape `shape`.

    Raises
    ------
    ValueError
        The shape has another number of elements, or -1 twice.
    """
    wanted = dims(shape, "reshape: shape")
    operand = tensor(x)
    if [*wanted].count(Dim(-1)) > 1:
        fail(f"reshape: shape {wanted} has -1 more than once")
    wanted = _completed(operand.shape, wanted)
    return node("Reshape", [operand, dims_tensor(wanted)], allowzero=int(Dim(0) in wanted) or None)


def _completed(given: Shape, wanted: Shape) -> Shape:
    """The shape with a number or a name for -1, if it divides evenly."""
    if Dim(-1) not in wanted:
        return wanted
    rest = product(dim for dim in wanted if dim != Dim(-1))
    count = product(given)
    if rest == Dim(0):
        fail(f"reshape: -1 in {wanted} is not known: the other dimensions have no elements")
    left = count // rest
    if left * rest != count:
        if isinstance(count, StaticDim) and isinstance(rest, StaticDim):
            fail(f"reshape: {given} has {count} elements, which is not a multiple of {rest} as in {wanted}")
        return wanted
    return Shape(left if dim == Dim(-1) else dim for dim in wanted)


def flatten(x: TensorValueLike, start_dim: int = 0, end_dim: int = -1) -> TensorValue:
    """Joins neighbouring dimensions.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, at least one dimension.
    start_dim, end_dim : int
        The first and the last dimension that are joined.

    Returns
    -------
    TensorValue
        The type of `x`, one dimension for those.

    Raises
    ------
    ValueError
        There are no such dimensions, or the first is behind the last.
    """
    operand = require_rank("flatten", "x", tensor(x), 1, at_least=True)
    shape = operand.shape
    first, last = axis_of("flatten", start_dim, len(shape)), axis_of("flatten", end_dim, len(shape))
    if first > last:
        fail(f"flatten: start_dim {start_dim} lies behind end_dim {end_dim}")
    return reshape(operand, [*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :]])


def permute(x: TensorValueLike, dims: Sequence[int]) -> TensorValue:
    """Orders the dimensions anew.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type.
    dims : sequence of int
        Dimension i of the result is dimension ``dims[i]`` of `x`; each stands there once.

    Returns
    -------
    TensorValue
        The type of `x`.

    Raises
    ------
    ValueError
        A dimension is missing, or there twice.
    """
    operand = tensor(x)
    order = [axis_of("permute", axis, operand.rank) for axis in dims]
    if sorted(order) != [*range(operand.rank)]:
        fail(f"permute: dims {[*dims]} are not a permutation of {operand.rank} dimensions")
    return node("Transpose", [operand], perm=order) if order else operand


def transpose(x: TensorValueLike, axis_1: int, axis_2: int) -> TensorValue:
    """Exchanges two dimensions.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, at least one dimension.
    axis_1, axis_2 : int
        Which dimensions.

    Returns
    -------
    TensorValue
        The type of `x`.

    Raises
    ------
    ValueError
        There are no such dimensions.
    """
    operand = tensor(x)
    order = [*range(operand.rank)]
    first, second = (axis_of("transpose", axis, operand.rank) for axis in (axis_1, axis_2))
    order[first], order[second] = second, first
    return node("Transpose", [operand], perm=order)


def squeeze(x: TensorValueLike, axis: int) -> TensorValue:
    """Leaves out a dimension of 1.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, at least one dimension.
    axis : int
        Which dimension.

    Returns
    -------
    TensorValue
        The type of `x`, one dimension less.

    Raises
    ------
    ValueError
        There is no such dimension, or it is not 1.
    """
    operand = tensor(x)
    return node("Squeeze", [operand, ints([axis_of("squeeze", axis, operand.rank)])])


def unsqueeze(x: TensorValueLike, axis: int) -> TensorValue:
    """Inserts a dimension of 1.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type.
    axis : int
        Where the dimension is in the result.

    Returns
    -------
    TensorValue
        The type of `x`, one dimension more.

    Raises
    ------
    ValueError
        The result has no such dimension.
    """
    operand = tensor(x)
    return node("Unsqueeze", [operand, ints([axis_of("unsqueeze", axis, operand.rank + 1)])])


def _require_broadcast(given: Shape, wanted: Shape) -> None:
    for dim, target in zip(reversed(given), reversed(wanted)):
        if isinstance(dim, StaticDim) and isinstance(target, StaticDim) and dim != target and dim != Dim(1):
            fail(f"broadcast_to: {given} cannot become {wanted}: {dim} is neither 1 nor {target}")
    if len(given) > len(wanted):
        fail(f"broadcast_to: {given} has more dimensions than {wanted}")


def broadcast_to(x: TensorValueLike, shape: ShapeLike | TensorValue, out_dims: ShapeLike | None = None) -> TensorValue:
    """Repeats dimensions of 1, and adds some before, until the shape is another one.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type.
    shape : iterable of int, str or Dim, or TensorValue
        The shape of the result; a tensor holds int64.
    out_dims : iterable of int, str or Dim, optional
        The dimensions of the result if `shape` is a tensor.

    Returns
    -------
    TensorValue
        The type of `x`, the shape `shape`.

    Raises
    ------
    ValueError
        A dimension is neither 1 nor that of the result, or `out_dims` are missing.
    """
    operand = tensor(x)
    if isinstance(shape, TensorValue):
        if out_dims is None:
            fail("broadcast_to: out_dims are needed where shape is a tensor")
        sizes = cast_to(require_kind("broadcast_to", "shape", shape, "integer"), DType.int64)
        return rebind(node("Expand", [operand, sizes]), dims(out_dims, "broadcast_to: out_dims"))
    wanted = dims(shape, "broadcast_to: shape")
    _require_broadcast(operand.shape, wanted)
    return operand if operand.shape == wanted else node("Expand", [operand, dims_tensor(wanted)])


def concat(original_vals: Iterable[TensorValueLike], axis: int = 0) -> TensorValue:
    """Tensors behind each other along an axis.

    Parameters
    ----------
    original_vals : iterable of TensorValueLike
        At least one tensor; promoted to one type, equal in all other dimensions.
    axis : int
        Along which dimension.

    Returns
    -------
    TensorValue
        The common type; the axis has the sum of the sizes.

    Raises
    ------
    ValueError
        There is no tensor, no such axis, or other dimensions differ.
    """
    parts = promoted("concat", *_some(original_vals, "concat"))
    return node("Concat", parts, axis=axis_of("concat", axis, parts[0].rank))


def stack(values: Iterable[TensorValueLike], axis: int = 0) -> TensorValue:
    """Tensors behind each other along a new axis.

    Parameters
    ----------
    values : iterable of TensorValueLike
        At least one tensor; promoted to one type, of equal shapes.
    axis : int
        Where the new dimension is in the result.

    Returns
    -------
    TensorValue
        The common type; the new axis has the number of tensors.

    Raises
    ------
    ValueError
        There is no tensor, no such axis, or the shapes differ.
    """
    parts = promoted("stack", *_some(values, "stack"))
    number = axis_of("stack", axis, parts[0].rank + 1)
    if any(part.rank != parts[0].rank for part in parts):
        fail(f"stack: the shapes {', '.join(str(part.shape) for part in parts)} differ")
    return node("Concat", [node("Unsqueeze", [part, ints([number])]) for part in parts], axis=number)


def _some(values: Iterable[TensorValueLike], what: str) -> list[TensorValueLike]:
    if isinstance(values, TensorValue) or not isinstance(values, Iterable):
        wrong_type(f"{what} takes a sequence of tensors, not {values!r}")
    found = [*values]
    if not found:
        fail(f"{what} needs at least one tensor")
    return found


def split(x: TensorValueLike, split_sizes: Iterable[DimLike], axis: int = 0) -> list[TensorValue]:
    """Cuts a tensor into pieces along an axis.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, at least one dimension.
    split_sizes : iterable of int, str or Dim
        The sizes of the pieces, whose sum is the size of the axis.
    axis : int
        Along which dimension.

    Returns
    -------
    list of TensorValue
        The type of `x`.

    Raises
    ------
    ValueError
        There is no such axis, no size, or the sizes do not add up to the axis.
    """
    operand = tensor(x)
    number = axis_of("split", axis, operand.rank)
    sizes = dims(split_sizes, "split: split_sizes", limit=None)
    if not sizes:
        fail("split: split_sizes is empty")
    return nodes("Split", [operand, dims_tensor(sizes)], len(sizes), axis=number)


def chunk(x: TensorValueLike, chunks: int, axis: int = 0) -> list[TensorValue]:
    """Cuts a tensor into equal pieces along an axis.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type, at least one dimension.
    chunks : int
        How many pieces.
    axis : int
        Along which dimension.

    Returns
    -------
    list of TensorValue
        The type of `x`, `chunks` of them.

    Raises
    ------
    ValueError
        There is no such axis, or its size cannot be divided.
    """
    operand = tensor(x)
    count = whole(chunks, "chunk: chunks", 1)
    if count == 1 and operand.rank == 0:
        return [operand]
    size = operand.shape[axis_of("chunk", axis, operand.rank)]
    if (size // count) * count != size:
        fail(f"chunk: the size {size} of axis {axis} is not a multiple of {count}")
    return split(operand, [size // count] * count, axis)


_MODES = ("constant", "reflect", "edge", "wrap")


def pad(
    input: TensorValueLike,
    paddings: Iterable[int],
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: TensorValueLike = 0,
) -> TensorValue:
    """Adds elements before and after each dimension.

    Parameters
    ----------
    input : TensorValueLike
        Elements of any type.
    paddings : iterable of int
        How many before and after the first dimension, then the second, and so on.
    mode : str
        What they are: ``"constant"``: `value`; ``"reflect"``: those inside, mirrored at the last one; ``"edge"``: the
        last one; ``"wrap"``: those of the other end.
    value : TensorValueLike
        A number.

    Returns
    -------
    TensorValue
        The type of `input`.

    Raises
    ------
    ValueError
        The pads are not two for each dimension, one is negative, or `mode` is unknown.
    """
    operand = tensor(input)
    widths = [whole(width, "pad: paddings", 0) for width in paddings]
    if len(widths) != 2 * operand.rank:
        fail(f"pad: paddings has {len(widths)} numbers, {operand.rank} dimensions need {2 * operand.rank}")
    if mode not in _MODES:
        fail(f"pad: mode must be one of {', '.join(map(repr, _MODES))}, not {mode!r}")
    operands: list[Any] = [operand, ints([*widths[::2], *widths[1::2]])]
    if mode == "constant":
        operands.append(cast_to(tensor(value, operand.dtype), operand.dtype))
    return node("Pad", operands, mode=mode)


def tile(x: TensorValueLike, repeats: Iterable[DimLike]) -> TensorValue:
    """Copies of a tensor behind each other along each dimension.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type.
    repeats : iterable of int, str or Dim
        How many copies along each dimension.

    Returns
    -------
    TensorValue
        The type of `x`; the dimensions are multiplied.

    Raises
    ------
    ValueError
        There is not one number for each dimension, or one is negative.
    """
    operand = tensor(x)
    counts = dims(repeats, "tile: repeats")
    if len(counts) != operand.rank:
        fail(f"tile: repeats has {len(counts)} numbers, x has {operand.rank} dimensions")
    if any(count < 0 for count in counts.static_dims):
        fail(f"tile: repeats {counts} has a negative number")
    return node("Tile", [operand, dims_tensor(counts)]) if operand.rank else operand


def repeat_interleave(
    x: TensorValueLike, repeats: int | TensorValue, axis: int | None = None, out_dim: DimLike | None = None
) -> TensorValue:
    """Each element of an axis several times, behind itself.

    Parameters
    ----------
    x : TensorValueLike
        Elements of any type.
    repeats : int or TensorValue
        How many times; a tensor of one dimension has a whole number for each element, or one for all.
    axis : int, optional
        Along which dimension; without one, `x` is flattened.
    out_dim : int, str or Dim, optional
        The size of the axis in the result if `repeats` is a tensor.

    Returns
    -------
    TensorValue
        The type of `x`.

    Raises
    ------
    ValueError
        There is no such axis, `repeats` is negative or of another shape, or `out_dim` is missing.
    """
    operand = tensor(x)
    if axis is None:
        operand, axis = reshape(operand, [product(operand.shape)]), 0
    number = axis_of("repeat_interleave", axis, operand.rank)
    if isinstance(repeats, TensorValue):
        if out_dim is None:
            fail("repeat_interleave: out_dim is needed where repeats is a tensor")
        return _repeated(operand, repeats, number, Dim(out_dim))
    count = whole(repeats, "repeat_interleave: repeats", 0)
    shape = operand.shape
    wide = broadcast_to(unsqueeze(operand, number + 1), [*shape[: number + 1], count, *shape[number + 1 :]])
    return reshape(wide, [*shape[:number], shape[number] * count, *shape[number + 1 :]])


def _repeated(x: TensorValue, repeats: TensorValue, axis: int, out_dim: Dim) -> TensorValue:
    require_rank("repeat_interleave", "repeats", repeats, 1)
    shape = x.shape
    counts = cast_to(require_kind("repeat_interleave", "repeats", repeats, "integer"), DType.int64)
    ends = node("CumSum", [broadcast_to(counts, [shape[axis]]), tensor(0, DType.int64)])
    # An element of the result is where as many ends lie before or at its place as there are elements before its own.
    total = node("Slice", [ends, ints([-1]), ints([2**62])])
    zeros = node("Expand", [tensor(0, DType.int64), node("Add", [total, 1])])
    ones = node("Expand", [tensor(1, DType.int64), node("Shape", [ends])])
    starts = node("ScatterElements", [zeros, ends, ones], axis=0, reduction="add")
    places = node("CumSum", [starts, tensor(0, DType.int64)])
    made = node("Gather", [x, node("Slice", [places, ints([0]), ints([-1])])], axis=axis)
    return rebind(made, [*shape[:axis], out_dim, *shape[axis + 1 :]])
