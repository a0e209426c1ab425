package operator

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// SideOutput is a further output of an operator beside its main one, for rows of type T. It is a value that says which output
// is meant, and is given to the operator and to those who emit:
//
//	var refused = operator.Side[Refusal]("refused")
type SideOutput[T any] struct{ tag string }

// Side is the side output of that tag: 1 to 128 of A-Z a-z 0-9 _ -, unique in its operator and not "main".
func Side[T any](tag string) SideOutput[T] { return SideOutput[T]{tag} }

// Tag is the name of the output.
func (s SideOutput[T]) Tag() string { return s.tag }

// Emit gives a row to the output. It inherits the event time of the row that is being processed. An output that the operator was
// not given fails the job.
func (s SideOutput[T]) Emit(to *Sides, row T) {
	for _, p := range to.ports {
		if p.tag != s.tag {
			continue
		}
		if c, ok := p.rows.(*collect[T]); ok {
			c.add(row, to.row)
			return
		}
		to.fail(fmt.Errorf("side output %q takes another type than %s", s.tag, reflect.TypeFor[T]()))
		return
	}
	to.fail(fmt.Errorf("side output %q was not given to the operator", s.tag))
}

// SideTag is a SideOutput of any type.
type SideTag interface {
	Tag() string
	bind() (sideBound, error)
}

// sideBound is a side output whose type was found to be columns.
type sideBound struct {
	tag  string
	out  Stream
	make func(ctx *Context, port int) rowsOut
}

func (s SideOutput[T]) bind() (sideBound, error) {
	w, err := structmap.NewWriter[T]()
	if err != nil {
		return sideBound{}, atPath(err, "side output "+s.tag)
	}
	return sideBound{tag: s.tag, out: Stream{Schema: w.Schema()}, make: func(ctx *Context, port int) rowsOut {
		return newCollect(ctx, port, w)
	}}, nil
}

// bindSides checks side outputs and gives them in order.
func bindSides(sides []SideTag) ([]sideBound, error) {
	var faults fault.List
	var out []sideBound
	tags := []string{mainTag}
	for _, s := range sides {
		if s == nil {
			faults.Add(&Fault{Path: "side output", Problem: "is nil", Hint: "give one by operator.Side"})
			continue
		}
		if f := checkTag(s.Tag(), tags); f != nil {
			faults.Add(f)
		}
		tags = append(tags, s.Tag())
		b, err := s.bind()
		faults.Add(err)
		out = append(out, b)
	}
	return out, faults.Err()
}

const mainTag = "main"

// checkTag says what is wrong with a tag beside those that are taken, or nil.
func checkTag(tag string, taken []string) *Fault {
	switch {
	case slices.Contains(taken, tag):
		return &Fault{Path: "tag", Problem: fmt.Sprintf("two outputs are named %q", tag), Hint: "give each a tag of its own"}
	case !isTag(tag):
		return &Fault{Path: "tag", Problem: fmt.Sprintf("tag %q is not allowed", tag), Hint: "use 1 to 128 of A-Z a-z 0-9 _ -"}
	}
	return nil
}

func isTag(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 128
}

// Sides takes the rows for side outputs while a function runs; see SideOutput.Emit. It belongs to the call it was given to.
type Sides struct {
	ports []sidePort
	row   uint32
	err   error
}

type sidePort struct {
	tag  string
	rows rowsOut
}

func (s *Sides) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// rowsOut is a collect of any type.
type rowsOut interface {
	// check tells the first row since the last keep that its columns cannot hold.
	check() error
	keep()
	undo()
	full() bool
	emit(src *column.Batch, out Output) error
	discard()
}

const collectRows = 8192 // collected rows that are handed on at the latest

// collect gathers the rows of one output port: structs first, then columns.
type collect[T any] struct {
	port   int
	writer *structmap.Writer[T]
	rows   []T // the newest, not yet columns
	final  int // of rows
	cols   *column.Builder
	from   []uint32 // the physical input row of each row in cols, then of each in rows
}

func newCollect[T any](ctx *Context, port int, w *structmap.Writer[T]) *collect[T] {
	return &collect[T]{port: port, writer: w, rows: make([]T, 0, mapChunk), cols: column.NewBuilder(ctx.Pool, w.Schema())}
}

func (c *collect[T]) add(row T, from uint32) {
	c.rows = append(c.rows, row)
	c.from = append(c.from, from)
}

func (c *collect[T]) check() error {
	if c.writer.Total() {
		return nil
	}
	for i := c.final; i < len(c.rows); i++ {
		if err := c.writer.Check(&c.rows[i]); err != nil {
			return fieldError(err)
		}
	}
	return nil
}

// keep makes all rows final.
func (c *collect[T]) keep() {
	if c.final = len(c.rows); c.final >= mapChunk {
		c.toColumns()
	}
}

// undo takes back the rows since the last keep.

func (c *collect[T]) undo() {
	gone := len(c.rows) - c.final
	clear(c.rows[c.final:])
	c.rows, c.from = c.rows[:c.final], c.from[:len(c.from)-gone]
}

// toColumns writes the rows, all of which are final.
func (c *collect[T]) toColumns() {
	c.writer.Append(c.cols, c.rows)
	c.dropRows()
}

func (c *collect[T]) dropRows() {
	clear(c.rows)
	if c.rows, c.final = c.rows[:0], 0; cap(c.rows) > 4*mapChunk {
		c.rows = make([]T, 0, mapChunk)
	}
}

func (c *collect[T]) full() bool {
	return c.cols.Len() >= collectRows || c.cols.Bytes() >= mapOutBytes
}

// emit hands on what is collected, all of it final. Rows inherit the time of their rows of src.
func (c *collect[T]) emit(src *column.Batch, out Output) error {
	c.toColumns()
	if c.cols.Len() == 0 {
		return nil
	}
	if err := c.cols.Err(); err != nil {
		return fmt.Errorf("rows of the function: %w", err)
	}
	made := c.cols.Finish()
	defer made.Release()
	made.TakeTimes(src, c.from)
	c.from = c.from[:0]
	return out.Emit(c.port, made)
}

func (c *collect[T]) discard() {
	c.cols.Discard()
	c.dropRows()
	c.from = c.from[:0]
}
