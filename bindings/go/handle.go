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
type handle struct {
	box        *box
	generation uint32
}

type box struct{ cell *cell }

// A cell is what outlives a box that the garbage collector takes. Its state is the generation, a bit that says that the
// object is to go, and the number of calls within it: an object that is closed meanwhile goes with the last of them. It has
// a separate cache line, since other processors write the cells beside it.
type cell struct {
	state  atomic.Uint64
	object unsafe.Pointer
	class  *class
	crowd  *crowd
	_      [cacheLine - 8 - 3*unsafe.Sizeof(uintptr(0))]byte
}

// A crowd counts calls of an object that many goroutines call at once, in several places: processors would pass one count
// around. A call leaves the place that it entered.
type crowd [crowdPlaces]struct {
	calls atomic.Int64
	_     [cacheLine - 8]byte
}

const (
	cacheLine   = 64
	crowdPlaces = 16
	closing     = 1 << 31
)

// A class is what handles of one type share.
type class struct {
	name      string
	release   func(unsafe.Pointer)
	isCrowded bool
	pool      sync.Pool
}

func newClass[O any](name string, release func(*O)) *class {
	return &class{name: name, release: func(object unsafe.Pointer) { release((*O)(object)) }}
}

// newCrowdedClass is newClass for objects that many goroutines call at once.
func newCrowdedClass[O any](name string, release func(*O)) *class {
	made := newClass(name, release)
	made.isCrowded = true
	return made
}

// open makes a handle of a new reference.
func (c *class) open(object unsafe.Pointer) handle {
	free, _ := c.pool.Get().(*box)
	if free == nil {
		free = &box{&cell{class: c}}
		if c.isCrowded {
			free.cell.crowd = new(crowd)
		}
		runtime.AddCleanup(free, (*cell).drop, free.cell)
	}
	free.cell.object = object
	return handle{free, uint32(free.cell.state.Load() >> 32)}
}

// enter begins a call with the object, which stays until leave.
func (h *handle) enter(c *class) (unsafe.Pointer, error) {
	if h.box == nil {
		return nil, notMade(c)
	}
	cell := h.box.cell
	for {
		state := cell.state.Load()
		if !h.isOpen(state) {
			return nil, isClosed(c)
		}
		if cell.state.CompareAndSwap(state, state+1) {
			return cell.object, nil
		}
	}
}

func (h *handle) leave() {
	if state := h.box.cell.state.Add(^uint64(0)); uint32(state) == closing {
		h.box.finish()
	}
}

// enterCrowd is enter for an object of a class with crowds; leaveCrowd takes the same place.
func (h *handle) enterCrowd(c *class, place int) (unsafe.Pointer, error) {
	if h.box == nil {
		return nil, notMade(c)
	}
	cell := h.box.cell
	cell.crowd[place].calls.Add(1) // before the look at the state: who closes the object looks in the other order
	if !h.isOpen(cell.state.Load()) {
		h.leaveCrowd(place)
		return nil, isClosed(c)
	}
	return cell.object, nil
}

func (h *handle) leaveCrowd(place int) {
	cell := h.box.cell
	cell.crowd[place].calls.Add(-1)
	if uint32(cell.state.Load()) == closing {
		h.box.finish()
	}
}

func (h *handle) isOpen(state uint64) bool {
	return uint32(state>>32) == h.generation && state&closing == 0
}

func notMade(c *class) error {
	return errorf(StatusFailedPrecondition, "the %s was not made by this package's functions", c.name)
}

func isClosed(c *class) error {
	return errorf(StatusFailedPrecondition, "the %s is closed", c.name)
}

// close drops the reference, once; calls that are within the object finish first.
func (h *handle) close() {
	if h.box == nil {
		return
	}
	for {
		state := h.box.cell.state.Load()
		if !h.isOpen(state) {
			return
		}
		if h.box.cell.state.CompareAndSwap(state, state|closing) {
			h.box.finish()
			return
		}
	}
}

// finish releases the object, once, if it is closed and no call is within it.
func (b *box) finish() {
	cell := b.cell
	state := cell.state.Load()
	if uint32(state) != closing || cell.crowd.isBusy() || !cell.state.CompareAndSwap(state, (state>>32+1)<<32) {
		return
	}
	object := cell.object
	cell.object = nil
	cell.class.pool.Put(b)
	cell.class.release(object)
}

// isBusy tells of a closed object whether calls are within it: none begins, so one look at each place is enough.
func (c *crowd) isBusy() bool {
	if c == nil {
		return false
	}
	for i := range c {
		if c[i].calls.Load() != 0 {
			return true
		}
	}
	return false
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
