# SPDX-License-Identifier: Apache-2.0
"""Types of values in graphs: element type, shape and device."""

from __future__ import annotations

import enum
import math
from typing import Any, Optional, TypeVar

from max.driver.device import CPU, Accelerator, Device, accelerator_count
from max.dtype import DType
from max.graph.dim import Dim, StaticDim
from max.graph.shape import Shape, ShapeLike

__all__ = ["BufferType", "DeviceKind", "DeviceRef", "TensorType", "Type"]


class DeviceKind(enum.Enum):
    """Kind of a device."""

    CPU = "cpu"
    GPU = "gpu"

    @staticmethod
    def from_string(text: str) -> DeviceKind:
        """The kind that is called so: "cpu", "gpu" or "cuda"."""
        try:
            return DeviceKind({"cuda": "gpu"}.get(text, text))
        except ValueError:
            raise ValueError(f"{text!r} is not a kind of device; use cpu or gpu") from None

    def __str__(self) -> str:
        return self.value


class DeviceRef:
    """A device that need not be there while a graph is built.

    Parameters
    ----------
    device_type : DeviceKind or str
        "cpu" or "gpu".
    id : int
        Number of the device.

    Examples
    --------
    >>> print(DeviceRef.GPU())
    gpu:0
    """

    __slots__ = ("_kind", "_number")

    def __init__(self, device_type: DeviceKind | str, id: int = 0) -> None:
        kind = device_type if isinstance(device_type, DeviceKind) else DeviceKind.from_string(device_type)
        if isinstance(id, bool) or not isinstance(id, int) or id < 0:
            raise ValueError(f"the id of a device must be an int that is not negative, not {id!r}")
        self._kind, self._number = kind, id

    @staticmethod
    def CPU(id: int = 0) -> DeviceRef:
        """The host."""
        return DeviceRef(DeviceKind.CPU, id)

    @staticmethod
    def GPU(id: int = 0) -> DeviceRef:
        """An accelerator."""
        return DeviceRef(DeviceKind.GPU, id)

    @staticmethod
    def from_device(device: Device | DeviceRef) -> DeviceRef:
        """The reference to a `Device`."""
        if isinstance(device, DeviceRef):
            return device
        if not isinstance(device, Device):
            raise TypeError(f"{device!r} is not a Device")
        return DeviceRef(device.label, device.id)

    @property
    def device_type(self) -> DeviceKind:
        """Kind of the device."""
        return self._kind

    @property
    def id(self) -> int:
        """Number of the device."""
        return self._number

    def is_cpu(self) -> bool:
        """Whether it is the host."""
        return self._kind is DeviceKind.CPU

    def is_gpu(self) -> bool:
        """Whether it is an accelerator."""
        return self._kind is DeviceKind.GPU

    def to_device(self) -> Device:
        """The device itself, which must be there."""
        return CPU(self._number) if self.is_cpu() else Accelerator(self._number)

    def _placed(self) -> Optional[Device]:
        """The device, if the library must be told: the first accelerator, like the host, is where models run anyway."""
        return self.to_device() if self.is_gpu() and 0 < self._number < accelerator_count() else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceRef):
            return NotImplemented
        return (self._kind, self._number) == (other._kind, other._number)

    def __hash__(self) -> int:
        return hash((self._kind, self._number))

    def __str__(self) -> str:
        return f"{self._kind}:{self._number}"

    def __repr__(self) -> str:
        return f"DeviceRef({self._kind.value!r}, {self._number})"


class Type:
    """Type of a value in a graph."""

    __slots__ = ()


_Self = TypeVar("_Self", bound="_ShapedType")


class _ShapedType(Type):
    __slots__ = ("_device", "_dtype", "_shape")

    def __init__(self, dtype: DType, shape: ShapeLike, device: Optional[DeviceRef | Device] = None) -> None:
        if not isinstance(dtype, DType):
            raise TypeError(f"dtype must be a max.dtype.DType, not {dtype!r}")
        if isinstance(shape, (int, str, Dim)):
            raise TypeError(f"shape must be a sequence of dimensions, not {shape!r}")
        self._dtype, self._shape = dtype, Shape(shape)
        for dim in self._shape:
            if isinstance(dim, StaticDim) and dim.dim < 0:
                raise ValueError(f"the shape {self._shape} has the negative dimension {dim}")
        self._device = DeviceRef.CPU() if device is None else DeviceRef.from_device(device)

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return self._dtype

    @property
    def shape(self) -> Shape:
        """Dimensions, a `Shape`."""
        return Shape(self._shape)

    @property
    def device(self) -> DeviceRef:
        """Where the value is."""
        return self._device

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def num_elements(self) -> int:
        """Number of elements.

        Raises
        ------
        TypeError
            A dimension is not a number.
        """
        if not self._shape.is_static:
            raise TypeError(f"the shape {self._shape} is not known before a call")
        return math.prod(self._shape.static_dims)

    def cast(self: _Self, dtype: DType) -> _Self:
        """The same type with other elements."""
        return type(self)(dtype, self._shape, self._device)

    def _key(self) -> tuple[Any, ...]:
        return self._dtype, tuple(self._shape), self._device

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return f"{self._dtype.name}{self._shape} on {self._device}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._dtype}, {self._shape!r}, {self._device!r})"


class TensorType(_ShapedType):
    """Type of a tensor in a graph.

    Parameters
    ----------
    dtype : DType
        Type of the elements.
    shape : iterable of int, str or Dim
        Dimensions; a name is one that each call chooses.
    device : DeviceRef or Device, optional
        Where the tensor is; the host by default.

    Examples
    --------
    >>> TensorType(DType.float32, ["batch", 3])
    TensorType(DType.float32, Shape(['batch', 3]), DeviceRef('cpu', 0))
    """

    __slots__ = ()

    def as_buffer(self) -> BufferType:
        """The type of a buffer of such tensors."""
        return BufferType(self._dtype, self._shape, self._device)


class BufferType(_ShapedType):
    """Type of a buffer in a graph: a tensor whose contents the graph may replace.

    Parameters
    ----------
    dtype : DType
        Type of the elements.
    shape : iterable of int, str or Dim
        Dimensions.
    device : DeviceRef or Device, optional
        Where the buffer is; the host by default.
    """

    __slots__ = ()

    def as_tensor(self) -> TensorType:
        """The type of the buffer's contents."""
        return TensorType(self._dtype, self._shape, self._device)
