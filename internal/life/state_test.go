package life

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestE7MovesBetweenStatesOfLife(t *testing.T) {
	legal := map[string]bool{}
	for from, tos := range legalMoves {
		for _, to := range tos {
			legal[string(from)+">"+string(to)] = true
		}
	}
	all := []State{Created, Starting, Running, Draining, Suspended, Finished, Failed}
	for _, from := range all {
		for _, to := range all {
			require.Equal(t, legal[string(from)+">"+string(to)], MayMove(from, to), "%s to %s", from, to)
			if from.Ended() {
				require.False(t, MayMove(from, to), "a final state is left: %s to %s", from, to)
			}
		}
	}
	require.True(t, MayMove(Starting, Failed))
	require.False(t, MayMove(Created, Running), "nothing runs that was not started")
}
