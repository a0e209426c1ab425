package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lastLine is what the quickstart must say of lines, counted row by row.
func lastLine(t *testing.T, lines []string) string {
	t.Helper()
	type cell struct {
		net string
		end int64
	}
	windows, late, w, some := map[cell]bool{}, 0, int64(0), false
	hour, delay := time.Hour.Milliseconds(), (72 * time.Hour).Milliseconds()
	for _, l := range lines {
		var q Quake
		require.NoError(t, json.Unmarshal([]byte(l), &q))
		if end := q.Time/hour*hour + hour; some && end <= w {
			late++
		} else {
			windows[cell{q.Net, end}] = true
		}
		if !some || q.Time-delay > w {
			w, some = q.Time-delay, true
		}
	}
	return fmt.Sprintf("rows=%d windows=%d late=%d", len(lines), len(windows), late)
}

func TestQuickstartPrintsTheTableOfTheBuiltInData(t *testing.T) {
	var out, progress bytes.Buffer
	require.NoError(t, run(t.Context(), "", &out, &progress))
	printed := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	all := strings.Split(strings.TrimSpace(string(earthquakes)), "\n")
	assert.Equal(t, lastLine(t, all), printed[len(printed)-1])
	assert.Contains(t, printed[0], "greatest")
	width := len(printed[0])
	for _, l := range printed[1 : len(printed)-1] {
		require.Len(t, l, width, "the table is aligned")
	}
	assert.Contains(t, progress.String(), "1707 rows in ")
}

func TestQuickstartReadsAnotherFile(t *testing.T) {
	all := strings.Split(strings.TrimSpace(string(earthquakes)), "\n")
	backwards := make([]string, len(all))
	for i, l := range all {
		backwards[len(all)-1-i] = l
	}
	for name, lines := range map[string][]string{"some": all[:100], "backwards": backwards, "twice": append(all[:len(all):len(all)], all...), "one": all[:1]} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
			var out, progress bytes.Buffer
			require.NoError(t, run(t.Context(), path, &out, &progress))
			assert.True(t, strings.HasSuffix(out.String(), lastLine(t, lines)+"\n"), "got %q", out.String()[max(0, out.Len()-80):])
		})
	}
}

func TestQuickstartTellsWhatIsWrong(t *testing.T) {
	var out, progress bytes.Buffer
	err := run(t.Context(), filepath.Join(t.TempDir(), "none.jsonl"), &out, &progress)
	require.ErrorContains(t, err, "none.jsonl")

	path := filepath.Join(t.TempDir(), "bad.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{\"time\":1,\"net\":\"us\"}\n{\"time\":\"noon\",\"net\":\"us\"}\n"), 0o600))
	err = run(t.Context(), path, &out, &progress)
	require.ErrorContains(t, err, "line 2")
	require.ErrorContains(t, err, "time")
	assert.Empty(t, out.String())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, run(ctx, "", &out, &progress))
}
