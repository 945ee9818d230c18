# SPDX-License-Identifier: Apache-2.0
"""What a replica does: requests wait for each other, become one call of the model, and may leave before it ends."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from max._error import MaxError, MaxTimeoutError
from max.engine import TensorSpec
from max.ray._arrays import Array, dense, plain, problem_of
from max.ray._http import RequestError, answer, checked_timeout, failure, inputs_of, is_npy, status_of, timeout_of
from max.ray._reference import Reference

# Calls in a row that fail though nothing is wrong with them; then the replica is not healthy.
_MOST_FAILURES = 3

Outputs = list[Array]


class Settings(NamedTuple):
    """How requests are put together, and how long they may take."""

    max_batch_size: int
    batch_wait_timeout_s: float
    timeout: Optional[float]


class _Call:
    """A request on its way through the model."""

    __slots__ = ("deadline", "group", "has_left", "inputs", "key")

    def __init__(self, inputs: list[Array], key: object, timeout: Optional[float]) -> None:
        self.inputs, self.key = inputs, key
        self.deadline = math.inf if timeout is None else time.monotonic() + timeout
        self.has_left = False
        self.group: Optional[_Group] = None

    def leave(self) -> None:
        """No caller waits for it any more."""
        self.has_left = True
        if self.group is not None:
            self.group.stop_if_left()


class _Group:
    """Calls that are one execution, which ends early when all of them have left."""

    def __init__(self, calls: list[_Call], execution: asyncio.Future[Any]) -> None:
        self._calls, self._execution = calls, execution
        for call in calls:
            call.group = self

    def stop_if_left(self) -> None:
        if all(call.has_left for call in self._calls):
            self._execution.cancel()


class ModelServer:
    """A replica of a deployment."""

    def __init__(self, reference: Reference, settings: Settings) -> None:
        self._model = reference.open()
        self._inputs, self._outputs = self._model.input_metadata, self._model.output_metadata
        self._takes_rows = all(map(_has_rows, self._inputs)) and all(map(_may_have_rows, self._outputs))
        self._timeout = settings.timeout
        self._failures = 0
        self._last_failure: Optional[BaseException] = None
        self._batch: Any = serve.batch(
            max_batch_size=settings.max_batch_size, batch_wait_timeout_s=settings.batch_wait_timeout_s
        )(self._run_batch)

    def reconfigure(self, config: Mapping[str, Any]) -> None:
        """Takes over the deployment's `user_config`."""
        unknown = set(config) - set(Settings._fields)
        if unknown:
            raise ValueError(f"user_config has {', '.join(sorted(unknown))}; use {', '.join(Settings._fields)}")
        if "max_batch_size" in config:
            self._batch.set_max_batch_size(config["max_batch_size"])
        if "batch_wait_timeout_s" in config:
            self._batch.set_batch_wait_timeout_s(config["batch_wait_timeout_s"])
        self._timeout = checked_timeout(config.get("timeout", self._timeout))

    def check_health(self) -> None:
        """Raises what the last calls failed with, if they failed for no reason of theirs."""
        if self._failures >= _MOST_FAILURES:
            raise RuntimeError(f"The last {self._failures} calls failed: {self._last_failure}")

    async def __call__(self, request: Request) -> Response:
        """Answers a request of HTTP."""
        if request.method == "GET":
            return JSONResponse({"inputs": _described(self._inputs), "outputs": _described(self._outputs)})
        try:
            timeout = timeout_of(request)
            body = await request.body()
            outputs = await self.predict(inputs_of(body, self._inputs), timeout)
            return answer(request, outputs, is_npy(body))
        except Exception as error:
            return failure(error)

    async def predict(self, inputs: Mapping[str, Any], timeout: Optional[float] = None) -> dict[str, Array]:
        """Runs the model on arrays by the inputs' names, with other requests; the outputs have their names."""
        arrays = self._checked(inputs)
        limits = [limit for limit in (checked_timeout(timeout), self._timeout) if limit is not None]
        limit = min(limits) if limits else None
        call = _Call(arrays, self._key_of(arrays), limit)
        try:
            found: Union[Outputs, Exception] = await asyncio.wait_for(self._batch(call), limit)
        except asyncio.TimeoutError:
            raise MaxTimeoutError("DEADLINE_EXCEEDED", f"The deadline of {limit:g} s passed") from None
        finally:
            call.leave()
        if isinstance(found, Exception):
            raise found
        return {spec.name: output for spec, output in zip(self._outputs, found)}

    def _checked(self, inputs: Mapping[str, Any]) -> list[Array]:
        names = [spec.name for spec in self._inputs]
        if set(inputs) != set(names):
            given, wanted = ", ".join(map(repr, sorted(inputs))), ", ".join(map(repr, names))
            raise RequestError(f"The request has the inputs {given or 'none'}; the model's are {wanted}")
        arrays = []
        for spec in self._inputs:
            array = np.asarray(inputs[spec.name])
            problem = problem_of(array, spec, spec.shape)
            if problem:
                raise RequestError(f"Input {spec.name!r} {problem}")
            arrays.append(array)
        return arrays

    def _key_of(self, arrays: list[Array]) -> object:
        """Calls with equal keys can be one; none other is equal to a new object."""
        if not self._takes_rows or len({len(array) for array in arrays}) != 1:
            return object()
        return tuple(array.shape[1:] for array in arrays)

    async def _run_batch(self, calls: list[_Call]) -> list[Union[Outputs, Exception]]:
        """Runs the calls that waited together: those with equal keys as one."""
        groups: dict[object, list[_Call]] = {}
        for call in calls:
            groups.setdefault(call.key, []).append(call)
        results: dict[_Call, Union[Outputs, Exception]] = {}
        for group in groups.values():
            results.update(await self._run_group(group))
        return [results[call] for call in calls]

    async def _run_group(self, calls: list[_Call]) -> dict[_Call, Union[Outputs, Exception]]:
        try:
            outputs = await self._execute(calls)
            counts = [len(call.inputs[0]) for call in calls] if len(calls) > 1 else []
            if counts and any(output.ndim == 0 or len(output) != sum(counts) for output in outputs):
                self._takes_rows = False  # it does not keep the rows of its inputs apart
                return await self._run_each(calls)
        except Exception as error:
            if len(calls) > 1 and status_of(error) in (400, 503):  # of one of them, or of all together
                return await self._run_each(calls)
            return dict.fromkeys(calls, error)
        ends = np.cumsum(counts)[:-1]
        parts = zip(*(np.split(output, ends) for output in outputs)) if counts else [outputs]
        return {call: list(part) for call, part in zip(calls, parts)}

    async def _run_each(self, calls: list[_Call]) -> dict[_Call, Union[Outputs, Exception]]:
        results: dict[_Call, Union[Outputs, Exception]] = {}
        for call in calls:
            results.update(await self._run_group([call]))
        return results

    async def _execute(self, calls: list[_Call]) -> Outputs:
        """One execution; raises what it fails with."""
        if all(call.has_left for call in calls):
            raise MaxError("CANCELLED", "All callers have left")
        inputs = calls[0].inputs
        if len(calls) > 1:
            inputs = [np.concatenate(pieces) for pieces in zip(*(call.inputs for call in calls))]
        latest = max(call.deadline for call in calls)
        timeout = None if latest == math.inf else max(latest - time.monotonic(), 1e-6)
        execution = asyncio.ensure_future(self._model.execute_async(*map(dense, inputs), timeout=timeout))
        _Group(calls, execution)
        try:
            await asyncio.wait([execution])
        finally:
            execution.cancel()  # does nothing if it is done
        if execution.cancelled():
            raise MaxError("CANCELLED", "All callers have left")
        self._note(execution.exception())
        return [plain(output) for output in execution.result()]

    def _note(self, error: Optional[BaseException]) -> None:
        """Counts failures for `check_health`."""
        if error is None:
            self._failures = 0
        elif status_of(error) == 500:
            self._failures += 1
            self._last_failure = error


def _has_rows(spec: TensorSpec) -> bool:
    shape = spec.shape
    return bool(shape) and shape is not None and shape[0] is None


def _may_have_rows(spec: TensorSpec) -> bool:
    return spec.shape is None or _has_rows(spec)


def _described(specs: list[TensorSpec]) -> list[dict[str, Any]]:
    return [
        {"name": spec.name, "dtype": None if spec.dtype is None else spec.dtype.name, "shape": spec.shape}
        for spec in specs
    ]
