// SPDX-License-Identifier: Apache-2.0
use max::{Buffer, Device, Error, Status};

use crate::fixture::{identity, leaks};

#[test]
fn names() {
    assert_eq!(Status::InvalidArgument.to_string(), "INVALID_ARGUMENT");
    assert_eq!((Status::DataLoss as i32, Status::DataLoss.name()), (15, "DATA_LOSS"));
    let error = Error::new(Status::NotFound, "No such thing");
    assert_eq!(
        (format!("{error}"), format!("{error:?}")),
        ("NOT_FOUND: No such thing".into(), "NOT_FOUND: No such thing".into())
    );
    assert_eq!((error.status(), error.message(), error.clone()), (Status::NotFound, "No such thing", error.clone()));
}

/// Each thread has its own message, read at once.
#[test]
fn messages_belong_to_threads() {
    let _leaks = leaks();
    std::thread::scope(|scope| {
        for number in 0..8usize {
            scope.spawn(move || {
                for _ in 0..200 {
                    let error = Device::new(&format!("api{number}"), None).unwrap_err();
                    assert!(error.message().contains(&format!("api{number}")), "{error}");
                }
            });
        }
    });
}

#[test]
fn errors_go_anywhere() {
    fn anywhere<T: std::error::Error + Send + Sync + 'static>(_: &T) {}
    anywhere(&Error::new(Status::Internal, String::new()));
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(Device::new("x", None).unwrap_err());
    assert!(boxed.downcast_ref::<Error>().is_some());
    let _leaks = leaks();
    let error = identity().execute(&[&Buffer::scalar(1.0f32).unwrap()]).unwrap_err();
    assert_eq!(std::thread::spawn(move || error.status()).join().unwrap(), Status::InvalidArgument);
}
