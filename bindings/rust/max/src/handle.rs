// SPDX-License-Identifier: Apache-2.0
//! What all objects have in common: a reference that is counted.

/// A type for objects of the C API: `Clone` adds a reference, `Drop` gives it back.
macro_rules! handle {
    ($(#[$doc:meta])* $visibility:vis $name:ident: $raw:ident, $retain:ident, $release:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        $visibility struct $name {
            raw: ::std::ptr::NonNull<::max_sys::$raw>,
        }

        impl $name {
            /// Takes over a reference.
            #[allow(dead_code)]
            pub(crate) fn owned(raw: ::std::ptr::NonNull<::max_sys::$raw>) -> Self {
                Self { raw }
            }

            /// Adds a reference to an object that something else holds.
            #[allow(dead_code)]
            pub(crate) fn borrowed(raw: ::std::ptr::NonNull<::max_sys::$raw>) -> Self {
                // SAFETY: the object is alive: calls only give such, and what it was borrowed from still is.
                unsafe { ::max_sys::$retain(raw.as_ptr()) };
                Self { raw }
            }

            /// The object as the C API takes it. It is borrowed from this value.
            #[doc = concat!("See [`Buffer::as_raw`](crate::Buffer::as_raw) and `max_sys::", stringify!($raw), "`.")]
            $visibility fn as_raw(&self) -> *mut ::max_sys::$raw {
                self.raw.as_ptr()
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                Self::borrowed(self.raw)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this value has a reference.
                unsafe { ::max_sys::$release(self.raw.as_ptr()) }
            }
        }
    };
    (sync $(#[$doc:meta])* $visibility:vis $name:ident: $raw:ident, $retain:ident, $release:ident) => {
        handle!($(#[$doc])* $visibility $name: $raw, $retain, $release);
        // SAFETY: the header says "Thread-safe" of every function that this crate calls on such an object.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
    };
}
pub(crate) use handle;

/// An options structure of the C API with its size set and all else zero, which is what the INIT macros make.
macro_rules! options {
    ($name:ident { $($field:ident: $value:expr),* $(,)? }) => {
        ::max_sys::$name {
            structSize: ::std::mem::size_of::<::max_sys::$name>(),
            $($field: $value,)*
            ..::std::default::Default::default()
        }
    };
}
pub(crate) use options;
