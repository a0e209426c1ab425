package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func post(t *testing.T, url, body string) int {
	t.Helper()
	r, err := http.Post(url+"/orders", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	return r.StatusCode
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	require.NoError(t, err)
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	return r.StatusCode, string(b)
}

func TestNoAcceptedOrderIsLostAtShutdown(t *testing.T) {
	defer goleak.VerifyNone(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	totals, ended := newBoard(), make(chan error, 1)
	go func() { ended <- serve(ctx, listener, totals, slog.New(slog.DiscardHandler)) }()

	var senders sync.WaitGroup
	for c := range 4 {
		senders.Go(func() {
			for i := range 50 {
				assert.Equal(t, http.StatusAccepted, post(t, url, fmt.Sprintf(`{"customer":"c%d","cents":%d}`, c, i)))
			}
		})
	}
	senders.Wait()
	assert.Equal(t, http.StatusBadRequest, post(t, url, `{"customer":"ada","cents":"many"}`))
	assert.Equal(t, http.StatusBadRequest, post(t, url, `{"cents":1}`))
	code, body := get(t, url+"/healthz")
	assert.Equal(t, http.StatusOK, code)
	assert.JSONEq(t, `{"job":"order-totals","state":"Running","error":""}`, body)
	code, _ = get(t, url+"/totals")
	assert.Equal(t, http.StatusOK, code)

	cancel() // as a signal does
	require.NoError(t, <-ended)
	want := map[string]total{}
	for c := range 4 {
		want[fmt.Sprintf("c%d", c)] = total{Orders: 50, Cents: 49 * 50 / 2}
	}
	assert.Equal(t, want, totals.all())
	http.DefaultClient.CloseIdleConnections()
}
