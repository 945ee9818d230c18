// SPDX-License-Identifier: Apache-2.0
use max::log::Level;
use max::{AssertLevel, DType, Device, ProfilingMode, Session, SessionOptions, Status};

use crate::fixture::{DIGITS, TemporaryFile, leaks, refused};

#[test]
fn options() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let session = SessionOptions::new().device(&device).device(&device).threads(3).create().unwrap();
    assert_eq!(session.devices().unwrap(), [device.clone(), device]);
    assert_eq!((session.thread_count().unwrap(), session.memory().unwrap().limit), (3, None));
    refused(SessionOptions::new().threads(usize::MAX).create(), Status::OutOfRange, "18446744073709551615");
}

#[test]
fn settings() {
    let _leaks = leaks();
    let session = Session::new().unwrap();
    session.set_log_level(Level::Warning).unwrap();
    assert_eq!(session.log_level().unwrap(), Level::Warning);
    for level in [AssertLevel::Warn, AssertLevel::Safe, AssertLevel::All, AssertLevel::None] {
        session.set_assert_level(level).unwrap();
        assert_eq!(session.assert_level().unwrap(), level);
    }
    session.set_split_k_reduction_precision(DType::FLOAT64).unwrap();
    assert_eq!(session.split_k_reduction_precision().unwrap(), DType::FLOAT64);
    refused(session.set_split_k_reduction_precision(DType::INT8), Status::InvalidArgument, "int8");
    session.set_use_old_top_k(true).unwrap();
    assert!(session.use_old_top_k().unwrap());
}

#[test]
fn profiles() {
    let _leaks = leaks();
    let (session, path) = (Session::new().unwrap(), TemporaryFile::new(".json"));
    for mode in [ProfilingMode::Off, ProfilingMode::Detailed, ProfilingMode::On] {
        session.set_profiling(mode).unwrap();
        assert_eq!(session.profiling().unwrap(), mode);
    }
    let model = session.load(DIGITS).unwrap();
    model.execute(&[&max::Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap()]).unwrap();
    session.write_profile(&path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("Conv"));
    session.clear_profile().unwrap();
    refused(session.write_profile("/nowhere/trace.json"), Status::NotFound, "/nowhere");
}

#[test]
fn memory() {
    let _leaks = leaks();
    let session = SessionOptions::new().memory_limit(1 << 30).weights_cache_dir("/nowhere").create().unwrap();
    let _model = session.load(DIGITS).unwrap();
    let memory = session.memory().unwrap();
    refused(SessionOptions::new().weights_cache_dir("a\0b").create(), Status::InvalidArgument, "NUL");
    assert!(memory.used.unwrap() > 0 && memory.peak >= memory.used && memory.limit == Some(1 << 30));
}
