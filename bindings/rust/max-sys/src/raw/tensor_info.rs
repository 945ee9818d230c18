// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

pub const MAX_DIMENSION_DYNAMIC: i32 = -1;
pub const MAX_RANK_DYNAMIC: i32 = -1;
impl MaxTensorInfoMask {
    #[doc = " name is known."]
    pub const MAX_TENSOR_INFO_NAME: MaxTensorInfoMask = MaxTensorInfoMask(1);
}
impl MaxTensorInfoMask {
    #[doc = " typeName is known."]
    pub const MAX_TENSOR_INFO_TYPE_NAME: MaxTensorInfoMask = MaxTensorInfoMask(2);
}
impl MaxTensorInfoMask {
    #[doc = " kind is known."]
    pub const MAX_TENSOR_INFO_KIND: MaxTensorInfoMask = MaxTensorInfoMask(4);
}
impl MaxTensorInfoMask {
    #[doc = " dtype is known."]
    pub const MAX_TENSOR_INFO_DTYPE: MaxTensorInfoMask = MaxTensorInfoMask(8);
}
impl MaxTensorInfoMask {
    #[doc = " rank is known; otherwise it is MAX_RANK_DYNAMIC."]
    pub const MAX_TENSOR_INFO_RANK: MaxTensorInfoMask = MaxTensorInfoMask(16);
}
impl MaxTensorInfoMask {
    #[doc = " shape is known."]
    pub const MAX_TENSOR_INFO_SHAPE: MaxTensorInfoMask = MaxTensorInfoMask(32);
}
impl MaxTensorInfoMask {
    #[doc = " dimensionNames is known."]
    pub const MAX_TENSOR_INFO_DIMENSION_NAMES: MaxTensorInfoMask = MaxTensorInfoMask(64);
}
impl MaxTensorInfoMask {
    #[doc = " device is known."]
    pub const MAX_TENSOR_INFO_DEVICE: MaxTensorInfoMask = MaxTensorInfoMask(128);
}
impl ::std::ops::BitOr<MaxTensorInfoMask> for MaxTensorInfoMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxTensorInfoMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxTensorInfoMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxTensorInfoMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxTensorInfoMask> for MaxTensorInfoMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxTensorInfoMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxTensorInfoMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxTensorInfoMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxTensorInfo: a sum of MAX_TENSOR_INFO_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxTensorInfoMask(pub u64);
#[doc = " A report on an input, output, weight or value; an unknown field is zero or NULL and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxTensorInfo {
    #[doc = " Size of this structure; set by MAX_TENSOR_INFO_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known."]
    pub validMask: MaxTensorInfoMask,
    #[doc = " Name."]
    pub name: *const ::std::os::raw::c_char,
    #[doc = " Type as text: \"float32\\[batch, 3\\]\", \"sequence of float32\", \"map from string to int64\"."]
    pub typeName: *const ::std::os::raw::c_char,
    #[doc = " Kind of value."]
    pub kind: MaxValueKind,
    #[doc = " Element type; of the tensors in a sequence or optional, or of the values in a map."]
    pub dtype: MaxDType,
    #[doc = " Number of dimensions, or MAX_RANK_DYNAMIC."]
    pub rank: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " `rank` dimensions, MAX_DIMENSION_DYNAMIC if a call chooses; NULL if there are none."]
    pub shape: *const i64,
    #[doc = " `rank` names of dimensions that a call chooses: \"batch\", or an expression: \"2*batch + 1\"; in graphs, also \"?7\" if"]
    #[doc = " nothing is known. NULL entry = no name. Dimensions with equal names are equal in each call. NULL if there are no"]
    #[doc = " dimensions."]
    pub dimensionNames: *const *const ::std::os::raw::c_char,
    #[doc = " Device; NULL for files, and for values of graphs that are on the first device of their session."]
    pub device: *mut MaxDevice,
}
#[test]
fn bindgen_test_layout_MaxTensorInfo() {
    assert_eq!(::std::mem::size_of::<MaxTensorInfo>(), 72usize, concat!("Size of: ", stringify!(MaxTensorInfo)));
    assert_eq!(::std::mem::align_of::<MaxTensorInfo>(), 8usize, concat!("Alignment of ", stringify!(MaxTensorInfo)));
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, validMask), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, name), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, typeName), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, kind), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, dtype), 36usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, rank), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, reserved), 44usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, shape), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, dimensionNames), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxTensorInfo, device), 64usize);
}
impl Default for MaxTensorInfo {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
