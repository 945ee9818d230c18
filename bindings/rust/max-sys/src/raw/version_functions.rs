// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Returns the version of the loaded library, for example \"0.1.0\"."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGetVersion() -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    #[doc = " Returns the ABI version of the loaded library."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGetAbiVersion() -> i32;
}
