# SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy in and out, with numpy as the oracle."""

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from max.driver import CPU, Buffer
from max.dtype import DType

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
SMALL = "bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu".split()


@pytest.mark.parametrize("name", TYPES + SMALL)
def test_shares_memory(name):
    array = np.arange(6).reshape(2, 3).astype(getattr(ml_dtypes, name) if name in SMALL else name)
    buffer = Buffer.from_numpy(array)
    assert buffer.dtype is DType[name] and buffer.shape == (2, 3) and buffer.device == CPU()
    back = buffer.to_numpy()
    assert back.dtype == array.dtype and np.shares_memory(back, array)
    back[1, 2] = 1
    assert array[1, 2] == 1 and buffer[1, 2].item() == 1
    assert buffer.view(DType.uint8).to_numpy().tobytes() == array.tobytes()


def test_lifetimes():
    array = np.arange(10.0)
    gone = weakref.ref(array)
    buffer = Buffer.from_numpy(array)
    view = buffer[2:4]
    del array, buffer
    gc.collect()
    assert gone() is not None and view.to_numpy().tolist() == [2, 3]
    back = view.to_numpy()
    del view
    gc.collect()
    assert gone() is not None and back.tolist() == [2, 3]
    del back
    gc.collect()
    assert gone() is None


def test_read_only():
    array = np.arange(3)
    array.flags.writeable = False
    buffer = Buffer.from_numpy(array)
    assert buffer.is_read_only and not buffer.to_numpy().flags.writeable
    assert np.shares_memory(buffer.to_numpy(), array)
    with pytest.raises(ValueError):
        buffer[0] = 1
    with pytest.raises(ValueError):
        buffer.inplace_copy_from(Buffer.zeros([3], DType.int64))
    assert not buffer.copy().is_read_only


def test_misaligned():
    raw = np.zeros(33, np.uint8)
    array = raw[1:].view(np.float64)
    assert not array.flags.aligned
    array[:] = range(4)
    buffer = Buffer.from_numpy(array)
    assert buffer.to_numpy().tolist() == [0, 1, 2, 3] and not np.shares_memory(buffer.to_numpy(), raw)
    with pytest.raises(ValueError, match="copy is False"):
        Buffer.from_dlpack(array, copy=False)


@pytest.mark.parametrize("dtype", [">f4", ">i2", ">u8", ">c8"])
def test_big_endian(dtype):
    array = np.arange(4).astype(dtype)
    buffer = Buffer.from_numpy(array)
    assert buffer.dtype is DType.from_numpy(np.dtype(dtype).newbyteorder("="))
    assert buffer.to_numpy().tolist() == array.tolist()


@pytest.mark.parametrize("texts", [["a", "bc", ""], [["é", "日本"], ["x\0y", "z" * 1000]], [], np.array("alone")])
def test_strings(texts):
    array = np.array(texts, dtype=object)
    for source in (array, np.array(texts, dtype="T") if hasattr(np.dtypes, "StringDType") else array):
        buffer = Buffer.from_numpy(source)
        assert buffer.dtype is DType.string and buffer.shape == array.shape and buffer.is_read_only
        assert buffer.to_numpy().dtype == object and (buffer.to_numpy() == array).all()
    if array.size:
        first = (0,) * array.ndim
        assert buffer[first].item() == array[first] if array.ndim else buffer.item() == array[()]
    with pytest.raises(ValueError):
        Buffer.from_dlpack(array, copy=False)


def test_bytes_as_strings():
    assert Buffer.from_numpy(np.array([b"a", b"\xff"])).to_numpy().tolist() == ["a", "\udcff"]


@pytest.mark.parametrize(
    "array",
    [
        np.array(["2020-01-01"], "datetime64[D]"),
        np.zeros(2, [("a", "f4")]),
        np.zeros(2, "V8"),
        np.zeros(1, np.longdouble),
    ],
)
def test_types_that_no_buffer_has(array):
    with pytest.raises(ValueError):
        Buffer.from_numpy(array)
    with pytest.raises((ValueError, BufferError)):
        Buffer.from_dlpack(array)
    with pytest.raises(ValueError):
        Buffer(array, CPU())


