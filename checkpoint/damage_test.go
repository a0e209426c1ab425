package checkpoint

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/internal/step"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

// small gives the objects of a bucket in which two epochs are sealed, and the position of the latest.
func small(t *testing.T) (map[string]string, int64) {
	inner := memblob.OpenBucket(nil)
	defer inner.Close()
	k := openKeeper(t, &gate{inner: inner, dead: map[string]bool{}, open: pass}, Options{})
	require.NoError(t, k.seal(t.Context()))
	require.NoError(t, k.seal(t.Context()))
	require.NoError(t, k.session.Close(t.Context()))
	return objects(t, inner), k.books.at
}

// begin begins an execution on objects, and gives the position from which it goes on.
func begin(ctx context.Context, all map[string]string, opts Options) (at int64, after *blob.Bucket, err error) {
	b := memblob.OpenBucket(nil)
	for name, data := range all {
		if err := b.WriteAll(ctx, name, []byte(data), nil); err != nil {
			return 0, b, err
		}
	}
	opts.Storage.Attempts = 1
	s, err := Open(ctx, b, booksJob, opts)
	if err != nil {
		return 0, b, err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	e, err := s.Epoch(ctx)
	if err == nil {
		err = s.Fit(booksShape())
	}
	if err != nil {
		return 0, b, err
	}
	books, err := readBooks(e)
	if err != nil {
		return 0, b, err
	}
	return books.at, b, nil
}

// C2, C5: each byte of each object of a checkpoint is changed once, and each object is cut off at each byte and missing: the error names the object, or
// nothing is lost. What was there stays as it was.
func TestC2EveryByteOfEveryObjectIsVerified(t *testing.T) {
	all, at := small(t)
	got, b, err := begin(t.Context(), all, Options{})
	require.NoError(t, err)
	require.Equal(t, at, got)
	require.NoError(t, b.Close())
	refused, same := map[string]int{}, map[string]int{}
	try := func(name, data string, there bool) {
		changed := maps.Clone(all)
		changed[name] = data
		if !there {
			delete(changed, name)
		}
		got, b, err := begin(t.Context(), changed, Options{})
		kind := strings.Split(name, "/")[1]
		switch {
		case err != nil:
			require.ErrorContains(t, err, name)
			refused[kind]++
		default:
			require.Equal(t, at, got, "%s", name)
			same[kind]++
		}
		after := objects(t, b)
		for name, data := range changed {
			if !strings.Contains(name, "/lease/") {
				require.Equal(t, data, after[name], name)
			}
		}
		require.NoError(t, b.Close())
	}
	last := storage.NamesOf(booksJob).Seal(3)
	require.Contains(t, all, last)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		data := all[name]
		stride := everyByte
		if strings.Contains(name, "/seal/") && name != last || strings.HasSuffix(strings.TrimSuffix(name, "/0000000000000000001"), "/epoch/0000000000000000001") {
			stride = 16 // nobody reads it
		}
		for i := 0; i < len(data); i += stride {
			flipped := []byte(data)
			flipped[i] ^= 1 << (i % 8)
			try(name, string(flipped), true)
			if i%11 == 0 {
				try(name, data[:i], true)
			}
		}
		try(name, data+"x", true)
		try(name, "", false)
	}
	t.Logf("refused %v, not needed %v", refused, same)
	for _, kind := range []string{"claim", "seal", "epoch", "piece"} {
		require.Positive(t, refused[kind], kind)
	}
}

