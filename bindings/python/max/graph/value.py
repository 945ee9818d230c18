# SPDX-License-Identifier: Apache-2.0
"""Values of graphs: what nodes take and make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, SupportsFloat, SupportsIndex, TypeVar, Union

from max._raw import ffi, lib
from max._text import text_of
from max.dtype import OF_NUMBER, DType
from max.graph._scope import Scope, current
from max.graph._source import check, located
from max.graph.dim import Dim, DimLike, SymbolicDim, parsed
from max.graph.shape import Shape, ShapeLike
from max.graph.type import BufferType, DeviceRef, TensorType, Type

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from max.driver.buffer import Buffer
    from max.driver.device import Device
    from max.driver.dlpack import DLPackArray

__all__ = ["BufferValue", "TensorValue", "TensorValueLike", "Value"]

_Type = TypeVar("_Type", bound=Type)


def _ops() -> Any:
    import max.graph.ops

    return max.graph.ops


def info_of(handle: Any) -> Any:
    """What the library knows of a value."""
    info = ffi.new("MaxTensorInfo*", {"structSize": ffi.sizeof("MaxTensorInfo")})
    check(lib.maxGraphValueGetInfo(handle, info))
    return info


_HOST = DeviceRef.CPU()


def _shape_of(info: Any) -> Shape | None:
    """The shape; None if the rank is not known."""
    if info.rank < 0:
        return None
    dims: list[Dim] = []
    for i in range(info.rank):
        if info.shape[i] >= 0:
            dims.append(Dim(info.shape[i]))
        else:
            dims.append(parsed(text_of(info.dimensionNames[i])))
    return Shape(dims)


class Value(Generic[_Type]):
    """A value of a graph: a `TensorValue` or a `BufferValue`."""

    __slots__ = ()

    @property
    def type(self) -> _Type:
        """Type of the value."""
        raise NotImplementedError

    @property
    def tensor(self) -> TensorValue:
        """The value as a `TensorValue`.

        Raises
        ------
        TypeError
            The value is not a tensor.
        """
        raise located(TypeError(f"{self!r} is not a TensorValue"))

    @property
    def buffer(self) -> BufferValue:
        """The value as a `BufferValue`.

        Raises
        ------
        TypeError
            The value is not a buffer.
        """
        raise located(TypeError(f"{self!r} is not a BufferValue"))


class TensorValue(Value[TensorType]):
    """A tensor of a graph, which has its contents when the model runs.

    Python's operators and indexing make nodes of the graph that is being built. ``TensorValue(x)`` makes one of a
    number, an array, a `Dim` or a `Shape`.

    Parameters
    ----------
    value : TensorValue, Dim, Shape, number, numpy.ndarray or DLPackArray

    Examples
    --------
    >>> with Graph("double", input_types=[TensorType(DType.float32, ["n"])]) as graph:
    ...     x = graph.inputs[0].tensor
    ...     graph.output(x * 2, x[1:])
    """

    __slots__ = ("_device", "_dtype", "_scope", "_shape", "_value")
    __array_ufunc__ = None  # numpy's operators leave it to those here
    _value: Any
    _scope: Scope
    _dtype: DType
    _shape: Shape | None
    _device: DeviceRef

    def __init__(self, value: TensorValueLike) -> None:
        from max.graph.ops._emit import as_tensor

        other = as_tensor(value)
        self._scope = current()
        self._value = other._in(self._scope)
        self._dtype, self._shape, self._device = other.dtype, other._shape, other.device

    @classmethod
    def _of_handle(cls, scope: Scope, value: Any, device: DeviceRef = _HOST) -> TensorValue:
        """The value that a node of this scope has made."""
        info = info_of(value)
        made: TensorValue = object.__new__(TensorValue)
        if info.kind != lib.MAX_VALUE_KIND_TENSOR or info.dtype not in OF_NUMBER:
            raise located(TypeError(f"the value '{text_of(info.name)}' is {text_of(info.typeName)}, not a tensor"))
        made._scope, made._value, made._dtype = scope, value, OF_NUMBER[info.dtype]
        made._shape, made._device = _shape_of(info), device
        for axis, dim in enumerate(made._shape or ()):
            if isinstance(dim, SymbolicDim) and scope.place_of(dim.name) is None:
                scope.symbols[dim.name] = value, axis
        return made

    def _in(self, scope: Scope) -> Any:
        """The library's value, for a node of `scope`."""
        if scope.graph is not self._scope.graph:
            raise located(
                ValueError(f"{self!r} belongs to the graph {self._scope.graph.name!r}, not to {scope.graph.name!r}")
            )
        return self._value

    @staticmethod
    def from_dim(dim: DimLike) -> TensorValue:
        """A dimension as an int64 scalar.

        Parameters
        ----------
        dim : int, str or Dim
            Names must be those of dimensions of the graph's inputs.
        """
        from max.graph.ops._emit import as_tensor

        return as_tensor(Dim(dim))

    @staticmethod
    def from_shape(shape: ShapeLike) -> TensorValue:
        """A shape as an int64 vector.

        Parameters
        ----------
        shape : iterable of int, str or Dim
        """
        from max.graph.ops._emit import as_tensor

        return as_tensor(Shape(shape))

    @property
    def type(self) -> TensorType:
        """Type of the tensor."""
        return TensorType(self.dtype, self.shape, self.device)

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return self._dtype

    @property
    def shape(self) -> Shape:
        """Dimensions, a `Shape`.

        Raises
        ------
        ValueError
            The number of dimensions is not known before the model runs.
        """
        if self._shape is None:
            raise located(ValueError("the rank of this value is only known when the model runs"))
        return Shape(self._shape)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def device(self) -> DeviceRef:
        """Where the tensor is."""
        return self._device

    @property
    def tensor(self) -> TensorValue:
        """This value."""
        return self

    @property
    def name(self) -> str:
        """Name that the value has in the graph."""
        return text_of(info_of(self._value).name)

    # Operators.

    def __add__(self, other: TensorValueLike) -> TensorValue:
        return _binary("add", self, other)

    def __radd__(self, other: TensorValueLike) -> TensorValue:
        return _binary("add", other, self)

    def __sub__(self, other: TensorValueLike) -> TensorValue:
        return _binary("sub", self, other)

    def __rsub__(self, other: TensorValueLike) -> TensorValue:
        return _binary("sub", other, self)

    def __mul__(self, other: TensorValueLike) -> TensorValue:
        return _binary("mul", self, other)

    def __rmul__(self, other: TensorValueLike) -> TensorValue:
        return _binary("mul", other, self)

    def __truediv__(self, other: TensorValueLike) -> TensorValue:
        return _binary("div", self, other)

    def __rtruediv__(self, other: TensorValueLike) -> TensorValue:
        return _binary("div", other, self)

    def __floordiv__(self, other: TensorValueLike) -> TensorValue:
        return _binary("floor_div", self, other)

    def __rfloordiv__(self, other: TensorValueLike) -> TensorValue:
        return _binary("floor_div", other, self)

    def __mod__(self, other: TensorValueLike) -> TensorValue:
        return _binary("mod", self, other)

    def __rmod__(self, other: TensorValueLike) -> TensorValue:
        return _binary("mod", other, self)

    def __pow__(self, other: TensorValueLike) -> TensorValue:
        return _binary("pow", self, other)

    def __rpow__(self, other: TensorValueLike) -> TensorValue:
        return _binary("pow", other, self)

    def __matmul__(self, other: TensorValueLike) -> TensorValue:
        return _binary("matmul", self, other)

    def __rmatmul__(self, other: TensorValueLike) -> TensorValue:
        return _binary("matmul", other, self)

    def __and__(self, other: TensorValueLike) -> TensorValue:
        return _binary("logical_and", self, other)

    def __rand__(self, other: TensorValueLike) -> TensorValue:
        return _binary("logical_and", other, self)

    def __or__(self, other: TensorValueLike) -> TensorValue:
        return _binary("logical_or", self, other)

    def __ror__(self, other: TensorValueLike) -> TensorValue:
        return _binary("logical_or", other, self)

    def __xor__(self, other: TensorValueLike) -> TensorValue:
        return _binary("logical_xor", self, other)

    def __rxor__(self, other: TensorValueLike) -> TensorValue:
        return _binary("logical_xor", other, self)

    def __gt__(self, other: TensorValueLike) -> TensorValue:
        return _binary("greater", self, other)

    def __ge__(self, other: TensorValueLike) -> TensorValue:
        return _binary("greater_equal", self, other)

    def __lt__(self, other: TensorValueLike) -> TensorValue:
        return _binary("greater", other, self)

    def __le__(self, other: TensorValueLike) -> TensorValue:
        return _binary("greater_equal", other, self)

    def __eq__(self, other: object) -> TensorValue:  # type: ignore[override]
        return _binary("equal", self, other)

    def __ne__(self, other: object) -> TensorValue:  # type: ignore[override]
        return _binary("not_equal", self, other)

    def __hash__(self) -> int:
        return id(self)

    def __neg__(self) -> TensorValue:
        return _tensor(_ops().negate(self))

    def __pos__(self) -> TensorValue:
        return self

    def __abs__(self) -> TensorValue:
        return _tensor(_ops().abs(self))

    def __invert__(self) -> TensorValue:
        return _tensor(_ops().logical_not(self))

    def __bool__(self) -> bool:
        raise located(TypeError("the truth of a graph's value is only known at run time; see ops.cond, ops.where"))

    def __len__(self) -> int:
        raise located(TypeError("a TensorValue has no len(); its dimensions are in .shape"))

    def __iter__(self) -> Any:
        raise located(TypeError("a TensorValue is not iterable; ops.split cuts it into pieces"))

    # Methods, named as the operators.

    @property
    def T(self) -> TensorValue:
        """The tensor with its last two dimensions exchanged."""
        return self.transpose(-1, -2)

    def transpose(self, dim_1: int, dim_2: int) -> TensorValue:
        """Exchanges two dimensions."""
        return _tensor(_ops().transpose(self, dim_1, dim_2))

    def permute(self, dims: Sequence[int]) -> TensorValue:
        """Orders the dimensions anew: dimension i of the result is dimension ``dims[i]``."""
        return _tensor(_ops().permute(self, list(dims)))

    def reshape(self, shape: ShapeLike) -> TensorValue:
        """The same elements with other dimensions; one of them may be -1."""
        return _tensor(_ops().reshape(self, shape))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> TensorValue:
        """Joins dimensions `start_dim` to `end_dim`."""
        return _tensor(_ops().flatten(self, start_dim, end_dim))

    def broadcast_to(self, shape: ShapeLike) -> TensorValue:
        """Repeats dimensions of 1 until the shape is `shape`."""
        return _tensor(_ops().broadcast_to(self, shape))

    def cast(self, dtype: DType) -> TensorValue:
        """The same elements as another type."""
        return _tensor(_ops().cast(self, dtype))

    def rebind(self, shape: ShapeLike, message: str = "") -> TensorValue:
        """The same value with dimensions that are promised to be these; see `ops.rebind`."""
        return _tensor(_ops().rebind(self, shape, message))

    def to(self, device: DeviceRef | Device) -> TensorValue:
        """The same tensor on another device; see `ops.transfer_to`."""
        return _tensor(_ops().transfer_to(self, device))

    def print(self, label: str = "debug_tensor") -> None:
        """Prints the tensor when the model runs; see `ops.print`."""
        _ops().print(self, label)

    def argmax(self, axis: int = -1) -> TensorValue:
        """Indices of the largest elements along an axis."""
        return _tensor(_ops().argmax(self, axis))

    def max(self, axis: int = -1) -> TensorValue:
        """Largest elements along an axis, which becomes 1."""
        return _tensor(_ops().max(self, axis))

    def mean(self, axis: int = -1) -> TensorValue:
        """Mean along an axis, which becomes 1."""
        return _tensor(_ops().mean(self, axis))

    def min(self, axis: int = -1) -> TensorValue:
        """Smallest elements along an axis, which becomes 1."""
        return _tensor(_ops().min(self, axis))

    def sum(self, axis: int = -1) -> TensorValue:
        """Sum along an axis, which becomes 1."""
        return _tensor(_ops().sum(self, axis))

    def __getitem__(self, index: Any) -> TensorValue:
        """A part of the tensor, as numpy's basic indexing: int, slice, Ellipsis, None, and values of graphs.

        The dimensions of a value or array that is an index take the place of that axis. A slice may be ``(slice, name)``: the name of the dimension that it makes.
        """
        from max.graph._indexing import indexed

        return indexed(self, index)

    def __repr__(self) -> str:
        shape = "?" if self._shape is None else f"{self._shape!r}"
        return f"TensorValue(dtype={self.dtype}, shape={shape}, device={self.device})"


