// SPDX-License-Identifier: Apache-2.0

package max

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A handle is what an object of this package knows of its object in the library. The reference is in a box, which is
// used again for other objects once it is free: the garbage collector is told about boxes (runtime.AddCleanup costs
// more than a call of a small model), and finds one that its object was dropped with. The generation tells a
// handle of an earlier object of the box.
//
// The state of a box is its generation, a bit that says that its object is to go, and the number of calls within it: an
// object that is closed meanwhile goes with the last of them.
type handle struct {
	box        *box
	generation uint32
}

type box struct {
	state atomic.Uint64
	cell  *cell
}

// A cell is what outlives a box that the garbage collector takes.
type cell struct {
	object unsafe.Pointer
	class  *class
}

// A class is what handles of one type share.
type class struct {
	name    string
	release func(unsafe.Pointer)
	pool    sync.Pool
}

const closing = 1 << 31

func newClass[O any](name string, release func(*O)) *class {
	return &class{name: name, release: func(object unsafe.Pointer) { release((*O)(object)) }}
}

// open makes a handle of a new reference.
func (c *class) open(object unsafe.Pointer) handle {
	free, _ := c.pool.Get().(*box)
	if free == nil {
		free = &box{cell: &cell{class: c}}
		runtime.AddCleanup(free, (*cell).drop, free.cell)
	}
	free.cell.object = object
	return handle{free, uint32(free.state.Load() >> 32)}
}

// enter begins a call with the object, which stays until leave.
func (h *handle) enter(c *class) (unsafe.Pointer, error) {
	if h.box == nil {
		return nil, errorf(StatusFailedPrecondition, "the %s was not made by this package's functions", c.name)
	}
	for {
		state := h.box.state.Load()
		if uint32(state>>32) != h.generation || state&closing != 0 {
			return nil, errorf(StatusFailedPrecondition, "the %s is closed", c.name)
		}
		if h.box.state.CompareAndSwap(state, state+1) {
			return h.box.cell.object, nil
		}
	}
}

func (h *handle) leave() {
	if state := h.box.state.Add(^uint64(0)); uint32(state) == closing {
		h.box.finish()
	}
}

// close drops the reference, once; calls that are within the object finish first.
func (h *handle) close() {
	if h.box == nil {
		return
	}
	for {
		state := h.box.state.Load()
		if uint32(state>>32) != h.generation || state&closing != 0 {
			return
		}
		if !h.box.state.CompareAndSwap(state, state|closing) {
			continue
		}
		if uint32(state) == 0 {
			h.box.finish()
		}
		return
	}
}

func (b *box) finish() {
	object, class := b.cell.object, b.cell.class
	b.cell.object = nil
	b.state.Store((b.state.Load()>>32 + 1) << 32)
	class.pool.Put(b)
	class.release(object)
}

func (c *cell) drop() {
	if c.object != nil {
		c.class.release(c.object)
	}
}

// An object of this package, as functions see it that work for all of them.
type object[O any] interface {
	use() (*O, error)
	done()
}

var (
	_ object[maxDevice]       = (*Device)(nil)
	_ object[hostAllocation]  = (*HostMemory)(nil)
	_ object[maxStream]       = (*Stream)(nil)
	_ object[maxEvent]        = (*Event)(nil)
	_ object[maxBuffer]       = (*Buffer)(nil)
	_ object[maxCancellation] = (*cancellation)(nil)
	_ object[maxModule]       = (*Module)(nil)
	_ object[maxKernel]       = (*Kernel)(nil)
	_ object[maxSession]      = (*Session)(nil)
	_ object[maxModel]        = (*Model)(nil)
	_ object[maxValue]        = (*Value)(nil)
	_ object[maxGraph]        = (*Graph)(nil)
	_ object[maxWeights]      = (*Weights)(nil)
)

// use begins a call with the object of a handle that lies in the public type T.
func use[O any](h *handle, c *class) (*O, error) {
	if h == nil {
		return nil, errorf(StatusInvalidArgument, "the %s is nil", c.name)
	}
	pointer, err := h.enter(c)
	return (*O)(pointer), err
}

// query calls a function that reports one thing of an object.
func query[O, T any](of object[O], function func(*O, *T) error) (T, error) {
	value := new(T)
	raw, err := of.use()
	if err != nil {
		return *value, err
	}
	defer of.done()
	err = function(raw, value)
	return *value, err
}

func queryInt[O any](of object[O], function func(*O, *int32) error) (int, error) {
	value, err := query(of, function)
	return int(value), err
}

func queryBool[O any](of object[O], function func(*O, *int32) error) (bool, error) {
	value, err := query(of, function)
	return value != 0, err
}

// queryText is query for texts, which are copied while the object is held.
func queryText[O any](of object[O], function func(*O, **byte) error) (string, error) {
	return query(of, func(raw *O, text *string) error {
		var found *byte
		err := function(raw, &found)
		*text = goText(found)
		return err
	})
}

// queryObject is query for objects that the library lends: they get a reference of their own.
func queryObject[O, P any, T any](of object[O], function func(*O, **P) error, retain func(*P), wrap func(*P) T) (T, error) {
	return query(of, func(raw *O, value *T) error {
		var found *P
		err := function(raw, &found)
		if err == nil && found != nil {
			retain(found)
			*value = wrap(found)
		}
		return err
	})
}

// perform calls a function on an object.
func perform[O any](of object[O], function func(*O) error) error {
	raw, err := of.use()
	if err != nil {
		return err
	}
	defer of.done()
	return function(raw)
}

// create calls a function that makes an object.
func create[P, T any](function func(**P) error, wrap func(*P) T) (T, error) {
	var made *P
	if err := function(&made); err != nil {
		var nothing T
		return nothing, err
	}
	return wrap(made), nil
}
