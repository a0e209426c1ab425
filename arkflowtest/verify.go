package arkflowtest

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow"
)

// smallInput is the number of rows up to which Verify takes an epoch after every single one.
const smallInput = 150

// largeInput is the number of rows beyond which small batches are tried by two tasks only.
const largeInput = 2000

// regime is one way to run a job in which its results must be the same.
type regime struct {
	name string
	opts []Option
}

// Verify runs a job in all the ways that must not matter and compares what its sinks hold: scripted batches of 1, 7, 1,000, 8,192 and random
// numbers of rows; 1, 2 and 7 tasks of every operator; splits polled in turn and in random order, by fixed seeds and one fresh one, which is
// printed; links that hold a single batch; rows gathered by key before they change tasks, or not; an epoch after every row (of an input of more than 150 rows: after every batch); a restore from
// every epoch, also from bytes in a bucket. It takes the options of Run: give the expected rows by Want, and by Counts what must add up. Without a Want the first run is
// what the others are compared to. Results of processing time, of windows that evict and of sums of floats that are not exact may differ between
// runs by nature. Under the race detector, where a run takes some ten times as long, it takes one in three of these ways, others each time.
func Verify(t TB, job *arkflow.Job, opts ...Option) {
	t.Helper()
	first, err := Try(t.Context(), job, opts...)
	if err != nil {
		t.Fatalf("plain run: %v", err)
		return
	}
	fresh := new(maphash.Hash).Sum64() // a seed of its own in each process
	for i, g := range regimes(rowsIn(opts), first.plan.MaxParallelism, fresh) {
		if (uint64(i)+fresh)%oneIn != 0 {
			continue
		}
		if err := g.run(t.Context(), job, opts, first); err != nil {
			t.Fatalf("%s (fresh seed %d): %v", g.name, fresh, err)
			return
		}
	}
}

func (g regime) run(ctx context.Context, job *arkflow.Job, opts []Option, first *Result) error {
	all := append(slices.Clone(opts), g.opts...)
	if strings.HasPrefix(g.name, "restore") {
		return everyRestore(ctx, job, all)
	}
	r, err := Try(ctx, job, all...)
	if err != nil {
		return err
	}
	return r.same(first)
}

// rowsIn is the number of scripted rows.
func rowsIn(opts []Option) (n int) {
	for _, splits := range newConfig(opts).sources {
		for _, s := range splits {
			for _, st := range s.steps {
				if st.kind == stepRows {
					n += st.rows.len()
				}
			}
		}
	}
	return n
}

func regimes(rows, maxParallelism int, fresh uint64) (out []regime) {
	add := func(name string, opts ...Option) { out = append(out, regime{name, opts}) }
	gather := func(c *config) { c.gather = true }
	for _, p := range []int{1, 2, 7} {
		if p > maxParallelism {
			continue
		}
		tasks := Parallelism(p)
		for _, n := range []int{1, 7, 1000, 8192} {
			if rows > largeInput && n < 1000 && p != 2 {
				continue
			}
			if rows <= largeInput || n > 7 {
				add(fmt.Sprintf("batches of %d, parallelism %d", n, p), tasks, BatchRows(n))
			}
			add(fmt.Sprintf("batches of %d, parallelism %d, random polling, links of 1", n, p), tasks, BatchRows(n), RandomPolling(uint64(n)), LinkBatches(1), gather)
		}
		for seed := range uint64(2) {
			add(fmt.Sprintf("random batches %d, parallelism %d", seed, p), tasks, RandomCuts(seed), RandomPolling(seed+17), func(c *config) { c.gather = seed == 1 })
		}
		r := rand.New(rand.NewPCG(fresh, uint64(p)))
		add(fmt.Sprintf("fresh random batches, parallelism %d", p), tasks, RandomCuts(r.Uint64()), RandomPolling(r.Uint64()), LinkBatches(1+r.IntN(3)),
			func(c *config) { c.gather = fresh%2 == 0 })
	}
	every, how := BarrierEveryRow(), "row"
	if rows > smallInput {
		every, how = func(c *config) { c.barriers, c.batch, c.cutRandom = true, rows/25, false }, "batch"
	}
	for _, p := range []int{1, 2} {
		if p <= maxParallelism {
			add(fmt.Sprintf("barrier after every %s, parallelism %d", how, p), Parallelism(p), every, RandomPolling(uint64(p)))
			add(fmt.Sprintf("restore after every %s, parallelism %d", how, p), Parallelism(p), every, RandomPolling(uint64(p)+3), gather, func(c *config) { c.sparse, c.stored = p > 1, p > 1 })
		}
	}
	return out
}
