# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pooling on images and volumes, channels last unless told otherwise."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from max.graph.ops._operands import (
    cast_to, fail, node, promoted, require_kind, require_rank, several, tensor, whole, wrong_type,
)  # fmt: skip
from max.graph.value import TensorValue, TensorValueLike

__all__ = [
    "ConvInputLayout", "FilterLayout", "avg_pool2d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "max_pool2d",
]  # fmt: skip


class ConvInputLayout(enum.Enum):
    """How images lie: N the batch, C channels, H rows, W columns; volumes have D slices before the rows."""

    NHWC = "NHWC"
    NCHW = "NCHW"


class FilterLayout(enum.Enum):
    """How filters lie: Q slices, R rows, S columns, C input channels of a group, F output channels.

    In transposed convolutions C are the output channels and F the input channels."""

    RSCF = "RSCF"
    QRSCF = "QRSCF"
    FCRS = "FCRS"
    FCQRS = "FCQRS"


def _channels_first(x: TensorValue, layout: ConvInputLayout) -> TensorValue:
    if layout is ConvInputLayout.NCHW:
        return x
    return node("Transpose", [x], perm=[0, x.rank - 1, *range(1, x.rank - 1)])


def _as_given(x: TensorValue, layout: ConvInputLayout) -> TensorValue:
    return x if layout is ConvInputLayout.NCHW else node("Transpose", [x], perm=[0, *range(2, x.rank), 1])


def _filters_first(what: str, x: TensorValue, layout: FilterLayout) -> TensorValue:
    if not isinstance(layout, FilterLayout):
        wrong_type(f"{what}: filter_layout must be a FilterLayout, not {layout!r}")
    if len(layout.value) != x.rank:
        fail(f"{what}: the layout {layout.value} does not have {x.rank} dimensions")
    if layout in (FilterLayout.FCRS, FilterLayout.FCQRS):
        return x
    return node("Transpose", [x], perm=[x.rank - 1, x.rank - 2, *range(x.rank - 2)])


def _pads(what: str, padding: int | Sequence[int], axes: int) -> list[int]:
    """Before and after each axis in turn, as all befores, then all afters."""
    pairs = several(padding, 2 * axes, f"{what}: padding")
    return [*pairs[::2], *pairs[1::2]]


def _convolved(
    what: str,
    operator: str,
    axes: int,
    x: TensorValueLike,
    filter: TensorValueLike,
    bias: TensorValueLike | None,
    layouts: tuple[ConvInputLayout, FilterLayout],
    **attributes: Any,
) -> TensorValue:
    input, weights = promoted(what, x, filter)
    require_kind(what, "x", input, "float")
    require_rank(what, "x", input, axes + 2)
    require_rank(what, "filter", weights, axes + 2)
    if not isinstance(layouts[0], ConvInputLayout):
        wrong_type(f"{what}: input_layout must be a ConvInputLayout, not {layouts[0]!r}")
    operands = [_channels_first(input, layouts[0]), _filters_first(what, weights, layouts[1])]
    if bias is not None:
        operands.append(cast_to(require_rank(what, "bias", tensor(bias, input.dtype), 1), input.dtype))
    return _as_given(node(operator, operands, **attributes), layouts[0])


def _direct(
    what: str,
    axes: int,
    operands: tuple[TensorValueLike, TensorValueLike, TensorValueLike | None],
    sizes: tuple[int | Sequence[int], int | Sequence[int], int | Sequence[int]],
    groups: int,
    layouts: tuple[ConvInputLayout, FilterLayout],
) -> TensorValue:
    stride, dilation, padding = sizes
    return _convolved(
        what, "Conv", axes, *operands, layouts,
        strides=several(stride, axes, f"{what}: stride", 1),
        dilations=several(dilation, axes, f"{what}: dilation", 1),
        pads=_pads(what, padding, axes),
        group=whole(groups, f"{what}: groups", 1),
    )  # fmt: skip


def _transposed(
    what: str,
    axes: int,
    operands: tuple[TensorValueLike, TensorValueLike, TensorValueLike | None],
    sizes: tuple[int | Sequence[int], int | Sequence[int], int | Sequence[int], int | Sequence[int]],
    layouts: tuple[ConvInputLayout, FilterLayout],
) -> TensorValue:
    stride, dilation, padding, output_paddings = sizes
    return _convolved(
        what, "ConvTranspose", axes, *operands, layouts,
        strides=several(stride, axes, f"{what}: stride", 1),
        dilations=several(dilation, axes, f"{what}: dilation", 1),
        pads=_pads(what, padding, axes),
        output_padding=several(output_paddings, axes, f"{what}: output_paddings"),
    )  # fmt: skip


def conv2d(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0, 0, 0),
    groups: int = 1,
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.RSCF,
) -> TensorValue:
    """Convolution of images with filters.

    Parameters
    ----------
    x : TensorValueLike
        Floating-point numbers, shape ``[batch, height, width, in_channels]``.
    filter : TensorValueLike
        Shape ``[height, width, in_channels / groups, out_channels]``.
    stride, dilation : int or pair of int
        Steps between places, and between elements of the filter, for rows and columns.
    padding : int or four of int
        Zeros at the top, bottom, left and right.
    groups : int
        How many groups the channels are divided into, each with its own filters.
    bias : TensorValueLike, optional
        What is added to each output channel, shape ``[out_channels]``.
    input_layout : ConvInputLayout
        How `x` and the result lie.
    filter_layout : FilterLayout
        How `filter` lies.

    Returns
    -------
    TensorValue
        Shape ``[batch, out_height, out_width, out_channels]``, each size
        ``(size + padding - dilation * (filter - 1) - 1) // stride + 1``.

    Raises
    ------
    ValueError
        Ranks, channels or groups do not fit, or a number is too small.
    TypeError
        A layout or a size is of another type.
    """
    layouts = (input_layout, filter_layout)
    return _direct("conv2d", 2, (x, filter, bias), (stride, dilation, padding), groups, layouts)