// B44, C7: what a release cannot read is refused in words that say what to do.
func TestB44ForeignCheckpointsAreRefused(t *testing.T) {
	for want, change := range map[string]func(m *Manifest, s *Shape){
		"it has 32 key groups, the job 16: set MaxParallelism(32)": func(m *Manifest, _ *Shape) { m.MaxParallelism = 32 },
		`its keys are hashed by "crc", here by`:                    func(m *Manifest, _ *Shape) { m.Hash = "crc" },
		"its state has format 9, this release reads 1":             func(m *Manifest, _ *Shape) { m.StateFormat = 9 },
		`it is of another job than "books"`:                        func(m *Manifest, _ *Shape) { m.Job = "films" },
		"the tasks with state differ (added: none; removed: sum/1)": func(_ *Manifest, s *Shape) {
			s.Operators[1].Parallelism = 1
		},
		`operator "sum" (sum) has state and is not in the job`: func(_ *Manifest, s *Shape) { s.Operators = s.Operators[:1] },
		`its state is of [sums of int64], that of the job is of [counts]`: func(_ *Manifest, s *Shape) {
			s.Operators[1].State = "counts"
		},
	} {
		inner := memblob.OpenBucket(nil)
		k := openKeeper(t, &gate{inner: inner, dead: map[string]bool{}, open: pass}, Options{})
		require.NoError(t, k.seal(t.Context()))
		require.NoError(t, k.session.Close(t.Context()))
		m, err := loadManifest(t.Context(), k.session.bucket, k.session.kept[0])
		require.NoError(t, err)
		shape := booksShape()
		change(m, &shape)
		require.ErrorContains(t, shape.Compare(m, Allowances{}), want)
		require.NoError(t, inner.Close())
	}
	_, err := decodeManifest(storage.EncodeRecord(manifestKind, manifestVersion+1, []byte("{}")))
	var version *storage.VersionError
	require.ErrorAs(t, err, &version)
	require.ErrorContains(t, err, "use the release that wrote it")
}

// B81: a disk that is full or read-only fails epochs, in words that say what to do, whatever is being done at that moment. The last good epoch stays,
// and the next can be sealed once there is room.
func TestB81FullDiskFailsTheEpochAlone(t *testing.T) {
	for cause, hint := range map[error]string{syscall.ENOSPC: "free some space", syscall.EROFS: "the file system is read-only"} {
		for _, at := range []string{"create piece", "write piece", "sync piece", "publish piece", "create epoch", "write epoch", "publish epoch", "create seal", "sync seal", "publish seal", "name seal"} {
			dir := t.TempDir()
			files, err := storage.OpenURL(t.Context(), "file://"+dir)
			require.NoError(t, err)
			full := false
			ctx := step.With(t.Context(), func(s step.Step) error {
				if full && s.Op == at && s.After == (at == "name seal") {
					return cause
				}
				return nil
			})
			s, err := Open(ctx, files, booksJob, Options{Keep: 1, Grace: 1})
			require.NoError(t, err)
			require.NoError(t, s.Fit(booksShape()))
			k := &keeper{t: t, session: s, books: newBooks(0)}
			require.NoError(t, k.seal(ctx))
			full = true
			err = k.seal(ctx)
			require.ErrorIs(t, err, cause, at)
			require.ErrorContains(t, err, hint)
			require.ErrorContains(t, err, dir)
			require.NotEmpty(t, requireWhole(t, files, 1), at)
			full = false
			require.NoError(t, k.seal(ctx))
			require.Equal(t, []int64{3}, requireWhole(t, files, 1))
			require.NoError(t, s.Close(ctx))
			require.NoError(t, files.Close())
		}
	}
}

// A bucket that does not answer, or cannot be written, ends the start with an error that says what was tried.
func TestStartOnABucketThatDoesNotAnswerOrIsReadOnly(t *testing.T) {
	all, at := small(t)
	inner := memblob.OpenBucket(nil)
	defer inner.Close()
	for name, data := range all {
		require.NoError(t, inner.WriteAll(t.Context(), name, []byte(data), nil))
	}
	for _, op := range []string{"look up", "list", "read", "write"} {
		g := &gate{inner: inner, dead: map[string]bool{}, open: func(c *call) verdict {
			if c.op == op {
				return verdict{before: permanentErr{errFlaky}}
			}
			return verdict{}
		}}
		_, err := Open(t.Context(), g.bucket("x"), booksJob, Options{})
		require.ErrorIs(t, err, errFlaky)
		require.ErrorContains(t, err, `in bucket "bucket"`)
	}
	after := objects(t, inner)
	for name, data := range all {
		require.Equal(t, data, after[name])
	}
	got, b, err := begin(t.Context(), after, Options{})
	require.NoError(t, err)
	require.Equal(t, at, got)
	require.NoError(t, b.Close())
}
