package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/stdout"
)

func TestTheServicePrintsTotalsAndLosesNoOrderAtItsEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	late := filepath.Join(t.TempDir(), "late.jsonl")
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, &out, late, slog.New(slog.DiscardHandler)) }()

	post := func(body string) int {
		r, err := http.Post(url+"/orders", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		return r.StatusCode
	}
	for _, order := range []string{
		`{"customer":"ada","status":"paid","amount":2.5,"at":"2026-01-01T12:00:05Z"}`,
		`{"customer":"ada","status":"open","amount":9,"at":"2026-01-01T12:00:06Z"}`,
		`{"customer":"bob","status":"paid","amount":1,"at":"2026-01-01T12:01:10Z"}`,
		`{"customer":"ada","status":"paid","amount":4,"at":"2026-01-01T12:00:07Z"}`,
	} {
		assert.Equal(t, http.StatusAccepted, post(order))
	}
	assert.Equal(t, http.StatusBadRequest, post(`{"customer":7}`))
	r, err := http.Get(url + "/status")
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	assert.Equal(t, http.StatusOK, r.StatusCode)
	http.DefaultClient.CloseIdleConnections()

	cancel() // as a signal does
	require.NoError(t, <-ended)
	assert.Equal(t, `{"customer":"ada","window_start":"2026-01-01T12:00:00Z","window_end":"2026-01-01T12:01:00Z","orders":1,"amount":2.5}
{"customer":"bob","window_start":"2026-01-01T12:01:00Z","window_end":"2026-01-01T12:02:00Z","orders":1,"amount":1}
`, out.String())
	text, err := os.ReadFile(late)
	require.NoError(t, err)
	assert.JSONEq(t, `{"customer":"ada","status":"paid","amount":4,"at":"2026-01-01T12:00:07Z"}`, string(text))
}

func TestTheJobReadsFilesToo(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("orders", 0o700))
	order := `{"customer":"ada","status":"paid","amount":2.5,"at":"2026-01-01T12:00:05Z"}` + "\n"
	require.NoError(t, os.WriteFile("orders/monday.jsonl", []byte(order), 0o600))
	require.NoError(t, os.WriteFile("orders/tuesday.jsonl", []byte(order), 0o600))
	run := func(ctx context.Context) error {
		job := newJob(file.Source{URL: "orders/*.jsonl", Format: codec.JSONOf[Order]()}, stdout.Sink{}, file.Sink{URL: "late.jsonl"})
		if err := job.Run(ctx); err != nil {
			return err
		}
		return nil
	}
	require.NoError(t, run(t.Context()))
}
