package arkflowtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow"
)

// maxRestores is how many epochs of one run EveryRestore restores from; of more it takes as many, spread evenly.
const maxRestores = 120

// EveryRestore takes an epoch after every row (or, with BarrierEveryBatch, after every batch), then restores the job from each of them and runs
// it to its end. What sinks hold then (what was committed up to the epoch and what the restored job adds) must be what the uninterrupted
// run gave, and every Want must hold. It takes the options of Run.
func EveryRestore(t TB, job *arkflow.Job, opts ...Option) {
	t.Helper()
	if err := everyRestore(t.Context(), job, opts); err != nil {
		t.Fatalf("%v", err)
	}
}

func everyRestore(ctx context.Context, job *arkflow.Job, opts []Option) error {
	if !newConfig(opts).barriers {
		opts = append(slices.Clone(opts), BarrierEveryRow())
	}
	whole, err := Try(ctx, job, opts...)
	if err != nil {
		return fmt.Errorf("uninterrupted run: %w", err)
	}
	snaps := whole.snaps
	if len(snaps) == 0 {
		return errors.New("arkflowtest: the uninterrupted run has no epoch to restore from")
	}
	step := max(1, (len(snaps)+maxRestores-1)/maxRestores)
	if newConfig(opts).sparse {
		step *= 3
	}
	for i := 0; i < len(snaps); i += step {
		if err := restoreFrom(ctx, job, opts, snaps[i], whole); err != nil {
			return fmt.Errorf("restored from epoch %d of %d: %w", snaps[i].Epoch(), len(snaps), err)
		}
	}
	return nil
}

func restoreFrom(ctx context.Context, job *arkflow.Job, opts []Option, s *Snapshot, whole *Result) error {
	again, err := Try(ctx, job, append(slices.Clone(opts), Restore(s), noBarriers)...)
	if err != nil {
		return err
	}
	return again.same(whole)
}

// noBarriers lets a restored job run on without further epochs, in batches of another size.
func noBarriers(c *config) {
	c.barriers = false
	c.batch = max(7, c.batch)
}

// same compares what the sinks of two runs hold.
func (r *Result) same(want *Result) error {
	var errs []error
	for _, id := range want.sinks {
		if r.wanted[id] {
			continue // compared already
		}
		if d := diff(want.lines(id), r.lines(id)); d != "" {
			errs = append(errs, fmt.Errorf("sink %q differs:\n%s", id, d))
		}
	}
	return errors.Join(errs...)
}
