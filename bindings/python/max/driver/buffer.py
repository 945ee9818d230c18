# SPDX-License-Identifier: Apache-2.0
"""Buffers: n-dimensional arrays in the memory of a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from max._borrow import collect
from max._error import MaxError, check, error_of
from max._handle import Handle
from max._raw import ffi, lib
from max._text import PathType, path_bytes
from max.driver import _arrays
from max.driver._arrays import buffer_of_numpy, is_numpy, strings_of
from max.driver._elements import packed, unpacked
from max.driver.device import CPU, Device, wrap_device
from max.driver.dlpack import buffer_from_dlpack, capsule_of, dlpack_device_of
from max.driver.mapping import HostMapping
from max.driver.stream import DeviceStream, wrap_stream
from max.dtype import OF_NUMBER, DType

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Shape = Union[int, Sequence[int]]
Target = Union[Device, DeviceStream]

_NEW_INFO = ffi.typeof("MaxBufferInfo*")
_INFO_SIZE = ffi.sizeof("MaxBufferInfo")
_BYTES = ffi.typeof("char*")
# Looked up once, for the calls that are made most.
_new, _cast, _unpack, _view, _with_destructor = ffi.new, ffi.cast, ffi.unpack, ffi.buffer, ffi.gc
_infos: list[Any] = []  # that no thread uses now
_ON_HOST = lib.MAX_BUFFER_FLAG_HOST
_DENSE = lib.MAX_BUFFER_FLAG_CONTIGUOUS
_STRING = lib.MAX_DTYPE_STRING
_READ_ONLY = lib.MAX_BUFFER_FLAG_READ_ONLY

_OMITTED = lib.MAX_SLICE_OMITTED

_MAP_MODES = {
    "r": lib.MAX_MAP_MODE_READ,
    "readonly": lib.MAX_MAP_MODE_READ,
    "r+": lib.MAX_MAP_MODE_READ_WRITE,
    "readwrite": lib.MAX_MAP_MODE_READ_WRITE,
    "w+": lib.MAX_MAP_MODE_CREATE,
    "write": lib.MAX_MAP_MODE_CREATE,
    "c": lib.MAX_MAP_MODE_COPY_ON_WRITE,
    "copyonwrite": lib.MAX_MAP_MODE_COPY_ON_WRITE,
}


def _new_info() -> Any:
    info = _new(_NEW_INFO)
    info.structSize = _INFO_SIZE
    return info


def _require_dtype(dtype: Any) -> DType:
    if not isinstance(dtype, DType):
        raise TypeError(f"dtype must be a max.dtype.DType, not {dtype!r}")
    return dtype


def _dimensions(shape: Any, lowest: int = 0) -> list[int]:
    try:
        dimensions = [shape.__index__()] if hasattr(shape, "__index__") else [size.__index__() for size in shape]
    except (TypeError, AttributeError):
        raise TypeError(f"shape must be a sequence of ints, not {shape!r}") from None
    for size in dimensions:
        if not lowest <= size < 2**63:
            raise ValueError(f"shape {tuple(dimensions)} has the dimension {size}, which is out of range")
    return dimensions


def _require(value: Any, kind: type, name: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, not {value!r}")


class Buffer(Handle):
    """An n-dimensional array in the memory of a device.

    Slices are views that share the memory. What reads or writes a buffer comes after the work that is queued with it.

    ``Buffer(array, device)`` copies a numpy array to a device.

    Parameters
    ----------
    dtype : DType
        Type of the elements.
    shape : sequence of int
        Dimensions; an empty one is a scalar's.
    device : Device, optional
        Where the memory is; the host by default.
    pinned : bool, optional
        Whether it is page-locked memory of the host.
    stream : DeviceStream, optional
        Stream of the buffer's work, in place of `device`.

    Raises
    ------
    ValueError
        A dimension is negative.
    MemoryError
        Memory, or the device's limit, has run out.

    Examples
    --------
    >>> buffer = Buffer(DType.float32, [2, 3])
    >>> buffer[1, 2] = 5.0
    >>> buffer[1, 2].item()
    5.0
    """

    __slots__ = ("_dtype", "_shape")
    _dtype: Optional[DType]
    _shape: Optional[tuple[int, ...]]
    _release = lib.maxPythonReleaseBuffer

    def __del__(self, _release: Any = lib.maxPythonReleaseBuffer, _collect: Any = collect) -> None:
        try:
            handle = self._handle
        except AttributeError:  # it was never made
            return
        if handle is not None:
            self._handle = None
            if _release(handle):
                _collect()

    @overload
    def __init__(
        self, dtype: DType, shape: Shape, device: Optional[Device] = None, pinned: bool = False, *, stream: None = None
    ) -> None: ...

    @overload
    def __init__(self, dtype: DType, shape: Shape, stream: DeviceStream, pinned: bool = False, /) -> None: ...

    @overload
    def __init__(self, dtype: DType, shape: Shape, *, stream: DeviceStream, pinned: bool = False) -> None: ...

    @overload
    def __init__(self, shape: NDArray[Any], device: Device, /) -> None: ...

    @overload
    def __init__(self, *, shape: NDArray[Any], device: Device) -> None: ...

    def __init__(
        self, dtype: Any = None, shape: Any = None, device: Any = None, pinned: bool = False, *, stream: Any = None
    ) -> None:
        array = dtype if is_numpy(dtype) else shape if is_numpy(shape) and dtype is None else None
        if array is not None:
            self._init_from_array(array, shape if array is dtype and isinstance(shape, Device) else device)
            return
        if isinstance(device, DeviceStream) and stream is None:
            device, stream = None, device
        if shape is None:
            raise TypeError("shape is missing")
        self._create(_require_dtype(dtype), _dimensions(shape), device, stream, pinned=bool(pinned))

    def _create(
        self, dtype: DType, dimensions: list[int], device: Any, stream: Any, pinned: bool = False, zeroed: bool = False
    ) -> None:
        _require(device, Device, "device")
        _require(stream, DeviceStream, "stream")
        options = ffi.new("MaxBufferOptions*", {"structSize": ffi.sizeof("MaxBufferOptions")})
        options.pinned, options.zeroed = pinned, zeroed
        if stream is not None:
            options.stream = stream._handle
        handle = ffi.NULL if device is None else device._handle
        out = ffi.new("MaxBuffer**")
        check(lib.maxBufferCreate(handle, dtype.value, len(dimensions), dimensions, options, out))
        self._own(out[0])
        self._shape, self._dtype = None, dtype

    def _init_from_array(self, array: NDArray[Any], device: Any) -> None:
        if device is None:
            raise TypeError("an array needs the device to copy it to; Buffer.from_numpy shares its memory")
        _require(device, Device, "device")
        source = Buffer.from_numpy(array)
        copy = source.copy() if device.is_host else source.to(device)
        lib.maxBufferRetain(copy._handle)
        self._own(copy._handle)
        self._shape, self._dtype = copy._shape, copy._dtype

    # What it is.

    def _info(self) -> Any:
        info = _new_info()
        check(lib.maxBufferGetInfo(self._handle, info))
        return info

    def _has(self, flag: int) -> bool:
        return bool(self._info().flags & flag)

    @property
    def dtype(self) -> DType:
        """Type of the elements, a `DType`."""
        if self._dtype is None:
            self._dtype = OF_NUMBER[self._info().dtype]
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions, a tuple of int."""
        if self._shape is None:
            info = self._info()
            self._shape = tuple(ffi.unpack(info.shape, info.rank)) if info.rank else ()
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Distances between elements along each dimension, in elements: a tuple of int."""
        info = self._info()
        return tuple(ffi.unpack(info.strides, info.rank)) if info.rank else ()

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def num_elements(self) -> int:
        """Number of elements; 1 for a scalar."""
        return int(self._info().elementCount)

    @property
    def element_size(self) -> int:
        """Bytes of one element; 1 for types below 8 bits."""
        return self.dtype.size_in_bytes

    @property
    def device(self) -> Device:
        """The `Device` that holds the buffer."""
        return wrap_device(self._info().device)

    @property
    def stream(self) -> DeviceStream:
        """The `DeviceStream` that the buffer is bound to."""
        return wrap_stream(self._info().stream)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie without gaps, last dimension first."""
        return self._has(_DENSE)

    @property
    def is_host(self) -> bool:
        """Whether the buffer belongs to the host."""
        return self._has(_ON_HOST)

    @property
    def pinned(self) -> bool:
        """Whether the memory is page-locked."""
        return self._has(lib.MAX_BUFFER_FLAG_PINNED)

    @property
    def is_read_only(self) -> bool:
        """Whether the buffer cannot be written."""
        return self._has(_READ_ONLY)

    # Making them.

    @staticmethod
    def zeros(
        shape: Shape,
        dtype: DType,
        device: Optional[Target] = None,
        pinned: bool = False,
        stream: Optional[DeviceStream] = None,
    ) -> Buffer:
        """A buffer filled with zeros; the parameters are those of `Buffer`."""
        if isinstance(device, DeviceStream) and stream is None:
            device, stream = None, device
        buffer: Buffer = object.__new__(Buffer)
        buffer._create(_require_dtype(dtype), _dimensions(shape), device, stream, pinned=bool(pinned), zeroed=True)
        return buffer

    @staticmethod
    def scalar(value: Any, dtype: DType, device: Optional[Device] = None) -> Buffer:
        """A buffer without dimensions that holds one value.

        Parameters
        ----------
        value : int, float or bool
        dtype : DType
        device : Device, optional
            The host by default.
        """
        buffer = Buffer(dtype, (), CPU())
        buffer._write((), value)
        return buffer if device is None else buffer.to(device)

    @staticmethod
    def from_numpy(arr: NDArray[Any]) -> Buffer:
        """A buffer of the host that shares a numpy array's memory. An array that is not contiguous is copied.

        Parameters
        ----------
        arr : numpy.ndarray
            Its owner must not free or resize it while the buffer lives; the buffer holds a reference.

        Returns
        -------
        Buffer
            Read-only if the array is.

        Raises
        ------
        TypeError
            It is not an array.
        ValueError
            Elements of this type cannot be held.
        """
        if not is_numpy(arr):
            raise TypeError(f"{type(arr).__name__} is not a numpy.ndarray")
        return wrap_buffer(buffer_of_numpy(arr))

    @staticmethod
    def from_dlpack(array: Any, *, copy: Optional[bool] = None) -> Buffer:
        """A buffer that shares the memory of an array of any library that implements DLPack.

        Parameters
        ----------
        array : DLPackArray
        copy : bool, optional
            True copies always, False never; None copies where it must.

        Returns
        -------
        Buffer

        Raises
        ------
        TypeError
            The object does not implement DLPack.
        ValueError
            The data would have to be copied, and `copy` is False.
        """
        if copy is not None and not isinstance(copy, bool):
            raise TypeError(f"copy must be True, False or None, not {copy!r}")
        if isinstance(array, Buffer):
            return array.copy() if copy else array._slice(())
        if is_numpy(array):
            return wrap_buffer(buffer_of_numpy(array, copy))
        return wrap_buffer(buffer_from_dlpack(array, copy))

    @staticmethod
    def mmap(filename: PathType, dtype: DType, shape: Shape, mode: str = "copyonwrite", offset: int = 0) -> Buffer:
        """A buffer of the host that is a part of a file.

        Parameters
        ----------
        filename : str or path
        dtype : DType
        shape : int or sequence of int
        mode : "r", "r+", "w+" or "c"
            As in numpy.memmap; its long names also work. With "c", the default, writes stay in memory.
        offset : int, optional
            Bytes from the start of the file.

        Raises
        ------
        RuntimeError
            There is no such file.
        IndexError
            The file is too short.
        """
        if mode not in _MAP_MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, _MAP_MODES))}, not {mode!r}")
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise TypeError(f"offset must be an int, not {offset!r}")
        if not 0 <= offset < 2**63:
            raise ValueError(f"offset must not be negative: {offset}")
        name, number, dimensions = path_bytes(filename), _require_dtype(dtype).value, _dimensions(shape)
        out = ffi.new("MaxBuffer**")
        check(lib.maxBufferMap(name, number, len(dimensions), dimensions, _MAP_MODES[mode], offset, out))
        return wrap_buffer(out[0])

    # Views and copies.

    def view(self, dtype: DType, shape: Optional[Shape] = None) -> Buffer:
        """A buffer of the same memory with another type and shape.

        Parameters
        ----------
        dtype : DType
        shape : sequence of int, optional
            One dimension may be -1. Without it, the last dimension changes as the element sizes do.

        Raises
        ------
        ValueError
            The sizes do not fit, or the buffer is not contiguous.
        """
        out = ffi.new("MaxBuffer**")
        number = _require_dtype(dtype).value
        if shape is None:
            check(lib.maxBufferView(self._handle, number, -1, ffi.NULL, out))
        else:
            dimensions = _dimensions(shape, lowest=-1)
            check(lib.maxBufferView(self._handle, number, len(dimensions), dimensions, out))
        return wrap_buffer(out[0])

    def contiguous(self) -> Buffer:
        """A contiguous copy on the same device."""
        out = ffi.new("MaxBuffer**")
        check(lib.maxBufferContiguous(self._handle, ffi.NULL, out))
        return wrap_buffer(out[0])

    def copy(self, device: Optional[Target] = None, *, stream: Optional[DeviceStream] = None) -> Buffer:
        """A contiguous copy: new memory on a device, or on a stream's device.

        Parameters
        ----------
        device : Device or DeviceStream, optional
            The buffer's own device by default.
        stream : DeviceStream, optional
            Stream that copies and that the copy is bound to.
        """
        return self._copied(lib.maxBufferClone, device, stream)

    def _copied(self, function: Any, target: Any, stream: Any = None) -> Buffer:
        if isinstance(target, DeviceStream) and stream is None:
            target, stream = None, target
        _require(target, Device, "device")
        _require(stream, DeviceStream, "stream")
        options = ffi.new("MaxBufferCopyOptions*", {"structSize": ffi.sizeof("MaxBufferCopyOptions")})
        if stream is not None:
            options.stream = stream._handle
        out = ffi.new("MaxBuffer**")
        check(function(self._handle, ffi.NULL if target is None else target._handle, options, out))
        return wrap_buffer(out[0])

    @overload
    def to(self, device: Target) -> Buffer: ...

    @overload
    def to(self, device: Sequence[Target]) -> list[Buffer]: ...

    @overload
    def to(self, *, stream: DeviceStream) -> Buffer: ...

    @overload
    def to(self, *, devices: Sequence[Device]) -> list[Buffer]: ...

    @overload
    def to(self, *, streams: Sequence[DeviceStream]) -> list[Buffer]: ...

    def to(self, device: Any = None, *, stream: Any = None, devices: Any = None, streams: Any = None) -> Any:
        """The buffer on a device or stream, or on each of several; it is copied only where it is not there yet.

        Parameters
        ----------
        device : Device, DeviceStream, or a sequence of either
            Also by the names `stream`, `devices` and `streams`.

        Returns
        -------
        Buffer, or list of Buffer
        """
        targets = [target for target in (device, stream, devices, streams) if target is not None]
        if len(targets) != 1:
            raise TypeError("to() takes one device, stream, or sequence of either")
        if isinstance(targets[0], (Device, DeviceStream)):
            return self._copied(lib.maxBufferTo, targets[0])
        if not isinstance(targets[0], Iterable):
            raise TypeError(f"{targets[0]!r} is not a Device, a DeviceStream or a sequence of either")
        several = list(targets[0])
        for target in several:
            if not isinstance(target, (Device, DeviceStream)):
                raise TypeError(f"{target!r} is neither a Device nor a DeviceStream")
        return [self._copied(lib.maxBufferTo, target) for target in several]

    def inplace_copy_from(self, src: Buffer) -> None:
        """Copies the contents of another contiguous buffer of the same size, on any device, into this one.

        Parameters
        ----------
        src : Buffer

        Raises
        ------
        ValueError
            The sizes differ, or a buffer is not contiguous.
        """
        if not isinstance(src, Buffer):
            raise TypeError(f"{type(src).__name__} is not a Buffer")
        mine, other = self._info().byteCount, src._info().byteCount
        if mine != other:
            raise ValueError(f"the buffer has {mine} bytes, the source has {other}")
        check(lib.maxBufferCopy(self._handle, 0, src._handle, 0, mine, ffi.NULL))

    # Elements.

    def _slice(self, steps: tuple[Any, ...]) -> Buffer:
        count = len(steps)
        kinds, starts = ffi.new("MaxSliceKind[]", count), ffi.new("int64_t[]", count)
        stops, widths = ffi.new("int64_t[]", count), ffi.new("int64_t[]", count)
        for i, step in enumerate(steps):
            if step is None:
                kinds[i] = lib.MAX_SLICE_KIND_NEW_AXIS
            elif step is Ellipsis:
                kinds[i] = lib.MAX_SLICE_KIND_ELLIPSIS
            elif isinstance(step, slice):
                kinds[i] = lib.MAX_SLICE_KIND_RANGE
                starts[i], stops[i], widths[i] = (_end(end) for end in (step.start, step.stop, step.step))
            else:
                kinds[i], starts[i] = lib.MAX_SLICE_KIND_INDEX, _index(step)
        out = ffi.new("MaxBuffer**")
        check(lib.maxBufferSlice(self._handle, kinds, starts, stops, widths, count, out))
        return wrap_buffer(out[0])

    def __getitem__(self, key: Any) -> Buffer:
        return self._slice(key if isinstance(key, tuple) else (key,))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = key if isinstance(key, tuple) else (key,)
        if any(step is None or step is Ellipsis or isinstance(step, slice) for step in key) or len(key) != self.rank:
            raise ValueError(f"only one element can be set: {self.rank} indices are needed, not {key!r}")
        self._write(tuple(_index(step) for step in key), value)

    def _write(self, indices: tuple[int, ...], value: Any) -> None:
        if isinstance(value, Buffer):
            value = value.item()
        element = packed(value, self.dtype)
        check(lib.maxBufferWrite(self._handle, list(indices), len(indices), ffi.from_buffer(element), len(element)))

    def item(self) -> Any:
        """The value of a buffer without dimensions, as an int, float, bool or complex.

        Raises
        ------
        ValueError
            The buffer has dimensions.
        """
        if self.rank:
            raise ValueError(f"item() needs a scalar, not the shape {self.shape}")
        if self.dtype is DType.string:
            return strings_of(self._handle, 1)[0]
        size = self.element_size
        out = ffi.new("char[]", size)
        check(lib.maxBufferRead(self._handle, ffi.NULL, 0, size, out))
        return unpacked(ffi.buffer(out, size)[:], self.dtype)

    def __len__(self) -> int:
        if not self.rank:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Buffer]:
        if not self.rank:
            raise TypeError("a scalar cannot be iterated over")
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> bool:
        return bool(self._only("truth value"))

    def __int__(self) -> int:
        return int(self._only("int"))

    def __float__(self) -> float:
        return float(self._only("float"))

    def _only(self, what: str) -> Any:
        if self.num_elements != 1:
            raise ValueError(f"a buffer of {self.num_elements} elements has no {what}")
        return self[(0,) * self.rank].item()

    # Other libraries.

    def map_to_host(self, access: str = "rw") -> HostMapping:
        """The host's access to the contents while a ``with`` block runs.

        Parameters
        ----------
        access : "r", "w" or "rw"
            What the host does; with "w" all contents are to be written.

        Returns
        -------
        context manager
            Gives a numpy array: of the same memory on the host, which nothing else may use meanwhile, else of a copy
            that is written back at the end of the block.

        Examples
        --------
        >>> with buffer.map_to_host() as array:
        ...     array += 1
        """
        return HostMapping(self, access)

    def to_numpy(self) -> NDArray[Any]:
        """The buffer as a numpy array: of the same memory on the host, of a copy otherwise.

        Returns
        -------
        numpy.ndarray
            Read-only if the buffer is. Strings are an array of objects.

        Raises
        ------
        ValueError
            numpy has no such type.
        """
        try:
            info = _infos.pop()
        except IndexError:
            info = _new_info()
        try:
            return self._array_of(info)
        finally:
            _infos.append(info)

    def _array_of(self, info: Any) -> NDArray[Any]:
        status = lib.maxPythonGetInfoOfHost(self._handle, info)
        if status:
            raise error_of(status)
        array: NDArray[Any]
        rank, number, count = info.rank, info.dtype, info.elementCount
        shape = self._shape = tuple(_unpack(info.shape, rank)) if rank else ()
        flags = info.flags
        if not flags & _ON_HOST or number == _STRING:
            return self._copied_array(flags, count)
        element = _arrays.element_types[number]
        if count == 0:
            array = _arrays.ndarray(shape, element)
        elif flags & _DENSE:
            array = _arrays.ndarray(shape, element, self._memory(info.address, info.byteCount))
        else:
            array = self._strided_array(info.address, shape, element)
        if flags & _READ_ONLY:
            array.flags.writeable = False
        return array

    def _copied_array(self, flags: int, count: int) -> NDArray[Any]:
        if not flags & _ON_HOST:
            return self.to(CPU()).to_numpy()
        return _arrays.array_of_strings(strings_of(self._handle, count), self.shape)

    def _strided_array(self, address: int, shape: tuple[int, ...], element: numpy.dtype[Any]) -> NDArray[Any]:
        strides = tuple(stride * element.itemsize for stride in self.strides)
        # From the lowest address, where negative strides end, to the highest.
        lowest = sum((size - 1) * stride for size, stride in zip(shape, strides) if stride < 0)
        highest = sum((size - 1) * stride for size, stride in zip(shape, strides) if stride > 0) + element.itemsize
        memory = self._memory(address + lowest, highest - lowest)
        array: NDArray[Any] = _arrays.ndarray(shape, element, memory, -lowest, strides)
        return array

    def _memory(self, address: int, byte_count: int) -> Any:
        # The destructor is a method of this buffer, so that holders of the memory hold the buffer.
        return _view(_with_destructor(_cast(_BYTES, address), self._outlived), byte_count)

    def _outlived(self, memory: Any) -> None:
        """Called when the last array of the memory goes."""

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> NDArray[Any]:
        array = self.to_numpy()
        if dtype is not None and dtype != array.dtype:
            if copy is False:
                raise ValueError(f"{array.dtype} cannot become {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A capsule that shares the memory; see the DLPack protocol of the array API standard.

        Parameters
        ----------
        stream : int, optional
            -1: the consumer orders its work by itself. Otherwise the call waits until the data is there.
        max_version : tuple of int, optional
            Newest version that the consumer knows.
        dl_device : tuple of int, optional
            Where the data must be: on the buffer's device, or on the host.
        copy : bool, optional
            True gives a copy, False never does.

        Raises
        ------
        BufferError
            The data is on another device than `dl_device` and not to be copied there, of a type that DLPack lacks, or
            read-only and the consumer's version cannot say so.
        """
        source = self._on(dl_device, copy)
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and source.is_read_only:
            raise BufferError("a read-only buffer needs max_version=(1, 0)")
        try:
            return capsule_of(source._handle, stream, versioned)
        except MaxError as error:
            raise BufferError(str(error)) from None

    def _on(self, device: Optional[tuple[int, int]], copy: Optional[bool]) -> Buffer:
        """The buffer, or a copy, where a consumer wants it: on its device or on the host."""
        if device is None or tuple(device) == self.__dlpack_device__():
            return self.copy() if copy else self
        if tuple(device) != dlpack_device_of("cpu", 0, False) or copy is False:
            way = "" if copy is None else f" with copy={copy}"
            raise BufferError(f"the buffer is on {self.__dlpack_device__()}, not on {tuple(device)}{way}")
        return self.copy(CPU())

    def __dlpack_device__(self) -> tuple[int, int]:
        """Type and number of the device as DLPack has them."""
        device = self.device
        return dlpack_device_of(device.api, device.id, self.pinned)

    # Python's own.

    def __repr__(self) -> str:
        return f"Buffer(dtype={self.dtype!r}, shape={self.shape}, device={self.device!r})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        """What the package rich shows."""
        yield from (("dtype", self.dtype), ("shape", self.shape), ("device", self.device))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.dtype is DType.string:
            raise TypeError("a buffer of strings cannot be pickled")
        source = self if self.is_host and self.is_contiguous else self.contiguous().to(CPU())
        size = source._info().byteCount
        content = bytearray(size)
        check(lib.maxBufferCopyToHost(source._handle, 0, ffi.from_buffer(content), size, ffi.NULL))
        return _unpickled, (bytes(content), self.dtype, self.shape, self.device)

    def __copy__(self) -> Buffer:
        return self._slice(())

    def __deepcopy__(self, memo: Any) -> Buffer:
        return self.copy()


def _unpickled(content: bytes, dtype: DType, shape: tuple[int, ...], device: Device) -> Buffer:
    buffer = Buffer(dtype, shape)
    check(lib.maxBufferCopyFromHost(buffer._handle, 0, ffi.from_buffer(content), len(content), ffi.NULL))
    return buffer if device.is_host else buffer.to(device)


def wrap_buffer(handle: Any, _new: Any = object.__new__) -> Buffer:
    """The buffer of a new reference."""
    buffer: Buffer = _new(Buffer)
    buffer._handle = handle
    buffer._shape = buffer._dtype = None
    return buffer


def load_max_buffer(path: PathType) -> Buffer:
    """Reads a ".max" checkpoint.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Buffer
        On the host. Large files are mapped, so they must not shrink.

    Raises
    ------
    ValueError
        The file is not a checkpoint.
    """
    out = ffi.new("MaxBuffer**")
    check(lib.maxBufferLoad(path_bytes(path), out))
    return wrap_buffer(out[0])


def _index(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} is not an index; indices are ints, slices, ... and None")
    index: int = value.__index__()
    if not -(2**63) < index < 2**63:
        raise IndexError(f"index {index} is too large")
    return index


def _end(value: Any) -> int:
    if value is None:
        return int(_OMITTED)
    if not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} is not the end of a slice; use an int or omit it")
    # Ends that are not numbers of the library lie outside any dimension: they are clamped as Python does.
    return max(-(2**62), min(int(value.__index__()), 2**62))
