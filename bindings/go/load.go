// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"io/fs"
	"unsafe"
)

// LoadOptions of Session.Load, LoadBytes, LoadFS and Compile.
type LoadOptions struct {
	// Weights to replace by name, by buffers of equal dtype and shape, which must not be written any more.
	Weights map[string]*Buffer
	// WeightsPath is a file of weights to replace; those in Weights come first.
	WeightsPath string
	// IgnoreUnknownWeights ignores names that the model does not have; otherwise they are NOT_FOUND.
	IgnoreUnknownWeights bool
	// Precision is the least one of products.
	Precision Precision
	// CopyWeights copies the file; otherwise a large file is mapped and must not shrink while the model lives.
	CopyWeights bool
	// Progress is told how far the load is, from 0 to 1, and what is being done.
	Progress func(fraction float64, phase string)
	// Extensions are files to load before; see LoadExtension.
	Extensions []string
}

// A loader is one of the library's three ways to make a model.
type loader func(session *maxSession, options *maxModelLoadOptions, out **maxModel) error

func (s *Session) load(ctx context.Context, options *LoadOptions, from loader) (*Model, error) {
	var a arena
	defer a.end()
	raw := held[maxSession](&a, s, true)
	if a.err != nil {
		return nil, a.err
	}
	limit, err := limitOf(ctx)
	if err != nil {
		return nil, err
	}
	defer limit.end()
	given := a.loadOptions(options)
	if a.err != nil {
		return nil, a.err
	}
	given.cancellation, given.timeoutNs = limit.raw, limit.timeout
	if options != nil && options.Progress != nil {
		given.progress, given.progressUserData = progressCallback(), register(options.Progress)
		defer callbacks.Delete(given.progressUserData)
	}
	model, err := create(func(out **maxModel) error { return from(raw, given, out) }, newModel)
	return model, withCause(err, ctx)
}

func (a *arena) loadOptions(options *LoadOptions) *maxModelLoadOptions {
	given := &maxModelLoadOptions{structSize: unsafe.Sizeof(maxModelLoadOptions{})}
	if options == nil {
		return given
	}
	given.weightNames, given.weights, given.weightCount = a.buffersByName(options.Weights)
	given.weightsPath = a.optionalText("the path of weights", options.WeightsPath)
	given.ignoreUnknownWeights, given.copyWeights = flag(options.IgnoreUnknownWeights), flag(options.CopyWeights)
	given.precision = options.Precision
	given.extensions = a.texts("the path of an extension", options.Extensions)
	given.extensionCount = a.count("extensions", len(options.Extensions))
	return given
}

func (a *arena) buffersByName(buffers map[string]*Buffer) (**byte, **maxBuffer, int32) {
	names := sortedKeys(buffers)
	values := make([]*Buffer, len(names))
	for i, name := range names {
		values[i] = buffers[name]
	}
	return a.texts("the name", names), heldAll[maxBuffer](a, values), a.count("buffers", len(names))
}

// Load loads an ONNX file, a compiled model, or a folder that contains model.onnx or model.maxc. The context's end stops it.
func (s *Session) Load(ctx context.Context, path string, options *LoadOptions) (*Model, error) {
	var a arena
	defer a.end()
	name := a.text("the path", path)
	if a.err != nil {
		return nil, a.err
	}
	return s.load(ctx, options, func(session *maxSession, given *maxModelLoadOptions, out **maxModel) error {
		return maxModelLoad(session, name, given, out)
	})
}

// LoadBytes loads a model from the bytes of an ONNX file, which are copied. Weights in other files are refused.
func (s *Session) LoadBytes(ctx context.Context, data []byte, options *LoadOptions) (*Model, error) {
	return s.load(ctx, options, func(session *maxSession, given *maxModelLoadOptions, out **maxModel) error {
		return maxModelLoadFromMemory(session, unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)), given, out)
	})
}

// LoadFS is LoadBytes for a file of a file system, for example one that is embedded in the program.
func (s *Session) LoadFS(ctx context.Context, system fs.FS, name string, options *LoadOptions) (*Model, error) {
	if system == nil {
		return nil, invalid("the file system is nil")
	}
	data, err := fs.ReadFile(system, name)
	if err != nil {
		return nil, fileError(err)
	}
	return s.LoadBytes(ctx, data, options)
}

// Compile makes a model of a graph built in code. The graph does not change.
func (s *Session) Compile(ctx context.Context, graph *Graph, options *LoadOptions) (*Model, error) {
	return query(graph, func(raw *maxGraph, model **Model) error {
		graph.root.lock.Lock()
		defer graph.root.lock.Unlock()
		made, err := s.load(ctx, options, func(session *maxSession, given *maxModelLoadOptions, out **maxModel) error {
			return maxModelCompile(session, raw, given, out)
		})
		*model = made
		return err
	})
}

// LoadExtension loads a shared library with operators, or a kernel source that declares them, which all models loaded and
// graphs built from now on may use. Its code runs in this process, so it must be trusted.
func LoadExtension(path string) error {
	return withText("the path", path, maxExtensionLoad)
}
