# SPDX-License-Identifier: Apache-2.0
"""Where models come from: what is pickled of them, and the hash that tells whether a file elsewhere is the same."""

from __future__ import annotations

import os
import re
import stat
import time
import weakref
from _thread import allocate_lock
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from max._error import MaxError
from max.driver.device import Device

if TYPE_CHECKING:
    from max.engine.model import Model

Stamp = tuple[int, ...]

_CHUNK = 4 << 20
_MOST_THREADS = 8
_MOST_DIGESTS = 256
_TICK = 100_000_000  # nanoseconds, more than between two times that file systems know
# How an ONNX file names a file of weights beside it: the entry "location" of a tensor's external data, and its length.
_LOCATION = re.compile(rb"\n\x08location\x12(?:([\x01-\x7f])|([\x80-\xff])([\x01-\x1f]))", re.S)
_LONGEST_LOCATION = 4096 + 16
_Chunk = tuple[bytes, set[str]]


class Origin(NamedTuple):
    """What a model is opened from in another process, which is what is pickled of it."""

    path: str
    devices: tuple[Device, ...]
    num_threads: int
    digest: str


class Source:
    """The file that a model was loaded from, as it was then."""

    __slots__ = ("_devices", "_num_threads", "_path", "_stamp")

    def __init__(self, path: str, devices: Iterable[Device], num_threads: int) -> None:
        self._path, self._devices, self._num_threads = path, tuple(devices), num_threads
        self._stamp = _stamp(_file_of(path))

    def origin(self) -> Origin:
        """What to pickle.

        Raises
        ------
        MaxError
            The file is another one by now (FAILED_PRECONDITION).
        """
        digest = content_digest(self._path)
        if _stamp(_file_of(self._path)) != self._stamp:
            raise MaxError(
                "FAILED_PRECONDITION",
                f"Model file '{self._path}' was replaced or written after it was loaded; load it again",
            )
        return Origin(self._path, self._devices, self._num_threads, digest)


# Models that came out of pickles: each origin is opened once.
_opened: weakref.WeakValueDictionary[Origin, Model] = weakref.WeakValueDictionary()
_opening = allocate_lock()
_keeping = allocate_lock()
for _lock in (_opening, _keeping):
    os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


def open_once(*origin: object) -> Model:
    """The model of an origin, which all callers in this process share.

    Raises
    ------
    MaxError
        There is no such file here, or one with other contents (FAILED_PRECONDITION).
    """
    wanted = Origin(*origin)  # type: ignore[arg-type]
    with _opening:
        model = _opened.get(wanted)
        if model is None:
            model = _opened[wanted] = _open(wanted)
    return model


def _open(wanted: Origin) -> Model:
    from max.engine.session import InferenceSession

    if os.path.exists(wanted.path):
        _check_contents(wanted, content_digest(wanted.path))
    model = InferenceSession(wanted.devices, wanted.num_threads).load(wanted.path)
    _check_contents(wanted, model._pickled_origin().digest)  # it may have been replaced meanwhile
    return model


def _check_contents(wanted: Origin, digest: str) -> None:
    if digest != wanted.digest:
        raise MaxError(
            "FAILED_PRECONDITION",
            f"Model file '{wanted.path}' on {os.uname().nodename} differs from the one that was pickled: its contents have"
            f" the hash {digest[:16]}, not {wanted.digest[:16]}",
        )


# Hashes of files.

_digests: dict[str, tuple[list[str], list[Stamp], str]] = {}


def content_digest(path: str) -> str:
    """A hash of the contents of a model's file and of the weights beside it, whatever they are called elsewhere.

    It is computed by several threads, and again only when a file changes.
    """
    file = _file_of(path)
    known = _digests.get(file)
    if known is not None and [_stamp(name) for name in known[0]] == known[1]:
        return known[2]
    from hashlib import sha256

    stamp = _stamp(file)
    digest, locations = _file_digest(file)
    total = sha256(digest)
    files, stamps = [file], [stamp]
    for location in sorted(locations):
        beside = os.path.join(os.path.dirname(file), location)
        files.append(beside)
        stamps.append(_stamp(beside))
        total.update(sha256(os.fsencode(location)).digest() + _file_digest(beside)[0])
    # A file that was written just now may be written again without its times telling.
    if time.time_ns() - max((stamp[-1] for stamp in stamps if stamp), default=0) > _TICK:
        with _keeping:
            while len(_digests) >= _MOST_DIGESTS:
                del _digests[next(iter(_digests))]
            _digests[file] = files, stamps, total.hexdigest()
    return total.hexdigest()


def _file_of(path: str) -> str:
    """The file that a path means, as a load finds it."""
    for name in ("model.onnx", "model.maxc"):
        inside = os.path.join(path, name)
        if os.path.exists(inside):
            return inside
    return path


def _stamp(file: str) -> Stamp:
    """What changes when a file does; empty if there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _file_digest(file: str) -> _Chunk:
    """The hash of a file, and which files it names; the hash of anything but a regular file is empty."""
    from hashlib import sha256

    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return b"", set()
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b"", set()
        offsets = range(0, status.st_size, _CHUNK)
        total = sha256()
        locations: set[str] = set()
        for digest, found in _mapped(lambda offset: _chunk_digest(descriptor, offset), offsets):
            total.update(digest)
            locations |= found
        return total.digest(), locations
    finally:
        os.close(descriptor)


def _mapped(function: Callable[[int], _Chunk], offsets: range) -> list[_Chunk]:
    """What a function makes of each offset, by several threads if there are several."""
    threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)), len(offsets))
    if threads < 2:
        return list(map(function, offsets))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, offsets))


def _chunk_digest(descriptor: int, offset: int) -> _Chunk:
    from hashlib import sha256

    data = os.pread(descriptor, _CHUNK + _LONGEST_LOCATION, offset)  # a name that begins here may end in the next chunk
    locations = set()
    for match in _LOCATION.finditer(data):
        short, low, high = match.groups()
        length = short[0] if short else (low[0] & 127) | high[0] << 7
        name = data[match.end() : match.end() + length]
        if match.start() < _CHUNK and _is_inside(name):
            locations.add(os.fsdecode(name))
    return sha256(memoryview(data)[:_CHUNK]).digest(), locations


def _is_inside(name: bytes) -> bool:
    """Whether a name is that of a file in the model's folder or below."""
    parts = name.split(b"/")
    return b"\0" not in name and b".." not in parts and bool(parts[0])
