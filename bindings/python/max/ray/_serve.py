# SPDX-License-Identifier: Apache-2.0
"""Models as deployments of Ray Serve."""

from __future__ import annotations

import os
from typing import Any, Optional

from ray import serve

from max.ray._http import checked_timeout
from max.ray._reference import ModelLike, opened
from max.ray._server import ModelServer, Settings


def deployment(
    model: ModelLike,
    *,
    max_batch_size: int = 8,
    batch_wait_timeout_s: float = 0.005,
    timeout: Optional[float] = None,
    **options: Any,
) -> serve.Deployment:
    """Makes a deployment of a model, to be bound and run: ``serve.run(deployment("digits.onnx").bind())``.

    A replica opens the model once, with as many threads as it has CPUs. It answers

    - ``POST`` with a JSON object of lists by the inputs' names, or, for a model with one input, a .npy file: with the
      outputs, as JSON or, where the request was one or its Accept says ``application/x-npy``, as a .npy file. The
      argument ``?output=NAME`` chooses one of several outputs.
    - ``GET`` with the names, types and shapes of inputs and outputs.
    - the method ``predict(inputs, timeout=None)`` of its handle: a dict of arrays for one.

    Arrays have the shapes of the model's inputs, the first dimension included. Requests that are there at once are
    concatenated along it and are one call of the model, so that what it makes of a row must not depend on the others;
    otherwise ``max_batch_size`` is 1. A model with a fixed first dimension gets one request at a time.

    A request may give its seconds, in the header ``X-Timeout-Seconds`` or as the argument ``?timeout=``; what is not
    done by then is stopped and answered with 504. A client that leaves stops its work too, unless others share it.
    Wrong inputs are answered with 400, lack of memory with 503, each with ``{"error": message}``.

    Parameters
    ----------
    model : Model, str or path
        The file must lie at the same path on all workers, with the same contents. Given by its path it runs on the
        GPUs that Ray assigns to a replica, else on the host.
    max_batch_size : int
        Most requests in a call.
    batch_wait_timeout_s : float
        Seconds that the first one waits for others.
    timeout : float, optional
        Most seconds of a request, also of one that gives none.
    **options
        Those of `ray.serve.deployment`: `num_replicas`, `autoscaling_config`, `ray_actor_options`, and others; in
        `user_config` may be `max_batch_size`, `batch_wait_timeout_s` and `timeout`. By default `name` is that of the
        file, and `max_ongoing_requests` is twice `max_batch_size`.

    Returns
    -------
    ray.serve.Deployment

    Raises
    ------
    ValueError
        The model has inputs or outputs that are not tensors, or a number is out of range.
    """
    here, reference = opened(model)
    for spec in here.input_metadata + here.output_metadata:
        if not spec.is_tensor:
            raise ValueError(f"{spec.name!r} is not a tensor; JSON and .npy only hold tensors")
    serve.batch(max_batch_size=max_batch_size, batch_wait_timeout_s=batch_wait_timeout_s)  # refuses what it cannot take
    settings = Settings(max_batch_size, batch_wait_timeout_s, checked_timeout(timeout))

    class Served(ModelServer):
        def __init__(self) -> None:
            super().__init__(reference, settings)

    options.setdefault("name", os.path.splitext(os.path.basename(reference.path))[0] or "model")
    options.setdefault("max_ongoing_requests", 2 * max_batch_size)
    return serve.deployment(**options)(Served)
