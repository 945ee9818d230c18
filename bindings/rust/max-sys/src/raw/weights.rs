// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxWeights {
    _unused: [u8; 0],
}
