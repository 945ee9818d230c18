# SPDX-License-Identifier: Apache-2.0
"""Constants, and any operator by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from max._raw import ffi, lib
from max.driver._arrays import is_numpy
from max.driver.buffer import Buffer
from max.driver.device import Device
from max.dtype import DType
from max.graph._scope import current
from max.graph._source import check, located
from max.graph.ops._emit import Attributes, Input, as_tensor, constant_of, emit, emit_all, rebound, typed
from max.graph.shape import Shape, ShapeLike
from max.graph.type import DeviceRef, TensorType
from max.graph.value import TensorValue, TensorValueLike


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
        raise located(TypeError(f"{value!r} has no known contents before the model runs"))
    made = _constant(value, dtype)
    if device is not None:
        made._device = DeviceRef.from_device(device)
        made._scope.graph._devices.add(made._device)
    return made


def _constant(value: Any, dtype: Optional[DType]) -> TensorValue:
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
    if not domain and name == "Constant":
        return _constant_of_attributes({k: v for k, v in (attributes or {}).items() if v is not None})
    if outputs == 1:
        return emit(name, inputs, domain=domain, attributes=attributes)
    return emit_all(name, inputs, domain=domain, attributes=attributes, outputs=outputs)


_CONSTANT_TYPES = {
    "value": None, "value_int": DType.int64, "value_ints": DType.int64, "value_float": DType.float32,
    "value_floats": DType.float32, "value_string": DType.string, "value_strings": DType.string,
}  # fmt: skip


def _constant_of_attributes(attributes: Attributes) -> TensorValue:
    """The operator Constant is one at once."""
    if len(attributes) != 1 or not attributes.keys() <= _CONSTANT_TYPES.keys():
        raise located(ValueError(f"Constant has one attribute of {', '.join(_CONSTANT_TYPES)}, not {list(attributes)}"))
    ((name, value),) = attributes.items()
    return constant(value, _CONSTANT_TYPES[name])


def custom(
    name: str,
    device: Optional[DeviceRef | Device],
    values: Sequence[Input],
    out_types: Sequence[TensorType],
    parameters: Optional[Attributes] = None,
    domain: Optional[str] = None,
) -> list[TensorValue]:
    """An operator of an extension.

    Parameters
    ----------
    name : str
        Domain and name, "example.Softsign", unless `domain` is given.
    device : DeviceRef or Device
        Where it runs.
    values : sequence
        Inputs, as those of all operators.
    out_types : sequence of TensorType
        Types of the outputs. What the operator itself tells of them must agree.
    parameters : mapping of str, optional
        Its attributes.
    domain : str, optional
        Domain of the operator.

    Returns
    -------
    list of TensorValue

    Raises
    ------
    NotImplementedError
        No extension has such an operator; see `Graph`'s custom_extensions.
    ValueError
        Inputs, parameters or types are not those of the operator.
    """
    if domain is None:
        domain, _, name = name.rpartition(".")
    if device is not None:
        DeviceRef.from_device(device)
    types = list(out_types)
    made = emit_all(name, values, domain=domain, attributes=parameters, outputs=len(types))
    return [typed(value, wanted, f"output {i} of {name}") for i, (value, wanted) in enumerate(zip(made, types))]


def rebind(x: TensorValueLike, shape: ShapeLike, message: str = "", layout: None = None) -> TensorValue:
    """The same value with dimensions that the program promises.

    A call of the model in which the promise does not hold fails with the message. Names that the graph does not have
    yet become names of the dimensions.

    Parameters
    ----------
    x : TensorValue
    shape : iterable of int, str or Dim
    message : str
        For the error.

    Returns
    -------
    TensorValue
        Of that shape.

    Raises
    ------
    ValueError
        The value is known to have another shape.

    Examples
    --------
    >>> rows = ops.onnx("", "NonZero", [x]).rebind([2, "found"])
    """
    return rebound(as_tensor(x), Shape(shape), message)


def slice_tensor(x: TensorValueLike, indices: Any) -> TensorValue:
    """A part of a tensor: ``x[indices]``.

    Parameters
    ----------
    x : TensorValue
    indices : int, slice, Ellipsis, None, TensorValue, ``(slice, name)``, or a sequence of them
        As those of ``TensorValue[...]``.

    Returns
    -------
    TensorValue

    Raises
    ------
    IndexError
        An int is outside its dimension, or there are more indices than dimensions.
    """
    return as_tensor(x)[tuple(indices) if isinstance(indices, list) else indices]


def shape_to_tensor(shape: ShapeLike) -> TensorValue:
    """A shape as an int64 vector, which the model computes when it runs.

    Parameters
    ----------
    shape : iterable of int, str or Dim

    Returns
    -------
    TensorValue
        Of the shape [rank].
    """
    return as_tensor(Shape(shape))


def _moved(value: TensorValue, target: DeviceRef) -> TensorValue:
    scope = current()
    if scope.graph.is_subgraph or (target._placed() is None and value.device._placed() is None):
        return emit("Identity", [value])
    out = ffi.new("MaxGraphValue**")
    check(lib.maxGraphAddTransfer(scope.handle, value._in(scope), target.to_device()._handle, out))
    return TensorValue._of_handle(scope, out[0])


def transfer_to(x: TensorValueLike, device: DeviceRef | Device) -> TensorValue:
    """The same tensor on another device.

    Parameters
    ----------
    x : TensorValue
    device : DeviceRef or Device
        One of the devices of the session that loads the graph. Its first device, whichever it is, stands for the host
        and for gpu:0, unless the graph has values on further accelerators, which must be there when it is built.

    Returns
    -------
    TensorValue
    """
    value, target = as_tensor(x), DeviceRef.from_device(device)
    if value.device == target:
        return value
    moved = _moved(value, target)
    moved._device = target
    moved._scope.graph._devices.add(target)
    return moved


def print(value: TensorValueLike | str, label: str = "debug_tensor") -> None:  # noqa: A001
    """Prints a tensor, or a text, to sys.stdout after each call of the model.

    Parameters
    ----------
    value : TensorValue or str
    label : str
        Stands before the tensor.

    Raises
    ------
    NotImplementedError
        It stands in a branch or a loop.
    """
    scope = current()
    if scope.parent is not None:
        raise located(NotImplementedError("ops.print does not work within cond and while_loop; return the value"))
    if isinstance(value, str):
        scope.graph._prints.append((value, value))
    else:
        scope.graph._prints.append((as_tensor(value), label))
