// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

impl MaxLogLevel {
    #[doc = " For a session: the default, MAX_LOG_LEVEL_INFO. For a callback: all messages. No message has this level."]
    pub const MAX_LOG_LEVEL_NOTSET: MaxLogLevel = MaxLogLevel(0);
}
impl MaxLogLevel {
    #[doc = " Every pass of the compiler and every plan."]
    pub const MAX_LOG_LEVEL_TRACE: MaxLogLevel = MaxLogLevel(10);
}
impl MaxLogLevel {
    #[doc = " Decisions and their reasons, for example slow kernels of a plan."]
    pub const MAX_LOG_LEVEL_DEBUG: MaxLogLevel = MaxLogLevel(20);
}
impl MaxLogLevel {
    #[doc = " Loads and other rare events."]
    pub const MAX_LOG_LEVEL_INFO: MaxLogLevel = MaxLogLevel(30);
}
impl MaxLogLevel {
    #[doc = " What works, but perhaps not as expected; memory limits reached."]
    pub const MAX_LOG_LEVEL_WARNING: MaxLogLevel = MaxLogLevel(40);
}
impl MaxLogLevel {
    #[doc = " Failed loads."]
    pub const MAX_LOG_LEVEL_ERROR: MaxLogLevel = MaxLogLevel(50);
}
impl MaxLogLevel {
    #[doc = " Not used at present."]
    pub const MAX_LOG_LEVEL_CRITICAL: MaxLogLevel = MaxLogLevel(60);
}
#[repr(transparent)]
#[doc = " Severity of a message."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxLogLevel(pub i32);
#[doc = " Identifies an added callback; never zero, and never reused in this process."]
pub type MaxLogToken = u64;
#[doc = " A function that receives messages."]
#[doc = ""]
#[doc = " May be called from any thread, and from several at the same time. It may call all functions of this library; their"]
#[doc = " messages are dropped meanwhile. It must not throw. `message` is borrowed until it returns."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxLogCallback = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        level: MaxLogLevel,
        message: *const ::std::os::raw::c_char,
    ),
>;
