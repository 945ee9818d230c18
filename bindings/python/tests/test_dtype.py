# SPDX-License-Identifier: Apache-2.0
import pickle

import ml_dtypes
import numpy as np
import pytest

from max.dtype import DType

NUMPY_TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
SMALL_FLOATS = "bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
PACKED = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


@pytest.mark.parametrize("name", NUMPY_TYPES.split())
def test_types_of_numpy(name):
    dtype = DType[name]
    assert dtype.to_numpy() == np.dtype(name)
    assert DType.from_numpy(np.dtype(name)) is dtype
    assert DType.from_numpy(getattr(np, name + "_" if name == "bool" else name)) is dtype
    assert dtype.size_in_bytes == np.dtype(name).itemsize
    assert dtype.size_in_bits == (8 if name == "bool" else 8 * np.dtype(name).itemsize)
    assert dtype.align == np.dtype(name).alignment
    kind = np.dtype(name).kind
    assert dtype.is_integral() == (kind in "iu")
    assert dtype.is_signed_integral() == (kind == "i")
    assert dtype.is_unsigned_integral() == (kind == "u")
    assert dtype.is_float() == (kind == "f")
    assert dtype.is_complex() == (kind == "c")
    assert dtype.is_half() == (name == "float16")
    assert not dtype.is_float8()


@pytest.mark.parametrize("name", SMALL_FLOATS.split())
def test_small_floats(name):
    dtype = DType[name]
    assert dtype.to_numpy() == np.dtype(getattr(ml_dtypes, name))
    assert DType.from_numpy(getattr(ml_dtypes, name)) is dtype
    assert dtype.is_float() and not dtype.is_integral() and not dtype.is_complex()
    assert dtype.is_float8() == name.startswith("float8")
    assert dtype.is_half() == (name == "bfloat16")
    assert dtype.size_in_bytes == (2 if name == "bfloat16" else 1)


@pytest.mark.parametrize("name", PACKED)
def test_packed_types(name):
    dtype = DType[name]
    assert dtype.size_in_bits == PACKED[name]
    assert dtype.size_in_bytes == 1
    assert dtype.is_float() == ("float" in name)
    with pytest.raises(ValueError, match="packed"):
        dtype.to_numpy()


def test_strings():
    assert DType.string.to_numpy() == np.dtype(object)
    assert DType.string.size_in_bytes == 0


def test_every_type_is_tested():
    names = {*NUMPY_TYPES.split(), *SMALL_FLOATS.split(), *PACKED, "string"}
    assert names == set(DType.__members__)


def test_texts_values_and_pickles():
    for dtype in DType:
        assert repr(dtype) == str(dtype) == f"DType.{dtype.name}"
        assert DType(dtype.value) is dtype
        assert pickle.loads(pickle.dumps(dtype)) is dtype


@pytest.mark.parametrize("bad", ["datetime64[s]", "S3", "U3", object, "V7", "float128"])
def test_types_that_are_not_there(bad):
    with pytest.raises(ValueError, match="is not one of"):
        DType.from_numpy(bad)


def test_wrong_arguments():
    with pytest.raises(TypeError):
        DType.from_numpy("no such type")
    with pytest.raises(ValueError):
        DType(255)
