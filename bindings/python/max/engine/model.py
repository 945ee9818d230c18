# SPDX-License-Identifier: Apache-2.0
"""Models: loaded once, executed many times, from many threads."""

from __future__ import annotations

import time
from _thread import allocate_lock, start_new_thread
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from max._error import check, error_of
from max._handle import Handle
from max._raw import ffi, lib
from max._text import PathType, path_bytes
from max.driver.buffer import Buffer, wrap_buffer
from max.engine.call import Call
from max.engine.limits import Cancellation, set_limits
from max.engine.origin import Origin, Source, open_once
from max.engine.tensor_spec import TensorSpec
from max.engine.values import buffer_of, python_of, value_of

_NULL = ffi.NULL
_run, _run_host = lib.maxModelExecute, lib.maxModelExecuteHost
_OUTPUTS = ffi.typeof("MaxBuffer*[]")


def _specs(handle: Any, get_count: Any, get: Any) -> list[TensorSpec]:
    count = ffi.new("int32_t*")
    check(get_count(handle, count))
    specs = []
    for index in range(count[0]):
        info = ffi.new("MaxTensorInfo*", {"structSize": ffi.sizeof("MaxTensorInfo")})
        check(get(handle, index, info))
        specs.append(TensorSpec(info))
    return specs


class Model(Handle):
    """A model that is ready to run. `InferenceSession.load` makes one; it may be called from several threads.

    Inputs are given by position or by name: `Buffer`, numpy arrays, arrays of any library that implements DLPack, and
    numbers for scalars. Sequences are lists, maps are dicts, an optional may be None. Outputs are `Buffer`, or lists,
    dicts and None.

    A pickle of a model is the path of its file and a hash of its contents; where it is loaded again, a file with these
    contents must lie at that path, and is opened once for all of them.
    """

    __slots__ = ("_calls", "_has_values", "_inputs", "_is_long", "_outputs", "_source")
    _release = lib.maxModelRelease
    _inputs: list[TensorSpec]
    _outputs: list[TensorSpec]
    _source: Optional[Source]
    _calls: list[Call]  # that no thread uses now
    _has_values: bool
    _is_long: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("a Model is made by InferenceSession.load()")

    @classmethod
    def _of_handle(cls, handle: Any, source: Optional[Source]) -> Model:
        model: Model = object.__new__(cls)
        model._own(handle)
        model._calls = []
        model._source, model._is_long = source, True  # so that the first call can be interrupted
        model._inputs = _specs(handle, lib.maxModelGetInputCount, lib.maxModelGetInput)
        model._outputs = _specs(handle, lib.maxModelGetOutputCount, lib.maxModelGetOutput)
        model._has_values = not all(spec.is_tensor for spec in model._inputs + model._outputs)
        return model

    @property
    def input_metadata(self) -> list[TensorSpec]:
        """Inputs in their order, a list of `TensorSpec`."""
        return list(self._inputs)

    @property
    def output_metadata(self) -> list[TensorSpec]:
        """Outputs in their order, a list of `TensorSpec`."""
        return list(self._outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Runs the model; inputs by position, by name, or both.

        Returns
        -------
        list
            Outputs in the order of `output_metadata`.

        Raises
        ------
        TypeError
            An input is missing, unknown or given twice.
        ValueError
            An input has the wrong type or shape.
        """
        return self.execute(*(self._bound(args, kwargs) if kwargs else args))

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = [spec.name for spec in self._inputs]
        values = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"the model has no input {name!r}; its inputs are {', '.join(map(repr, names))}")
            if name in values:
                raise TypeError(f"input {name!r} is given by position and by name")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing or len(args) > len(names):
            raise TypeError(f"the inputs are {', '.join(map(repr, names))}; missing: {', '.join(missing) or 'none'}")
        return [values[name] for name in names]

    def execute(
        self, *args: Any, timeout: Optional[float] = None, cancellation: Optional[Cancellation] = None
    ) -> list[Any]:
        """Runs the model on inputs by position.

        Parameters
        ----------
        *args : Buffer, numpy.ndarray, DLPackArray, number, list, dict or None
        timeout : float, optional
            Seconds after which the call gives up.
        cancellation : Cancellation, optional
            Stops the call when it is cancelled; Ctrl-C cancels it.

        Returns
        -------
        list
            Outputs in the order of `output_metadata`.

        Raises
        ------
        ValueError
            The number, type, shape or layout of the inputs is wrong.
        TimeoutError
            The time has passed.
        """
        start = _now()
        try:
            if self._is_long and _in_main_thread():
                return self._execute_interruptibly(args, timeout, cancellation or Cancellation())
            return self._execute(args, timeout, cancellation)
        finally:
            self._is_long = _now() - start > _LONG

    def _execute_interruptibly(self, args: tuple[Any, ...], timeout: Optional[float], stop: Cancellation) -> list[Any]:
        """Runs the model in a thread: this one, Python's first, is where signals are handled."""
        given = [args]  # which the thread lets go before it tells that it is done
        del args
        found: list[Any] = []
        failed: list[BaseException] = []
        done = allocate_lock()
        done.acquire()

        def run() -> None:
            try:
                found.append(self._execute(given.pop(), timeout, stop))
            except BaseException as error:
                failed.append(error)
            finally:
                done.release()

        try:
            start_new_thread(run, ())
        except RuntimeError:  # there are too many, or Python goes down
            run()
        try:
            done.acquire()
        except BaseException:
            stop.cancel()
            _wait(done)  # the inputs are in use until then
            failed.clear()
            raise
        if failed:
            raise failed.pop()
        return found.pop()  # type: ignore[no-any-return]

    def _execute(
        self, args: tuple[Any, ...], timeout: Optional[float], cancellation: Optional[Cancellation]
    ) -> list[Any]:
        options = _NULL if timeout is None and cancellation is None else _limited(timeout, cancellation)
        count, results = len(self._inputs), len(self._outputs)
        if len(args) != count:
            message = f"Number of inputs ({len(args)}) does not match expected number ({count}) for model"
            raise ValueError(message)
        if self._has_values:
            return self._execute_values(args, options)
        try:
            call = self._calls.pop()
        except IndexError:
            call = Call(count, results)
        outputs, kept = call.outputs, None
        if not call.take_buffers(args) and not (kept := call.take_arrays(args)):
            call.take_buffers(kept := tuple(map(buffer_of, args, self._inputs, range(count))))
            status = _run(self._handle, call.handles, count, options, outputs, results)
        elif kept is None:
            status = _run(self._handle, call.handles, count, options, outputs, results)
        else:
            status = _run_host(
                self._handle, call.data, call.numbers, call.ranks, call.shapes, count, options, outputs, results
            )
        if status:
            raise error_of(status)
        found = [wrap_buffer(handle) for handle in outputs]
        self._calls.append(call)
        return found

    def _execute_values(self, args: tuple[Any, ...], options: Any) -> list[Any]:
        values = [value_of(value, spec, i) for i, (value, spec) in enumerate(zip(args, self._inputs))]
        outputs = ffi.new("MaxValue*[]", len(self._outputs))
        check(lib.maxModelExecuteValues(self._handle, values, len(values), options, outputs, len(outputs)))
        kept = [ffi.gc(value, lib.maxValueRelease) for value in outputs]
        return [python_of(value) for value in kept]

    async def execute_async(self, *args: Any, timeout: Optional[float] = None) -> list[Any]:
        """As `execute`, in a thread of the event loop's pool. Cancelling the task stops the execution.

        Parameters
        ----------
        *args
            Inputs by position.
        timeout : float, optional
            Seconds after which the call gives up.
        """
        import asyncio

        cancellation = Cancellation()
        try:
            return await asyncio.to_thread(self.execute, *args, timeout=timeout, cancellation=cancellation)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    # Captured calls.

    def _key_and_handles(self, graph_key: int, inputs: Sequence[Buffer]) -> tuple[int, list[Any]]:
        if isinstance(graph_key, bool) or not isinstance(graph_key, int):
            raise TypeError(f"graph_key must be an int, not {graph_key!r}")
        if not 0 <= graph_key < 2**64:
            raise ValueError(f"graph_key is {graph_key}, outside the range of a uint64")
        if not inputs:
            raise ValueError("at least one input buffer is needed")
        for i, value in enumerate(inputs):
            if not isinstance(value, Buffer):
                raise TypeError(f"input {i} of a captured call must be a Buffer, not {type(value).__name__}")
        return graph_key, [value._handle for value in inputs]

    def capture(self, graph_key: int, *inputs: Buffer) -> list[Buffer]:
        """Runs the model once and keeps the call under a key, for `replay`.

        Parameters
        ----------
        graph_key : int
            A number below 2**64.
        *inputs : Buffer
            Held by the model, which reads them again at each replay.

        Returns
        -------
        list of Buffer
            Outputs, which each replay writes again.
        """
        key, handles = self._key_and_handles(graph_key, inputs)
        outputs = ffi.new(_OUTPUTS, len(self._outputs))
        check(lib.maxModelCapture(self._handle, key, handles, len(handles), _NULL, outputs, len(outputs)))
        return [wrap_buffer(handle) for handle in outputs]

    def replay(self, graph_key: int, *inputs: Buffer) -> None:
        """Runs a captured call again: reads its inputs, writes its outputs.

        Raises
        ------
        RuntimeError
            Nothing was captured with this key, or with other inputs.
        """
        key, handles = self._key_and_handles(graph_key, inputs)
        check(lib.maxModelReplay(self._handle, key, handles, len(handles), _NULL))

    def debug_verify_replay(self, graph_key: int, *inputs: Buffer) -> None:
        """Runs the model and compares its steps with those of a captured call.

        Raises
        ------
        TypeError
            `graph_key` is not an int.
        ValueError
            `graph_key` is not a uint64, or there are no inputs.
        RuntimeError
            Nothing was captured with this key, or the steps differ.
        """
        key, handles = self._key_and_handles(graph_key, inputs)
        check(lib.maxModelVerifyReplay(self._handle, key, handles, len(handles), _NULL))

    # Files.

    def save(self, path: PathType) -> None:
        """Writes the model, optimised, as a compiled model that `InferenceSession.load` reads.

        Parameters
        ----------
        path : str or path
            Such files are called NAME.maxc.
        """
        check(lib.maxModelSave(self._handle, path_bytes(path)))

    def _pickled_origin(self) -> Origin:
        if self._source is None:
            raise TypeError("a model of a graph or with a weights_registry cannot be pickled: no file holds all of it")
        return self._source.origin()

    def __reduce__(self) -> tuple[Any, ...]:
        return open_once, tuple(self._pickled_origin())

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __repr__(self) -> str:
        return f"Model(inputs={self._inputs}, outputs={self._outputs})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        """What the package rich shows."""
        yield from (("inputs", self.input_metadata), ("outputs", self.output_metadata))


# Calls that take longer than this, in nanoseconds, can be interrupted the next time.
_LONG = 20_000_000
_now = time.perf_counter_ns


def _in_main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()


def _wait(done: Any) -> None:
    while True:
        try:
            done.acquire()
            return
        except KeyboardInterrupt:
            continue


def _limited(timeout: Optional[float], cancellation: Optional[Cancellation]) -> Any:
    options = ffi.new("MaxModelExecuteOptions*", {"structSize": ffi.sizeof("MaxModelExecuteOptions")})
    set_limits(options, timeout, cancellation)
    return options
