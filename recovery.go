package arkflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/planner"
	"gocloud.dev/blob/memblob"
)

// ErrFenced is the result of a job that another execution of it has taken over: it must not be started again at once, or the two will
// take the job from each other for ever.
var ErrFenced = storage.ErrFenced

// ErrSavepointExists is the answer to a savepoint at a URL that holds one.
var ErrSavepointExists = storage.ErrExists

// IncompatibleError says why a job cannot go on from a checkpoint: of which Job and Epoch, and all the Problems, each with what to do.
type IncompatibleError = checkpoint.IncompatibleError

// Restored is how far a restore has come, or what it took: the Epoch (0: none), Bytes of OfBytes read, Entries of OfEntries.
type Restored = checkpoint.Restored

// OnClaimed says what a job does that is started while another execution of it runs.
type OnClaimed = checkpoint.OnClaimed

// TakeOver makes the older execution end with ErrFenced. Standby waits until it has ended or has given no sign of life for 10 s; Start
// waits with it, and so does a restart (see Restart), which takes nothing over in either case.
const (
	TakeOver = checkpoint.TakeOver
	Standby  = checkpoint.Standby
)

// Checkpoints tunes what a Runtime with a Bucket does. The zero value works.
type Checkpoints struct {
	// Keep is how many sealed epochs are kept, 1 to 100. Defaults to 3.
	Keep int
	// Grace is how long an object stays in the bucket that no kept epoch needs any more. Defaults to 15 minutes.
	Grace time.Duration
	// Failures is how many epochs in a row may fail, by time-out or because the bucket refuses them, before the job does. Defaults to 5.
	Failures int
	// Timeout is how long an epoch may take, from its barriers until it is sealed. Defaults to 10 minutes.
	Timeout time.Duration
	// OnClaimed says what a start, or a restart, does while another execution of the job runs. Defaults to TakeOver; Standby needs a bucket.
	OnClaimed OnClaimed
	// Owner names this process in the claims of jobs, for people. Defaults to "".
	Owner string
	// BucketName stands for the bucket in errors. Defaults to its directory, or "bucket".
	BucketName string
}

func (c Checkpoints) options() checkpoint.Options {
	return checkpoint.Options{Keep: c.Keep, Grace: c.Grace, OnClaimed: c.OnClaimed, Owner: c.Owner, Storage: storage.Options{Name: c.BucketName}}
}

func (c Checkpoints) validate(faults *faultList, bucket bool) {
	if c.OnClaimed == Standby && !bucket {
		faults.Add(&Fault{Path: "Runtime.Checkpoints.OnClaimed", Problem: "Standby without a bucket: no other execution is known to wait for", Hint: "give Runtime.Bucket, or leave it at TakeOver"})
	}
	if err := c.options().Validate(); err != nil {
		faults.Add(&Fault{Path: "Runtime.Checkpoints", Problem: err.Error()})
	}
	if c.Failures < 0 {
		faults.Add(&Fault{Path: "Runtime.Checkpoints.Failures", Problem: fmt.Sprintf("%d is negative", c.Failures), Hint: "give 0 for the default of 5, or a number > 0"})
	}
	if c.Timeout < 0 {
		faults.Add(&Fault{Path: "Runtime.Checkpoints.Timeout", Problem: fmt.Sprintf("%s is negative", c.Timeout), Hint: "give 0 for the default of 10m, or a time > 0"})
	}
}

// Rescale lets the job go on from a checkpoint that was taken with another number of tasks: each entry of state goes to the task that
// owns its key group now. By default such a start is refused. Sources and stateless operators change their number of tasks freely. It needs a bucket or
// a savepoint, and does not go with StartFresh.
func Rescale() StartOption {
	return func(c *startConfig) { c.recover.Allow.Rescale = true }
}

// FallBack lets the job begin with an earlier epoch where the last one is damaged. What sinks have written since then is written
// again: by default such a start is refused. It needs a bucket, and goes neither with StartFresh nor with FromSavepoint.
func FallBack() StartOption {
	return func(c *startConfig) { c.recover.FallBack = true }
}

// StartFresh begins without state although the bucket holds some; by default a job goes on from its last epoch. What was sealed before stays until it is older than what is kept. It
// needs a bucket (without one a job begins without state anyway), and does not go with options that say how to go on.
func StartFresh() StartOption {
	return func(c *startConfig) { c.recover.Recovery = checkpoint.Fresh }
}

// AllowDropped lets the job go on from a checkpoint without the state of operators that it does not have any more; it names one at least. By default such a
// start is refused. It needs a bucket or a savepoint, and does not go with StartFresh.
func AllowDropped(operators ...string) StartOption {
	return func(c *startConfig) {
		if len(operators) == 0 || slices.Contains(operators, "") {
			c.faults.Add(&Fault{Path: "start", Problem: fmt.Sprintf("AllowDropped(%s) names no operator", quoted(operators)), Hint: "give the IDs of those whose state may be left behind"})
		}
		c.recover.Allow.Dropped = append(c.recover.Allow.Dropped, operators...)
	}
}

// SavepointOption is an option of FromSavepoint.
type SavepointOption func(*startConfig)

