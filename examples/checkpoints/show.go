package main

import (
	"context"
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
)

// list prints a line for each job, with its last epoch.
func (e env) list(inv *checkpoint.Inventory, jobs []checkpoint.JobInventory) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "JOB\tRUN\tHOLDER\tEPOCHS\tLAST\tTIME\tENTRIES\tBYTES\tSTORED")
	for i := range jobs {
		j := &jobs[i]
		last, at, entries, bytes := "-", "-", "-", "-"
		if e := j.Epoch(0); e != nil {
			last = fmt.Sprint(e.Kept.Epoch)
			if m := e.Manifest; m != nil {
				at, entries, bytes = stamp(m.Time), fmt.Sprint(m.Entries()), fmt.Sprint(m.Bytes())
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\t%s\t%s\t%d\n", title(j), j.Newest.Run, holder(j), len(j.Epochs), last, at, entries, bytes, j.Stored.Bytes)
	}
	_ = w.Flush() // an error of stdout is met by whoever reads it
	if inv.Others.Objects > 0 {
		fmt.Fprintf(e.stdout, "%d other objects, %d bytes\n", inv.Others.Objects, inv.Others.Bytes)
	}
	return e.damaged(jobs)
}

// damaged tells of records and manifests that could not be read.
func (e env) damaged(jobs []checkpoint.JobInventory) (err error) {
	for i := range jobs {
		for _, p := range jobs[i].Problems {
			fmt.Fprintf(e.stderr, "job %s: %s\n", title(&jobs[i]), p)
			err = errDamaged
		}
		for _, s := range jobs[i].Epochs {
			if s.Err != nil {
				fmt.Fprintf(e.stderr, "job %s: epoch %d: %v\n", title(&jobs[i]), s.Kept.Epoch, s.Err)
				err = errDamaged
			}
		}
	}
	return err
}

func title(j *checkpoint.JobInventory) string {
	if j.Job == "" {
		return "(folder " + j.Folder + ")"
	}
	return j.Job
}

// holder says who holds the newest claim. Whether it is alive only time tells: a living one renews its lease every 3 s.
func holder(j *checkpoint.JobInventory) string {
	switch {
	case j.Newest.Run == 0:
		return "none"
	case j.Lease.Released:
		return "released"
	case j.Newest.Owner != "":
		return j.Newest.Owner
	}
	return "unnamed"
}

// show prints what there is of each job.
func (e env) show(o options, jobs []checkpoint.JobInventory) error {
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(e.stdout, "job %s, folder %s: %d objects, %d bytes\n", title(j), j.Folder, j.Stored.Objects, j.Stored.Bytes)
		for _, c := range j.Claims {
			fmt.Fprintf(e.stdout, "  run %d: claimed %s by %q\n", c.Run, stamp(c.Time), c.Owner)
		}
		if j.Newest.Run > 0 {
			fmt.Fprintf(e.stdout, "  lease of run %d: %s, written %s\n", j.Newest.Run, holder(j), stamp(j.Renewed))
		}
		if j.Seal.Number > 0 {
			fmt.Fprintf(e.stdout, "  seal %d of run %d, %s\n", j.Seal.Number, j.Seal.Run, stamp(j.Seal.Time))
		}
		for _, p := range j.Unreferenced {
			fmt.Fprintf(e.stdout, "  not needed by a kept epoch: %d objects, %d bytes of run %d, written until %s\n", p.Objects, p.Bytes, p.Run, stamp(p.Newest))
		}
		if p := j.Temporary; p.Objects > 0 {
			fmt.Fprintf(e.stdout, "  temporary files: %d, %d bytes, written until %s\n", p.Objects, p.Bytes, stamp(p.Newest))
		}
		for k := range j.Epochs {
			if o.epoch == 0 || j.Epochs[k].Kept.Epoch == o.epoch {
				e.showEpoch(&j.Epochs[k])
			}
		}
		if _, err := epochOf(j, o.epoch); err != nil && o.epoch != 0 {
			return err
		}
	}
	return e.damaged(jobs)
}

