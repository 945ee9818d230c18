# SPDX-License-Identifier: Apache-2.0
"""Objects that are made and dropped leave nothing, and what shares memory copies none.

MAX_TEST_CYCLES=1000000 makes the full number of each; by default it is small."""

import gc
import os
import pickle
import resource

import ml_dtypes
import numpy as np
import pytest
from conftest import live_objects

from max.driver import CPU, Buffer, DeviceEvent, DeviceStream
from max.dtype import DType

CYCLES = int(os.environ.get("MAX_TEST_CYCLES", 3000))
ARRAY = np.arange(64, dtype=np.float32).reshape(8, 8)
BUFFER = None  # of ARRAY, while a test runs


class Producer:
    def __dlpack__(self, **options):
        return ARRAY.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


class Broken:
    def __dlpack__(self, **options):
        raise BufferError("no")


def refused():
    try:
        Buffer.from_dlpack(Broken())
    except BufferError:
        pass


CYCLE = {
    "from_numpy": lambda: Buffer.from_numpy(ARRAY),
    "to_numpy": lambda: BUFFER.to_numpy(),
    "from_dlpack": lambda: Buffer.from_dlpack(Producer()),
    "to_dlpack": lambda: np.from_dlpack(BUFFER),
    "a capsule that nobody takes": lambda: BUFFER.__dlpack__(max_version=(1, 0)),
    "an import that fails": refused,
    "zeros": lambda: Buffer.zeros([16], DType.int8),
    "a slice": lambda: BUFFER[1:3, ::2],
    "an element": lambda: BUFFER[1, 2].item(),
    "a copy": lambda: BUFFER.copy(),
    "a stream": lambda: BUFFER.stream,
    "a device": lambda: CPU(),
    "an event": lambda: DeviceEvent(CPU()),
    "a pickle": lambda: pickle.loads(pickle.dumps(BUFFER)),
}
FEWER = {"a pickle": 10}  # which take longer


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("name", CYCLE)
def test_cycles(name, request):
    global BUFFER
    BUFFER = Buffer.from_numpy(ARRAY)
    cycle, count = CYCLE[name], CYCLES // FEWER.get(name, 1)
    for _ in range(count // 10):
        cycle()
    gc.collect()
    objects, memory = live_objects(), resident()
    for _ in range(count):
        cycle()
    gc.collect()
    grown, BUFFER = live_objects() - objects, None
    assert grown == 0
    # The address sanitizer keeps memory that is freed.
    assert "asan" in os.environ.get("LD_PRELOAD", "") or resident() - memory < 4 << 20


def test_models(session, models):
    model, array = session.load(models / "identity.onnx"), np.ones(8, np.float32)
    buffer = Buffer.from_numpy(array)
    ways = [
        lambda: model.execute(array),
        lambda: model.execute(buffer),
        lambda: model(x=array)[0].to_numpy(),
        lambda: model.execute(array[::2], timeout=60),
        lambda: session.load(models / "identity.onnx"),
    ]
    for way, count in zip(ways, [CYCLES] * 4 + [CYCLES // 50]):
        for _ in range(count // 10):
            way()
        gc.collect()
        objects, memory = live_objects(), resident()
        for _ in range(count):
            way()
        gc.collect()
        assert live_objects() == objects and resident() - memory < 4 << 20


def test_streams_with_work():
    stream = DeviceStream(CPU())
    for _ in range(CYCLES // 10):
        Buffer.from_numpy(ARRAY).copy(stream)
    stream.synchronize()


SHAPES = [(), (1,), (7,), (3, 4), (2, 3, 4)]


@pytest.mark.parametrize("name", ["bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex128"])
def test_addresses_are_equal(name):
    for shape in SHAPES:
        array = np.ones(shape, name)
        address = array.__array_interface__["data"][0]
        buffer = Buffer.from_numpy(array)
        for back in (
            buffer.to_numpy(),
            np.asarray(buffer),
            np.from_dlpack(buffer),
            Buffer.from_dlpack(array).to_numpy(),
            Buffer.from_dlpack(buffer).to_numpy(),
            buffer.to(CPU()).to_numpy(),
            buffer.view(buffer.dtype, [array.size]).to_numpy(),
        ):
            assert back.__array_interface__["data"][0] == address and back.dtype == array.dtype


def test_addresses_of_small_floats():
    for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        array = np.ones((2, 3), kind)
        back = Buffer.from_numpy(array).to_numpy()
        assert back.__array_interface__["data"][0] == array.__array_interface__["data"][0]
