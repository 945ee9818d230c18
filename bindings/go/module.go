// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// Module is compiled code on a device, in which kernels are found.
type Module struct{ handle handle }

var moduleClass = newClass("module", maxModuleRelease)

func newModule(raw *maxModule) *Module { return &Module{moduleClass.open(unsafe.Pointer(raw))} }

func (m *Module) use() (*maxModule, error) {
	if m == nil {
		return use[maxModule](nil, moduleClass)
	}
	return use[maxModule](&m.handle, moduleClass)
}

func (m *Module) done() { m.handle.leave() }

// Close drops the reference; kernels and queued launches keep what they need. It never fails.
func (m *Module) Close() error {
	if m != nil {
		m.handle.close()
	}
	return nil
}

// ModuleOptions of CompileModule.
type ModuleOptions struct {
	// Name is what the compiler's log calls the source; "" = "kernel.cu".
	Name string
	// Architecture to compile for, as Device.ArchitectureName names it, or for the host what -march takes; "" = the
	// device's own.
	Architecture string
	// Defines are macros; an empty value is 1.
	Defines map[string]string
	// Headers are texts that the source may include, by name.
	Headers map[string]string
	// Flags are more options for the compiler.
	Flags []string
	// FastMath asks for faster and less exact arithmetic.
	FastMath bool
	// RegisterLimit is the most registers a thread may use on accelerators; 0 = the compiler's choice.
	RegisterLimit int32
	// LineInfo adds line numbers for profilers and debuggers.
	LineInfo bool
}

// CompileModule compiles source text for a device; nil = the host. If it does not compile, the compiler's log follows the
// first line of the error's message.
func CompileModule(device *Device, source string, options *ModuleOptions) (*Module, error) {
	if options == nil {
		options = &ModuleOptions{}
	}
	var a arena
	defer a.end()
	raw := held[maxDevice](&a, device, device != nil)
	text, name := a.text("the source", source), a.optionalText("the name", options.Name)
	given := a.moduleOptions(options)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxModule) error { return maxModuleCompile(raw, text, name, given, out) }, newModule)
}

func (a *arena) moduleOptions(options *ModuleOptions) *maxModuleOptions {
	given := &maxModuleOptions{structSize: unsafe.Sizeof(maxModuleOptions{})}
	given.architecture = a.optionalText("the architecture", options.Architecture)
	given.defineNames, given.defineValues, given.defineCount = a.pairs("macros", options.Defines, true)
	given.headerNames, given.headerTexts, given.headerCount = a.pairs("headers", options.Headers, false)
	given.flags, given.flagCount = a.texts("the flag", options.Flags), a.count("flags", len(options.Flags))
	given.fastMath, given.lineInfo = flag(options.FastMath), flag(options.LineInfo)
	given.registerLimit = options.RegisterLimit
	return given
}

// pairs are names and texts in two arrays, in the order of the names.
func (a *arena) pairs(what string, values map[string]string, optional bool) (**byte, **byte, int32) {
	names := sortedKeys(values)
	texts := make([]*byte, len(names))
	for i, name := range names {
		if optional {
			texts[i] = a.optionalText("the value of "+name, values[name])
		} else {
			texts[i] = a.text("the text of "+name, values[name])
		}
	}
	return a.texts("the name", names), pinned(a, texts), a.count(what, len(names))
}

// LoadModule loads compiled code: PTX or a CUBIN on cuda, a code object on hip, a shared object on cpu, which must be
// trusted.
func LoadModule(device *Device, code []byte) (*Module, error) {
	var a arena
	defer a.end()
	raw := held[maxDevice](&a, device, device != nil)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxModule) error {
		return maxModuleLoadFromMemory(raw, unsafe.Pointer(unsafe.SliceData(code)), uintptr(len(code)), out)
	}, newModule)
}

// Device returns the device that the module was made for.
func (m *Module) Device() (*Device, error) {
	return queryObject(m, maxModuleGetDevice, maxDeviceRetain, newDevice)
}

// Artifact returns a form of the module's code, compiling once more where needed.
func (m *Module) Artifact(kind ArtifactKind) ([]byte, error) {
	return query(m, func(raw *maxModule, code *[]byte) error {
		var data unsafe.Pointer
		var size uintptr
		err := maxModuleGetArtifact(raw, kind, &data, &size)
		*code = append([]byte{}, lent((*byte)(data), int(size))...)
		return err
	})
}

// Kernel finds a kernel by name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	var a arena
	defer a.end()
	text := a.text("the name", name)
	if a.err != nil {
		return nil, a.err
	}
	return queryObject(m, func(raw *maxModule, kernel **maxKernel) error {
		return maxModuleGetKernel(raw, text, kernel)
	}, maxKernelRetain, newKernel)
}

// SetConstant writes a variable of the module (__constant__ or __device__), from its beginning, in stream order; nil = the
// default stream of the module's device. The elements are copied.
func SetConstant[T Element](module *Module, name string, data []T, stream *Stream) error {
	var a arena
	defer a.end()
	raw, text := held[maxModule](&a, module, true), a.text("the name", name)
	queue := held[maxStream](&a, stream, stream != nil)
	if a.err != nil {
		return a.err
	}
	return maxModuleSetConstant(raw, text, unsafe.Pointer(unsafe.SliceData(data)), bytesOf(data), queue)
}
