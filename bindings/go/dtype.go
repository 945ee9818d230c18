// SPDX-License-Identifier: Apache-2.0

package max

import (
	"math"
	"unsafe"
)

// Size returns the bytes of one element; 1 for types below 8 bits, 0 for strings and unknown numbers.
func (d DType) Size() int { return int(maxDTypeGetSize(d)) }

// Bits returns the bits of one element; 0 for strings and unknown numbers.
func (d DType) Bits() int { return int(maxDTypeGetBits(d)) }

// String returns the name, for example "float32"; "invalid" for unknown numbers.
func (d DType) String() string { return goText(maxDTypeGetName(d)) }

// ParseDType finds the type of a name.
func ParseDType(name string) (DType, error) {
	var a arena
	defer a.end()
	text, found := a.text("the name", name), new(DType)
	if a.err != nil {
		return DTypeInvalid, a.err
	}
	err := maxDTypeFromName(text, found)
	return *found, err
}

// Float16 holds the bits of an IEEE 754 binary16.
type Float16 uint16

// BFloat16 holds the upper half of the bits of a float32.
type BFloat16 uint16

// Float8E4M3FN holds the bits of a float8_e4m3fn.
type Float8E4M3FN uint8

// Float8E5M2 holds the bits of a float8_e5m2.
type Float8E5M2 uint8

// Element is a Go type that stands for an element type.
type Element interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128 |
		Float16 | BFloat16 | Float8E4M3FN | Float8E5M2
}

// DTypeOf returns the element type that a Go type stands for.
func DTypeOf[T Element]() DType {
	var zero T
	return dtypeOf(any(zero))
}

func dtypeOf(value any) DType {
	switch value.(type) {
	case bool:
		return DTypeBool
	case int8:
		return DTypeInt8
	case int16:
		return DTypeInt16
	case int32:
		return DTypeInt32
	case int64:
		return DTypeInt64
	case uint8:
		return DTypeUint8
	case uint16:
		return DTypeUint16
	case uint32:
		return DTypeUint32
	case uint64:
		return DTypeUint64
	case float32:
		return DTypeFloat32
	case float64:
		return DTypeFloat64
	}
	return rareDTypeOf(value)
}

func rareDTypeOf(value any) DType {
	switch value.(type) {
	case complex64:
		return DTypeComplex64
	case complex128:
		return DTypeComplex128
	case Float16:
		return DTypeFloat16
	case BFloat16:
		return DTypeBFloat16
	case Float8E4M3FN:
		return DTypeFloat8E4M3FN
	case Float8E5M2:
		return DTypeFloat8E5M2
	}
	return DTypeInvalid
}

// NewBFloat16 rounds to the nearest number, ties to even.
func NewBFloat16(value float32) BFloat16 {
	bits := math.Float32bits(value)
	if value != value {
		return BFloat16(bits>>16 | 0x40)
	}
	return BFloat16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 returns the number, which is exact.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// NewFloat16 rounds to the nearest number, ties to even; what is too large is infinite.
func NewFloat16(value float32) Float16 {
	bits := math.Float32bits(value)
	sign, bits := bits>>16&0x8000, bits&0x7fffffff
	switch {
	case bits > 0x7f800000: // not a number
		return Float16(sign | 0x7e00)
	case bits >= 0x47800000: // 65536 and more
		return Float16(sign | 0x7c00)
	case bits < 0x38800000: // below the smallest normal number: let the sum do the rounding
		sum := math.Float32frombits(bits) + math.Float32frombits(0x3f000000)
		return Float16(sign | (math.Float32bits(sum) - 0x3f000000))
	}
	return Float16(sign | (bits-0x38000000+0xfff+bits>>13&1)>>13)
}

// Float32 returns the number, which is exact.
func (f Float16) Float32() float32 {
	sign, exponent, mantissa := uint32(f)>>15<<31, uint32(f)>>10&31, uint32(f)&1023
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | mantissa<<13)
	case 0:
		number := float32(mantissa) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(number))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}

func sizeOf[T Element]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
