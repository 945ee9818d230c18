# SPDX-License-Identifier: Apache-2.0
import copy
import pickle
import struct

import numpy as np
import pytest

from max.driver import CPU, Accelerator, Buffer, DeviceStream, accelerator_count, load_max_buffer
from max.dtype import DType
from max._raw import ffi, lib

NUMBERS = [d for d in DType if d is not DType.string]


@pytest.fixture(params=["cpu", "gpu"])
def device(request, accelerators):
    if request.param == "gpu" and not accelerators:
        pytest.skip("no accelerator")
    return CPU() if request.param == "cpu" else Accelerator()


def test_create(device):
    for buffer in (
        Buffer(DType.float32, [2, 3], device),
        Buffer(dtype=DType.float32, shape=(2, 3), device=device, pinned=False),
        Buffer(DType.float32, [2, 3], device.default_stream),
        Buffer(DType.float32, [2, 3], stream=device.default_stream, pinned=False),
        Buffer(shape=[np.int64(2), 3], dtype=DType.float32, device=device),
        Buffer.zeros([2, 3], DType.float32, device),
        Buffer.zeros(shape=(2, 3), dtype=DType.float32, device=device, pinned=False),
        Buffer.zeros([2, 3], DType.float32, stream=device.default_stream),
        Buffer.zeros([2, 3], DType.float32, device.default_stream),
    ):
        assert isinstance(buffer, Buffer) and isinstance(buffer, object)
        assert (buffer.dtype, buffer.shape, buffer.rank, buffer.num_elements) == (DType.float32, (2, 3), 2, 6)
        assert (buffer.element_size, buffer.strides, buffer.is_contiguous) == (4, (3, 1), True)
        assert buffer.device == device and buffer.is_host == device.is_host
        assert buffer.stream == device.default_stream
        assert not buffer.is_read_only and isinstance(buffer.pinned, bool)
        assert repr(buffer) == f"Buffer(dtype=DType.float32, shape=(2, 3), device={device})"
        assert len(buffer) == 2
    assert Buffer(DType.int8, 4, device).shape == (4,)
    assert (Buffer.zeros([2, 3], DType.int16, device).to_numpy() == 0).all()


def test_the_host_is_the_default():
    assert Buffer(DType.float32, [1]).device == Buffer.zeros([1], DType.int8).device == CPU()


def test_stream_of_its_own(device):
    stream = DeviceStream(device)
    assert Buffer(DType.float32, [2], stream).stream == stream
    assert Buffer(DType.float32, [2], stream=stream).device == device


@pytest.mark.parametrize("pinned", [True, False])
def test_pinned(device, pinned):
    buffer = Buffer(DType.float32, [4], device, pinned)
    assert buffer.pinned == pinned
    assert Buffer.zeros([4], DType.float32, device, pinned=pinned).pinned == pinned
    buffer[0] = 2.5
    assert buffer[0].item() == 2.5
    if pinned:
        assert isinstance(buffer.to_numpy(), np.ndarray)


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda d: d.name)
def test_every_type(dtype):
    buffer = Buffer.zeros([4], dtype)
    assert buffer.dtype is dtype and buffer.element_size == dtype.size_in_bytes
    assert Buffer(dtype, []).num_elements == 1 and Buffer(dtype, [0, 3]).num_elements == 0
    if not (dtype.size_in_bits < 8 and dtype.is_float()):
        buffer[1] = 1
        assert [x.item() for x in buffer[1:2]] == [1] and buffer[0].item() != 1 if dtype.size_in_bits >= 8 else True
        assert type(buffer.view(dtype)[1:2].shape) is tuple if dtype.size_in_bits >= 8 else True


