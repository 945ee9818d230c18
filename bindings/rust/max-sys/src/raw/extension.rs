// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

pub const MAX_EXTENSION_ABI_VERSION: u32 = 1;
pub const MAX_OPERATOR_COUNT_ANY: i32 = -1;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperatorNode {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxShapeContext {
    _unused: [u8; 0],
}
impl MaxOperatorTraits {
    #[doc = " Outputs and their shapes depend only on inputs and attributes."]
    pub const MAX_OPERATOR_TRAITS_NONE: MaxOperatorTraits = MaxOperatorTraits(0);
}
impl MaxOperatorTraits {
    #[doc = " Equal calls may give different results (random numbers, side effects): never merged or computed at load."]
    pub const MAX_OPERATOR_TRAITS_RANDOM: MaxOperatorTraits = MaxOperatorTraits(1);
}
impl MaxOperatorTraits {
    #[doc = " Output shapes are known only at run time: `execute` allocates outputs with maxOperatorCallAllocateOutput."]
    pub const MAX_OPERATOR_TRAITS_DATA_DEPENDENT: MaxOperatorTraits = MaxOperatorTraits(2);
}
impl ::std::ops::BitOr<MaxOperatorTraits> for MaxOperatorTraits {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxOperatorTraits(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxOperatorTraits {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxOperatorTraits) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxOperatorTraits> for MaxOperatorTraits {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxOperatorTraits(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxOperatorTraits {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxOperatorTraits) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Properties of operators, joined with |."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxOperatorTraits(pub i32);
#[doc = " One run of an operator. All pointers are borrowed until `execute` returns."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperatorCall {
    #[doc = " Size of this structure in the calling library."]
    pub structSize: usize,
    #[doc = " Contents of the inputs, dense and row-major; NULL = omitted, or without elements."]
    pub inputs: *const *const ::std::os::raw::c_void,
    #[doc = " Element types of the inputs; MAX_DTYPE_INVALID = omitted."]
    pub inputDTypes: *const MaxDType,
    #[doc = " Numbers of dimensions of the inputs."]
    pub inputRanks: *const i32,
    #[doc = " Dimensions of the inputs."]
    pub inputShapes: *const *const i64,
    #[doc = " Numbers of elements of the inputs."]
    pub inputElementCounts: *const i64,
    #[doc = " Memory of the outputs, to be written completely; NULL = not used, or without elements."]
    pub outputs: *const *mut ::std::os::raw::c_void,
    #[doc = " Element types of the outputs; MAX_DTYPE_INVALID = not used."]
    pub outputDTypes: *const MaxDType,
    #[doc = " Numbers of dimensions of the outputs; MAX_RANK_DYNAMIC = `execute` allocates it."]
    pub outputRanks: *const i32,
    #[doc = " Dimensions of the outputs."]
    pub outputShapes: *const *const i64,
    #[doc = " Numbers of elements of the outputs."]
    pub outputElementCounts: *const i64,
    #[doc = " Number of inputs."]
    pub inputCount: i32,
    #[doc = " Number of outputs."]
    pub outputCount: i32,
    #[doc = " Scratch memory that `infer` requested, 64-byte aligned; its contents are undefined."]
    pub scratch: *mut ::std::os::raw::c_void,
    #[doc = " Bytes of `scratch`."]
    pub scratchSize: usize,
    #[doc = " Maximum number of threads that maxOperatorCallParallelFor uses."]
    pub lanes: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " The device that the operator runs on and that holds its inputs and outputs: the host, in this version."]
    pub device: *mut MaxDevice,
    #[doc = " The stream that the operator runs on, for kernels (maxKernelLaunch, with the pointers above as arguments), copies"]
    #[doc = " and other calls of a device. Work queued there runs after the inputs are ready and before the outputs are read;"]
    #[doc = " `execute` need not wait for it."]
    pub stream: *mut MaxStream,
}
#[test]
fn bindgen_test_layout_MaxOperatorCall() {
    assert_eq!(::std::mem::size_of::<MaxOperatorCall>(), 136usize, concat!("Size of: ", stringify!(MaxOperatorCall)));
    assert_eq!(
        ::std::mem::align_of::<MaxOperatorCall>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxOperatorCall))
    );
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, inputs), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, inputDTypes), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, inputRanks), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, inputShapes), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, inputElementCounts), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, outputs), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, outputDTypes), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, outputRanks), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, outputShapes), 72usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, outputElementCounts), 80usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, inputCount), 88usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, outputCount), 92usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, scratch), 96usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, scratchSize), 104usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, lanes), 112usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, reserved), 116usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, device), 120usize);
    assert_eq!(::std::mem::offset_of!(MaxOperatorCall, stream), 128usize);
}
impl Default for MaxOperatorCall {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " Sets the types and shapes of a node's outputs, as far as they are known, with the functions maxShapeContextSet*."]
#[doc = ""]
#[doc = " Called while a graph is built, when some dimensions may not be known yet, and for each set of input shapes, with all"]
#[doc = " dimensions known; it must then set all dimensions of the outputs. Called from any thread, and from several at a time."]
#[doc = ""]
#[doc = " Returns MAX_STATUS_OK, or an error if the node is not valid; see maxExtensionFail."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorInferFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        context: *mut MaxShapeContext,
    ) -> MaxStatus,
