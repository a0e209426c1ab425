package arkflow_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

// rewrite changes an object of a bucket; a record gets the checksum of what it holds then.
func rewrite(t *testing.T, b *blob.Bucket, name, from, to string) {
	data, err := b.ReadAll(t.Context(), name)
	require.NoError(t, err)
	require.Contains(t, string(data), from)
	text := strings.Replace(string(data), from, to, 1)
	body := text[:strings.LastIndex(text, "sha256 ")]
	require.NoError(t, b.WriteAll(t.Context(), name, fmt.Appendf(nil, "%ssha256 %x\n", body, sha256.Sum256([]byte(body))), nil))
}

// What docs/checkpoints.md says under "When it does not start" is what errors say; the way out that it names is one.
func TestRunbookSaysWhatErrorsSay(t *testing.T) {
	page, err := os.ReadFile("docs/checkpoints.md")
	require.NoError(t, err)
	lost := func(part string) func(*testing.T, *blob.Bucket) {
		return func(t *testing.T, b *blob.Bucket) { require.NoError(t, b.Delete(t.Context(), newest(t, b, part))) }
	}
	damaged := func(part string) func(*testing.T, *blob.Bucket) {
		return func(t *testing.T, b *blob.Bucket) {
			require.NoError(t, b.WriteAll(t.Context(), newest(t, b, part), []byte("what is this"), nil))
		}
	}
	for name, c := range map[string]struct {
		harm func(*testing.T, *blob.Bucket)
		says []string // in the error, and in the guide
		out  []arkflow.StartOption
		none bool // there is no way out in this bucket
	}{
		"manifest lost":    {lost("/epoch/"), []string{"the latest epoch, ", "is damaged"}, []arkflow.StartOption{arkflow.FallBack()}, false},
		"manifest damaged": {damaged("/epoch/"), []string{"the latest epoch, ", "is damaged"}, []arkflow.StartOption{arkflow.FallBack()}, false},
		"segment lost":     {lost("/piece/"), []string{"the latest epoch, ", "is damaged"}, []arkflow.StartOption{arkflow.FallBack()}, false},
		"all lost": {func(t *testing.T, b *blob.Bucket) {
			for range 3 {
				lost("/epoch/")(t, b)
			}
		}, []string{"the latest epoch, "}, []arkflow.StartOption{arkflow.StartFresh()}, false},
		"seal damaged":  {damaged("/seal/"), []string{"read seal ", "damaged object"}, nil, true},
		"claim damaged": {damaged("/claim/"), []string{"claim a run", "damaged object"}, nil, true},
		"a newer seal": {func(t *testing.T, b *blob.Bucket) {
			rewrite(t, b, newest(t, b, "/seal/"), "arkflow seal 1", "arkflow seal 2")
		},
			[]string{"of format version 2: this release knows version 1"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				v := firstVersion()
				stoppedAt52(t, bucket, v)
				c.harm(t, bucket)
				_, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(memory.NewSink()))
				require.Error(t, err)
				for _, s := range c.says {
					require.ErrorContains(t, err, s)
					require.Contains(t, string(page), s)
				}
				h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(memory.NewSink()), append(c.out, arkflow.Restart(1, time.Second))...)
				if c.none {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				require.NoError(t, h.Cancel(t.Context()))
			})
		})
	}
	t.Run("nothing is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			bucket := memblob.OpenBucket(nil)
			defer bucket.Close()
			stoppedAt52(t, bucket, firstVersion())
			for range 3 {
				lost("/epoch/")(t, bucket)
			}
			_, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), firstVersion().job(memory.NewSink()), arkflow.FallBack())
			require.ErrorContains(t, err, "is damaged and no earlier one is kept")
			require.Contains(t, string(page), "is damaged and no earlier one is kept")
		})
	})
	t.Run("a newer release", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			bucket := memblob.OpenBucket(nil)
			defer bucket.Close()
			stoppedAt52(t, bucket, firstVersion())
			manifest := newest(t, bucket, "/epoch/")
			data, err := bucket.ReadAll(t.Context(), manifest)
			require.NoError(t, err)
			rewrite(t, bucket, manifest, `"state_format":1`, `"state_format":2`)
			changed, err := bucket.ReadAll(t.Context(), manifest)
			require.NoError(t, err)
			rewrite(t, bucket, newest(t, bucket, "/seal/"), fmt.Sprintf("%x", sha256.Sum256(data)), fmt.Sprintf("%x", sha256.Sum256(changed)))
			_, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), firstVersion().job(memory.NewSink()), arkflow.FallBack())
			require.ErrorContains(t, err, "its state has format 2, this release reads 1")
			require.Contains(t, string(page), "its state has format ")
		})
	})
}
