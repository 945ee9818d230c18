// SPDX-License-Identifier: Apache-2.0

// Package max runs ONNX models and kernels, and moves memory on devices, with libmax.so.
//
//	session, err := max.NewSession(nil)
//	model, err := session.Load(ctx, "model.onnx", nil)
//	input, err := max.NewBufferFrom(nil, []int64{1, 3}, []float32{1, 2, 3})
//	outputs, err := model.Execute(ctx, input)
//	numbers, err := max.Data[float32](outputs[0])
//
// # Objects
//
// Everything that the library makes has Close, which may be called at any time, twice, in any order and while another
// goroutine is within a call: objects hold what they need. An object that is dropped without Close goes with the garbage
// collector, which knows nothing of its size, so programs close what is large. Zero values, nil and closed objects are
// errors, never crashes.
//
// # Errors
//
// A failure is an *[Error] with a [Status] and a message that names the offending values. There is a sentinel per
// status: errors.Is(err, max.ErrNotFound). If a context ended the call, the error is also
// context.Canceled or context.DeadlineExceeded.
//
// # Threads
//
// Methods may be called from any goroutine. What reads and writes a buffer's memory at the same time is up to the
// program, as with slices.
//
// # Building
//
// The package finds the library with pkg-config, by the name max. With CGO_ENABLED=0, or the build tag max_purego, no
// C compiler is needed and the program cross-compiles; the library is then opened when the first call needs it: the file
// that the environment variable MAX_LIBRARY names, else libmax.so.0 where the dynamic loader looks.
package max
