package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	claimKind, leaseKind = "claim", "lease"
	recordVersion        = 1
	maxRecordBytes       = 64 << 10
)

// Claim is the record by which an execution made a run number its own (FORMAT.md). It is written once and never changed.
type Claim struct {
	Job   string `json:"job"`
	Run   int64  `json:"run"`   // > 0
	Owner string `json:"owner"` // for people: host, process
	Token string `json:"token"` // of this claim alone
	// Start is the Token of the first of the claims that one after the other were made by Next, each for the one before. Empty in that first one.
	Start string `json:"start,omitempty"`
	// Time is when it was claimed by the claimer's clock, for people: nothing is decided by it.
	Time time.Time `json:"time"`
	// Next is 0, but in a record that no run owns: it stands where the next claim was expected, and sends the reader on to the run Next.
	Next int64 `json:"next,omitempty"`
}

// Claims hands out the run numbers of a job. Safe for concurrent use; any number of processes may use the same bucket.
//
// The records of runs are dense: after that of run n comes n+1, or one that names the next. So a holder learns by one look-up that it
// was fenced, and the newest is found by look-ups alone. A listing only raises the number from which the search begins: that keeps
// numbers growing where somebody has deleted old records. The library deletes none.
type Claims struct {
	bucket *Bucket
	job    string
	names  Names

	mu    sync.Mutex
	least int64 // no run up to this one can be claimed any more
}

// NewClaims gives the claims of a job.
func NewClaims(bucket *Bucket, job string) *Claims {
	return &Claims{bucket: bucket, job: job, names: NamesOf(job)}
}

// Names are those of the job's objects.
func (c *Claims) Names() Names { return c.names }

// Claim makes a number this execution's own: greater than that of every claim that was made before, and than atLeast, which is a number
// that the caller knows from elsewhere to have been used (0: none). The number is durable when it returns. After an error a number
// may be lost; none is used twice. Every older holder is fenced from then on.
func (c *Claims) Claim(ctx context.Context, owner string, atLeast int64) (Claim, error) {
	if err := c.checkLeast(atLeast); err != nil {
		return Claim{}, err
	}
	last, _, err := c.newest(ctx)
	for err == nil {
		var claim Claim
		claim, last, err = c.attempt(ctx, owner, atLeast, last)
		if err == nil {
			return claim, nil
		}
		if errors.Is(err, ErrExists) { // somebody was faster
			last, _, err = c.search(ctx, last)
		}
	}
	return Claim{}, c.wrap("claim a run", err)
}

// Next claims the number after last, for an execution that takes the place of that which had made it and has ended. No claim but those of the
// same start may have been made since: it gives a *FencedError where another has, or last was removed, and claims nothing then. Who claims at
// the same time gets a greater number or is seen: of two that want one number the bucket lets one create it. After an error a number may be
// lost; Next with the same last goes on behind it.
func (c *Claims) Next(ctx context.Context, last Claim, atLeast int64) (Claim, error) {
	if err := c.checkLeast(atLeast); err != nil {
		return Claim{}, err
	}
	for {
		n, found, err := c.search(ctx, last.Run)
		if err != nil {
			return Claim{}, c.wrap("claim a run", err)
		}
		if by := c.other(last, n, found, atLeast); by != nil {
			return Claim{}, by
		}
		record := Claim{Job: c.job, Run: n + 1, Owner: last.Owner, Token: token(), Start: last.start(), Time: c.bucket.opts.Clock.Now().UTC()}
		err = c.create(ctx, record)
		if err == nil {
			c.know(record.Run)
			return record, nil
		}
		if !errors.Is(err, ErrExists) { // else it is another's, or one of ours whose creation had been given up
			return Claim{}, c.wrap("claim a run", err)
		}
	}
}

// other says who has claimed the job since last, where the newest number is n, and found its claim. It gives nil where nobody has.
func (c *Claims) other(last Claim, n int64, found *Claim, atLeast int64) error {
	e := &FencedError{Job: c.job, Run: last.Run}
	switch {
	case found != nil && found.start() == last.start() && (found.Run > last.Run || found.Token == last.Token):
		if atLeast <= n {
			return nil
		}
		e.By = atLeast
	case n > last.Run:
		e.By = n
		if found != nil {
			e.Owner = found.Owner
		}
	}
	return e
}

func (c Claim) start() string {
	if c.Start != "" {
		return c.Start
	}
	return c.Token
}

func (c *Claims) checkLeast(atLeast int64) error {
	if atLeast < 0 || atLeast > 1<<62 {
		return c.wrap("claim a run", permanent("atLeast is %d: give a number between 0 and 2^62", atLeast))
	}
	return nil
}