def conv3d(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: int | Sequence[int] = (1, 1, 1),
    dilation: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0, 0, 0, 0),
    groups: int = 1,
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.QRSCF,
) -> TensorValue:
    """Convolution of volumes with filters. As `conv2d`, with an axis for depth before those of height and width.

    Parameters
    ----------
    x : TensorValueLike
        Floating-point numbers, shape ``[batch, depth, height, width, in_channels]``.
    filter : TensorValueLike
        Shape ``[depth, height, width, in_channels / groups, out_channels]``.
    stride, dilation : int or three of int
        As for `conv2d`.
    padding : int or six of int
        Zeros before and after in depth, height and width.
    groups, bias, input_layout, filter_layout
        As for `conv2d`.

    Returns
    -------
    TensorValue
        Shape ``[batch, out_depth, out_height, out_width, out_channels]``.

    Raises
    ------
    ValueError
        Ranks, channels or groups do not fit, or a number is too small.
    TypeError
        A layout or a size is of another type.
    """
    layouts = (input_layout, filter_layout)
    return _direct("conv3d", 3, (x, filter, bias), (stride, dilation, padding), groups, layouts)


def conv2d_transpose(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0, 0, 0),
    output_paddings: int | Sequence[int] = (0, 0),
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.RSCF,
) -> TensorValue:
    """Transposed convolution of images: what `conv2d` with this filter takes apart is put together.

    Parameters
    ----------
    x : TensorValueLike
        Floating-point numbers, shape ``[batch, height, width, in_channels]``.
    filter : TensorValueLike
        Shape ``[height, width, out_channels, in_channels]``.
    stride, dilation : int or pair of int
        Steps between places in the result, and between elements of the filter.
    padding : int or four of int
        What is cut off at the top, bottom, left and right.
    output_paddings : int or pair of int
        What is added at the bottom and at the right, less than `stride` or `dilation`.
    bias, input_layout, filter_layout
        As for `conv2d`.

    Returns
    -------
    TensorValue
        Shape ``[batch, out_height, out_width, out_channels]``, each size
        ``stride * (size - 1) + dilation * (filter - 1) + 1 - padding + output_padding``.

    Raises
    ------
    ValueError
        Ranks or channels do not fit, or a number is too small.
    TypeError
        A layout or a size is of another type.
    """
    sizes = (stride, dilation, padding, output_paddings)
    return _transposed("conv2d_transpose", 2, (x, filter, bias), sizes, (input_layout, filter_layout))


def conv3d_transpose(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: int | Sequence[int] = (1, 1, 1),
    dilation: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0, 0, 0, 0),
    output_paddings: int | Sequence[int] = (0, 0, 0),
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.QRSCF,
) -> TensorValue:
    """Transposed convolution of volumes. As `conv2d_transpose`, with an axis for depth."""
    sizes = (stride, dilation, padding, output_paddings)
    return _transposed("conv3d_transpose", 3, (x, filter, bias), sizes, (input_layout, filter_layout))


def _pooled(
    what: str,
    operator: str,
    input: TensorValueLike,
    sizes: tuple[int | Sequence[int], int | Sequence[int], int | Sequence[int], int | Sequence[int]],
    **attributes: Any,
) -> TensorValue:
    x = require_rank(what, "input", require_kind(what, "input", tensor(input), "number"), 4)
    kernel, stride, dilation, padding = sizes
    made = node(
        operator,
        [_channels_first(x, ConvInputLayout.NHWC)],
        kernel_shape=several(kernel, 2, f"{what}: kernel_size", 1),
        strides=several(stride, 2, f"{what}: stride", 1),
        dilations=several(dilation, 2, f"{what}: dilation", 1),
        pads=several(padding, 2, f"{what}: padding") * 2,
        **attributes,
    )
    return _as_given(made, ConvInputLayout.NHWC)


def avg_pool2d(
    input: TensorValueLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_boundary: bool = True,
) -> TensorValue:
    """Means over windows of images.

    Parameters
    ----------
    input : TensorValueLike
        Floating-point numbers, shape ``[batch, height, width, channels]``.
    kernel_size : int or pair of int
        Rows and columns of the window.
    stride, dilation : int or pair of int
        Steps between windows, and between elements of one.
    padding : int or pair of int
        Zeros at the top and bottom, and at the left and right.
    ceil_mode : bool
        Whether windows that reach past the end count.
    count_boundary : bool
        Whether the zeros of the padding count as elements.

    Returns
    -------
    TensorValue
        Shape ``[batch, out_height, out_width, channels]``.

    Raises
    ------
    ValueError
        The rank is not 4, a number is too small, or the padding is as large as the window.
    """
    sizes = (kernel_size, stride, dilation, padding)
    flags = {"ceil_mode": int(ceil_mode), "count_include_pad": int(count_boundary)}
    return _pooled("avg_pool2d", "AveragePool", input, sizes, **flags)


def max_pool2d(
    input: TensorValueLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
) -> TensorValue:
    """Largest elements in windows of images. Parameters and shapes as for `avg_pool2d`; padding never counts."""
    sizes = (kernel_size, stride, dilation, padding)
    return _pooled("max_pool2d", "MaxPool", input, sizes, ceil_mode=int(ceil_mode))
