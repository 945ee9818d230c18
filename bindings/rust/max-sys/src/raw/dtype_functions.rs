// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Returns the size of one element in bytes; 1 for types below 8 bits, 0 for"]
    #[doc = " strings and unknown numbers."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeGetSize(dtype: MaxDType) -> usize;
}
unsafe extern "C" {
    #[doc = " Returns the size of one element in bits; 0 for strings and unknown numbers."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeGetBits(dtype: MaxDType) -> usize;
}
unsafe extern "C" {
    #[doc = " Returns the name of a type, for example \"float32\"; \"invalid\" for unknown numbers."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeGetName(dtype: MaxDType) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    #[doc = " Finds a type by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `outDType`: MAX_DTYPE_INVALID on failure."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No type has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeFromName(name: *const ::std::os::raw::c_char, outDType: *mut MaxDType) -> MaxStatus;
}
