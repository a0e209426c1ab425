package checkpoint_test

import (
	"context"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"gocloud.dev/blob/memblob"
)

func ExampleSweep() {
	err := func() error {
		ctx := context.Background()
		bucket := memblob.OpenBucket(nil) // or storage.OpenURL(ctx, "file:///var/lib/checkpoints")
		defer bucket.Close()
		job := visitsJob("visits", 1)
		for range 2 { // the second execution takes the job from the first, which had no time to clean up
			h, err := arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Keep: 1}}.Start(ctx, job)
			if err != nil {
				return err
			}
			for range 2 {
				if _, err := h.Checkpoint(ctx); err != nil {
					return err
				}
			}
			if err := h.Cancel(ctx); err != nil {
				return err
			}
		}
		swept, err := checkpoint.Sweep(ctx, bucket, "visits", checkpoint.SweepOptions{Grace: time.Nanosecond})
		fmt.Println(len(swept.Deleted) > 0, swept.Young.Objects)
		return err
	}()
	fmt.Println(err)
	// Output:
	// true 0
	// <nil>
}

func ExampleInspect() {
	err := func() error {
		ctx := context.Background()
		bucket := memblob.OpenBucket(nil) // or storage.OpenURL(ctx, "file:///var/lib/checkpoints")
		defer bucket.Close()
		h, err := arkflow.Runtime{Bucket: bucket}.Start(ctx, visitsJob("visits", 2))
		if err != nil {
			return err
		}
		if _, err := h.Checkpoint(ctx); err != nil {
			return err
		}
		if err := h.Stop(ctx); err != nil {
			return err
		}

		inventory, err := checkpoint.Inspect(ctx, bucket, storage.Options{})
		if err != nil {
			return err
		}
		for _, j := range inventory.Jobs {
			fmt.Printf("job %s: run %d, released: %t\n", j.Job, j.Newest.Run, j.Lease.Released)
			for _, e := range j.Epochs {
				hourly := e.Manifest.Operator("hourly")
				fmt.Printf("epoch %d: %d tasks of %s, the job ended with it: %t\n", e.Kept.Epoch, len(hourly.Tasks), hourly.ID, e.Manifest.Ends)
			}
			v, err := j.Verify(ctx)
			if err != nil {
				return err
			}
			fmt.Println("damaged:", v.Problems)
		}
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// job visits: run 1, released: true
	// epoch 2: 2 tasks of hourly, the job ended with it: true
	// epoch 1: 2 tasks of hourly, the job ended with it: false
	// damaged: []
}
