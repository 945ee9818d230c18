// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxValue {
    _unused: [u8; 0],
}
impl MaxValueKind {
    #[doc = " A tensor."]
    pub const MAX_VALUE_KIND_TENSOR: MaxValueKind = MaxValueKind(0);
}
impl MaxValueKind {
    #[doc = " A sequence of values."]
    pub const MAX_VALUE_KIND_SEQUENCE: MaxValueKind = MaxValueKind(1);
}
impl MaxValueKind {
    #[doc = " An optional: a value or nothing."]
    pub const MAX_VALUE_KIND_OPTIONAL: MaxValueKind = MaxValueKind(2);
}
impl MaxValueKind {
    #[doc = " A map from keys to values."]
    pub const MAX_VALUE_KIND_MAP: MaxValueKind = MaxValueKind(3);
}
#[repr(transparent)]
#[doc = " Kind of a value, or of a model's input or output."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxValueKind(pub i32);
