// Package storage answers: how do the files of a checkpoint get into a bucket, and back, so that what is read is what was
// written and two executions never both believe that they own a job?
//
// A [Bucket] is a thin layer over a *blob.Bucket of gocloud.dev: writes that are whole or absent, create-if-absent that is
// atomic, reads that are verified before any byte is given out, back-off on transient errors, a bound on calls in flight. [Claims]
// hands out the run numbers of a job, each once and only growing, tells an older execution that it was fenced, and lets one that
// restarts go on (Next) only while the job is still its own:
//
//	b, err := storage.Open(ctx, bucket, storage.Options{Name: "s3://checkpoints"})
//	claims := storage.NewClaims(b, "orders")
//	run, err := claims.Claim(ctx, "host-1", 0) // run.Run is greater than any before
//	segment, err := b.Put(ctx, claims.Names().Data(run.Run, 1), encode)
//	data, err := b.Get(ctx, segment)           // size and SHA-256 verified
//
// What is promised depends on the bucket. S3, Google Cloud Storage, Azure and memblob create conditionally by themselves. On a bucket
// of files (fileblob) gocloud's own condition lets several writers win and nothing is synced, so files are written beside it: into a
// temporary file, synced, linked or renamed to the name, and the directory is synced. That needs a local file system with hard
// links; metadata=skip keeps fileblob from writing files of its own.
//
// The package never relies on a listing to be complete or in order, never deletes what it was not told to, and knows nothing of
// manifests or state.
package storage
