package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"gocloud.dev/blob"
)

// Defaults of Options.
const (
	DefaultKeep  = 3
	DefaultGrace = 15 * time.Minute

	renewEvery     = 3 * time.Second  // a run looks at its claim and renews its lease (C4: at least every 5 s)
	standbyFor     = 10 * time.Second // a lease that was not renewed for so long is free (C4)
	releaseTimeout = 5 * time.Second
	stalled        = time.Minute // after which a claim that was seen before is looked at again
	maxKeep        = 100
)

// OnClaimed says what an execution does where another one holds the job.
type OnClaimed int

// The ways.
const (
	// TakeOver makes the older execution stop with ErrFenced. It is the default.
	TakeOver OnClaimed = iota
	// Standby waits until the older one has ended, or has not renewed its lease for 10 s.
	Standby
)

// Recovery says where a job begins.
type Recovery int

// The beginnings.
const (
	// FromLatest begins with the last sealed epoch, afresh where there is none. It is the default.
	FromLatest Recovery = iota
	// Fresh begins without state. What was sealed before is kept until Keep newer epochs have been sealed.
	Fresh
)

// Options of a Session. The zero value works.
type Options struct {
	// OnClaimed says what to do where another execution holds the job. Defaults to TakeOver.
	OnClaimed OnClaimed
	// Recovery says what to begin with. Defaults to FromLatest.
	Recovery Recovery
	// Savepoint is the URL of a savepoint to begin with, in place of what Recovery says. Defaults to none.
	Savepoint string
	// Start is what the session has in common with those before it of the same start. Defaults to one that has claimed no run yet.
	Start *Start
	// FallBack begins with an earlier epoch where the last one is damaged. What sinks have committed since then is committed once more.
	// Defaults to false: a damaged epoch is an error.
	FallBack bool
	// Allow says which differences between the job and what it begins with are taken. Defaults to none.
	Allow Allowances
	// Known is the plan that will run, where that is known already: it is compared before a run is claimed, so that a job that does not fit does not
	// end the execution that runs. Defaults to none: Fit alone compares.
	Known *Shape
	// Keep is the number of sealed epochs that are kept, up to 100. Defaults to DefaultKeep.
	Keep int
	// Grace is how long an object stays that no kept epoch refers to any more. Defaults to DefaultGrace.
	Grace time.Duration
	// Owner names the execution for people, in its claim. Defaults to "".
	Owner   string
	Clock   operator.Clock  // defaults to the machine's
	Logger  *slog.Logger    // defaults to none
	Storage storage.Options // how the bucket is used; its defaults are those of storage
}

// Start is what the executions of one start have in common: its first, and those that follow where one has failed. Such a one claims a run only if no
// other execution has since the last of this start: else Open gives ErrFenced or, with Standby, waits as any other. Once the first or a later
// run has sealed an epoch, that counts in place of Savepoint and Recovery. The zero value is a start that has claimed nothing yet. One Open at
// a time uses it.
type Start struct {
	first int64         // run; 0: none yet
	last  storage.Claim // of this start
}

func (s *Start) claimed(c storage.Claim) {
	if s.first == 0 {
		s.first = c.Run
	}
	s.last = c
}

