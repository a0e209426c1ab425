package checkpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The decisions of the coordinator as a table: see testdata/coordinator.txt.
func TestCoordinatorDecides(t *testing.T) {
	const path = "testdata/coordinator.txt"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		head, want, ok := strings.Cut(block, "\n----\n")
		require.True(t, ok, "no ---- in %q", block)
		lines := strings.Split(head, "\n")
		got := strings.Join(decisions(t, lines[1:]), "\n")
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

func decisions(t *testing.T, commands []string) (out []string) {
	var c *Coordinator
	for _, line := range commands {
		f := strings.Fields(line)
		num := func(i int) int64 {
			v, err := strconv.ParseInt(f[i], 10, 64)
			require.NoError(t, err)
			return v
		}
		var actions []any
		switch f[0] {
		case "tasks":
			var ids []TaskID
			for _, name := range f[1:] {
				ids = append(ids, TaskID{Chain: name})
			}
			c = NewCoordinator("j", ids, 0)
			continue
		case "trigger":
			var w any
			if len(f) > 1 {
				w = f[1]
			}
			actions = c.Step(Trigger{Waiter: w})
		case "answer":
			actions = c.Step(Answer{Task: TaskID{Chain: f[1]}, Epoch: num(2), Snapshot: &TaskSnapshot{}})
		case "sealed":
			actions = c.Step(Sealed{Epoch: num(1)})
		case "failed":
			actions = c.Step(Failed{Epoch: num(1)})
		case "timeout":
			actions = c.Step(Timeout{Epoch: num(1)})
		case "end":
			actions = c.Step(End{})
		case "missing":
			out = append(out, fmt.Sprintf("missing: %v", c.Missing()))
			continue
		default:
			t.Fatalf("unknown command %q", line)
		}
		said := "nothing"
		for i, a := range actions {
			if i == 0 {
				said = ""
			} else {
				said += ", then "
			}
			switch a := a.(type) {
			case Inject:
				said += fmt.Sprintf("inject %d", a.Epoch)
				if a.Ends {
					said += " (last)"
				}
			case Abort:
				said += fmt.Sprintf("abort %d (%s) for %v", a.Epoch, a.Reason, a.Waiters)
			case Seal:
				said += fmt.Sprintf("seal %d for %v", a.Epoch.Number, a.Waiters)
			case CancelSeal:
				said += fmt.Sprintf("cancel the seal of %d", a.Epoch)
			case Reject:
				said += fmt.Sprintf("reject %s of %d (%s)", a.Task, a.Epoch, a.Reason)
			}
		}
		out = append(out, line+": "+said)
	}
	return out
}

// What an epoch holds does not depend on the order of the answers.
func TestB88EpochDoesNotDependOnTheOrderOfAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "tasks")
		ids := make([]TaskID, n)
		for i := range ids {
			ids[i] = TaskID{Chain: "c", Subtask: i}
		}
		seal := func(order []int) *Epoch {
			c := NewCoordinator("j", ids, 7)
			c.Step(Trigger{})
			var last []any
			for _, i := range order {
				last = c.Step(Answer{Task: ids[i], Epoch: 8, Snapshot: &TaskSnapshot{
					Operators: []OperatorSnapshot{{Operator: "op", Subtask: i, State: state.NewSnapshot()}},
					Splits:    []SplitSnapshot{{Source: "src", Split: fmt.Sprint("s", i)}, {Source: "src", Split: fmt.Sprint("t", i)}},
				}})
			}
			return last[0].(Seal).Epoch
		}
		straight := make([]int, n)
		for i := range straight {
			straight[i] = i
		}
		require.Equal(t, seal(straight), seal(rapid.Permutation(straight).Draw(t, "order")))
	})
}

func TestMemoryStoreKeepsTheLastOrAll(t *testing.T) {
	for _, all := range []bool{false, true} {
		s := &MemoryStore{KeepAll: all}
		require.Nil(t, s.Last())
		for i := range 3 {
			require.NoError(t, s.Seal(t.Context(), &Epoch{Number: int64(i)}))
		}
		require.Equal(t, int64(2), s.Last().Number)
		require.Len(t, s.Epochs(), map[bool]int{false: 1, true: 3}[all])
	}
}
