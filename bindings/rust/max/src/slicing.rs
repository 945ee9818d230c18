// SPDX-License-Identifier: Apache-2.0
//! Slicing with ranges, as between the brackets of numpy.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use max_sys as sys;

/// One step of slicing.
///
/// ```
/// use max::{Buffer, Step};
/// let buffer = Buffer::from_slice(&[0, 1, 2, 3, 4, 5], &[2, 3])?;
/// assert_eq!(buffer.slice((Step::Ellipsis, Step::range(None, None, -1)))?.to_vec::<i32>()?, [2, 1, 0, 5, 4, 3]);
/// assert_eq!(buffer.slice((0, Step::NewAxis))?.shape(), [1, 3]);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Picks one element, and the dimension goes away; negative = from the end.
    Index(i64),
    /// A range; what is left out is `None`, negative = from the end.
    Range {
        /// Where it starts.
        start: Option<i64>,
        /// Where it stops, exclusive.
        stop: Option<i64>,
        /// The distance between elements, not 0.
        step: i64,
    },
    /// All dimensions that no other step names.
    Ellipsis,
    /// A new dimension of size 1.
    NewAxis,
}

impl Step {
    /// A range with a step, as `start:stop:step`. See [`Step`].
    pub fn range(start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>, step: i64) -> Self {
        Self::Range { start: start.into(), stop: stop.into(), step }
    }

    /// Kind, start, stop and step as the C API takes them.
    pub(crate) fn raw(self) -> (sys::MaxSliceKind, i64, i64, i64) {
        use sys::MaxSliceKind as Kind;
        let omitted = sys::MAX_SLICE_OMITTED;
        match self {
            Self::Index(index) => (Kind::MAX_SLICE_KIND_INDEX, index, omitted, omitted),
            Self::Range { start, stop, step } => {
                (Kind::MAX_SLICE_KIND_RANGE, start.unwrap_or(omitted), stop.unwrap_or(omitted), step)
            }
            Self::Ellipsis => (Kind::MAX_SLICE_KIND_ELLIPSIS, omitted, omitted, omitted),
            Self::NewAxis => (Kind::MAX_SLICE_KIND_NEW_AXIS, omitted, omitted, omitted),
        }
    }
}

/// Behind an inclusive end: the last element is -1, and there is nothing behind it to name.
fn behind(last: i64) -> Option<i64> {
    if last == -1 { None } else { Some(last.saturating_add(1)) }
}

macro_rules! steps_of {
    ($($integer:ty),*) => { $(
        impl From<$integer> for Step {
            fn from(index: $integer) -> Self {
                Self::Index(to_i64(index))
            }
        }
        impl From<Range<$integer>> for Step {
            fn from(range: Range<$integer>) -> Self {
                Self::range(to_i64(range.start), to_i64(range.end), 1)
            }
        }
        impl From<RangeInclusive<$integer>> for Step {
            fn from(range: RangeInclusive<$integer>) -> Self {
                Self::range(to_i64(*range.start()), behind(to_i64(*range.end())), 1)
            }
        }
        impl From<RangeFrom<$integer>> for Step {
            fn from(range: RangeFrom<$integer>) -> Self {
                Self::range(to_i64(range.start), None, 1)
            }
        }
        impl From<RangeTo<$integer>> for Step {
            fn from(range: RangeTo<$integer>) -> Self {
                Self::range(None, to_i64(range.end), 1)
            }
        }
        impl From<RangeToInclusive<$integer>> for Step {
            fn from(range: RangeToInclusive<$integer>) -> Self {
                Self::range(None, behind(to_i64(range.end)), 1)
            }
        }
        one_step!($integer, Range<$integer>, RangeInclusive<$integer>, RangeFrom<$integer>, RangeTo<$integer>,
                  RangeToInclusive<$integer>);
    )* };
}

macro_rules! one_step {
    ($($step:ty),*) => { $(
        impl Steps for $step {
            fn steps(self) -> impl AsRef<[Step]> {
                [Step::from(self)]
            }
        }
    )* };
}

/// What lies beyond every dimension is as good as the largest number.
fn to_i64(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

impl From<RangeFull> for Step {
    fn from(_: RangeFull) -> Self {
        Self::range(None, None, 1)
    }
}

/// What [`Buffer::slice`](crate::Buffer::slice) takes: an index, a range, a [`Step`], a tuple of such, or a slice of steps.
///
/// ```
/// use max::{Buffer, Steps};
/// let buffer = Buffer::from_slice(&[0, 1, 2, 3, 4, 5], &[2, 3])?;
/// assert_eq!(buffer.slice(1)?.to_vec::<i32>()?, [3, 4, 5]);
/// assert_eq!(buffer.slice((.., 1..))?.to_vec::<i32>()?, [1, 2, 4, 5]);
/// assert_eq!(buffer.slice((-1, 0..=1))?.to_vec::<i32>()?, [3, 4]);
/// assert_eq!((.., 1..).steps().as_ref().len(), 2);
/// # Ok::<(), max::Error>(())
/// ```
pub trait Steps {
    /// The steps, one after the other. See [`Steps`].
    fn steps(self) -> impl AsRef<[Step]>;
}

steps_of!(i32, i64, isize, usize);
one_step!(RangeFull, Step);

impl Steps for &[Step] {
    fn steps(self) -> impl AsRef<[Step]> {
        self
    }
}

impl<const N: usize> Steps for [Step; N] {
    fn steps(self) -> impl AsRef<[Step]> {
        self
    }
}

macro_rules! tuples {
    (@count) => { 0 };
    (@count $first:ident $($rest:ident)*) => { 1 + tuples!(@count $($rest)*) };
    ($($name:ident),*) => {
        impl<$($name: Into<Step>),*> Steps for ($($name,)*) {
            #[allow(non_snake_case)]
            fn steps(self) -> impl AsRef<[Step]> {
                let ($($name,)*) = self;
                let steps: [Step; tuples!(@count $($name)*)] = [$($name.into()),*];
                steps
            }
        }
    };
}

tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);
tuples!(A, B, C, D, E, F);