def _tensor(value: Any) -> TensorValue:
    tensor: TensorValue = value
    return tensor


def _binary(op: str, a: object, b: object) -> TensorValue:
    return _tensor(getattr(_ops(), op)(a, b))


class BufferValue(Value[BufferType]):
    """A buffer of a graph: an input whose contents the graph may replace.

    ``buffer[...]`` are the contents, or a part of them, as a `TensorValue`; ``buffer[1, 2:] = x`` replaces them. A
    call of the model then writes the last contents into the `Buffer` or numpy array that it was given.
    """

    __slots__ = ("_contents", "_type")
    _contents: TensorValue
    _type: BufferType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("a BufferValue is an input of a graph; see BufferType")

    @classmethod
    def _of_input(cls, contents: TensorValue, wanted: BufferType) -> BufferValue:
        buffer: BufferValue = object.__new__(cls)
        buffer._contents, buffer._type = contents, wanted
        return buffer

    @property
    def type(self) -> BufferType:
        """Type of the buffer."""
        return self._type

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return self._type.dtype

    @property
    def shape(self) -> Shape:
        """Dimensions, a `Shape`."""
        return self._type.shape

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return self._type.rank

    @property
    def device(self) -> DeviceRef:
        """Where the buffer is."""
        return self._type.device

    @property
    def buffer(self) -> BufferValue:
        """This value."""
        return self

    def __getitem__(self, index: Any) -> TensorValue:
        return _tensor(_ops().buffer_load(self))[index]

    def __setitem__(self, index: Any, value: TensorValueLike) -> None:
        _ops().buffer_store_slice(self, value, index)

    def print(self, label: str = "debug_buffer") -> None:
        """Prints the contents when the model runs; see `ops.print`."""
        _ops().print(_ops().buffer_load(self), label)

    def __repr__(self) -> str:
        return f"BufferValue(dtype={self.dtype}, shape={self.shape!r}, device={self.device})"


TensorValueLike = Union[
    TensorValue, Shape, Dim, SupportsIndex, SupportsFloat, "NDArray[Any]", "numpy.generic", "DLPackArray", "Buffer"
]
