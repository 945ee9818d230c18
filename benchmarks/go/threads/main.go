// SPDX-License-Identifier: Apache-2.0

// Command threads measures what goroutines that call one model reach of what threads of C reach:
//
//	go run ./threads [MODEL [GOROUTINES]]
//
// The model takes one float32 tensor; by default build/models/mobilenetv2.onnx. The program in C is build/bin/thread_bench
// (cmake --build build --target thread_bench). Both take turns, so that what else the machine does meets both.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	max "github.com/max-runtime/max/bindings/go"
)

const (
	build   = "../../build"
	rounds  = 9
	seconds = 2.0
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func makeInput(model *max.Model) *max.Buffer {
	shape := must(model.Inputs())[0].Shape
	for i, size := range shape {
		if size == max.Dynamic {
			shape[i] = 1
		}
	}
	return must(max.NewBuffer(nil, max.DTypeFloat32, shape, &max.BufferOptions{Zeroed: true}))
}

// callsPerSecond is that of all goroutines together.
func callsPerSecond(model *max.Model, count int) float64 {
	var group, ready sync.WaitGroup
	begin, calls := make(chan struct{}), make([]int, count)
	for number := range count {
		group.Add(1)
		ready.Add(1)
		go func() {
			defer group.Done()
			input := makeInput(model)
			defer input.Close()
			ready.Done()
			<-begin
			for start := time.Now(); ; { // time.Since reads one clock, as the program in C does, time.Now two
				outputs := must(model.Execute(context.Background(), input))
				outputs[0].Close()
				calls[number]++
				if time.Since(start) >= seconds*time.Second {
					return
				}
			}
		}()
	}
	ready.Wait()
	close(begin)
	group.Wait()
	sum := 0
	for _, number := range calls {
		sum += number
	}
	return float64(sum) / seconds
}

func callsPerSecondOfC(path string, count int) float64 {
	command := exec.Command(filepath.Join(build, "bin/thread_bench"), path, strconv.Itoa(count), fmt.Sprint(seconds))
	return must(strconv.ParseFloat(strings.TrimSpace(string(must(command.Output()))), 64))
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func main() {
	path, count := filepath.Join(build, "models/mobilenetv2.onnx"), 8
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if len(os.Args) > 2 {
		count = must(strconv.Atoi(os.Args[2]))
	}
	session := must(max.NewSession(&max.SessionOptions{ThreadCount: 1}))
	model := must(session.Load(context.Background(), path, nil))
	var inC, inGo, ratios []float64
	for range rounds {
		inC = append(inC, callsPerSecondOfC(path, count))
		inGo = append(inGo, callsPerSecond(model, count))
		ratios = append(ratios, inGo[len(inGo)-1]/inC[len(inC)-1])
	}
	fmt.Printf("%s, %d threads or goroutines, calls per second, medians of %d rounds\n", filepath.Base(path), count, rounds)
	fmt.Printf("C   %10.1f\nGo  %10.1f   %.2f of C\n", median(inC), median(inGo), median(ratios))
}
