# SPDX-License-Identifier: Apache-2.0
"""When an output agrees with the expected one.

Shapes, element types, strings, booleans, NaNs and infinities agree exactly. Numbers are within `relative` of the expected
number or `share` of the largest one of the output. Of a model that rounds to few bits a number may fall on the other side
of a rounding, which later layers carry on: its numbers are within `share` of the output's range, and integers within
`steps`."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Rule:
    relative: float
    share: float
    steps: int = 0


RULES = {
    "float32": Rule(1e-3, 1e-4),
    "float16": Rule(1e-2, 1e-2),
    "quantised": Rule(1e-3, 4e-2, 1),
}


def problem_of(actual, expected, rule):
    """What differs, or an empty string."""
    if isinstance(expected, (list, dict)) or expected is None:
        return problem_of_parts(actual, expected, rule)
    if not isinstance(actual, np.ndarray):
        return f"{type(actual).__name__} instead of an array"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)} instead of {list(expected.shape)}"
    if actual.dtype.kind in "OUS" and expected.dtype.kind in "OUS":
        return counted(actual.astype(str) != expected.astype(str), actual, expected)
    if actual.dtype != expected.dtype:
        return f"{actual.dtype} instead of {expected.dtype}"
    return problem_of_numbers(actual, expected, rule) if expected.size else ""


def problem_of_parts(actual, expected, rule):
    if type(actual) is not type(expected):
        return f"{type(actual).__name__} instead of {type(expected).__name__}"
    if expected is None:
        return ""
    if len(actual) != len(expected):
        return f"{len(actual)} parts instead of {len(expected)}"
    if isinstance(expected, dict):
        if list(actual) != list(expected):
            return f"keys {list(actual)} instead of {list(expected)}"
        return problem_of(np.array(list(actual.values())), np.array(list(expected.values())), rule)
    for i, (mine, wanted) in enumerate(zip(actual, expected)):
        if problem := problem_of(mine, wanted, rule):
            return f"part {i}: {problem}"
    return ""


def problem_of_numbers(actual, expected, rule):
    if expected.dtype.kind == "b":
        return counted(actual != expected, actual, expected)
    if expected.dtype.kind in "iu":
        difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        exact = difference > rule.steps if rule.steps else actual != expected
        return counted(exact, actual, expected)
    kind = np.complex128 if expected.dtype.kind == "c" else np.float64
    mine, wanted = actual.astype(kind), expected.astype(kind)
    finite = np.isfinite(wanted)
    largest = np.abs(wanted[finite]).max(initial=0)
    with np.errstate(all="ignore"):
        near = np.abs(mine - wanted) <= rule.relative * np.abs(wanted) + rule.share * largest
    same = (mine == wanted) | (np.isnan(mine) & np.isnan(wanted))
    return counted(~np.where(finite, near | same, same), actual, expected)


def counted(wrong, actual, expected):
    if not wrong.any():
        return ""
    at = np.argwhere(np.atleast_1d(wrong))
    distance = ""
    if expected.dtype.kind not in "OUSb":
        error = np.abs(np.atleast_1d(actual).astype(np.float64) - np.atleast_1d(expected).astype(np.float64))
        if np.isfinite(error).any():
            worst = np.unravel_index(np.nanargmax(np.where(np.isfinite(error), error, -1)), error.shape)
            at, distance = [np.array(worst)], f", largest difference {error[worst]:.3g}"
    first = tuple(int(k) for k in at[0])
    pair = np.atleast_1d(actual)[first], np.atleast_1d(expected)[first]
    return f"{int(wrong.sum())} of {wrong.size} differ{distance}; at {list(first)} {pair[0]} instead of {pair[1]}"
