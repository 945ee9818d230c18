# SPDX-License-Identifier: Apache-2.0
"""How near a model's run comes to what the machine can do: its work as `max profile` counts it, at the rates that loops of
their own measure (machine_limits)."""


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


def profile_arguments(inputs):
    """Inputs of these shapes for `max profile`, whole numbers as large as the given ones."""
    arguments = []
    for name, value in inputs.items():
        arguments += ["--shape", f"{name}={','.join(map(str, value.shape))}"]
        if value.dtype.kind in "iu":
            arguments += ["--max", f"{name}={max(int(value.max()), 1)}"]
    return arguments