@pytest.mark.parametrize("wrong", [None, 3, [1, 2], "a", Buffer(DType.float32, [1]), memoryview(b"ab")])
def test_no_arrays(wrong):
    with pytest.raises(TypeError):
        Buffer.from_numpy(wrong)


def test_shapes_without_elements():
    for shape in [(0,), (2, 0, 3), ()]:
        array = np.zeros(shape, np.float32)
        assert Buffer.from_numpy(array).to_numpy().shape == shape
        assert Buffer.from_dlpack(array).shape == shape


def test_subclasses_and_broadcasts():
    matrix = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    assert Buffer.from_numpy(matrix).to_numpy().tolist() == [1, 2]
    wide = np.broadcast_to(np.arange(3), (4, 3))
    assert (Buffer.from_numpy(wide).to_numpy() == wide).all()


def test_array_protocol():
    buffer = Buffer.from_numpy(np.arange(4.0))
    assert np.shares_memory(np.asarray(buffer), buffer.to_numpy())
    assert not np.shares_memory(np.array(buffer, copy=True), buffer.to_numpy())
    assert np.asarray(buffer, dtype=np.int32).dtype == np.int32
    assert (buffer.to_numpy() + np.asarray(buffer[::-1]) == 3).all()
    with pytest.raises(ValueError):
        np.array(buffer, dtype=np.int8, copy=False)
    assert np.concatenate([buffer, buffer]).shape == (8,)


def test_to_numpy_of_packed_types():
    with pytest.raises(ValueError):
        Buffer.zeros([2], DType.int4).to_numpy()


@st.composite
def arrays(draw):
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    array = np.arange(int(np.prod(shape)), dtype=draw(st.sampled_from(["int8", "int32", "float64"]))).reshape(shape)
    order = draw(st.permutations(range(array.ndim)))
    return array.transpose(order)


@st.composite
def keys(draw, shape):
    key = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        ends = st.none() | st.integers(-7, 7)
        step = st.none() | st.integers(-3, 3).filter(bool)
        choices = [st.builds(slice, ends, ends, step)]
        if size:
            choices.append(st.integers(-size, size - 1))
        key.append(draw(st.one_of(choices)))
    if draw(st.booleans()):
        rest = draw(st.integers(0, len(key)))
        used = key[:rest]
        tail = key[rest:]
        free = len(shape) - len(key)
        # What follows the ellipsis indexes the last dimensions: only slices fit whatever their sizes are.
        key = used + [...] + (tail if free == 0 else [k for k in tail if isinstance(k, slice)])
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


@given(st.data())
def test_slices_are_those_of_numpy(data):
    array = data.draw(arrays())
    key = data.draw(keys(array.shape))
    buffer = Buffer.from_numpy(array)
    view, expected = buffer[key], array[key]
    assert view.shape == expected.shape
    assert (view.to_numpy() == expected).all()
    assert (view.contiguous().to_numpy() == expected).all()
    assert (np.from_dlpack(view) == expected).all()
    if expected.size:
        assert np.shares_memory(view.to_numpy(), buffer.to_numpy())
    second = data.draw(keys(expected.shape))
    assert (view[second].to_numpy() == expected[second]).all()


@given(st.data())
def test_elements_are_those_of_numpy(data):
    array = data.draw(arrays().filter(lambda a: a.size and a.flags.writeable)).copy()
    index = tuple(data.draw(st.integers(-size, size - 1)) for size in array.shape)
    value = data.draw(st.integers(-128, 127))
    buffer = Buffer.from_numpy(array)
    assert buffer[index].item() == array[index].item()
    buffer[index] = value
    assert array[index] == value


@given(st.data())
def test_views_are_those_of_numpy(data):
    array = np.ascontiguousarray(data.draw(arrays().filter(lambda a: a.ndim and a.size)))
    target = np.dtype(data.draw(st.sampled_from(["int8", "int16", "float32", "int64", "complex64"])))
    try:
        expected = array.view(target)
    except ValueError:
        with pytest.raises(ValueError):
            Buffer.from_numpy(array).view(DType.from_numpy(target))
        return
    view = Buffer.from_numpy(array).view(DType.from_numpy(target))
    assert view.shape == expected.shape and view.to_numpy().tobytes() == expected.tobytes()
