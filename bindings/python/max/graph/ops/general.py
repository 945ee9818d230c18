# SPDX-License-Identifier: Apache-2.0
"""Constants, and any operator by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from max.driver._arrays import is_numpy
from max.driver.buffer import Buffer
from max.driver.device import Device
from max.dtype import DType
from max.graph._source import located
from max.graph.ops._emit import Attributes, Input, constant_of, emit, emit_all
from max.graph.type import DeviceRef
from max.graph.value import TensorValue


def constant(value: Any, dtype: Optional[DType] = None, device: Optional[DeviceRef | Device] = None) -> TensorValue:
    """A constant.

    Parameters
    ----------
    value : number, nested list of numbers, numpy.ndarray, Buffer or DLPackArray
        The contents, which are copied.
    dtype : DType, optional
        Type of the elements; by default that of an array, int64 for int, float32 for float, bool for bool.
    device : DeviceRef or Device, optional
        Where the constant is; the host by default.

    Returns
    -------
    TensorValue
        Of the contents' shape.

    Raises
    ------
    ValueError
        `dtype` cannot represent the contents.
    """
    if isinstance(value, TensorValue):
        raise located(TypeError(f"{value!r} has no contents before the model runs"))
    if device is not None:
        DeviceRef.from_device(device)
    if isinstance(value, Buffer) and dtype in (None, value.dtype):
        return constant_of(value)
    import numpy

    if isinstance(value, Buffer):
        array = value.to_numpy()
    elif is_numpy(value) or not hasattr(value, "__dlpack__"):
        array = numpy.asarray(value)
    else:
        array = numpy.from_dlpack(value)
    if dtype is None:
        given = hasattr(value, "dtype")
        weak = {"f": DType.float32, "i": DType.int64, "c": DType.complex64}
        dtype = DType.from_numpy(array.dtype) if given else weak.get(array.dtype.kind, DType.from_numpy(array.dtype))
    if array.ndim == 0 and dtype is not DType.string:
        return constant_of(Buffer.scalar(array.item(), dtype))
    return constant_of(Buffer.from_numpy(array.astype(dtype.to_numpy())))


def onnx(
    domain: str,
    name: str,
    inputs: Sequence[Input],
    *,
    attributes: Optional[Attributes] = None,
    outputs: int = 1,
) -> Any:
    """Any operator that the library has, by its name.

    Parameters
    ----------
    domain : str
        Domain of the operator: "" or "ai.onnx" is ONNX's own; "com.microsoft", or that of an extension.
    name : str
        Name of the operator; it has the meaning of the newest operator set.
    inputs : sequence
        Values, numbers, arrays; None for an input that is left out. Numbers take the type of the first tensor.
    attributes : mapping of str, optional
        int, float, str, DType, arrays, or lists of int, float and str.
    outputs : int
        How many of the operator's outputs there are.

    Returns
    -------
    TensorValue or list of TensorValue
        A list unless `outputs` is 1. Types and shapes are those that the library infers.

    Raises
    ------
    NotImplementedError
        There is no such operator.
    ValueError
        Inputs or attributes are not those of the operator.
    """
    domain = "" if domain == "ai.onnx" else domain
    if outputs == 1:
        return emit(name, inputs, domain=domain, attributes=attributes)
    return emit_all(name, inputs, domain=domain, attributes=attributes, outputs=outputs)