def test_packed_elements():
    for dtype, lowest, highest in [(DType.int4, -8, 7), (DType.uint4, 0, 15), (DType.int2, -2, 1), (DType.uint2, 0, 3)]:
        buffer = Buffer.zeros([8], dtype)
        for i in range(8):
            buffer[i] = lowest if i % 2 else highest
        scalar = Buffer(dtype, [])
        scalar[()] = lowest
        assert scalar.item() == lowest
        with pytest.raises(ValueError):
            buffer[0] = highest + 1
        with pytest.raises(ValueError):
            buffer[0] = lowest - 1


def test_array_to_a_device(device):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for buffer in (Buffer(array, device), Buffer(shape=array, device=device), Buffer(array[::-1].T, device)):
        assert buffer.device == device and buffer.is_contiguous
        assert not np.shares_memory(buffer.to_numpy(), array)
    assert (Buffer(array, device).to_numpy() == array).all()
    assert (Buffer(array[::-1].T, device).to_numpy() == array[::-1].T).all()
    frozen = array.copy()
    frozen.flags.writeable = False
    changed = Buffer(frozen, device)
    changed[0, 0] = 9.0
    assert frozen[0, 0] == 0 and changed[0, 0].item() == 9


def test_scalars(device):
    for value, dtype, kind in [
        (3, DType.int32, int),
        (2.5, DType.float64, float),
        (True, DType.bool, bool),
        (1 + 2j, DType.complex64, complex),
        (-1.5, DType.bfloat16, float),
        (0.5, DType.float8_e5m2, float),
        (2.0, DType.float16, float),
    ]:
        scalar = Buffer.scalar(value, dtype, device)
        assert (scalar.shape, scalar.rank, scalar.num_elements, scalar.device) == ((), 0, 1, device)
        assert scalar.item() == value and type(scalar.item()) is kind
        assert Buffer.scalar(value=value, dtype=dtype).to_numpy().shape == ()
        with pytest.raises(TypeError):
            len(scalar)
        with pytest.raises(TypeError):
            iter(scalar)
    assert int(Buffer.scalar(3.7, DType.float32)) == 3 and float(Buffer.scalar(3, DType.int8)) == 3.0
    assert bool(Buffer.scalar(1, DType.int8)) and not Buffer.scalar(0, DType.int8)
    with pytest.raises(ValueError):
        Buffer.zeros([1], DType.float32).item()
    with pytest.raises(ValueError):
        bool(Buffer.zeros([2], DType.float32))


@pytest.mark.parametrize(
    "value, dtype",
    [
        (300, DType.uint8),
        (-1, DType.uint64),
        (2**64, DType.uint64),
        (1e300, DType.float16),
        (float("inf"), DType.int32),
        (float("nan"), DType.int8),
        (1e39, DType.float32),
    ],
)
def test_values_that_do_not_fit(value, dtype):
    with pytest.raises(ValueError):
        Buffer.scalar(value, dtype)


@pytest.mark.parametrize("value", [None, "x", [1, 2], {}, object(), 1j, b"ab"])
@pytest.mark.parametrize("dtype", [DType.float32, DType.int32, DType.bfloat16, DType.int4])
def test_values_that_are_no_numbers(value, dtype):
    with pytest.raises((TypeError, ValueError)):
        Buffer(dtype, [2])[0] = value


