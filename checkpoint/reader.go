package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/segment"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// Progress is how far a restore has come. Safe for concurrent use.
type Progress struct {
	epoch, bytes, ofBytes, entries, ofEntries atomic.Int64
	told                                      atomic.Int64 // when it was logged last, ms since 1970

	seen sync.Map // names of segments that were read: each counts once, however many tasks read it
}

func (p *Progress) read(s SegmentRecord) {
	if _, again := p.seen.LoadOrStore(s.Name, true); !again {
		p.bytes.Add(s.Size)
		p.entries.Add(s.Entries)
	}
}

// tellEvery is how often a restore is logged.
const tellEvery = 10 * time.Second

// Restored is a Progress at one moment.
type Restored struct {
	Epoch              int64 // that is or was restored, 0 for none
	Bytes, OfBytes     int64 // read of the segments; of all of them
	Entries, OfEntries int64 // rows of state, those that later ones replace included
}

// Now gives what has been read.
func (p *Progress) Now() Restored {
	return Restored{p.epoch.Load(), p.bytes.Load(), p.ofBytes.Load(), p.entries.Load(), p.ofEntries.Load()}
}

func (p *Progress) begin(m *Manifest) {
	p.epoch.Store(m.Epoch)
	p.bytes.Store(0)
	p.entries.Store(0)
	p.ofBytes.Store(m.Bytes())
	p.ofEntries.Store(m.Entries())
	p.seen.Clear()
}

// stored is the state of a task in a bucket: a state.Saved. At most two segments of it are in memory at a time.
type stored struct {
	ctx      context.Context
	bucket   *storage.Bucket
	task     *TaskRecord
	progress *Progress

	job   string
	clock operator.Clock
	log   *slog.Logger
}

// tell logs now and then how far the restore has come.
func (s *stored) tell() {
	now := s.clock.Now().UnixMilli()
	last := s.progress.told.Load()
	if now-last < tellEvery.Milliseconds() || !s.progress.told.CompareAndSwap(last, now) || last == 0 {
		return
	}
	p := s.progress.Now()
	s.log.Info("restoring state", "job", s.job, "epoch", p.Epoch, "bytes", p.Bytes, "of_bytes", p.OfBytes, "entries", p.Entries, "of_entries", p.OfEntries)
}

// Find implements state.Saved.
func (s *stored) Find(name string) ([]byte, bool) {
	v, ok := s.task.Values[name]
	return v, ok
}

// Rows implements state.Saved.
func (s *stored) Rows() (n int) {
	for _, seg := range s.task.Segments {
		n += int(seg.Entries)
	}
	return n
}

// fetched is a segment that was read.
type fetched struct {
	data []byte
	err  error
}

// Tables implements state.Saved.
func (s *stored) Tables(name string) iter.Seq2[state.Table, error] {
	from := map[int64]int{}
	for _, p := range s.task.Parts {
		if p.Table == name {
			from[p.Part] = p.From
		}
	}
	var list []int
	for i, seg := range s.task.Segments {
		if slices.Contains(seg.Tables, name) {
			list = append(list, i)
		}
	}
	return func(yield func(state.Table, error) bool) {
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		ahead := s.fetch(ctx, list)
		for _, i := range list {
			got := <-ahead
			if got.err == nil {
				got.err = s.blocks(i, got.data, name, from, yield)
			}
			if errors.Is(got.err, errNoMore) {
				return
			}
			if got.err != nil {
				yield(state.Table{}, got.err)
				return
			}
		}
	}
}

var errNoMore = errors.New("no more tables are wanted")

// fetch reads segments one ahead of who takes them, until ctx ends.
func (s *stored) fetch(ctx context.Context, list []int) <-chan fetched {
	out := make(chan fetched)
	go func() {
		for _, i := range list {
			seg := s.task.Segments[i]
			o := storage.Object{Name: seg.Name, Size: seg.Size}
			err := o.SetSHA(seg.SHA)
			var data []byte
			if err == nil {
				data, err = s.bucket.Get(ctx, o)
			}
			select {
			case out <- fetched{data, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// blocks gives the living blocks of a segment.
func (s *stored) blocks(at int, data []byte, name string, from map[int64]int, yield func(state.Table, error) bool) error {
	damaged := func(err error) error {
		return &storage.DamagedError{Problem: fmt.Sprintf("segment %q: %v", s.task.Segments[at].Name, err)}
	}
	r, err := segment.Open(data)
	if err != nil {
		return damaged(err)
	}
	s.progress.read(s.task.Segments[at])
	s.tell()
	for i, b := range r.Blocks() {
		if f, live := from[b.Part]; !live || b.Table != name || at < f || b.Rows == 0 {
			continue
		}
		t, err := r.Read(i)
		if err != nil {
			return damaged(err)
		}
		if !yield(t, nil) {
			return errNoMore
		}
	}
	return nil
}
