package align

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
		var m *Merge
		for _, c := range commands {
			f := strings.Fields(c)
			switch f[0] {
			case "inputs":
				m = NewMerge(int(number(t, f[1])))
			case "w":
				m.Watermark(int(number(t, f[1])), number(t, f[2]))
			case "idle", "active", "finished":
				m.Status[number(t, f[1])] = map[string]shuffle.Status{"idle": shuffle.Idle, "active": shuffle.Active, "finished": shuffle.Finished}[f[0]]
			}
			w, s := m.Result()
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
		var a *Aligner
		for _, c := range commands {
			f := strings.Fields(c)
			var r Alignment
			switch f[0] {
			case "inputs":
				a = NewAligner(int(number(t, f[1])))
				continue
			case "barrier":
				r = a.Barrier(int(number(t, f[1])), number(t, f[2]))
			case "cancel":
				r = a.Cancel(number(t, f[1]))
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
