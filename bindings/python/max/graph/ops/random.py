# SPDX-License-Identifier: Apache-2.0
"""Random numbers. After `set_seed` they are the same in each run, on each device; without it, each run has others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from max.dtype import DType
from max.graph._scope import current
from max.graph.ops._operands import (
    cast_to, dims_tensor, fail, node, placed, product, real, require_kind, require_rank, tensor, whole, wrong_type,
)  # fmt: skip
from max.graph.type import DeviceRef, TensorType
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["SeedType", "gaussian", "normal", "set_seed", "uniform"]

SeedType = TensorType(DType.int64, [], DeviceRef.CPU())
"""Type of an input that is a seed."""

# SplitMix64: a counter's steps, and what makes its bits depend on each other.
_STEP = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31
_BITS = {DType.bfloat16: 8, DType.float16: 11, DType.float32: 24, DType.float64: 53}


class Seeds(NamedTuple):
    """The seed of a graph, and how often it was used."""

    seed: int | TensorValue
    used: int


def set_seed(seed: TensorValueLike) -> None:
    """Sets the seed of the random numbers that the graph makes from here on.

    Parameters
    ----------
    seed : int or TensorValue
        A whole number, or a scalar tensor of one: with an input of type `SeedType` each run chooses its seed.

    Raises
    ------
    TypeError
        `seed` is not an integer.
    ValueError
        The tensor has other elements, or more than one.
    """
    if isinstance(seed, TensorValue):
        require_kind("random.set_seed", "seed", require_rank("random.set_seed", "seed", seed, 0), "integer")
        bits = node("BitCast", [cast_to(seed, DType.int64)], to=DType.uint64)
        current().graph._seeds = Seeds(bits, 0)
    else:
        current().graph._seeds = Seeds(whole(seed, "random.set_seed: seed") % 2**64, 0)


def _constant(number: int) -> Any:
    import numpy

    return numpy.array(number % 2**64, numpy.uint64)


def _mixed(x: TensorValue) -> TensorValue:
    for shift, factor in _MIX:
        folded = node("BitwiseXor", [x, node("BitShift", [x, _constant(shift)], direction="RIGHT")])
        x = node("Mul", [folded, _constant(factor)])
    return node("BitwiseXor", [x, node("BitShift", [x, _constant(_LAST_SHIFT)], direction="RIGHT")])


def _fractions(like: TensorType, inner: DType) -> TensorValue:
    """Numbers from 0 to before 1, with the next seed of the graph."""
    graph = current().graph
    seed, used = graph._seeds
    graph._seeds = Seeds(seed, used + 1)
    start = seed if isinstance(seed, TensorValue) else tensor(seed, DType.uint64)
    key = _mixed(node("Add", [start, _constant((used + 1) * _STEP)]))
    count = node("Squeeze", [dims_tensor([product(like.shape)])])
    index = node("BitCast", [node("Range", [tensor(0, DType.int64), count, tensor(1, DType.int64)])], to=DType.uint64)
    mixed = _mixed(node("Add", [node("Mul", [index, _constant(_STEP)]), key]))
    bits = _BITS[like.dtype]
    high = node("BitShift", [mixed, _constant(64 - bits)], direction="RIGHT")
    scaled = node("Mul", [cast_to(high, inner), 2.0**-bits])
    return node("Reshape", [scaled, dims_tensor(like.shape)], allowzero=1 if 0 in like.shape.static_dims else None)


def _type(what: str, like: object) -> TensorType:
    if not isinstance(like, TensorType):
        wrong_type(f"{what}: like must be a TensorType, not {like!r}")
    if like.dtype not in _BITS:
        fail(f"{what}: the elements of like must be floating-point numbers of 16 bits or more, not {like.dtype.name}")
    return like


def _unseeded(operator: str, like: TensorType, **attributes: Any) -> TensorValue:
    if like.shape.is_static:
        return node(operator, [], dtype=like.dtype, shape=like.shape.static_dims, **attributes)
    shaped = node("Expand", [tensor(0, like.dtype), dims_tensor(like.shape)])
    return node(f"{operator}Like", [shaped], dtype=like.dtype, **attributes)


def uniform(like: TensorType, range: Iterable[float] = (0.0, 1.0)) -> TensorValue:
    """Numbers that are equally likely anywhere in a range.

    Parameters
    ----------
    like : TensorType
        Type and shape of the result; floating-point.
    range : pair of float
        The lower bound, and the upper one, which is not among them.

    Returns
    -------
    TensorValue
        As `like`.

    Raises
    ------
    ValueError
        `range` is not a pair, the upper bound is below the lower one, or the type is not a floating-point type.
    TypeError
        `like` is not a TensorType.
    """
    wanted = _type("random.uniform", like)
    bounds = [real(bound, "random.uniform: range") for bound in range]
    if len(bounds) != 2 or not bounds[0] <= bounds[1]:
        fail(f"random.uniform: range must be a lower and an upper bound, not {bounds}")
    low, high = bounds
    if current().graph._seeds is None:
        return placed(_unseeded("RandomUniform", wanted, low=low, high=high), wanted.device)
    inner = DType.float64 if wanted.dtype is DType.float64 else DType.float32
    scaled = node("Mul", [_fractions(wanted, inner), high - low])
    return placed(cast_to(node("Add", [scaled, low]), wanted.dtype), wanted.device)


def gaussian(like: TensorType, mean: float = 0.0, std: float = 1.0) -> TensorValue:
    """Numbers of a normal distribution.

    Parameters
    ----------
    like : TensorType
        Type and shape of the result; floating-point.
    mean : float
        Their mean.
    std : float
        Their standard deviation.

    Returns
    -------
    TensorValue
        As `like`.

    Raises
    ------
    ValueError
        `std` is negative, or the type is not a floating-point type.
    TypeError
        `like` is not a TensorType.
    """
    wanted = _type("random.gaussian", like)
    middle, scale = real(mean, "random.gaussian: mean"), real(std, "random.gaussian: std")
    if not scale >= 0:
        fail(f"random.gaussian: std must be at least 0, not {scale}")
    if current().graph._seeds is None:
        return placed(_unseeded("RandomNormal", wanted, mean=middle, scale=scale), wanted.device)
    inner = DType.float64 if wanted.dtype is DType.float64 else DType.float32
    fine = TensorType(inner, wanted.shape, wanted.device)
    # Box and Muller: the logarithm's argument is above 0.
    radius = node("Sqrt", [node("Mul", [node("Log", [node("Sub", [1, _fractions(fine, inner)])]), -2])])
    wave = node("Cos", [node("Mul", [_fractions(fine, inner), 6.283185307179586])])
    made = node("Mul", [node("Mul", [radius, wave]), scale])
    return placed(cast_to(node("Add", [made, middle]), wanted.dtype), wanted.device)


normal = gaussian
