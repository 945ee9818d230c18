# SPDX-License-Identifier: Apache-2.0
"""How near a model's run comes to what the machine can do: its work as `max profile` counts it, at the rates that loops of
their own measure (machine_limits)."""

import pathlib

import numpy as np


def limit_of(operator, precision):
    """Which rate bounds the multiplications of a row of the profile."""
    if operator["multiplications"] > 0 and any(part in operator["type"] for part in ("Integer", "QLinear")):
        return "int8"
    return "bf16" if precision == "bf16" and operator["implementation"].endswith("bf16") else "f32"


def ms_at_limit(operator, limits, precision):
    return max(operator["multiplications"] / limits[limit_of(operator, precision)], operator["bytes"] / limits["read"])


def share_of_limit(profile, limits, precision):
    """What part of its time a run would take at the limits; an operator that reads from a cache counts for what it takes."""
    ms = sum(min(ms_at_limit(operator, limits, precision), operator["ms"]) for operator in profile["operators"])
    return ms / profile["total_ms"]


def profile_arguments(inputs, folder):
    """The inputs as files in `folder` for `max profile`: values decide which branch a model takes."""
    arguments = []
    for name, value in inputs.items():
        file = pathlib.Path(folder) / f"{name}.npy"
        np.save(file, value)
        arguments += ["--input", f"{name}={file}"]
    return arguments
