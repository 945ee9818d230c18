// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Creates a value from a buffer, which is retained and must not be written while the value is in use."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateTensor(buffer: *mut MaxBuffer, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a sequence of values, which are retained: contiguous tensors of one element type in host memory, or maps."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `elements`: `count` values; may be NULL if `count` is 0."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The elements differ in type, or one is a sequence or optional."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateSequence(
        elements: *const *mut MaxValue,
        count: i32,
        outValue: *mut *mut MaxValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an optional that holds a tensor or a sequence, which is retained, or nothing."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `element`: NULL = nothing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The element is an optional or a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateOptional(element: *mut MaxValue, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a map from two lists of equal length, which are retained."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `keys`: Strings or int64, all different."]
    #[doc = " - `values`: The value of each key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The buffers are not such lists."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateMap(keys: *mut MaxBuffer, values: *mut MaxBuffer, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueRetain(value: *const MaxValue);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueRelease(value: *const MaxValue);
}
unsafe extern "C" {
    #[doc = " Gets the kind of a value."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetKind(value: *const MaxValue, outKind: *mut MaxValueKind) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the buffer of a tensor."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is not a tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetBuffer(value: *const MaxValue, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of elements of a sequence or of entries of a map; 1 for an optional, or 0 if it holds nothing."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is a tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetCount(value: *const MaxValue, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets elements of a sequence, or the value in an optional, which is element 0."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `outElements`: Room for `count` values; all NULL on failure."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The range is outside the value; the message says how many elements it has."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is a tensor or a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetElements(
        value: *const MaxValue,
        first: i32,
        count: i32,
        outElements: *mut *mut MaxValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the keys of a map, a list of strings or int64."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is not a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetMapKeys(value: *const MaxValue, outKeys: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the values of a map, in the order of its keys."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is not a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetMapValues(value: *const MaxValue, outValues: *mut *mut MaxBuffer) -> MaxStatus;
}
