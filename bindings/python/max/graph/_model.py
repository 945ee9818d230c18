# SPDX-License-Identifier: Apache-2.0
"""Models of graphs that print, or that replace the contents of buffers."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from max.driver._arrays import is_numpy
from max.driver.buffer import Buffer
from max.engine.limits import Cancellation
from max.engine.model import Model
from max.engine.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from max.graph.graph import Effects


class EffectfulModel(Model):
    """A model whose last outputs its callers do not get: they are printed, or go into the buffers of the inputs."""

    __slots__ = ("_effects",)
    _effects: Effects

    @property
    def output_metadata(self) -> list[TensorSpec]:
        """Outputs in their order, a list of `TensorSpec`."""
        return self._outputs[: self._effects.outputs]

    def _execute(
        self, args: tuple[Any, ...], timeout: Optional[float], cancellation: Optional[Cancellation]
    ) -> list[Any]:
        for index, _ in self._effects.stores if len(args) == len(self._inputs) else ():
            if not isinstance(args[index], Buffer) and not (is_numpy(args[index]) and args[index].flags.writeable):
                given = type(args[index]).__name__
                raise TypeError(f"input {index} is written: it must be a Buffer or an array that can be, not a {given}")
        made = super()._execute(args, timeout, cancellation)
        for index, position in self._effects.stores:
            if isinstance(args[index], Buffer):
                args[index].inplace_copy_from(made[position])
            else:
                args[index][...] = made[position].to_numpy()
        for position, label in self._effects.prints:
            builtins.print(label if position < 0 else f"{label} = {made[position].to_numpy()!r}", flush=True)
        return made[: self._effects.outputs]

    def _refuse(self) -> NoReturn:
        raise NotImplementedError("a model of a graph with ops.print, or that stores into buffers, cannot do this")

    def capture(self, graph_key: int, *inputs: Buffer) -> list[Buffer]:
        """Not possible: callers of captured models see all outputs."""
        self._refuse()

    def save(self, path: Any) -> None:
        """Not possible: files hold no printing and no buffers."""
        self._refuse()

    def __repr__(self) -> str:
        return f"Model(inputs={self._inputs}, outputs={self.output_metadata})"


def model_of(handle: Any, effects: Effects) -> Model:
    """The model of a graph."""
    if not effects.prints and not effects.stores:
        return Model._of_handle(handle, None)
    model = EffectfulModel._of_handle(handle, None)
    assert isinstance(model, EffectfulModel)
    model._effects = effects
    return model
