package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"gocloud.dev/blob/memblob"
)

func Example() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil) // or blob.OpenBucket(ctx, "file:///var/lib/orders?metadata=skip"), "s3://…"
	defer bucket.Close()
	b, err := storage.Open(ctx, bucket, storage.Options{Name: "mem://"})
	if err != nil {
		fmt.Println(err)
		return
	}
	claims := storage.NewClaims(b, "orders")
	older, _ := claims.Claim(ctx, "host-1", 0)
	newer, _ := claims.Claim(ctx, "host-2", 0)
	fmt.Println(older.Run, newer.Run)
	fmt.Println(claims.Check(ctx, older))

	segment, _ := b.Put(ctx, claims.Names().Data(newer.Run, 1), func(w io.Writer) error {
		_, err := io.WriteString(w, "state")
		return err
	})
	data, _ := b.Get(ctx, segment)
	fmt.Printf("%s, %d bytes\n", data, segment.Size)

	err = b.PutIfAbsent(ctx, claims.Names().Manifest(1, newer.Run), []byte("one"))
	fmt.Println(err)
	err = b.PutIfAbsent(ctx, claims.Names().Manifest(1, newer.Run), []byte("two"))
	fmt.Println(errors.Is(err, storage.ErrExists))
	// Output:
	// 1 2
	// job "orders": run 1: run 2 (host-2): a newer execution has claimed the job: do not start it here again at once; where several processes run it, set OnClaimed: Standby
	// state, 5 bytes
	// <nil>
	// true
}
