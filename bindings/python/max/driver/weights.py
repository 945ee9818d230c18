# SPDX-License-Identifier: Apache-2.0
"""Files of weights."""

from __future__ import annotations

from max._error import check
from max._raw import ffi, lib
from max._text import PathType, path_bytes, text_of
from max.driver.buffer import Buffer, wrap_buffer


def load_weights(path: PathType) -> dict[str, Buffer]:
    """Opens a file of weights, for the `weights_registry` of `InferenceSession.load`.

    Parameters
    ----------
    path : str or path
        A ``.safetensors`` file or a ``.max`` checkpoint. It is mapped, so it must not shrink while a weight lives.

    Returns
    -------
    dict of str to Buffer
        Read-only buffers of the host in the order of the file, which share its memory.

    Raises
    ------
    RuntimeError
        There is no such file.
    ValueError
        The file is damaged.

    Examples
    --------
    >>> model = session.load("model.onnx", weights_registry=load_weights("finetuned.safetensors"))
    """
    handle, count = ffi.new("MaxWeights**"), ffi.new("int32_t*")
    name, buffer = ffi.new("char const**"), ffi.new("MaxBuffer**")
    check(lib.maxWeightsLoad(path_bytes(path), handle))
    weights = ffi.gc(handle[0], lib.maxWeightsRelease)
    check(lib.maxWeightsGetCount(weights, count))
    found = {}
    for index in range(count[0]):
        check(lib.maxWeightsGetName(weights, index, name))
        check(lib.maxWeightsGetBuffer(weights, index, buffer))
        lib.maxBufferRetain(buffer[0])
        found[text_of(name[0])] = wrap_buffer(buffer[0])
    return found
