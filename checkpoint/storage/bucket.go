package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/internal/step"
	"github.com/arkflow-go/arkflow/operator"
	"gocloud.dev/blob"
)

// Options tune a Bucket. The zero value is usable.
type Options struct {
	// Name stands for the bucket in errors: its URL without secrets. Defaults to the directory of a bucket of files, else "bucket".
	Name string
	// MaxInFlight is the greatest number of calls at a time. Defaults to 8.
	MaxInFlight int
	// Attempts is the greatest number of times that a call is made while its errors are transient. Defaults to 6.
	Attempts int
	// Backoff is the wait before the second attempt; it doubles with each. Up to half of it is taken off at random. Defaults to 100 ms.
	Backoff time.Duration
	// MaxBackoff bounds the wait. Defaults to 10 s.
	MaxBackoff time.Duration
	// MaxObjectBytes is the greatest object that is written or read. Defaults to 256 MiB.
	MaxObjectBytes int64
	// Clock measures waits. Defaults to operator.SystemClock.
	Clock operator.Clock
}

// WithDefaults gives a copy whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 8
	}
	if o.Attempts == 0 {
		o.Attempts = 6
	}
	if o.Backoff == 0 {
		o.Backoff = 100 * time.Millisecond
	}
	if o.MaxBackoff == 0 {
		o.MaxBackoff = max(10*time.Second, o.Backoff)
	}
	if o.MaxObjectBytes == 0 {
		o.MaxObjectBytes = 256 << 20
	}
	if o.Clock == nil {
		o.Clock = operator.SystemClock{}
	}
	return o
}

// Validate reports all fields that are out of their limits.
func (o Options) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("storage options: "+format, args...))
		}
	}
	bad(o.MaxInFlight < 0 || o.MaxInFlight > 1024, "MaxInFlight is %d: give 1 to 1024, or 0 for the default", o.MaxInFlight)
	bad(o.Attempts < 0, "Attempts is %d: give 1 or more, or 0 for the default", o.Attempts)
	bad(o.Backoff < 0, "Backoff is %v: give a positive duration, or 0 for the default", o.Backoff)
	bad(o.MaxBackoff < 0 || o.MaxBackoff > 0 && o.MaxBackoff < o.Backoff, "MaxBackoff is %v: give at least Backoff, or 0 for the default", o.MaxBackoff)
	bad(o.MaxObjectBytes < 0, "MaxObjectBytes is %d: give a positive number, or 0 for the default", o.MaxObjectBytes)
	return errors.Join(errs...)
}

// Object says which bytes were written, for whoever reads them.
type Object struct {
	Name   string
	Size   int64
	SHA256 [sha256.Size]byte
}

// SetSHA sets the SHA-256 from its hexadecimal form.
func (o *Object) SetSHA(text string) error {
	sum, err := hex.DecodeString(text)
	if err != nil || len(sum) != sha256.Size {
		return &DamagedError{fmt.Sprintf("%q is not a SHA-256 in hexadecimal", text)}
	}
	copy(o.SHA256[:], sum)
	return nil
}

// Info is an object in a listing.
type Info struct {
	Name    string
	Size    int64
	ModTime time.Time
}

// Bucket reads and writes objects of checkpoints. Safe for concurrent use. The *blob.Bucket stays its owner's, who closes it after
// the last call.
type Bucket struct {
	blob  *blob.Bucket
	opts  Options
	slots chan struct{}
	files *fileStore // of a bucket of files, else nil
}

