// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Returns the name of a status code, for example \"INVALID_ARGUMENT\"."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static. An unknown number gives \"UNKNOWN\"."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStatusGetName(status: MaxStatus) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    #[doc = " Returns the message of this thread's last failed call, in UTF-8."]
    #[doc = ""]
    #[doc = " The first line is a summary that names the offending values; a compiler's log"]
    #[doc = " may follow. Empty before the first failure, never NULL. Borrowed until this"]
    #[doc = " thread's next failing call; successful calls and Release leave it alone."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGetLastErrorMessage() -> *const ::std::os::raw::c_char;
}
