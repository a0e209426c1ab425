package fault

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/go-multierror"
)

// Fault is a mistake in the description of a job.
type Fault struct {
	Operator string // ID of the operator, "" where it is the job's
	Path     string // the option or field, such as "time.timestamp_field"
	At       string // file:line of the call that added the operator, or the position in a document
	Problem  string // what is wrong, values quoted
	Hint     string // what to do about it; may be empty
}

func (f *Fault) Error() string {
	var b strings.Builder
	if f.Operator != "" {
		fmt.Fprintf(&b, "operator %q: ", f.Operator)
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Problem)
	if f.Hint != "" {
		b.WriteString("; " + f.Hint)
	}
	if f.At != "" {
		b.WriteString(" (" + f.At + ")")
	}
	return b.String()
}

// List gathers faults. The zero value is empty.
type List struct{ err *multierror.Error }

// Add adds an error; nil adds nothing, a list adds its members.
func (l *List) Add(err error) {
	if err != nil {
		l.err = multierror.Append(l.err, err)
	}
}

// Len is the number of faults.
func (l *List) Len() int {
	if l.err == nil {
		return 0
	}
	return len(l.err.Errors)
}

// Err gives nothing, or all faults as one error: a single one reads as it would alone.
func (l *List) Err() error {
	if l.err != nil {
		l.err.ErrorFormat = format
	}
	return l.err.ErrorOrNil()
}

func format(faults []error) string {
	if len(faults) == 1 {
		return faults[0].Error()
	}
	return strings.TrimRight(multierror.ListFormatFunc(faults), "\n")
}

// Place fills what an error leaves open: operator and place are set in each fault of err that names none; an error that
// is no fault becomes one.
func Place(err error, operator, at string) error {
	if err == nil {
		return nil
	}
	var many *multierror.Error
	if errors.As(err, &many) {
		var l List
		for _, e := range many.Errors {
			l.Add(Place(e, operator, at))
		}
		return l.Err()
	}
	var f *Fault
	if !errors.As(err, &f) {
		return &Fault{Operator: operator, At: at, Problem: err.Error()}
	}
	c := *f
	if c.Operator == "" {
		c.Operator = operator
	}
	if c.At == "" {
		c.At = at
	}
	return &c
}

// Unknown says that a name is not among the known ones and names the nearest: what is "column", "kind" and the like.
func Unknown(what, name string, known []string) *Fault {
	f := &Fault{Problem: fmt.Sprintf("no %s %q", what, name)}
	near := Nearest(name, known)
	switch {
	case len(known) == 0:
		f.Hint = fmt.Sprintf("there is no %s at all", what)
	case len(near) > 0:
		f.Hint = "did you mean " + quoted(near) + "?"
	default:
		all := append([]string(nil), known...)
		sort.Strings(all)
		more := ""
		if len(all) > 12 {
			more = fmt.Sprintf(" and %d more", len(all)-12)
			all = all[:12]
		}
		f.Hint = "there are " + quoted(all) + more
	}
	return f
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(q, ", ")
}

// Nearest gives up to three known names that are close to name, the closest first.
func Nearest(name string, known []string) []string {
	type scored struct {
		name string
		d    int
	}
	var near []scored
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d <= max(1, len(name)/3) && d < len(name) || len(name) > 2 && strings.Contains(strings.ToLower(k), strings.ToLower(name)) {
			near = append(near, scored{k, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].d < near[j].d })
	var out []string
	for i := 0; i < len(near) && i < 3; i++ {
		out = append(out, near[i].name)
	}
	return out
}

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var prev2 []int
	prev := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur := make([]int, len(y)+1)
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, cur
	}
	return prev[len(y)]
}

// Prefix puts path before the path of each fault of err. What is no fault stays as it is.
func Prefix(path string, err error) error {
	if err == nil {
		return nil
	}
	all := []error{err}
	var many *multierror.Error
	if errors.As(err, &many) {
		all = many.Errors
	}
	var l List
	for _, e := range all {
		var f *Fault
		if errors.As(e, &f) {
			c := *f
			c.Path = path + f.Path
			e = &c
		}
		l.Add(e)
	}
	return l.Err()
}