// attempt claims the number after last, or after atLeast if that is greater. With ErrExists it gives the number that is taken.
func (c *Claims) attempt(ctx context.Context, owner string, atLeast, last int64) (Claim, int64, error) {
	record := Claim{Job: c.job, Run: last + 1, Owner: owner, Token: token(), Time: c.bucket.opts.Clock.Now().UTC()}
	if atLeast > last {
		record.Next = atLeast + 1
		if err := c.create(ctx, record); err != nil {
			return Claim{}, record.Run, err
		}
		record.Run, record.Next, record.Token = record.Next, 0, token()
	}
	err := c.create(ctx, record)
	if err == nil {
		c.know(record.Run)
	}
	return record, record.Run, err
}

func (c *Claims) create(ctx context.Context, record Claim) error {
	body, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return c.bucket.PutIfAbsent(ctx, c.names.Claim(record.Run), EncodeRecord(claimKind, recordVersion, body))
}

// Latest gives the newest claim. Held is false where there is none, or a number was set aside for one that has not come.
func (c *Claims) Latest(ctx context.Context) (newest Claim, held bool, err error) {
	_, found, err := c.newest(ctx)
	if err != nil || found == nil {
		return Claim{}, false, c.wrap("find the latest run", err)
	}
	return *found, true, nil
}

// Check looks whether a claim is still the newest, by two calls. It gives a *FencedError where it is not.
func (c *Claims) Check(ctx context.Context, held Claim) error {
	after, err := c.bucket.Exists(ctx, c.names.Claim(held.Run+1))
	if err != nil {
		return c.wrap("check run", err)
	}
	if after {
		newest, found, err := c.Latest(ctx)
		if err != nil || !found {
			newest = Claim{Run: held.Run + 1} // fenced it is, by whomever
		}
		return &FencedError{Job: c.job, Run: held.Run, By: newest.Run, Owner: newest.Owner}
	}
	own, err := c.load(ctx, held.Run)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && own.Token != held.Token:
		return &FencedError{Job: c.job, Run: held.Run}
	}
	return c.wrap("check run", err)
}

// newest finds the last number that cannot be claimed any more, and its claim if a run owns it.
func (c *Claims) newest(ctx context.Context) (last int64, found *Claim, err error) {
	c.mu.Lock()
	last = c.least
	c.mu.Unlock()
	if last == 0 {
		listed, err := c.bucket.List(ctx, c.names.root+"/claim")
		if err != nil {
			return 0, nil, err
		}
		for _, o := range listed {
			if run, ok := c.names.claimRun(o.Name); ok {
				last = max(last, run)
			}
		}
	}
	return c.search(ctx, last)
}

// search goes up from a number that cannot be claimed.
func (c *Claims) search(ctx context.Context, last int64) (int64, *Claim, error) {
	for {
		var err error
		if last, err = c.bucket.End(ctx, last, c.names.Claim); err != nil {
			return 0, nil, err
		}
		if last == 0 {
			return 0, nil, nil
		}
		record, err := c.load(ctx, last)
		switch {
		case errors.Is(err, ErrNotFound): // set aside, or deleted: it is not claimed again
			c.know(last)
			return last, nil, nil
		case err != nil:
			return 0, nil, err
		case record.Next > last:
			last = record.Next - 1
		case record.Next != 0:
			return 0, nil, c.bucket.fail("read", c.names.Claim(last), &DamagedError{fmt.Sprintf("claim %d sends on to %d", last, record.Next)})
		default:
			c.know(last)
			return last, &record, nil
		}
	}
}

func (c *Claims) know(run int64) {
	c.mu.Lock()
	c.least = max(c.least, run)
	c.mu.Unlock()
}

func (c *Claims) load(ctx context.Context, run int64) (record Claim, err error) {
	err = c.read(ctx, c.names.Claim(run), claimKind, &record)
	if err == nil && (record.Job != c.job || record.Run != run) {
		err = c.bucket.fail("read", c.names.Claim(run), &DamagedError{fmt.Sprintf("it is of job %q, run %d", record.Job, record.Run)})
	}
	return record, err
}

func (c *Claims) read(ctx context.Context, name, kind string, record any) error {
	return c.bucket.readRecord(ctx, name, kind, record)
}

// readRecord reads a record whose body is JSON.
func (b *Bucket) readRecord(ctx context.Context, name, kind string, record any) error {
	data, err := b.Read(ctx, name, maxRecordBytes)
	if err != nil {
		return err
	}
	body, err := DecodeRecord(kind, recordVersion, data)
	if err == nil {
		if err2 := json.Unmarshal(body, record); err2 != nil {
			err = &DamagedError{err2.Error()}
		}
	}
	if err != nil {
		return b.fail("read", name, err)
	}
	return nil
}

func (c *Claims) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("job %q: %s: %w", c.job, op, err)
}