// WithDefaults gives a copy with every field set.
func (o Options) WithDefaults() Options {
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Start == nil {
		o.Start = new(Start)
	}
	if o.Clock == nil {
		o.Clock = operator.SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Storage.Clock = o.Clock
	return o
}

// Validate reports all fields that are out of their limits.
func (o Options) Validate() error {
	var errs []error
	if o.Keep < 0 || o.Keep > maxKeep {
		errs = append(errs, fmt.Errorf("checkpoints: Keep is %d: give 1 to %d, or 0 for the default of %d", o.Keep, maxKeep, DefaultKeep))
	}
	if o.Grace < 0 {
		errs = append(errs, fmt.Errorf("checkpoints: Grace is %s: give a time > 0, or 0 for the default of %s", o.Grace, DefaultGrace))
	}
	if o.OnClaimed != TakeOver && o.OnClaimed != Standby {
		errs = append(errs, fmt.Errorf("checkpoints: OnClaimed is %d: give TakeOver or Standby", o.OnClaimed))
	}
	if o.Recovery != FromLatest && o.Recovery != Fresh {
		errs = append(errs, fmt.Errorf("checkpoints: Recovery is %d: give FromLatest or Fresh", o.Recovery))
	}
	return errors.Join(append(errs, o.Storage.Validate())...)
}

// Session is the hold of one execution on its checkpoints in a bucket: a Store that the execution owns by a claim. Its methods are safe
// for concurrent use, but for Seal, of which one runs at a time.
type Session struct {
	opts   Options
	job    string
	shape  Shape // of the plan that runs: see Fit
	bucket *storage.Bucket
	names  storage.Names
	claims *storage.Claims
	seals  *storage.Seals
	claim  storage.Claim
	holder *storage.Holder

	begin    *Manifest // that it begins with; nil: afresh
	saved    *storage.Bucket
	close    func() error // of what holds a savepoint
	last     int64        // the greatest epoch number that was ever sealed
	number   int64        // of our last seal
	kept     []storage.Kept
	pieces   atomic.Int64 // objects written
	chains   map[taskKey]*chain
	garbage  *garbage
	sweeping sync.Mutex
	progress Progress

	stop    context.CancelFunc
	renewed sync.WaitGroup
	fenced  chan struct{} // closed when the session was fenced
	fence   sync.Once
	lost    error
}

type taskKey struct {
	operator string
	subtask  int
}

// Open claims a run of the job, and finds what it begins with: after Open no older execution can seal an epoch any more. The bucket
// stays the caller's; it is closed after the session.
func Open(ctx context.Context, bucket *blob.Bucket, job string, opts Options) (*Session, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.WithDefaults()
	b, err := storage.Open(ctx, bucket, opts.Storage)
	if err != nil {
		return nil, err
	}
	s := &Session{opts: opts, job: job, bucket: b, names: storage.NamesOf(job), claims: storage.NewClaims(b, job),
		seals: storage.NewSeals(b, job), chains: map[taskKey]*chain{}, garbage: newGarbage(), fenced: make(chan struct{})}
	if err := s.takeClaim(ctx); err != nil {
		return nil, err
	}
	s.holder = s.claims.Hold(s.claim)
	if err := s.takeOver(ctx); err != nil {
		_ = s.release(ctx) // what went wrong before is told
		return nil, err
	}
	if err := s.choose(ctx); err != nil {
		_ = s.release(ctx) // what went wrong before is told
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.renewed.Go(func() { s.renew(run) })
	return s, nil
}

// compareFirst refuses a plan that does not fit what is there now. What cannot be read, or is not there, is for choose to tell.
func (s *Session) compareFirst(ctx context.Context) error {
	if s.opts.Known == nil {
		return nil
	}
	var latest storage.Seal
	if s.opts.Start.first > 0 || s.opts.Savepoint == "" && s.opts.Recovery == FromLatest {
		newest, _, err := s.claims.Latest(ctx)
		if err == nil {
			latest, err = s.seals.Latest(ctx, newest.Run+1)
		}
		if err != nil {
			return nil //nolint:nilerr // who claims meets it again
		}
		s.goOn(latest.Kept)
	}
	var m *Manifest
	if s.opts.Savepoint != "" {
		err := s.chooseSavepoint(ctx)
		if s.close != nil {
			err = errors.Join(err, s.close())
		}
		m, s.begin, s.saved, s.close = s.begin, nil, nil, nil
		if err != nil {
			return err
		}
	} else {
		if s.opts.Recovery == Fresh || len(latest.Kept) == 0 {
			return nil
		}
		var err error
		if m, err = loadKept(ctx, s.bucket, s.job, latest.Kept[0]); err != nil {
			return nil //nolint:nilerr // choose reads it again, and knows whether to fall back
		}
	}
	return s.opts.Known.Compare(m, s.opts.Allow)
}

// goOn makes a session that goes on after a failure begin with what was sealed since its start, where that is so.
func (s *Session) goOn(kept []storage.Kept) {
	if first := s.opts.Start.first; first > 0 && len(kept) > 0 && kept[0].Run >= first {
		s.opts.Savepoint, s.opts.Recovery = "", FromLatest
	}
}

// takeClaim claims a run. One that follows another of the same start cannot end an execution that runs, so it need not be compared first.
func (s *Session) takeClaim(ctx context.Context) error {
	least, err := s.greatestRun(ctx)
	if err != nil {
		return err
	}
	start := s.opts.Start
	if start.last.Run > 0 {
		s.claim, err = s.claims.Next(ctx, start.last, least)
		if err == nil {
			start.claimed(s.claim)
		}
		if s.opts.OnClaimed != Standby || !errors.Is(err, storage.ErrFenced) {
			return err
		}
	}
	if err := s.compareFirst(ctx); err != nil {
		return err
	}
	if s.claim, err = s.wait(ctx, least); err == nil {
		start.claimed(s.claim)
	}
	return err
}

// wait claims a run when OnClaimed says so.
func (s *Session) wait(ctx context.Context, least int64) (claim storage.Claim, err error) {
	if s.opts.OnClaimed == Standby {
		var why string
		if holder, held, err := s.claims.Latest(ctx); err == nil && held {
			s.opts.Logger.Info("standing by until the job is free", "job", s.job, "run", holder.Run, "owner", holder.Owner)
		}
		claim, why, err = s.claims.Standby(ctx, s.opts.Owner, least, renewEvery/3, standbyFor)
		if err == nil {
			s.opts.Logger.Info("job claimed", "job", s.job, "run", claim.Run, "because", why)
		}
		return claim, err
	}
	return s.claims.Claim(ctx, s.opts.Owner, least)
}

// greatestRun gives the greatest number of a run of which there is a sign of life: no run is claimed below it, though claims were deleted.
func (s *Session) greatestRun(ctx context.Context) (least int64, err error) {
	leases, err := s.bucket.List(ctx, s.names.Leases())
	for _, o := range leases {
		if n := s.names.Numbers(o.Name); len(n) == 1 {
			least = max(least, n[0])
		}
	}
	return least, err
}

// takeOver takes the next seal with the epochs that are kept: what an older execution would seal is refused from then on (C3).
func (s *Session) takeOver(ctx context.Context) error {
	for {
		latest, err := s.seals.Latest(ctx, s.claim.Run)
		if err != nil {
			return err
		}
		if latest.Run > s.claim.Run {
			return &storage.FencedError{Job: s.job, Run: s.claim.Run, By: latest.Run}
		}
		err = s.seals.Take(ctx, storage.Seal{Number: latest.Number + 1, Run: s.claim.Run, Kept: latest.Kept})
		if errors.Is(err, storage.ErrExists) {
			continue // the older one has sealed meanwhile, or a newer one has begun
		}
		if err != nil {
			return err
		}
		s.number, s.kept = latest.Number+1, latest.Kept
		for _, k := range s.kept {
			s.last = max(s.last, k.Epoch)
		}
		s.holder.Keep(s.number)
		return s.holder.Renew(ctx)
	}
}

// Run is the number of the execution.
func (s *Session) Run() int64 { return s.claim.Run }

// LastEpoch is the greatest number of an epoch that was sealed, or is used in what the session begins with.
func (s *Session) LastEpoch() int64 { return s.last }

// Fenced is closed when a newer execution has claimed the job; Err says which.
func (s *Session) Fenced() <-chan struct{} { return s.fenced }

// Err is the error of a session that was fenced, else nil.
func (s *Session) Err() error {
	select {
	case <-s.fenced:
		return s.lost
	default:
		return nil
	}
}

func (s *Session) lose(err error) {
	s.fence.Do(func() {
		s.lost = err
		close(s.fenced)
	})
}

// renew keeps the lease and looks for newer claims until the session ends.
func (s *Session) renew(ctx context.Context) {
	timer := s.opts.Clock.NewTimer(renewEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C():
		case <-ctx.Done():
			return
		}
		err := s.claims.Check(ctx, s.claim)
		if err == nil {
			err = s.holder.Renew(ctx)
		}
		switch {
		case errors.Is(err, storage.ErrFenced):
			s.lose(err)
			return
		case err != nil && ctx.Err() == nil:
			s.opts.Logger.Warn("lease not renewed", "job", s.job, "run", s.claim.Run, "error", err)
		}
		timer.Reset(renewEvery)
	}
}

// Close ends the session: who waits for the job may claim it. It waits for the bucket at most five seconds.
func (s *Session) Close(ctx context.Context) error {
	s.stop()
	s.renewed.Wait()
	return s.release(ctx)
}

func (s *Session) release(ctx context.Context) error {
	var err error
	if s.Err() == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		err = s.holder.Release(ctx)
	}
	if s.close != nil {
		err = errors.Join(err, s.close())
	}
	return err
}

