// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// Session holds devices and settings that models are loaded with.
type Session struct{ handle handle }

var sessionClass = newClass("session", maxSessionRelease)

func newSession(raw *maxSession) *Session { return &Session{sessionClass.open(unsafe.Pointer(raw))} }

func (s *Session) use() (*maxSession, error) {
	if s == nil {
		return use[maxSession](nil, sessionClass)
	}
	return use[maxSession](&s.handle, sessionClass)
}

func (s *Session) done() { s.handle.leave() }

// Close drops the reference; models hold their session. It never fails.
func (s *Session) Close() error {
	if s != nil {
		s.handle.close()
	}
	return nil
}

// SessionOptions of NewSession.
type SessionOptions struct {
	// Devices, the one that models run on first; none = the host.
	Devices []*Device
	// ThreadCount is the threads that one call uses at most; 0 = as many as physical cores that the process may use.
	ThreadCount int
	// MemoryLimit is the bytes that loads and calls of the session's models may hold at a time; 0 = no limit.
	MemoryLimit uint64
	// WeightsCacheDir is a folder in which packed weights of models are kept for later loads; empty = that of the
	// environment variable MAX_WEIGHTS_CACHE_DIR, if any.
	WeightsCacheDir string
}

// NewSession makes a session; nil = defaults.
func NewSession(options *SessionOptions) (*Session, error) {
	var a arena
	defer a.end()
	given := &maxSessionOptions{structSize: unsafe.Sizeof(maxSessionOptions{})}
	if options != nil {
		given.devices, given.deviceCount = heldAll[maxDevice](&a, options.Devices), a.count("devices", len(options.Devices))
		given.threadCount, given.memoryLimit = a.index("thread count", options.ThreadCount), options.MemoryLimit
		given.weightsCacheDir = a.optionalText("the folder", options.WeightsCacheDir)
	}
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxSession) error { return maxSessionCreate(given, out) }, newSession)
}

// Devices returns the session's devices.
func (s *Session) Devices() ([]*Device, error) {
	return query(s, func(raw *maxSession, devices *[]*Device) error {
		count := new(int32)
		if err := maxSessionGetDeviceCount(raw, count); err != nil {
			return err
		}
		for i := range *count {
			found := new(*maxDevice)
			if err := maxSessionGetDevice(raw, i, found); err != nil {
				return err
			}
			maxDeviceRetain(*found)
			*devices = append(*devices, newDevice(*found))
		}
		return nil
	})
}

// ThreadCount returns the number of threads that one call uses at most.
func (s *Session) ThreadCount() (int, error) { return queryInt(s, maxSessionGetThreadCount) }

// SetLogLevel sets how important messages of the session's loads and calls must be.
func (s *Session) SetLogLevel(level LogLevel) error {
	return perform(s, func(raw *maxSession) error { return maxSessionSetLogLevel(raw, level) })
}

// LogLevel returns how important messages must be.
func (s *Session) LogLevel() (LogLevel, error) { return query(s, maxSessionGetLogLevel) }

// SetAssertLevel sets what is checked between the steps of models. Checks cost time; they are for finding faults.
func (s *Session) SetAssertLevel(level AssertLevel) error {
	return perform(s, func(raw *maxSession) error { return maxSessionSetAssertLevel(raw, level) })
}

// AssertLevel returns what is checked between the steps of models.
func (s *Session) AssertLevel() (AssertLevel, error) { return query(s, maxSessionGetAssertLevel) }

// SetSplitKReductionPrecision sets the type in which the sums of the parts of long float32 products are added up.
func (s *Session) SetSplitKReductionPrecision(dtype DType) error {
	return perform(s, func(raw *maxSession) error { return maxSessionSetSplitKReductionPrecision(raw, dtype) })
}

// SplitKReductionPrecision returns that type.
func (s *Session) SplitKReductionPrecision() (DType, error) {
	return query(s, maxSessionGetSplitKReductionPrecision)
}

// SetUseOldTopK chooses that TopK sorts whole lines; it gives the same elements in the same order.
func (s *Session) SetUseOldTopK(use bool) error {
	return perform(s, func(raw *maxSession) error { return maxSessionSetUseOldTopK(raw, flag(use)) })
}

// UseOldTopK tells whether TopK sorts whole lines.
func (s *Session) UseOldTopK() (bool, error) { return queryBool(s, maxSessionGetUseOldTopK) }

// SetProfiling sets what is recorded of the calls of the session's models.
func (s *Session) SetProfiling(mode ProfilingMode) error {
	return perform(s, func(raw *maxSession) error { return maxSessionSetProfiling(raw, mode) })
}

// Profiling returns what is recorded.
func (s *Session) Profiling() (ProfilingMode, error) { return query(s, maxSessionGetProfiling) }

// WriteProfile writes what was recorded as a trace in Chrome's JSON format.
func (s *Session) WriteProfile(path string) error {
	return perform(s, func(raw *maxSession) error {
		return withText("the path", path, func(name *byte) error { return maxSessionWriteProfile(raw, name) })
	})
}

// ClearProfile forgets what was recorded.
func (s *Session) ClearProfile() error { return perform(s, maxSessionClearProfile) }

// SessionMemory is what a session's models hold in memory, in bytes. Only a session with a limit counts; the fields of
// others are nil.
type SessionMemory struct{ Used, Peak, Limit *uint64 }

// Memory reports how much memory the session's models hold.
func (s *Session) Memory() (SessionMemory, error) {
	raw := &maxSessionMemory{structSize: unsafe.Sizeof(maxSessionMemory{})}
	err := perform(s, func(session *maxSession) error { return maxSessionGetMemory(session, raw) })
	return SessionMemory{
		Used:  known(raw.validMask, max_SESSION_MEMORY_USED, raw.used),
		Peak:  known(raw.validMask, max_SESSION_MEMORY_PEAK, raw.peak),
		Limit: known(raw.validMask, max_SESSION_MEMORY_LIMIT, raw.limit),
	}, err
}
