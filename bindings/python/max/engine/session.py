# SPDX-License-Identifier: Apache-2.0
"""Sessions: where models are loaded and how they run."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Optional

from max._error import check
from max._handle import Handle
from max._raw import ffi, lib
from max._text import PathType, bytes_of, path_bytes
from max.driver.buffer import Buffer
from max.driver.device import Device, wrap_device
from max.dtype import DType
from max.engine.limits import Cancellation
from max.engine.load import Load
from max.engine.messages import forward_messages
from max.engine.model import Model
from max.engine.origin import Source

if TYPE_CHECKING:
    from max.driver.dlpack import DLPackArray
    from max.engine._types import CustomExtensionsType
    from max.graph.graph import Graph

GPUProfilingMode = Literal["off", "on", "detailed"]

_PROFILING = {
    "off": lib.MAX_PROFILING_MODE_OFF,
    "on": lib.MAX_PROFILING_MODE_ON,
    "detailed": lib.MAX_PROFILING_MODE_DETAILED,
}


class LogLevel(str, enum.Enum):
    """How important messages of a session must be."""

    NOTSET = "notset"
    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


class AssertLevel(str, enum.Enum):
    """What is checked between the steps of models."""

    NONE = "none"
    WARN = "warn"
    SAFE = "safe"
    ALL = "all"


class SplitKReductionPrecision(str, enum.Enum):
    """Type in which the sums of the parts of long matrix products are added up."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"


def _extension_paths(extensions: Any) -> list[PathType]:
    if extensions is None:
        return []
    return [extensions] if isinstance(extensions, (str, bytes, os.PathLike)) else list(extensions)


def _choice(enumeration: Any, value: Any) -> Any:
    try:
        return enumeration(value.lower() if isinstance(value, str) else value)
    except ValueError:
        allowed = ", ".join(repr(member.value) for member in enumeration)
        raise ValueError(f"{value!r} is not a {enumeration.__name__}; use one of {allowed}") from None


