# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

from max.driver import CPU, Buffer, DeviceStream, DLPackArray
from max.dtype import DType

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


class Producer:
    """An array that only has the protocol, of the given version."""

    def __init__(self, array, versioned=True, device=(1, 0)):
        self.array, self.versioned, self.device, self.asked = array, versioned, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.asked.append(options)
        if not self.versioned and options:
            raise TypeError("unexpected keyword argument")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("name", TYPES)
def test_to_numpy_and_back(name):
    buffer = Buffer.from_numpy(np.arange(6).reshape(2, 3).astype(name))
    array = np.from_dlpack(buffer)
    assert np.shares_memory(array, buffer.to_numpy()) and array.dtype == np.dtype(name)
    assert (array == buffer.to_numpy()).all()
    again = Buffer.from_dlpack(Producer(array))
    assert again.dtype is buffer.dtype and np.shares_memory(again.to_numpy(), array)


@pytest.mark.parametrize("versioned", [True, False])
def test_lifetimes(versioned):
    array = np.arange(10.0)
    gone = weakref.ref(array)
    buffer = Buffer.from_dlpack(Producer(array, versioned))
    del array
    view = buffer[::2]
    del buffer
    gc.collect()
    assert gone() is not None and view.to_numpy().tolist() == [0, 2, 4, 6, 8]
    del view
    gc.collect()
    assert gone() is None


def test_the_last_reference_goes_in_another_thread():
    array = np.arange(10.0)
    gone = weakref.ref(array)
    held = [Buffer.from_dlpack(Producer(array))]
    del array
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert gone() is None


def test_capsules_nobody_takes():
    buffer = Buffer.from_numpy(np.arange(3.0))
    for version in (None, (0, 8), (1, 0), (1, 99), (2, 0)):
        capsule = buffer.__dlpack__(max_version=version)
        assert "versioned" in repr(capsule) or version is None or version[0] == 0
        del capsule


def test_what_the_protocol_is():
    assert isinstance(Buffer(DType.int8, [1]), DLPackArray) and isinstance(np.zeros(1), DLPackArray)
    assert not isinstance([1], DLPackArray)
    assert Buffer(DType.int8, [1]).__dlpack_device__() == (1, 0)


def test_copies():
    array = np.arange(4.0)
    assert np.shares_memory(Buffer.from_dlpack(array).to_numpy(), array)
    assert np.shares_memory(Buffer.from_dlpack(array, copy=None).to_numpy(), array)
    assert np.shares_memory(Buffer.from_dlpack(array, copy=False).to_numpy(), array)
    assert not np.shares_memory(Buffer.from_dlpack(array, copy=True).to_numpy(), array)
    assert not np.shares_memory(Buffer.from_dlpack(Producer(array), copy=True).to_numpy(), array)
    assert np.shares_memory(Buffer.from_dlpack(Producer(array), copy=False).to_numpy(), array)
    buffer = Buffer.from_numpy(array)
    assert np.shares_memory(Buffer.from_dlpack(buffer).to_numpy(), array)
    assert not np.shares_memory(Buffer.from_dlpack(buffer, copy=True).to_numpy(), array)
    assert not np.shares_memory(np.from_dlpack(buffer, copy=True), array)
    for wrong in (1, "yes", []):
        with pytest.raises(TypeError):
            Buffer.from_dlpack(array, copy=wrong)


def test_strides_are_kept():
    array = np.arange(12.0).reshape(3, 4)[::2, 1::2]
    buffer = Buffer.from_dlpack(Producer(array))
    assert np.shares_memory(buffer.to_numpy(), array) and (buffer.to_numpy() == array).all()
    assert not buffer.is_contiguous


def test_read_only():
    array = np.arange(3.0)
    array.flags.writeable = False
    buffer = Buffer.from_dlpack(Producer(array))
    assert buffer.is_read_only
    assert not np.from_dlpack(buffer).flags.writeable
    with pytest.raises(BufferError):
        buffer.__dlpack__()
    with pytest.raises(BufferError):
        buffer.__dlpack__(max_version=(0, 8))


def test_devices():
    buffer = Buffer.from_numpy(np.arange(3.0))
    assert np.from_dlpack(buffer, device="cpu").tolist() == [0, 1, 2]
    with pytest.raises(BufferError):
        buffer.__dlpack__(dl_device=(2, 0))
    for stream in (None, -1):
        assert buffer.__dlpack__(stream=stream) is not None


def test_accelerators(gpu):
    buffer = Buffer(np.arange(3, dtype=np.float32), gpu)
    kind, number = buffer.__dlpack_device__()
    assert kind in (2, 10) and number == 0
    shared = Buffer.from_dlpack(buffer)
    shared[0] = 7
    assert buffer[0].item() == 7

    producer = Producer(buffer, device=buffer.__dlpack_device__())
    imported = Buffer.from_dlpack(producer)
    assert imported.device == gpu and producer.asked[0]["stream"] == (1 if kind == 2 else 0)
    assert imported.to_numpy().tolist() == [7, 1, 2]
    bound = Buffer.zeros([2], DType.float32, stream=DeviceStream(gpu))
    for stream in (None, 1, 2, -1):
        assert bound.__dlpack__(stream=stream) is not None


