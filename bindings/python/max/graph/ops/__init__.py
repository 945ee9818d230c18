# SPDX-License-Identifier: Apache-2.0
"""Operators: each call adds nodes to the graph that is being built."""

from max.graph.ops.elementwise import add
from max.graph.ops.general import constant, onnx

__all__ = ["add", "constant", "onnx"]
