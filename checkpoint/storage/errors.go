package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"gocloud.dev/gcerrors"
)

var (
	// ErrExists says that another writer's object has the name.
	ErrExists = errors.New("the object exists already")
	// ErrNotFound says that there is no object of the name.
	ErrNotFound = errors.New("no such object")
	// ErrUnsure says that a write was given up after the bucket had been asked to make it visible: it may be visible or not.
	ErrUnsure = errors.New("the write may have been done or not")
	// ErrFenced says that a newer execution has claimed the job: the older one must stop, and not be started again at once.
	ErrFenced = errors.New("a newer execution has claimed the job")
)

// Error is a call of a bucket that failed. It wraps the cause.
type Error struct {
	Op     string // what was tried: "put", "get" …
	Bucket string // Options.Name
	Object string // name of the object, or beginning of names
	Err    error
	Hint   string // what to do. May be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s %q in bucket %q: %v", e.Op, e.Object, e.Bucket, e.Err)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// DamagedError says that an object is not what was written.
type DamagedError struct{ Problem string }

func (e *DamagedError) Error() string { return "damaged object: " + e.Problem }

// permanentError is one that no other attempt can mend.
type permanentError string

func (e permanentError) Error() string { return string(e) }

func permanent(format string, args ...any) error { return permanentError(fmt.Sprintf(format, args...)) }

// FencedError is an ErrFenced with its numbers.
type FencedError struct {
	Job   string
	Run   int64 // the older execution
	By    int64 // a newer one; 0 where the claim of Run is gone or is another's
	Owner string
}

func (e *FencedError) Error() string {
	if e.By == 0 {
		return fmt.Sprintf("job %q: run %d: its claim was removed or replaced: %v", e.Job, e.Run, ErrFenced)
	}
	by := fmt.Sprintf("run %d", e.By)
	if e.Owner != "" {
		by += " (" + e.Owner + ")"
	}
	return fmt.Sprintf("job %q: run %d: %s: %v: do not start it here again at once; where several processes run it, set OnClaimed: Standby", e.Job, e.Run, by, ErrFenced)
}

func (e *FencedError) Unwrap() error { return ErrFenced }

// permanentErrno are answers of a file system that do not change by asking again.
var permanentErrno = []syscall.Errno{
	syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG,
	syscall.EXDEV, syscall.EINVAL, syscall.ENOTSUP,
}

// transient reports whether the same call may succeed later. What nobody knows is taken as transient: attempts are bounded.
func transient(err error) bool {
	var damaged *DamagedError
	var final permanentError
	switch {
	case errors.As(err, &damaged), errors.As(err, &final), errors.Is(err, ErrExists), errors.Is(err, ErrNotFound), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrClosed):
		return false
	case errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	for _, no := range permanentErrno {
		if errors.Is(err, no) {
			return false
		}
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.AlreadyExists, gcerrors.InvalidArgument, gcerrors.Unimplemented, gcerrors.FailedPrecondition, gcerrors.PermissionDenied:
		return false
	}
	return true
}

// taken reports whether a conditional write was refused because the name is in use.
func taken(err error) bool {
	code := gcerrors.Code(err)
	return code == gcerrors.FailedPrecondition || code == gcerrors.AlreadyExists || errors.Is(err, fs.ErrExist)
}

// absent reports whether an object was not found, and gives the error that says so.
func absent(err error) bool {
	return errors.Is(err, ErrNotFound) || gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, fs.ErrNotExist)
}

// hint says what to do about an error.
func hint(err error) string {
	code := gcerrors.Code(err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrExists):
		return ""
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space, or give a bucket on another disk"
	case errors.Is(err, syscall.EFBIG):
		return "let the process write larger files (ulimit -f), or give a bucket on another disk"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: give a bucket on one that can be written"
	case errors.Is(err, fs.ErrPermission), code == gcerrors.PermissionDenied:
		return "give the process the right to read, write, list and delete there"
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EXDEV):
		return "a bucket of files needs one file system with hard links"
	case code == gcerrors.Unimplemented:
		return "the bucket must support conditional writes (If-None-Match)"
	case errors.Is(err, fs.ErrExist):
		return ""
	case absent(err):
		return "it was deleted, or the bucket is another one than that which was written"
	case transient(err):
		return "the bucket did not answer as it should: check that it can be reached"
	}
	return ""
}
