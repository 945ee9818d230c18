# SPDX-License-Identifier: Apache-2.0
"""Normalisation of layers, root mean squares and groups."""

from __future__ import annotations

from max.dtype import DType
from max.graph.ops._operands import cast_to, fail, node, real, require_kind, require_rank, tensor, whole
from max.graph.value import TensorValue, TensorValueLike

__all__ = ["group_norm", "layer_norm", "rms_norm"]


def _weight(what: str, name: str, value: TensorValueLike, dtype: DType) -> TensorValue:
    weight = require_kind(what, name, tensor(value, dtype), "float")
    return cast_to(require_rank(what, name, weight, 1), dtype)


def layer_norm(input: TensorValueLike, gamma: TensorValueLike, beta: TensorValueLike, epsilon: float) -> TensorValue:
    """``(input - mean) / sqrt(variance + epsilon) * gamma + beta``, mean and variance along the last axis.

    Parameters
    ----------
    input : TensorValueLike
        Floating-point numbers, shape ``[..., size]``.
    gamma, beta : TensorValueLike
        Floating-point numbers, shape ``[size]``.
    epsilon : float
        What keeps the divisor from zero.

    Returns
    -------
    TensorValue
        The type and shape of `input`.

    Raises
    ------
    ValueError
        The elements are not floating-point numbers, or the sizes differ.
    """
    x = require_rank(
        "layer_norm", "input", require_kind("layer_norm", "input", tensor(input), "float"), 1, at_least=True
    )
    scale, offset = (_weight("layer_norm", n, v, x.dtype) for n, v in (("gamma", gamma), ("beta", beta)))
    return node("LayerNormalization", [x, scale, offset], axis=-1, epsilon=real(epsilon, "layer_norm: epsilon"))


def rms_norm(
    input: TensorValueLike,
    weight: TensorValueLike,
    epsilon: float,
    weight_offset: float = 0.0,
    multiply_before_cast: bool = False,
) -> TensorValue:
    """``input / sqrt(mean(input ** 2) + epsilon) * (weight + weight_offset)``, the mean along the last axis.

    Parameters
    ----------
    input : TensorValueLike
        Floating-point numbers, shape ``[..., size]``.
    weight : TensorValueLike
        Floating-point numbers, shape ``[size]``.
    epsilon : float
        What keeps the divisor from zero.
    weight_offset : float
        What is added to the weight: 0 as in Llama, 1 as in Gemma.
    multiply_before_cast : bool
        Whether 16-bit numbers are multiplied by the weight before they are rounded to their type.

    Returns
    -------
    TensorValue
        The type and shape of `input`.

    Raises
    ------
    ValueError
        The elements are not floating-point numbers, or the sizes differ.
    """
    x = require_rank("rms_norm", "input", require_kind("rms_norm", "input", tensor(input), "float"), 1, at_least=True)
    number = real(epsilon, "rms_norm: epsilon")
    rounds_twice = x.dtype.is_half() and not multiply_before_cast
    inner = DType.float32 if x.dtype.is_half() and multiply_before_cast else x.dtype
    scale = _weight("rms_norm", "weight", weight, inner)
    if real(weight_offset, "rms_norm: weight_offset"):
        scale = node("Add", [scale, weight_offset])
    if not rounds_twice:
        return cast_to(node("RMSNormalization", [cast_to(x, inner), scale], axis=-1, epsilon=number), x.dtype)
    ones = node("Expand", [tensor(1, inner), node("Shape", [scale])])
    return node("Mul", [node("RMSNormalization", [x, ones], axis=-1, epsilon=number), scale])


def group_norm(
    input: TensorValueLike, gamma: TensorValueLike, beta: TensorValueLike, num_groups: int, epsilon: float
) -> TensorValue:
    """``(input - mean) / sqrt(variance + epsilon) * gamma + beta``, mean and variance over groups of channels.

    Parameters
    ----------
    input : TensorValueLike
        Floating-point numbers, shape ``[batch, channels, ...]``.
    gamma, beta : TensorValueLike
        Floating-point numbers, shape ``[channels]``.
    num_groups : int
        How many groups the channels are divided into.
    epsilon : float
        What keeps the divisor from zero.

    Returns
    -------
    TensorValue
        The type and shape of `input`.

    Raises
    ------
    ValueError
        The channels cannot be divided, the elements are not floating-point numbers, or the sizes differ.
    """
    x = require_kind("group_norm", "input", tensor(input), "float")
    require_rank("group_norm", "input", x, 3, at_least=True)
    groups = whole(num_groups, "group_norm: num_groups", 1)
    channels = x.shape.static_dims[1] if x.shape.is_static else groups
    if channels % groups:
        fail(f"group_norm: {channels} channels do not split into {groups} groups")
    scale, offset = (_weight("group_norm", n, v, x.dtype) for n, v in (("gamma", gamma), ("beta", beta)))
    number = real(epsilon, "group_norm: epsilon")
    return node("GroupNormalization", [x, scale, offset], epsilon=number, num_groups=groups)
