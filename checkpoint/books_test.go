package checkpoint

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
)

// The job "books" adds up the numbers 0, 1, 2 … by their remainder mod 7 in two tasks, by the rest mod 2 of that, and hands each number to a
// sink that commits in two phases. Its state are the sums, as a part that lives for ever, and the numbers of the current ten, as parts that come
// and go.

const (
	booksJob = "books"
	bookKeys = 7
	groups   = 16
)

var bookSchema = arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int64}, {Name: "value", Type: arrow.PrimitiveTypes.Int64}}, nil)

// booksShape is the shape of its plan.
func booksShape() Shape {
	return Shape{Job: booksJob, MaxParallelism: groups, Content: "c0ffee", Tasks: []string{"in/0", "sum/0", "sum/1"},
		Operators: []OperatorShape{{ID: "in", Kind: "numbers", Parallelism: 1}, {ID: "sum", Kind: "sum", Parallelism: 2, State: "sums of int64"}, {ID: "out", Kind: "sink", Parallelism: 1}}}
}

// pages is a state.View of a map.
type pages struct {
	rows   map[int64]int64
	closed *int
}

func (p pages) Rows() int { return len(p.rows) }

func (p pages) Each(since state.View, emit func(state.Table) error) error {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(p.rows)), func(k int64) bool {
		then, ok := since.(pages)
		v, had := then.rows[k]
		return ok && had && v == p.rows[k]
	})
	if len(keys) == 0 {
		return nil
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, bookSchema)
	t := state.Table{Schema: bookSchema, Rows: len(keys)}
	for _, k := range keys {
		b.Field(0).(*array.Int64Builder).Append(k)
		b.Field(1).(*array.Int64Builder).Append(p.rows[k])
		t.Groups = append(t.Groups, uint16(k%groups))
	}
	batch, err := column.FromRecord(nil, b.NewRecordBatch())
	if err != nil {
		return err
	}
	t.Cols = batch.Cols
	return emit(t)
}

func (p pages) Settle() error { return nil }
func (p pages) Close()        { *p.closed++ }

// books is the state of the job.
type books struct {
	at   int64 // next number
	sums map[int64]int64
	tens map[int64]int64 // the numbers of the current ten
}

func newBooks(at int64) *books {
	b := &books{sums: map[int64]int64{}, tens: map[int64]int64{}}
	b.add(at)
	return b
}

// add takes the next n numbers.
func (b *books) add(n int64) {
	for range n {
		if b.at%10 == 0 {
			clear(b.tens)
		}
		b.sums[b.at%bookKeys] += b.at
		b.tens[b.at] = b.at
		b.at++
	}
}

// promise is what the sink has prepared.
type promise struct {
	Token    string
	From, To int64
}

// epoch makes a cut. closed counts the views that are closed.
func (b *books) epoch(number int64, prepared []Prepared, closed *int) *Epoch {
	e := &Epoch{Job: booksJob, Number: number, Splits: map[string][]SplitSnapshot{"in": {{Source: "in", Split: "numbers", Position: binary.AppendVarint(nil, b.at), MaxTime: b.at, HasTime: true}}},
		Operators: map[string][]OperatorSnapshot{
			"in":  {{Operator: "in", Watermark: b.at}},
			"out": {{Operator: "out", Watermark: b.at, Prepared: slices.Clone(prepared)}},
		}, Schemas: map[string]*arrow.Schema{"in": bookSchema}}
	for task := range int64(2) {
		mine := func(rows map[int64]int64) map[int64]int64 {
			rows = maps.Clone(rows)
			maps.DeleteFunc(rows, func(k, _ int64) bool { return k%bookKeys%2 != task })
			return rows
		}
		s := state.NewSnapshot()
		s.Value("at", binary.AppendVarint(nil, b.at))
		s.Part("sums", 1, pages{mine(b.sums), closed})
		s.Part("tens", 1+(b.at-1)/10, pages{mine(b.tens), closed})
		e.Operators["sum"] = append(e.Operators["sum"], OperatorSnapshot{Operator: "sum", Subtask: int(task), Watermark: b.at, State: s})
	}
	return e
}

// readBooks gives the state of an epoch, which must be right for its position.
func readBooks(e *Epoch) (*books, error) {
	if e == nil {
		return newBooks(0), nil
	}
	at, _ := binary.Varint(e.Splits["in"][0].Position)
	got := &books{at: at, sums: map[int64]int64{}, tens: map[int64]int64{}}
	if len(e.Operators["sum"]) != 2 || e.Schemas["in"] == nil || !e.Schemas["in"].Equal(bookSchema) {
		return nil, fmt.Errorf("%d tasks, schema %v", len(e.Operators["sum"]), e.Schemas["in"])
	}
	for _, o := range e.Operators["sum"] {
		if v, ok := o.State.Find("at"); !ok || string(v) != string(e.Splits["in"][0].Position) || o.Watermark != at {
			return nil, fmt.Errorf("task %d is of another cut: %v, watermark %d, not %d", o.Subtask, v, o.Watermark, at)
		}
		for name, into := range map[string]map[int64]int64{"sums": got.sums, "tens": got.tens} {
			for t, err := range o.State.Tables(name) {
				if err != nil {
					return nil, err
				}
				keys, values := column.Values[int64](&t.Cols[0]), column.Values[int64](&t.Cols[1])
				for i := range t.Rows {
					into[keys[i]] = values[i]
				}
			}
		}
	}
	if want := newBooks(at); !maps.Equal(want.sums, got.sums) || !maps.Equal(want.tens, got.tens) {
		return nil, fmt.Errorf("state at %d: %v and %v, want %v and %v", at, got.sums, got.tens, want.sums, want.tens)
	}
	return got, nil
}

