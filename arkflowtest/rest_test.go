package arkflowtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A task that rouses itself (a split that has more, a timer that is due at once) is seen at rest only when it is done, whichever of its steps
// fall between two looks.
func TestASplitThatRousesItselfIsNotTakenForAtRest(t *testing.T) {
	type state struct {
		stirs        int64
		moves, idle  bool
		signal, done bool
	}
	poll := func(more bool) func(*state) {
		return func(s *state) { s.stirs++; s.signal = more }
	}
	rest := []func(*state){func(s *state) { s.idle = true }, func(s *state) { s.moves = false }}
	rise := func(s *state) { s.idle, s.moves = false, true }
	var steps []func(*state)
	for range 3 {
		steps = append(append(append(steps, poll(true)), rest...), rise)
	}
	steps = append(append(append(steps, poll(false)), func(s *state) { s.done = true }), rest...)
	const looks = 5
	seen := 0
	var try func(at [looks]int, look, from int)
	try = func(at [looks]int, look, from int) {
		if look < looks { // the step before which each look happens
			for i := from; i <= len(steps); i++ {
				at[look] = i
				try(at, look+1, i)
			}
			return
		}
		s, next, n := state{moves: true}, 0, 0
		turn := func() {
			for ; next < at[n]; next++ {
				steps[next](&s)
			}
			n++
		}
		if atRest(func() int64 { turn(); return s.stirs },
			func() bool { turn(); return s.moves },
			func() bool { turn(); return s.signal && s.idle }) {
			seen++
			require.True(t, s.done && !s.moves, "looks before steps %v of %d", at, len(steps))
		}
	}
	try([looks]int{}, 0, 0)
	require.NotZero(t, seen)
}
