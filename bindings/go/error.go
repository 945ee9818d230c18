// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Error is a failure of the library or of this package.
type Error struct {
	// Status is the kind of failure.
	Status Status
	// Message names the offending values; a compiler's log may follow its first line.
	Message string
	cause   error
}

// Sentinels for errors.Is, one per status.
var (
	ErrCancelled          error = &Error{Status: StatusCancelled}
	ErrUnknown            error = &Error{Status: StatusUnknown}
	ErrInvalidArgument    error = &Error{Status: StatusInvalidArgument}
	ErrDeadlineExceeded   error = &Error{Status: StatusDeadlineExceeded}
	ErrNotFound           error = &Error{Status: StatusNotFound}
	ErrAlreadyExists      error = &Error{Status: StatusAlreadyExists}
	ErrPermissionDenied   error = &Error{Status: StatusPermissionDenied}
	ErrResourceExhausted  error = &Error{Status: StatusResourceExhausted}
	ErrFailedPrecondition error = &Error{Status: StatusFailedPrecondition}
	ErrAborted            error = &Error{Status: StatusAborted}
	ErrOutOfRange         error = &Error{Status: StatusOutOfRange}
	ErrUnimplemented      error = &Error{Status: StatusUnimplemented}
	ErrInternal           error = &Error{Status: StatusInternal}
	ErrUnavailable        error = &Error{Status: StatusUnavailable}
	ErrDataLoss           error = &Error{Status: StatusDataLoss}
)

// Error returns status and message in one line, or more if a log follows.
func (e *Error) Error() string {
	if e == nil {
		return "max: no error"
	}
	if e.Message == "" {
		return "max: " + e.Status.String()
	}
	return "max: " + e.Status.String() + ": " + e.Message
}

// Is tells whether the target is the sentinel of the error's status.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && e != nil && other != nil && other.Message == "" && other.Status == e.Status
}

// Unwrap returns the context's error if a context ended the call, or what the caller's own code returned.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// String returns the name of the status, for example "INVALID_ARGUMENT".
func (s Status) String() string {
	return goText(maxStatusGetName(s))
}

// StatusOf returns the status of an error: StatusOK of nil, StatusUnknown of an error that is not this package's.
func StatusOf(err error) Status {
	var failure *Error
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &failure):
		return failure.Status
	}
	return StatusUnknown
}

func errorf(status Status, format string, values ...any) error {
	return &Error{Status: status, Message: fmt.Sprintf(format, values...)}
}

func invalid(format string, values ...any) error {
	return errorf(StatusInvalidArgument, format, values...)
}

// withCause adds the context's error to a failure that the context caused. Its deadline also cancels, so the status is the
// one that fits the context.
func withCause(err error, ctx context.Context) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	var failure *Error // on the heap, so not for calls that succeed
	if !errors.As(err, &failure) || failure.Status != StatusCancelled && failure.Status != StatusDeadlineExceeded {
		return err
	}
	return &Error{Status: contextStatus(ctx), Message: failure.Message, cause: ctx.Err()}
}

// fileError is a failure of a file system as one of this package.
func fileError(err error) error {
	status := StatusUnknown
	switch {
	case errors.Is(err, fs.ErrNotExist):
		status = StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		status = StatusPermissionDenied
	case errors.Is(err, fs.ErrInvalid):
		status = StatusInvalidArgument
	}
	return &Error{Status: status, Message: err.Error(), cause: err}
}
