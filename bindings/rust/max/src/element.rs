// SPDX-License-Identifier: Apache-2.0
//! Rust's types for the elements of buffers.

use crate::DType;

/// A type whose values lie in a buffer as they lie in Rust: numbers, `bool`, and with the feature `half` `f16` and `bf16`.
///
/// ```
/// use max::{DType, Element};
/// assert_eq!(f32::DTYPE, DType::FLOAT32);
/// assert!(f32::ALL_VALID && f32::are_valid(&[255; 4]));
/// assert!(!bool::ALL_VALID && !bool::are_valid(&[2]));
/// ```
///
/// # Safety
/// The type has no padding, no pointers, the size of its `DTYPE`, and each pattern of bits for which `are_valid` holds
/// is a value.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The type's number. See [`Element`].
    const DTYPE: DType;

    /// Whether each pattern of bits is a value, as of numbers. See [`Element`].
    const ALL_VALID: bool = true;

    /// Whether the bytes are values of the type. See [`Element`].
    fn are_valid(_bytes: &[u8]) -> bool {
        true
    }
}

macro_rules! elements {
    ($($type:ty = $dtype:ident),*) => {
        // SAFETY: plain numbers of the same representation.
        $(unsafe impl Element for $type { const DTYPE: DType = DType::$dtype; })*
    };
}

elements!(u8 = UINT8, i8 = INT8, u16 = UINT16, i16 = INT16, u32 = UINT32, i32 = INT32, u64 = UINT64, i64 = INT64);
elements!(f32 = FLOAT32, f64 = FLOAT64);
#[cfg(feature = "half")]
elements!(half::f16 = FLOAT16, half::bf16 = BFLOAT16);

// SAFETY: one byte that is 0 or 1, which is checked.
unsafe impl Element for bool {
    const DTYPE: DType = DType::BOOL;
    const ALL_VALID: bool = false;

    fn are_valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte <= 1)
    }
}
