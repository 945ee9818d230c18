// SPDX-License-Identifier: Apache-2.0
use std::sync::{Arc, Mutex, PoisonError};

use max::Session;
use max::log::{Level, listen};

use crate::fixture::{DIGITS, leaks};

#[test]
fn listeners() {
    let _leaks = leaks();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let hear = |level| {
        let lines = lines.clone();
        listen(level, move |level, line| lines.lock().unwrap().push((level, line.to_string()))).unwrap()
    };
    let (all, errors) = (hear(Level::Info), hear(Level::Error));
    Session::new().unwrap().load(DIGITS).unwrap();
    assert!(lines.lock().unwrap().iter().any(|line| line.0 == Level::Info && line.1.contains("digits")));
    drop(all);
    lines.lock().unwrap().clear();
    Session::new().unwrap().load(DIGITS).unwrap();
    assert!(lines.lock().unwrap().is_empty());
    assert!(Session::new().unwrap().load("missing.onnx").is_err());
    assert!(lines.lock().unwrap().iter().all(|line| line.0 == Level::Error));
    drop(errors);
    assert_eq!(Arc::strong_count(&lines), 1);
}

/// A listener may go while it is called, and a panic ends in it.
#[test]
fn listeners_that_misbehave() {
    let _leaks = leaks();
    let own = Arc::new(Mutex::new(None));
    let inner = own.clone();
    let listener = listen(Level::Info, move |_, _| {
        drop(inner.lock().unwrap_or_else(PoisonError::into_inner).take());
    });
    *own.lock().unwrap() = Some(listener.unwrap());
    Session::new().unwrap().load(DIGITS).unwrap();
    assert!(own.lock().unwrap().is_none());
    let panics = listen(Level::Info, |_, _| std::panic::resume_unwind(Box::new("on purpose"))).unwrap();
    Session::new().unwrap().load(DIGITS).unwrap();
    drop(panics);
}

#[cfg(feature = "tracing")]
#[test]
fn tracing() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Count(AtomicUsize);
    impl tracing::Subscriber for Count {
        fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
            metadata.target() == "max"
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            assert_eq!(*event.metadata().level(), tracing::Level::INFO);
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    let _leaks = leaks();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    tracing::subscriber::with_default(count.clone(), || {
        let _listener = max::log::forward_to_tracing(Level::Info).unwrap();
        Session::new().unwrap().load(DIGITS).unwrap();
    });
    assert!(count.0.load(Ordering::Relaxed) > 0);
}
