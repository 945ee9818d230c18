# SPDX-License-Identifier: Apache-2.0
"""Kernels: compiled from source when the program runs, and launched on streams."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Optional, Union

from max._error import check
from max._handle import Handle
from max._raw import ffi, lib
from max._text import bytes_of, text_of
from max.driver.buffer import Buffer
from max.driver.device import CPU, Device, wrap_device
from max.driver.event import DeviceEvent
from max.driver.stream import DeviceStream

Size = Union[int, Sequence[int]]
ArtifactKind = Literal["log", "ptx", "cubin", "code_object", "shared_object", "assembly", "llvm_ir"]

_TEXTS = ("log", "ptx", "assembly", "llvm_ir")
_ARTIFACTS = {
    kind: getattr(lib, f"MAX_ARTIFACT_KIND_{kind.upper()}")
    for kind in (*_TEXTS, "cubin", "code_object", "shared_object")
}
_ATTRIBUTES = {
    "max_threads_per_block": lib.MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    "shared_size": lib.MAX_KERNEL_ATTRIBUTE_SHARED_SIZE,
    "constant_size": lib.MAX_KERNEL_ATTRIBUTE_CONSTANT_SIZE,
    "local_size": lib.MAX_KERNEL_ATTRIBUTE_LOCAL_SIZE,
    "registers": lib.MAX_KERNEL_ATTRIBUTE_REGISTERS,
    "ptx_version": lib.MAX_KERNEL_ATTRIBUTE_PTX_VERSION,
    "binary_version": lib.MAX_KERNEL_ATTRIBUTE_BINARY_VERSION,
    "max_dynamic_shared_size": lib.MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE,
    "preferred_shared_carveout": lib.MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT,
    "non_portable_cluster_size_allowed": lib.MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
}
_BUFFER = lib.MAX_KERNEL_ARGUMENT_BUFFER


class _Texts:
    """Arrays of C strings that live as long as this does."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def text(self, text: str) -> Any:
        self._kept.append(ffi.new("char[]", bytes_of(text)))
        return self._kept[-1]

    def array(self, texts: Sequence[str]) -> Any:
        self._kept.append(ffi.new("char*[]", [self.text(text) for text in texts]))
        return self._kept[-1]


def _version_of(path: str) -> list[int]:
    return [int(number) for number in path.rpartition(".so.")[2].split(".") if number.isdigit()]


def _find_nvrtc() -> None:
    """Opens the newest NVRTC of NVIDIA's wheels, so that the library finds it by its name."""
    import glob
    import importlib.util
    import os

    if _opened or os.environ.get("MAX_NVRTC_LIBRARY"):
        return
    spec = importlib.util.find_spec("nvidia")
    found = [
        path
        for folder in (spec.submodule_search_locations or () if spec else ())
        for path in glob.glob(os.path.join(glob.escape(folder), "*", "lib", "libnvrtc.so.*"))
    ]
    for path in sorted(found, key=_version_of, reverse=True):
        try:
            _opened.append(ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL))
            return
        except OSError:
            continue


_opened: list[Any] = []