// world is what is outside of all executions.
type world struct {
	mu     sync.Mutex
	tokens map[string]bool
	seen   map[int64]int // how often each number was committed
	begun  int64         // the greatest run that has begun
	sealed int64         // the greatest position of an epoch that was reported sealed
	faults []error
}

func newWorld() *world { return &world{tokens: map[string]bool{}, seen: map[int64]int{}} }

// commit does what was promised, once.
func (w *world) commit(p Prepared) error {
	var what promise
	if err := json.Unmarshal(p.Data, &what); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[what.Token] {
		return nil
	}
	w.tokens[what.Token] = true
	for n := what.From; n < what.To; n++ {
		w.seen[n]++
		if w.seen[n] > 1 {
			w.faults = append(w.faults, fmt.Errorf("%d was committed %d times", n, w.seen[n]))
		}
	}
	return nil
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Errorf(format, args...))
}

// execution is one of the job.
type execution struct {
	who    string
	world  *world
	bucket *blob.Bucket
	opts   Options
	epochs int         // to seal, then it ends
	dead   func() bool // it does nothing any more

	session *Session
	sealed  []int64 // epochs that were
	err     error   // why it ended early
	done    bool
}

func (x *execution) run(ctx context.Context) {
	x.err = x.live(ctx)
	x.done = true
}

func (x *execution) live(ctx context.Context) error {
	s, err := Open(ctx, x.bucket, booksJob, x.opts)
	if err != nil {
		return err
	}
	x.session = s
	defer func() { _ = s.Close(ctx) }()
	e, err := s.Epoch(ctx)
	if err == nil {
		err = s.Fit(booksShape())
	}
	if err != nil {
		return err
	}
	b, err := readBooks(e)
	if err != nil {
		if !x.dead() && !errors.Is(err, errDead) {
			x.world.fault("%s restores: %w", x.who, err)
		}
		return err
	}
	if e != nil {
		for _, p := range e.Operators["out"][0].Prepared {
			if err := x.commit(p); err != nil {
				return err
			}
		}
	}
	x.world.mu.Lock()
	if b.at < x.world.sealed && s.Run() > x.world.begun { // one that was fenced meanwhile may be behind
		x.world.faults = append(x.world.faults, fmt.Errorf("%s begins at %d, %d were sealed", x.who, b.at, x.world.sealed))
	}
	x.world.begun = max(x.world.begun, s.Run())
	x.world.mu.Unlock()
	var unsealed []Prepared
	closed := 0
	for number := s.LastEpoch() + 1; x.epochs > 0; number++ {
		x.epochs--
		from := b.at
		b.add(4)
		p, err := json.Marshal(promise{storage.Token(), from, b.at})
		if err != nil {
			return err
		}
		unsealed = append(unsealed, Prepared{number, p})
		x.world.mu.Lock()
		late := x.world.begun > s.Run() // a newer one has begun
		x.world.mu.Unlock()
		cut := b.epoch(number, unsealed, &closed)
		err = s.Seal(ctx, cut)
		s.Release(ctx, cut)
		if errors.Is(err, storage.ErrFenced) || x.dead() {
			return err
		}
		if err != nil {
			continue // what was prepared goes with the next
		}
		if late {
			x.world.fault("%s sealed epoch %d after run %d had begun", x.who, number, x.world.begun)
		}
		x.sealed = append(x.sealed, number)
		x.world.mu.Lock()
		x.world.sealed = max(x.world.sealed, b.at)
		x.world.mu.Unlock()
		for _, p := range unsealed {
			if err := x.commit(p); err != nil {
				return err
			}
		}
		unsealed = nil
	}
	return nil
}

func (x *execution) commit(p Prepared) error {
	if x.dead() {
		return errDead
	}
	return x.world.commit(p)
}

// settle runs one more execution to its end and looks at the whole.
func (w *world) settle(t testing.TB, bucket *blob.Bucket) *execution {
	x := &execution{who: "last", world: w, bucket: bucket, epochs: 1, dead: func() bool { return false }}
	x.run(t.Context())
	require.NoError(t, x.err)
	require.Len(t, x.sealed, 1)
	require.NoError(t, errors.Join(w.faults...))
	require.EqualValues(t, w.sealed, len(w.seen))
	for n := range w.sealed {
		require.Equal(t, 1, w.seen[n], "number %d", n)
	}
	return x
}