def test_consumers_choose_the_host(gpu):
    """As JAX and numpy ask for it."""
    buffer = Buffer(np.arange(3, dtype=np.float32), gpu)
    assert np.from_dlpack(buffer, device="cpu").tolist() == [0, 1, 2]
    assert np.from_dlpack(buffer, device="cpu", copy=True).tolist() == [0, 1, 2]
    for options in ({"dl_device": (1, 0), "copy": False}, {"dl_device": (2, 9)}, {"dl_device": (13, 0)}):
        with pytest.raises(BufferError):
            buffer.__dlpack__(max_version=(1, 0), **options)
    pinned = Buffer.zeros([2], DType.float32, gpu, pinned=True)
    assert np.from_dlpack(pinned, device="cpu").tolist() == [0, 0]


def test_jax():
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(6, dtype="float32").reshape(2, 3)
    buffer = Buffer.from_dlpack(array)
    assert buffer.to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]] and buffer.dtype is DType.float32
    back = jax.dlpack.from_dlpack(Buffer.zeros([2, 2], DType.bfloat16))
    assert back.dtype == jax.numpy.bfloat16 and back.shape == (2, 2)


def test_pinned_memory_is_the_hosts(gpu):
    pinned = Buffer.zeros([2], DType.float32, gpu, pinned=True)
    assert pinned.__dlpack_device__()[0] in (3, 11)
    assert np.from_dlpack(Producer(pinned, device=pinned.__dlpack_device__())).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats_between_buffers(name):
    array = np.arange(4).astype(getattr(ml_dtypes, name))
    buffer = Buffer.from_dlpack(Producer(Buffer.from_numpy(array)))
    assert buffer.dtype is DType[name] and (buffer.to_numpy() == array).all()


def test_strings_do_not_travel():
    with pytest.raises(BufferError):
        Buffer.from_numpy(np.array(["a"])).__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize("array", [None, 3, "text", [1.0], object(), type])
def test_what_is_no_array(array):
    with pytest.raises((TypeError, BufferError)):
        Buffer.from_dlpack(array)


class Lying:
    def __init__(self, result, device=(1, 0)):
        self.result, self.device = result, device

    def __dlpack__(self, **options):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("result", [None, 3, b"capsule", [], np.zeros(2), object()])
def test_results_that_are_no_capsules(result):
    with pytest.raises(TypeError):
        Buffer.from_dlpack(Lying(result))


@pytest.mark.parametrize("device", [None, (), "cpu", 1, ("a", "b"), (None, 0)])
def test_devices_that_are_no_pairs(device):
    with pytest.raises((TypeError, ValueError)):
        Buffer.from_dlpack(Lying(None, device))


@pytest.mark.parametrize("error", [BufferError("no"), RuntimeError("no"), ValueError("no"), KeyError("no")])
def test_errors_of_the_producer_arrive(error):
    with pytest.raises(type(error)):
        Buffer.from_dlpack(Lying(error))


def test_a_capsule_is_taken_once():
    capsule = np.arange(3.0).__dlpack__(max_version=(1, 0))
    producer = Lying(capsule)
    first = Buffer.from_dlpack(producer)
    with pytest.raises(TypeError):
        Buffer.from_dlpack(producer)
    assert first.to_numpy().tolist() == [0, 1, 2]


def capsule_of(content, name=b"dltensor_versioned"):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(content), name, None)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]  # fmt: skip


def tensor(**changes):
    made = Versioned(major=1, data=0x1000, device_type=1, rank=1, code=2, bits=32, lanes=1)
    made.shape = (ctypes.c_int64 * 1)(3)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    "changes",
    [
        {"major": 2}, {"major": 0xFFFFFFFF}, {"device_type": 99}, {"device_type": -1}, {"device_type": 7}, {"code": 77},
        {"code": 3}, {"bits": 0}, {"bits": 31}, {"lanes": 4}, {"lanes": 0}, {"rank": -1}, {"rank": 2**30},
        {"data": None}, {"shape": ctypes.POINTER(ctypes.c_int64)()}, {"device_type": 2, "device_id": 99},
        {"shape": ctypes.cast((ctypes.c_int64 * 1)(-3), ctypes.POINTER(ctypes.c_int64))},
        {"shape": ctypes.cast((ctypes.c_int64 * 1)(2**62), ctypes.POINTER(ctypes.c_int64))},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_tensors(changes):
    content = tensor(**changes)
    with pytest.raises((RuntimeError, ValueError)):
        Buffer.from_dlpack(Lying(capsule_of(content)))


def test_other_versions_of_the_arguments():
    for wrong in ("1.0", 3):
        with pytest.raises((TypeError, BufferError)):
            Buffer(DType.int8, [1]).__dlpack__(max_version=wrong)
    with pytest.raises(TypeError):
        Buffer(DType.int8, [1]).__dlpack__(dl_device=3)