// Epoch is what the session begins with, or nil. Its state is read from the bucket when it is asked for, while ctx lasts.
func (s *Session) Epoch(ctx context.Context) (*Epoch, error) {
	if s.begin == nil {
		return nil, nil
	}
	from := s.bucket
	if s.saved != nil {
		from = s.saved
	}
	s.progress.begin(s.begin)
	if s.begin.Finished {
		s.opts.Logger.Info("the job had finished: nothing is read any more; StartFresh begins anew", "job", s.job, "epoch", s.begin.Epoch)
	}
	return s.begin.restore(func(o *OperatorRecord, subtask int) state.Saved {
		return &stored{ctx: ctx, bucket: from, task: &o.Tasks[subtask], progress: &s.progress,
			job: s.job, clock: s.opts.Clock, log: s.opts.Logger}
	})
}

// Fit says whether a plan can go on from what the session begins with, and makes it the one whose epochs are sealed. It is called before
// the first Seal.
func (s *Session) Fit(shape Shape) error {
	s.shape = shape
	if s.begin == nil {
		return nil
	}
	return shape.Compare(s.begin, s.opts.Allow)
}

// CheckSplits refuses a source that does not have a split any more of which there are rows to read: they would be missing without a word.
func (s *Session) CheckSplits(source string, has func(split string) bool) error {
	if s.begin == nil || s.begin.Finished || slices.Contains(s.opts.Allow.Dropped, source) {
		return nil
	}
	var gone []string
	for _, r := range s.begin.Sources {
		for _, sp := range r.Splits {
			if r.ID == source && !sp.Done && !has(sp.Split) {
				gone = append(gone, fmt.Sprintf("%q", sp.Split))
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return fmt.Errorf("epoch %d had not read %s to the end, and there is no such split any more: put it back, or give AllowDropped(%q) to go on without its other rows",
		s.begin.Epoch, strings.Join(gone, ", "), source)
}

// Progress is how far the restore has come.
func (s *Session) Progress() *Progress { return &s.progress }

// choose finds what to begin with.
func (s *Session) choose(ctx context.Context) error {
	s.goOn(s.kept)
	switch {
	case s.opts.Savepoint != "":
		return s.chooseSavepoint(ctx)
	case s.opts.Recovery == Fresh || len(s.kept) == 0:
		return nil
	}
	for {
		m, err := loadKept(ctx, s.bucket, s.job, s.kept[0])
		if err == nil {
			s.begin = m
			return nil
		}
		if !s.opts.FallBack || !Damaged(err) {
			return s.adviseFallBack(err)
		}
		if err := s.back(err); err != nil {
			return err
		}
	}
}

// Back gives up an epoch that turned out to be damaged while it was read, for the one before it, where FallBack allows that. The error is
// cause, with what to do about it.
func (s *Session) Back(ctx context.Context, cause error) (bool, error) {
	if s.saved != nil || s.begin == nil || !Damaged(cause) {
		return false, cause
	}
	if !s.opts.FallBack {
		return false, s.adviseFallBack(cause)
	}
	if err := s.back(cause); err != nil {
		return false, err
	}
	s.begin = nil
	return true, s.choose(ctx)
}

func (s *Session) back(cause error) error {
	bad := s.kept[0]
	if len(s.kept) == 1 {
		return fmt.Errorf("epoch %d is damaged and no earlier one is kept: restore the bucket from a copy, begin with a savepoint, or afresh with StartFresh(): %w", bad.Epoch, cause)
	}
	s.opts.Logger.Warn("falling back to an earlier epoch", "job", s.job, "damaged", bad.Epoch, "epoch", s.kept[1].Epoch, "error", cause)
	s.kept = s.kept[1:]
	return nil
}

func (s *Session) adviseFallBack(err error) error {
	if !Damaged(err) {
		return err
	}
	return fmt.Errorf("the latest epoch, %d, is damaged: restore its objects from a copy, or give FallBack() to begin with the one before "+
		"(what sinks have committed since then is written again): %w", s.kept[0].Epoch, err)
}

// Damaged reports whether an error says that an object of a checkpoint is missing or not what was written.
func Damaged(err error) bool {
	var damaged *storage.DamagedError
	return errors.As(err, &damaged) || errors.Is(err, storage.ErrNotFound)
}

// loadKept reads the manifest of an epoch of the job.
func loadKept(ctx context.Context, b *storage.Bucket, job string, k storage.Kept) (*Manifest, error) {
	m, err := loadManifest(ctx, b, k)
	if err == nil && (m.Job != job || m.Epoch != k.Epoch || m.Run != k.Run) {
		return nil, &storage.DamagedError{Problem: fmt.Sprintf("manifest %q is of job %q, epoch %d, run %d", k.Name, m.Job, m.Epoch, m.Run)}
	}
	return m, err
}

func loadManifest(ctx context.Context, b *storage.Bucket, k storage.Kept) (*Manifest, error) {
	o, err := k.Object()
	if err != nil {
		return nil, err
	}
	data, err := b.Get(ctx, o)
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(data)
	if err != nil {
		return nil, fmt.Errorf("manifest %q: %w", k.Name, err)
	}
	return m, nil
}
