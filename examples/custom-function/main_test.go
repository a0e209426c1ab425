package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow"
)

func TestHotReadingsAreCountedByMinute(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	readings := []Reading{
		{"attic", start, 95}, {"cellar", start.Add(time.Second), 59}, {"attic", start.Add(2 * time.Second), 104},
		{"attic", start.Add(3 * time.Second), -1000}, {"attic", start.Add(61 * time.Second), 86},
	}
	var out bytes.Buffer
	h, err := arkflow.Runtime{}.Start(t.Context(), job(readings, &out))
	require.NoError(t, err)
	require.NoError(t, h.Wait(t.Context()))
	assert.Equal(t, `{"sensor":"attic","window_start":"2026-01-01T12:00:00Z","window_end":"2026-01-01T12:01:00Z","hot":2,"greatest":40}
{"sensor":"attic","window_start":"2026-01-01T12:01:00Z","window_end":"2026-01-01T12:02:00Z","hot":1,"greatest":30}
`, out.String())
	status := h.Status()
	assert.EqualValues(t, 1, status.Operator("judge").Dropped["error"], "the impossible reading is counted")
}

func TestAFunctionThatDoesNotFitIsAFault(t *testing.T) {
	var out bytes.Buffer
	_, err := job(nil, &out).Compile()
	require.NoError(t, err, "no rows are no fault")
}
