# SPDX-License-Identifier: Apache-2.0
"""Texts and paths on their way into and out of the library."""

from __future__ import annotations

import os
from typing import Any, Union

from max._raw import ffi

PathType = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def text_of(pointer: Any) -> str:
    """A C string as a str; bytes that are not UTF-8 become surrogates, as in file names."""
    text: str = ffi.string(pointer).decode(errors="surrogateescape")
    return text


def bytes_of(text: str) -> bytes:
    """A str as the bytes of a C string."""
    if "\0" in text:
        raise ValueError(f"{text!r} contains a NUL character; names must not")
    return text.encode(errors="surrogateescape")


def path_bytes(path: PathType) -> bytes:
    """A path (str, bytes, pathlib) as the bytes of a C string."""
    encoded = os.fsencode(os.fspath(path))
    if b"\0" in encoded:
        raise ValueError(f"the path {path!r} contains a NUL character")
    return encoded
