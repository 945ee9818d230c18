# SPDX-License-Identifier: Apache-2.0
"""Which graph, or body within it, gets the nodes that are made."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from max._handle import Handle
from max._raw import ffi, lib
from max._text import bytes_of
from max.graph._source import check, located

if TYPE_CHECKING:
    from max.driver.buffer import Buffer
    from max.graph.graph import Graph
    from max.graph.weight import Weight


class Record(NamedTuple):
    """A node, constant or weight of a graph that others call. Values are the library's."""

    outputs: list[Any]
    domain: str = ""
    name: str = ""
    inputs: tuple[Any, ...] = ()
    attributes: Any = None
    constant: Optional[Buffer] = None
    weight: Optional[Weight] = None


class Scope(Handle):
    """A graph of the library: a `Graph`'s own, or a body of a node in it."""

    __slots__ = ("graph", "inputs", "outputs", "parent", "records", "symbols")
    _release = lib.maxGraphRelease

    def __init__(self, graph: Graph, name: str, parent: Optional[Scope] = None) -> None:
        out = ffi.new("MaxGraph**")
        if parent is None:
            check(lib.maxGraphCreate(bytes_of(name), out))
        else:
            check(lib.maxGraphCreateSubgraph(parent._handle, bytes_of(name), out))
        self.graph, self.parent = graph, parent
        self.symbols: dict[str, tuple[Any, int]] = {}  # the value and dimension that have a name first
        self.records: list[Record] = []  # of graphs that others call
        self.inputs: list[tuple[Any, Any]] = []  # of a body, and the values that they are like
        self.outputs: list[Any] = []  # of a body
        self._own(out[0])

    @property
    def handle(self) -> Any:
        return self._handle

    def add_input_like(self, name: str, value: Any) -> Any:
        """An input of a body with the type of a value of the library's; the library's value."""
        out = ffi.new("MaxGraphValue**")
        check(lib.maxGraphAddInputLike(self._handle, bytes_of(name), value, out))
        self.inputs.append((out[0], value))
        return out[0]

    def add_output(self, value: Any, name: str) -> None:
        check(lib.maxGraphAddOutput(self._handle, value, bytes_of(name)))
        self.outputs.append(value)

    def record(self, record: Record) -> None:
        if self.graph.is_subgraph:
            self.records.append(record)

    def place_of(self, name: str) -> Optional[tuple[Any, int]]:
        """The value and dimension that have this name."""
        scope: Optional[Scope] = self
        while scope is not None:
            if name in scope.symbols:
                return scope.symbols[name]
            scope = scope.parent
        return None


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
