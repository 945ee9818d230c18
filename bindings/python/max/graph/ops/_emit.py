# SPDX-License-Identifier: Apache-2.0
"""How all operators become nodes of the graph that is being built."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional, overload

from max._raw import ffi, lib
from max._text import bytes_of
from max.driver._arrays import is_numpy
from max.driver.buffer import Buffer
from max.dtype import DType
from max.graph._scope import Record, Scope, current
from max.graph._source import check, located, node_name
from max.graph.dim import Dim, SymbolicDim, evaluated
from max.graph.shape import Shape
from max.graph.type import TensorType
from max.graph.value import BufferValue, TensorValue

# What `emit` takes for an input: TensorValue, Weight, Dim, Shape, numbers, arrays; None leaves it out.
Input = Any
Attributes = Mapping[str, Any]


@overload
def emit(
    name: str,
    inputs: Sequence[Input],
    *,
    domain: str = "",
    attributes: Optional[Attributes] = None,
    outputs: Literal[1] = 1,
) -> TensorValue: ...
@overload
def emit(
    name: str, inputs: Sequence[Input], *, domain: str = "", attributes: Optional[Attributes] = None, outputs: int
) -> Any: ...
def emit(
    name: str, inputs: Sequence[Input], *, domain: str = "", attributes: Optional[Attributes] = None, outputs: int = 1
) -> Any:
    """Adds a node.

    Parameters
    ----------
    name : str
        The operator, as ONNX calls it.
    inputs : sequence
        What `as_tensor` takes, or None for an input that is left out. Numbers take the type of the first tensor.
    domain : str
        The operator's domain; "" is ONNX's own.
    attributes : mapping of str
        int, float, str, DType, array, Body, or sequences of int, float and str; None leaves one out.
    outputs : int
        How many of the operator's outputs there are.

    Returns
    -------
    TensorValue or list of TensorValue
        A list unless `outputs` is 1.
    """
    made = emit_all(name, inputs, domain=domain, attributes=attributes, outputs=outputs)
    return made[0] if outputs == 1 else made


def emit_all(
    name: str, inputs: Sequence[Input], *, domain: str = "", attributes: Optional[Attributes] = None, outputs: int = 1
) -> list[TensorValue]:
    """As `emit`; always a list."""
    scope = current()
    like = _common_dtype(inputs)
    tensors = [None if value is None else as_tensor(value, like) for value in inputs]
    values = [ffi.NULL if tensor is None else tensor._in(scope) for tensor in tensors]
    handle = attributes_of(attributes or {})
    out = ffi.new("MaxGraphValue*[]", outputs)
    check(
        lib.maxGraphAddNode(
            scope.handle, bytes_of(domain), bytes_of(name), bytes_of(node_name()), values, len(values), handle, out,
            outputs,
        )
    )  # fmt: skip
    scope.record(Record(list(out), domain, name, tuple(values), attributes))
    devices = [tensor.device for tensor in tensors if tensor is not None and tensor.device.is_gpu()]
    return [TensorValue._of_handle(scope, value, *devices[:1]) for value in out]


def _common_dtype(inputs: Sequence[Input]) -> Optional[DType]:
    for value in inputs:
        if isinstance(value, TensorValue):
            return value.dtype
    for value in inputs:
        if is_numpy(value):
            return DType.from_numpy(value.dtype)
    return None


def as_tensor(value: Input, like: Optional[DType] = None) -> TensorValue:
    """The value of a graph for what an operator is given.

    Parameters
    ----------
    value : TensorValue, Dim, Shape, number, numpy.ndarray, Buffer or DLPackArray
    like : DType, optional
        Type of numbers; without it, int64 for int, float32 for float, bool for bool.

    Raises
    ------
    TypeError
        `value` has another type.
    ValueError
        `like` cannot represent the number.
    """
    if isinstance(value, TensorValue):
        return value
    if isinstance(value, BufferValue):
        return value[...]
    if isinstance(value, Dim):
        return _dim(value)
    if isinstance(value, Shape):
        return _shape(value)
    if is_numpy(value):
        return constant_of(Buffer.from_numpy(value))
    if isinstance(value, Buffer):
        return constant_of(value)
    if hasattr(value, "__dlpack__"):
        return constant_of(Buffer.from_dlpack(value))
    if isinstance(value, (numbers.Number, str)) or hasattr(value, "__index__") or hasattr(value, "__float__"):
        return _number(value, like)
    raise located(TypeError(f"{value!r} cannot be an operand; use TensorValue, Dim, Shape, numbers and arrays"))


def constant_of(contents: Buffer) -> TensorValue:
    """A constant; the contents are copied."""
    scope = current()
    out = ffi.new("MaxGraphValue**")
    check(lib.maxGraphAddConstant(scope.handle, ffi.NULL, contents._handle, out))
    scope.record(Record([out[0]], constant=contents))
    return TensorValue._of_handle(scope, out[0])


def _number(value: Any, like: Optional[DType]) -> TensorValue:
    import numpy

    found = numpy.asarray(value)
    weak = {"b": DType.bool, "i": DType.int64, "u": DType.uint64, "f": DType.float32, "c": DType.complex64}
    dtype = like if like is not None else weak.get(found.dtype.kind)
    if dtype is None:
        return constant_of(Buffer.from_numpy(found.astype(object)))
    _require_representable(value, found, dtype)
    return constant_of(Buffer.scalar(found.item(), dtype))


def _require_representable(value: Any, found: Any, dtype: DType) -> None:
    """A number must not change when it takes a tensor's type; among floats it is rounded."""
    kind = found.dtype.kind
    fits = True
    if dtype is DType.bool:
        fits = kind == "b"
    elif dtype.is_integral():
        bits = dtype.size_in_bits
        low = -(1 << (bits - 1)) if dtype.is_signed_integral() else 0
        number = found.item()
        fits = kind in "biuO" or (kind == "f" and float(number).is_integer())
        fits = fits and low <= int(number) < low + (1 << bits)
    elif dtype.is_float():
        fits = kind != "c"
    if not fits:
        raise located(ValueError(f"{value!r} cannot be converted to {dtype.name} exactly; cast the tensor"))


