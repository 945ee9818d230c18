# SPDX-License-Identifier: Apache-2.0
"""Images of another size, and images of their patches."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from max.graph.dim import StaticDim
from max.graph.ops._operands import (
    dims, dims_tensor, fail, ints, node, require_kind, require_rank, several, tensor, whole, wrong_type,
)  # fmt: skip
from max.graph.shape import Shape, ShapeLike
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["InterpolationMode", "fold", "resize", "resize_bicubic", "resize_linear", "resize_nearest"]


class InterpolationMode(enum.Enum):
    """How elements between given ones are found."""

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"

    def __str__(self) -> str:
        return self.value


_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _resized(what: str, input: TensorValueLike, size: ShapeLike, mode: str, **attributes: Any) -> TensorValue:
    x = require_kind(what, "input", tensor(input), "number")
    wanted = dims(size, f"{what}: size")
    if len(wanted) != x.rank:
        fail(f"{what}: size {wanted} has {len(wanted)} numbers, input has {x.rank} dimensions")
    if any(dim < 0 for dim in wanted.static_dims):
        fail(f"{what}: size {wanted} is negative")
    return node("Resize", [x, None, None, dims_tensor(wanted)], mode=mode, **attributes)


def _choice(what: str, number: int, choices: tuple[str, ...]) -> str:
    index = whole(number, what, 0)
    if index >= len(choices):
        fail(f"{what} must be 0 to {len(choices) - 1}, not {index}")
    return choices[index]


def resize(
    input: TensorValueLike, shape: ShapeLike, interpolation: InterpolationMode = InterpolationMode.BILINEAR
) -> TensorValue:
    """Images of another size, pixels being squares whose middle counts.

    Parameters
    ----------
    input : TensorValueLike
        Numbers, usually of shape ``[batch, channels, height, width]``.
    shape : iterable of int, str or Dim
        The whole shape of the result.
    interpolation : InterpolationMode
        How pixels are found.

    Returns
    -------
    TensorValue
        The type of `input`, shape `shape`.

    Raises
    ------
    ValueError
        There is not one size for each dimension.
    TypeError
        `interpolation` is not an InterpolationMode.
    """
    if not isinstance(interpolation, InterpolationMode):
        wrong_type(f"resize: interpolation must be an InterpolationMode, not {interpolation!r}")
    make = {"nearest": resize_nearest, "bilinear": resize_linear, "bicubic": resize_bicubic}[interpolation.value]
    return make(input, shape)


def resize_bicubic(input: TensorValueLike, size: ShapeLike) -> TensorValue:
    """Images of another size by cubic interpolation (a = -0.75), pixels being squares whose middle counts.

    Parameters
    ----------
    input : TensorValueLike
        Numbers, shape ``[batch, channels, height, width]``.
    size : iterable of int, str or Dim
        The whole shape of the result.

    Returns
    -------
    TensorValue
        The type of `input`, shape `size`.

    Raises
    ------
    ValueError
        There is not one size for each of four dimensions.
    """
    x = require_rank("resize_bicubic", "input", tensor(input), 4)
    return _resized("resize_bicubic", x, size, "cubic", cubic_coeff_a=-0.75)


def resize_linear(
    input: TensorValueLike, size: ShapeLike, coordinate_transform_mode: int = 0, antialias: bool = False
) -> TensorValue:
    """A tensor of another size by linear interpolation.

    Parameters
    ----------
    input : TensorValueLike
        Numbers, any shape.
    size : iterable of int, str or Dim
        The whole shape of the result.
    coordinate_transform_mode : int
        Where elements are: 0 in the middle of their intervals, 1 the first and last at the ends, 2 at the beginning of
        their intervals, 3 as 0, but a single one at the beginning.
    antialias : bool
        Whether each element is a mean over all that it stands for when the tensor gets smaller.

    Returns
    -------
    TensorValue
        The type of `input`, shape `size`.

    Raises
    ------
    ValueError
        The sizes are not one for each dimension, or the mode is unknown.
    """
    transform = _choice("resize_linear: coordinate_transform_mode", coordinate_transform_mode, _COORDINATES)
    smooth = {"antialias": 1, "exclude_outside": 1} if antialias else {}
    return _resized("resize_linear", input, size, "linear", coordinate_transformation_mode=transform, **smooth)


def resize_nearest(
    input: TensorValueLike, size: ShapeLike, coordinate_transform_mode: int = 0, round_mode: int = 0
) -> TensorValue:
    """A tensor of another size, of the nearest elements.

    Parameters
    ----------
    input : TensorValueLike
        Numbers, any shape.
    size : iterable of int, str or Dim
        The whole shape of the result.
    coordinate_transform_mode : int
        As for `resize_linear`.
    round_mode : int
        Which element is the nearest: 0 halves down, 1 halves up, 2 the one before, 3 the one behind.

    Returns
    -------
    TensorValue
        The type of `input`, shape `size`.

    Raises
    ------
    ValueError
        The sizes are not one for each dimension, or a mode is unknown.
    """
    transform = _choice("resize_nearest: coordinate_transform_mode", coordinate_transform_mode, _COORDINATES)
    rounding = _choice("resize_nearest: round_mode", round_mode, _ROUNDINGS)
    return _resized(
        "resize_nearest", input, size, "nearest", coordinate_transformation_mode=transform, nearest_mode=rounding
    )


def fold(
    input: TensorValueLike,
    output_size: ShapeLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
) -> TensorValue:
    """Images of their patches, whose elements are added where they overlap.

    Parameters
    ----------
    input : TensorValueLike
        Numbers, shape ``[batch, channels * kernel height * kernel width, patches]``.
    output_size : pair of int, str or Dim
        Height and width of the images.
    kernel_size : int or pair of int
        Height and width of a patch.
    stride, dilation : int or pair of int
        Steps between patches, and between elements of one.
    padding : int or pair of int
        Rows at the top and bottom, and columns at the left and right, that patches reach over the image.

    Returns
    -------
    TensorValue
        The type of `input`, shape ``[batch, channels, *output_size]``.

    Raises
    ------
    ValueError
        The sizes of `input` are not those of so many patches, or a number is too small.
    """
    x = require_rank("fold", "input", require_kind("fold", "input", tensor(input), "number"), 3)
    wanted = dims(output_size, "fold: output_size")
    if len(wanted) != 2:
        fail(f"fold: output_size must be two numbers, not {wanted}")
    kernel = several(kernel_size, 2, "fold: kernel_size", 1)
    steps = several(stride, 2, "fold: stride", 1)
    spread = several(dilation, 2, "fold: dilation", 1)
    border = several(padding, 2, "fold: padding")
    _require_patches(x.shape, wanted, kernel, [steps, spread, border])
    return node(
        "Col2Im", [x, dims_tensor(wanted), ints(kernel)], strides=steps, dilations=spread, pads=[*border, *border]
    )


def _require_patches(shape: Shape, wanted: Shape, kernel: list[int], sizes: list[list[int]]) -> None:
    channels, patches = shape[1], shape[2]
    if isinstance(channels, StaticDim) and int(channels) % (kernel[0] * kernel[1]):
        fail(f"fold: {channels} channels are not a multiple of a patch's {kernel[0]} x {kernel[1]}")
    if not wanted.is_static or not isinstance(patches, StaticDim):
        return
    count = 1
    for size, width, step, spread, border in zip(wanted.static_dims, kernel, *sizes):
        count *= max(0, (size + 2 * border - spread * (width - 1) - 1) // step + 1)
    if count != int(patches):
        fail(f"fold: images of {wanted} have {count} patches, input has {patches}")
