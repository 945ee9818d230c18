// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Opens a .safetensors file or a \".max\" checkpoint."]
    #[doc = ""]
    #[doc = " Thread-safe. Models of the same large file share one mapping of it."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file has neither format, or is damaged; the message names the tensor."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: A tensor has an element type that this library does not support."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsLoad(path: *const ::std::os::raw::c_char, outWeights: *mut *mut MaxWeights) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsRetain(weights: *const MaxWeights);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Buffers that were retained stay."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsRelease(weights: *const MaxWeights);
}
unsafe extern "C" {
    #[doc = " Gets the number of tensors."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsGetCount(weights: *const MaxWeights, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a tensor; names are sorted."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the weights."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsGetName(
        weights: *const MaxWeights,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a tensor as a read-only host buffer that shares the file's memory."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the weights."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsGetBuffer(weights: *const MaxWeights, index: i32, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds a tensor by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No tensor has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsFind(
        weights: *const MaxWeights,
        name: *const ::std::os::raw::c_char,
        outIndex: *mut i32,
    ) -> MaxStatus;
}