def test_set_and_get(device):
    buffer = Buffer.zeros([2, 3], DType.float32, device)
    buffer[1, -1] = 5.0
    buffer[np.int64(0), 0] = Buffer.scalar(7, DType.int32)
    assert buffer[1, 2].item() == 5.0 and buffer.to_numpy().tolist() == [[7, 0, 0], [0, 0, 5]]
    assert [[x.item() for x in row] for row in buffer] == [[7, 0, 0], [0, 0, 5]]
    for wrong in [(0,), (slice(None), 0), (0, None), (0, ...), ()]:
        with pytest.raises(ValueError):
            buffer[wrong] = 1
    with pytest.raises(ValueError):
        buffer[0] = 1
    for wrong in [(2, 0), (0, -4), (0, 2**70), (-(2**63), 0)]:
        with pytest.raises(IndexError):
            buffer[wrong] = 1
        with pytest.raises(IndexError):
            buffer[wrong]
    for wrong in [1.0, "a", True, [0, 1], np.array([0, 1])]:
        with pytest.raises((TypeError, IndexError)):
            buffer[wrong, 0]
        with pytest.raises((TypeError, IndexError)):
            buffer[wrong, 0] = 1
    for wrong in [slice("a", None), slice(None, 1.5), slice(None, None, "b")]:
        with pytest.raises(TypeError):
            buffer[wrong]
    with pytest.raises(ValueError):
        buffer[::0]
    with pytest.raises((ValueError, IndexError)):
        buffer[0, 0, 0]
    with pytest.raises((ValueError, IndexError)):
        buffer[..., ...]
    assert buffer[: 2**80, -(2**80) :].shape == (2, 3)


def test_views(device):
    buffer = Buffer.zeros([4, 4], DType.float32, device)
    assert buffer.view(DType.int32).shape == (4, 4)
    assert buffer.view(DType.uint8).shape == (4, 16)
    assert buffer.view(DType.float64).shape == (4, 2)
    assert buffer.view(DType.float32, [2, -1]).shape == (2, 8)
    assert buffer.view(dtype=DType.float32, shape=(16,)).rank == 1
    assert buffer.view(DType.float32, 16).shape == (16,)
    view = buffer.view(DType.int32, [16])
    view[0] = 0x3F800000
    assert buffer[0, 0].item() == 1.0
    for dtype, shape in [
        (DType.float32, [3, 5]),
        (DType.float32, [-1, -1]),
        (DType.float32, [-2, 8]),
        (DType.int8, [1]),
    ]:
        with pytest.raises(ValueError):
            buffer.view(dtype, shape)
    with pytest.raises(ValueError):
        buffer[:, ::2].view(DType.int32)
    with pytest.raises(ValueError):
        Buffer(DType.uint8, [3]).view(DType.float32)
    for wrong in [(None,), ("float32",), (np.float32,), (DType.int32, "ab"), (DType.int32, [1.5])]:
        with pytest.raises(TypeError):
            buffer.view(*wrong)


def test_copies(device):
    source = Buffer(np.arange(12, dtype=np.int16).reshape(3, 4), device)
    expected = np.arange(12).reshape(3, 4)
    stream = DeviceStream(device)
    for c in (
        source.copy(),
        source.copy(device),
        source.copy(device=device),
        source.copy(stream),
        source.copy(stream=stream),
        source.contiguous(),
        copy.deepcopy(source),
    ):
        assert c.device == device and (c.to_numpy() == expected).all() and c.is_contiguous
        c[0, 0] = 99
        assert source[0, 0].item() == 0
    assert source.copy(stream).stream == stream
    strided = source[::-1, ::2]
    assert not strided.is_contiguous
    assert strided.contiguous().is_contiguous and strided.copy().is_contiguous
    assert (strided.contiguous().to_numpy() == expected[::-1, ::2]).all()
    view = copy.copy(source)
    view[0, 0] = 5
    assert source[0, 0].item() == 5
    for wrong in ("cpu", 0, object()):
        with pytest.raises(TypeError):
            source.copy(wrong)
        with pytest.raises(TypeError):
            source.copy(stream=wrong)


def test_to(device):
    source = Buffer(np.arange(4, dtype=np.float32), device)
    stream = DeviceStream(device)
    for same in (source.to(device), source.to(device=device), source.to(device.default_stream)):
        assert same._handle == source._handle
    for moved in (source.to(CPU()), source.to(stream), source.to(stream=stream)):
        assert moved.to_numpy().tolist() == [0, 1, 2, 3]
    several = source.to([CPU(), device])
    assert [b.device for b in several] == [CPU(), device]
    assert [b.device for b in source.to(devices=(device,))] == [device]
    assert [b.device for b in source.to(streams=[stream, CPU().default_stream])] == [device, CPU()]
    assert source.to([]) == []
    for wrong in ("cpu", 0, object(), ["cpu"], [CPU(), None]):
        with pytest.raises(TypeError):
            source.to(wrong)
    with pytest.raises(TypeError):
        source.to()
    with pytest.raises(TypeError):
        source.to(device, stream=stream)


