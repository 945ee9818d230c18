# SPDX-License-Identifier: Apache-2.0
"""Element types of buffers and tensors."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from max._raw import lib

if TYPE_CHECKING:
    import builtins

    import numpy

__all__ = ["DType"]


class DType(enum.Enum):
    """Type of the elements of a buffer or tensor.

    The values are the numbers of the library. Types below 8 bits are packed in memory: two or more elements share a
    byte.

    Examples
    --------
    >>> DType.float32.size_in_bytes
    4
    >>> DType.from_numpy(numpy.dtype("int64"))
    DType.int64
    """

    bool = lib.MAX_DTYPE_BOOL
    string = lib.MAX_DTYPE_STRING
    int2 = lib.MAX_DTYPE_INT2
    int4 = lib.MAX_DTYPE_INT4
    int8 = lib.MAX_DTYPE_INT8
    int16 = lib.MAX_DTYPE_INT16
    int32 = lib.MAX_DTYPE_INT32
    int64 = lib.MAX_DTYPE_INT64
    uint2 = lib.MAX_DTYPE_UINT2
    uint4 = lib.MAX_DTYPE_UINT4
    uint8 = lib.MAX_DTYPE_UINT8
    uint16 = lib.MAX_DTYPE_UINT16
    uint32 = lib.MAX_DTYPE_UINT32
    uint64 = lib.MAX_DTYPE_UINT64
    float4_e2m1fn = lib.MAX_DTYPE_FLOAT4_E2M1FN
    float6_e2m3fn = lib.MAX_DTYPE_FLOAT6_E2M3FN
    float6_e3m2fn = lib.MAX_DTYPE_FLOAT6_E3M2FN
    float8_e8m0fnu = lib.MAX_DTYPE_FLOAT8_E8M0FNU
    float8_e4m3fn = lib.MAX_DTYPE_FLOAT8_E4M3FN
    float8_e4m3fnuz = lib.MAX_DTYPE_FLOAT8_E4M3FNUZ
    float8_e5m2 = lib.MAX_DTYPE_FLOAT8_E5M2
    float8_e5m2fnuz = lib.MAX_DTYPE_FLOAT8_E5M2FNUZ
    float16 = lib.MAX_DTYPE_FLOAT16
    bfloat16 = lib.MAX_DTYPE_BFLOAT16
    float32 = lib.MAX_DTYPE_FLOAT32
    float64 = lib.MAX_DTYPE_FLOAT64
    complex64 = lib.MAX_DTYPE_COMPLEX64
    complex128 = lib.MAX_DTYPE_COMPLEX128

    def __repr__(self) -> str:
        return f"DType.{self.name}"

    __str__ = __repr__

    @property
    def size_in_bits(self) -> int:
        """Bits of one element; 0 for strings."""
        return int(lib.maxDTypeGetBits(self.value))

    @property
    def size_in_bytes(self) -> int:
        """Bytes of one element; 1 for types below 8 bits, 0 for strings."""
        return int(lib.maxDTypeGetSize(self.value))

    @property
    def align(self) -> int:
        """Bytes that an element's address is a multiple of."""
        return max(1, self.size_in_bytes // (2 if self.is_complex() else 1))

    def is_integral(self) -> builtins.bool:
        """Whether it is a signed or unsigned integer. Truth values are none."""
        return self.is_signed_integral() or self.is_unsigned_integral()

    def is_signed_integral(self) -> builtins.bool:
        """Whether it is a signed integer."""
        return self.name.startswith("int")

    def is_unsigned_integral(self) -> builtins.bool:
        """Whether it is an unsigned integer."""
        return self.name.startswith("uint")

    def is_float(self) -> builtins.bool:
        """Whether it is a real floating-point type of any size."""
        return "float" in self.name

    def is_float8(self) -> builtins.bool:
        """Whether it is an 8-bit floating-point type."""
        return self.name.startswith("float8")

    def is_half(self) -> builtins.bool:
        """Whether it is a 16-bit floating-point type."""
        return self in (DType.float16, DType.bfloat16)

    def is_complex(self) -> builtins.bool:
        """Whether it is a complex type."""
        return self.name.startswith("complex")

    def to_numpy(self) -> numpy.dtype[Any]:
        """The type as numpy has it; for types that numpy lacks, that of the package ml_dtypes.

        Returns
        -------
        numpy.dtype

        Raises
        ------
        ValueError
            The type has fewer than 8 bits, or ml_dtypes is not installed.
        """
        if self not in _NUMPY:
            _NUMPY[self] = self._numpy()
        return _NUMPY[self]

    def _numpy(self) -> numpy.dtype[Any]:
        import numpy

        if self is DType.bool:
            return numpy.dtype(numpy.bool_)
        if self is DType.string:
            return numpy.dtype(object)
        if hasattr(numpy, self.name):
            found: numpy.dtype[Any] = numpy.dtype(getattr(numpy, self.name))
            return found
        if self.size_in_bits < 8:
            raise ValueError(f"numpy has no packed type such as {self!r}")
        try:
            import ml_dtypes  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            raise ValueError(f"numpy has no type {self.name}; the package ml_dtypes has it") from None
        small: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, self.name))
        return small

    @classmethod
    def from_numpy(cls, dtype: Any) -> DType:
        """The type that numpy's `dtype` is.

        Parameters
        ----------
        dtype : numpy.dtype or what numpy makes one of

        Raises
        ------
        ValueError
            This type is not supported.
        """
        import numpy

        wanted = dtype if isinstance(dtype, numpy.dtype) else numpy.dtype(dtype)
        if wanted in _OF_NUMPY:
            return _OF_NUMPY[wanted]
        name = wanted.name
        found = cls.__members__.get(name)
        if found is None or found is cls.string:
            raise ValueError(f"numpy's type {numpy.dtype(dtype)} is not one of {', '.join(cls.__members__)}")
        _OF_NUMPY[wanted] = found
        return found


_NUMPY: dict[DType, numpy.dtype[Any]] = {}  # DType: numpy.dtype, as they are asked for

_OF_NUMPY: dict[Any, DType] = {}  # the other way

# By the library's numbers, for the fast paths.
OF_NUMBER = {dtype.value: dtype for dtype in DType}