class Module(Handle):
    """Compiled code on a device, in which kernels are found.

    Parameters
    ----------
    source : str
        In CUDA's dialect of C++; kernels that are declared ``extern "C"`` are found by their names. It is compiled for
        any device: by NVRTC, HIPRTC, or for the host by the system's compiler.
    device : Device, optional
        The host by default.
    name : str, optional
        What messages call the source.
    defines : mapping of str to value, optional
        Macros; True stands for 1.
    headers : mapping of str to str, optional
        Texts by the names that the source includes.
    flags : sequence of str, optional
        Options for the compiler.
    architecture : str, optional
        Chip to compile for; the device's own by default.
    fast_math, line_info : bool, optional
    register_limit : int, optional

    Raises
    ------
    ValueError
        The source does not compile; the message holds the compiler's log.
    RuntimeError
        There is no compiler.

    Examples
    --------
    >>> module = Module('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }')
    >>> module["twice"](buffer, grid=1, block=4)
    """

    __slots__ = ()
    _release = lib.maxModuleRelease

    def __init__(
        self,
        source: str,
        device: Optional[Device] = None,
        *,
        name: str = "kernel.cu",
        defines: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        flags: Sequence[str] = (),
        architecture: Optional[str] = None,
        fast_math: bool = False,
        line_info: bool = False,
        register_limit: int = 0,
    ) -> None:
        device = CPU() if device is None else device
        if not isinstance(device, Device):
            raise TypeError(f"device must be a Device, not {device!r}")
        if not isinstance(source, str) or isinstance(flags, str):
            raise TypeError("source is a str, flags a sequence of str")
        if device.api == "cuda":
            _find_nvrtc()
        texts, macros, included = _Texts(), dict(defines or {}), dict(headers or {})
        values = ["1" if value is True else str(value) for value in macros.values()]
        options = ffi.new("MaxModuleOptions*", {"structSize": ffi.sizeof("MaxModuleOptions")})
        options.defineNames, options.defineValues = texts.array(list(macros)), texts.array(values)
        options.headerNames, options.headerTexts = texts.array(list(included)), texts.array(list(included.values()))
        options.flags = texts.array(list(flags))
        options.defineCount, options.headerCount, options.flagCount = len(macros), len(included), len(flags)
        options.fastMath, options.lineInfo, options.registerLimit = fast_math, line_info, register_limit
        if architecture is not None:
            options.architecture = texts.text(architecture)
        out = ffi.new("MaxModule**")
        check(lib.maxModuleCompile(device._handle, bytes_of(source), bytes_of(name), options, out))
        self._own(out[0])

    @staticmethod
    def load(code: bytes, device: Optional[Device] = None) -> Module:
        """A module of compiled code, which runs in this process: PTX, a CUBIN, a code object or a shared object."""
        device = CPU() if device is None else device
        if not isinstance(device, Device):
            raise TypeError(f"device must be a Device, not {device!r}")
        out = ffi.new("MaxModule**")
        content = ffi.from_buffer(code)
        check(lib.maxModuleLoadFromMemory(device._handle, content, len(content), out))
        module: Module = object.__new__(Module)
        module._own(out[0])
        return module

    @property
    def device(self) -> Device:
        """The device that the module was made for."""
        out = ffi.new("MaxDevice**")
        check(lib.maxModuleGetDevice(self._handle, out))
        return wrap_device(out[0])

    def kernel(self, name: str) -> Kernel:
        """The kernel of a name, also ``module[name]``.

        Raises
        ------
        RuntimeError
            There is no such kernel.
        """
        out = ffi.new("MaxKernel**")
        check(lib.maxModuleGetKernel(self._handle, bytes_of(name), out))
        lib.maxKernelRetain(out[0])
        kernel: Kernel = object.__new__(Kernel)
        kernel._own(out[0])
        return kernel

    __getitem__ = kernel

    def artifact(self, kind: ArtifactKind) -> Union[str, bytes]:
        """The code in one of its forms: a str of "log", "ptx", "assembly" and "llvm_ir", bytes of the others."""
        if kind not in _ARTIFACTS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, _ARTIFACTS))}, not {kind!r}")
        data, size = ffi.new("void const**"), ffi.new("size_t*")
        check(lib.maxModuleGetArtifact(self._handle, _ARTIFACTS[kind], data, size))
        content = bytes(ffi.buffer(data[0], size[0])) if size[0] else b""
        return content.decode(errors="replace") if kind in _TEXTS else content

    def set_constant(self, name: str, value: Any, stream: Optional[DeviceStream] = None) -> None:
        """Writes a ``__constant__`` or ``__device__`` variable: with bytes, an array or whatever has a buffer."""
        _require_stream(stream)
        content = ffi.from_buffer(value)
        check(lib.maxModuleSetConstant(self._handle, bytes_of(name), content, len(content), _handle_of(stream)))

    def __repr__(self) -> str:
        return f"Module(device={self.device!r})"


