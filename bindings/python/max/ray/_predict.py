# SPDX-License-Identifier: Apache-2.0
"""Models over datasets of Ray Data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

import numpy as np
from ray.data import ActorPoolStrategy, Dataset

from max.engine import Model, TensorSpec
from max.ray._arrays import Array, dense, plain, problem_of
from max.ray._reference import ModelLike, Reference, opened

_USUAL_ROWS = 64

Batch = dict[str, Array]


class _Columns(NamedTuple):
    """Which columns are inputs and outputs, in the model's order; an output that is None is dropped."""

    inputs: list[str]
    outputs: list[Optional[str]]
    replaceable: frozenset[str]


def predict(
    dataset: Dataset,
    model: ModelLike,
    *,
    batch_size: Optional[int] = None,
    columns: Optional[Mapping[str, Optional[str]]] = None,
    **options: Any,
) -> Dataset:
    """Runs a model over a dataset: adds its outputs as columns, and keeps the others.

    The work is done by a pool of actors. Each opens the model once, with as many threads as it has CPUs (`num_cpus`),
    and maps its weights, which all processes of a host share. Ray restarts actors that are lost and gives their
    batches to others, holds back what is read too fast, and shows how far it is.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Each input of the model is a column of the input's dtype, a row of it what the input has without its first
        dimension. Batches are Ray's numpy batches.
    model : Model, str or path
        The file must lie at the same path on all workers, with the same contents. Given by its path it runs on the
        GPUs that Ray assigns to actors (`num_gpus`), else on the host.
    batch_size : int, optional
        Rows that the model gets at once; the last ones may be fewer. By default 64, or about as many for a model with a
        fixed first dimension, which gets that many at once; what the last batch lacks are copies of its last row.
    columns : mapping of str to str or None, optional
        Columns by names of the model: for an input the column to read, for an output the column to write, or None to
        drop it. An input or output that is not in it has the column of the same name.
    **options
        Those of `ray.data.Dataset.map_batches`: `compute`, `num_cpus`, `num_gpus`, `memory`, and others. By default
        `compute` is a pool that grows with the cluster.

    Returns
    -------
    ray.data.Dataset
        Not computed yet; it is when it is read.

    Raises
    ------
    ValueError
        The model has no such input or output, or one that is not a tensor. While it is computed: a column has the wrong
        type or shape, is missing, or would be replaced; the file of a worker has other contents.

    Examples
    --------
    >>> images = ray.data.read_parquet("images")
    >>> predict(images, "digits.onnx", columns={"image": "pixels"}, num_cpus=4).write_parquet("digits")
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a ray.data.Dataset, not {type(dataset).__name__}")
    here, reference = opened(model)
    chosen = _chosen_columns(here, columns or {})
    if "concurrency" not in options:
        options.setdefault("compute", ActorPoolStrategy())
    return dataset.map_batches(
        Predict,
        batch_size=_rows_at_once(here) if batch_size is None else batch_size,
        batch_format="numpy",
        fn_constructor_args=(reference, chosen),
        **options,
    )


def _chosen_columns(model: Model, columns: Mapping[str, Optional[str]]) -> _Columns:
    inputs, outputs = model.input_metadata, model.output_metadata
    names = [spec.name for spec in inputs + outputs]
    for name, column in columns.items():
        if name not in names:
            raise ValueError(
                f"columns names {name!r}; the model has the inputs and outputs {', '.join(map(repr, names))}"
            )
        if column is None and name in [spec.name for spec in inputs]:
            raise ValueError(f"columns must name a column for the input {name!r}, not None")
    written = [columns.get(spec.name, spec.name) for spec in outputs]
    for spec in inputs + [spec for spec, column in zip(outputs, written) if column is not None]:
        if not spec.is_tensor:
            raise ValueError(f"{spec.name!r} is not a tensor, so it cannot be a column; columns may drop outputs")
    kept = [column for column in written if column is not None]
    if len(set(kept)) < len(kept):
        raise ValueError(f"the outputs' columns are {', '.join(map(repr, kept))}, of which two are the same")
    read = [columns.get(spec.name) or spec.name for spec in inputs]
    return _Columns(read, written, frozenset(column for column in columns.values() if column is not None))


def _fixed_rows(model: Model) -> Optional[int]:
    """The first dimension of the inputs, if a call cannot choose it."""
    sizes = {spec.shape[0] for spec in model.input_metadata if spec.shape}
    known = {size for size in sizes if size is not None}
    return known.pop() if len(known) == 1 and len(sizes) == 1 else None


def _rows_at_once(model: Model) -> int:
    fixed = _fixed_rows(model) or 1
    return max(_USUAL_ROWS // fixed, 1) * fixed


class Predict:
    """What an actor does; its name is what Ray shows."""

    def __init__(self, reference: Reference, columns: _Columns) -> None:
        self._model, self._columns = reference.open(), columns
        self._inputs, self._outputs = self._model.input_metadata, self._model.output_metadata
        self._fixed = _fixed_rows(self._model)

    def __call__(self, batch: Batch) -> Batch:
        inputs = [self._input(batch, index) for index in range(len(self._inputs))]
        rows = len(inputs[0]) if inputs else 0
        found = dict(batch)
        for index, output in enumerate(self._run(inputs, rows)):
            column, name = self._columns.outputs[index], self._outputs[index].name
            if column is None:
                continue
            if column in batch and column not in self._columns.replaceable:
                raise ValueError(
                    f"Output {name!r} would replace the column {column!r}; name another one, or this one, in columns"
                )
            if output.ndim == 0 or len(output) != rows:
                raise ValueError(f"Output {name!r} of shape {output.shape} is not a column of {rows} rows")
            found[column] = output
        return found

    def _input(self, batch: Batch, index: int) -> Array:
        column, spec = self._columns.inputs[index], self._inputs[index]
        if column not in batch:
            raise ValueError(
                f"There is no column {column!r} for the input {spec.name!r}; use one of {', '.join(map(repr, batch))}"
            )
        array = batch[column]
        # A call's fixed number of rows does not concern the column.
        shape = [None, *(spec.shape or [])[1:]] if self._fixed else spec.shape
        problem = problem_of(array, spec, shape)
        if problem:
            raise ValueError(f"Column {column!r} for the input {spec.name!r} {problem}")
        return array

    def _run(self, inputs: list[Array], rows: int) -> list[Array]:
        if self._fixed is None:
            return self._execute(inputs)
        if rows == 0:
            return [_no_rows(spec) for spec in self._outputs]
        parts = [self._execute_fixed(inputs, start) for start in range(0, rows, self._fixed)]
        return [np.concatenate(outputs)[:rows] for outputs in zip(*parts)]

    def _execute_fixed(self, inputs: list[Array], start: int) -> list[Array]:
        fixed = self._fixed or 1
        pieces = [array[start : start + fixed] for array in inputs]
        lacking = fixed - len(pieces[0])
        if lacking:
            pieces = [np.concatenate([piece, np.repeat(piece[-1:], lacking, axis=0)]) for piece in pieces]
        return self._execute(pieces)

    def _execute(self, inputs: list[Array]) -> list[Array]:
        found = self._model.execute(*map(dense, inputs))
        return [
            plain(output) if column is not None else np.empty(0)
            for output, column in zip(found, self._columns.outputs)
        ]


def _no_rows(spec: TensorSpec) -> Array:
    sizes = [size or 0 for size in (spec.shape or [])[1:]]
    return np.empty((0, *sizes), None if spec.dtype is None else spec.dtype.to_numpy())
