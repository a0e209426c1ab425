package step

import "context"

// Step is a point in time: right before or right after something is done.
type Step struct {
	Where string // what does it: "bucket", or the ID of a sink
	Op    string // what is done, and to which kind of thing: "sync piece"
	After bool   // it has been done, whether well or not
}

// String gives such as "bucket: before sync piece".
func (s Step) String() string {
	if s.After {
		return s.Where + ": after " + s.Op
	}
	return s.Where + ": before " + s.Op
}

// Func is told of each step, by the goroutine that does it. An error before a step is its result in place of doing it; one after it takes the
// place of its result.
type Func func(Step) error

type key struct{}

// With gives a context whose steps f is told of.
func With(ctx context.Context, f Func) context.Context { return context.WithValue(ctx, key{}, f) }

// Do does a step. ctx is asked for a Func and for nothing else.
func Do(ctx context.Context, where, op string, do func() error) error {
	f, _ := ctx.Value(key{}).(Func)
	if f == nil {
		return do()
	}
	if err := f(Step{Where: where, Op: op}); err != nil {
		return err
	}
	err := do()
	if told := f(Step{Where: where, Op: op, After: true}); told != nil {
		return told
	}
	return err
}