def is_known(dim: Dim) -> bool:
    """Whether all names in the dimension are those of values of the graph."""
    scope = current()
    return all(scope.place_of(symbol.name) is not None for symbol in dim.parameters)


def _size_of_name(name: str) -> TensorValue:
    """The dimension of that name, an int64 vector of one element."""
    scope = current()
    place = scope.place_of(name)
    if place is None:
        raise located(ValueError(f"no value of the graph has the dimension {name!r}"))
    value, axis = place
    source = TensorValue._of_handle(scope, value)
    return emit("Shape", [source], attributes={"start": axis, "end": axis + 1})


class _Size:
    """Arithmetic of dimensions as int64 vectors of one element."""

    def __init__(self, value: TensorValue) -> None:
        self.value = value

    @staticmethod
    def of_int(number: int) -> _Size:
        import numpy

        return _Size(constant_of(Buffer.from_numpy(numpy.array([number], numpy.int64))))

    @staticmethod
    def of_atom(atom: Any) -> _Size:
        if isinstance(atom, str):
            return _Size(_size_of_name(atom))
        kind, a, b = atom[0], _size_of(atom[1]), _size_of(atom[2])
        if kind != "floordiv":
            return _Size(emit({"max": "Max", "min": "Min"}[kind], [a, b]))
        if any(coefficient < 0 for dim in atom[1:] for _, coefficient in dim._terms):
            a = emit("Sub", [a, emit("Mod", [a, b])])  # Div rounds to zero
        return _Size(emit("Div", [a, b]))

    def __add__(self, other: _Size) -> _Size:
        return _Size(emit("Add", [self.value, other.value]))

    def __mul__(self, other: _Size) -> _Size:
        return _Size(emit("Mul", [self.value, other.value]))


def _size_of(dim: Dim) -> TensorValue:
    size: _Size = evaluated(dim, _Size.of_atom, _Size.of_int)
    return size.value