// Open makes one call to see that the bucket answers, and finds the directory of a bucket of files.
func Open(ctx context.Context, bucket *blob.Bucket, opts Options) (*Bucket, error) {
	if bucket == nil {
		return nil, errors.New("open storage: no bucket: open one with blob.OpenBucket")
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	named := opts.Name != ""
	opts = opts.WithDefaults()
	if !named {
		opts.Name = "bucket"
	}
	b := &Bucket{blob: bucket, opts: opts, slots: make(chan struct{}, opts.MaxInFlight)}
	probe := "probe" + token()
	err := b.do(ctx, "open", probe, func(ctx context.Context) (err error) {
		b.files, err = findFiles(ctx, bucket, probe)
		return err
	})
	if err != nil {
		return nil, err
	}
	if b.files != nil && !named {
		b.opts.Name = b.files.base
	}
	return b, nil
}

// Name stands for the bucket in errors.
func (b *Bucket) Name() string { return b.opts.Name }

// Put writes an object and returns when it is durable. An object of the same name is replaced as a whole: data has names that are
// used once. Write is called once an attempt, from the start each time, and must give the same bytes; its own error ends the call
// without another attempt. A write whose context ends before write has returned is never visible.
func (b *Bucket) Put(ctx context.Context, name string, write func(io.Writer) error) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, b.fail("put", name, err)
	}
	var o Object
	var own error // of write itself
	err := b.do(ctx, "put", name, func(ctx context.Context) error {
		var sum *summed
		err := b.write(ctx, name, false, new(bool), func(w io.Writer) error {
			sum = &summed{w: w, hash: sha256.New(), limit: b.opts.MaxObjectBytes}
			err := write(sum)
			if sum.err != nil {
				return sum.err
			}
			own = err
			return err
		})
		if own != nil {
			return nil
		}
		if err == nil {
			o = Object{Name: name, Size: sum.n}
			sum.hash.Sum(o.SHA256[:0])
		}
		return err
	})
	if err == nil && own != nil {
		err = b.fail("put", name, own)
	}
	return o, err
}

func (b *Bucket) putBytes(ctx context.Context, name string, data []byte) error {
	_, err := b.Put(ctx, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return err
}

// PutIfAbsent creates an object that nobody else has created; of many writers one succeeds, the others get ErrExists. Data must hold
// something that no other writer writes, as a token: where the bucket says that the object exists, it is read back, and if it holds
// these very bytes, then the write is this one, whose reply was lost. An error that is ErrUnsure leaves open who won.
func (b *Bucket) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if err := checkName(name); err != nil {
		return b.fail("create", name, err)
	}
	unsure := false
	err := b.do(ctx, "create", name, func(ctx context.Context) error {
		asked := false // to make it visible
		err := b.write(ctx, name, true, &asked, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err == nil {
			return nil
		}
		if !taken(err) {
			unsure = unsure || asked && (transient(err) || ctx.Err() != nil)
			return err
		}
		return b.settle(ctx, name, data)
	})
	if err != nil && unsure && !errors.Is(err, ErrExists) {
		err = fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}

// errVanished is transient: the next attempt creates the object.
var errVanished = errors.New("the object was there and is gone")

// settle finds out whose object has the name.
func (b *Bucket) settle(ctx context.Context, name string, data []byte) error {
	got, err := b.read(ctx, name, int64(len(data)))
	var damaged *DamagedError
	switch {
	case err == nil && bytes.Equal(got, data):
		return nil
	case err == nil, errors.As(err, &damaged):
		return ErrExists
	case absent(err):
		return errVanished
	}
	return err
}

// write makes one attempt. It sets asked before the bucket is asked to make the object visible.
func (b *Bucket) write(ctx context.Context, name string, ifAbsent bool, asked *bool, fill func(io.Writer) error) error {
	if b.files != nil {
		return b.files.write(ctx, name, ifAbsent, asked, fill)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.blob.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: ifAbsent, MaxConcurrency: 1})
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed { // Close makes the object visible unless the context has ended before
			cancel()
			_ = w.Close()
		}
	}()
	if err := fill(w); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return step.Do(ctx, "bucket", "publish "+kindOf(name), func() error {
		closed, *asked = true, true
		return w.Close()
	})
}