// AllowJob takes a savepoint of a job of another name: the beginning of a new lineage. By default such a savepoint is refused.
func AllowJob(name string) SavepointOption {
	return func(c *startConfig) {
		switch {
		case name == "":
			c.faults.Add(&Fault{Path: "savepoint", Problem: `AllowJob("") names no job`, Hint: "give the name of the job that the savepoint was taken of"})
		case c.recover.Allow.Job != "" && c.recover.Allow.Job != name:
			c.faults.Add(&Fault{Path: "savepoint", Problem: fmt.Sprintf("AllowJob(%q) and AllowJob(%q): a savepoint is of one job", c.recover.Allow.Job, name), Hint: "give one of them"})
		}
		c.recover.Allow.Job = name
	}
}

// FromSavepoint begins with a savepoint in place of the last epoch in the bucket, which is the default, at this start: give it once, not whenever the process
// starts. The job needs no bucket of its own for it. It goes neither with StartFresh nor with FallBack.
func FromSavepoint(url string, opts ...SavepointOption) StartOption {
	return func(c *startConfig) {
		switch {
		case url == "":
			c.faults.Add(&Fault{Path: "savepoint", Problem: "the URL is empty", Hint: "give the one that Handle.Savepoint wrote to"})
		case c.saved:
			c.faults.Add(&Fault{Path: "start", Problem: "FromSavepoint() is given twice, and a job begins with one savepoint", Hint: "give it once"})
		}
		c.recover.Savepoint, c.saved = url, true
		for _, o := range opts {
			if o != nil {
				o(c)
			}
		}
	}
}

// checkRecovery refuses options of which one would do nothing: who gave it counts on it.
func (c *startConfig) checkRecovery(bucket bool) {
	fresh := c.recover.Recovery == checkpoint.Fresh
	refuse := func(problem, hint string) { c.faults.Add(&Fault{Path: "start", Problem: problem, Hint: hint}) }
	if c.saved && fresh {
		refuse("StartFresh() begins without state, and FromSavepoint() with that of a savepoint", "give one of them")
	}
	for _, o := range []struct {
		name      string
		given     bool
		savepoint bool // it speaks of savepoints too
	}{
		{"Rescale()", c.recover.Allow.Rescale, true},
		{"AllowDropped()", len(c.recover.Allow.Dropped) > 0, true},
		{"FallBack()", c.recover.FallBack, false},
		{"StartFresh()", fresh && !c.saved, false},
	} {
		switch {
		case !o.given:
		case c.saved && !o.savepoint:
			refuse(o.name+" speaks of the epochs in the bucket, and FromSavepoint() begins with none of them", "leave "+o.name+" out")
		case c.saved:
		case !bucket && o.savepoint:
			refuse(o.name+" is given, and the job has neither a bucket nor a savepoint to go on from", "give Runtime.Bucket or FromSavepoint(url), or leave "+o.name+" out")
		case !bucket:
			refuse(o.name+" is given, and the job has no bucket: nothing is kept that it could speak of", "give Runtime.Bucket, or leave "+o.name+" out")
		case fresh && o.name != "StartFresh()":
			refuse(o.name+" says how to go on, and StartFresh() begins without state", "give one of them")
		}
	}
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, ", ")
}

// hold gives the execution its hold on the bucket.
func (rt Runtime) hold(j *Job, c *planner.Compiled, sc *startConfig, cfg *engine.Config) {
	ck := rt.Checkpoints
	cfg.Failures, cfg.CheckpointTimeout = ck.Failures, ck.Timeout
	cfg.Content = j.content()
	o := ck.options()
	o.Allow, o.FallBack, o.Recovery, o.Savepoint = sc.recover.Allow, sc.recover.FallBack, sc.recover.Recovery, sc.recover.Savepoint
	o.Clock, o.Logger = rt.Clock, rt.Logger
	if j.spec != nil {
		o.Allow.Rescale = o.Allow.Rescale || j.spec.Rescale
		if j.spec.Recovery == "none" {
			o.Recovery = checkpoint.Fresh
		}
		if j.spec.Recovery == "latest_checkpoint" && rt.Bucket == nil {
			rt.Logger.Warn("recovery latest_checkpoint without a bucket: the job starts fresh", "job", j.name)
		}
	}
	bucket := rt.Bucket
	if bucket == nil && o.Savepoint == "" {
		return
	}
	if bucket == nil { // a restart goes on from what the execution before it kept here
		bucket = memblob.OpenBucket(nil)
		sc.atEnd = func() { _ = bucket.Close() }
	}
	o.Start = new(checkpoint.Start) // a restart goes on from what this start has sealed, and only if the job is still its own
	cfg.Hold = func(ctx context.Context, known *checkpoint.Shape) (*checkpoint.Session, error) {
		o := o
		o.Known = known
		return checkpoint.Open(ctx, bucket, c.Plan.Job, o)
	}
}

// content is the fingerprint of the job's specification, empty where it has functions without a name.
func (j *Job) content() string {
	spec, err := j.Spec()
	if err != nil {
		return ""
	}
	raw, err := json.Marshal(spec) // fields in a fixed order, maps sorted: canonical
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Savepoint takes an epoch now and writes it whole to a URL as well: a copy of its own, which nothing deletes and from which the job, or
// another one, can be started (FromSavepoint). It gives the number of the epoch once both are done. file:// and mem:// work in every
// program; for s3://, gs:// and azblob:// it imports the driver of gocloud.dev. ErrSavepointExists says that the URL holds one.
func (h *Handle) Savepoint(ctx context.Context, url string) (epoch int64, err error) {
	if url == "" {
		return 0, &Fault{Path: "savepoint", Problem: "the URL is empty", Hint: "give one such as file:///var/lib/savepoints/orders-1"}
	}
	return h.x.Savepoint(ctx, url)
}
