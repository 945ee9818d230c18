# SPDX-License-Identifier: Apache-2.0
"""Sessions that load models, and models that run."""

from typing import TYPE_CHECKING

from max.engine.limits import Cancellation
from max.engine.model import Model
from max.engine.session import (
    AssertLevel,
    GPUProfilingMode,
    InferenceSession,
    LogLevel,
    SplitKReductionPrecision,
)
from max.engine.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from max.engine._types import CustomExtensionsType

__all__ = [
    "AssertLevel",
    "Cancellation",
    "CustomExtensionsType",
    "GPUProfilingMode",
    "InferenceSession",
    "LogLevel",
    "Model",
    "SplitKReductionPrecision",
    "TensorSpec",
]


def __getattr__(name: str) -> object:
    if name == "CustomExtensionsType":
        from max.engine._types import CustomExtensionsType

        return CustomExtensionsType
    raise AttributeError(f"module 'max.engine' has no attribute {name!r}")
