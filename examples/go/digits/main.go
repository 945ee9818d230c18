// SPDX-License-Identifier: Apache-2.0

// Command digits classifies the held-out digits with the model of examples/digits:
//
//	go run ./digits [FOLDER]     FOLDER holds digits.onnx, images.npy and labels.npy; default ../digits
//
// It draws a few images with label and confidence, then prints accuracy, images per second and the model's operators.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log"
	"os"
	"time"

	max "github.com/max-runtime/max/bindings/go"
)

const side, pixelCount, classes, drawn, runs = 8, 64, 10, 6, 20

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// readBytes reads the elements of a .npy file of bytes: what follows its header.
func readBytes(folder fs.FS, name string) []byte {
	file, err := fs.ReadFile(folder, name)
	check(err)
	return file[10+binary.LittleEndian.Uint16(file[8:]):]
}

// loadModel loads from a file system, which may be one that is embedded in the program.
func loadModel(folder fs.FS) *max.Model {
	session, err := max.NewSession(nil)
	check(err)
	defer session.Close() // the model holds it
	model, err := session.LoadFS(context.Background(), folder, "digits.onnx", nil)
	check(err)
	return model
}

// makeInput is one batch of all images, values 0 to 16.
func makeInput(pixels []byte) *max.Buffer {
	numbers := make([]float32, len(pixels))
	for i, pixel := range pixels {
		numbers[i] = float32(pixel)
	}
	input, err := max.NewBufferFrom(nil, []int64{int64(len(pixels) / pixelCount), 1, side, side}, numbers)
	check(err)
	return input
}

func bestClass(probabilities []float32) int {
	best := 0
	for i, probability := range probabilities {
		if probability > probabilities[best] {
			best = i
		}
	}
	return best
}

func draw(pixels []byte, probabilities []float32) {
	for y := range side {
		for image := range drawn {
			for x := range side {
				shade := " .:*#"[pixels[image*pixelCount+y*side+x]/4]
				fmt.Printf("%c%c", shade, shade)
			}
			fmt.Print("  ")
		}
		fmt.Println()
	}
	for image := range drawn {
		row := probabilities[image*classes : (image+1)*classes]
		best := bestClass(row)
		fmt.Printf("a %d, %3.0f %% sure   ", best, row[best]*100)
	}
	fmt.Print("\n\n")
}

func execute(model *max.Model, input *max.Buffer) *max.Buffer {
	outputs, err := model.Execute(context.Background(), input)
	check(err)
	return outputs[0]
}

func bestRun(model *max.Model, input *max.Buffer) time.Duration {
	best := time.Hour
	for range runs {
		start := time.Now()
		output := execute(model, input)
		best = min(best, time.Since(start))
		output.Close()
	}
	return best
}

func printOperators(model *max.Model) {
	info, err := model.Info()
	check(err)
	fmt.Print("operators         ")
	for _, operator := range info.Operators {
		fmt.Printf(" %s %d", operator.Name, operator.Nodes)
	}
	fmt.Println()
}

func main() {
	path := "../digits"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	folder := os.DirFS(path)
	pixels, labels, model := readBytes(folder, "images.npy"), readBytes(folder, "labels.npy"), loadModel(folder)
	defer model.Close()
	input := makeInput(pixels)
	defer input.Close()
	output := execute(model, input)
	defer output.Close()
	probabilities, err := max.Data[float32](output)
	check(err)
	right := 0
	for i, label := range labels {
		if bestClass(probabilities[i*classes:(i+1)*classes]) == int(label) {
			right++
		}
	}
	draw(pixels, probabilities)
	fmt.Printf("held-out images    %d\n", len(labels))
	fmt.Printf("accuracy           %.1f %%\n", 100*float64(right)/float64(len(labels)))
	fmt.Printf("images per second  %.0f\n", float64(len(labels))/bestRun(model, input).Seconds())
	printOperators(model)
}
