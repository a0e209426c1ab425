package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const sealKind = "seal"

// Seal is the record by which a cut through a job became its last one (FORMAT.md). Seals are numbered densely, each number is taken once
// and never changed, so all executions agree on their order: one that has taken a number has kept every older one from it.
type Seal struct {
	Job    string    `json:"job"`
	Number int64     `json:"number"` // > 0
	Run    int64     `json:"run"`    // the execution that took it
	Token  string    `json:"token"`  // of this record alone
	Time   time.Time `json:"time"`   // by the clock of who took it, for people
	// Kept are the manifests that can be restored, newest first. An execution that begins takes a number with those that it found: so
	// what an older one seals afterwards is refused.
	Kept []Kept `json:"kept"`
}

// Kept is a manifest that a Seal keeps.
type Kept struct {
	Epoch int64  `json:"epoch"`
	Run   int64  `json:"run"`
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	SHA   string `json:"sha256"` // hexadecimal
}

// Object is the manifest as what was written.
func (k Kept) Object() (Object, error) {
	o := Object{Name: k.Name, Size: k.Size}
	return o, o.SetSHA(k.SHA)
}

// Seals takes and finds the seals of a job. Safe for concurrent use.
type Seals struct {
	bucket *Bucket
	job    string
	names  Names
}

// NewSeals gives the seals of a job.
func NewSeals(bucket *Bucket, job string) *Seals {
	return &Seals{bucket: bucket, job: job, names: NamesOf(job)}
}

// Take writes the seal of a number, with a token of its own. ErrExists says that another execution has the number.
func (s *Seals) Take(ctx context.Context, seal Seal) error {
	seal.Job, seal.Token, seal.Time = s.job, token(), s.bucket.opts.Clock.Now().UTC()
	body, err := json.Marshal(seal)
	if err == nil {
		err = s.bucket.PutIfAbsent(ctx, s.names.Seal(seal.Number), EncodeRecord(sealKind, recordVersion, body))
	}
	return s.wrap(fmt.Sprintf("take seal %d", seal.Number), err)
}

// Load reads a seal.
func (s *Seals) Load(ctx context.Context, number int64) (seal Seal, err error) {
	name := s.names.Seal(number)
	err = s.bucket.readRecord(ctx, name, sealKind, &seal)
	if err == nil && (seal.Job != s.job || seal.Number != number) {
		err = s.bucket.fail("read", name, &DamagedError{fmt.Sprintf("it is of job %q, number %d", seal.Job, seal.Number)})
	}
	return seal, s.wrap(fmt.Sprintf("read seal %d", number), err)
}

// Latest finds the newest seal; one of number 0 where there is none. The search begins at the greatest number that a listing or the leases of runs
// before the given one tell of, and goes up by look-ups, so it does not depend on a listing.
func (s *Seals) Latest(ctx context.Context, beforeRun int64) (Seal, error) {
	from, err := s.hint(ctx, beforeRun)
	if err == nil {
		from, err = s.bucket.End(ctx, from, s.names.Seal)
	}
	if err != nil {
		return Seal{}, s.wrap("find the latest seal", err)
	}
	if from == 0 {
		return Seal{}, nil
	}
	return s.Load(ctx, from)
}

func (s *Seals) hint(ctx context.Context, beforeRun int64) (from int64, err error) {
	listed, err := s.bucket.List(ctx, s.names.Seals())
	if err != nil {
		return 0, err
	}
	for _, o := range listed {
		if n := s.names.Numbers(o.Name); len(n) == 1 {
			from = max(from, n[0])
		}
	}
	claims := Claims{bucket: s.bucket, job: s.job, names: s.names}
	for run := beforeRun - 1; run > 0; run-- {
		lease, err := claims.Lease(ctx, run)
		if err != nil {
			return 0, err
		}
		if lease.Seals > 0 {
			return max(from, lease.Seals), nil
		}
	}
	return from, nil
}

func (s *Seals) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("job %q: %s: %w", s.job, op, err)
}
