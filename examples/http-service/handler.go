package main

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
)

// handler answers the requests of the service.
func handler(orders *memory.Inlet[Order], totals *board, h *arkflow.Handle) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var o Order
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&o); err != nil {
			http.Error(w, "order: "+err.Error(), http.StatusBadRequest)
			return
		}
		if o.Customer == "" {
			http.Error(w, "order: customer is missing", http.StatusBadRequest)
			return
		}
		// Send waits while the job is behind: the sender feels the back-pressure.
		switch err := orders.Send(r.Context(), o); {
		case errors.Is(err, memory.ErrClosed):
			http.Error(w, "the service is ending", http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	mux.HandleFunc("GET /totals", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, totals.all())
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		status, code := h.Status(), http.StatusOK
		if status.State != arkflow.Running {
			code = http.StatusServiceUnavailable
		}
		answer(w, code, map[string]any{"job": status.Job, "state": status.State, "error": status.Err})
	})
	return mux
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // an error here is the client's, who has gone
}