>;
#[doc = " Creates state that a node's calls share: tables, packed constants. Called when a model is loaded, and possibly again"]
#[doc = " later, from any thread, and for several nodes at a time."]
#[doc = ""]
#[doc = " - `outState`: Passed to `execute` and finally to `destroy`; may stay NULL."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorPrepareFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        outState: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus,
>;
#[doc = " Frees a state that is not NULL. Called when the model is released, from any thread."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorDestroyFunction = ::std::option::Option<
    unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, state: *mut ::std::os::raw::c_void),
>;
#[doc = " Computes the outputs of a node. Called from any thread, and from several at a time with the same state."]
#[doc = ""]
#[doc = " - `state`: From `prepare`; NULL if there is none."]
#[doc = " Returns MAX_STATUS_OK, or an error if the call fails; see maxExtensionFail."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorExecuteFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        state: *mut ::std::os::raw::c_void,
        call: *const MaxOperatorCall,
    ) -> MaxStatus,
>;
#[doc = " The body of maxOperatorCallParallelFor: processes \\[begin, end). `lane` is below MaxOperatorCall::lanes and differs"]
#[doc = " between bodies that run at the same time."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorLoopFunction =
    ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, begin: i64, end: i64, lane: i32)>;
#[doc = " An operator of an extension. Everything it points to must stay valid until the process ends."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperator {
    #[doc = " Size of this structure; set by MAX_OPERATOR_INIT."]
    pub structSize: usize,
    #[doc = " Domain, as written in models, for example \"com.example\"; not empty, nor one of ONNX's, nor \"max\"."]
    pub domain: *const ::std::os::raw::c_char,
    #[doc = " Name, as written in models."]
    pub name: *const ::std::os::raw::c_char,
    #[doc = " Element types as \"inputs -\\> outputs; constraints\", for example \"T,I-\\>T; T=float32|float16; I=index\". A letter"]
    #[doc = " stands for the same type everywhere. Classes: any, number (no bool), float, integer, signed, unsigned, bool, index"]
    #[doc = " (int32, int64), and each name of maxDTypeGetName, joined by '|'. A trailing \"...\" repeats the last input or output."]
    #[doc = " \"*\" as an output: `infer` sets the type. NULL = any inputs, and `infer` sets all output types."]
    pub types: *const ::std::os::raw::c_char,
    #[doc = " Names and types of attributes, for example \"alpha=f axes=I\"; i, f, s, t = int, float, string, tensor; I, F, S ="]
    #[doc = " lists of int, float, string. Graphs built in code must not set others. NULL = any."]
    pub attributes: *const ::std::os::raw::c_char,
    #[doc = " Minimum number of inputs; these cannot be omitted."]
    pub minInputs: i32,
    #[doc = " Maximum number of inputs, or MAX_OPERATOR_COUNT_ANY."]
    pub maxInputs: i32,
    #[doc = " Minimum number of outputs."]
    pub minOutputs: i32,
    #[doc = " Maximum number of outputs, or MAX_OPERATOR_COUNT_ANY."]
    pub maxOutputs: i32,
    #[doc = " Properties."]
    pub traits: MaxOperatorTraits,
    #[doc = " Bit i: output shapes depend on the contents of input i, which `infer` gets at run time at the latest."]
    pub shapeInputs: u32,
    #[doc = " Infers types and shapes of outputs; not NULL."]
    pub infer: MaxOperatorInferFunction,
    #[doc = " Creates the state that calls share; NULL = none."]
    pub prepare: MaxOperatorPrepareFunction,
    #[doc = " Frees the state; NULL = nothing to free."]
    pub destroy: MaxOperatorDestroyFunction,
    #[doc = " Computes the outputs; not NULL."]
    pub execute: MaxOperatorExecuteFunction,
    #[doc = " First argument of all these functions."]
    pub userData: *mut ::std::os::raw::c_void,
}
#[test]
fn bindgen_test_layout_MaxOperator() {
    assert_eq!(::std::mem::size_of::<MaxOperator>(), 104usize, concat!("Size of: ", stringify!(MaxOperator)));
    assert_eq!(::std::mem::align_of::<MaxOperator>(), 8usize, concat!("Alignment of ", stringify!(MaxOperator)));
    assert_eq!(::std::mem::offset_of!(MaxOperator, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, domain), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, name), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, types), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, attributes), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, minInputs), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, maxInputs), 44usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, minOutputs), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, maxOutputs), 52usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, traits), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, shapeInputs), 60usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, infer), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, prepare), 72usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, destroy), 80usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, execute), 88usize);
    assert_eq!(::std::mem::offset_of!(MaxOperator, userData), 96usize);
}
impl Default for MaxOperator {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " What an extension offers."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxExtensionTable {
    #[doc = " Size of this structure; set by MAX_EXTENSION_TABLE_INIT."]
    pub structSize: usize,
    #[doc = " MAX_EXTENSION_ABI_VERSION that the extension was built with."]
    pub abiVersion: i32,
    #[doc = " Number of operators."]
    pub operatorCount: i32,
    #[doc = " The operators."]
    pub operators: *const *const MaxOperator,
}
#[test]
fn bindgen_test_layout_MaxExtensionTable() {
    assert_eq!(
        ::std::mem::size_of::<MaxExtensionTable>(),
        24usize,
        concat!("Size of: ", stringify!(MaxExtensionTable))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxExtensionTable>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxExtensionTable))
    );
    assert_eq!(::std::mem::offset_of!(MaxExtensionTable, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxExtensionTable, abiVersion), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxExtensionTable, operatorCount), 12usize);
    assert_eq!(::std::mem::offset_of!(MaxExtensionTable, operators), 16usize);
}
impl Default for MaxExtensionTable {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
