package arkflowtest

import (
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/operator"
)

// oneToOne are the kinds of operators that write a row for each row that they do not drop.
var oneToOne = map[string]bool{"filter": true, "select": true, "rename": true, "drop": true, "map": true,
	"split": true, "union": true, "async": true, "with_timestamps": true}

// balance checks that every row is accounted for: what an operator has written is what those behind it have read, and rows in are rows out
// and rows dropped by reason.
func (r *Result) balance() error {
	if r.plan == nil {
		return nil
	}
	var errs []error
	tagged := map[string]bool{} // rows out of these are of all ports together
	for _, e := range r.plan.Edges {
		tagged[e.From] = tagged[e.From] || e.Tag != ""
	}
	for id := range tagged {
		if !tagged[id] {
			delete(tagged, id)
			continue
		}
		errs = append(errs, r.balanceTagged(id))
	}
	for _, e := range r.plan.Edges {
		if tagged[e.From] {
			continue
		}
		from, to := r.status.Operator(e.From), r.status.Operator(e.To)
		sent := from.RowsOut
		if e.Port == operator.Late {
			sent = from.Late
		}
		if e.Port > operator.Late || r.inputs(e.To) > 1 {
			continue
		}
		if sent != to.RowsIn {
			errs = append(errs, fmt.Errorf("rows are not accounted for: %q wrote %d rows to port %d, %q read %d", e.From, sent, e.Port, e.To, to.RowsIn))
		}
	}
	for _, o := range r.plan.Operators {
		s := r.status.Operator(o.ID)
		if o.Role == plan.Transform && !oneToOne[o.Kind] {
			continue
		}
		if dropped := sum(s.Dropped); s.RowsIn != s.RowsOut+dropped {
			errs = append(errs, fmt.Errorf("rows are not accounted for: operator %q read %d, wrote %d and dropped %d (%v)", o.ID, s.RowsIn, s.RowsOut, dropped, s.Dropped))
		}
	}
	return errors.Join(errs...)
}

// balanceTagged checks that the readers of all output ports of an operator have read together what it wrote.
func (r *Result) balanceTagged(id string) error {
	read := map[int]int64{}
	for _, e := range r.plan.Edges {
		if e.From != id {
			continue
		}
		if r.inputs(e.To) > 1 {
			return nil
		}
		read[e.Port] = r.status.Operator(e.To).RowsIn
	}
	var total int64
	for _, n := range read {
		total += n
	}
	if wrote := r.status.Operator(id).RowsOut; wrote != total {
		return fmt.Errorf("rows are not accounted for: %q wrote %d rows to all its ports, %d were read", id, wrote, total)
	}
	return nil
}

func (r *Result) inputs(id string) (n int) {
	for _, e := range r.plan.Edges {
		if e.To == id {
			n++
		}
	}
	return n
}

// counted checks a window: rows in = rows counted + late + dropped by reason.
func (r *Result) counted(c count) error {
	s := r.status.Operator(c.window)
	if s == nil {
		return fmt.Errorf("counts: the job has no operator %q", c.window)
	}
	took, err := r.Took(c.window)
	if err != nil {
		return err
	}
	var total int64
	for _, row := range r.Rows(c.sink) {
		n, ok := row[c.column].(int64)
		if !ok {
			return fmt.Errorf("counts: column %q of sink %q is not an integer: %v", c.column, c.sink, row[c.column])
		}
		total += n
	}
	if total != took {
		return fmt.Errorf("rows are not accounted for: window %q read %d, late %d, dropped %v, but column %q of sink %q counts %d", c.window, s.RowsIn, s.Late, s.Dropped, c.column, c.sink, total)
	}
	return nil
}

// Took is the number of rows that a window has taken: those that it read and that were neither late nor dropped.
func (r *Result) Took(window string) (int64, error) {
	s := r.status.Operator(window)
	if s == nil {
		return 0, fmt.Errorf("the job has no operator %q", window)
	}
	return s.RowsIn - s.Late - sum(s.Dropped) + s.Dropped[operator.DropLate], nil // Late counts those as well
}

func sum(dropped map[string]int64) (n int64) {
	for _, k := range dropped {
		n += k
	}
	return n
}