class InferenceSession(Handle):
    """Loads models and holds what they share: devices, threads, settings.

    Parameters
    ----------
    devices : iterable of Device, optional
        Models run on the first one; the host by default.
    num_threads : int, optional
        Most threads that one call uses; the physical cores by default.
    custom_extensions : path or sequence of paths, optional
        Libraries of operators to load.
    weights_cache_dir : path, optional
        Folder in which packed weights are kept for later loads; an empty one keeps none. By default that of the environment
        variable ``MAX_WEIGHTS_CACHE_DIR``, if any.

    Examples
    --------
    >>> session = InferenceSession(devices=[CPU()])
    >>> model = session.load("digits.onnx")
    >>> model.execute(image)[0].to_numpy()
    """

    __slots__ = ()
    _release = lib.maxSessionRelease

    def __init__(
        self,
        devices: Optional[Iterable[Device]] = None,
        num_threads: Optional[int] = None,
        *,
        custom_extensions: Optional[CustomExtensionsType] = None,
        weights_cache_dir: Optional[PathType] = None,
    ) -> None:
        chosen = list(devices) if devices is not None else []
        for device in chosen:
            if not isinstance(device, Device):
                raise TypeError(f"{device!r} is not a Device")
        if num_threads is not None and (isinstance(num_threads, bool) or not isinstance(num_threads, int)):
            raise TypeError(f"num_threads must be an int, not {num_threads!r}")
        if num_threads is not None and not 1 <= num_threads < 2**31:
            raise ValueError(f"num_threads must be at least 1, not {num_threads}")
        handles = ffi.new("MaxDevice*[]", [device._handle for device in chosen])
        options = ffi.new("MaxSessionOptions*", {"structSize": ffi.sizeof("MaxSessionOptions")})
        options.devices, options.deviceCount = handles, len(chosen)
        options.threadCount = num_threads or 0
        folder = ffi.new("char[]", path_bytes(weights_cache_dir)) if weights_cache_dir is not None else ffi.NULL
        options.weightsCacheDir = folder
        out = ffi.new("MaxSession**")
        check(lib.maxSessionCreate(options, out))
        self._own(out[0])
        _load_extensions(custom_extensions)

    @property
    def devices(self) -> list[Device]:
        """The session's devices, a list of `Device`."""
        count, out = ffi.new("int32_t*"), ffi.new("MaxDevice**")
        check(lib.maxSessionGetDeviceCount(self._handle, count))
        devices = []
        for index in range(count[0]):
            check(lib.maxSessionGetDevice(self._handle, index, out))
            devices.append(wrap_device(out[0]))
        return devices

    @property
    def num_threads(self) -> int:
        """Most threads that one call uses."""
        out = ffi.new("int32_t*")
        check(lib.maxSessionGetThreadCount(self._handle, out))
        return int(out[0])

    def load(
        self,
        model: PathType | Graph,
        *,
        custom_extensions: Optional[CustomExtensionsType] = None,
        weights_registry: Optional[Mapping[str, DLPackArray]] = None,
        progress: Optional[Callable[[float, str], object]] = None,
        timeout: Optional[float] = None,
        cancellation: Optional[Cancellation] = None,
    ) -> Model:
        """Loads a model.

        Parameters
        ----------
        model : str, path or Graph
            An ONNX file, a compiled model, a folder that holds model.onnx or model.maxc, or a graph built in code.
        custom_extensions : path or sequence of paths, optional
            Libraries of operators to load before.
        weights_registry : mapping of str to DLPackArray, optional
            Weights by name, used where they lie in place of the model's own. They must not be written any more. A graph
            needs each of its weights.
        progress : callable, optional
            Told in this thread how far the load is: a fraction from 0 to 1, and what is being done. What it raises ends
            the load.
        timeout : float, optional
            Seconds after which the load gives up.
        cancellation : Cancellation, optional
            Stops the load when it is cancelled; Ctrl-C does so too.

        Returns
        -------
        Model

        Raises
        ------
        RuntimeError
            There is no such file, or it is not a model that can run here.
        TimeoutError
            The time has passed.

        Examples
        --------
        >>> session.load("large.onnx", progress=lambda done, phase: print(f"{done:4.0%} {phase}"))
        """
        _load_extensions(custom_extensions)
        options = ffi.new("MaxModelLoadOptions*", {"structSize": ffi.sizeof("MaxModelLoadOptions")})
        kept = _set_weights(options, weights_registry or {})
        out = ffi.new("MaxModel**")
        source = None
        effects = None
        with Load(options, progress, timeout, cancellation):
            if isinstance(model, (str, bytes, os.PathLike)):
                if not weights_registry:
                    source = Source(os.path.abspath(os.fsdecode(model)), self.devices, self.num_threads)
                check(lib.maxModelLoad(self._handle, path_bytes(model), options, out))
            else:
                graph = _require_graph(model, self.devices)
                check(lib.maxModelCompile(self._handle, graph._scope.handle, options, out))
                effects = graph.effects()
        del kept
        if effects is not None:
            from max.graph._model import model_of

            return model_of(out[0], effects)
        return Model._of_handle(out[0], source)

    # Settings: they hold from the next call on, for models that are loaded too.

    def gpu_profiling(self, mode: GPUProfilingMode) -> None:
        """Sets what is recorded of calls, whatever MODULAR_ENABLE_PROFILING says. `write_profile` writes it.

        Parameters
        ----------
        mode : "off", "on" or "detailed"
        """
        if not isinstance(mode, str) or mode not in _PROFILING:
            raise ValueError(f'mode must be "off", "on" or "detailed", not {mode!r}')
        check(lib.maxSessionSetProfiling(self._handle, _PROFILING[mode]))

    def write_profile(self, path: PathType) -> None:
        """Writes what was recorded of calls as a trace, which Perfetto and chrome://tracing show.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        RuntimeError
            The file cannot be written.
        """
        check(lib.maxSessionWriteProfile(self._handle, path_bytes(path)))

    def clear_profile(self) -> None:
        """Forgets what was recorded of calls."""
        check(lib.maxSessionClearProfile(self._handle))

    def set_mojo_log_level(self, level: str | LogLevel) -> None:
        """Sets how important messages of loads and calls must be, and hands them to Python's logger "max".

        Parameters
        ----------
        level : LogLevel or str
            "notset" is the library's default, "info".
        """
        name = _choice(LogLevel, level).name
        forward_messages()
        check(lib.maxSessionSetLogLevel(self._handle, getattr(lib, f"MAX_LOG_LEVEL_{name}")))

    def set_mojo_assert_level(self, level: str | AssertLevel) -> None:
        """Sets what is checked between the steps of models.

        Parameters
        ----------
        level : AssertLevel or str
        """
        name = _choice(AssertLevel, level).name
        check(lib.maxSessionSetAssertLevel(self._handle, getattr(lib, f"MAX_ASSERT_LEVEL_{name}")))

    def set_split_k_reduction_precision(self, precision: str | SplitKReductionPrecision) -> None:
        """Sets the type in which the sums of the parts of long matrix products are added up.

        Parameters
        ----------
        precision : SplitKReductionPrecision or str
        """
        dtype = DType[_choice(SplitKReductionPrecision, precision).value]
        check(lib.maxSessionSetSplitKReductionPrecision(self._handle, dtype.value))

    def use_old_top_k_kernel(self, mode: str) -> None:
        """Chooses whether TopK sorts whole lines.

        Parameters
        ----------
        mode : str
            "false", "off", "no" and "0" are no, anything else is yes.
        """
        use = str(mode).lower() not in ("false", "off", "no", "0")
        check(lib.maxSessionSetUseOldTopK(self._handle, use))

    def __repr__(self) -> str:
        return f"InferenceSession(devices={self.devices}, num_threads={self.num_threads})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        """What the package rich shows."""
        yield from (("devices", self.devices), ("num_threads", self.num_threads))


def _require_graph(model: Any, devices: list[Device]) -> Graph:
    from max.graph.graph import Graph

    if not isinstance(model, Graph):
        raise TypeError(f"model must be a path or a max.graph.Graph, not {type(model).__name__}")
    missing = [device for device in model.devices if device.is_gpu() and str(device) not in map(_label, devices)]
    if missing:
        raise ValueError(f"the graph {model.name!r} has values on {missing[0]}; the session's devices are {devices}")
    return model


def _label(device: Device) -> str:
    return f"{device.label}:{device.id}"


def _load_extensions(extensions: Any) -> None:
    for path in _extension_paths(extensions):
        check(lib.maxExtensionLoad(path_bytes(path)))


def _set_weights(options: Any, registry: Mapping[str, Any]) -> Any:
    """Puts weights into load options; what is returned must live until the load is done."""
    buffers = {}
    for name, array in registry.items():
        if not isinstance(name, str):
            raise TypeError(f"the weights' names are str, not {name!r}")
        buffers[name] = array if isinstance(array, Buffer) else Buffer.from_dlpack(array)
    texts = [ffi.new("char[]", bytes_of(name)) for name in buffers]
    names = ffi.new("char*[]", texts)
    handles = ffi.new("MaxBuffer*[]", [buffer._handle for buffer in buffers.values()])
    options.weightNames, options.weights, options.weightCount = names, handles, len(buffers)
    return buffers, texts, names, handles
