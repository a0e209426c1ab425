package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
	"github.com/stretchr/testify/require"
)

// textTable runs a file of cases: each is "name: …", commands one a line, "----", and what the last commands printed. With
// UPDATE_TABLES set the file is rewritten.
func textTable(t *testing.T, path string, run func(commands []string) []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var out strings.Builder
	blocks := strings.Split(strings.TrimSpace(string(raw)), "\n\n")
	for _, block := range blocks {
		head, want, ok := strings.Cut(block, "\n----\n")
		require.True(t, ok, "no ---- in %q", block)
		lines := strings.Split(head, "\n")
		var commands []string
		for _, l := range lines {
			if !strings.HasPrefix(l, "#") {
				commands = append(commands, l)
			}
		}
		got := strings.Join(run(commands), "\n")
		t.Run(strings.TrimLeft(lines[0], "# "), func(t *testing.T) {
			if os.Getenv("UPDATE_TABLES") == "" {
				require.Equal(t, want, got)
			}
		})
		fmt.Fprintf(&out, "%s\n----\n%s\n\n", head, got)
	}
	if os.Getenv("UPDATE_TABLES") != "" {
		require.NoError(t, os.WriteFile(path, []byte(strings.TrimSpace(out.String())+"\n"), 0o644))
	}
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	v, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return v
}

// T5: the watermark of a task from those of its inputs, as a table.
func TestT5WatermarkOfATaskIsTheLeastOfItsActiveInputs(t *testing.T) {
	textTable(t, "testdata/merge.txt", func(commands []string) (out []string) {
		var m *merge
		for _, c := range commands {
			f := strings.Fields(c)
			switch f[0] {
			case "inputs":
				m = newMerge(int(number(t, f[1])))
			case "w":
				m.watermark(int(number(t, f[1])), number(t, f[2]))
			case "idle", "active", "finished":
				m.status[number(t, f[1])] = map[string]shuffle.Status{"idle": shuffle.Idle, "active": shuffle.Active, "finished": shuffle.Finished}[f[0]]
			}
			w, s := m.result()
			text := fmt.Sprint(w)
			switch w {
			case operator.MinWatermark:
				text = "none"
			case operator.MaxWatermark:
				text = "+inf"
			}
			out = append(out, fmt.Sprintf("%s %s", text, s))
		}
		return out
	})
}

// B29 and the alignment rules of C10, as a table: each line is a barrier of an epoch on an input, or a cancel.
func TestB29BarriersOfTwoEpochsInterleave(t *testing.T) {
	textTable(t, "testdata/align.txt", func(commands []string) (out []string) {
		var a *aligner
		for _, c := range commands {
			f := strings.Fields(c)
			var r alignment
			switch f[0] {
			case "inputs":
				a = newAligner(int(number(t, f[1])))
				continue
			case "barrier":
				r = a.barrier(int(number(t, f[1])), number(t, f[2]))
			case "cancel":
				r = a.cancel(number(t, f[1]))
			}
			var said []string
			if r.Aborted != 0 {
				said = append(said, fmt.Sprintf("abort %d", r.Aborted))
			}
			if r.Snapshot != 0 {
				said = append(said, fmt.Sprintf("snapshot %d", r.Snapshot))
			}
			if r.Unblock {
				said = append(said, "unblock all")
			}
			if r.Block {
				said = append(said, "block")
			}
			if len(said) == 0 {
				said = []string{"nothing"}
			}
			out = append(out, c+": "+strings.Join(said, ", "))
		}
		return out
	})
}

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
			require.Equal(t, legal[string(from)+">"+string(to)], mayMove(from, to), "%s to %s", from, to)
			if from.Ended() {
				require.False(t, mayMove(from, to), "a final state is left: %s to %s", from, to)
			}
		}
	}
	require.True(t, mayMove(Starting, Failed))
	require.False(t, mayMove(Created, Running), "nothing runs that was not started")
}
