// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// MapBuffer makes a host buffer of a part of a file, from an offset in bytes. The file must not shrink while the buffer lives.
func MapBuffer(path string, dtype DType, shape []int64, mode MapMode, offset int64) (*Buffer, error) {
	var a arena
	defer a.end()
	name := a.text("the path", path)
	rank, dimensions := a.shape(shape)
	start := a.size("offset", int(offset))
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxBuffer) error {
		return maxBufferMap(name, dtype, rank, dimensions, mode, uint64(start), out)
	}, newBuffer)
}

// LoadBuffer reads a ".max" checkpoint into a host buffer. Large files are mapped, so they must not shrink.
func LoadBuffer(path string) (*Buffer, error) {
	var a arena
	defer a.end()
	name := a.text("the path", path)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxBuffer) error { return maxBufferLoad(name, out) }, newBuffer)
}

// Save writes the buffer as a ".max" checkpoint with the tensor's name; "" = "tensor". The file appears whole or not at
// all.
func (b *Buffer) Save(path, key string) error {
	var a arena
	defer a.end()
	raw, name, tensor := held[maxBuffer](&a, b, true), a.text("the path", path), a.optionalText("the key", key)
	if a.err != nil {
		return a.err
	}
	return maxBufferSave(raw, name, tensor)
}

// DLPackOptions of FromDLPack.
type DLPackOptions struct {
	// Stream that the buffer is bound to; nil = the default stream of the tensor's device.
	Stream *Stream
	// Producer is a stream with work that makes the data, which is waited for; nil = the data is there.
	Producer *Stream
	// Copy copies always, NeverCopy fails where the data would have to be copied.
	Copy, NeverCopy bool
	// Unversioned says that the tensor is a DLManagedTensor, not a DLManagedTensorVersioned.
	Unversioned bool
}

// FromDLPack makes a buffer of a DLPack tensor (DLManagedTensorVersioned*) of another library in this process, and takes
// it over. On failure it stays with the caller.
func FromDLPack(tensor unsafe.Pointer, options *DLPackOptions) (*Buffer, error) {
	if options == nil {
		options = &DLPackOptions{}
	}
	var a arena
	defer a.end()
	given := &maxDlpackOptions{structSize: unsafe.Sizeof(maxDlpackOptions{})}
	given.stream = held[maxStream](&a, options.Stream, options.Stream != nil)
	given.producer = held[maxStream](&a, options.Producer, options.Producer != nil)
	switch {
	case options.Copy && options.NeverCopy:
		return nil, invalid("Copy and NeverCopy exclude each other")
	case options.Copy:
		given.copy = max_DLPACK_COPY_ALWAYS
	case options.NeverCopy:
		given.copy = max_DLPACK_COPY_NEVER
	}
	if a.err != nil {
		return nil, a.err
	}
	from := maxBufferFromDlpack
	if options.Unversioned {
		from = maxBufferFromDlpackUnversioned
	}
	return create(func(out **maxBuffer) error { return from(tensor, given, out) }, newBuffer)
}

// DLPackExportOptions of ToDLPack.
type DLPackExportOptions struct {
	// Stream of the consumer, whose later work waits for work with the buffer; nil = the call waits.
	Stream *Stream
	// NoWait says that the consumer orders its work by itself.
	NoWait bool
	// Unversioned makes a DLManagedTensor, not a DLManagedTensorVersioned.
	Unversioned bool
}

// ToDLPack makes a DLPack tensor that shares the buffer's memory, for another library in this process, which must call
// its deleter.
func (b *Buffer) ToDLPack(options *DLPackExportOptions) (unsafe.Pointer, error) {
	if options == nil {
		options = &DLPackExportOptions{}
	}
	var a arena
	defer a.end()
	raw := held[maxBuffer](&a, b, true)
	given := &maxDlpackExportOptions{structSize: unsafe.Sizeof(maxDlpackExportOptions{}), noWait: flag(options.NoWait)}
	given.stream = held[maxStream](&a, options.Stream, options.Stream != nil)
	if a.err != nil {
		return nil, a.err
	}
	to := maxBufferToDlpack
	if options.Unversioned {
		to = maxBufferToDlpackUnversioned
	}
	tensor := new(unsafe.Pointer)
	err := to(raw, given, tensor)
	return *tensor, err
}