def test_between_devices(gpu):
    if accelerator_count() < 2:
        pytest.skip("there is one accelerator")
    array = np.arange(1000, dtype=np.float32)
    there = Buffer(array, gpu).to(Accelerator(1))
    assert there.device.id == 1 and (there.to_numpy() == array).all()


def test_inplace_copy_from(device):
    source = Buffer(np.arange(4, dtype=np.float32), CPU())
    target = Buffer.zeros([2, 2], DType.float32, device)
    assert target.inplace_copy_from(source) is None
    assert target.to_numpy().tolist() == [[0, 1], [2, 3]]
    target.inplace_copy_from(src=Buffer.zeros([4], DType.int32))
    for wrong in (Buffer.zeros([3], DType.float32), Buffer.zeros([8], DType.float32)[::2]):
        with pytest.raises(ValueError):
            target.inplace_copy_from(wrong)
    for wrong in (None, np.zeros(4, np.float32), 3):
        with pytest.raises(TypeError):
            target.inplace_copy_from(wrong)


@pytest.mark.parametrize(
    "shape, error",
    [
        ([-1], ValueError),
        ([2, -3], ValueError),
        ([2**63], ValueError),
        ([2**62, 2**62], ValueError),
        ([2**40, 2**40], (ValueError, MemoryError)),
        ([1] * 17, ValueError),
        ([1.5], TypeError),
        ("ab", TypeError),
        (None, TypeError),
        ([None], TypeError),
        ({}, None),
        (object(), TypeError),
    ],
)
def test_wrong_shapes(shape, error):
    if error is None:
        assert Buffer(DType.float32, shape).rank == 0
        return
    with pytest.raises(error):
        Buffer(DType.float32, shape)
    with pytest.raises(error):
        Buffer.zeros(shape, DType.float32)


def test_wrong_arguments():
    for wrong in (None, "float32", np.float32, 81):
        with pytest.raises(TypeError):
            Buffer(wrong, [1])
        with pytest.raises(TypeError):
            Buffer.zeros([1], wrong)
    with pytest.raises(TypeError):
        Buffer()
    with pytest.raises(TypeError):
        Buffer(DType.float32)
    with pytest.raises(TypeError):
        Buffer(DType.float32, [1], "cpu")
    with pytest.raises(TypeError):
        Buffer(DType.float32, [1], stream=CPU())
    with pytest.raises(TypeError):
        Buffer(np.zeros(3))
    with pytest.raises(TypeError):
        Buffer(np.zeros(3), "cpu")
    with pytest.raises(NotImplementedError):
        Buffer(DType.string, [1])
    buffer = Buffer(DType.float32, [1])
    with pytest.raises(TypeError):
        buffer.__init__(DType.float32, [2])
    with pytest.raises(AttributeError):
        buffer.no_such_thing = 1
    with pytest.raises((AttributeError, TypeError)):
        object.__new__(Buffer).shape  # noqa: B018


def test_too_much_memory():
    with pytest.raises(MemoryError):
        Buffer(DType.uint8, [2**60])


def test_equality_and_hash():
    a, b = Buffer.zeros([2], DType.float32), Buffer.zeros([2], DType.float32)
    assert a == a and a != b and len({a, b}) == 2


