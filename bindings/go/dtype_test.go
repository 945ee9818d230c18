// SPDX-License-Identifier: Apache-2.0

package max

import (
	"math"
	"testing"
)

func TestDTypeNames(t *testing.T) {
	for _, dtype := range []DType{DTypeBool, DTypeInt4, DTypeFloat8E4M3FN, DTypeBFloat16, DTypeFloat32, DTypeUint64, DTypeString} {
		equal(t, must(ParseDType(dtype.String()))(t), dtype)
	}
	equal(t, DTypeFloat32.String(), "float32")
	equal(t, DTypeFloat32.Size(), 4)
	equal(t, DTypeInt4.Bits(), 4)
	equal(t, DType(4711).String(), "invalid")
	equal(t, DTypeString.Size(), 0)
	_, err := ParseDType("float33")
	fails(t, err, ErrNotFound, "float33")
	equal(t, dtypeOf("no element"), DTypeInvalid)
}

// Every float16 is the same number as float32 and back, and numbers between two are rounded to the nearer one.
func TestDTypeFloat16(t *testing.T) {
	for bits := range 1 << 16 {
		half := Float16(bits)
		number := half.Float32()
		if number != number {
			equal(t, NewFloat16(number)&0x7c00, Float16(0x7c00))
			continue
		}
		equal(t, NewFloat16(number), half)
	}
	equal(t, NewFloat16(65520), Float16(0x7c00))
	equal(t, NewFloat16(65519), Float16(0x7bff))
	equal(t, NewFloat16(1+1.0/2048), NewFloat16(1))
	equal(t, NewFloat16(1+3.0/2048), NewFloat16(1+2.0/1024))
	equal(t, NewFloat16(float32(math.Inf(-1))), Float16(0xfc00))
}

func TestDTypeBFloat16(t *testing.T) {
	for bits := range 1 << 16 {
		number := BFloat16(bits).Float32()
		if number == number {
			equal(t, NewBFloat16(number), BFloat16(bits))
		}
	}
	equal(t, NewBFloat16(1+1.0/256), NewBFloat16(1))
	equal(t, NewBFloat16(float32(math.NaN())).Float32() != NewBFloat16(float32(math.NaN())).Float32(), true)
}

// The library's own conversions agree.
func TestDTypeAgreesWithCast(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	numbers := []float32{0, 1, -2.7182817, 65504, 1e-7, 3.3e-5, 1.0009766}
	for _, dtype := range []DType{DTypeFloat16, DTypeBFloat16} {
		graph := must(NewGraph("cast"))(t)
		x := must(graph.AddInput("x", DTypeFloat32, []int64{int64(len(numbers))}, nil))(t)
		y := must(graph.AddNode("Cast", []*GraphValue{x}, &NodeOptions{Attributes: Attributes{"to": dtype}}))(t)
		check(t, graph.AddOutput(y[0], "y"))
		output := must(must(session.Compile(background, graph, nil))(t).Execute(background, vector(t, numbers...)))(t)
		for i, number := range numbers {
			if dtype == DTypeFloat16 {
				equal(t, data[Float16](t, output[0])[i], NewFloat16(number))
			} else {
				equal(t, data[BFloat16](t, output[0])[i], NewBFloat16(number))
			}
		}
	}
}
