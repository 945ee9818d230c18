# SPDX-License-Identifier: Apache-2.0
"""Devices, buffers, kernels and models on libmax: `max.driver`, `max.engine`, `max.graph`, `max.dtype`."""

from max._error import MaxError
from max._raw import ffi as _ffi
from max._raw import lib as _lib

__all__ = ["MaxError", "__version__"]

__version__ = _ffi.string(_lib.maxGetVersion()).decode()
