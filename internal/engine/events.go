package engine

import (
	"context"

	"github.com/arkflow-go/arkflow/internal/life"
)

// Events gives the latest events and those to come; the channel is closed when the job or ctx ends. A reader that is more than
// life.EventBuffer events behind loses the oldest, counted in Event.Missed.
func (x *Execution) Events(ctx context.Context) <-chan life.Event { return x.events.Subscribe(ctx) }

func (x *Execution) emit(e life.Event) {
	e.Time = x.clock.Now()
	x.events.Publish(e)
}

// closeEvents closes the feed where it is the execution's own.
func (x *Execution) closeEvents() {
	if x.cfg.Feed == nil {
		x.events.Close()
	}
}