class Kernel(Handle):
    """A function of a module that can be launched; `Module.kernel` gives it."""

    __slots__ = ()
    _release = lib.maxKernelRelease

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("a Kernel is given by Module.kernel()")

    @property
    def name(self) -> str:
        """Its name."""
        out = ffi.new("char const**")
        check(lib.maxKernelGetName(self._handle, out))
        return text_of(out[0])

    def attribute(self, name: str) -> int:
        """A property: "registers", "shared_size", "max_threads_per_block" and others, as CUDA has them."""
        out = ffi.new("int64_t*")
        check(lib.maxKernelGetAttribute(self._handle, _attribute(name), out))
        return int(out[0])

    def set_attribute(self, name: str, value: int) -> None:
        """Sets a property for later launches, for example "max_dynamic_shared_size"."""
        check(lib.maxKernelSetAttribute(self._handle, _attribute(name), value))

    def __call__(
        self,
        *args: Any,
        grid: Size = 1,
        block: Size = 1,
        stream: Optional[DeviceStream] = None,
        shared: int = 0,
        cluster: Optional[Size] = None,
        cooperative: bool = False,
    ) -> None:
        """Launches the kernel. Buffers are kept until it has run.

        Parameters
        ----------
        *args : Buffer, number of numpy or ctypes, int, float or bool
            numpy's and ctypes' numbers are taken as they are, an int as 32 bits, a float as float32.
        grid, block : int or up to three ints
            Blocks, and threads of each.
        stream : DeviceStream, optional
            The device's default stream by default.
        shared : int, optional
            Bytes of dynamic shared memory of each block.
        cluster : int or up to three ints, optional
            Blocks of a cluster.
        cooperative : bool, optional
            Whether all blocks must run at the same time.

        Raises
        ------
        ValueError
            Numbers or sizes of arguments, dimensions or devices are wrong.
        """
        _require_stream(stream)
        config = ffi.new("MaxLaunchConfig*", {"structSize": ffi.sizeof("MaxLaunchConfig")})
        config.grid, config.block = _three(grid, "grid"), _three(block, "block")
        if cluster is not None:
            config.cluster = _three(cluster, "cluster")
        config.sharedByteCount, config.cooperative = shared, cooperative
        arguments, sizes, kept = ffi.new("void*[]", max(len(args), 1)), ffi.new("size_t[]", max(len(args), 1)), []
        for i, value in enumerate(args):
            if isinstance(value, Buffer):
                arguments[i], sizes[i] = value._handle, _BUFFER
                continue
            content = ffi.from_buffer(_bytes_of(value, i))
            kept.append(content)
            arguments[i], sizes[i] = ffi.cast("void*", content), len(content)
        check(lib.maxKernelLaunch(self._handle, config, arguments, sizes, len(args), _handle_of(stream)))

    def __repr__(self) -> str:
        return f"Kernel({self.name!r})"


def execution_time(function: Callable[[], object], stream: DeviceStream, iterations: int = 1) -> float:
    """Milliseconds that work takes on a stream.

    Parameters
    ----------
    function : callable
        Queues the work; called `iterations` times.
    stream : DeviceStream
        The stream that it queues the work on.
    iterations : int, optional

    Returns
    -------
    float
        Of one call, on average.
    """
    if not isinstance(stream, DeviceStream):
        raise TypeError(f"stream must be a DeviceStream, not {stream!r}")
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, not {iterations}")
    start, end = (DeviceEvent(stream.device, enable_timing=True) for _ in range(2))
    stream.record_event(start)
    for _ in range(iterations):
        function()
    stream.record_event(end)
    end.synchronize()
    return start.elapsed_time(end) / iterations


def _attribute(name: str) -> int:
    if name not in _ATTRIBUTES:
        raise ValueError(f"{name!r} is not an attribute of kernels; use one of {', '.join(_ATTRIBUTES)}")
    return int(_ATTRIBUTES[name])


def _require_stream(stream: object) -> None:
    if stream is not None and not isinstance(stream, DeviceStream):
        raise TypeError(f"stream must be a DeviceStream, not {stream!r}")


def _handle_of(stream: Optional[DeviceStream]) -> Any:
    return ffi.NULL if stream is None else stream._handle


def _three(size: Any, name: str) -> list[int]:
    try:
        sizes = [size.__index__()] if hasattr(size, "__index__") else [part.__index__() for part in size]
    except (TypeError, AttributeError):
        raise TypeError(f"{name} must be one to three ints, not {size!r}") from None
    if not 1 <= len(sizes) <= 3 or not all(0 < part < 2**31 for part in sizes):
        raise ValueError(f"{name} must be one to three positive ints, not {size!r}")
    return sizes + [1] * (3 - len(sizes))


def _bytes_of(value: Any, position: int) -> Any:
    try:
        if isinstance(value, bool):
            return struct.pack("<?", value)
        if isinstance(value, int):
            return struct.pack("<i" if value < 0 else "<I", value)
        if type(value) is float:
            return struct.pack("<f", value)
    except (struct.error, OverflowError):
        message = f"argument {position} is {value}, which does not fit into 32 bits; numpy's numbers have other sizes"
        raise ValueError(message) from None
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.tobytes()
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Array)):
        return value
    raise TypeError(f"argument {position} is of type {type(value).__name__}; kernels take Buffers and numbers")
