package guides_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/window"
)

// The programs of docs/checkpoints.md.

func Example_checkpoints() {
	type Order struct {
		Shop int64     `arkflow:"shop"`
		At   time.Time `arkflow:"at"`
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	bucket, err := storage.OpenURL(ctx, "file://"+filepath.ToSlash(dir)) // any bucket of gocloud.dev/blob
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = bucket.Close() }() // after the jobs have ended

	order := func(i int64) Order { return Order{Shop: i % 2, At: time.UnixMilli(i).UTC()} }
	job := arkflow.NewJob("orders", arkflow.CheckpointEvery(time.Second))
	job.Source("orders", generate.Func(order, generate.Count(1000), generate.Rate(1000)), arkflow.EventTime("at")).
		KeyBy("shop").
		Window("daily", window.Tumbling(24*time.Hour), window.Count().As("orders")).
		Select("result", "shop", "orders").
		Sink("out", stdout.Sink{})

	rt := arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Keep: 5, Owner: "host-1"}}
	for range 2 { // a service that is stopped, and started again
		h, err := rt.Start(ctx, job)
		if err != nil {
			fmt.Println(err)
			return
		}
		if h.Status().Restored.Epoch == 0 {
			if _, err := h.Checkpoint(ctx); err != nil {
				fmt.Println(err)
			}
			err = h.Stop(ctx) // the window of the day stays open in the bucket
		} else {
			err = h.Wait(ctx)
		}
		status := h.Status()
		fmt.Println("run", status.Run, status.State, err)
	}
	// Output:
	// run 1 Suspended <nil>
	// {"shop":0,"orders":500}
	// {"shop":1,"orders":500}
	// run 2 Finished <nil>
}

func Example_savepoints() {
	type Order struct {
		Shop int64     `arkflow:"shop"`
		At   time.Time `arkflow:"at"`
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	savepoint := "file://" + filepath.ToSlash(dir) + "/before-upgrade"

	order := func(i int64) Order { return Order{Shop: i % 2, At: time.UnixMilli(i).UTC()} }
	jobOf := func(name string, tasks int) *arkflow.Job {
		job := arkflow.NewJob(name, arkflow.Parallelism(tasks))
		job.Source("orders", generate.Func(order, generate.Count(1000), generate.Rate(1000)), arkflow.EventTime("at")).
			KeyBy("shop").
			Window("daily", window.Tumbling(24*time.Hour), window.Count().As("orders")).
			Sink("out", drop.Sink{})
		return job
	}
	h, err := arkflow.Runtime{}.Start(ctx, jobOf("orders", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := h.Savepoint(ctx, savepoint); err != nil {
		fmt.Println(err)
	}
	_ = h.Cancel(ctx)

	_, err = arkflow.Runtime{}.Start(ctx, jobOf("sales", 4), arkflow.FromSavepoint(savepoint))
	fmt.Println(err)
	h, err = arkflow.Runtime{}.Start(ctx, jobOf("sales", 4), arkflow.FromSavepoint(savepoint, arkflow.AllowJob("orders")), arkflow.Rescale())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.Wait(ctx), h.Status().Operator("out").RowsIn)
	// Output:
	// job "sales": the checkpoint of job "orders", epoch 1, does not fit the job: it is of another job than "sales": give AllowJob("orders") to begin a new lineage from it; the tasks with state differ (added: daily/1, daily/2, daily/3; removed: none): give Rescale() to redistribute it, or run with the parallelism that it was taken with
	// <nil> 2
}
