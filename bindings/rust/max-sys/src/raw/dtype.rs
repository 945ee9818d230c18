// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

impl MaxDType {
    #[doc = " No type: the value in a zeroed structure."]
    pub const MAX_DTYPE_INVALID: MaxDType = MaxDType(0);
}
impl MaxDType {
    #[doc = " Truth value, one byte: 0 or 1."]
    pub const MAX_DTYPE_BOOL: MaxDType = MaxDType(1);
}
impl MaxDType {
    #[doc = " UTF-8 strings: one block of bytes plus offsets."]
    pub const MAX_DTYPE_STRING: MaxDType = MaxDType(2);
}
impl MaxDType {
    #[doc = " 4-bit float, 2 exponent and 1 mantissa bits, finite only; two in a byte."]
    pub const MAX_DTYPE_FLOAT4_E2M1FN: MaxDType = MaxDType(64);
}
impl MaxDType {
    #[doc = " 6-bit float, 2 exponent and 3 mantissa bits, finite only; four in three bytes, first in the low bits."]
    pub const MAX_DTYPE_FLOAT6_E2M3FN: MaxDType = MaxDType(65);
}
impl MaxDType {
    #[doc = " 6-bit float, 3 exponent and 2 mantissa bits, finite only; four in three bytes, first in the low bits."]
    pub const MAX_DTYPE_FLOAT6_E3M2FN: MaxDType = MaxDType(66);
}
impl MaxDType {
    #[doc = " 8-bit unsigned power of two, the scale type of microscaling formats."]
    pub const MAX_DTYPE_FLOAT8_E8M0FNU: MaxDType = MaxDType(73);
}
impl MaxDType {
    #[doc = " 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only."]
    pub const MAX_DTYPE_FLOAT8_E4M3FN: MaxDType = MaxDType(75);
}
impl MaxDType {
    #[doc = " Like float8_e4m3fn, without a negative zero."]
    pub const MAX_DTYPE_FLOAT8_E4M3FNUZ: MaxDType = MaxDType(76);
}
impl MaxDType {
    #[doc = " 8-bit float, 5 exponent and 2 mantissa bits."]
    pub const MAX_DTYPE_FLOAT8_E5M2: MaxDType = MaxDType(77);
}
impl MaxDType {
    #[doc = " Like float8_e5m2, finite and NaN only, without a negative zero."]
    pub const MAX_DTYPE_FLOAT8_E5M2FNUZ: MaxDType = MaxDType(78);
}
impl MaxDType {
    #[doc = " IEEE 754 binary16."]
    pub const MAX_DTYPE_FLOAT16: MaxDType = MaxDType(79);
}
impl MaxDType {
    #[doc = " Upper half of a float32."]
    pub const MAX_DTYPE_BFLOAT16: MaxDType = MaxDType(80);
}
impl MaxDType {
    #[doc = " IEEE 754 binary32."]
    pub const MAX_DTYPE_FLOAT32: MaxDType = MaxDType(81);
}
impl MaxDType {
    #[doc = " IEEE 754 binary64."]
    pub const MAX_DTYPE_FLOAT64: MaxDType = MaxDType(82);
}
impl MaxDType {
    #[doc = " Two float32: real and imaginary part."]
    pub const MAX_DTYPE_COMPLEX64: MaxDType = MaxDType(97);
}
impl MaxDType {
    #[doc = " Two float64: real and imaginary part."]
    pub const MAX_DTYPE_COMPLEX128: MaxDType = MaxDType(98);
}
impl MaxDType {
    #[doc = " Unsigned 2-bit integer; four in a byte, first in the low bits."]
    pub const MAX_DTYPE_UINT2: MaxDType = MaxDType(130);
}
impl MaxDType {
    #[doc = " Signed 2-bit integer; four in a byte, first in the low bits."]
    pub const MAX_DTYPE_INT2: MaxDType = MaxDType(131);
}
impl MaxDType {
    #[doc = " Unsigned 4-bit integer; two in a byte, first in the low bits."]
    pub const MAX_DTYPE_UINT4: MaxDType = MaxDType(132);
}
impl MaxDType {
    #[doc = " Signed 4-bit integer; two in a byte, first in the low bits."]
    pub const MAX_DTYPE_INT4: MaxDType = MaxDType(133);
}
impl MaxDType {
    #[doc = " Unsigned 8-bit integer."]
    pub const MAX_DTYPE_UINT8: MaxDType = MaxDType(134);
}
impl MaxDType {
    #[doc = " Signed 8-bit integer."]
    pub const MAX_DTYPE_INT8: MaxDType = MaxDType(135);
}
impl MaxDType {
    #[doc = " Unsigned 16-bit integer."]
    pub const MAX_DTYPE_UINT16: MaxDType = MaxDType(136);
}
impl MaxDType {
    #[doc = " Signed 16-bit integer."]
    pub const MAX_DTYPE_INT16: MaxDType = MaxDType(137);
}
impl MaxDType {
    #[doc = " Unsigned 32-bit integer."]
    pub const MAX_DTYPE_UINT32: MaxDType = MaxDType(138);
}
impl MaxDType {
    #[doc = " Signed 32-bit integer."]
    pub const MAX_DTYPE_INT32: MaxDType = MaxDType(139);
}
impl MaxDType {
    #[doc = " Unsigned 64-bit integer."]
    pub const MAX_DTYPE_UINT64: MaxDType = MaxDType(140);
}
impl MaxDType {
    #[doc = " Signed 64-bit integer."]
    pub const MAX_DTYPE_INT64: MaxDType = MaxDType(141);
}
#[repr(transparent)]
#[doc = " Element type of a buffer or tensor."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDType(pub i32);
