# SPDX-License-Identifier: Apache-2.0
"""Models on Ray: `predict` over datasets of Ray Data, `deployment` for Ray Serve. Needs `libmax-runtime[ray]`."""

from typing import TYPE_CHECKING

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError("max.ray needs Ray: pip install 'libmax-runtime[ray]'") from error

if TYPE_CHECKING:
    from max.ray._predict import predict
    from max.ray._serve import deployment

__all__ = ["deployment", "predict"]


def __getattr__(name: str) -> object:
    # Ray Data and Ray Serve come with dependencies of their own; who uses one need not have those of the other.
    if name == "predict":
        from max.ray._predict import predict

        return predict
    if name == "deployment":
        from max.ray._serve import deployment

        return deployment
    raise AttributeError(f"module 'max.ray' has no attribute {name!r}")
