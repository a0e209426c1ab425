// Command http-service runs a job inside an HTTP service: orders come in by POST, the totals of the last seconds are shown by
// GET, and a signal ends both without losing an order that was accepted.
//
//	go run ./examples/http-service -addr 127.0.0.1:8080
//	curl -d '{"customer":"ada","cents":250}' http://127.0.0.1:8080/orders
//	curl http://127.0.0.1:8080/totals
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
)

// Order is a row of the stream.
type Order struct {
	Customer string `json:"customer"`
	Cents    int64  `json:"cents"`
}

// shutdownTimeout bounds the end of the service: requests under way, then the rows under way.
const shutdownTimeout = 20 * time.Second

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "the address to listen on")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		err = serve(ctx, listener, newBoard(), log)
	}
	if err != nil {
		log.Error("service failed", "error", err)
		os.Exit(1)
	}
}

// job sums orders by customer over seconds of arrival.
func job(orders *memory.Inlet[Order], totals *board) *arkflow.Job {
	job := arkflow.NewJob("order-totals")
	job.Source("orders", orders, arkflow.IngestionTime()).
		KeyBy("customer").
		Window("per-second", window.Tumbling(time.Second), window.Count().As("orders"), window.Sum("cents").As("cents")).
		Sink("board", totals)
	return job
}

// serve runs job and server until ctx ends, then ends them in order: no more requests, then no more input, then the rows
// that were accepted flow out.
func serve(ctx context.Context, listener net.Listener, totals *board, log *slog.Logger) error {
	orders := memory.NewInlet[Order](memory.InletConfig{})
	h, err := arkflow.Runtime{Logger: log}.Start(ctx, job(orders, totals))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: handler(orders, totals, h), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log.Info("listening", "addr", listener.Addr().String())

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-served: // the server cannot go on
	case <-h.Done(): // the job cannot go on
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err = errors.Join(server.Shutdown(end), orders.Close(), h.Wait(end))
	if failed != nil && !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(failed, err)
	}
	log.Info("ended", "rows", h.Status().Operator("orders").RowsIn)
	return err
}
