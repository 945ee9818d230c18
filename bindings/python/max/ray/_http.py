# SPDX-License-Identifier: Apache-2.0
"""Requests as inputs of a model, outputs and failures as answers: JSON and .npy."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from max._error import MaxError
from max.dtype import DType
from max.engine import TensorSpec
from max.ray._arrays import Array, needs

TIMEOUT_HEADER = "X-Timeout-Seconds"
NPY = "application/x-npy"
_NPY_START = b"\x93NUMPY"
# What the library says of a call, as HTTP says it; anything else is 500.
_STATUS_CODES = {
    "INVALID_ARGUMENT": 400,
    "OUT_OF_RANGE": 400,
    "RESOURCE_EXHAUSTED": 503,
    "DEADLINE_EXCEEDED": 504,
}


class RequestError(ValueError):
    """The request is wrong."""


def timeout_of(request: Request) -> Optional[float]:
    """The seconds that a request gives, in its header or as its argument `timeout`."""
    text = request.headers.get(TIMEOUT_HEADER, request.query_params.get("timeout"))
    if text is None:
        return None
    try:
        return checked_timeout(float(text))
    except ValueError:
        raise RequestError(f"The timeout must be a positive number of seconds, not {text[:100]!r}") from None


def checked_timeout(seconds: Optional[float]) -> Optional[float]:
    """A timeout that can be kept, or None."""
    if seconds is not None and not 0 < seconds < 2**33:
        raise RequestError(f"The timeout must be a positive number of seconds, not {seconds!r}")
    return seconds


def is_npy(body: bytes) -> bool:
    """Whether a body is a .npy file, which no JSON begins like."""
    return body.startswith(_NPY_START)


def inputs_of(body: bytes, specs: list[TensorSpec]) -> dict[str, Array]:
    """The arrays of a body: a .npy file for the only input, or a JSON object of lists by the inputs' names."""
    if is_npy(body):
        if len(specs) != 1:
            raise RequestError(f"A .npy file holds one array, but the model has {len(specs)} inputs; send JSON")
        return {specs[0].name: _npy_array(body)}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The body is neither a .npy file nor JSON: {error}") from None
    if not isinstance(value, dict):
        raise RequestError("The JSON is not an object that maps input names to inputs")
    by_name = {spec.name: spec for spec in specs}
    return {name: _json_array(found, by_name[name]) if name in by_name else found for name, found in value.items()}


def _npy_array(body: bytes) -> Array:
    """The array of a .npy file, which is not copied."""
    file = io.BytesIO(body)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
        if read is None:
            raise RequestError(f"The .npy file has version {version[0]}.{version[1]}; 1.0 and 2.0 are read")
        shape, is_fortran, dtype = read(file)
    except RequestError:
        raise
    except Exception as error:  # numpy evaluates the header, which may fail in any way
        raise RequestError(f"The .npy file is damaged: {error}") from None
    there = len(body) - file.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != there:
        raise RequestError(f"The .npy file holds {there} bytes, which do not match {dtype} of shape {shape}")
    array: Array = np.frombuffer(body, np.uint8, offset=file.tell()).view(dtype)
    return array.reshape(shape, order="F" if is_fortran else "C")


# Of which kinds of numpy lists may be for an input of a kind.
_KINDS = {"b": "b", "i": "iuf", "u": "iuf", "f": "iuf", "c": "iuf"}


def _json_array(value: Any, spec: TensorSpec) -> Array:
    """A list, of lists, as an array of the input's type; a number that the type does not have is an error."""
    try:
        array: Array = np.asarray(value, object if spec.dtype is DType.string else None)
    except (ValueError, OverflowError):
        raise RequestError(f"Input {spec.name!r} holds lists of different lengths") from None
    if spec.dtype is DType.string:
        if all(isinstance(text, str) for text in array.flat):
            return array
        raise RequestError(f"Input {spec.name!r} holds a value that is not a string")
    if spec.dtype is None:
        raise RequestError(f"Input {spec.name!r} has a type that JSON cannot represent")
    dtype = spec.dtype.to_numpy()
    kind = "f" if dtype.kind == "V" else dtype.kind
    if array.size and array.dtype.kind not in _KINDS.get(kind, ""):
        raise RequestError(f"Input {spec.name!r} holds a value that is not {needs(spec, spec.shape)}")
    with np.errstate(all="ignore"):
        made = array.astype(dtype)
    if array.size and not ((made == array) if kind in "iu" else (np.isfinite(made) == np.isfinite(array))).all():
        raise RequestError(f"Input {spec.name!r} holds numbers that {spec.dtype.name} cannot represent")
    return made


def answer(request: Request, outputs: Mapping[str, Array], sent_npy: bool) -> Response:
    """The outputs as the request wants them, all or the one that its argument `output` names."""
    wanted = request.query_params.get("output")
    if wanted is not None and wanted not in outputs:
        raise RequestError(f"There is no output {wanted[:100]!r}; use one of {', '.join(map(repr, outputs))}")
    chosen = dict(outputs) if wanted is None else {wanted: outputs[wanted]}
    accepted = request.headers.get("Accept", "")
    if NPY not in accepted and (not sent_npy or "json" in accepted or len(chosen) > 1):
        return Response(json.dumps({name: array.tolist() for name, array in chosen.items()}), media_type="application/json")
    if len(chosen) > 1:
        names = ", ".join(map(repr, chosen))
        raise RequestError(f"A .npy file holds one array; choose one of the outputs {names} with ?output=NAME")
    array = next(iter(chosen.values()))
    file = io.BytesIO()
    np.save(file, array.astype(str) if array.dtype == object else array, allow_pickle=False)
    return Response(file.getvalue(), media_type=NPY)


def status_of(error: BaseException) -> int:
    """The HTTP status of a failure."""
    if isinstance(error, MaxError):
        return _STATUS_CODES.get(error.status, 500)
    return 400 if isinstance(error, RequestError) else 500


def failure(error: BaseException) -> Response:
    """The answer to a request that failed."""
    return JSONResponse({"error": str(error)}, status_code=status_of(error))
