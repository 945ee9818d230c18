# SPDX-License-Identifier: Apache-2.0
"""Tensors that are made of numbers: ranges and windows."""

from __future__ import annotations

from max.driver.device import Device
from max.dtype import DType
from max.graph.dim import DimLike
from max.graph.ops._operands import (
    cast_to, fail, is_number, node, placed, promoted, require_kind, require_rank, tensor, whole,
)  # fmt: skip
from max.graph.ops.general import constant, rebind
from max.graph.type import DeviceRef
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["hann_window", "range"]


def range(
    start: TensorValueLike,
    stop: TensorValueLike,
    step: TensorValueLike = 1,
    out_dim: DimLike | None = None,
    *,
    dtype: DType | None = None,
    device: DeviceRef | Device | None = None,
) -> TensorValue:
    """Numbers from `start` until before `stop`, `step` apart.

    Parameters
    ----------
    start, stop, step : TensorValueLike
        Numbers, scalars.
    out_dim : int, str or Dim, optional
        What the size of the result is called, if the numbers do not tell it.
    dtype : DType, optional
        The type of the result; the common one of the numbers by default.
    device : DeviceRef or Device, optional
        Where the result is; the host by default.

    Returns
    -------
    TensorValue
        Shape ``[max(ceil((stop - start) / step), 0)]``.

    Raises
    ------
    ValueError
        `step` is 0, or an argument is not a scalar or not a number.
    """
    if dtype is None:
        bounds = promoted("range", start, stop, step)
    else:
        bounds = [cast_to(tensor(value, dtype if is_number(value) else None), dtype) for value in (start, stop, step)]
    for name, bound in zip(("start", "stop", "step"), bounds):
        require_kind("range", name, require_rank("range", name, bound, 0), "number")
    if is_number(step) and step == 0:
        fail("range: step is 0")
    made = node("Range", bounds)
    return placed(made if out_dim is None else rebind(made, [out_dim]), device)


def hann_window(
    window_length: int,
    device: DeviceRef | Device | None = None,
    periodic: bool = True,
    dtype: DType = DType.float32,
) -> TensorValue:
    """A Hann window: ``0.5 - 0.5 * cos(2 * pi * n / length)``.

    Parameters
    ----------
    window_length : int
        How many numbers.
    device : DeviceRef or Device, optional
        Where the window is; the host by default.
    periodic : bool
        Whether it is one period, for spectra; otherwise it ends with the zero that it starts with.
    dtype : DType
        Type of the elements, floating-point.

    Returns
    -------
    TensorValue
        Shape ``[window_length]``.

    Raises
    ------
    ValueError
        `window_length` is negative, or `dtype` no floating-point type.
    """
    length = whole(window_length, "hann_window: window_length", 0)
    if not isinstance(dtype, DType) or not dtype.is_float():
        fail(f"hann_window: dtype must be a floating-point type, not {dtype}")
    if length < 2:
        return constant([1.0] * length, dtype, device)
    made = node("HannWindow", [tensor(length, DType.int64)], output_datatype=dtype, periodic=int(bool(periodic)))
    return placed(made, device)
