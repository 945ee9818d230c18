# SPDX-License-Identifier: Apache-2.0
"""What a model says of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from max._raw import ffi, lib
from max._text import text_of
from max.dtype import OF_NUMBER, DType


class TensorSpec:
    """Name, element type and shape of a model's input or output."""

    __slots__ = ("_dtype", "_kind", "_name", "_shape", "_type_name")

    def __init__(self, info: Any) -> None:
        self._name = text_of(info.name)
        self._type_name = text_of(info.typeName) if info.typeName else ""
        self._kind = info.kind
        self._dtype = OF_NUMBER.get(info.dtype)
        self._shape: Optional[list[Optional[int]]] = None
        if info.rank == 0:
            self._shape = []
        elif info.rank > 0:
            self._shape = [None if size < 0 else size for size in ffi.unpack(info.shape, info.rank)]

    @property
    def name(self) -> str:
        """Name of the tensor."""
        return self._name

    @property
    def dtype(self) -> Optional[DType]:
        """Element type, a `DType`; of a sequence or optional that of the tensors in it."""
        return self._dtype

    @property
    def shape(self) -> Optional[list[Optional[int]]]:
        """Dimensions as a list; a dimension that each call may choose is None. None if their number may vary."""
        return None if self._shape is None else list(self._shape)

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor; sequences, maps and optionals are none."""
        return bool(self._kind == lib.MAX_VALUE_KIND_TENSOR)

    def _key(self) -> tuple[Any, ...]:
        return self._name, self._type_name, self._dtype, None if self._shape is None else tuple(self._shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"TensorSpec(name={self._name!r}, dtype={self._dtype}, shape={self._shape})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        """What the package rich shows."""
        yield from (("name", self.name), ("dtype", self.dtype), ("shape", self.shape))