// Get reads an object. It gives no byte before length and SHA-256 have been verified, and allocates nothing before the bucket
// has confirmed a length within MaxObjectBytes. The result is the caller's.
func (b *Bucket) Get(ctx context.Context, o Object) ([]byte, error) {
	if err := checkName(o.Name); err != nil {
		return nil, b.fail("get", o.Name, err)
	}
	if o.Size < 0 || o.Size > b.opts.MaxObjectBytes {
		return nil, b.fail("get", o.Name, permanent("size %d is not between 0 and MaxObjectBytes = %d", o.Size, b.opts.MaxObjectBytes))
	}
	var data []byte
	err := b.do(ctx, "get", o.Name, func(ctx context.Context) (err error) {
		for range 2 { // the second time tells a fault of the line from one of the object
			if data, err = b.read(ctx, o.Name, o.Size); err == nil {
				err = o.verify(data)
			}
			var damaged *DamagedError
			if !errors.As(err, &damaged) {
				break
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (o Object) verify(data []byte) error {
	if int64(len(data)) != o.Size {
		return &DamagedError{fmt.Sprintf("it has %d bytes, %d were written", len(data), o.Size)}
	}
	if sum := sha256.Sum256(data); sum != o.SHA256 {
		return &DamagedError{fmt.Sprintf("its SHA-256 is %x, that of what was written %x", sum, o.SHA256)}
	}
	return nil
}

// Read reads an object of unknown size, at most limit bytes; a longer one is a *DamagedError. Nothing is verified: it is for records
// that carry their own checksum (DecodeRecord).
func (b *Bucket) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, b.fail("read", name, err)
	}
	var data []byte
	err := b.do(ctx, "read", name, func(ctx context.Context) (err error) {
		data, err = b.read(ctx, name, min(limit, b.opts.MaxObjectBytes))
		return err
	})
	return data, err
}

// read reads a whole object once.
func (b *Bucket) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	r, err := b.blob.NewReader(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	size := r.Size()
	if size > limit || size < 0 {
		return nil, errors.Join(&DamagedError{fmt.Sprintf("it has %d bytes, at most %d are expected", size, limit)}, r.Close())
	}
	data := make([]byte, size)
	if _, err = io.ReadFull(r, data); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		if n, _ := r.Read(make([]byte, 1)); n > 0 {
			err = io.ErrUnexpectedEOF // more than the bucket said: as bad as less
		}
	}
	if err2 := r.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Exists reports whether there is an object of the name.
func (b *Bucket) Exists(ctx context.Context, name string) (ok bool, err error) {
	if err := checkName(name); err != nil {
		return false, b.fail("look up", name, err)
	}
	err = b.do(ctx, "look up", name, func(ctx context.Context) (err error) {
		ok, err = b.blob.Exists(ctx, name)
		return err
	})
	return ok, err
}

// End finds the last of objects that are numbered densely from after from on, by look-ups alone; from where there is none after it.
func (b *Bucket) End(ctx context.Context, from int64, name func(number int64) string) (int64, error) {
	step := int64(1)
	for {
		there, err := b.Exists(ctx, name(from+step))
		if err != nil {
			return 0, err
		}
		if !there {
			break
		}
		from += step
		step *= 2
	}
	for beyond := from + step; beyond-from > 1; { // steps that doubled went beyond the end: halve
		middle := from + (beyond-from)/2
		there, err := b.Exists(ctx, name(middle))
		if err != nil {
			return 0, err
		}
		if there {
			from = middle
		} else {
			beyond = middle
		}
	}
	return from, nil
}

// Delete deletes an object. One that is not there is no error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return b.fail("delete", name, err)
	}
	return b.do(ctx, "delete", name, func(ctx context.Context) error {
		err := step.Do(ctx, "bucket", "delete "+kindOf(name), func() error { return b.blob.Delete(ctx, name) })
		if err != nil && !absent(err) {
			return err
		}
		return nil
	})
}

// List gives the objects of a folder ("a/b": all below it; "": all), sorted by name. Names that Put would refuse are left out. A bucket
// may leave out what was written a moment ago: a listing serves to find what may be deleted or looked at, never to decide what
// exists.
func (b *Bucket) List(ctx context.Context, folder string) ([]Info, error) {
	prefix := ""
	if folder != "" {
		if err := checkName(folder); err != nil {
			return nil, b.fail("list", folder, err)
		}
		prefix = folder + "/"
	}
	var out []Info
	err := b.do(ctx, "list", folder, func(ctx context.Context) (err error) {
		if b.files != nil {
			out, err = b.files.list(ctx, prefix, func(name string) bool { return checkName(name) == nil })
			return err
		}
		out = nil
		for it := b.blob.List(&blob.ListOptions{Prefix: prefix}); ; {
			o, err := it.Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if !o.IsDir && checkName(o.Key) == nil {
				out = append(out, Info{o.Key, o.Size, o.ModTime})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(x, y Info) int { return strings.Compare(x.Name, y.Name) })
	return slices.CompactFunc(out, func(x, y Info) bool { return x.Name == y.Name }), nil
}

// summed counts and hashes what passes to w.
type summed struct {
	w     io.Writer
	hash  hash.Hash
	n     int64
	limit int64
	err   error // of w, or the limit
}

func (s *summed) Write(p []byte) (int, error) {
	if s.err == nil && int64(len(p)) > s.limit-s.n {
		s.err = permanent("more than MaxObjectBytes = %d bytes would be written", s.limit)
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.hash.Write(p[:n])
	s.n += int64(n)
	s.err = err
	return n, err
}

// token gives 32 random characters of [0-9a-f].
func token() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}
