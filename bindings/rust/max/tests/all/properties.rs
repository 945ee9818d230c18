// SPDX-License-Identifier: Apache-2.0
//! Properties of slices and errors for whatever is given.

use max::{Buffer, DType, Device, Graph, Session, Status, Step};
use proptest::prelude::*;

use crate::fixture::{adder, counting, leaks};

/// What numpy makes of one dimension: the places that a step picks, or nothing if it is refused.
fn picked(size: i64, step: Step) -> Option<Vec<i64>> {
    match step {
        Step::Index(index) => {
            let place = if index < 0 { index.checked_add(size)? } else { index };
            (0..size).contains(&place).then(|| vec![place])
        }
        Step::Range { start, stop, step } => {
            let (low, high) = if step < 0 { (-1, size - 1) } else { (0, size) };
            let end = |end: Option<i64>, omitted: i64| {
                end.map_or(omitted, |end| if end < 0 { end.saturating_add(size) } else { end }.clamp(low, high))
            };
            let (start, stop) =
                if step < 0 { (end(start, high), end(stop, low)) } else { (end(start, low), end(stop, high)) };
            let mut places = Vec::new();
            let mut place = start;
            while step != 0 && (if step < 0 { place > stop } else { place < stop }) {
                places.push(place);
                place = place.saturating_add(step);
            }
            (step != 0).then_some(places)
        }
        _ => None,
    }
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -6..7i64, 1 => Just(i64::MAX), 1 => Just(i64::MIN + 2)]
}

fn step() -> impl Strategy<Value = Step> {
    let end = || prop::option::of(number());
    let range = (end(), end(), number()).prop_map(|(start, stop, step)| Step::Range { start, stop, step });
    prop_oneof![1 => number().prop_map(Step::Index), 3 => range]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slices_are_those_of_numpy(rows in 0..5usize, columns in 0..5usize, first in step(), second in step()) {
        let _leaks = leaks();
        let buffer = counting(&[rows, columns]);
        let (rows, columns) = (i64::try_from(rows).unwrap(), i64::try_from(columns).unwrap());
        let expected = picked(rows, first).zip(picked(columns, second));
        match (buffer.slice([first, second]), expected) {
            (Ok(view), Some((rows, places))) => {
                let wanted: Vec<i64> = rows.iter().flat_map(|row| places.iter().map(move |place| row * columns + place)).collect();
                let found: Vec<i64> = view.to_vec::<i32>().unwrap().into_iter().map(i64::from).collect();
                prop_assert_eq!(found, wanted);
            }
            (Err(error), None) => {
                prop_assert!(matches!(error.status(), Status::OutOfRange | Status::InvalidArgument), "{}", error);
            }
            (result, expected) => prop_assert!(false, "{:?} instead of {:?}", result, expected),
        }
    }

    #[test]
    fn elements_survive(numbers in prop::collection::vec(any::<i64>(), 0..64), other in any::<u8>()) {
        let _leaks = leaks();
        let mut buffer = Buffer::from_vec(numbers.clone(), &[numbers.len()]).unwrap();
        prop_assert_eq!(&*buffer.as_slice::<i64>().unwrap(), &numbers[..]);
        let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_ne_bytes()).collect();
        prop_assert_eq!(&*buffer.as_bytes().unwrap(), &bytes[..]);
        let wrong = vec![0i64; usize::from(other)];
        prop_assert_eq!(buffer.copy_from_slice(&wrong).is_ok(), wrong.len() == numbers.len());
        let shape = [usize::from(other), 2];
        prop_assert_eq!(buffer.reshape(&shape).is_ok(), 2 * usize::from(other) == numbers.len());
    }

    /// Texts of any kind give a result or an error that says something, never a panic.
    #[test]
    fn texts_of_any_kind(text in "(\\PC|\0){0,12}") {
        let _leaks = leaks();
        let nul = text.contains('\0');
        for error in [
            Device::new(&text, None).err(),
            DType::from_name(&text).err(),
            adder().find_input(&text).err().filter(|_| text != "a" && text != "b"),
            Session::new().unwrap().load(format!("/nowhere/{text}")).err(),
        ].into_iter().flatten() {
            prop_assert_eq!(nul, error.message().contains("NUL byte"), "{}", error);
            prop_assert!(!error.message().is_empty() && error.status() != Status::Internal, "{}", error);
        }
        if let Ok(graph) = Graph::new(&text) {
            prop_assert_eq!(graph.name().unwrap(), text);
        }
    }

    #[test]
    fn shapes_of_any_size(shape in prop::collection::vec(prop_oneof![3 => 0..4usize, 1 => any::<usize>()], 0..20)) {
        let _leaks = leaks();
        match Buffer::zeros(DType::UINT8, &shape) {
            Ok(buffer) => prop_assert_eq!(buffer.shape(), &shape[..]),
            Err(error) => prop_assert!(
                matches!(error.status(), Status::OutOfRange | Status::ResourceExhausted | Status::InvalidArgument),
                "{}", error
            ),
        }
    }
}
