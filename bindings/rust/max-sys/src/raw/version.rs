// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

pub const MAX_VERSION_MAJOR: u32 = 0;
pub const MAX_VERSION_MINOR: u32 = 1;
pub const MAX_VERSION_PATCH: u32 = 0;
pub const MAX_VERSION_STRING: &[u8; 6usize] = b"0.1.0\0";
pub const MAX_ABI_VERSION: u32 = 0;
