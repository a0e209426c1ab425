package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/operator"
	"gocloud.dev/blob"
)

const (
	// DefaultSweepGrace is the least age of what Sweep deletes.
	DefaultSweepGrace = 24 * time.Hour

	leastTempGrace = time.Hour // of files that may be being written now
)

// SweepOptions tune Sweep. The zero value works.
type SweepOptions struct {
	// Grace is how old an object must be, by the time that the bucket tells of it. Defaults to DefaultSweepGrace (24 h).
	Grace time.Duration
	// DryRun says what would be deleted and deletes nothing. Defaults to false.
	DryRun bool
	// Clock is what the times of objects are compared with. Defaults to that of the machine.
	Clock operator.Clock
	// Storage says how the bucket is used; its defaults are those of storage.
	Storage storage.Options
}

// WithDefaults gives a copy with every field set.
func (o SweepOptions) WithDefaults() SweepOptions {
	if o.Grace == 0 {
		o.Grace = DefaultSweepGrace
	}
	if o.Clock == nil {
		o.Clock = operator.SystemClock{}
	}
	o.Storage.Clock = o.Clock
	return o
}

// Validate reports all fields that are out of their limits.
func (o SweepOptions) Validate() error {
	var err error
	if o.Grace < 0 {
		err = fmt.Errorf("sweep: Grace is %s: give a time > 0, or 0 for the default of %s", o.Grace, DefaultSweepGrace)
	}
	return errors.Join(err, o.Storage.Validate())
}

// Swept is what Sweep has done, or would have without DryRun.
type Swept struct {
	Deleted []storage.Info // objects, and temporary files
	Bytes   int64          // of those
	Young   Pile           // that nothing needs and that stay because they are younger than Grace
}

// Sweep deletes what executions of a job left in its bucket that ended without cleaning up: manifests and segments of earlier runs that no kept epoch refers
// to, their leases and seals, and in a bucket of files what was being written when a process died. An execution deletes only what it has
// written itself, so this is for somebody to call now and then; the job may run meanwhile. What stays whatever its age: claims, the latest seal and
// lease, kept epochs and all they refer to, manifests and segments of the run that sealed last and of later ones, and savepoints. If a kept
// manifest cannot be read nothing is deleted.
//
// Why this is safe beside running jobs: who has begun holds the latest seal, and an older run can seal no epoch from then on, so nothing will ever refer to
// objects of older runs but the kept epochs that the seal names.
func Sweep(ctx context.Context, bucket *blob.Bucket, job string, opts SweepOptions) (Swept, error) {
	if err := opts.Validate(); err != nil {
		return Swept{}, err
	}
	opts = opts.WithDefaults()
	b, err := storage.Open(ctx, bucket, opts.Storage)
	if err != nil {
		return Swept{}, err
	}
	s := sweeper{bucket: b, job: job, names: storage.NamesOf(job), opts: opts, live: map[string]bool{}}
	if err := s.learn(ctx); err != nil {
		return Swept{}, fmt.Errorf("sweep job %q: nothing was deleted: %w", job, err)
	}
	if err := s.sweep(ctx); err != nil {
		return s.out, fmt.Errorf("sweep job %q: %w", job, err)
	}
	return s.out, nil
}

// sweeper deletes what is not needed.
type sweeper struct {
	bucket *storage.Bucket
	job    string
	names  storage.Names
	opts   SweepOptions

	objects []storage.Info
	live    map[string]bool // manifests and segments that are needed
	before  int64           // runs before it have ended or can seal nothing any more
	leases  int64           // those of runs before it are not needed
	seals   int64           // those before it are not needed
	out     Swept
}

// learn finds out what is needed.
func (s *sweeper) learn(ctx context.Context) error {
	claims := storage.NewClaims(s.bucket, s.job)
	newest, held, err := claims.Latest(ctx)
	if err != nil {
		return err
	}
	if !held {
		return fmt.Errorf("bucket %q has no claim of this job: check name and bucket", s.bucket.Name())
	}
	latest, err := storage.NewSeals(s.bucket, s.job).Latest(ctx, newest.Run+1)
	if err != nil {
		return err
	}
	s.before = min(latest.Run, newest.Run)
	for _, k := range latest.Kept {
		m, err := loadKept(ctx, s.bucket, s.job, k)
		if err != nil {
			return fmt.Errorf("what epoch %d refers to is not known: %w", k.Epoch, err)
		}
		s.live[k.Name] = true
		for _, seg := range m.segments() {
			s.live[seg.Name] = true
		}
	}
	if s.objects, err = s.bucket.List(ctx, s.names.Root()); err != nil {
		return err
	}
	return s.findLease(ctx, claims, latest.Number)
}

// findLease finds the newest lease that says where the search for the latest seal begins: from that seal on all must stay (Seals.Latest). The one that a listing
// leaves out is newer, and says more.
func (s *sweeper) findLease(ctx context.Context, claims *storage.Claims, latest int64) error {
	for _, o := range slices.Backward(s.objects) {
		n := s.names.Numbers(o.Name)
		if len(n) != 1 || o.Name != s.names.Lease(n[0]) {
			continue
		}
		lease, err := claims.Lease(ctx, n[0])
		if err != nil {
			return err
		}
		if lease.Seals > 0 {
			s.leases, s.seals = n[0], min(lease.Seals, latest)
			return nil
		}
	}
	return nil
}

// needed reports whether an object stays whatever its age.
func (s *sweeper) needed(name string) bool {
	if run, ok := writer(s.names, name); ok {
		return run >= s.before || s.live[name]
	}
	n := s.names.Numbers(name)
	switch {
	case len(n) != 1:
		return true
	case name == s.names.Lease(n[0]):
		return n[0] >= min(s.leases, s.before)
	case name == s.names.Seal(n[0]):
		return n[0] >= s.seals
	}
	return true
}

func (s *sweeper) sweep(ctx context.Context) error {
	now := s.opts.Clock.Now()
	remove := func(o storage.Info, grace time.Duration, del func(context.Context, string) error) error {
		if now.Sub(o.ModTime) < grace {
			s.out.Young.add(o)
			return nil
		}
		if !s.opts.DryRun {
			if err := del(ctx, o.Name); err != nil {
				return err
			}
		}
		s.out.Deleted = append(s.out.Deleted, o)
		s.out.Bytes += o.Size
		return nil
	}
	for _, o := range s.objects {
		if s.needed(o.Name) {
			continue
		}
		if err := remove(o, s.opts.Grace, s.bucket.Delete); err != nil {
			return err
		}
	}
	temps, err := s.bucket.Temps(ctx, s.names.Root())
	if err != nil {
		return err
	}
	for _, o := range temps {
		if err := remove(o, max(s.opts.Grace, leastTempGrace), s.bucket.RemoveTemp); err != nil {
			return err
		}
	}
	slices.SortFunc(s.out.Deleted, func(x, y storage.Info) int { return strings.Compare(x.Name, y.Name) })
	return nil
}
