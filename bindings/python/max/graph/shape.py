# SPDX-License-Identifier: Apache-2.0
"""Shapes of tensors in graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from max.graph.dim import AlgebraicDim, Dim, DimLike, StaticDim

__all__ = ["Shape", "ShapeLike"]


class Shape(list[Dim]):
    """Dimensions of a tensor in a graph, a list of `Dim`.

    Parameters
    ----------
    dims : iterable of int, str or Dim

    Examples
    --------
    >>> Shape(["batch", 3])
    Shape(['batch', 3])
    >>> Shape([2, 3]) == [2, 3]
    True
    """

    def __init__(self, dims: ShapeLike = ()) -> None:
        super().__init__(dims if isinstance(dims, Shape) else map(Dim, dims))

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self)

    @property
    def is_static(self) -> bool:
        """Whether all dimensions are numbers."""
        return all(isinstance(dim, StaticDim) for dim in self)

    @property
    def static_dims(self) -> list[int]:
        """The dimensions that are numbers, a list of int."""
        return [dim.dim for dim in self if isinstance(dim, StaticDim)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple)):
            return False
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"

    def __repr__(self) -> str:
        texts = [repr(dim) if isinstance(dim, AlgebraicDim) else repr(dim)[4:-1] for dim in self]
        return f"Shape([{', '.join(texts)}])"

    def __reduce__(self) -> tuple[Any, ...]:
        return Shape, (list(self),)


ShapeLike = Iterable[DimLike]
