// SPDX-License-Identifier: Apache-2.0
//! Element types of buffers and tensors.

use std::ffi::CStr;
use std::fmt;

use max_sys as sys;

use crate::error::{Result, c_text, get};

/// The element type of a buffer or tensor.
///
/// ```
/// use max::DType;
/// assert_eq!(DType::FLOAT32.name(), "float32");
/// assert_eq!(DType::from_name("int64")?, DType::INT64);
/// assert_eq!((DType::INT64.size(), DType::INT4.bits()), (8, 4));
/// # Ok::<(), max::Error>(())
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DType(pub(crate) sys::MaxDType);

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident,)*) => {
        impl DType {
            $($(#[$doc])* pub const $name: Self = Self(sys::MaxDType::$raw);)*
        }
    };
}

dtypes! {
    /// No type.
    INVALID = MAX_DTYPE_INVALID,
    /// Truth value, one byte: 0 or 1.
    BOOL = MAX_DTYPE_BOOL,
    /// Strings.
    STRING = MAX_DTYPE_STRING,
    /// 4-bit float, 2 exponent and 1 mantissa bits; two in a byte.
    FLOAT4_E2M1FN = MAX_DTYPE_FLOAT4_E2M1FN,
    /// 6-bit float, 2 exponent and 3 mantissa bits; four in three bytes.
    FLOAT6_E2M3FN = MAX_DTYPE_FLOAT6_E2M3FN,
    /// 6-bit float, 3 exponent and 2 mantissa bits; four in three bytes.
    FLOAT6_E3M2FN = MAX_DTYPE_FLOAT6_E3M2FN,
    /// 8-bit power of two without sign.
    FLOAT8_E8M0FNU = MAX_DTYPE_FLOAT8_E8M0FNU,
    /// 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only.
    FLOAT8_E4M3FN = MAX_DTYPE_FLOAT8_E4M3FN,
    /// As `FLOAT8_E4M3FN` without a negative zero.
    FLOAT8_E4M3FNUZ = MAX_DTYPE_FLOAT8_E4M3FNUZ,
    /// 8-bit float, 5 exponent and 2 mantissa bits.
    FLOAT8_E5M2 = MAX_DTYPE_FLOAT8_E5M2,
    /// As `FLOAT8_E5M2`, finite and NaN only, without a negative zero.
    FLOAT8_E5M2FNUZ = MAX_DTYPE_FLOAT8_E5M2FNUZ,
    /// IEEE 754 binary16.
    FLOAT16 = MAX_DTYPE_FLOAT16,
    /// Upper half of a float32.
    BFLOAT16 = MAX_DTYPE_BFLOAT16,
    /// IEEE 754 binary32.
    FLOAT32 = MAX_DTYPE_FLOAT32,
    /// IEEE 754 binary64.
    FLOAT64 = MAX_DTYPE_FLOAT64,
    /// Two float32: real and imaginary part.
    COMPLEX64 = MAX_DTYPE_COMPLEX64,
    /// Two float64: real and imaginary part.
    COMPLEX128 = MAX_DTYPE_COMPLEX128,
    /// Unsigned 2-bit integer; four in a byte.
    UINT2 = MAX_DTYPE_UINT2,
    /// Signed 2-bit integer; four in a byte.
    INT2 = MAX_DTYPE_INT2,
    /// Unsigned 4-bit integer; two in a byte.
    UINT4 = MAX_DTYPE_UINT4,
    /// Signed 4-bit integer; two in a byte.
    INT4 = MAX_DTYPE_INT4,
    /// Unsigned 8-bit integer.
    UINT8 = MAX_DTYPE_UINT8,
    /// Signed 8-bit integer.
    INT8 = MAX_DTYPE_INT8,
    /// Unsigned 16-bit integer.
    UINT16 = MAX_DTYPE_UINT16,
    /// Signed 16-bit integer.
    INT16 = MAX_DTYPE_INT16,
    /// Unsigned 32-bit integer.
    UINT32 = MAX_DTYPE_UINT32,
    /// Signed 32-bit integer.
    INT32 = MAX_DTYPE_INT32,
    /// Unsigned 64-bit integer.
    UINT64 = MAX_DTYPE_UINT64,
    /// Signed 64-bit integer.
    INT64 = MAX_DTYPE_INT64,
}

impl DType {
    /// The type of a name; `NotFound` if there is none. See [`DType`].
    pub fn from_name(name: &str) -> Result<Self> {
        let name = c_text(name)?;
        // SAFETY: both pointers live through the call.
        get(sys::MaxDType(0), |out| unsafe { sys::maxDTypeFromName(name.as_ptr(), out) }).map(Self)
    }

    /// Its name, for example `"float32"`. See [`DType`].
    pub fn name(self) -> &'static str {
        // SAFETY: any number is allowed, and the text is static.
        unsafe { CStr::from_ptr(sys::maxDTypeGetName(self.0)) }.to_str().unwrap_or("invalid")
    }

    /// Bytes of one element: 1 of types below 8 bits, 0 of strings. See [`DType`].
    pub fn size(self) -> usize {
        // SAFETY: any number is allowed.
        unsafe { sys::maxDTypeGetSize(self.0) }
    }

    /// Bits of one element; 0 of strings. See [`DType`].
    pub fn bits(self) -> usize {
        // SAFETY: any number is allowed.
        unsafe { sys::maxDTypeGetBits(self.0) }
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