def _dim(dim: Dim) -> TensorValue:
    import numpy

    return emit("Squeeze", [_size_of(dim), numpy.array([0], numpy.int64)])


def _shape(shape: Shape) -> TensorValue:
    import numpy

    if shape.is_static:
        return constant_of(Buffer.from_numpy(numpy.array(shape.static_dims, numpy.int64)))
    parts = [_size_of(dim) for dim in shape]
    return parts[0] if len(parts) == 1 else emit("Concat", parts, attributes={"axis": 0})


def rebound(value: TensorValue, shape: Shape, message: str = "") -> TensorValue:
    """The value, with a check that it has this shape if that is not known to be so."""
    known = value._shape
    if known is not None and known == shape:
        return value
    if known is not None and len(known) != len(shape):
        raise located(ValueError(f"{known} has {len(known)} dimensions, {shape} has {len(shape)}; {message}".rstrip("; ")))
    promised, names = [], []
    for axis, dim in enumerate(shape):
        is_new = isinstance(dim, SymbolicDim) and not is_known(dim)
        names.append(dim.name if is_new and isinstance(dim, SymbolicDim) else "")
        promised.append(Dim(-1) if is_new or (known is not None and known[axis] == dim) else dim)
    attributes = {"message": message or None, "names": names if any(names) else None}
    return emit("Rebind", [value, Shape(promised)], domain="max", attributes=attributes)


def typed(value: TensorValue, wanted: TensorType, what: str) -> TensorValue:
    """The value, with a check that it is of this type if that is not known to be so."""
    if value.dtype is not wanted.dtype:
        raise located(ValueError(f"{what} is of type {value.dtype.name}, not {wanted.dtype.name}"))
    return rebound(value, wanted.shape, what)


class Body:
    """A graph that is an attribute of a node: a branch or the body of a loop."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


def attributes_of(attributes: Attributes) -> Any:
    """The library's attributes; NULL if there are none."""
    if not attributes:
        return ffi.NULL
    out = ffi.new("MaxAttributes**")
    check(lib.maxAttributesCreate(out))
    handle = ffi.gc(out[0], lib.maxAttributesRelease)
    for name, value in attributes.items():
        if value is not None:
            _set_attribute(handle, name, value)
    return handle


def _set_attribute(handle: Any, name: str, value: Any) -> None:
    key = bytes_of(name)
    if isinstance(value, DType):
        check(lib.maxAttributesSetDType(handle, key, value.value))
    elif isinstance(value, str):
        check(lib.maxAttributesSetString(handle, key, bytes_of(value)))
    elif isinstance(value, Body):
        check(lib.maxAttributesSetGraph(handle, key, value.scope.handle))
    elif isinstance(value, Buffer) or hasattr(value, "__dlpack__"):
        contents = value if isinstance(value, Buffer) else Buffer.from_dlpack(value)
        check(lib.maxAttributesSetTensor(handle, key, contents._handle))
    elif hasattr(value, "__index__"):
        check(lib.maxAttributesSetInt(handle, key, int(value.__index__())))
    elif isinstance(value, (float, numbers.Real)):
        check(lib.maxAttributesSetFloat(handle, key, float(value)))
    elif isinstance(value, Sequence):
        _set_list(handle, name, list(value))
    else:
        raise located(TypeError(f"attribute {name!r} must be a number, a str, an array or a list, not {value!r}"))


def _set_list(handle: Any, name: str, values: list[Any]) -> None:
    key = bytes_of(name)
    if values and all(isinstance(value, str) for value in values):
        texts = [ffi.new("char[]", bytes_of(value)) for value in values]
        check(lib.maxAttributesSetStrings(handle, key, ffi.new("char*[]", texts), len(texts)))
    elif all(hasattr(value, "__index__") for value in values):
        check(lib.maxAttributesSetInts(handle, key, [int(value.__index__()) for value in values], len(values)))
    elif all(isinstance(value, (int, float, numbers.Real)) for value in values):
        check(lib.maxAttributesSetFloats(handle, key, [float(value) for value in values], len(values)))
    else:
        raise located(TypeError(f"attribute {name!r} must be a list of int, of float or of str, not {values!r}"))
