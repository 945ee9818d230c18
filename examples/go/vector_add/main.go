// SPDX-License-Identifier: Apache-2.0

// Command vector_add adds two vectors with a kernel that is compiled at run time:
//
//	go run ./vector_add [API]     API is cpu (default), cuda, hip or gpu (whichever there is)
package main

import (
	"fmt"
	"log"
	"os"

	max "github.com/max-runtime/max/bindings/go"
)

const count, threads = 100000, 256

const source = `
extern "C" __global__ void add(const float* a, const float* b, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}
`

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// makeVector is a vector on the device that holds 0, factor, 2 * factor, ...
func makeVector(device *max.Device, factor float32) *max.Buffer {
	buffer, err := max.NewBuffer(device, max.DTypeFloat32, []int64{count}, nil)
	check(err)
	check(max.Map(buffer, max.Write, func(values []float32) error {
		for i := range values {
			values[i] = factor * float32(i)
		}
		return nil
	}))
	return buffer
}

func countErrors(sum *max.Buffer) (errors int) {
	check(max.Map(sum, max.Read, func(values []float32) error { // waits for the kernel
		for i, value := range values {
			if value != 3*float32(i) {
				errors++
			}
		}
		return nil
	}))
	return errors
}

func main() {
	api := "cpu"
	if len(os.Args) > 1 {
		api = os.Args[1]
	}
	device, err := max.OpenDevice(api, -1, nil)
	check(err)
	defer device.Close()
	module, err := max.CompileModule(device, source, &max.ModuleOptions{Name: "add.cu"})
	check(err)
	defer module.Close()
	add, err := module.Kernel("add")
	check(err)
	defer add.Close()

	a, b, sum := makeVector(device, 1), makeVector(device, 2), makeVector(device, 0)
	config := max.LaunchConfig{Grid: [3]int32{(count + threads - 1) / threads}, Block: [3]int32{threads}}
	check(add.Launch(config, a, b, sum, int32(count)))
	errors := countErrors(sum)
	name, err := device.Name()
	check(err)
	fmt.Printf("%s: %d sums, %d wrong\n", name, count, errors)
	for _, buffer := range []*max.Buffer{a, b, sum} {
		buffer.Close()
	}
	if errors != 0 {
		os.Exit(1)
	}
}
