// Command getting-started is the service of docs/getting-started.md: it takes orders over HTTP and prints what each customer has
// paid a minute.
//
//	go run ./examples/getting-started
//	curl -d '{"customer":"ada","status":"paid","amount":2.5,"at":"2026-01-01T12:00:00Z"}' http://127.0.0.1:8080/orders
//	curl http://127.0.0.1:8080/status
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "the address to listen on")
	late := flag.String("late", "late.jsonl", "the file that late orders go to")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		err = serve(ctx, listener, os.Stdout, *late, log)
	}
	if err != nil {
		log.Error("service failed", "error", err)
		os.Exit(1)
	}
}

// serve runs job and server until ctx ends or one of them cannot go on. Then no more requests are taken, and what was accepted flows out.
func serve(ctx context.Context, listener net.Listener, out io.Writer, late string, log *slog.Logger) error {
	orders := memory.NewInlet[Order](memory.InletConfig{})
	job := newJob(orders, stdout.Sink{Writer: out}, file.Sink{URL: late})
	h, err := arkflow.Runtime{Logger: log}.Start(ctx, job, arkflow.Restart(3, time.Second))
	if err != nil {
		return errors.Join(err, listener.Close())
	}

	server := &http.Server{Handler: handler(orders, h), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
	case err = <-served:
	case <-h.Done():
	}

	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(end), orders.Close(), h.Wait(end)) // in this order
}

func handler(orders *memory.Inlet[Order], h *arkflow.Handle) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var o Order
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := orders.Send(r.Context(), o); err != nil { // waits while the job is behind
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h.Status()) // an error here is the client's, who has gone
	})
	return mux
}