def test_pickles(device):
    for array in (np.arange(6, dtype=np.float64).reshape(2, 3), np.array(True), np.zeros((0, 2), np.int8)):
        buffer = Buffer(array, device)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = pickle.loads(pickle.dumps(buffer, protocol))
            assert back.device == device and back.dtype is buffer.dtype and (back.to_numpy() == array).all()
            assert back.shape == array.shape
    strided = Buffer(np.arange(6), device)[::-2]
    assert pickle.loads(pickle.dumps(strided)).to_numpy().tolist() == [5, 3, 1]
    with pytest.raises(TypeError):
        pickle.dumps(Buffer.from_numpy(np.array(["a"])))


def test_mmap(tmp_path):
    path = tmp_path / "numbers"
    numbers = np.arange(8, dtype=np.float32)
    numbers.tofile(path)
    for name in (path, str(path), bytes(path)):
        assert Buffer.mmap(name, DType.float32, [8]).to_numpy().tolist() == numbers.tolist()
    assert Buffer.mmap(path, DType.float32, 4, offset=16).to_numpy().tolist() == [4, 5, 6, 7]
    for mode in ("c", "copyonwrite"):
        buffer = Buffer.mmap(filename=path, dtype=DType.float32, shape=(2, 4), mode=mode, offset=0)
        buffer[0, 0] = 9
        assert buffer[0, 0].item() == 9 and np.fromfile(path, np.float32)[0] == 0
    for mode in ("r", "readonly"):
        buffer = Buffer.mmap(path, DType.float32, (2, 4), mode)
        assert buffer.is_read_only and not buffer.to_numpy().flags.writeable
        with pytest.raises(ValueError):
            buffer[0, 0] = 9
    for mode in ("r+", "readwrite"):
        buffer = Buffer.mmap(path, DType.float32, (2, 4), mode)
        buffer[0, 1] = 5
        del buffer
        assert np.fromfile(path, np.float32)[1] == 5
    for mode in ("w+", "write"):
        buffer = Buffer.mmap(tmp_path / mode, DType.int16, 3, mode)
        assert buffer.to_numpy().tolist() == [0, 0, 0]
        buffer[2] = 7
        del buffer
        assert np.fromfile(tmp_path / mode, np.int16).tolist() == [0, 0, 7]
    with pytest.raises(IndexError):
        Buffer.mmap(path, DType.float32, [9], "r")
    with pytest.raises(RuntimeError):
        Buffer.mmap(tmp_path / "missing", DType.float32, [1])
    with pytest.raises(ValueError):
        Buffer.mmap(path, DType.float32, [1], "x")
    with pytest.raises(ValueError):
        Buffer.mmap(path, DType.float32, [1], offset=-1)
    with pytest.raises(ValueError):
        Buffer.mmap("a\0b", DType.float32, [1])
    for wrong in [(None, DType.float32, [1]), (path, "float32", [1]), (path, DType.float32, None)]:
        with pytest.raises(TypeError):
            Buffer.mmap(*wrong)
    with pytest.raises(TypeError):
        Buffer.mmap(path, DType.float32, [1], offset=1.5)


def test_load_max_buffer(tmp_path):
    path, buffer = tmp_path / "buffer.max", Buffer.from_numpy(np.arange(6, dtype=np.int64).reshape(2, 3))
    assert lib.maxBufferSave(buffer._handle, bytes(path), ffi.NULL) == 0
    for name in (path, str(path)):
        assert (load_max_buffer(name).to_numpy() == buffer.to_numpy()).all()
    path.write_bytes(b"no checkpoint")
    with pytest.raises(ValueError):
        load_max_buffer(path)
    path.write_bytes(struct.pack("<8B", 0x93, 0xF0, 0x9F, 0x94, 0xA5, 0x2B, 0x2B, 0x93))
    with pytest.raises(ValueError):
        load_max_buffer(path)
    with pytest.raises(RuntimeError):
        load_max_buffer(tmp_path / "missing")
    with pytest.raises(TypeError):
        load_max_buffer(3)


def test_a_view_holds_its_memory():
    view = Buffer.from_numpy(np.arange(1000.0))[10:20]
    array = view.to_numpy()
    del view
    assert array.tolist() == list(range(10, 20))
