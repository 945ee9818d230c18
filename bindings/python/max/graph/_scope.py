# SPDX-License-Identifier: Apache-2.0
"""Which graph, or body within it, gets the nodes that are made."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from max._handle import Handle
from max._raw import ffi, lib
from max._text import bytes_of
from max.graph._source import check, located

if TYPE_CHECKING:
    from max.graph.graph import Graph


class Scope(Handle):
    """A graph of the library: a `Graph`'s own, or a body of a node in it."""

    __slots__ = ("graph",)
    _release = lib.maxGraphRelease

    def __init__(self, graph: Graph, name: str, parent: Scope | None = None) -> None:
        out = ffi.new("MaxGraph**")
        if parent is None:
            check(lib.maxGraphCreate(bytes_of(name), out))
        else:
            check(lib.maxGraphCreateSubgraph(parent._handle, bytes_of(name), out))
        self.graph = graph
        self._own(out[0])

    @property
    def handle(self) -> Any:
        return self._handle


# Each thread, and each task, has its own.
_scopes: contextvars.ContextVar[tuple[Scope, ...]] = contextvars.ContextVar("max.graph", default=())


def current() -> Scope:
    """The scope that gets the next node."""
    scopes = _scopes.get()
    if not scopes:
        raise located(LookupError("no graph is being built here; operators are called within `with Graph(...)`"))
    return scopes[-1]


def push(scope: Scope) -> None:
    _scopes.set((*_scopes.get(), scope))


def pop() -> None:
    _scopes.set(_scopes.get()[:-1])


@contextlib.contextmanager
def within(scope: Scope) -> Iterator[Scope]:
    push(scope)
    try:
        yield scope
    finally:
        pop()
