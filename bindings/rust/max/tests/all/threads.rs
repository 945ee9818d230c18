// SPDX-License-Identifier: Apache-2.0
use std::thread;

use max::{Buffer, DType, ExecuteOptions, Session};

use crate::fixture::{DIGITS, adder, leaks};

#[test]
fn one_model_and_many_threads() {
    let _leaks = leaks();
    let model = adder();
    thread::scope(|scope| {
        for number in 0..8u8 {
            let model = &model;
            scope.spawn(move || {
                let x = Buffer::from_slice(&[f32::from(number); 3], &[3]).unwrap();
                let mut sum = Buffer::zeros(DType::FLOAT32, &[3]).unwrap();
                for _ in 0..200 {
                    model.execute_into(&[&x, &x], &mut [&mut sum], &ExecuteOptions::new()).unwrap();
                    assert_eq!(*sum.as_slice::<f32>().unwrap(), [2.0 * f32::from(number); 3]);
                    assert_eq!(
                        model.execute(&[&x, &sum]).unwrap()[0].read::<f32>(&[0]).unwrap(),
                        3.0 * f32::from(number)
                    );
                }
            });
        }
    });
}

#[test]
fn loads_in_threads() {
    let _leaks = leaks();
    let loads: Vec<_> = (0..4).map(|_| thread::spawn(|| Session::new().unwrap().load(DIGITS).unwrap())).collect();
    let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap();
    for load in loads {
        load.join().unwrap().execute(&[&image]).unwrap();
    }
}

#[test]
fn one_input_for_all_threads() {
    let _leaks = leaks();
    let (model, x) = (adder(), Buffer::from_slice(&[1.0f32; 64], &[64]).unwrap());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let elements = x.as_slice::<f32>().unwrap();
                    let clone = x.clone();
                    assert_eq!(model.execute(&[&x, &clone]).unwrap()[0].read::<f32>(&[9]).unwrap(), 2.0 * elements[9]);
                }
            });
        }
    });
}