func (e env) showEpoch(s *checkpoint.SavedEpoch) {
	m := s.Manifest
	if m == nil {
		fmt.Fprintf(e.stdout, "  epoch %d of run %d: damaged: %v\n", s.Kept.Epoch, s.Kept.Run, s.Err)
		return
	}
	end := ""
	switch {
	case m.Finished:
		end = ", all input had ended"
	case m.Ends:
		end = ", the job was stopped with it"
	}
	fmt.Fprintf(e.stdout, "  epoch %d of run %d, %s: %d entries, %d bytes, %d key groups, %d tasks%s\n", m.Epoch, m.Run, stamp(m.Time), m.Entries(), m.Bytes(), m.MaxParallelism, len(m.Tasks), end)
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for i := range m.Operators {
		o := &m.Operators[i]
		mark := int64(math.MaxInt64)
		for _, t := range o.Tasks {
			mark = min(mark, t.Watermark)
		}
		fmt.Fprintf(w, "    operator %s\t%s\t%d tasks\t%d entries\t%d bytes in %d segments\twatermark %s\t%s\n", o.ID, o.Kind, len(o.Tasks), o.Entries(), o.Bytes(), o.Segments(), instant(mark), o.State)
	}
	for _, r := range m.Sources {
		for _, p := range r.Splits {
			position := fmt.Sprintf("position %q", p.Position)
			if p.Done {
				position = "ended"
			}
			fmt.Fprintf(w, "    split %s of %s\t%s\n", p.Split, r.ID, position)
		}
	}
	_ = w.Flush()
}

// instant is a watermark for people.
func instant(ms int64) string {
	switch ms {
	case math.MinInt64:
		return "none"
	case math.MaxInt64:
		return "end of time"
	}
	return stamp(time.UnixMilli(ms))
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// verify reads everything that kept epochs need.
func (e env) verify(ctx context.Context, o options, jobs []checkpoint.JobInventory) error {
	var bad error
	for i := range jobs {
		j := &jobs[i]
		var v checkpoint.Verification
		var err error
		if o.epoch == 0 {
			v, err = j.Verify(ctx)
		} else {
			var s *checkpoint.SavedEpoch
			if s, err = epochOf(j, o.epoch); err == nil {
				v, err = s.Verify(ctx)
			}
		}
		if err != nil {
			return err
		}
		if err := e.verified("job "+title(j), v); err != nil {
			bad = err
		}
		for _, p := range j.Unreferenced {
			fmt.Fprintf(e.stdout, "  not needed by a kept epoch: %d objects, %d bytes of run %d\n", p.Objects, p.Bytes, p.Run)
		}
	}
	return bad
}

func (e env) verified(what string, v checkpoint.Verification) error {
	fmt.Fprintf(e.stdout, "%s: %d epochs, %d objects of %d bytes, %d entries: ", what, v.Epochs, v.Objects, v.Bytes, v.Entries)
	if len(v.Problems) == 0 {
		fmt.Fprintln(e.stdout, "ok")
		return nil
	}
	fmt.Fprintf(e.stdout, "%d problems\n", len(v.Problems))
	for _, p := range v.Problems {
		word := "damaged"
		if p.Missing {
			word = "missing"
		}
		fmt.Fprintf(e.stdout, "  %s: %s\n", word, p)
	}
	return errDamaged
}

func (e env) swept(o options, s checkpoint.Swept) {
	verb := "deleted"
	if o.dryRun {
		verb = "would delete"
	}
	for _, d := range s.Deleted {
		fmt.Fprintf(e.stdout, "%s %s, %d bytes of %s\n", verb, d.Name, d.Size, stamp(d.ModTime))
	}
	fmt.Fprintf(e.stdout, "%s %d objects, %d bytes; %d more are not needed and younger than %s\n", verb, len(s.Deleted), s.Bytes, s.Young.Objects, o.grace)
}
