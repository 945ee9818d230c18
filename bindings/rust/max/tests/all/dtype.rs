// SPDX-License-Identifier: Apache-2.0
use max::{DType, Status};

use crate::fixture::refused;

#[test]
fn names() {
    for dtype in [DType::BOOL, DType::STRING, DType::FLOAT4_E2M1FN, DType::BFLOAT16, DType::COMPLEX128, DType::UINT2] {
        assert_eq!(DType::from_name(dtype.name()).unwrap(), dtype);
    }
    assert_eq!(format!("{:>8} {:?}", DType::INT8, DType::INVALID), "    int8 invalid");
    refused(DType::from_name("float31"), Status::NotFound, "float31");
    refused(DType::from_name("float\x0032"), Status::InvalidArgument, "NUL byte at 5");
}

#[test]
fn sizes() {
    assert_eq!((DType::FLOAT64.size(), DType::INT4.size(), DType::STRING.size()), (8, 1, 0));
    assert_eq!((DType::FLOAT64.bits(), DType::INT4.bits(), DType::FLOAT6_E2M3FN.bits()), (64, 4, 6));
}
